"""Tables of numbers that a cell returns, rendered on the page and readable as text."""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """A table with named rows and columns, shown by notebooks.

    Parameters
    ----------
    rows : mapping from a row's name to a mapping from a column's heading to an entry
        Headings hold the unit, such as "wavelength (positions)". Every row has the same columns.
        Whole numbers are shown in full, others with three significant digits, words as they are.
    head : str
        Heading of the first column, the one with the names of the rows.
    caption : str
        What the table shows, in a sentence.
    wide : bool
        Whether the rows are too long to be read as plain text; the caption stands there then.
    unbroken : bool
        Whether every entry stays on one line where the screen is wide enough.

    Raises
    ------
    ValueError
        If there is no row, or two rows differ in their columns.

    Examples
    --------
    >>> print(Table({"fast": {"turns": 651.9}, "slow": {"turns": 0.6519}}, head="pair"))
    pair  turns
    fast    652
    slow  0.652
    """

    rows: Mapping[Any, Mapping[str, Any]]
    head: str = ""
    caption: str = ""
    wide: bool = False
    unbroken: bool = False

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError("rows must hold at least one row, got none")
        for name, row in self.rows.items():
            if list(row) != self.columns:
                raise ValueError(
                    f"row {name!r} must have the columns {self.columns}, got {list(row)}"
                )

    @property
    def columns(self) -> list[str]:
        """The headings of all columns but the first."""
        return list(next(iter(self.rows.values())))

    def __str__(self) -> str:
        lines = [[self.head, *self.columns], *self._lines()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = [
            "  ".join(
                [line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])],
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*([self.caption] if self.caption else []), *shown])

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict:
        del include, exclude  # part of the notebook protocol
        plain = f"[table of {len(self.rows)} rows]" if self.wide else str(self)
        return {"text/plain": plain, "text/html": self._html()}

    def _lines(self) -> list[list[str]]:
        return [[_text(name), *map(_text, row.values())] for name, row in self.rows.items()]

    def _html(self) -> str:
        def cells(tag: str, texts: list[str]) -> str:
            return "".join(f"<{tag}>{html.escape(text)}</{tag.split()[0]}>" for text in texts)

        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        corner = cells('th scope="col"', [self.head]) if self.head else "<td></td>"
        head = corner + cells('th scope="col"', self.columns)
        rows = [cells('th scope="row"', line[:1]) + cells("td", line[1:]) for line in self._lines()]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        kind = "dataframe posenc-table" + " posenc-unbroken" * self.unbroken
        return (
            f'<table class="{kind}">{caption}'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def _text(entry: Any) -> str:
    """Return an entry in few characters."""
    if isinstance(entry, str):
        return entry
    if hasattr(entry, "item"):  # a number of NumPy
        entry = entry.item()
    if isinstance(entry, bool):
        return "yes" if entry else "no"
    if isinstance(entry, int) or abs(entry) >= 1000:
        return f"{entry:,.0f}"
    if entry and abs(entry) < 1e-3:
        return f"{entry:.1e}"
    return f"{entry:.3g}"
