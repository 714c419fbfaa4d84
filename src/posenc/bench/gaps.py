"""What true times are worth, trained to the end: series that lost half of their steps.

    python -m posenc.bench gaps

Each encoding is trained twice on the same values: with "times" the steps that are left stand where
they were recorded, with "indices" they are moved together and counted. `PROTOCOL` holds all that
decides a result, and its hash stands in every record.
"""

from collections.abc import Sequence
from typing import Any

from posenc import data
from posenc.bench import protocols, seeded
from posenc.bench.protocols import hashed
from posenc.bench.seeded import SeedBySeed
from posenc.bench.settings import Settings
from posenc.data.lost_samples import CLOCKS

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
    """Return one cell of the protocol, or one that differs from it and so belongs to none.

    Parameters
    ----------
    dataset, encoding : str
        Names, as in `Settings`.
    clock : {"times", "indices"}
        What the model is told about the steps that are left.
    seed : int
        At least 0; which steps are lost, the resample, its validation part and the draw of the
        initial weights come from it. Steps are lost behind the resample, so that equal series stay
        in one part.
    **changes
        Settings that take the place of the protocol's; its hash is left out then.

    Returns
    -------
    posenc.bench.settings.Settings

    Raises
    ------
    ValueError
        If a name is unknown, a value out of range, or the data set cannot be had.

    Examples
    --------
    >>> one = cell("ItalyPowerDemand", "rotary", "times", 3)
    >>> one.protocol == HASH, one.resample, one.dataset_options["clock"]
    (True, 3, 'times')
    """
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
    """Return the data sets of the protocol with the encodings and clocks.

    Returns
    -------
    list of (data set, encoding, clock)

    Examples
    --------
    >>> len(places()), places()[0]
    (90, ('SmoothSubspace', 'none', 'times'))
    """
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
    """Return the cells of the protocol, or some of them.

    Parameters
    ----------
    datasets, encodings : sequence of str, optional
        By default all.
    seeds : int, optional
        How many of the seeds; by default all.

    Returns
    -------
    SeedBySeed

    Raises
    ------
    ValueError
        If a name or number is none of the protocol's.

    Examples
    --------
    >>> len(protocol_cells()), len(protocol_cells(["RacketSports"], ["rotary"], seeds=2))
    (450, 4)
    """
    names = seeded.chosen("dataset", datasets, PROTOCOL["datasets"])
    labels = seeded.chosen("encoding", encodings, PROTOCOL["encodings"])
    kept = [place for place in places() if place[0] in names and place[1] in labels]
    return SeedBySeed(cell, kept, seeded.first(seeds, PROTOCOL["seeds"]))
