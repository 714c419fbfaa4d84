"""How time and memory grow with length, batch, heads and depth, beside the formulas.

    python benchmarks/growth.py                               # the stored tables
    python benchmarks/growth.py --out results/growth.json     # measure what is missing, and store

Each encoding is measured in a process of its own, one thread, and stored when it is done, so that
the command may be stopped and given again; `--again` begins anew. A training step of one layer, and
what the encoding's doors do by themselves, forth and back, go through a doubling of one size at a
time, the others as in `BASE`. The time is that of the thread, the quickest of some; the memory is
how much the process grows at its largest. A series ends where the next call would take too long or
too much memory. The exponent is the slope of a line through the logarithms of the last three.

Beside it stand the power of the length that the encoding's own documentation names for what it
does, the power that is counted (`posenc_book.audit.survey.growth`), and the survey's printed one.
"""

import argparse
import ctypes
import datetime
import json
import math
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from attention import kilobytes
from costs import OF_AN_IMAGE
from timing import busy, markdown

from posenc import encodings
from posenc.models import TimeSeriesTransformer
from posenc_book.audit.survey import growth, summaries

STORED = Path(__file__).resolve().parents[1] / "results" / "growth.json"
BASE = {"length": 512, "batch": 1, "heads": 4, "depth": 1}
AXES = {
    "length": [512, 1024, 2048, 4096, 8192, 16384],
    "batch": [1, 2, 4, 8],
    "heads": [2, 4, 8, 16],
    "depth": [1, 2, 4, 8],
}
D_MODEL, D_FF, N_CHANNELS, N_CLASSES = 64, 128, 4, 3
MOST_SECONDS, MOST_MEGABYTES = 12.0, 3000.0  # of a call
ROUND_SECONDS = 0.3  # a call is repeated within them
MMAP_THRESHOLD = -3  # of mallopt

Series = dict[str, list[float]]
"""The sizes of one axis, and the seconds and megabytes at each."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="measure, and store here")
    parser.add_argument("--again", action="store_true", help="measure what is stored, too")
    parser.add_argument("--encodings", nargs="+", default=names(), help="these only")
    parser.add_argument("--most", type=int, default=16384, help="longest length")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.most)))
        return
    if options.out is None:
        print(table(read()))
        return
    stored = {} if options.again else read(options.out)
    for name in options.encodings:
        if name in stored:
            continue
        at_work = busy() and not stored  # later ones see the work of the first
        command = [sys.executable, __file__, "--one", name, "--most", str(options.most)]
        child = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        stored[name] = {
            "when": datetime.date.today().isoformat(),
            "machine": f"{platform.machine()}, 1 thread, torch {torch.__version__}",
            "busy": at_work,
            **json.loads(child.stdout),
        }
        options.out.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        print(name, {axis: exponent(of, "seconds") for axis, of in stored[name]["step"].items()})
    print(table(stored))


def names() -> list[str]:
    """Return the encodings that are measured."""
    return [name for name in encodings.names("series") if name not in OF_AN_IMAGE]


def read(path: Path = STORED) -> dict[str, dict]:
    """Return what is stored, by encoding."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


# -- measuring -------------------------------------------------------------------------------------


def measure(name: str, most: int = 16384) -> dict[str, object]:
    """Return the series of a step along each axis, and of the doors along the length."""
    torch.set_num_threads(1)
    ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, 1 << 20)  # what is large goes back when it is free
    sizes = {axis: [n for n in of if axis != "length" or n <= most] for axis, of in AXES.items()}
    step(name, **BASE)()  # to warm up
    doors = along(sizes["length"], lambda n: through_doors(name, n))
    return {
        "step": {
            axis: along(of, lambda n, axis=axis: step(name, **(BASE | {axis: n})))
            for axis, of in sizes.items()
        },
        "doors": doors,
        "counted": counted_power(name),
    }


def along(sizes: Sequence[int], make: Callable[[int], Callable[[], object]]) -> Series:
    """Return seconds and megabytes at one size after the other, until one would be too large."""
    found: Series = {"sizes": [], "seconds": [], "megabytes": []}
    for size in sizes:
        if too_large(found, size):
            break
        seconds, megabytes = weighed(make(size))
        for key, value in zip(found, (size, seconds, megabytes), strict=True):
            found[key].append(value)
    return found


def too_large(found: Series, size: int) -> bool:
    """Return whether a call at this size would exceed the limits, if it grew with the square."""
    if not found["sizes"]:
        return False
    more = (size / found["sizes"][-1]) ** 2
    return (
        found["seconds"][-1] * more > MOST_SECONDS or found["megabytes"][-1] * more > MOST_MEGABYTES
    )


def weighed(call: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of the quickest call, and by how much the process grew at its largest."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is now the present size
    before, times = kilobytes("VmRSS"), []
    while not times or (sum(times) < ROUND_SECONDS and len(times) < 50):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return round(min(times), 7), round((kilobytes("VmHWM") - before) / 1024, 3)


def step(name: str, *, length: int, batch: int, heads: int, depth: int) -> Callable[[], None]:
    """Return a pass forth and back of a model with so many layers."""
    torch.manual_seed(0)
    model = TimeSeriesTransformer(
        N_CHANNELS, N_CLASSES, length, name, D_MODEL, heads, depth, D_FF, dropout=0.0
    )
    x = torch.randn(batch, length, N_CHANNELS)

    def call() -> None:
        model(x).sum().backward()
        model.zero_grad()

    return call


def through_doors(name: str, length: int) -> Callable[[], None]:
    """Return a pass forth and back of the encoding's doors alone, where it has any."""
    torch.manual_seed(0)
    heads = BASE["heads"]
    position = encodings.make(name, D_MODEL, heads, length)
    given = growth.inputs(length, D_MODEL, heads)

    def call() -> None:
        out = growth.through_doors(position, *given)
        learned = [one.sum() for one in out if one.requires_grad]  # a fixed bias has no way back
        if learned:
            sum(learned).backward()
        for one in given:
            one.grad = None
        position.zero_grad()

    return call


def counted_power(name: str) -> float:
    """Return the power of the length by which the doors' work grows, counted."""
    # RoPE turns in one pass from 1,024 tokens on, which writes fewer numbers
    short, long = (growth.cost(name, n)[0] for n in (1024, 2048))
    return round(math.log2(long / short), 2) if short else 0.0


# -- for readers -----------------------------------------------------------------------------------


def exponent(series: Series, what: str) -> float | None:
    """Return the slope of a line through the logarithms of the last three, None if there is none.

    Where a size is nothing, as the memory of a step that the process had room for, it is left out.
    """
    pairs = [
        (math.log(n), math.log(y))
        for n, y in zip(series["sizes"], series[what], strict=True)
        if y > 0
    ][-3:]
    if len(pairs) < 2:
        return None
    mean_x, mean_y = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    above = sum((x - mean_x) * (y - mean_y) for x, y in pairs)
    return above / sum((x - mean_x) ** 2 for x, _ in pairs)


def documented(name: str) -> str:
    """Return what an encoding's documentation says of its cost, up to the end of the sentence."""
    position = encodings.make(name, 8, 2, 16)
    text = " ".join((type(position).__doc__ or "").split())
    found = re.search(r"Cost: (.*?)(\. |$)", text)
    return found[1].rstrip(".") if found else ""


def documented_power(name: str) -> int:
    """Return the highest power of the length in that, that of queries by keys included."""
    text = documented(name)
    if "L^2 (L" in text:
        return 3
    squares = re.search(r"L\^2|L \(L|per query row|products of queries and keys", text)
    return 2 if squares else int("L " in text)


def table(stored: dict[str, dict]) -> str:
    """Return two tables: exponents of a step along each axis, and those of the doors."""
    if not stored:
        return "Nothing is measured yet: `python benchmarks/growth.py --out results/growth.json`."
    longest = max(max(of["step"]["length"]["sizes"]) for of in stored.values())
    axes = [*AXES, "memory by length"]
    steps = []
    for name, of in stored.items():
        length = of["step"]["length"]
        found = [exponent(of["step"][axis], "seconds") for axis in AXES]
        found.append(exponent(length, "megabytes"))
        last = length["sizes"][-1]
        steps.append([name, *map(_shown, found), f"{last:,}"])
    doors = [
        [
            name,
            documented(name) or "–",
            str(documented_power(name)),
            f"{of['counted']:.1f}",
            _shown(exponent(of["doors"], "seconds")),
            _printed(name),
        ]
        for name, of in stored.items()
        if encodings.make(name, 8, 2, 16).doors()
    ]
    head = [f"a step, up to {longest:,} tokens", *axes, "longest"]
    head_2 = ["the doors alone", "documented", "power", "counted", "measured", "the survey prints"]
    return f"{markdown(head, steps)}\n\n{markdown(head_2, doors)}"


def _shown(power: float | None) -> str:
    return "" if power is None else f"{power:.1f}"


def _printed(name: str) -> str:
    return summaries.TABLE_2[name][1] if name in summaries.TABLE_2 else ""


if __name__ == "__main__":
    main()
