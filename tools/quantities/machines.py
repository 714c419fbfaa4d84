"""What the benchmarks of a GPU, of growth and of kernels have stored, or how to have them do so."""

import sys
from importlib import import_module
from pathlib import Path

from posenc.experiments import results

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def _benchmark(name):
    if str(BENCHMARKS) not in sys.path:
        sys.path.append(str(BENCHMARKS))
    return import_module(name)


def _table(name):
    benchmark = _benchmark(name)
    stored = benchmark.read(results.folder() / benchmark.STORED.name)
    return benchmark.table(stored) + "\n"


def on_a_gpu():
    return _table("gpu")


def growth():
    return _table("growth")


def step_by_length():
    """The exponents of a step's time by its length, those of all encodings in order."""
    benchmark = _benchmark("growth")
    stored = benchmark.read(results.folder() / benchmark.STORED.name).values()
    powers = sorted(benchmark.exponent(of["step"]["length"], "seconds") for of in stored)
    return {
        "least": f"{powers[0]:.1f}",
        "middle": f"{powers[len(powers) // 2]:.1f}",
        "most": f"{powers[-1]:.1f}",
    }


def kernels():
    return _table("kernels")


def _others_over_ours():
    """From 512 tokens on, where there are kernels of our own: the quickest other over ours."""
    rows = _benchmark("kernels").read(results.folder() / "cpu-kernels.json")
    return [min(row["over ours"].values()) for row in rows if row["length"] >= 512]


def kernels_win():
    return min(_others_over_ours()) > 1


def quickest_other():
    factors = sorted(_others_over_ours())
    return {
        "least": f"{factors[0]:.1f}",
        "middle": f"{factors[len(factors) // 2]:.1f}",
        "most": f"{factors[-1]:.1f}",
    }
