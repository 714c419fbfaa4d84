"""What true times are worth, trained to the end: series that lost half of their steps.

    posenc bench gaps

Each encoding is trained twice on the same values: with "times" the steps that are left stand where
they were recorded, with "indices" they are moved together and counted. `PROTOCOL` holds all that
decides a result, and its hash stands in every record.
"""

from collections.abc import Sequence
from typing import Any

from posenc_book import data
from posenc_book.bench import seeded
from posenc_book.bench.seeded import SeedBySeed
from posenc_book.data.lost_samples import CLOCKS
from posenc_book.read.classification import protocol as protocols
from posenc_book.records.hashes import hashed
from posenc_book.records.settings import Settings

PROFILE = "gaps"

# Those of the benchmark with 15 to 51 steps and at most 2,000 series for training.
DATASETS = (
    "SmoothSubspace", "MelbournePedestrian", "ItalyPowerDemand", "Chinatown", "RacketSports",
    "RoomOccupancy", "Libras", "FingerMovements", "NATOPS",
)  # fmt: skip
# What the scores know of a time: the place of a step, or the offset of two. One of each pair is a
# formula in time, the other a table that is learned.
GROUPS = {"place": ("sinusoidal", "learnable"), "offset": ("rotary", "relative")}
CONTROL = "none"
SHARED = ("MelbournePedestrian", "Chinatown")  # the second's series stand in the first

PROTOCOL: dict[str, Any] = {
    "edition": 2,
    "model": "time_series",
    "datasets": DATASETS,
    "lost": 0.5,
    "clocks": CLOCKS,
    "encodings": (CONTROL, *GROUPS["place"], *GROUPS["offset"]),
    "outcome": "accuracy with times minus with indices, mean of a group, then of the seeds",
    "groups": GROUPS,
    "one_unit": SHARED,
    "test": "exact two-sided Wilcoxon over units, Holm over the groups, level 0.05",
    "seeds": 5,
    "seed_decides": ("lost steps", "resample", "validation", "weights"),
    "settings": {**protocols.TRAINING["settings"], "learning_rate": 1e-3, "scale": "paper"},
}

HASH = hashed(PROTOCOL)


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


def places() -> list[tuple[str, str, str]]:
    """Return the data sets of the protocol with the encodings and clocks."""
    return [
        (dataset, encoding, clock)
        for dataset in PROTOCOL["datasets"]
        for encoding in PROTOCOL["encodings"]
        for clock in PROTOCOL["clocks"]
    ]


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
