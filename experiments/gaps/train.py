"""The cells of series with gaps: each encoding twice on the same values, by times and by indices.

`posenc_book.bench.train` trains them.
"""

from collections.abc import Sequence
from typing import Any

from posenc_book import data
from posenc_book.bench import seeded
from posenc_book.bench.seeded import SeedBySeed
from posenc_book.read.gaps.protocol import HASH, PROTOCOL, places
from posenc_book.records.settings import Settings

PROFILE = "gaps"


def cell(dataset: str, encoding: str, clock: str, seed: int, **changes: Any) -> Settings:
    """Return one cell of the protocol, or one that differs from it and so belongs to none."""
    options = {"lost": PROTOCOL["lost"], "clock": clock, "seed": seed}
    planned = {
        "profile": PROFILE,
        "split_seed": seed,
        "resample": 0 if data.official_only(dataset) else seed,
        "encoding_source": seeded.encoding_source(encoding),
        "dataset_options": options,
        "dataset_source": seeded.dataset_source(dataset, **options),
        "protocol": "" if changes else HASH,
        **PROTOCOL["settings"],
    }
    return Settings(encoding, PROTOCOL["model"], dataset, seed, **{**planned, **changes})


def protocol_cells(
    datasets: Sequence[str] | None = None,
    encodings: Sequence[str] | None = None,
    seeds: int | None = None,
) -> SeedBySeed:
    """Return the cells of the protocol, or some of them."""
    names = seeded.chosen("dataset", datasets, PROTOCOL["datasets"])
    labels = seeded.chosen("encoding", encodings, PROTOCOL["encodings"])
    kept = [place for place in places() if place[0] in names and place[1] in labels]
    return SeedBySeed(cell, kept, seeded.first(seeds, PROTOCOL["seeds"]))
