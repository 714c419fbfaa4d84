"""Time and memory of a training step with each encoding, side by side.

Every encoding is measured in the same model (`posenc.models.TimeSeriesTransformer` with its
defaults) and compared with `none`, and `none` with `torch.nn.TransformerEncoder` of equal size, in
training and in evaluation. The models take turns, step by step, each round in the order of the last
one reversed, and the time is that of the thread, waiting apart. Other programs on the machine can
only add to it, as they take the caches, so that the quickest steps are compared; beside that stands
the ratio of the lower quartiles. Where the two differ much, the machine was too busy, and
`--seconds` gives it longer. With long inputs those that come near `none` go on for more rounds
alone: whether they are above or below it by a hundredth cannot be told from three. A table says of
each aim whether it was met. Peak memory is measured in a process of its own for each model: the
largest resident size during a step, less that before it.

The dropout of PyTorch's encoder falls on attention weights too, which costs it the fused kernel in
training; the model here has none there. So that encoder is measured both as it comes and without.
In evaluation it takes its own fast path (`torch._transformer_encoder_layer_fwd`).

Encoders of other libraries that are installed take turns, too (`encoders.py`): in their rows stands
how long the step of ours with the same encoding takes, in steps of theirs, where neither drops
anything.

One token at a time, with a cache: `python benchmarks/attention.py decoding`, with the options of
`benchmarks/decoding.py`, which does it.

Run `OMP_NUM_THREADS=1 python benchmarks/attention.py --out report.md`, or with `--quick`;
`--no-peak` leaves memory out.
"""

import argparse
import ctypes
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from aim_limits import AIM_OF_NONE
from aim_limits import ATTENTION as AIMS
from encoders import (
    D_FF,
    D_MODEL,
    N_CHANNELS,
    N_CLASSES,
    N_HEADS,
    N_LAYERS,
    OURS,
    PEERS,
    beside,
    installed,
    ours,
)
from torch import Tensor, nn

from posenc import encodings
from posenc.models import TimeSeriesTransformer

NAMES = [*encodings.names(), "rove"]
"""Those of the book, and RoPE with values that turn."""

REFERENCE = "torch.nn.TransformerEncoder"
FUSED_REFERENCE = f"{REFERENCE}, no attention dropout"
LENGTHS = {30: (32, 40, 40), 100: (16, 24, 24), 896: (2, 12, 48), 4096: (1, 3, 12)}
"""Batch size, and the fewest rounds for all and for those near `none`, for each length."""

NEAR = 1.15
"""Largest time of a training step, in units of `none`, from which more rounds are asked."""

LONG = 896


class Reference(nn.Module):
    """PyTorch's own encoder, of the same width, depth and heads."""

    def __init__(self, *, attention_dropout: float) -> None:
        super().__init__()
        self.project = nn.Linear(N_CHANNELS, D_MODEL)
        layer = nn.TransformerEncoderLayer(
            D_MODEL, N_HEADS, D_FF, dropout=0.1, activation="gelu", batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, N_LAYERS, enable_nested_tensor=False)
        for layer in self.encoder.layers:
            layer.self_attn.dropout = attention_dropout
        self.head = nn.Linear(D_MODEL, N_CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.encoder(self.project(x)).mean(1))


def build(name: str, length: int) -> nn.Module:
    """Return the model of that name, from a fixed seed."""
    torch.manual_seed(0)
    if name in (REFERENCE, FUSED_REFERENCE):
        return Reference(attention_dropout=0.1 if name == REFERENCE else 0.0)
    if name in PEERS:
        return PEERS[name][1](length)
    if name in OURS:
        return ours(OURS[name], length)
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


def evaluate(model: nn.Module, x: Tensor) -> None:
    """Classify a batch."""
    model.eval()
    with torch.no_grad():
        model(x)
    model.train()


Times = dict[str, list[float]]
"""Seconds of each step of each model."""


def seconds(names: list[str], length: int, least: float) -> dict[str, Times]:
    """Return the times of `training` and of `evaluation`, the models taking turns.

    Rounds go on until this process has worked for `least` seconds.
    """
    batch, rounds, rounds_near = LENGTHS[length]
    x, y = data(length, batch)
    models = {name: build(name, length) for name in names}
    optimisers = {
        name: torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
        for name, model in models.items()
    }
    times: dict[str, Times] = {what: {n: [] for n in names} for what in ("training", "evaluation")}
    for name in names:  # to warm up
        step(models[name], optimisers[name], x, y)
    end, done = time.process_time() + least, 0
    while done < rounds_near or time.process_time() < end:
        if done == rounds < rounds_near:
            names = near(times["training"])
        for name in names:
            of_step = timed(step, models[name], optimisers[name], x, y)
            times["training"][name].append(of_step)
            times["evaluation"][name].append(timed(evaluate, models[name], x))
        names, done = names[::-1], done + 1
    return times


def near(times: Times) -> list[str]:
    """Return the models whose quickest step takes about as long as that of `none`."""
    most = NEAR * min(times["none"])
    return [name for name, of_steps in times.items() if min(of_steps) <= most]


def timed(call: Callable, *inputs: object) -> float:
    """Return the seconds that a call takes this thread."""
    start = time.thread_time()
    call(*inputs)
    return time.thread_time() - start


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


def measure(
    names: list[str], lengths: list[int], least: float, *, peak: bool = True
) -> list[dict[str, object]]:
    """Return one row per length, model, and training or evaluation."""
    rows = []
    for length in lengths:
        of_length = seconds(names, length, least)
        peaks = {name: peak_megabytes(name, length) if peak else math.nan for name in names}
        for what, times in of_length.items():
            for name in [name for name in names if name not in OURS]:
                rows.append(row(name, times, length, what, peaks))
                print(f"L = {length} {what} {name}: {rows[-1]['time_ratio']:.2f}", file=sys.stderr)
    return rows


def row(
    name: str, times: Times, length: int, what: str, peaks: dict[str, float]
) -> dict[str, object]:
    """Return what was measured of one model, compared with what it is to be compared with.

    A peer's row compares ours of the same kind with it, so that less than 1 is quicker than theirs.
    """
    mine, other = name, REFERENCE if name == "none" and length >= LONG else "none"
    if name in PEERS:
        mine, other = beside(PEERS[name][0]), name
    ratio = min(times[mine]) / min(times[other])
    aim = AIM_OF_NONE if other == REFERENCE else None if name in PEERS else AIMS.get(name)
    return {
        "length": length,
        "batch": LENGTHS[length][0],
        "what": what,
        "encoding": OURS.get(mine, mine),
        "rounds": len(times[name]),
        "milliseconds": 1e3 * min(times[name]),
        "compared_with": other,
        "time_ratio": ratio,
        "quartile_ratio": quartile(times[mine]) / quartile(times[other]),
        "aim": aim,
        "met": None if aim is None else ratio <= aim,
        "peak_megabytes": peaks[name],
        "peak_ratio": peaks[name] / peaks["none"],
    }


def quartile(times: list[float]) -> float:
    """Return the time that a quarter of the steps stay below."""
    return statistics.quantiles(times, n=4, method="inclusive")[0]


def markdown(rows: list[dict[str, object]]) -> str:
    """Return the rows as a table."""
    threads, version = torch.get_num_threads(), torch.__version__
    lines = [
        f"A step on {threads} CPU thread(s), torch {version}, d_model = {D_MODEL}, {N_HEADS} "
        f"heads, {N_LAYERS} layers; times to that of `none`, and of `none` to {REFERENCE}.",
        "",
        "| L | batch | step | encoding | beside | rounds | ms | ratio | of quartiles | aim | "
        "peak MB | memory / none |",
        "|--:|--:|---|---|---|--:|--:|--:|--:|---|--:|--:|",
    ]
    for r in rows:
        said = "met" if r["met"] else "missed"
        aim = "" if r["aim"] is None else f"<= {r['aim']}: {said}"
        lines.append(
            f"| {r['length']} | {r['batch']} | {r['what']} | {r['encoding']} | "
            f"{r['compared_with']} | {r['rounds']} | "
            f"{r['milliseconds']:.1f} | {r['time_ratio']:.2f} | {r['quartile_ratio']:.2f} | {aim} "
            f"| {r['peak_megabytes']:.0f} | {r['peak_ratio']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write Markdown, or JSON if the file is named so."""
    if sys.argv[1:2] == ["decoding"]:
        import decoding

        decoding.main(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="lengths 30 and 100 only")
    parser.add_argument(
        "--lengths", type=int, nargs="+", choices=LENGTHS, help="tokens of a series"
    )
    parser.add_argument("--encodings", nargs="+", choices=NAMES, help="these only")
    parser.add_argument("--seconds", type=float, default=0, help="work longer at each length")
    parser.add_argument("--no-peak", action="store_true", help="leave memory out")
    parser.add_argument("--out", type=Path, help="a .md or .json file; standard output if absent")
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        print_peak(options.peak, options.lengths[0])
        return
    chosen = options.encodings or NAMES
    others = [name for name in chosen if name != "none"]
    peers = [whose for whose, (kind, _) in installed().items() if kind in chosen]
    equals = dict.fromkeys(beside(PEERS[whose][0]) for whose in peers)
    names = [REFERENCE, FUSED_REFERENCE, "none", *others, *equals, *peers]
    lengths = options.lengths or ([30, 100] if options.quick else list(LENGTHS))
    rows = measure(names, lengths, options.seconds, peak=not options.no_peak)
    is_json = options.out is not None and options.out.suffix == ".json"
    text = json.dumps(rows, indent=1) + "\n" if is_json else markdown(rows)
    if options.out is None:
        print(text, end="")
    else:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
