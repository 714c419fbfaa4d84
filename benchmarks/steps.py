"""How close a training step comes to the machine's limit, and where the rest of its time goes.

Run `python benchmarks/steps.py` (`--quick` for fewer rounds) on an idle machine, one thread. For
each number of tokens, in one run: the rate of large matrix products on this core, and the rate that
the step's own products reach (its linear maps; torch counts their operations). Beside it, the rate
of products of the same shapes by themselves: on operands that stay in the core's cache, and on
operands and results that lie outside it, as in a step, where each was written long before. Then
the share of the step that goes into products, attention, dropout, the optimiser and all else, and
how long a compiled step takes beside it. A second table divides all else, as far as torch's
profiler tells it apart: the products of the embedding and of the classifier are linear maps like
all others, and a sum of gradients is one of the residual sums. Last in it is Python, as a share of
the same time: what passes between operators, the profiler's own work included.

`python benchmarks/steps.py --out results/steps.json` stores both tables.
"""

import argparse
import json
import platform
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from aim_limits import LINEAR as AIM
from timing import busy, markdown
from torch.autograd.profiler_util import FunctionEvent, FunctionEventAvg
from torch.profiler import ProfilerActivity, profile, record_function

from posenc_book.bench import build, ensemble, parts
from posenc_book.bench.train import Training
from posenc_book.records.settings import Settings

LENGTHS = (8, 30, 100, 300)
Product = tuple[int, int, int]  # (m, k) times (k, n)
OUTSIDE = 2**26  # bytes; more than a core's own cache holds

# Parts of a step by the names of torch's operators, the first that fits.
PARTS = {
    "linear maps": ("aten::mm", "aten::addmm"),
    "attention": ("attention", "aten::bmm", "softmax"),
    "dropout": ("posenc::dropout", "aten::random_"),
    "optimiser": ("adam", "zero_grad"),
}
# Parts of all else: the first of which a name fits the operator or one that it was called by.
REST = {
    "moments' counters": ("optimizer.step",),
    "around attention": ("twice", "scaled_dot_product", "unbind"),
    "masks of dropout": ("posenc::dropout", "aten::mul", "mulbackward"),
    "norms": ("norm",),
    "GELU": ("gelu",),
    "residual sums": ("aten::add", "aten::add_", "addbackward"),
    "pooling and loss": ("mean", "softmax", "nll_loss"),
    "around products": ("aten::linear", "mmbackward", "tbackward"),
    "copies": ("aten::copy_", "aten::clone", "aten::cat"),
    "autograd": ("autograd", "backward", "accumulategrad"),
}
STEP = "posenc::step"
OTHERS, PYTHON = "other operators", "Python"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=LENGTHS, help="tokens of a series"
    )
    parser.add_argument("--batch-size", type=int, default=32, help="series in a step")
    parser.add_argument("--encoding", default="none", help="name of an encoding")
    parser.add_argument("--out", type=Path, help="file to store the shares in")
    options = parser.parse_args()
    torch.set_num_threads(1)
    at_work = busy()  # before this program adds to it
    head = f"{platform.machine()}, 1 thread, torch {torch.__version__}, {options.encoding}"
    found = [shares(length, options) for length in options.lengths]
    print(f"{head}\n\n{table(found)}\n\n{table_of_rest(found)}")
    if options.out:
        stored = {"machine": head, "busy": at_work, "batch_size": options.batch_size, "rows": found}
        options.out.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def shares(length: int, options: argparse.Namespace) -> dict[str, float]:
    """Return the limit, what the products reach of it, and what share of a step each part takes."""
    rounds = 20 if options.quick else 100
    limit, found = reach(length, options)
    rates = {
        "linear maps reach": found.rate,
        "alone, in cache": rate_alone(found.products, rounds, size=0),
        "alone, outside": rate_alone(found.products, rounds, size=OUTSIDE),
    }
    parts = {name: found.seconds[name] / found.total for name in (*PARTS, "all else")}
    rest = {name: found.rest[name] / found.total for name in (*REST, OTHERS, PYTHON)}
    at = {"tokens": length, "ms a step": 1e3 * found.step, "limit, GFLOP/s": limit / 1e9}
    compiled = training(options.encoding, length, options.batch_size, compile=True).take_step
    quicker = {"compiled takes": fastest(compiled, rounds) / found.step}
    return at | {name: rate / limit for name, rate in rates.items()} | parts | quicker | rest


def reach(length: int, options: argparse.Namespace) -> "tuple[float, Measured]":
    """Return the machine's rate of products, and what is measured of a step beside it."""
    rounds = 20 if options.quick else 100
    step = training(options.encoding, length, options.batch_size).take_step
    return peak_rate(rounds), measure(step, rounds)


def table(found: list[dict[str, float]]) -> str:
    """Return a Markdown table, a row a number of tokens."""
    names = [name for name in found[0] if name not in (*REST, OTHERS, PYTHON)]
    rows = []
    for row in found:
        length, step, limit, reached, *others = (row[name] for name in names)
        at = [str(length), f"{step:.2f}", f"{limit:.0f}", f"{reached:.0%} (aim {AIM:.0%})"]
        rows.append([*at, *(f"{share:.0%}" for share in others)])
    return markdown(names, rows)


def table_of_rest(found: list[dict[str, float]]) -> str:
    """Return a Markdown table of what all else divides into, a row a number of tokens."""
    names = ["all else", *REST, OTHERS, PYTHON]
    rows = [[str(row["tokens"]), *(f"{row[name]:.1%}" for name in names)] for row in found]
    return markdown(["tokens", *names], rows)


def training(encoding: str, length: int, batch_size: int, *, compile: bool = False) -> Training:
    """Return a training of the laptop's model on series of so many tokens."""
    cell = Settings(
        encoding,
        "time_series",
        "range_probe",
        dataset_options={"length": length, "n": 4 * batch_size, "distance": 3},
        batch_size=batch_size,
        max_cases=0,
    )
    made = begun(cell, compile=compile)
    draw = made._masks

    def seen() -> list[torch.Tensor]:
        with record_function("posenc::dropout"):  # NumPy's work, unknown to the profiler
            return draw()

    made._masks = seen
    return made


def begun(cell: Settings, *, compile: bool = False) -> Training:
    """Return a training before its first step, on the processor."""
    device = torch.device("cpu")
    data = parts.load_parts(cell, device)
    model = build.model(cell, data.n_channels, data.n_classes, data.length)
    return Training([cell], ensemble.make([model], compile=compile), data, device)


def peak_rate(rounds: int, size: int = 1024) -> float:
    """Return the operations per second of large float32 matrix products on this core."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    torch.mm(a, b)
    best = min(_seconds(lambda: torch.mm(a, b)) for _ in range(rounds))
    return 2 * size**3 / best


def rate_alone(products: dict[Product, float], rounds: int, size: int) -> float:
    """Return the operations per second of a step's products, each repeated by itself.

    With a `size` above 0, copies that hold so many bytes together take turns.
    """
    flops = seconds = 0.0
    for (m, k, n), count in products.items():
        copies = 1 + size // (4 * (m * k + k * n + m * n))
        operands = [_operands(m, k, n) for _ in range(copies)]
        best = min(_seconds(partial(_multiply, operands)) for _ in range(max(3, rounds // copies)))
        flops += count * 2 * m * k * n
        seconds += count * best / copies
    return flops / seconds


def _operands(m: int, k: int, n: int) -> tuple[torch.Tensor, ...]:
    # as in a layer: the gradient of its weights sums over tokens, rows of the first operand
    first = torch.randn(k, m).t() if k > max(m, n) else torch.randn(m, k)
    return first, torch.randn(k, n), torch.empty(m, n)


def _multiply(operands: list[tuple[torch.Tensor, ...]]) -> None:
    for first, second, result in operands:
        torch.mm(first, second, out=result)


class Measured:
    """Seconds of one step by part, operations of its linear maps, and the step's wall time.

    `rest` divides the seconds of all else, and has those of Python beside them.
    """

    def __init__(self, rounds: int, step: float) -> None:
        self.rounds, self.step = rounds, step
        self.seconds: dict[str, float] = defaultdict(float)
        self.rest: dict[str, float] = defaultdict(float)
        self.products: dict[Product, float] = defaultdict(float)
        self.flops = 0.0

    @property
    def total(self) -> float:
        """Seconds of all parts together, as the profiler saw them."""
        return sum(self.seconds.values())

    @property
    def rate(self) -> float:
        """Operations per second of the linear maps."""
        return self.flops / self.seconds["linear maps"]

    def add(self, event: FunctionEventAvg) -> None:
        """Count an operator, or all of its calls with inputs of the same shapes."""
        if event.key == STEP:
            return
        part = _part(event.key)
        self.seconds[part] += event.self_cpu_time_total / 1e6 / self.rounds
        if part == "linear maps":
            self.flops += event.flops / self.rounds
            (m, k), (_, n) = [shape for shape in event.input_shapes if len(shape) == 2][:2]
            self.products[m, k, n] += event.count / self.rounds

    def add_rest(self, event: FunctionEvent) -> None:
        """Count one call of an operator, if it belongs to all else."""
        names = _path(event)
        if event.name == STEP:
            part = PYTHON
        elif _part(event.name) != "all else":
            return
        else:
            fits = (p for p, keys in REST.items() if any(_fits(name, keys) for name in names))
            part = next(fits, OTHERS)
        self.rest[part] += event.self_cpu_time_total / 1e6 / self.rounds


def measure(step: Callable, rounds: int) -> Measured:
    """Return where the time of a step goes."""
    found = Measured(rounds, fastest(step, rounds))
    # one step each: what the profiler notes lies between a step's tensors and scatters later ones
    for _ in range(rounds):
        kinds = [ProfilerActivity.CPU]
        with (
            profile(activities=kinds, with_flops=True, record_shapes=True) as seen,
            record_function(STEP),
        ):
            step()
        for event in seen.key_averages(group_by_input_shape=True):
            found.add(event)
        for event in seen.events():
            found.add_rest(event)
    return found


def fastest(step: Callable, rounds: int) -> float:
    """Return the seconds of the fastest of many steps, after some to warm up."""
    for _ in range(5):
        step()
    return min(_seconds(step) for _ in range(rounds))


def _part(name: str) -> str:
    return next((part for part, keys in PARTS.items() if _fits(name, keys)), "all else")


def _path(event: FunctionEvent) -> list[str]:
    """Return the names of an operator and of those that it was called by."""
    names = []
    while event is not None:
        names.append(event.name)
        event = event.cpu_parent
    return names


def _fits(name: str, keys: tuple[str, ...]) -> bool:
    return any(name == key or (":" not in key and key in name.lower()) for key in keys)


def _seconds(call: Callable) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
