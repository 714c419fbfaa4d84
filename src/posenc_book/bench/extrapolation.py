"""Length extrapolation: train at one length, test the same weights at longer ones.

    python -m posenc_book.bench.extrapolation --out lengths.jsonl

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
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from posenc import _checks, encodings
from posenc._wall import behind
from posenc.models import PatchTransformer, TimeSeriesTransformer
from posenc.models.transfer import transfer
from posenc_book import data
from posenc_book.bench import build, language
from posenc_book.bench import grid as grids
from posenc_book.bench.grid import Grid
from posenc_book.records.settings import MOST_SEEDS, PROFILES, PROTOCOL, Settings

# Found on validation accuracy at the training length, before any longer series was looked at.
TASK = "range_probe:distance=4,length=32,n=4096"
LENGTHS = (32, 64, 128)
EPOCHS = 13
_PROFILES = tuple(name for name in PROFILES if name != PROTOCOL)  # no trials are made here


@dataclass(frozen=True)
class LengthSettings(Settings):
    """One training, and the lengths at which its model is tested afterwards.

    Parameters
    ----------
    **settings
        As for `posenc_book.records.settings.Settings`; `max_cases` must be 0, and `dataset_options`
        must hold `length`.
    test_lengths : tuple of int
        Steps of the test series, none shorter than those of training.
    n_test : int
        Test series of each length.
    """

    test_lengths: tuple[int, ...] = ()
    n_test: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.count("n_test", self.n_test, minimum=2)
        if "length" not in self.dataset_options:
            raise ValueError(
                "dataset_options must hold the length in training, such as {'length': 32}, got "
                f"{self.dataset_options}"
            )
        for length in self.test_lengths:
            _checks.count("test_lengths", length, minimum=self.dataset_options["length"])
        if self.max_cases:
            raise ValueError(f"max_cases must be 0, got {self.max_cases}")


@dataclass(frozen=True)
class LengthGrid(Grid):
    """A grid whose cells are tested at several lengths.

    Parameters
    ----------
    datasets, encodings, models, seeds, common, resampled
        As for `posenc_book.bench.grid.Grid`; `common` must hold `max_cases` = 0.
    test_lengths : tuple of int
        Steps of the test series.
    n_test : int
        Test series of each length.
    """

    test_lengths: tuple[int, ...] = LENGTHS
    n_test: int = 1000

    def groups(self) -> Iterator[list[Settings]]:
        """Yield the cells that differ in their seed only."""
        added: dict[str, Any] = {"test_lengths": self.test_lengths, "n_test": self.n_test}
        for group in super().groups():
            yield [LengthSettings(**vars(cell), **added) for cell in group]


def probe(cell: LengthSettings, model: TimeSeriesTransformer | PatchTransformer) -> dict[str, Any]:
    """Return the scores of a fitted model at every test length."""
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


def grow(
    cell: Settings, model: TimeSeriesTransformer | PatchTransformer, length: int
) -> TimeSeriesTransformer | PatchTransformer:
    """Return the cell's model, built for another length, with the weights of a fitted one."""
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
    """Train and test what a results file lacks, as the command line asks."""
    options = _parser().parse_args(arguments)
    changes = {"max_cases": 0, "dropout": 0.0, "epochs": options.epochs}
    try:
        task = grids.parse(options.task)
        grid = grids.make(
            [options.task],
            options.encodings or encodings.names(),
            ["time_series"],
            range(_checks.count("seeds", options.seeds, minimum=1, maximum=MOST_SEEDS)),
            _checks.choice("profile", options.profile, _PROFILES),
            **changes,
            patience=options.epochs,  # a long plateau comes before the task is found
        )
        length: Any = task.options.get("length")
        _checks.count("length in the task's options", length, minimum=3)
        added = {"test_lengths": tuple(options.lengths), "n_test": options.n_test}
        grid = LengthGrid(**vars(grid), **added)
        next(grid.groups())  # checks the lengths
        return 1 if language.run(grid, options, probe=probe).failed else 0
    except (ValueError, OSError) as error:
        print(f"posenc_book.bench.extrapolation: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m posenc_book.bench.extrapolation",
        description="Train at one length, test at longer ones.",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("lengths.jsonl"),
        help="results file, which the same command goes on with",
    )
    parser.add_argument("--encodings", nargs="+", metavar="NAME[:KEY=VALUE]", help="all, or these")
    parser.add_argument("--task", default=TASK, metavar="NAME:KEY=VALUE", help=TASK)
    parser.add_argument(
        "--lengths",
        nargs="+",
        type=int,
        default=LENGTHS,
        metavar="STEPS",
        help="lengths to test at",
    )
    parser.add_argument("--n-test", type=int, default=1000, help="test series of each length")
    parser.add_argument("--seeds", type=int, default=5, metavar="N", help="seeds 0 to N - 1")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="most epochs")
    parser.add_argument("--profile", default="laptop", help=", ".join(_PROFILES))
    parser.add_argument("--retry-failed", action="store_true", help="try failed cells again")
    parser.add_argument("--device", default="cpu", help="auto, cpu, cuda, cuda:1, mps")
    parser.add_argument("--workers", type=int, help="processes; by default one per core")
    parser.add_argument("--seconds", type=float, help="begin no training run after so long")
    return parser


if __name__ == "__main__":
    # workers import what they run by name, so it must not live in the module "__main__"
    from posenc_book.bench import extrapolation

    sys.exit(behind(extrapolation.main))
