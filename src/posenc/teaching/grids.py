"""Small tables in a page, made without pandas."""

from collections.abc import Mapping, Sequence
from html import escape


class Table:
    """Rows of text under heads, which a notebook shows as a table of the page.

    Parameters
    ----------
    rows : mapping of str to sequence of str
        Name of each row, and its cells from left to right.
    heads : sequence of str
        Head of each column of cells, with its unit.
    corner : str
        Head of the column of names.

    Raises
    ------
    ValueError
        If a row has more or fewer cells than there are heads.
    """

    def __init__(
        self, rows: Mapping[str, Sequence[object]], heads: Sequence[str], corner: str = ""
    ) -> None:
        for name, cells in rows.items():
            if len(cells) != len(heads):
                raise ValueError(
                    f"rows must have one cell for each of the {len(heads)} heads, "
                    f"got {len(cells)} in row {name!r}"
                )
        self.heads = [corner, *heads]
        self.rows = [[name, *map(str, cells)] for name, cells in rows.items()]

    def _repr_html_(self) -> str:
        heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in self.heads)
        rows = "\n".join(f"<tr>{_cells(row)}</tr>" for row in self.rows)
        return (
            f'<table class="dataframe">\n<thead><tr>{heads}</tr></thead>\n'
            f"<tbody>\n{rows}\n</tbody>\n</table>"
        )

    def __repr__(self) -> str:
        return "\n".join(" | ".join(row) for row in [self.heads, *self.rows])


def _cells(row: Sequence[str]) -> str:
    name, *cells = map(escape, row)
    return f'<th scope="row">{name}</th>' + "".join(f"<td>{cell}</td>" for cell in cells)
