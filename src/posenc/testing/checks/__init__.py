"""The checks: one idea a file, all in the order in which they are asked."""

from posenc.testing.checks import (
    axes,
    batches,
    beyond,
    birth,
    cached,
    causal,
    compiled,
    distant,
    first,
    heads,
    layout,
    memory,
    moves,
    moving,
    nearer,
    order,
    packing,
    padding,
    precision,
    times,
    windows,
)
from posenc.testing.checks.kernels import BESIDE_EAGER
from posenc.testing.checks.like import LIKE
from posenc.testing.checks.pairs import PAIRS

CHECKS = (
    first.answers,
    memory.twice,
    order.order,
    causal.causal,
    causal.goes_on,
    cached.one_by_one,
    cached.chunks,
    cached.apart,
    batches.rows,
    batches.short_beside_long,
    memory.after_another,
    padding.left,
    padding.right,
    padding.square,
    packing.packed,
    order.read,
    order.counted,
    order.own,
    moving.moved,
    moving.offsets,
    layout.layout,
    distant.neighbours,
    times.real,
    axes.each,
    windows.ends,
    nearer.louder,
    heads.shared,
    precision.turned,
    precision.cast,
    precision.built,
    moves.dtype,
    moves.device,
    moves.loaded,
    beyond.told_apart,
    beyond.earlier_stay,
    cached.outgrown,
    birth.birth,
    compiled.compiles,
    compiled.exports,
)
"""Every check of one promise, in the order in which it is asked."""

EVERY = (*CHECKS, *LIKE, *BESIDE_EAGER, *PAIRS)
"""The same, those beside a configuration or another kernel, then two promises at a time."""
