"""What a training step with each encoding costs, beside one without, at the benchmark's own sizes.

Run `python benchmarks/costs.py --out results/costs.json` (`--quick` for fewer rounds) on an idle
machine, one thread. For each number of tokens all encodings take turns in every round, in an order
drawn anew and with a step before that is not timed; the cost is the median over rounds of the ratio
to `none`.
"""

import argparse
import json
import platform
from pathlib import Path

import torch
from steps import begun
from timing import busy, interleaved, markdown, median_ratio

from posenc import encodings
from posenc_book.bench.train import Training
from posenc_book.read.classification import protocol as protocols
from posenc_book.records.settings import Settings

LENGTHS = (8, 30, 100, 300)
OF_AN_IMAGE = ("axial_rotary",)  # places in two dimensions: no series has them


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=LENGTHS, help="tokens of a series"
    )
    parser.add_argument("--out", type=Path, help="file to store the ratios in")
    options = parser.parse_args()
    torch.set_num_threads(1)
    at_work = busy()  # before this program adds to it
    head = f"{platform.machine()}, 1 thread, torch {torch.__version__}"
    names = [name for name in encodings.names("series") if name not in OF_AN_IMAGE]
    found = {length: ratios(names, length, options.quick) for length in options.lengths}
    costs = {name: {str(n): found[n][name] for n in found} for name in names}
    print(f"{head}\n\n{table(costs)}")
    if options.out:
        stored = {"machine": head, "busy": at_work, "costs": costs}
        options.out.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def ratios(names: list[str], length: int, quick: bool) -> dict[str, float]:
    """Return the time of a step with each encoding, where `none` takes 1."""
    steps = {name: training(name, length).take_step for name in names}
    for step in steps.values():
        step()  # the first one also makes tables
    rounds = 5 if quick else max(15, 2000 // length)  # short steps are noisy, and soon done
    seconds = interleaved(steps, rounds, settled=True)
    return {name: median_ratio(seconds[name], seconds["none"]) for name in names}


def training(encoding: str, length: int) -> Training:
    """Return a training of the protocol's model, one token a step, on series of such a length."""
    settings = protocols.TRAINING["settings"]
    task = {"length": length, "n": 8 * settings["batch_size"], "distance": 3}
    return begun(Settings(encoding, "time_series", "range_probe", dataset_options=task, **settings))


def table(costs: dict[str, dict[str, float]]) -> str:
    """Return a Markdown table, a row an encoding, the cheapest at the last length first."""
    rows = sorted(costs.items(), key=lambda item: list(item[1].values())[-1])
    lengths = [f"{n} tokens" for n in next(iter(costs.values()))]
    lines = [[name, *(f"{ratio:.2f}" for ratio in one.values())] for name, one in rows]
    return markdown(["encoding", *lengths], lines)


if __name__ == "__main__":
    main()
