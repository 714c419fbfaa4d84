"""The book's chapters as notebooks for students: everything but the solutions of the exercises.

The chapters in `book/` stay the source. A solution is a block `:::{solution}` with, where it needs
code, the folded cells right below it; an empty cell, or a line to write on, takes its place.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import yaml
from nbformat import NotebookNode

BOOK = Path(__file__).parent.parent / "book"
SOLUTION = re.compile(r"^(:{3,})\{solution\}.*?^\1[ ]*$\n?", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"\*\*Time:\*\* about (\d+) minutes to read(?:, (\d+) for the exercises)?")
OWN = "# your solution; the check stands above"
OWN_WORDS = "*Write your answer here.*\n"


def read(path: Path) -> NotebookNode:
    """Return a notebook; its form is tested elsewhere, and would cost half of a build here."""
    return nbformat.v4.reads(path.read_text(encoding="utf-8"))


def stripped(notebook: NotebookNode) -> NotebookNode:
    """Return a notebook with a place for an answer where a solution stood."""
    notebook.cells = list(_stripped(notebook.cells))
    return notebook


def colab(path: str, folder: Path = BOOK) -> str:
    """Return a link that opens a notebook of the edition in Colab."""
    text = (folder.parent / "_config.yml").read_text(encoding="utf-8")
    slug = yaml.safe_load(text)["repository"]["url"].removeprefix("https://github.com/")
    return f"[Colab](https://colab.research.google.com/github/{slug}/blob/notebooks/{path})"


def table(folder: Path = BOOK) -> str:
    """Return a table of the chapters: stated times, number of exercises, a link for a class."""
    rows = [
        "| chapter | minutes to read | exercises | minutes for them | without solutions |",
        "|---|---|---|---|---|",
    ]
    listed = re.findall(r"- file: book/([\w-]+)$", (folder.parent / "_toc.yml").read_text(), re.M)
    for name in listed:
        path = folder / f"{name}.ipynb"
        cells = read(path).cells if path.is_file() else []
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        if time := TIME.search(text):
            title = cells[0].source.splitlines()[0].lstrip("# ")
            n_exercises = len(re.findall(r"^:{3,}\{exercise\}", text, re.MULTILINE))
            link = colab(f"without-solutions/book/{name}.ipynb", folder) if n_exercises else ""
            times = f"{time[1]} | {n_exercises} | {time[2] or ''}"
            rows.append(f"| [{title}]({name}.ipynb) | {times} | {link} |")
    return "\n".join(rows) + "\n"


def set_up() -> str:
    """Return the cell that adds the package where it is missing, as the chapters have it."""
    notebook = read(BOOK / "order-blindness.ipynb")
    (cell,) = [c for c in notebook.cells if "setup" in c.metadata.get("tags", [])]
    return cell.source


def _stripped(cells: list[NotebookNode]) -> Iterator[NotebookNode]:
    below = False  # whether the cells above, back to the last text, are those of a solution
    for place, cell in enumerate(cells):
        if cell.cell_type == "markdown":
            folded = place + 1 < len(cells) and _is_folded(cells[place + 1])
            left = SOLUTION.sub("", cell.source, count=1)
            below = SOLUTION.match(cell.source) is not None
            if not below and folded and (last := list(SOLUTION.finditer(cell.source))[-1:]):
                left = cell.source[: last[0].start()]
                below = not cell.source[last[0].end() :].strip()
            cell.source = SOLUTION.sub(OWN_WORDS, left if below else cell.source).strip("\n")
            if cell.source:
                yield cell
            if below:
                yield nbformat.v4.new_code_cell(OWN, id=f"{cell.id}-own")
        elif not (below and _is_folded(cell)):
            yield cell


def _is_folded(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and "hide-cell" in cell.metadata.get("tags", [])
