"""Run the book's notebooks and store them so that the same inputs give the same bytes.

    python tools/notebooks.py                       # every notebook in book/ and book/audit/
    python tools/notebooks.py --only raw-indices    # some of them, separated by commas
    python tools/notebooks.py --setup               # renew the set-up cells, run nothing

Each notebook runs in a fresh kernel and an empty folder. Stored with it are execution counts and
outputs, but no time stamps, no random ids and no version numbers of the machine that ran it. The
set-up cell is made from the repository's address, and the caption and alt text of a figure are
copied from its output into the cell's metadata, where the site looks for them.
"""

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from posenc_book.audit.claims import MIME, SHOWN_MIME
from repository import ROOT, address, branch
from repository import notebooks as all_notebooks

SETUP_TAGS = ["remove-cell", "setup"]
# A browser kernel (emscripten) has no git, so nothing is tried there. Where the package is still
# missing, the cell says what to do, and nothing below it runs.
SETUP = """\
import sys
from importlib import invalidate_caches
from importlib.util import find_spec

SOURCE = "git+{address}@{branch}"
if find_spec("posenc_book") is None and sys.platform != "emscripten":  # on Colab: only these two
    %pip install -q --no-deps "posenc @ {{SOURCE}}#subdirectory=src" "posenc-book @ {{SOURCE}}"
    invalidate_caches()
if find_spec("posenc_book") is None:
    raise ModuleNotFoundError(
        "This notebook needs posenc and posenc_book, which are not here and could not be fetched. "
        "Run 'pip install ./src .' in a copy of "
        "{address}, "
        "then run this cell again."
    )
"""
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "file_extension": ".py", "pygments_lexer": "ipython3"},
}
CELL_KEYS = {"tags", "reason", "mystnb"}
CHECK = re.compile(r"^def check_\w+\(", re.MULTILINE)  # the check of an exercise
OUTPUT_PROMPTS = {"code_prompt_show": "Open the output", "code_prompt_hide": "Close the output"}
CHECK_PROMPTS = {"code_prompt_show": "Show the check", "code_prompt_hide": "Hide the check"}
TIMEOUT = 900  # seconds a cell


def setup_source() -> str:
    """Return the text of every notebook's first code cell."""
    return SETUP.format(address=address(), branch=branch()).rstrip("\n")


def is_setup(cell: NotebookNode) -> bool:
    """Say whether a cell is the set-up cell."""
    return cell.cell_type == "code" and "setup" in cell.metadata.get("tags", [])


def with_setup(notebook: NotebookNode) -> None:
    """Put the set-up cell in front of the first code cell, or refresh the one that is there."""
    cells = [cell for cell in notebook.cells if not is_setup(cell)]
    first = next((i for i, cell in enumerate(cells) if cell.cell_type == "code"), len(cells))
    setup = nbformat.v4.new_code_cell(setup_source(), metadata={"tags": list(SETUP_TAGS)})
    notebook.cells = [*cells[:first], setup, *cells[first:]]


def execute(notebook: NotebookNode) -> None:
    """Run all cells in a fresh kernel whose working directory is empty."""
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=TIMEOUT,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        client.execute()


def figure_metadata(cell: NotebookNode) -> dict | None:
    """Return what the site needs to know of a cell's figure, or None where there is no figure."""
    outputs = cell.get("outputs", [])
    figures = [o["metadata"]["posenc"] for o in outputs if "posenc" in o.get("metadata", {})]
    if len(figures) > 1:  # their captions and alt texts could not be told apart
        names = [figure["name"] for figure in figures]
        raise ValueError(f"a cell must show one figure, this one shows {names}")
    if not figures:
        return None
    figure = figures[0]
    return {
        "image": {"alt": figure["alt"]},
        "figure": {"name": figure["name"], "caption": figure["caption"]},
    }


def shows_verdict(cell: NotebookNode) -> bool:
    """Say whether a cell ends with the verdict on a claim, given there or shown again."""
    return any({MIME, SHOWN_MIME} & output.get("data", {}).keys() for output in cell.outputs)


def tidy(notebook: NotebookNode) -> None:
    """Remove what differs between two runs or machines; number the cells; describe the figures."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells, 1):
        cell.id = f"cell-{number:02d}"
        cell.source = cell.source.strip("\n")
        kept = {key: cell.metadata[key] for key in sorted(CELL_KEYS & cell.metadata.keys())}
        if cell.cell_type == "code":
            kept.pop("mystnb", None)
            if figure := figure_metadata(cell):
                kept["mystnb"] = figure
            elif CHECK.search(cell.source) and "hide-input" in kept.get("tags", []):
                kept["mystnb"] = dict(CHECK_PROMPTS)
            if "hide-output" in kept.get("tags", []):
                kept["mystnb"] = {**kept.get("mystnb", {}), **OUTPUT_PROMPTS}
            if (figure or shows_verdict(cell)) and "remove-input" not in kept.get("tags", []):
                # the site shows the figure or verdict; a click opens the code behind it, unless
                # the notebook leaves out a call that tells a reader nothing
                kept["tags"] = sorted({*kept.get("tags", []), "hide-input"})
        cell.metadata = nbformat.from_dict(kept)


def store(path: Path, notebook: NotebookNode | None = None) -> None:
    """Run one notebook and write it back, whole: where a cell fails, the file stays as it was.

    A `notebook` that is given takes the place of the one in the file.
    """
    if notebook is None:
        notebook = nbformat.read(path, as_version=4)
    with_setup(notebook)
    execute(notebook)
    tidy(notebook)
    nbformat.validate(notebook)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def renew_setup(path: Path) -> None:
    """Write the set-up cell of one notebook anew and leave all else as it is stored."""
    notebook = nbformat.read(path, as_version=4)
    for cell in filter(is_setup, notebook.cells):
        cell.source = setup_source()
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def chosen(only: str | None) -> list[Path]:
    """Return the notebooks to run: all, or those named."""
    paths = {path.stem: path for path in all_notebooks()}
    if only is None:
        return list(paths.values())
    names = [Path(name).stem for name in only.split(",") if name]
    unknown = [name for name in names if name not in paths]
    if unknown:
        raise ValueError(f"--only must name notebooks of {sorted(paths)}, got {unknown}")
    return [paths[name] for name in names]


def main() -> None:
    """Run and store the notebooks; end with an error at the first cell that fails."""
    parser = argparse.ArgumentParser(description="Run the notebooks again and store their outputs.")
    parser.add_argument("--only", metavar="NAME,NAME", help="notebooks without folder or ending")
    parser.add_argument("--setup", action="store_true", help="renew the set-up cells, run nothing")
    options = parser.parse_args()
    for path in chosen(options.only):
        if options.setup:
            renew_setup(path)
            continue
        start = time.perf_counter()
        try:
            store(path)
        except (CellExecutionError, ValueError) as error:
            sys.exit(f"{path.relative_to(ROOT)}: {error}")
        print(f"{path.relative_to(ROOT)}: {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
