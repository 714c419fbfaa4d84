"""Sphinx extension: what this book alone adds to its notebook edition.

The set-up cell, which names the wheel that the edition was made with (`EDITION_WHEEL`, for example
"3f2a.../posenc-0.1.0-py3-none-any.whl"); quizzes; a picture of each figure that answers, for
viewers that run no script; the program as each chapter leaves it; and the assignments.
"""

import json
import os
import re
from pathlib import Path

from sphinx.application import Sphinx

import program_states
import quizzes
import stills
import wheels
from notebook_edition.buttons import site_address

ROOT = Path(__file__).resolve().parent.parent
ASSIGNMENTS = ROOT / "course" / "dist" / "student"
FIGURE = re.compile(
    r'<figure class="explorable"[^>]* data-name="([\w-]+)".*?(<svg .*?</svg>)', re.S
)
MARK = re.compile(r"<sup>\[\S [A-Z]\d+\]")
MARKS = "A small sign such as ✓ B2 leads to a statement that the book's Audit has checked."
ANSWERS = """\
**A figure that answers.** Run the cell below, and it moves under your hand. At rest it looks like
this:

![{alt}]({picture})"""


def change(app: Sphinx, docname: str, notebook: dict) -> None:
    """Change a source before it is written for the edition."""
    link = program_states.ELSEWHERE.format(site_address(app.config))
    program_states.lead(notebook, docname, link)
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            _fold(cell)
            cells += _picture(cell)
        cells.append(cell)
    for number, text in enumerate(quizzes.as_texts(docname)):
        name = f"quiz-{number}"
        cells.append({"cell_type": "markdown", "id": name, "metadata": {}, "source": text})
    notebook["cells"] = cells
    if any(MARK.search("".join(cell["source"])) for cell in cells if cell["cell_type"] != "code"):
        notebook["metadata"]["note"] = MARKS


def _fold(cell: dict) -> None:
    """Say what a folded cell holds, and pin the set-up cell to a wheel."""
    source, tags = "".join(cell["source"]), cell["metadata"].get("tags", [])
    if "setup" in tags:
        cell["metadata"]["fold_title"] = "Set-up: run this cell first"
        if wheel := os.environ.get("EDITION_WHEEL"):
            cell["source"] = wheels.set_up(wheel)
    elif "explorables.show(" in source or "living_model.show(" in source:
        cell["metadata"]["fold_title"] = "The figure that answers: run this cell"
    elif any("application/vnd.posenc.claim+json" in o.get("data", {}) for o in cell["outputs"]):
        cell["metadata"]["fold_title"] = "Verdict: code"


def _picture(cell: dict) -> list[dict]:
    """Return a cell with the picture of a figure that answers, where one stands."""
    for output in cell["outputs"]:
        if found := FIGURE.search("".join(output.get("data", {}).get("text/html", ""))):
            name, drawing = found.groups()
            alt = "".join(output["data"]["text/plain"]).removeprefix("[figure: ").removesuffix("]")
            picture = stills.address(drawing)
            text = ANSWERS.format(alt=alt, picture=picture)
            return [
                {"cell_type": "markdown", "id": f"still-{name}", "metadata": {}, "source": text}
            ]
    return []


def add_assignments(app: Sphinx, folder: Path) -> None:  # noqa: ARG001
    """Put the assignments for students beside the chapters, with the same set-up cell."""
    for path in sorted(ASSIGNMENTS.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            wheel = os.environ.get("EDITION_WHEEL")
            if cell["id"] == "set-up" and wheel:
                cell["source"] = wheels.set_up(wheel)
        target = folder / "assignments" / path.name
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Wait for the edition."""
    app.connect("notebook-edition", change)
    app.connect("notebook-edition-written", add_assignments)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
