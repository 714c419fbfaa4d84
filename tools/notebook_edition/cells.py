"""The cells of a notebook of the edition: code folded as the page folds it, a place for answers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from notebook_edition.markdown import Part, Text

CLOSED = {"remove-input", "hide-input", "hide-cell", "remove-cell"}
CHECK = re.compile(r"^def (check_\w+)\((.*?)\)", re.MULTILINE | re.DOTALL)


@dataclass
class Cells:
    """Rewrites the cells of one page.

    Parameters
    ----------
    text : Text
    """

    text: Text
    check: str = field(default="", init=False)  # the call that checks the exercise above
    exercise: str = field(default="", init=False)  # the one above
    solving: str = field(default="", init=False)  # the exercise whose solution stands above

    def __call__(self, cells: list[dict]) -> Iterator[dict]:
        """Yield the cells of the notebook of the edition."""
        for cell, below in zip(cells, [*cells[1:], {}], strict=True):
            if cell["cell_type"] == "code":
                yield from self._code(cell)
            elif cell["cell_type"] == "markdown":
                yield from self._markdown(cell, _is_folded(below))
            else:
                yield cell

    def _markdown(self, cell: dict, with_code: bool) -> Iterator[dict]:
        parts = self.text.parts("".join(cell["source"]))
        held, names = [], _names(cell["id"])
        self.solving = ""
        for part in parts:
            if part.kind == "exercise":
                self.check, self.exercise = "", part.label
            if part.kind == "solution":
                yield from _written(cell, held, names)
                is_last = part is parts[-1]
                yield self._yours(cell, part.label, is_last and with_code)
                self.solving = part.label if is_last else ""
                held = []
            if part.text:
                held.append(part)
        yield from _written(cell, held, names)

    def _yours(self, cell: dict, label: str, in_code: bool) -> dict:
        """Return the empty cell for a reader's own answer, which names the check."""
        number = self.text.inline.number(label)
        name = f"{cell['id']}-{label}"[:64]
        if self.check:
            text = f"# {number}: yours. Run the check above once, and take the # off the last line:"
            return _new("code", name, f"{text}\n\n\n# {self.check}")
        if in_code:
            return _new("code", name, f"# {number}: yours.")
        return _new("markdown", name, f"*{number}: yours. Write your answer here.*")

    def _code(self, cell: dict) -> Iterator[dict]:
        tags, source = set(cell["metadata"].get("tags", [])), "".join(cell["source"])
        if self.solving and _is_folded(cell) and not self.text.solutions:
            return
        if not _is_folded(cell):
            self.solving = ""
        if found := CHECK.search(source):
            self.check = f"{found[1]}({' '.join(found[2].split())})"
        figure = cell["metadata"].get("mystnb", {}).get("figure", {})
        number = self.text.inline.number(figure["name"]) if "name" in figure else ""
        if tags & CLOSED:
            close(cell, self._title(cell, number))
        if tags & {"hide-output", "remove-output", "hide-cell"}:
            cell["metadata"].setdefault("jupyter", {})["outputs_hidden"] = True
        yield cell
        if figure.get("caption"):
            words = f"**{number}.** " if number else ""
            yield _new("markdown", f"{cell['id']}-caption", words + self.text(figure["caption"]))

    def _title(self, cell: dict, number: str) -> str:
        """Return what a folded cell holds, in a few words."""
        if title := cell["metadata"].pop("fold_title", ""):
            return title
        if self.solving:
            return f"Solution to {self.text.inline.number(self.solving)}: code"
        prompt = cell["metadata"].get("mystnb", {}).get("code_prompt_show", "Code")
        kind = prompt.removeprefix("Show the ").capitalize()
        if CHECK.search("".join(cell["source"])) and self.exercise:
            number = self.text.inline.number(self.exercise)
        if _is_folded(cell) and cell["outputs"]:
            kind += " and result"
        return f"{kind} of {number}" if number else kind


def close(cell: dict, title: str) -> None:
    """Close a code cell: a form with a title in Colab, a folded input in JupyterLab, VS Code.

    A magic of the whole cell must stay its first line, so such a cell gets no title.
    """
    source = "".join(cell["source"])
    if not source.startswith("%%"):
        cell["source"] = f"#@title {title}\n{source}"
    cell["metadata"]["cellView"] = "form"
    cell["metadata"].setdefault("jupyter", {})["source_hidden"] = True


def _is_folded(cell: dict) -> bool:
    """Say whether a cell is code that the page folds as a whole."""
    return "hide-cell" in cell.get("metadata", {}).get("tags", [])


def _names(name: str) -> Iterator[str]:
    """Yield names for the pieces of a cell: its own, then this with a number."""
    yield name
    yield from (f"{name}-{number}" for number in count(2))


def _written(cell: dict, parts: list[Part], names: Iterator[str]) -> Iterator[dict]:
    text = "\n\n".join(part.text.strip("\n") for part in parts).strip("\n")
    if text:
        yield cell | {"source": text, "id": next(names)}


def _new(kind: str, name: str, source: str) -> dict:
    cell = {"cell_type": kind, "id": name, "metadata": {}, "source": source}
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})
