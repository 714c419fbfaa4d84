"""Three questions that lead to a case of the decision record."""

from html import escape

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset
from posenc_book.guide import record

_ROW = 22
NONE = "no"  # the answer that asks for nothing
OTHERWISE = "text"


class Chooser(Explorable):
    """The three questions of the first page; an answer that asks for something is a case's key."""

    name = "chooser"
    title = "An encoding in three questions"
    caption = (
        "The first answer that asks for something decides; its line is shaded. “Text” is whatever "
        "is predicted token after token."
    )
    alt = (
        "Three questions below one another, under each of them its answers and what to take then. "
        "The last line is marked: none of these, RoPE."
    )
    controls = (
        Choice("position", "What is a position?", {NONE: "the number of a token",
               "times": "a time, with gaps between", "axes": "a row and a column"}, NONE),
        Choice("longer", "Longer than in training?", {NONE: "no",
               "longer": "yes: series, to be classified",
               "stretched": "yes: text, model has RoPE",
               "anew": "yes: text, not trained yet"}, NONE),
        Choice("token", "What is a token?", {NONE: "a word",
               "steps": "a step, all of one length",
               "varying": "a step, lengths vary",
               "patches": "a patch of time steps",
               "channels": "a channel of a series",
               "flat": "to forecast, all flattened",
               "mean": "to forecast, all averaged"}, NONE),
    )  # fmt: skip
    presets = (
        Preset("A sensor that skips", {"position": "times"}),
        Preset("Long documents", {"position": NONE, "longer": "stretched"}),
        Preset("A swing of a racket", {"position": NONE, "longer": NONE, "token": "steps"}),
        Preset("A series in patches", {"position": NONE, "longer": NONE, "token": "patches"}),
        Preset("A forecast", {"position": NONE, "longer": NONE, "token": "flat"}),
    )
    python = "chooser.Chooser().case('{position}', '{longer}', '{token}')"

    def case(self, *answers: str) -> record.Case:
        """Return the case to which answers lead, in the order of the questions."""
        return record.case(next((one for one in answers if one != NONE), OTHERWISE))

    def data(self) -> dict:
        """Return by case what is said and handed over, and where its line is drawn."""
        decided = [one for control in self.controls for one in control.options if one != NONE]
        return {
            key: handed(record.case(key)) | {"y": _top(self._row(key))}
            for key in [*decided, OTHERWISE]
        }

    def html(self) -> str:
        """Return the figure; below its sentences stands what a reader takes away."""
        found = handed(self.case(*self.first().values()))
        below = (
            '<ul class="explorable-handed">'
            f'<li>Code: <code data-part="code">{escape(found["code"])}</code></li>'
            f'<li>Test: <code data-part="test">{escape(found["test"])}</code></li>'
            f'<li>Evidence: <a data-part="see" href="{found["page"]}">{escape(found["see"])}'
            "</a></li></ul>"
        )
        return super().html().replace("<figcaption>", f"{below}<figcaption>", 1)

    def svg(self, state: State) -> str:
        """Return all questions, answers and recommendations, and a mark at the one that decides."""
        lines = self._lines()
        mark = drawing.element(
            "rect", class_="turn glide", x=4, y=_top(self._row(self.case(*state.values()).key)),
            width=352, height=_ROW, rx=5, data_part="mark",
        )  # fmt: skip
        drawn = "".join(_line(i, *line) for i, line in enumerate(lines))
        return drawing.svg(360, _top(len(lines)) + 2, mark + drawn, label=self.alt)

    def _lines(self) -> list[tuple[str, str, str]]:
        """Return the lines of the drawing: a question, or an answer and what to take."""
        lines = []
        for number, control in enumerate(self.controls, 1):
            lines.append((f"{number}. {control.label}", "", ""))
            lines += [
                ("", said.removeprefix("yes: "), record.case(option).said)
                for option, said in control.options.items()
                if option != NONE
            ]
        return [*lines, ("None of these", "", record.case(OTHERWISE).said)]

    def _row(self, key: str) -> int:
        """Return the line of the drawing that leads to a case."""
        row = 0
        for control in self.controls:
            if key in control.options:
                return row + [*control.options].index(key)
            row += len(control.options)
        return row

    def summary(self, state: State) -> str:
        """Return the recommendation, its reason, its exception, and how firm it is."""
        return handed(self.case(*state.values()))["says"]


def handed(case: record.Case) -> dict[str, str]:
    """Return what a reader gets of a case; the link leads to another page of the book."""
    return {
        "says": f"{case.advice} How firm is that? {case.firm.capitalize()}.",
        "code": case.code,
        "test": case.test,
        "see": f"{case.evidence} ({case.edition})",
        "page": case.see.replace(".ipynb", ".html"),
    }


def _top(row: int) -> int:
    """Return where a line of the drawing begins."""
    return 4 + _ROW * row


def _line(row: int, question: str, answer: str, said: str) -> str:
    y = _top(row) + 15
    left = drawing.text(8, y, question, class_="asked") if question else ""
    answered = drawing.text(24, y, answer) if answer else ""
    return left + answered + (drawing.text(350, y, said, class_="end") if said else "")
