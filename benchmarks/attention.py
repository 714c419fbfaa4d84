"""Time and memory of a training step with each encoding, side by side.

Every encoding is measured in the same model (`posenc.models.TimeSeriesTransformer` with its
defaults) and compared with `none`, and `none` with `torch.nn.TransformerEncoder` of equal size.
The models take turns, step by step, so that a busy machine slows all of them alike, and the time
is that of the thread, waiting apart. The ratio is that of the quickest steps, beside the median
over rounds of two steps of the same round. A table says of each aim whether it was met. Peak memory
is measured in a process of its own for each model: the largest resident size during a step, less
that before it.

Run `OMP_NUM_THREADS=1 python benchmarks/attention.py --out report.md`, or with `--quick`.
"""

import argparse
import ctypes
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch
from torch import Tensor, nn

from posenc import encodings
from posenc.models import TimeSeriesTransformer

N_CHANNELS, N_CLASSES, D_MODEL, N_HEADS, N_LAYERS, D_FF = 6, 5, 128, 8, 4, 256
REFERENCE = "torch.nn.TransformerEncoder"
LENGTHS = {30: (32, 40), 100: (16, 24), 896: (2, 12), 4096: (1, 2)}
"""Batch size and rounds for each length."""

AIMS = {
    **dict.fromkeys(
        ("sinusoidal", "dft", "learnable", "tape", "learnable_frequency", "sine_linear"), 1.02
    ),
    **dict.fromkeys(("t5", "alibi", "tupe"), 1.2),
    "rotary": 1.3,
    "relative": 1.4,
    "erpe": 2.0,
}
"""Largest time, in units of `none`, that each encoding is meant to take on one thread."""

AIM_OF_NONE = 0.75
"""Largest time of `none` in units of PyTorch's own encoder where inputs are long."""

LONG = 896


class Reference(nn.Module):
    """PyTorch's own encoder, of the same width, depth and heads."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(N_CHANNELS, D_MODEL)
        layer = nn.TransformerEncoderLayer(
            D_MODEL, N_HEADS, D_FF, dropout=0.1, activation="gelu", batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, N_LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(D_MODEL, N_CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.encoder(self.project(x)).mean(1))


def build(name: str, length: int) -> nn.Module:
    """Return the model of that name, from a fixed seed."""
    torch.manual_seed(0)
    if name == REFERENCE:
        return Reference()
    return TimeSeriesTransformer(
        N_CHANNELS, N_CLASSES, length, name, D_MODEL, N_HEADS, N_LAYERS, D_FF
    )


def data(length: int, batch: int) -> tuple[Tensor, Tensor]:
    """Return a batch of noise and labels."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(batch, length, N_CHANNELS, generator=generator)
    return x, torch.randint(N_CLASSES, (batch,), generator=generator)


def step(model: nn.Module, optimiser: torch.optim.Optimizer, x: Tensor, y: Tensor) -> None:
    """Take one training step."""
    nn.functional.cross_entropy(model(x), y).backward()
    optimiser.step()
    optimiser.zero_grad()


def seconds(names: list[str], length: int) -> dict[str, list[float]]:
    """Return the seconds of each step of each model, the models taking turns."""
    batch, rounds = LENGTHS[length]
    x, y = data(length, batch)
    models = {name: build(name, length) for name in names}
    optimisers = {
        name: torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
        for name, model in models.items()
    }
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds + 1):
        for name in names:
            start = time.thread_time()
            step(models[name], optimisers[name], x, y)
            if turn:  # the first round warms up
                times[name].append(time.thread_time() - start)
    return times


def peak_megabytes(name: str, length: int) -> float:
    """Return how much one step adds to the largest resident size, in a process of its own."""
    command = [sys.executable, __file__, "--peak", name, "--lengths", str(length)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def print_peak(name: str, length: int) -> None:
    """Print `peak_megabytes` of this process; needs Linux."""
    x, y = data(length, LENGTHS[length][0])
    model = build(name, length)
    optimiser = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    step(model, optimiser, x[:, :8], y)
    ctypes.CDLL(None).malloc_trim(0)  # what the warm-up left behind shall not hide the step
    Path("/proc/self/clear_refs").write_text("5")  # the peak is now the present size
    before = kilobytes("VmRSS")
    step(model, optimiser, x, y)
    print((kilobytes("VmHWM") - before) / 1024)


def kilobytes(entry: str) -> int:
    """Return an entry of this process's status: VmRSS is its size now, VmHWM the largest."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(entry))


def measure(names: list[str], lengths: list[int]) -> list[dict[str, object]]:
    """Return one row per length and model."""
    rows = []
    for length in lengths:
        times = seconds(names, length)
        peaks = {name: peak_megabytes(name, length) for name in names}
        for name in names:
            pairs = zip(times[name], times["none"], strict=True)
            median = statistics.median(own / none for own, none in pairs)
            ratio, aim = compared(name, times, length)
            rows.append(
                {
                    "length": length,
                    "batch": LENGTHS[length][0],
                    "encoding": name,
                    "milliseconds": 1e3 * statistics.median(times[name]),
                    "time_ratio": min(times[name]) / min(times["none"]),
                    "median_ratio": median,
                    "aim": aim,
                    "met": None if aim is None else ratio <= aim,
                    "peak_megabytes": peaks[name],
                    "peak_ratio": peaks[name] / peaks["none"],
                }
            )
            print(f"L = {length} {name}: {rows[-1]['time_ratio']:.2f}", file=sys.stderr)
    return rows


def compared(name: str, times: dict[str, list[float]], length: int) -> tuple[float, float | None]:
    """Return the ratio that an aim is about, and the aim if there is one."""
    if name == "none" and length >= LONG:
        return min(times[name]) / min(times[REFERENCE]), AIM_OF_NONE
    return min(times[name]) / min(times["none"]), AIMS.get(name)


def markdown(rows: list[dict[str, object]]) -> str:
    """Return the rows as a table."""
    threads, version = torch.get_num_threads(), torch.__version__
    lines = [
        f"Training step on {threads} CPU thread(s), torch {version}, d_model = {D_MODEL}, "
        f"{N_HEADS} heads, {N_LAYERS} layers; times to that of `none`.",
        "",
        "| L | batch | encoding | ms | time / none | median | aim | peak MB | memory / none |",
        "|--:|--:|---|--:|--:|--:|---|--:|--:|",
    ]
    for r in rows:
        of = f" of {REFERENCE}" if r["encoding"] == "none" else ""
        said = "met" if r["met"] else "missed"
        aim = "" if r["aim"] is None else f"<= {r['aim']}{of}: {said}"
        lines.append(
            f"| {r['length']} | {r['batch']} | {r['encoding']} | {r['milliseconds']:.1f} | "
            f"{r['time_ratio']:.2f} | {r['median_ratio']:.2f} | {aim} | "
            f"{r['peak_megabytes']:.0f} | {r['peak_ratio']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write Markdown, or JSON if the file is named so."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="lengths 30 and 100 only")
    parser.add_argument("--lengths", type=int, nargs="+", choices=LENGTHS)
    parser.add_argument("--encodings", nargs="+", choices=encodings.names())
    parser.add_argument("--out", type=Path, help="a .md or .json file; standard output if absent")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        print_peak(options.peak, options.lengths[0])
        return
    chosen = options.encodings or encodings.names()
    names = [REFERENCE, "none", *(name for name in chosen if name != "none")]
    lengths = options.lengths or ([30, 100] if options.quick else list(LENGTHS))
    rows = measure(names, lengths)
    is_json = options.out is not None and options.out.suffix == ".json"
    text = json.dumps(rows, indent=1) + "\n" if is_json else markdown(rows)
    if options.out is None:
        print(text, end="")
    else:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
