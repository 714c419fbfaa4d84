"""Draw the figures of the book as SVG and PDF into _build/figures, for those who take them.

    python tools/figures.py                    # of every page: some ten minutes
    python tools/figures.py --only rotary      # of some pages, separated by commas

A page stores its figures as small PNG. To draw them otherwise their notebook runs again, in a fresh
kernel in which `plots.show` also writes files. Each file says where it comes from, its licence, and
how it is cited. What differs from the page's picture is the format: the same figure is drawn.
"""

import argparse
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

import notebooks
import repository
from citing import citation, names
from repository import ROOT

OUT = ROOT / "_build" / "figures"
LICENCE = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"
FORMATS = ("svg", "pdf")
# Runs in the kernel, in front of the set-up cell. No time and no random name goes into a file.
PREAMBLE = """
def _write_figures_too(folder, about):
    import matplotlib
    from posenc_book.teaching import plots

    shown = plots.show

    def show(figure, *, name, caption, alt, **options):
        with matplotlib.rc_context({{"svg.hashsalt": name, "pdf.fonttype": 42}}):
            figure.savefig(f"{{folder}}/{{name}}.svg", metadata={{**about["svg"], "Date": None}})
            dates = {{"CreationDate": None, "ModDate": None}}
            figure.savefig(f"{{folder}}/{{name}}.pdf", metadata={{**about["pdf"], **dates}})
        shown(figure, name=name, caption=caption, alt=alt, **options)

    plots.show = show

_write_figures_too({folder!r}, {about!r})
"""


def named(notebook: NotebookNode) -> dict[str, str]:
    """Return the figures of a stored notebook in order: name and caption."""
    found = [cell.metadata.get("mystnb", {}).get("figure") for cell in notebook.cells]
    return {figure["name"]: figure["caption"] for figure in found if figure}


def of_pages() -> dict[Path, dict[str, str]]:
    """Return the figures of each notebook that has some, in the order of the contents."""
    listed = re.findall(r"file: (\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8"))
    paths = [path for page in listed if (path := ROOT / f"{page}.ipynb").is_file()]
    read = {path: named(nbformat.read(path, as_version=4)) for path in paths}
    return {path: figures for path, figures in read.items() if figures}


def about(page: str) -> dict[str, dict[str, str]]:
    """Return what a file of a page's figure says of itself, in the words of each format."""
    authors = ", ".join(names(citation()["authors"]))
    source = repository.published(page)
    told = f"{citation()['title']}. {source}. {LICENCE}"
    return {
        "svg": {"Creator": authors, "Source": source, "Rights": LICENCE, "Title": told},
        "pdf": {"Author": authors, "Title": told, "Subject": LICENCE, "Keywords": source},
    }


def draw(path: Path, out: Path = OUT) -> list[str]:
    """Run a notebook and write its figures; return the names of those that it has."""
    notebook = nbformat.read(path, as_version=4)
    page = path.relative_to(ROOT).with_suffix("").as_posix() if path.is_relative_to(ROOT) else ""
    first = PREAMBLE.format(folder=str(out.resolve()), about=about(page))
    notebook.cells.insert(0, nbformat.v4.new_code_cell(first))
    out.mkdir(parents=True, exist_ok=True)
    notebooks.execute(notebook)
    for output in (one for cell in notebook.cells for one in cell.get("outputs", [])):
        if drawing := output.get("data", {}).get("image/svg+xml"):  # the emblem, no plot
            name = output["metadata"]["posenc"]["name"]
            (out / f"{name}.svg").write_text(drawing, encoding="utf-8")
    return list(named(notebook))


def files(name: str) -> list[str]:
    """Return the files of a figure; the emblem is no plot, and is drawn in SVG only."""
    return [f"{name}.{kind}" for kind in FORMATS if (name, kind) != ("fig-emblem", "pdf")]


def missing(figures: list[str], out: Path = OUT) -> list[str]:
    """Return the files that should be there and are not."""
    return [file for name in figures for file in files(name) if not (out / file).is_file()]


def main() -> None:
    """Draw the figures that are asked for, and end with an error where one is not there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="NAME,NAME", help="notebooks without folder or ending")
    parser.add_argument("--jobs", type=int, default=2, help="notebooks that run at a time")
    options = parser.parse_args()
    try:
        pages = [path for path in notebooks.chosen(options.only) if path in of_pages()]
        with ThreadPoolExecutor(options.jobs) as pool:
            drawn = [name for names in pool.map(draw, pages) for name in names]
    except (CellExecutionError, ValueError) as error:
        sys.exit(str(error))
    if gone := missing(drawn):
        sys.exit(f"not drawn: {', '.join(gone)}")
    size = sum(path.stat().st_size for path in OUT.iterdir())
    print(f"{len(drawn)} figures of {len(pages)} pages in {OUT}, {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
