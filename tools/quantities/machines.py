"""What the benchmarks of a GPU, of growth and of kernels have stored, or how to have them do so."""

import sys
from importlib import import_module
from pathlib import Path

from posenc.experiments import results

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def _table(name):
    if str(BENCHMARKS) not in sys.path:
        sys.path.append(str(BENCHMARKS))
    benchmark = import_module(name)
    stored = benchmark.read(results.folder() / benchmark.STORED.name)
    return benchmark.table(stored) + "\n"


def on_a_gpu():
    return _table("gpu")


def growth():
    return _table("growth")


def kernels():
    return _table("kernels")
