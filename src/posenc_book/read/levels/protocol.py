"""Two sets on which print and measurement lie far apart, trained with one thing changed at a time.

    posenc bench levels

On LSST our models with a token a step are twenty points below print, on MelbournePedestrian the
whole printed range lies below our model without positions. `PROTOCOL` holds all that decides a
result, and its hash stands in every record. It was written before any of these was trained.
"""

from typing import Any

from posenc_book.bench import seeded
from posenc_book.bench.seeded import SeedBySeed
from posenc_book.read.classification import protocol as benchmark
from posenc_book.records.hashes import hashed
from posenc_book.records.settings import Settings

PROFILE = "levels"
LARGE = benchmark.VARIANTS["large"]["time_series"]
LONG = {"steps": 12_000, "patience_steps": 2_000}
BY_BATCH_ROW = "posenc.audit.published:BatchIndexed"  # as one class of the survey's code does

# What is asked of each set: name of a change -> what differs from the benchmark's settings.
CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "LSST": {
        "as in the benchmark": {},
        "heavy tails tamed": {"input_scaling": "asinh"},
        "each series scaled by itself": {"input_scaling": "series"},
        "layer norm": {"norm": "layer"},
        "four layers of width 128": LARGE,
        "three times the steps": LONG,
        "tails tamed, four layers": {"input_scaling": "asinh", **LARGE},
    },
    "MelbournePedestrian": {"as in the benchmark": {}},
}
ENCODINGS = {
    "LSST": ("none", "sinusoidal"),
    "MelbournePedestrian": ("none", "sinusoidal", BY_BATCH_ROW),
}

PROTOCOL: dict[str, Any] = {
    "model": "time_series",
    "changes": CHANGES,
    "encodings": ENCODINGS,
    "outcome": "mean accuracy over resamples",
    "seeds": 3,
    "settings": {**benchmark.TRAINING["settings"], "learning_rate": 1e-3, "scale": "paper"},
}

HASH = hashed(PROTOCOL)


def cell(
    dataset: str, change: str, encoding: str, seed: int, *, source: str | None = None
) -> Settings:
    """Return one cell of the protocol, on the series at hand or on those that a source names."""
    planned = {
        **PROTOCOL["settings"],
        **CHANGES[dataset][change],
        "encoding_source": seeded.encoding_source(encoding),
        "dataset_source": source or seeded.dataset_source(dataset),
    }
    return Settings(
        encoding,
        PROTOCOL["model"],
        dataset,
        seed,
        profile=PROFILE,
        split_seed=seed,
        resample=seed,
        protocol=HASH,
        **planned,
    )


def places() -> list[tuple[str, str, str]]:
    """Return each set with its changes and encodings."""
    return [
        (dataset, change, encoding)
        for dataset, changes in CHANGES.items()
        for change in changes
        for encoding in ENCODINGS[dataset]
    ]


def protocol_cells(seeds: int | None = None) -> SeedBySeed:
    """Return the cells of the protocol, or those of its first seeds."""
    return SeedBySeed(cell, places(), seeded.first(seeds, PROTOCOL["seeds"]))
