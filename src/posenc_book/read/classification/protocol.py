"""The training protocol of the benchmark's second edition: its plan with the hash, and its tiers.

`TRAINING` is the stored plan, `experiments/classification/plan.json`: all that decides a training.
Its hash is stored with each record, so that results of another protocol never mix in. Encodings
that came later, and a control for those that are made from the signal, are an extension of tier 3,
which changes no hash and none of the other trainings. How the results are analysed is a second
part with a hash of its own: `analysis`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from posenc import _checks
from posenc_book.data import recorded_facts
from posenc_book.read import plans
from posenc_book.records.hashes import hashed

PROFILE = "second"
MODELS = ("time_series", "patch")

TRAINING: dict[str, Any] = plans.load("classification")
HASH = hashed(TRAINING)

DATASETS = tuple(TRAINING["datasets"])
ENCODINGS = tuple(TRAINING["encodings"])


def _with_steps(least: int, most: int) -> tuple[str, ...]:
    """Return the data sets whose series have so many steps."""
    return tuple(name for name in DATASETS if least <= recorded_facts(name).length <= most)


UP_TO_100 = _with_steps(1, 100)
UP_TO_180 = _with_steps(101, 180)
UP_TO_275 = _with_steps(101, 275)
ABOVE_275 = _with_steps(276, 720)
ABOVE_100 = UP_TO_275 + ABOVE_275

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
# is told in `results/protocol.md`.
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


def blocks(tier: int, model: str | None = None) -> list[Block]:
    """Return the blocks of a tier in the order in which they are run."""
    _checks.choice("tier", str(tier), map(str, TIERS))
    if model is not None:
        _checks.choice("model", model, MODELS)
    return [block for block in TIERS[tier] if model in (None, block.model)]
