"""The notebooks to hand in for the three projects of the book's capstone, from capstone.yml."""

from pathlib import Path

import nbformat
import yaml
from nbformat import NotebookNode

from course import chapters

SOURCE = Path(__file__).with_suffix(".yml")
ASKED = (
    "Name, date, hours spent:\n\nKeep the headings, and the order. Replace what is in the cells. "
    "Before you hand in, restart the kernel and run all."
)
SELF = "## Marked by myself\n\nHow many points would you give? Where you lose some, say why."
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def projects() -> dict[str, dict]:
    """Return the projects by key: title, rubric and cells."""
    return yaml.safe_load(SOURCE.read_text(encoding="utf-8"))


def hand_in(key: str) -> NotebookNode:
    """Return the notebook to hand in for a project, with its rubric at the end."""
    project, v4 = projects()[key], nbformat.v4
    cells = [v4.new_markdown_cell(f"# {project['title']}\n\n{ASKED}", id="front")]
    cells.append(v4.new_code_cell(chapters.set_up(), id="set-up"))
    for place, one in enumerate(project["cells"]):
        ((kind, text),) = one.items()
        new = v4.new_code_cell if kind == "code" else v4.new_markdown_cell
        cells.append(new(text.rstrip("\n"), id=f"{kind}-{place}"))
    rows = [f"| {what} | {points} | |" for what, points in project["rubric"].items()]
    head = ["| what is marked | points | mine |", "|---|--:|--:|"]
    cells.append(v4.new_markdown_cell("\n".join([SELF, "", *head, *rows]), id="rubric"))
    notebook = v4.new_notebook(cells=cells, metadata=METADATA)
    nbformat.validate(notebook)
    return notebook
