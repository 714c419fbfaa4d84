"""Cells that are trained one by one, seed by seed: the order of the small protocols."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from posenc import _checks
from posenc_book import data
from posenc_book.bench import build
from posenc_book.records.settings import Settings

# every cell of a protocol asks for both, and few differ
encoding_source, dataset_source = cache(build.encoding_fingerprint), cache(data.fingerprint)


@dataclass(frozen=True)
class SeedBySeed:
    """The cells of some places with some seeds, so that a run that stops early has some of all.

    Parameters
    ----------
    make : callable
        Makes a cell from what stands in a place, and the seed.
    places : sequence of tuple
        Such as a task and an encoding.
    seeds : sequence of int
    """

    make: Callable[..., Settings]
    places: Sequence[tuple]
    seeds: Sequence[int]

    def __len__(self) -> int:
        return len(self.places) * len(self.seeds)

    def groups(self) -> Iterator[list[Settings]]:
        """Yield the cells one by one."""
        for seed in self.seeds:
            for place in self.places:
                yield [self.make(*place, seed)]


def first(asked: int | None, most: int, where: str = "") -> range:
    """Return the first seeds of a protocol, as many as are asked for."""
    n = most if asked is None else _checks.count("seeds", asked, minimum=1)
    if n > most:
        raise ValueError(f"seeds must be at most {most}{where}, got {n}")
    return range(n)


def chosen(what: str, asked: Sequence[str] | None, known: Collection[str]) -> Collection[str]:
    """Return the names that are asked for, of those of a protocol."""
    for name in asked or ():
        _checks.choice(what, name, known)
    return asked or known
