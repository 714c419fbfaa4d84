"""Length extrapolation: train at one length, test the same weights at longer ones.

    python -m posenc.bench.extrapolation --out results/lengths.jsonl

The task is `range_probe`, in which a class is a relation of two positions and so is defined at
every length. A fitted model is tested in two ways. *Longer*: the series has more steps. *Later*:
the series is as long as in training but stands at the end of a longer frame whose other steps are
masked, so that only the positions are new. An encoding that cannot be built for the longer frame,
or whose weights do not fit there, is recorded as refusing, with its message.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from posenc import _checks, data, encodings
from posenc.bench import build
from posenc.bench import grid as grids
from posenc.bench.driver import Driver
from posenc.bench.grid import Grid
from posenc.bench.local import LocalEngine
from posenc.bench.progress import Progress
from posenc.bench.settings import PROFILES, Settings
from posenc.bench.store import Store
from posenc.models.transfer import transfer

# Found on validation accuracy at the training length, before any longer series was looked at.
TASK = "range_probe:distance=4,length=32,n=4096"
LENGTHS = (32, 64, 128)
EPOCHS = 13


@dataclass(frozen=True)
class LengthSettings(Settings):
    """One training, and the lengths at which its model is tested afterwards.

    Attributes
    ----------
    test_lengths : tuple of int
        Steps of the test series, none shorter than those of training.
    n_test : int
        Test series of each length.

    Raises
    ------
    ValueError
        If a value is out of range, or `max_cases` is not 0: the test series are scaled like the
        whole training part.
    """

    test_lengths: tuple[int, ...] = ()
    n_test: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.count("n_test", self.n_test, minimum=2)
        shortest = self.dataset_options.get("length", 1)
        for length in self.test_lengths:
            _checks.count("test_lengths", length, minimum=shortest)
        if self.max_cases:
            raise ValueError(f"max_cases must be 0, got {self.max_cases}")


@dataclass(frozen=True)
class LengthGrid(Grid):
    """A grid whose cells are tested at several lengths."""

    test_lengths: tuple[int, ...] = LENGTHS
    n_test: int = 1000

    def groups(self) -> Iterator[list[LengthSettings]]:
        """Yield the cells that differ in their seed only."""
        added = {"test_lengths": self.test_lengths, "n_test": self.n_test}
        for group in super().groups():
            yield [LengthSettings(**vars(cell), **added) for cell in group]


def probe(cell: LengthSettings, model: nn.Module) -> dict[str, object]:
    """Return the scores of a fitted model at every test length.

    Parameters
    ----------
    cell : LengthSettings
    model : nn.Module
        The model that was fitted with these settings, in evaluation mode.

    Returns
    -------
    dict
        `longer_N` and `later_N`, accuracies in [0, 1], for every length N that is not refused, and
        `refusals`, a dict from the other lengths to the reason.
    """
    scores, refusals = {}, {}
    device = next(model.parameters()).device
    for length in cell.test_lengths:
        try:
            grown = grow(cell, model, length).to(device)
        except ValueError as error:
            refusals[str(length)] = str(error)
            continue
        scores[f"longer_{length}"] = _accuracy(grown, *_longer(cell, length), device)
        scores[f"later_{length}"] = _accuracy(grown, *_later(cell, length), device)
    return {**scores, "refusals": refusals}


def grow(cell: Settings, model: nn.Module, length: int) -> nn.Module:
    """Return the cell's model, built for `length` steps, with the weights of a fitted one.

    Raises
    ------
    ValueError
        If the encoding cannot be built for that length, or has weights of another shape there.
    """
    grown = build.model(cell, model.n_channels, model.n_classes, length)
    return transfer(model, grown).eval()


def _longer(cell: LengthSettings, length: int) -> tuple[Tensor, Tensor, None]:
    """Return test series of `length` steps, their labels, and no mask."""
    x, y = _test_series(cell, length)
    return x, y, None


def _later(cell: LengthSettings, length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return series of the training length at the end of `length` steps, labels and mask."""
    x, y = _test_series(cell, cell.dataset_options["length"])
    missing = length - x.shape[1]
    mask = torch.ones(x.shape[:2], dtype=torch.bool)
    mask = nn.functional.pad(mask, (missing, 0), value=False)
    return nn.functional.pad(x, (0, 0, missing, 0)), y, mask


def _test_series(cell: LengthSettings, length: int) -> tuple[Tensor, Tensor]:
    """Return series and labels, scaled by mean and deviation of the training part."""
    whole = data.load(cell.dataset, "train", **cell.dataset_options)
    train, _ = data.split_validation(whole, cell.validation, cell.split_seed)
    options = {**cell.dataset_options, "length": length, "n": cell.n_test}
    test = data.load(cell.dataset, "test", **options)
    test = data.standardise(test, *data.channel_statistics(train))
    return torch.from_numpy(test.x), torch.from_numpy(test.y)


@torch.no_grad()
def _accuracy(
    model: nn.Module, x: Tensor, y: Tensor, mask: Tensor | None, device: torch.device
) -> float:
    """Return the share of series whose class is found."""
    right = []
    for rows in torch.arange(len(y)).split(256):
        seen = None if mask is None else mask[rows].to(device)
        right.append(model(x[rows].to(device), seen).argmax(-1).cpu() == y[rows])
    return float(np.mean(torch.cat(right).numpy()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Train and test what a results file lacks; return 0, 1 if some cells failed, 2 if broken."""
    options = _parser().parse_args(arguments)
    changes = {"max_cases": 0, "dropout": 0.0, "epochs": options.epochs}
    try:
        task = grids.parse(options.task)
        grid = grids.make(
            [options.task],
            options.encodings or encodings.names(),
            ["time_series"],
            range(_checks.count("seeds", options.seeds, minimum=1)),
            options.profile,
            **changes,
            patience=options.epochs,  # a long plateau comes before the task is found
        )
        _checks.count("length in the task's options", task.options.get("length"), minimum=3)
        added = {"test_lengths": tuple(options.lengths), "n_test": options.n_test}
        grid = LengthGrid(**vars(grid), **added)
        next(grid.groups())  # checks the lengths
        engine = LocalEngine(options.workers)
        driver = Driver(grid, Store(options.out), engine, device="cpu", probe=probe)
        return _run(driver, options.out)
    except (ValueError, OSError) as error:
        print(f"posenc.bench.extrapolation: {error}", file=sys.stderr)
        return 2


def _run(driver: Driver, out: Path) -> int:
    progress = Progress(len(driver.grid))
    try:
        summary = driver.run(progress)
    finally:
        progress.close()
    print(
        f"{summary.trained} cells trained, {summary.failed} of them failed; "
        f"{summary.skipped} were there; results in {out}"
    )
    return 1 if summary.failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m posenc.bench.extrapolation",
        description="Train at one length, test at longer ones.",
    )
    parser.add_argument("--out", type=Path, default=Path("results/lengths.jsonl"))
    parser.add_argument("--encodings", nargs="+", metavar="NAME[:KEY=VALUE]", help="all, or these")
    parser.add_argument("--task", default=TASK, metavar="NAME:KEY=VALUE", help=TASK)
    parser.add_argument("--lengths", nargs="+", type=int, default=LENGTHS, metavar="STEPS")
    parser.add_argument("--n-test", type=int, default=1000, help="test series of each length")
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="seeds 0 to N - 1")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--profile", default="laptop", help=", ".join(PROFILES))
    parser.add_argument("--workers", type=int, help="processes; by default one per core")
    return parser


if __name__ == "__main__":
    # workers import what they run by name, so it must not live in the module "__main__"
    from posenc.bench import extrapolation

    sys.exit(extrapolation.main())
