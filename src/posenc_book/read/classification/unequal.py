"""What was not equal among encodings that were all tuned by the same four trials.

The protocol's page tells it (`analysis`); here are the numbers, from the records of the edition.
"""

from dataclasses import dataclass

from posenc_book.read.classification import edition, found, second
from posenc_book.read.classification import protocol as protocols

TOP = max(protocols.TRAINING["tuning"]["rates"])
"""The highest learning rate that every encoding tries."""
CLIPPED = 16
"""Offsets up to which `relative` has vectors of their own, its default."""
WIDTH = int(protocols.TRAINING["settings"]["d_model"])


@dataclass(frozen=True)
class Rates:
    """How many chosen settings of one model stand at the highest rate that all try.

    Parameters
    ----------
    chosen, at_top : int
        Settings of all encodings and sets, none among the encodings.
    added, added_at_top : int
        Of encodings that are added to the tokens, which try no higher rate.
    beyond : int
        Of the others: those that took the rate beyond.
    """

    chosen: int
    at_top: int
    added: int
    added_at_top: int
    beyond: int


def rates(model: str) -> Rates:
    """Return how often tuning ended at the highest rate, on the sets of the edition."""
    records = _records(model)
    tuned = {
        (r["dataset"], r["encoding"]): (r["settings"]["learning_rate"], r["settings"]["scale"])
        for r in records
    }
    # only what is added to the tokens has another size of its rows to try
    resized = {name for (_, name), (_, scale) in tuned.items() if scale != "paper"}
    added = [rate for (_, name), (rate, _) in tuned.items() if name in resized]
    every = [rate for rate, _ in tuned.values()]
    return Rates(
        len(every),
        every.count(TOP),
        len(added),
        added.count(TOP),
        sum(rate > TOP for rate in every),
    )


def stretched(model: str) -> tuple[int, int]:
    """Return on how many learned units the DFT's table is stretched, and how many there are.

    Its rows are orthonormal for as many tokens as the model is wide.
    """
    grid = second.load_grid(model)
    units = second.learned(grid).datasets
    longest = {
        unit: max(
            found.n_tokens(name, second.TOKENS[model])
            for name in second.members(unit)
            if name in grid.datasets
        )
        for unit in units
    }
    return sum(n > WIDTH for n in longest.values()), len(units)


def _records(model: str) -> list[dict]:
    names = second.load_grid(model).datasets
    return [r for r in edition.plain(edition.load_edition(), model) if r["dataset"] in names]
