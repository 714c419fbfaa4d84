"""How fast the benchmark trains: `posenc_book.bench` against a plain loop and the survey's code.

Run `python benchmarks/engine.py` (`--quick` for a smaller grid). Side by side, in one run, at
equal width, depth, heads, batch size, epochs and data:

(a) a plain eager loop: `torch.nn.TransformerEncoder`, a DataLoader, one model after the other,
    torch's default number of threads;
(b) the survey's published code, if `--reference PATH` names a checkout of the repository
    imics-lab/positional-encoding-benchmark. Its model is imported from there, never copied;
(c) the training loop of tsai with its transformer `TST`, if tsai is installed, which wants an
    environment of its own (`benchmarks/requirements-tsai.txt`). `--out results/engine.json`
    stores what this comparison found.

Throughput is trainings per second with warm workers: importing torch, once per worker and run, is
left out. Table (d) is what the store and the driver cost per cell, and (e) the share that a step's
products reach of the rate that large products have on the same core, as `benchmarks/steps.py`
measures it (`--only share`).
"""

import argparse
import importlib
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from statistics import median

import steps
import torch
from aim_limits import ENGINE, LINEAR
from timing import markdown
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from posenc import tables
from posenc_book.bench import jobs, parts
from posenc_book.bench.driver import Driver
from posenc_book.bench.grid import Grid, Spec
from posenc_book.bench.jobs import Job
from posenc_book.bench.local import LocalEngine, available_cores
from posenc_book.records import records
from posenc_book.records.settings import Settings, profile
from posenc_book.records.store import Store

LENGTHS = (30, 100, 896)


def main() -> None:
    options = arguments()
    print(f"{platform.machine()}, {available_cores()} cores, torch {torch.__version__}\n")
    for part in (against_plain, against_reference, against_tsai, overhead, share):
        if options.only in (None, part.__name__.removeprefix("against_")):
            print(part(options), end="\n\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer series, epochs and rounds")
    parser.add_argument("--profile", default="full", help="size of the model: laptop or full")
    parser.add_argument(
        "--lengths", type=int, nargs="+", default=LENGTHS, help="tokens of a series"
    )
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument(
        "--only", choices=("plain", "reference", "tsai", "overhead", "share"), help="this part only"
    )
    parser.add_argument("--out", type=Path, help="file for what is found beside tsai")
    parser.add_argument("--reference", type=Path, help="a checkout of the survey's code")
    options = parser.parse_args()
    # three quarters are trained on: a whole number of batches, the same for all contestants
    options.series, options.epochs, options.rounds = (128, 2, 3) if options.quick else (256, 5, 5)
    return options


def cells(options: argparse.Namespace, length: int, encoding: str = "sinusoidal") -> list[Settings]:
    """Return twice as many trainings as cores, or five for one GPU, none of which stops early."""
    n = 5 if options.device.startswith("cuda") else 2 * available_cores()
    size = profile(options.profile) | {
        "epochs": options.epochs,
        "patience": options.epochs,
        "max_cases": 0,
    }
    data = {"dataset_options": {"length": length, "n": options.series, "distance": 4}}
    return [
        Settings(encoding, "time_series", "range_probe", seed, **size, **data) for seed in range(n)
    ]


def against_plain(options: argparse.Namespace) -> str:
    rows = []
    for length in options.lengths:
        todo = cells(options, length)
        plain, ours = [], []
        for _ in range(options.rounds):
            plain.append(time_loop(PlainModel, todo, options.device))
            ours.append(time_engine(todo, options.device))
        ratio = median(a / b for a, b in zip(plain, ours, strict=True))
        rows.append(
            [
                str(length),
                f"{median(plain) / len(todo):.2f}",
                f"{median(ours) / len(todo):.2f}",
                f"{ratio:.2f}×",
            ]
        )
        print("measured:", *rows[-1], file=sys.stderr, flush=True)
    head = ["(a) L", "plain loop, s per training", "posenc_book.bench, s", "ratio"]
    return markdown(head, rows)


def against_reference(options: argparse.Namespace) -> str:
    if options.reference is None:
        return "(b) skipped: give --reference PATH, a checkout of the survey's published code."
    names, model = reference_model(options.reference)
    rows = []
    for length in options.lengths:
        for theirs, ours in names.items():
            todo = cells(options, length, ours)
            rows.append([str(length), theirs, *_against(model(theirs), todo, options)])
    return markdown(["(b) L", "encoding", "reference, s", "posenc_book.bench, s", "ratio"], rows)


def _against(
    make: Callable, todo: list[Settings], options: argparse.Namespace
) -> tuple[str, str, str]:
    ours = median(time_engine(todo, options.device) for _ in range(options.rounds)) / len(todo)
    try:
        theirs = median(time_loop(make, todo[:1], options.device) for _ in range(options.rounds))
    except Exception as error:  # a published module that crashes is a finding, not an obstacle
        return f"fails: {type(error).__name__}", f"{ours:.2f}", "–"
    return f"{theirs:.2f}", f"{ours:.2f}", f"{theirs / ours:.2f}×"


class PlainModel(nn.Module):
    """What a tutorial writes: linear map, sinusoids, torch's encoder, mean, linear map."""

    def __init__(self, cell: Settings, n_channels: int, n_classes: int, length: int) -> None:
        super().__init__()
        self.project = nn.Linear(n_channels, cell.d_model)
        table = tables.sinusoidal(length, cell.d_model)
        self.register_buffer("table", torch.as_tensor(table, dtype=torch.float32))
        layer = nn.TransformerEncoderLayer(
            cell.d_model, cell.n_heads, cell.d_ff, cell.dropout, "gelu", batch_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, cell.n_layers, enable_nested_tensor=False)
        self.head = nn.Linear(cell.d_model, n_classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.encoder(self.project(x) + self.table).mean(1))


def time_loop(make: Callable, todo: list[Settings], device: str) -> float:
    """Return the seconds of plain trainings, one after the other."""
    torch.set_num_threads(available_cores())
    parts.load_parts(todo[0], torch.device("cpu"))  # reading the data is nobody's time
    start = time.perf_counter()
    for cell in todo:
        plain_training(make, cell, device)
    return time.perf_counter() - start


def plain_training(make: Callable, cell: Settings, device: str) -> float:
    data = parts.load_parts(cell, torch.device("cpu"))
    torch.manual_seed(cell.seed)
    model = make(cell, data.n_channels, data.n_classes, data.length).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), cell.learning_rate, foreach=False)
    train = TensorDataset(data.train.x[0], data.train.y[0])
    loader = DataLoader(train, cell.batch_size, shuffle=True, drop_last=True)
    loss_of = nn.CrossEntropyLoss()
    for _ in range(cell.epochs):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_of(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            loss.item()
        accuracy = plain_accuracy(model, data.validation, cell, device)
    del accuracy
    return plain_accuracy(model, data.test, cell, device)


@torch.no_grad()
def plain_accuracy(model: nn.Module, part: parts.Part, cell: Settings, device: str) -> float:
    model.eval()
    loader = DataLoader(TensorDataset(part.x[0], part.y[0]), 4 * cell.batch_size)
    right = sum((model(x.to(device)).argmax(-1).cpu() == y).sum().item() for x, y in loader)
    return right / len(part)


def time_engine(todo: list[Settings], device: str) -> float:
    """Return the seconds of the same trainings by the engine, from the first job on."""
    on_gpu = device.startswith("cuda")
    engine = LocalEngine(1 if on_gpu else None)
    work = [Job(tuple(todo), device)] if on_gpu else [Job((cell,), device) for cell in todo]
    warm = Job((todo[0].with_seed(10_000),), device)
    clock = Clock(work, warm, engine.n_workers)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "engine.jsonl")
        for job, results in engine.map(clock.jobs()):
            clock.ended(job)
            for result in results:
                if "error" in result:
                    raise RuntimeError(result["error"])
                store.append(result)
            end = time.perf_counter()
    return end - clock.start


def against_tsai(options: argparse.Namespace) -> str:
    try:
        from tsai.all import TST, Learner, TSClassification, accuracy, get_ts_dls
    except ImportError as error:
        return f"(c) skipped ({error}): see benchmarks/requirements-tsai.txt."
    rows, found = [], []
    for length in options.lengths:
        todo = cells(options, length)
        theirs, ours = [], []
        for _ in range(options.rounds):
            theirs.append(_time_tsai(todo, TST, Learner, TSClassification, get_ts_dls, accuracy))
            ours.append(time_engine(todo, options.device))
        ratio = median(a / b for a, b in zip(theirs, ours, strict=True))
        hourly = [round(3600 * len(todo) / median(seconds)) for seconds in (theirs, ours)]
        rows.append([str(length), *map(str, hourly), f"{ratio:.2f}×"])
        names = ("length", "tsai_an_hour", "ours_an_hour", "ratio")
        found.append(dict(zip(names, (length, *hourly, round(ratio, 4)), strict=True)))
    if options.out:
        _store(found, options)
    return markdown(["(c) L", "tsai, trainings an hour", "posenc_book.bench", "ratio"], rows)


def _store(found: list[dict[str, float]], options: argparse.Namespace) -> None:
    """Write what was found beside tsai, by the profile's name; other profiles stay."""
    stored = json.loads(options.out.read_text()) if options.out.is_file() else {}
    stored["machine"] = f"{platform.machine()}, {available_cores()} cores"
    stored["versions"] = {name: version(name) for name in ("torch", "tsai")}
    stored[options.profile] = found
    options.out.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


def _time_tsai(
    todo: list[Settings],
    make: type,
    learner: type,
    classes: type,
    loaders: Callable,
    accuracy: Callable,
) -> float:
    """Return the seconds of the same trainings by tsai, which wants (n, channels, length)."""
    torch.set_num_threads(available_cores())
    data = parts.load_parts(todo[0], torch.device("cpu"))
    x, y = (
        torch.cat([getattr(part, name)[0] for part in (data.train, data.validation)])
        for name in ("x", "y")
    )
    split = list(range(len(data.train))), list(range(len(data.train), len(x)))
    start = time.perf_counter()
    for cell in todo:
        torch.manual_seed(cell.seed)
        fed = loaders(
            x.transpose(1, 2).numpy(), y.numpy(), splits=split, tfms=[None, classes()],
            bs=cell.batch_size, num_workers=0,
        )  # fmt: skip
        sizes = {"n_layers": cell.n_layers, "d_model": cell.d_model, "n_heads": cell.n_heads}
        model = make(
            data.n_channels, data.n_classes, data.length, d_ff=cell.d_ff,
            dropout=cell.dropout, **sizes,
        )  # fmt: skip
        training = learner(fed, model, metrics=accuracy)
        with training.no_bar(), training.no_logging():
            training.fit(cell.epochs, cell.learning_rate)
    return time.perf_counter() - start


class Clock:
    """Starts when every worker has run a job to warm up."""

    def __init__(self, work: list[Job], warm: Job, n_workers: int) -> None:
        self._work, self._warm, self._left = work, warm, n_workers
        self._first = [warm] * n_workers
        self.start = 0.0

    def jobs(self) -> Iterator[Job]:
        yield from self._first
        if not self.start:
            self.start = time.perf_counter()
        yield from self._work

    def ended(self, job: Job) -> None:
        """Note that a job has ended; a late warm-up moves nothing, it costs us."""
        self._left -= job is self._warm


class Instant:
    """An engine whose trainings take no time: what is left is the driver and the store."""

    n_workers, running = 1, 0

    def map(self, work: Iterator[Job]) -> Iterator[tuple[Job, list[dict]]]:
        for job in work:
            scores = {"accuracy": 0.5, "train_loss": [1.0, 0.5], "parameters": 1000}
            yield (
                job,
                [records.finished(c, scores, device="cpu", seconds=0.0) for c in job.cells],
            )


class Silent:
    """A progress display that shows nothing."""

    def skip(self, n: int) -> None:
        pass

    def add(self, n: int, failed: int, running: int) -> None:
        pass


def overhead(options: argparse.Namespace) -> str:
    """Return a table of what a cell of the laptop profile costs, and what the rest costs."""
    training, each = overhead_seconds(200 if options.quick else 2000)
    share = each / training
    row = ["BasicMotions", f"{training:.2f}", f"{1e3 * each:.2f}", f"{share:.3%}", f"{ENGINE:.0%}"]
    return markdown(
        ["(d) laptop cell", "training, s", "store and driver, ms", "share", "aim"], [row]
    )


def overhead_seconds(n: int) -> tuple[float, float]:
    """Return the seconds of a training, and of all else that each of n cells takes."""
    cell = Settings("sinusoidal", "time_series", "BasicMotions", **profile("laptop"))
    training = jobs.run(Job((cell,), "cpu"))[0]["seconds"]
    grid = Grid([Spec("BasicMotions")], [Spec("none")], ["patch"], range(n), profile("laptop"))
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        Driver(grid, Store(Path(folder) / "overhead.jsonl"), Instant()).run(Silent())
        each = (time.perf_counter() - start) / n
    return training, each


def share(options: argparse.Namespace) -> str:
    """Return a table of the machine's rate of products, and what a laptop step reaches of it."""
    if options.device != "cpu":
        return "(e) skipped: the share of the rate of products is measured on the processor."
    step = argparse.Namespace(quick=options.quick, encoding="none", batch_size=32)
    rows, threads = [], torch.get_num_threads()
    torch.set_num_threads(1)
    for length in options.lengths:
        limit, found = steps.reach(length, step)
        reached = f"{found.rate / limit:.0%}"
        rows.append([str(length), f"{limit / 1e9:.0f}", reached, f"{LINEAR:.0%}"])
    torch.set_num_threads(threads)
    return markdown(["(e) L", "large products, GFLOP/s", "products in a step", "aim"], rows)


def reference_model(path: Path) -> tuple[dict[str, str], Callable]:
    """Return the names of its encodings with ours, and what makes its model from a name."""
    if not (path / "src").is_dir():
        raise SystemExit(f"--reference must be a checkout with a folder src, got {path}")
    sys.path.insert(0, os.fspath(path.resolve()))
    encoder = importlib.import_module("src.models.TSTransformerEncoder").TSTransformerEncoder
    names = {
        "fixed": "sinusoidal",
        "learned": "learnable",
        "tape": "tape",
        "absolute": "sinusoidal",
    }

    def model(name: str) -> Callable:
        return lambda cell, *sizes: ReferenceClassifier(encoder, name, cell, *sizes)

    return names, model


class ReferenceClassifier(nn.Module):
    """The reference encoder with the linear head that it lacks."""

    def __init__(
        self,
        encoder: type,
        name: str,
        cell: Settings,
        n_channels: int,
        n_classes: int,
        length: int,
    ) -> None:
        super().__init__()
        self.encoder = encoder(
            n_channels,
            length,
            cell.d_model,
            cell.n_heads,
            cell.n_layers,
            cell.d_ff,
            cell.dropout,
            pos_encoding=name,
        )
        self.head = nn.Linear(n_channels, n_classes)

    def forward(self, x: Tensor) -> Tensor:
        real = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        return self.head(self.encoder(x, real).mean(1))


if __name__ == "__main__":
    main()
