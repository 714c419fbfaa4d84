"""Seconds that cells take on one core, measured on random series of the sizes that sets have.

No set is read: lengths, channels, classes and counts are those that are recorded of it.

python -m posenc_book.read.edition3.measured
"""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from posenc._wall import behind
from posenc_book import _files
from posenc_book.bench import build, ensemble
from posenc_book.bench.parts import Part, Parts
from posenc_book.bench.train import Training
from posenc_book.data import recorded_facts
from posenc_book.read.classification.protocol import TRAINING
from posenc_book.read.edition3 import sets
from posenc_book.read.edition3.questions import ENCODINGS, MODEL, MODELS, cells
from posenc_book.records.settings import Settings

FILE = Path("results", "edition-3", "measured.json")
STEPS, SECONDS = 8, 2.0  # that are timed of one cell, at most
SETTINGS: dict[str, Any] = TRAINING["settings"]


@dataclass(frozen=True)
class Sizes:
    """How many series each part of a set has, in what is trained here."""

    train: int
    validation: int
    test: int


def sizes(dataset: str) -> Sizes:
    """Return the sizes of the parts: halves of an unused set, the official ones of others."""
    facts, most = recorded_facts(dataset), SETTINGS["max_cases"]
    pooled = facts.train + facts.test
    halved = dataset in sets.UNUSED
    first = min(pooled // 2 if halved else facts.train, most)
    held_out = round(SETTINGS["validation"] * first)
    test = min(pooled - pooled // 2 if halved else facts.test, most)
    return Sizes(first - held_out, held_out, test)


def seconds(dataset: str, name: str, layers: int) -> tuple[float, float]:
    """Return the seconds of a core for a step, and for judging one series, of one cell."""
    facts, n = recorded_facts(dataset), sizes(dataset)
    one = cell(name, dataset, layers)
    data = Parts(
        _random(n.train, dataset),
        _random(n.validation, dataset),
        _random(1, dataset),
        facts.length,
        facts.n_channels,
        facts.n_classes,
    )
    model = build.model(one, facts.n_channels, facts.n_classes, facts.length)
    training = Training([one], ensemble.make([model]), data, torch.device("cpu"))
    training.take_step()  # the first one is slow
    taken: list[float] = []
    while len(taken) < STEPS and sum(taken) < SECONDS:
        start = time.process_time()
        training.take_step()
        taken.append(time.process_time() - start)
    start = time.process_time()
    training._logits(data.validation)
    # of several the quickest: a computer that does other things, too, delays single ones a lot
    return min(taken), (time.process_time() - start) / n.validation


def cell(name: str, dataset: str, layers: int) -> Settings:
    """Return a cell that needs no data set, as no fingerprint is asked for."""
    encoding, options = ENCODINGS[name]
    return Settings(
        encoding,
        MODELS.get(name, MODEL),
        dataset,
        encoding_options=options,
        **{**SETTINGS, "n_layers": layers},
    )


def _random(n: int, dataset: str) -> Part:
    facts = recorded_facts(dataset)
    x = torch.randn(1, n, facts.length, facts.n_channels)
    return Part(x, torch.randint(facts.n_classes, (1, n)), None)


def measured(some: Sequence[tuple[str, str, int]]) -> dict[str, dict[str, list[float]]]:
    """Return the seconds of some cells by set, then by encoding and layers."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    found: dict[str, dict[str, list[float]]] = {}
    for dataset, name, layers in some:
        pair = [float(f"{one:.3g}") for one in seconds(dataset, name, layers)]
        found.setdefault(dataset, {})[key(name, layers)] = pair
    return found


def key(name: str, layers: int) -> str:
    """Return under what a cell stands in the file."""
    return f"{name}; {layers}"


def _main(_: Sequence[str]) -> None:
    _files.replace(FILE, json.dumps(measured(sorted(cells())), indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(behind(_main))
