"""A table with a column of words, which stand to the left and may take several lines."""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class WordTable:
    """A table whose last column is prose, shown by notebooks.

    Attributes
    ----------
    rows : mapping of a row's name to a mapping of headings to entries
        Every row has the same headings. Whole numbers are shown with separators.
    head : str
        Heading of the names.
    stacked : bool
        Whether each row becomes a card on a narrow screen, with its headings above the entries.

    Raises
    ------
    ValueError
        If there is no row, or two rows differ in their headings.
    """

    rows: Mapping[str, Mapping[str, Any]]
    head: str = ""
    stacked: bool = False

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError("rows must hold at least one row, got none")
        for name, row in self.rows.items():
            if list(row) != self.headings:
                raise ValueError(f"row {name!r} must have {self.headings}, got {list(row)}")

    @property
    def headings(self) -> list[str]:
        """The headings of all columns but that of the names."""
        return list(next(iter(self.rows.values())))

    def __str__(self) -> str:
        lines = [f"{self.head} | {' | '.join(self.headings)}"]
        for name, row in self.rows.items():
            lines.append(f"{name} | {' | '.join(map(_text, row.values()))}")
        return "\n".join(lines)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict:
        del include, exclude  # part of the notebook protocol
        return {"text/plain": str(self), "text/html": self._html()}

    def _html(self) -> str:
        head = "".join(
            f'<th scope="col">{_escaped(one)}</th>' for one in (self.head, *self.headings)
        )
        body = "".join(self._row(name, row) for name, row in self.rows.items())
        look = "posenc-prose posenc-stacked" if self.stacked else "posenc-prose"
        return (
            f'<table class="dataframe {look}">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def _row(self, name: str, row: Mapping[str, Any]) -> str:
        cells = "".join(
            f"<td{self._label(heading)}>{_escaped(entry)}</td>" for heading, entry in row.items()
        )
        return f'<tr><th scope="row">{_escaped(name)}</th>{cells}</tr>'

    def _label(self, heading: str) -> str:
        """Return the attribute from which the style sheet writes a heading on a narrow screen."""
        return f' data-label="{_escaped(heading)}"' if self.stacked else ""


def _text(entry: object) -> str:
    return f"{entry:,}" if isinstance(entry, int) else str(entry)


def _escaped(entry: object) -> str:
    return html.escape(_text(entry))
