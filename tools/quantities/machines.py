"""What the benchmarks of a GPU, growth, kernels and FlexAttention have stored."""

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


def score_mods():
    return _table("score_mods")


def score_mod_is_never_slower():
    """In no row do the quartiles of another's time over ours both lie below 1."""
    verdict = _benchmark("score_mods").verdict
    return all(verdict(row["over ours"].values()) != "slower" for row in _stored("score_mods"))


def _score_mods_beside(whom):
    ratios = [row["over ours"].get(whom) for row in _stored("score_mods")]
    return _spread(ratio[1] for ratio in ratios if ratio)


def by_hand_over_score_mod():
    return _score_mods_beside("by hand")


def sdpa_over_score_mod():
    return _score_mods_beside("SDPA")


def transformers_over_score_mod():
    return _score_mods_beside("transformers")
