"""Rows of a table of positions that tokens take."""

from collections.abc import Iterator

import torch

from posenc.testing.adapters import CannotAsk
from posenc.testing.like.fault import Fault
from posenc.testing.like.hearing import Run


def faults(run: Run) -> Iterator[Fault]:
    """Yield that tokens take other rows than the configuration says."""
    pair = run.pairs[0]
    table = pair.due.table or {}
    counts = torch.arange(len(run.places))
    rows = [(index, size) for index, size in run.rows if (index[1:] != index[:-1]).all()]
    if not rows:
        raise CannotAsk("no table was heard that is looked up by places")
    index, size = rows[0]
    due = counts + table.get("offset", 0)
    if not torch.equal(index, due):
        place = int((index != due).nonzero()[0, 0])
        said = (
            f"a token at place {place} takes row {int(index[place])} of the table; the "
            f"configuration says row {int(due[place])}"
        )
        yield Fault(pair.number, "table.offset", int(index[0]), table.get("offset", 0), said)
    most = table["length"] + table.get("offset", 0)
    if table.get("kind") == "learned" and size < most:
        said = f"the table has {size:,} rows; the configuration says {most:,}"
        yield Fault(pair.number, "table.length", size, most, said)
