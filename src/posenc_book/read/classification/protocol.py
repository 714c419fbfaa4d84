"""The training protocol of the benchmark's second edition, with its hash, and its cells.

`TRAINING` holds all that decides a training. Its hash is stored with each record, so that results
of another protocol never mix in. Encodings that came later, and a control for those that are made
from the signal, are an extension of tier 3, which changes no hash and none of the other trainings.
How the results are analysed is a second part with a hash of its own: `analysis`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from posenc import _checks
from posenc_book import data
from posenc_book.bench import build, tuning
from posenc_book.bench.stages import Files
from posenc_book.records.hashes import hashed
from posenc_book.records.settings import Settings

PROFILE = "second"

UP_TO_100 = (
    "PenDigits", "SmoothSubspace", "MelbournePedestrian", "ItalyPowerDemand", "Chinatown",
    "RacketSports", "RoomOccupancy", "EMGGestures", "LSST", "Libras", "FingerMovements", "NATOPS",
    "SyntheticControl", "SharePriceIncrease", "DistalPhalanxTW", "ProximalPhalanxTW",
    "PhalangesOutlinesCorrect", "MedicalImages", "BasicMotions",
)  # fmt: skip
UP_TO_180 = (
    "SwedishLeaf", "FaceAll", "ArticularyWordRecognition", "PowerCons", "Plane", "GunPointAgeSpan",
    "Handwriting", "Adiac",
)  # fmt: skip
UP_TO_275 = (*UP_TO_180, "Epilepsy", "Strawberry", "WordSynonyms", "FiftyWords", "Trace")
ABOVE_275 = (
    "CricketX", "UWaveGestureLibrary", "OSULeaf", "Earthquakes", "Computers",
    "SmallKitchenAppliances",
)  # fmt: skip
ABOVE_100 = UP_TO_275 + ABOVE_275
DATASETS = UP_TO_100 + ABOVE_100

ENCODINGS = (
    "none", "sinusoidal", "learnable", "relative", "tape", "erpe", "tupe", "sine_spe", "tpe",
    "rotary", "dft",
)  # fmt: skip

TRAINING: dict[str, Any] = {
    "edition": 2,
    "datasets": DATASETS,
    "encodings": ENCODINGS,
    "resamples": 5,
    "settings": {
        "d_model": 64,
        "n_heads": 4,
        "n_layers": 2,
        "d_ff": 128,
        "patch": 8,
        "dropout": 0.1,
        "optimizer": "adamw",
        "weight_decay": 0.01,
        "schedule": "constant",
        "warmup": 0.0125,
        "batch_size": 16,
        "validation": 0.25,
        "max_cases": 2000,
        "precision": "float32",
        "norm": "own",
        "steps": 4000,
        "least_steps": 500,
        "patience_steps": 500,
        "check_every": 50,
    },
    "tuning": {"rates": tuning.RATES, "trials": 4, "steps": tuning.STEPS},
}


HASH = hashed(TRAINING)

# What tier 3 adds. Its ten sets were named before results on them were read.
OTHERS = ("learnable_frequency", "sine_linear", "t5", "alibi", "conv_spe")
# Encodings that joined the library after the protocol was frozen. They extend tier 3 with patches
# and tier 4 with steps, behind all else there, and are compared in a family of their own. What
# joins now is trained by the same protocol where it is named, and changes no family.
LATER = (
    "transformer_xl", "deberta", "kerple", "xpos", "fire", "cope",
    "fope", "pope", "dywpe", "window_statistics",
)  # fmt: skip
BASELINE = ("none",)
VARIED = (
    "MelbournePedestrian", "ItalyPowerDemand", "RacketSports", "Libras", "FingerMovements",
    "NATOPS", "SyntheticControl", "ProximalPhalanxTW", "MedicalImages", "BasicMotions",
)  # fmt: skip
# The encodings made from the signal refuse a mask, and one of the ten has missing steps.
WITHOUT_GAPS = tuple(name for name in VARIED if name != "MelbournePedestrian")
_EACH_KIND = ("none", "sinusoidal", "relative", "rotary")
# With another norm and in a larger model: no encoding, and one of each kind that is added to the
# tokens, compared in the scores, or turns queries and keys. With another norm besides one that the
# survey calls advanced, which is what it says of norms (S50). How these lists changed, and when,
# is told in `analysis`.
COMPARED = {"other-norm": (*_EACH_KIND, "tupe"), "large": _EACH_KIND}
"""Variant -> the encodings that are trained in it."""
_LARGE = {"d_model": 128, "n_heads": 8, "n_layers": 4, "d_ff": 256}
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "other-norm": {"patch": {"norm": "batch"}, "time_series": {"norm": "layer"}},
    "large": {"patch": _LARGE, "time_series": _LARGE},
}
"""Variant -> model -> what differs from `TRAINING`."""

_RICHER = {"input_statistics": "mean_std_slope"}
CONTROLS: dict[str, dict[str, dict[str, Any]]] = {
    "window-statistics": {"patch": _RICHER, "time_series": _RICHER},
}
"""Variants for "none" alone: is what an encoding gains owed to position, or to richer tokens?"""
CONTROLLED = {"window-statistics": "window_statistics"}
"""Control -> the encoding that it stands beside."""


@dataclass(frozen=True)
class Block:
    """One model on one data set with several encodings.

    Parameters
    ----------
    model, dataset : str
        Names, as in `Settings`.
    encodings : tuple of str
        By default those of the protocol.
    variant : str
        A name of `VARIANTS` or `CONTROLS`; empty for the model of tier 1.
    """

    model: str
    dataset: str
    encodings: tuple[str, ...] = ENCODINGS
    variant: str = ""

    @property
    def changes(self) -> dict[str, Any]:
        """What differs from `TRAINING`."""
        return {**VARIANTS, **CONTROLS}[self.variant][self.model] if self.variant else {}


def _blocks(model: str, datasets: Sequence[str], *more: Any) -> tuple[Block, ...]:
    return tuple(Block(model, dataset, *more) for dataset in datasets)


def _variant(name: str, *models: str) -> tuple[Block, ...]:
    encodings = COMPARED[name]
    return tuple(block for m in models for block in _blocks(m, VARIED, encodings, name))


def _extension(model: str) -> tuple[Block, ...]:
    later = _blocks(model, WITHOUT_GAPS, LATER)
    return later + _blocks(model, WITHOUT_GAPS, BASELINE, "window-statistics")


TIERS: dict[int, tuple[Block, ...]] = {
    1: _blocks("patch", DATASETS) + _blocks("time_series", UP_TO_100),
    2: _blocks("time_series", UP_TO_275),
    3: _blocks("patch", UP_TO_100, OTHERS)
    + _blocks("time_series", VARIED, OTHERS)
    + _variant("other-norm", "patch", "time_series")
    + _variant("large", "patch")
    + _extension("patch"),
    4: _blocks("time_series", ABOVE_275)
    + _blocks("patch", ABOVE_100, OTHERS)
    + _variant("large", "time_series")
    + _extension("time_series"),
}


def cells(
    dataset: str, model: str, encoding: str, *, resamples: int | None = None, **changes: Any
) -> list[Settings]:
    """Return the cells of one encoding in one model on one data set, a cell a resample.

    Resample and seed go together. A set that has its official split only gets as many seeds, each
    with a validation part of its own and, of a part above `max_cases`, series of its own.
    """
    n = TRAINING["resamples"] if resamples is None else resamples
    only = data.official_only(dataset)
    common = {**TRAINING["settings"], **changes}
    common["encoding_source"] = build.encoding_fingerprint(encoding)
    common["dataset_source"] = data.fingerprint(dataset)
    return [
        Settings(
            encoding,
            model,
            dataset,
            seed=r,
            split_seed=r,
            resample=0 if only else r,
            profile=PROFILE,
            protocol=HASH,
            **common,
        )
        for r in range(_checks.count("resamples", n, minimum=1))
    ]


def blocks(tier: int, model: str | None = None, names: Sequence[str] | None = None) -> list[Block]:
    """Return the blocks of a tier in the order in which they are run."""
    _checks.choice("tier", str(tier), map(str, TIERS))
    if model is not None:
        _checks.choice("model", model, build.MODELS)
    found = [block for block in TIERS[tier] if model in (None, block.model)]
    return found if names is None else _with_encodings(found, names)


def _with_encodings(found: Sequence[Block], names: Sequence[str]) -> list[Block]:
    """Return the blocks with these encodings only, without those that have none of them."""
    names = list(dict.fromkeys(names))
    for name in names:
        build.find_class(name)
    planned = {name for block in found for name in block.encodings}
    later = [name for name in names if name not in planned]
    kept, seen = [], set()
    for block in found:
        place = block.model, block.dataset, block.variant
        own = [name for name in names if name in block.encodings]
        takes_later = place not in seen and block.variant not in CONTROLS
        chosen = [*own, *later] if takes_later else own
        seen.add(place)
        if chosen:
            kept.append(replace(block, encodings=tuple(chosen)))
    return kept


def files(folder: Path, dataset: str, variant: str = "") -> Files:
    """Return the files of a data set in a folder of results."""
    results = f"variant-{variant}-{dataset}" if variant else f"second-{dataset}"
    return Files(folder / f"tuning-{dataset}.jsonl", folder / f"{results}.jsonl")
