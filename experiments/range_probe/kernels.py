"""Scores by offset: what an encoding makes of them at the start of a training and at its end.

    python -m experiments.range_probe.kernels --out results/kernels.jsonl

The task is `range_probe`: two pulses stand four steps apart on a ring, and the class says which
came first, so scores at the offsets 4 and -4 are worth learning. The model has one layer, so that
what is learned about position is learned in it.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from posenc._wall import behind
from posenc.attention import Places, SelfAttention
from posenc.attention.core import embedded
from posenc.models.classifier import Classifier
from posenc_book import data
from posenc_book.bench import build
from posenc_book.bench import grid as grids
from posenc_book.bench.driver import Driver
from posenc_book.bench.local import LocalEngine
from posenc_book.bench.progress import Progress
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store

ENCODINGS = (
    "sinusoidal", "dft", "tape", "learnable", "rotary", "relative", "t5", "alibi", "tupe", "erpe",
)  # fmt: skip
LENGTHS, WIDTHS = (16, 32), (16, 32, 64)
TASK = "range_probe:distance=4,length={length},n=4096,noise=0.02"
CHANGES = {
    "n_heads": 2, "n_layers": 1, "dropout": 0.0, "epochs": 13, "patience": 13, "max_cases": 0,
    "learning_rate": 3e-3,
}  # fmt: skip
N_SERIES = 256


class KernelGrid:
    """One training of each encoding, length and width."""

    def __init__(self, encodings: Sequence[str], lengths: Sequence[int], widths: Sequence[int]):
        self.encodings, self.lengths, self.widths = encodings, lengths, widths

    def __len__(self) -> int:
        return len(self.encodings) * len(self.lengths) * len(self.widths)

    def groups(self) -> Iterator[list[Settings]]:
        """Yield the cells one by one."""
        tasks = [TASK.format(length=length) for length in self.lengths]
        for width in self.widths:
            changes: dict[str, Any] = {"d_model": width, "d_ff": 2 * width, **CHANGES}
            yield from grids.make(
                tasks, self.encodings, ["time_series"], [0], "laptop", **changes
            ).groups()


def probe(cell: Settings, model: Classifier) -> dict[str, list[list[float]]]:
    """Return the mean scores by offset of a fitted model and of the same one at its start."""
    x = _test_series(cell)
    start = build.model(cell, model.n_channels, model.n_classes, x.shape[1]).eval()
    found = {"before": by_offset(start, x), "after": by_offset(model.cpu(), x)}
    return {name: [[round(v, 4) for v in head] for head in found[name].tolist()] for name in found}


@torch.no_grad()
def by_offset(model: Classifier, x: Tensor) -> Tensor:
    """Return what the first layer makes of offsets j - i, (n_heads, 2 * length - 1).

    Scores before the softmax, with the bias, are averaged over series and over all pairs of one
    offset. Queries meet the keys of another series, so that what they hold has nothing to do with
    the offset. An encoding that adds to the weights behind the softmax gives what it adds.
    """
    layer = model.layers[0].attention
    tokens = embedded(layer.position, model._tokens(x, None)[0])
    matrix = _scores(layer, tokens)
    length = matrix.shape[-1]
    means = [matrix.diagonal(k, -2, -1).mean((0, -1)) for k in range(1 - length, length)]
    return torch.stack(means, -1)


def _scores(layer: SelfAttention, tokens: Tensor) -> Tensor:
    """Return scores, or what is added to weights: (batch or 1, n_heads, length, length)."""
    places = Places.of(tokens)
    q, k, _ = layer._project(tokens, places)
    places.tokens = tokens
    mix = layer.position.term("mix", places, tokens)
    if mix is not None and not callable(mix):
        added = mix.dense(q, k)
        return added.expand(1, layer.n_heads, *added.shape[-2:])
    k = k.roll(1, 0)
    bias = layer.position.term("bias", places, tokens, q, k)
    scores = q @ k.mT * layer.scale
    return scores if bias is None else scores + bias.dense(q, k)


def _test_series(cell: Settings) -> Tensor:
    """Return series of the test part, scaled by mean and deviation of the training part."""
    whole = data.load(cell.dataset, "train", **cell.dataset_options)
    train, _ = data.split_validation(whole, cell.validation, cell.split_seed)
    test = data.load(cell.dataset, "test", **cell.dataset_options)
    test = data.standardise(test, *data.channel_statistics(train))
    return torch.from_numpy(test.x[:N_SERIES])


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what a results file lacks; return 0, or 1 if some cells failed, 2 if broken."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.range_probe.kernels", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("results/kernels.jsonl"),
        help="results file, which the same command goes on with",
    )
    parser.add_argument(
        "--encodings", nargs="+", default=ENCODINGS, metavar="NAME", help="these only"
    )
    parser.add_argument(
        "--lengths", nargs="+", type=int, default=LENGTHS, metavar="STEPS", help="steps of a series"
    )
    parser.add_argument(
        "--widths",
        nargs="+",
        type=int,
        default=WIDTHS,
        metavar="D_MODEL",
        help="widths of the model",
    )
    parser.add_argument("--workers", type=int, default=1, help="processes")
    options = parser.parse_args(arguments)
    grid = KernelGrid(options.encodings, options.lengths, options.widths)
    try:
        engine = LocalEngine(options.workers)
        driver = Driver(grid, Store(options.out), engine, device="cpu", probe=probe)
        with Progress(len(grid)) as progress:
            summary = driver.run(progress)
    except (ValueError, OSError) as error:
        print(f"experiments.range_probe.kernels: {error}", file=sys.stderr)
        return 2
    return 1 if summary.failed else 0


if __name__ == "__main__":
    # workers import what they run by name, so it must not live in the module "__main__"
    from experiments.range_probe import kernels

    sys.exit(behind(kernels.main))
