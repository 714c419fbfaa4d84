"""The length-generalisation lab: learn a task from short sequences, be asked about long ones.

    python -m experiments.lengths --tier 1

A small causal model learns one of `posenc_book.data.tasks` from sequences of 1 to 20 symbols and
is tested on 20 to 100. `plan.json` holds all that decides a result, and its hash stands in every
record. It was frozen before any sequence of a test was looked at, but for the pilot that
`results/small-protocols.md` names.
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
from posenc_book.data import tasks as length_tasks
from posenc_book.data.streams import generator
from posenc_book.data.tasks import Sequences
from posenc_book.read.lengths import plan_message
from posenc_book.read.lengths.plan import HASH, PROTOCOL, TIERS, Encoding

PROFILE = "lab"
CHUNK = 50  # sequences that are tested at once


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


def message_cell(task: str, encoding: Encoding, seed: int, **changes: Any) -> LabSettings:
    """Return one cell of the third protocol, in all else one of the first."""
    return cell(task, encoding, seed, protocol="" if changes else plan_message.HASH, **changes)


def message_cells(seeds: int | None = None) -> SeedBySeed:
    """Return the cells of the third protocol, or those of its first seeds."""
    of_seeds = seeded.first(seeds, plan_message.PROTOCOL["seeds"])
    return SeedBySeed(message_cell, plan_message.places(), of_seeds)


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
