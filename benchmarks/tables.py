"""How fast a sinusoidal table is made: `posenc` against other packages and against the memory.

Install the peers first (`pip install -c requirements.txt -r benchmarks/requirements.txt`), then
run `python benchmarks/tables.py`. `--quick` takes a smaller large table and fewer rounds.

Every package makes its float32 table for positions 0 to n - 1 on one thread, from nothing: the
object is built anew, so that no cache answers. Rotary-embedding-torch keeps angles only; its
table of sines and cosines is timed as its own rotation makes it, at every call.
"""

import argparse
import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from statistics import median

import numpy as np
import torch
from numpy.typing import NDArray
from timing import interleaved, markdown, median_ratio

from posenc import frequencies, tables

try:
    from positional_encodings.torch_encodings import PositionalEncoding1D
    from rotary_embedding_torch import RotaryEmbedding
    from x_transformers.x_transformers import ScaledSinusoidalEmbedding
except ImportError as error:
    sys.exit(
        f"{error}; run: pip install -c requirements.txt -r benchmarks/requirements.txt, "
        "which brings the packages that this compares with"
    )

Pair = tuple[NDArray, NDArray]  # sines and cosines of the last position

PEERS = ["positional-encodings", "x-transformers", "rotary-embedding-torch"]
FILL, COPY, WARM = "memory: np.full, fresh", "memory: np.copy, fresh", "memory: np.copyto, warm"
ANGLES = "rotary-embedding-torch, angles only"


def peers(n: int, d_model: int) -> dict[str, Callable[[], object]]:
    """Return what makes a table, by name."""
    batch = torch.empty(1, 1, 1).expand(1, n, d_model)  # the peers read its shape only
    return {
        "posenc": lambda: tables.sinusoidal(n, d_model, dtype=np.float32),
        "positional-encodings": lambda: PositionalEncoding1D(d_model)(batch),
        "x-transformers": lambda: ScaledSinusoidalEmbedding(d_model)(batch),
        "rotary-embedding-torch": lambda: rotary(n, d_model),
        ANGLES: lambda: rotary_angles(n, d_model),
    }


def memory(n: int, d_model: int) -> dict[str, Callable[[], object]]:
    """Return posenc and the yardsticks of memory, by name."""
    source = np.ones((n, d_model), np.float32)
    target = np.ones_like(source)
    return {
        "posenc": lambda: tables.sinusoidal(n, d_model, dtype=np.float32),
        FILL: lambda: np.full((n, d_model), 2, np.float32),
        COPY: lambda: source.copy(),
        WARM: lambda: np.copyto(target, source),
    }


def rotary_angles(n: int, d_model: int) -> torch.Tensor:
    return RotaryEmbedding(d_model, cache_if_possible=False)(torch.arange(n))


def rotary(n: int, d_model: int) -> tuple[torch.Tensor, torch.Tensor]:
    angles = rotary_angles(n, d_model)
    return angles.sin(), angles.cos()


def last_row(name: str, table: object, d_model: int) -> Pair:
    """Return the sines and the cosines that a contestant gives the last position."""
    if name == "posenc":
        return table[-1, 0::2], table[-1, 1::2]
    if name == "positional-encodings":
        row = table[0, -1].numpy()
        return row[0::2], row[1::2]
    if name == "x-transformers":
        row = table[-1].numpy() * d_model**0.5
        return row[: d_model // 2], row[d_model // 2 :]
    sines, cosines = table
    return sines[-1, ::2].numpy(), cosines[-1, ::2].numpy()


def largest_error(name: str, table: object, n: int, d_model: int) -> float:
    """Return the largest error at the last position, where angles are largest.

    x-transformers spaces its d_model / 2 frequencies by the same ratio, from 1 down.
    """
    sines, cosines = last_row(name, table, d_model)
    exact = tables.encode([n - 1], frequencies.geometric(d_model))[0]
    return max(np.abs(sines - exact[0::2]).max(), np.abs(cosines - exact[1::2]).max())


@torch.no_grad()
def report(n: int, d_model: int, rounds: int) -> str:
    """Return the measurements of one size as Markdown.

    Peers and memory take turns with posenc in rounds of their own: what one library leaves behind
    in the allocator must not slow down the next.
    """
    rows, ratios = [], {}
    for calls in (peers(n, d_model), memory(n, d_model)):
        seconds = interleaved(calls, rounds)
        for name, times in seconds.items():
            ratios[name] = median_ratio(times, seconds["posenc"])
            complete = name == "posenc" or name in PEERS
            error = f"{largest_error(name, calls[name](), n, d_model):.1e}" if complete else ""
            rows.append([name, f"{1e3 * median(times):.3f}", f"{ratios[name]:.2f}", error])
    fastest = min(PEERS, key=ratios.get)
    lines = [
        f"### n = {n:,}, d_model = {d_model}, float32: {4e-6 * n * d_model:.2f} MB",
        "",
        markdown(["", "median ms", "time / posenc", "error, last row"], rows),
        "",
        f"- {ratios[fastest]:.1f} times as fast as the fastest peer ({fastest})",
        f"- {ratios[COPY]:.0%} of the speed of copying a table of this size into fresh memory, "
        f"{ratios[FILL]:.0%} of filling fresh memory, {ratios[WARM]:.0%} of copying into memory "
        "in use",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller and fewer, for a first look")
    parser.add_argument("--threads", type=int, default=1, help="threads that torch may use")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    large, rounds = (10_000, 5) if options.quick else (100_000, 15)
    versions = ", ".join(f"{name} {version(name)}" for name in ["numpy", "torch", *PEERS])
    print(f"## Making a sinusoidal table\n\nPython {platform.python_version()}, {versions};")
    print(f"torch on {options.threads} thread(s), posenc on one. Ratios are medians over rounds.")
    print("Making a table includes fresh memory, so the fair yardstick is fresh memory.\n")
    for n, d_model in [(100, 64), (512, 64), (512, 512), (large, 512)]:
        print(report(n, d_model, rounds if n == large else 20 * rounds), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
