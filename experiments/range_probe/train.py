"""The cells of the range probe: small models at several distances, with encodings of several sizes.

`posenc_book.bench.train` trains them, and `posenc_book.bench.extrapolation` tests each on series
that are longer, and at places that come later, than those of its training.
"""

from collections.abc import Sequence
from typing import Any

from posenc import _checks
from posenc_book.bench import seeded
from posenc_book.bench.extrapolation import LengthSettings
from posenc_book.bench.seeded import SeedBySeed
from posenc_book.read.range_probe.protocol import (
    DISTANCES,
    HASH,
    OTHERS,
    PROTOCOL,
    SIZED,
    Variant,
    places,
)

PROFILE = "probe"
TASK = "range_probe"
MODEL = "time_series"


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
        test_lengths=tuple(PROTOCOL["tested"]),
        n_test=PROTOCOL["n_test"],
        **common,
    )


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
