"""The fast Fourier transform against the matrix form: transforms and Algorithm 1.

Run `python benchmarks/fourier.py`. `--quick` stops at smaller lattices. The matrix is built before
the clock starts: only its products are timed, and its memory is counted on its own.
"""

import argparse
import math
import tracemalloc
from collections.abc import Callable
from statistics import median

import numpy as np
from numpy.typing import NDArray
from timing import interleaved, markdown, median_ratio

from posenc import fourier, frequencies

FAST = [64, 512, 2048, 8192, 32_768, 100_000]
MATRIX_LIMIT = 8192  # 0.5 GB


def by_matrix(f: NDArray, density: NDArray, basis: NDArray) -> dict[str, Callable[[], NDArray]]:
    """Return the three tasks as matrix products."""
    d = f.size
    weights = np.concatenate([density, density[1:-1]])  # order of the sorted basis below
    order = np.r_[0 : d // 2, d - 1, d // 2 : d - 1]  # cos 0 .. K, cos pi, sin 1 .. K

    def reconstruct() -> NDArray:
        c = basis @ f
        c[order] *= weights
        result = c @ basis
        return result * (np.linalg.norm(f) / np.linalg.norm(result))

    return {
        "analyse": lambda: basis @ f,
        "synthesise": lambda: f @ basis,
        "reconstruct": reconstruct,
    }


def by_fft(f: NDArray, density: NDArray) -> dict[str, Callable[[], NDArray]]:
    """Return the three tasks by the library."""
    return {
        "analyse": lambda: fourier.analyse(f),
        "synthesise": lambda: fourier.synthesise(f),
        "reconstruct": lambda: fourier.reconstruct(f, density),
    }


def peak_bytes(call: Callable[[], object]) -> int:
    """Return the largest memory that a call holds at once."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def rows_for(d: int, rounds: int, matrix_limit: int) -> list[list[str]]:
    """Return the measurements of one lattice, one row per task."""
    rng = np.random.default_rng(0)
    f = rng.standard_normal(d)
    density = fourier.frequency_density(frequencies.geometric(d), d, 4 * 2 * math.pi / d)
    fast, slow = by_fft(f, density), {}
    if d <= matrix_limit:
        slow = by_matrix(f, density, fourier.basis(d))
    rows = []
    for task, call in fast.items():
        both = {"fft": call} | ({"matrix": slow[task]} if slow else {})
        seconds = interleaved(both, rounds)
        cells = [f"{task}, d = {d:,}", f"{1e3 * median(seconds['fft']):.4f}"]
        if slow:
            error = np.abs(call() - slow[task]()).max()
            ratio = median_ratio(seconds["matrix"], seconds["fft"])
            cells += [f"{1e3 * median(seconds['matrix']):.4f}", f"{ratio:.0f}", f"{error:.0e}"]
        else:
            cells += ["", "", ""]
        nanoseconds = 1e9 * median(seconds["fft"]) / (d * math.log2(d))
        rows.append([*cells, f"{nanoseconds:.2f}", f"{peak_bytes(call) / d:.0f}"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller lattices, fewer rounds")
    options = parser.parse_args()
    sizes = [d for d in FAST if d <= 8192 or not options.quick]
    limit, rounds = (2048, 7) if options.quick else (MATRIX_LIMIT, 25)
    rows = [row for d in sizes for row in rows_for(d, rounds, limit)]
    header = ["", "FFT ms", "matrix ms", "matrix / FFT", "largest difference"]
    print("## Fourier transforms and Algorithm 1\n")
    print("Ratios are medians over rounds. O(d log d) time and O(d) memory hold where the last")
    print(f"two columns level off; a matrix takes 8 d bytes per point (d = 8192: {8 * 8192:,}).\n")
    print(markdown([*header, "ns / (d log2 d)", "peak bytes / d"], rows))


if __name__ == "__main__":
    main()
