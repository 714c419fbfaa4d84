"""Stretch the reader's GPT to four times its length and mend it, on a task that needs the far end.

    python -m posenc_book.capstone.stretching small --seeds 5
    python -m posenc_book.capstone.stretching evening --measure
    python -m posenc_book.capstone.stretching evening --seeds 20 --out mine.json
    python -m posenc_book.capstone.stretching evening --task mine:my_task --out mine.json

The second says what a step costs here. The last takes a task of your own, a function like
`door_code` in a file that says `N_WORDS`. A seed that is stored already is not trained again, so a
run that was killed goes on; a task that has changed needs another name. All that the capstone's
page says of several seeds comes from here; the page itself trains one.
"""

import argparse
import importlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from posenc import _checks, schedules
from posenc._wall import behind
from posenc.testing import command_line
from posenc_book import _files
from posenc_book.teaching.program import GPT, CausalRotary, geometric, stretch, train

FACTOR = 4
N_TEST = 300
TOLD, ASKED, WORDS = 0, 1, 12  # two signs and ten digits
CUT, PRACTISED = "cut", ", practised"
Task = Callable[..., tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Size:
    """How large a run is: the trained length, the model, and the steps."""

    length: int
    d_model: int
    steps: int
    practice: int  # steps at four times the length


SIZES = {"small": Size(32, 32, 300, 50), "evening": Size(64, 64, 600, 30)}
READINGS = ("as trained", "all hands slowed", "NTK", "YaRN")


def door_code(length: int) -> Task:
    """Return the task: a code is told first, changed in the first half, and asked for later."""

    def task(generator, n=32):
        rows, places = torch.arange(n), torch.arange(length)
        words = torch.randint(2, WORDS, (n, length), generator=generator)
        change = torch.randint(2, length // 2 - 1, (n,), generator=generator)
        asked = (torch.rand(n, length, generator=generator) < 0.2) & (places > 1)
        asked[rows, change] = asked[rows, change + 1] = False
        asked[:, -1] = True
        words[asked], words[:, 0], words[rows, change] = ASKED, TOLD, TOLD
        first, second = words[:, 1:2], words[rows, change + 1][:, None]
        code = torch.where(places > change[:, None], second, first)
        return words, code.masked_fill(~asked, -100)

    return task


def task_of(path: str | None) -> tuple[Callable[[int], Task], int]:
    """Return the task that `module:function` means and its number of words, or the door code."""
    if path is None:
        return door_code, WORDS
    task = command_line.find(path)
    words = getattr(importlib.import_module(path.partition(":")[0]), "N_WORDS", None)
    if words is None:
        raise ValueError(f"the module of {path!r} must say N_WORDS, how many words its task has")
    return task, _checks.count("N_WORDS", words, minimum=2)


@torch.no_grad()
def right(
    model: GPT, length: int, keep: int | None = None, task: Callable[[int], Task] = door_code
) -> float:
    """Return the share of right answers at the end of new texts, or of their last tokens."""
    words, answers = task(length)(torch.Generator().manual_seed(1), N_TEST)
    said = torch.cat([model(part)[:, -1].argmax(-1) for part in words[:, -(keep or 0) :].split(50)])
    return (said == answers[:, -1]).float().mean().item()


def omegas(size: Size) -> dict[str, object]:
    """Return the clocks of each reading: those of training, and three ways to slow them down."""
    omega = geometric(size.d_model // 4)
    return {
        "as trained": omega,
        "all hands slowed": omega / FACTOR,
        "NTK": schedules.ntk(omega, FACTOR),
        "YaRN": stretch(omega, FACTOR, size.length),
    }


def read_as(model: GPT, omega: object, size: Size) -> GPT:
    """Return the trained model with other clocks."""
    copy = GPT(CausalRotary(omega), model.words.num_embeddings, d_model=size.d_model)
    copy.load_state_dict(model.state_dict())
    return copy


def one_seed(name: str, seed: int, path: str | None = None) -> dict:
    """Train a model, read it in all ways, let each practise, and return the shares that are right.

    Each row has the shares at the trained length and at two and four times as much.
    """
    size, began = SIZES[name], time.process_time()
    task, n_words = task_of(path)
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    lengths = [size.length * times for times in (1, 2, FACTOR)]
    clocks = omegas(size)
    model = train(
        GPT(CausalRotary(clocks["as trained"]), n_words, d_model=size.d_model),
        task(size.length),
        size.steps,
    )
    rows = {CUT: [right(model, n, size.length, task) for n in lengths]}
    for reading, omega in clocks.items():
        other = read_as(model, omega, size)
        rows[reading] = [right(other, n, task=task) for n in lengths]
        train(other, task(lengths[-1]), size.practice)
        rows[reading + PRACTISED] = [right(other, n, task=task) for n in lengths]
    return {"right": rows, "processor_seconds": round(time.process_time() - began, 1)}


def seconds_a_step(name: str, steps: int = 5) -> dict[str, float]:
    """Return the processor time of a step at the trained length, and at four times as much."""
    size, found = SIZES[name], {}
    torch.set_num_threads(1)
    for length in (size.length, FACTOR * size.length):
        position = CausalRotary(omegas(size)["as trained"])
        model = GPT(position, WORDS, d_model=size.d_model)
        train(model, door_code(length), 1)  # the first step sets up what later ones use
        began = time.process_time()
        train(model, door_code(length), steps)
        found[f"{length} symbols"] = round((time.process_time() - began) / steps, 4)
    return found


def run(name: str, seeds: Iterable[int], out: Path, workers: int, path: str | None = None) -> None:
    """Train the seeds that the file lacks and store each as it ends, a task of one's own apart."""
    stored = json.loads(_files.text(out)) if out.is_file() else {}
    found = stored.setdefault(name if path is None else f"{name} {path}", {})
    lacking = [seed for seed in seeds if str(seed) not in found]
    with ProcessPoolExecutor(workers) as pool:
        ends = pool.map(one_seed, [name] * len(lacking), lacking, [path] * len(lacking))
        for seed, one in zip(lacking, ends, strict=True):
            found[str(seed)] = one
            _files.replace(out, json.dumps(stored, indent=1) + "\n")
            print(f"{name}, seed {seed}: {one['processor_seconds']} s of processor", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run as the module's docstring says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("size", choices=SIZES, help="how large a run")
    parser.add_argument("--seeds", type=int, default=5, help="how many, from 0 on")
    parser.add_argument("--out", type=Path, default=Path("stretched.json"), help="what holds them")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--task", help="module:function of a task of your own")
    parser.add_argument("--measure", action="store_true", help="only say what a step costs")
    args = parser.parse_args(arguments)
    if args.measure:
        print(json.dumps(seconds_a_step(args.size)))
        return
    seeds = range(_checks.count("seeds", args.seeds, minimum=1))
    task_of(args.task)  # what cannot be found is said before anything is trained
    workers = _checks.count("workers", args.workers, minimum=1)
    run(args.size, seeds, args.out, workers, args.task)


if __name__ == "__main__":
    sys.exit(behind(main))
