"""What came of the questions: findings, and a report that reads like a friend's note."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

OUTCOMES = {
    "broken": "Promised, and not so",
    "late": "No answer in time, so nothing was learned",
    "held": "Promised, and so it is",
    "measured": "Not promised, only measured",
    "ignored": "Taken and silently ignored, so nothing was learned",
    "cannot": "Could not be asked",
}
"""What may come of a check, with the heading under which a report shows it."""

BOOK = "https://positional-encoding.github.io/positional-encoding-book/book/"


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes
    ----------
    name : str
        What was asked, as a statement.
    outcome : str
        One of `OUTCOMES`.
    promise : str
        The word of the promise that it belongs to; "" if it only measures.
    expected : str
        What was due.
    came : str
        What came instead, or why nothing did.
    smallest : str
        The smallest input that shows it, in words; "" if there was none.
    number, due : float or None
        The same as numbers: differences, as shares of the output's own size.
    size : int
        How many tokens that input has, all rows together; 0 if there was none.
    hint : str
        The usual reason, if it is broken.
    page : str
        The page of the book that explains it.
    fields : tuple of mapping
        Beside a configuration, what differs: layer, field, seen, due, pair, and the sentence.
    """

    name: str
    outcome: str
    promise: str = ""
    expected: str = ""
    came: str = ""
    smallest: str = ""
    number: float | None = None
    due: float | None = None
    size: int = 0
    hint: str = ""
    page: str = ""
    fields: tuple[Mapping[str, Any], ...] = ()

    @property
    def link(self) -> str:
        """The address of the page of the book that explains it."""
        path, _, anchor = self.page.partition("#")
        return f"{BOOK}{path}.html" + (f"#{anchor}" if anchor else "")

    def __str__(self) -> str:
        lines = [self.name]
        if self.smallest:
            lines.append(f"    asked with: {self.smallest}")
        if self.came:
            lines.append(
                f"    came: {self.came}" + (f"; due: {self.expected}" * bool(self.expected))
            )
        if self.outcome == "broken" and self.hint:
            lines.append(f"    often: {self.hint}")
        if self.outcome == "broken":
            lines.append(f"    read on: {self.link}")
        return "\n".join(lines)


class BrokenPromise(AssertionError):
    """Raised by `Report.raise_for_failures`; its message is the report."""


@dataclass(frozen=True)
class Report:
    """The result of `check_attention` and `check_encoding`.

    Attributes
    ----------
    subject : str
        What was asked.
    findings : tuple of Finding
        One for each check, in the order in which they were asked.
    promised : tuple of str
        The words of what was promised.
    cut_short : bool
        Whether nothing else was asked after a first finding, as no answer could be trusted.

    Examples
    --------
    >>> report = Report("MyAttention", (Finding("order matters", "held", "order"),), ("order",))
    >>> report.passed, report.failures
    (True, ())
    """

    subject: str
    findings: tuple[Finding, ...]
    promised: tuple[str, ...] = ()
    cut_short: bool = False

    @property
    def failures(self) -> tuple[Finding, ...]:
        """Promises that do not hold, the one that shows with the fewest tokens first."""
        broken = (one for one in self.findings if one.outcome == "broken")
        return tuple(sorted(broken, key=lambda one: one.size))

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Promises that no check could look into, or not in time. They do not pass."""
        answered = {one.promise for one in self.findings if one.outcome in ("held", "broken")}
        late = {one.promise for one in self.findings if one.outcome == "late"}
        late |= {one.promise for one in self.findings if one.outcome == "cannot"} & {"like"}
        pairs = tuple(sorted(word for word in late if " & " in word))
        return (*(w for w in self.promised if w not in answered or w in late), *pairs)

    @property
    def passed(self) -> bool:
        """Whether every promise was looked into, and holds."""
        return not self.failures and not self.unanswered

    def __getitem__(self, name: str) -> Finding:
        """Return the finding of a check by its name."""
        for one in self.findings:
            if one.name == name:
                return one
        raise KeyError(
            f"no check called {name!r}; there are: {[one.name for one in self.findings]}"
        )

    def __str__(self) -> str:
        parts = [_headline(self)]
        for outcome, heading in OUTCOMES.items():
            found = [one for one in self.findings if one.outcome == outcome]
            found = [*self.failures] if outcome == "broken" else found
            if found:
                show = str if outcome == "broken" else _in_a_line
                parts.append(
                    f"{heading}\n" + "\n".join(_marked(outcome, show(one)) for one in found)
                )
        if len(self.failures) > 1 and not self.cut_short:
            first = self.failures[0]
            parts.insert(2, f"{FIRST} {first.name!r} shows with {first.size} tokens.")
        if self.cut_short:
            parts.append("We asked nothing else, as no other answer could be trusted.")
        elif self.unanswered:
            parts.append(
                "No check could look into these promises, or not in time, so they do not pass: "
                + ", ".join(self.unanswered)
                + ". The reasons stand above. An adapter may help; without one, take them back."
            )
        if any(one.number is not None for one in self.findings):
            parts.append("Numbers are differences, as shares of the output's own size.")
        return "\n\n".join(parts)

    def raise_for_failures(self) -> None:
        """Raise AssertionError with the report as its message unless it passed."""
        if not self.passed:
            raise BrokenPromise(f"\n{self}")

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "subject": self.subject,
            "passed": self.passed,
            "promised": list(self.promised),
            "unanswered": list(self.unanswered),
            "findings": [asdict(one) | {"link": one.link} for one in self.findings],
        }


FIRST = "Begin with the first, as the others often follow from it:"
_MARKS = {"broken": "✗", "late": "…", "held": "✓", "measured": "·", "ignored": "?", "cannot": "–"}


def _marked(outcome: str, text: str) -> str:
    return "\n".join(
        f"  {_MARKS[outcome] if not i else ' '} {line}" for i, line in enumerate(text.splitlines())
    )


def _in_a_line(one: Finding) -> str:
    return f"{one.name}: {one.came}" if one.came else one.name


def _headline(report: Report) -> str:
    n_held = sum(one.outcome == "held" for one in report.findings)
    if report.failures:
        n = len(report.failures)
        verdict = f"{n} promise{'s' * (n > 1)} did not hold."
    elif report.unanswered:
        verdict = "what we could ask holds, but not every promise could be asked about."
    else:
        verdict = f"all that was promised holds ({n_held} check{'s' * (n_held != 1)})."
    return f"{report.subject}: {verdict}"
