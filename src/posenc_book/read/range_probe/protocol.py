"""The range probe, trained to the end, and what its models do beyond their length.

    posenc bench probes

In `range_probe` a class is a relation of two positions, a number of steps apart. Small models learn
it at several distances, with encodings of several sizes, and each is then tested on series that are
longer, and at places that come later, than those of its training. `PROTOCOL` holds all that decides
a result, and its hash stands in every record.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from posenc import _checks
from posenc_book.bench import seeded
from posenc_book.bench.seeded import SeedBySeed
from posenc_book.read.range_probe.extrapolation import LengthSettings
from posenc_book.records.hashes import hashed

PROFILE = "probe"
TASK = "range_probe"
MODEL = "time_series"


@dataclass(frozen=True)
class Variant:
    """An encoding of the probe: its name, the size of its rows, and its options.

    Parameters
    ----------
    encoding : str
        One of `posenc.encodings.names("series")`, or "module:Class".
    scale : str
        As in `posenc_book.records.settings.Settings`.
    options : tuple of (str, object)
        Those of the encoding, in pairs.
    """

    encoding: str
    scale: str = "paper"
    options: tuple[tuple[str, object], ...] = ()

    @property
    def label(self) -> str:
        """The name as tables show it."""
        options = (str(value) for _, value in self.options)
        changes = [*([self.scale] if self.scale != "paper" else []), *options]
        return f"{self.encoding} ({', '.join(changes)})" if changes else self.encoding


ONE_HOT = "posenc.audit.one_hot:OneHot"
# Size and shape apart, at every distance ...
SIZED = (
    Variant("none"),
    Variant("sinusoidal"),
    Variant("sinusoidal", "unit"),
    Variant("dft"),
    Variant("dft", "loud"),
    Variant(ONE_HOT, "loud"),
)
# ... and all others at one of them, for the tests beyond the trained length.
OTHERS = (
    *map(
        Variant,
        (
            "learnable", "relative", "tape", "erpe", "tupe", "sine_spe", "tpe", "rotary",
            "learnable_frequency", "sine_linear", "t5", "alibi", "conv_spe",
        ),
    ),
    Variant("dft", "loud", (("overflow", "alias"),)),
)  # fmt: skip
DISTANCES = (1, 2, 4, 8, 15)
TESTED_AT = 4

PROTOCOL: dict[str, Any] = {
    "edition": 2,
    "task": {"length": 32, "n": 4000, "noise": 0.02},
    "distances": DISTANCES,
    "sized": [[one.encoding, one.scale, one.options] for one in SIZED],
    "others": [[one.encoding, one.scale, one.options] for one in OTHERS],
    "others_at": TESTED_AT,
    "tested": (32, 64, 128),
    "n_test": 1000,
    "seeds": 10,
    "settings": {
        "d_model": 64,
        "n_heads": 4,
        "n_layers": 2,
        "d_ff": 128,
        "dropout": 0.0,
        "optimizer": "adamw",
        "learning_rate": 1e-3,
        "weight_decay": 0.01,
        "schedule": "constant",
        "warmup": 0.0125,
        "batch_size": 32,
        "validation": 0.25,
        "max_cases": 0,
        "steps": 8000,
        "least_steps": 4000,  # what is found late is not found by those who stop on a plateau
        "patience_steps": 500,
        "check_every": 50,
    },
    "found": 0.9,
}

HASH = hashed(PROTOCOL)


def cell(variant: Variant, distance: int, seed: int, **changes: Any) -> LengthSettings:
    """Return one cell of the protocol, or one that differs from it and so belongs to none."""
    task = {**PROTOCOL["task"], "distance": distance, "seed": seed}
    common = {**PROTOCOL["settings"], "protocol": "" if changes else HASH, **changes}
    return LengthSettings(
        variant.encoding,
        MODEL,
        TASK,
        seed,
        profile=PROFILE,
        split_seed=seed,
        scale=variant.scale,
        encoding_options=dict(variant.options),
        encoding_source=seeded.encoding_source(variant.encoding),
        dataset_options=task,
        dataset_source=seeded.dataset_source(TASK, **task),
        test_lengths=PROTOCOL["tested"],
        n_test=PROTOCOL["n_test"],
        **common,
    )


def places() -> list[tuple[Variant, int]]:
    """Return the encodings of the protocol with the distances at which they are trained."""
    at_all = [(variant, distance) for distance in DISTANCES for variant in SIZED]
    return at_all + [(variant, TESTED_AT) for variant in OTHERS]


def protocol_cells(
    encodings: Sequence[str] | None = None,
    distances: Sequence[int] | None = None,
    seeds: int | None = None,
) -> SeedBySeed:
    """Return the cells of the protocol, or some of them."""
    labels = seeded.chosen("encoding", encodings, {one.label for one in SIZED + OTHERS})
    for distance in distances or ():
        _checks.choice("distance", str(distance), map(str, DISTANCES))
    kept = [
        (variant, distance)
        for variant, distance in places()
        if variant.label in labels and distance in (distances or DISTANCES)
    ]
    return SeedBySeed(cell, kept, seeded.first(seeds, PROTOCOL["seeds"]))
