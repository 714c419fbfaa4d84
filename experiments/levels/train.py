"""The cells of two sets on which print and measurement lie far apart, one thing changed at a time.

`posenc_book.bench.train` trains them.
"""

from posenc_book.bench import seeded
from posenc_book.bench.seeded import SeedBySeed
from posenc_book.read.levels import protocol
from posenc_book.records.settings import Settings


def cell(dataset: str, change: str, encoding: str, seed: int) -> Settings:
    """Return one cell of the protocol, on the series and with the code at hand."""
    code, series = seeded.encoding_source(encoding), seeded.dataset_source(dataset)
    return protocol.cell(dataset, change, encoding, seed, series=series, code=code)


def protocol_cells(seeds: int | None = None) -> SeedBySeed:
    """Return the cells of the protocol, or those of its first seeds."""
    return SeedBySeed(cell, protocol.places(), seeded.first(seeds, protocol.PROTOCOL["seeds"]))
