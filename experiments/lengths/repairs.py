"""What people would try first when a model must read further than in training.

    python -m experiments.lengths --repairs

A second protocol of the lab, `repairs.json`, so that no earlier training becomes stale: models are
those of `train`, in fewer steps, and some let half of each head or a whole layer go without
position. Each model with rotary encoding is read in several ways: as it is, cut to what it knows,
with the schedules of `posenc.schedules`, and without its encoding, before and after some further
steps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from experiments.lengths import train as lab
from experiments.lengths.train import CHUNK, LabSettings
from posenc import _checks
from posenc.attention import Position
from posenc.encodings import NoPosition
from posenc.models import LanguageModel
from posenc_book.bench import build, language, seeded
from posenc_book.bench.language import Clock
from posenc_book.bench.seeded import SeedBySeed
from posenc_book.bench.train import TrainingError
from posenc_book.data import tasks as length_tasks
from posenc_book.data.streams import generator
from posenc_book.read.lengths.plan_repairs import AS_TRAINED, HASH, PROTOCOL, Row, places

PROFILE = "lab"
CUT = "cut"
DROPPED = "dropped"
FURTHER = ", further"  # behind a reading: after further training
SCHEDULES = ("linear", "ntk", "yarn")


@dataclass(frozen=True)
class RepairSettings(LabSettings):
    """One training of this protocol and its readings; `cell` makes them.

    Parameters
    ----------
    **settings
        As for `experiments.lengths.train.LabSettings`.
    without : tuple of int
        Layers without position.
    readings : tuple of str
        Ways in which the trained model is read beside `AS_TRAINED`.
    further_steps, further_rate : int, float
        The further training, at the trained lengths: steps and largest learning rate.
    """

    without: tuple[int, ...] = ()
    readings: tuple[str, ...] = ()
    further_steps: int = 400
    further_rate: float = 3e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("without", "readings"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # records hold lists
        for layer in self.without:
            _checks.count("without", layer)
        if self.without and max(self.without) >= self.n_layers:
            raise ValueError(f"without must hold layers below {self.n_layers}, got {self.without}")
        known = (CUT, *SCHEDULES, DROPPED, AS_TRAINED + FURTHER, DROPPED + FURTHER)
        for reading in self.readings:
            _checks.choice("readings", reading, known)
        _checks.count("further_steps", self.further_steps, minimum=1)
        _checks.positive("further_rate", self.further_rate)


def cell(task: str, row: Row, seed: int, **changes: Any) -> RepairSettings:
    """Return one cell of the protocol, or one that differs from it and so belongs to none."""
    further = PROTOCOL["further"]
    common = {
        **PROTOCOL["settings"],
        **{name: PROTOCOL[name] for name in ("trained", "tested", "n_test")},
        "without": row.without,
        "readings": row.readings,
        "further_steps": further["steps"],
        "further_rate": further["learning_rate"],
        "protocol": "" if changes else HASH,
        **changes,
    }
    return RepairSettings(
        row.encoding,
        "language",
        task,
        seed,
        profile=PROFILE,
        encoding_options=dict(row.options),
        encoding_source=seeded.encoding_source(row.encoding),
        dataset_source=length_tasks.task_fingerprint(task),
        **common,
    )


def protocol_cells(seeds: int | None = None) -> SeedBySeed:
    """Return the cells of the protocol, or those of its first seeds."""
    return SeedBySeed(cell, places(), seeded.first(seeds, PROTOCOL["seeds"]))


def train(
    cells: Sequence[RepairSettings], device: str = "cpu", **of_engine: Any
) -> list[dict[str, Any] | TrainingError]:
    """Train and read cells one after the other."""
    return language.one_by_one(_one, cells, device, **of_engine)


def _one(cell: RepairSettings, device: torch.device) -> dict[str, Any]:
    clock = Clock(cell.most_seconds)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(cell.seed)
        net = model(cell).to(device)
        draw = _draws(cell, device)
        course = language.fit(cell, net, draw, clock)
        found = {AS_TRAINED: lab.test_scores(cell, net, clock)}
        for reading in cell.readings:
            found[reading] = _read(cell, net, reading, clock)
        return {"readings": found, **course}


def _draws(cell: RepairSettings, device: torch.device) -> Callable[[], language.Batch]:
    """Return what draws training batches, in the order of the first protocol."""
    task, rng = length_tasks.task(cell.dataset), generator("train", cell.seed)

    def draw() -> language.Batch:
        length = int(rng.integers(task.least, cell.trained + 1))
        return lab.tensors(task.draw(rng, cell.batch_size, length), device)

    return draw


def model(cell: RepairSettings, reading: str = AS_TRAINED) -> LanguageModel:
    """Return the model of a cell as it is read, large enough for all its tests."""
    task = length_tasks.task(cell.dataset)
    longest = task.n_tokens(max(cell.trained, *cell.tested))
    one = build.position(replace(cell, encoding_options=_options(cell, reading, longest)))
    dropped = reading.removesuffix(FURTHER) == DROPPED
    layers: list[Callable[[int, int, int], Position]] = [
        NoPosition if dropped or layer in cell.without else one for layer in range(cell.n_layers)
    ]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(cell.seed)
        return LanguageModel(
            len(task.symbols),
            cell.d_model,
            cell.n_heads,
            cell.n_layers,
            position=layers,
            max_length=longest,
            d_ff=cell.d_ff,
            dropout=cell.dropout,
        )


def _options(cell: RepairSettings, reading: str, longest: int) -> dict[str, Any]:
    """Return the options of the encoding for a reading: schedules reach the longest test."""
    options = dict(cell.encoding_options)
    if reading in SCHEDULES:
        known = length_tasks.task(cell.dataset).n_tokens(cell.trained)
        options |= {"scaling": reading, "factor": longest / known, "original_length": known}
    return options


def _read(cell: RepairSettings, net: LanguageModel, reading: str, clock: Clock) -> dict[str, dict]:
    """Return the scores of a trained model that is read in another way."""
    if reading == CUT:
        return cut_scores(cell, net, clock)
    other = model(cell, reading).to(next(net.parameters()).device)
    other.load_state_dict(net.state_dict())
    if reading.endswith(FURTHER):
        other = _trained_on(cell, other, clock)
    return lab.test_scores(cell, other, clock)


def _trained_on(cell: RepairSettings, net: LanguageModel, clock: Clock) -> LanguageModel:
    """Train a model for some further steps on new sequences of the trained lengths."""
    steps, rate = cell.further_steps, cell.further_rate
    settings = replace(cell, seed=cell.seed + 10_000, steps=steps, learning_rate=rate)
    language.fit(settings, net, _draws(settings, next(net.parameters()).device), clock)
    return net


def cut_scores(cell: RepairSettings, net: LanguageModel, clock: Clock) -> dict[str, dict]:
    """Return the scores of a model that is handed no more than the longest training input.

    For each answer token it reads the last tokens before it, as many as it knows.
    """
    found: dict[str, dict] = {"exact": {}, "token": {}, "refusals": {}}
    known = length_tasks.task(cell.dataset).n_tokens(cell.trained) - 1
    for length in cell.tested:
        clock.check(f"before the cut test at length {length}")
        drawn = length_tasks.draw(cell.dataset, n=cell.n_test, length=length, split="test")
        tokens, answers = lab.tensors(drawn, next(net.parameters()).device)
        right = _right_of_the_last(net, tokens, answers, known)
        found["exact"][str(length)] = float((right | ~answers).all(1).float().mean())
        found["token"][str(length)] = float(right[answers].float().mean())
    return found


@torch.no_grad()
def _right_of_the_last(net: LanguageModel, tokens: Tensor, answers: Tensor, known: int) -> Tensor:
    """Return which answers are the most likely after the last `known` tokens, as `answers`."""
    net.eval()
    inputs = tokens[:, :-1]
    known = min(known, inputs.shape[1])
    right = torch.zeros_like(answers)
    first = torch.cat(
        [net(rows).argmax(-1) == wanted for rows, wanted in _parts(inputs, tokens[:, 1:], known)]
    )
    right[:, :known] = first
    rows, ends = torch.nonzero(answers[:, known:], as_tuple=True)
    windows = inputs.unfold(1, known, 1)[rows, ends + 1]  # each ends at its token's predecessor
    wanted = tokens[rows, ends + known + 1]
    said = [net(part)[:, -1].argmax(-1) for part in windows.split(4 * CHUNK)]
    if said:
        right[rows, ends + known] = torch.cat(said) == wanted
    return right & answers


def _parts(inputs: Tensor, wanted: Tensor, known: int):
    """Yield the beginnings of sequences with what follows each token, some rows at a time."""
    yield from zip(inputs[:, :known].split(CHUNK), wanted[:, :known].split(CHUNK), strict=True)
