"""The length-generalisation lab: learn a task from short sequences, be asked about long ones.

    posenc bench lab --tier 1

A small causal model learns one of `tasks` from sequences of 1 to 20 symbols and
is tested on 20 to 100. `PROTOCOL` holds all that decides a result, and its hash stands in every
record. It was frozen before any sequence of a test was looked at, but for the pilot that it names.
`results/small-protocols.md` is made from it by `python -m posenc_book.read.small_protocols`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from posenc import _checks
from posenc.models import LanguageModel
from posenc_book.bench import language, seeded
from posenc_book.bench.language import Clock, LanguageSettings
from posenc_book.bench.seeded import SeedBySeed
from posenc_book.bench.train import TrainingError
from posenc_book.data.streams import generator
from posenc_book.read.lengths import tasks as length_tasks
from posenc_book.read.lengths.tasks import Sequences
from posenc_book.records.hashes import hashed

PROFILE = "lab"
RANDOM = 512  # places to draw from; the longest test sequence has 304 tokens
CHUNK = 50  # sequences that are tested at once


@dataclass(frozen=True)
class Encoding:
    """An encoding of the lab: its name, its options, and whether places are drawn in training.

    Parameters
    ----------
    name : str
        One of `posenc.encodings.names("series")`.
    options : tuple of (str, object)
        Those of the encoding, in pairs.
    random : bool
        Whether training draws places from 0 to 511 in place of counting.
    """

    name: str
    options: tuple[tuple[str, object], ...] = ()
    random: bool = False

    @property
    def label(self) -> str:
        """The name as tables show it."""
        return language.label(self.name, self.random)


# FIRE's threshold is a quarter of the longest training input: 512 would be beyond every test.
FIRST = (
    Encoding("none"),
    Encoding("sinusoidal"),
    Encoding("rotary"),
    Encoding("t5"),
    Encoding("alibi"),
    Encoding("transformer_xl"),
    Encoding("fire", (("threshold", 16.0),)),
    Encoding("sinusoidal", random=True),
)
MORE = (
    Encoding("learnable"),
    Encoding("relative"),
    Encoding("kerple"),
    Encoding("cope"),
    Encoding("xpos"),
    Encoding("pope"),
    Encoding("learnable", random=True),
    Encoding("rotary", random=True),
)
TASKS = ("copy", "parity", "addition")
OTHERS = ("reverse", "sort", "flip_flop", "indirect_indexing")

PROTOCOL: dict[str, Any] = {
    "edition": 1,
    "tasks": TASKS + OTHERS,
    "encodings": [[one.name, one.options, one.random] for one in FIRST + MORE],
    "random_positions": RANDOM,
    "trained": 20,
    "tested": tuple(range(20, 101, 10)),
    "n_test": 200,
    "settings": {
        "d_model": 64,
        "n_heads": 4,
        "n_layers": 2,
        "d_ff": 256,
        "dropout": 0.0,
        "optimizer": "adamw",
        "learning_rate": 3e-3,
        "weight_decay": 0.01,
        "warmup": 0.025,
        "schedule": "cosine",
        "batch_size": 16,
        "steps": 4000,
        "most_seconds": 300.0,
    },
    "scores": {
        "exact": "share of sequences with every answer token right",
        "token": "share of right answer tokens, each after the right ones before it",
    },
    "learned": 0.9,
    "order": "by token accuracy, mean over lengths above the trained one, then over seeds",
}

HASH = hashed(PROTOCOL)


@dataclass(frozen=True)
class Tier:
    """Tasks, encodings and seeds, all of them together.

    Parameters
    ----------
    tasks : tuple of str
        Names of `tasks.TASKS`.
    encodings : tuple of Encoding
    seeds : int
        How many, from 0 on.
    """

    tasks: tuple[str, ...]
    encodings: tuple[Encoding, ...]
    seeds: int


TIERS = {
    1: Tier(TASKS, FIRST, 5),
    2: Tier(OTHERS, FIRST, 5),
    3: Tier(TASKS + OTHERS, FIRST + MORE, 5),
    4: Tier(TASKS + OTHERS, FIRST + MORE, 10),
}
"""Each tier is complete in itself; the third and the fourth contain those before them."""


@dataclass(frozen=True)
class LabSettings(LanguageSettings):
    """One training of the lab; `cell` makes those of the protocol.

    Parameters
    ----------
    **settings
        As for `posenc_book.bench.language.LanguageSettings`; `dataset` is a task.
    trained : int
        Training sequences have a length from the task's least to this one, drawn for each batch.
    tested : tuple of int
        Lengths of the test sequences.
    n_test : int
        Test sequences of each length, the same for every cell.
    """

    trained: int = 20
    tested: tuple[int, ...] = (20,)
    n_test: int = 200

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "tested", tuple(self.tested))  # records hold lists
        task = length_tasks.task(self.dataset)
        _checks.count("trained", self.trained, minimum=task.least)
        _checks.count("n_test", self.n_test, minimum=1)
        for length in self.tested:
            _checks.count("tested", length, minimum=task.least)
        if not self.tested:
            raise ValueError("tested must hold at least one length, got none")


def cell(task: str, encoding: Encoding, seed: int, **changes: Any) -> LabSettings:
    """Return one cell of the protocol, or one that differs from it and so belongs to none."""
    common = {
        **PROTOCOL["settings"],
        "trained": PROTOCOL["trained"],
        "tested": PROTOCOL["tested"],
        "n_test": PROTOCOL["n_test"],
        "protocol": "" if changes else HASH,
        **changes,
    }
    return LabSettings(
        encoding.name,
        "language",
        task,
        seed,
        profile=PROFILE,
        encoding_options=dict(encoding.options),
        encoding_source=seeded.encoding_source(encoding.name),
        dataset_source=_task_source(task),
        random_positions=PROTOCOL["random_positions"] if encoding.random else 0,
        **common,
    )


def tier_cells(
    tier: int,
    tasks: Sequence[str] | None = None,
    encodings: Sequence[str] | None = None,
    seeds: int | None = None,
) -> SeedBySeed:
    """Return the cells of a tier, or those of some of its tasks, encodings and first seeds."""
    _checks.choice("tier", str(tier), map(str, TIERS))
    whole = TIERS[tier]
    labels = {one.label: one for one in whole.encodings}
    of_tasks = seeded.chosen("task", tasks, whole.tasks)
    of_encodings = seeded.chosen("encoding", encodings, labels)
    places = [
        (task, one)
        for task in whole.tasks
        for label, one in labels.items()
        if task in of_tasks and label in of_encodings
    ]
    return SeedBySeed(cell, places, seeded.first(seeds, whole.seeds, f" in tier {tier}"))


@cache
def _task_source(name: str) -> str:
    return length_tasks.task_fingerprint(name)


def train(
    cells: Sequence[LabSettings], device: str = "cpu", **of_engine: Any
) -> list[dict[str, Any] | TrainingError]:
    """Train and test cells one after the other."""
    return language.one_by_one(_one, cells, device, **of_engine)


def _one(cell: LabSettings, device: torch.device) -> dict[str, Any]:
    clock = Clock(cell.most_seconds)
    task, net = length_tasks.task(cell.dataset), model(cell).to(device)
    rng = generator("train", cell.seed)

    def draw() -> language.Batch:
        length = int(rng.integers(task.least, cell.trained + 1))
        return tensors(task.draw(rng, cell.batch_size, length), device)

    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(cell.seed)
        course = language.fit(cell, net, draw, clock)
        return {**test_scores(cell, net, clock), **course}


def model(cell: LabSettings) -> LanguageModel:
    """Return the model of a cell, large enough for all its tests."""
    task = length_tasks.task(cell.dataset)
    longest = task.n_tokens(max(cell.trained, *cell.tested))
    return language.model(cell, len(task.symbols), longest)


def tensors(drawn: Sequences, device: torch.device | str) -> language.Batch:
    """Return tokens, and which of those behind the first are to be predicted."""
    answers = np.broadcast_to(drawn.answers, drawn.tokens.shape)[:, 1:]
    tokens = torch.from_numpy(np.ascontiguousarray(drawn.tokens))
    return tokens.to(device), torch.from_numpy(answers.copy()).to(device)


def test_scores(cell: LabSettings, net: LanguageModel, clock: Clock) -> dict[str, dict]:
    """Return the scores of a fitted model on the test sequences of its cell.

    An answer is exact where every one of its tokens is the most likely one after the right ones
    before it, which is also what greedy decoding writes without a mistake. A model that was
    trained at random places is tested at such places, as Ruoss et al. (2023) do.
    """
    found: dict[str, dict] = {"exact": {}, "token": {}, "refusals": {}}
    device = next(net.parameters()).device
    for length in cell.tested:
        clock.check(f"before the test at length {length}")
        drawn = length_tasks.draw(cell.dataset, n=cell.n_test, length=length, split="test")
        tokens, answers = tensors(drawn, device)
        try:
            right = _right(cell, net, tokens)
        except ValueError as error:
            found["refusals"][str(length)] = str(error)
            continue
        found["exact"][str(length)] = float((right | ~answers).all(1).float().mean())
        found["token"][str(length)] = float(right[answers].float().mean())
    return found


@torch.no_grad()
def _right(cell: LabSettings, net: LanguageModel, tokens: Tensor) -> Tensor:
    """Return which tokens behind the first are the most likely ones, (n, n_tokens - 1)."""
    net.eval()
    places = torch.Generator().manual_seed(cell.seed)
    found = []
    for rows in tokens.split(CHUNK):
        given = None
        if cell.random_positions:
            given = net.draw_positions(rows.shape[1] - 1, places)
        found.append(net(rows[:, :-1], positions=given).argmax(-1) == rows[:, 1:])
    return torch.cat(found)
