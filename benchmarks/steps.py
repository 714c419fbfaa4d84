"""How close a training step comes to the machine's limit, and where the rest of its time goes.

Run `python benchmarks/steps.py` (`--quick` for fewer rounds) on an idle machine, one thread. For
each number of tokens, in one run: the rate of large matrix products on this core, the rate that the
step's own products reach (its linear maps; torch counts their operations), and what share of the
step goes into products, attention, dropout, the optimiser and all else.
"""

import argparse
import platform
import time
from collections import defaultdict
from collections.abc import Callable

import torch
from aims import LINEAR as AIM
from timing import markdown
from torch.profiler import ProfilerActivity, profile, record_function

from posenc.bench import build, ensemble, parts
from posenc.bench.settings import Settings
from posenc.bench.train import Training

LENGTHS = (8, 30, 100, 300)

# Parts of a step by the names of torch's operators, the first that fits.
PARTS = {
    "linear maps": ("aten::mm", "aten::addmm"),
    "attention": ("attention", "aten::bmm", "softmax"),
    "dropout": ("posenc::dropout", "aten::random_"),
    "optimiser": ("adam", "zero_grad"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--encoding", default="none")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{platform.machine()}, 1 thread, torch {torch.__version__}, {options.encoding}\n")
    print(table(options))


def table(options: argparse.Namespace) -> str:
    """Return a Markdown table, a row a number of tokens."""
    rounds = 20 if options.quick else 100
    rows = []
    for length in options.lengths:
        step = training(options.encoding, length, options.batch_size).take_step
        limit = peak_rate(rounds)
        found = measure(step, rounds)
        linear = found.flops / found.seconds["linear maps"]
        shares = [f"{found.seconds[name] / found.total:.0%}" for name in (*PARTS, "all else")]
        rate = f"{linear / limit:.0%} (aim {AIM:.0%})"
        rows.append([str(length), f"{1e3 * found.step:.2f}", f"{limit / 1e9:.0f}", rate, *shares])
    head = ["tokens", "ms a step", "limit, GFLOP/s", "linear maps reach", *PARTS, "all else"]
    return markdown(head, rows)


def training(encoding: str, length: int, batch_size: int) -> Training:
    """Return a training of the laptop's model on series of so many tokens."""
    cell = Settings(
        encoding,
        "time_series",
        "range_probe",
        dataset_options={"length": length, "n": 4 * batch_size, "distance": 3},
        batch_size=batch_size,
        max_cases=0,
    )
    device = torch.device("cpu")
    data = parts.load(cell, device)
    model = build.model(cell, data.n_channels, data.n_classes, data.length)
    made = Training([cell], ensemble.make([model]), data, device)
    draw = made._masks

    def seen() -> list[torch.Tensor]:
        with record_function("posenc::dropout"):  # NumPy's work, unknown to the profiler
            return draw()

    made._masks = seen
    return made


def peak_rate(rounds: int, size: int = 1024) -> float:
    """Return the operations per second of large float32 matrix products on this core."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    torch.mm(a, b)
    best = min(_seconds(lambda: torch.mm(a, b)) for _ in range(rounds))
    return 2 * size**3 / best


class Measured:
    """Seconds of one step by part, operations of its linear maps, and the step's wall time."""

    def __init__(self, rounds: int, step: float) -> None:
        self.rounds, self.step = rounds, step
        self.seconds: dict[str, float] = defaultdict(float)
        self.flops = 0.0

    @property
    def total(self) -> float:
        """Seconds of all parts together, as the profiler saw them."""
        return sum(self.seconds.values())

    def add(self, name: str, microseconds: float, flops: float) -> None:
        """Count an operator."""
        part = next((p for p, keys in PARTS.items() if _fits(name, keys)), "all else")
        self.seconds[part] += microseconds / 1e6 / self.rounds
        if part == "linear maps":
            self.flops += flops / self.rounds


def measure(step: Callable, rounds: int) -> Measured:
    """Return where the time of a step goes."""
    for _ in range(5):
        step()
    wall = min(_seconds(step) for _ in range(rounds))
    with profile(activities=[ProfilerActivity.CPU], with_flops=True) as seen:
        for _ in range(rounds):
            step()
    found = Measured(rounds, wall)
    for event in seen.key_averages():
        found.add(event.key, event.self_cpu_time_total, event.flops)
    return found


def _fits(name: str, keys: tuple[str, ...]) -> bool:
    return any(name == key or (":" not in key and key in name.lower()) for key in keys)


def _seconds(call: Callable) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
