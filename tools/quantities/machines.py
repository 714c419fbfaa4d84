"""What the benchmarks of a GPU, of growth and of kernels have stored, or how to have them do so."""

import sys
from importlib import import_module

from posenc_book.read import results
from repository import ROOT

BENCHMARKS = ROOT / "benchmarks"


def _benchmark(name):
    if str(BENCHMARKS) not in sys.path:
        sys.path.append(str(BENCHMARKS))
    return import_module(name)


def _stored(name):
    benchmark = _benchmark(name)
    return benchmark.read(results.folder() / benchmark.STORED.name)


def _table(name):
    return _benchmark(name).table(_stored(name)) + "\n"


def _spread(values):
    values = sorted(values)
    three = {"least": values[0], "middle": values[len(values) // 2], "most": values[-1]}
    return {name: f"{value:.1f}" for name, value in three.items()}


def on_a_gpu():
    return _table("gpu")


def growth():
    return _table("growth")


def step_by_length():
    """The exponents of a step's time by its length, those of all encodings in order."""
    exponent, stored = _benchmark("growth").exponent, _stored("growth").values()
    return _spread(exponent(of["step"]["length"], "seconds") for of in stored)


def kernels():
    return _table("kernels")


def _others_over_ours():
    """From 512 tokens on, where there are kernels of our own: the quickest other over ours."""
    rows = _stored("kernels")
    return [min(row["over ours"].values()) for row in rows if row["length"] >= 512]


def kernels_win():
    return min(_others_over_ours()) > 1


def quickest_other():
    return _spread(_others_over_ours())
