"""A model of characters, trained on 128 and read on up to 512: what a longer context is worth.

    python -m experiments.characters

The text is `topics`. A model with rotary encoding is read as it was trained and with each schedule
of the plan in place of its frequencies; then each of them is trained on for a few steps at 512
characters and read again. Models without position and with ALiBi stand beside. `plan.json` holds
all that decides a result but the text, which belongs to the version of Python. A schedule that came
later is read from trainings of its own, by the same protocol (`later.json`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from experiments.characters import longrope, topics
from posenc import _checks
from posenc.encodings import Rotary
from posenc.models import LanguageModel
from posenc_book.bench import build, language, seeded
from posenc_book.bench.language import Clock, LanguageSettings
from posenc_book.bench.seeded import SeedBySeed
from posenc_book.bench.train import TrainingError
from posenc_book.data.streams import generator
from posenc_book.read.characters.plan import AS_TRAINED, HASH, LATER, LATER_HASHES, PROTOCOL

PROFILE = "text"
CHUNK = 16  # windows that are read at once


@dataclass(frozen=True)
class TextSettings(LanguageSettings):
    """One training on text, its schedules, and the contexts at which they are read.

    Parameters
    ----------
    **settings
        As for `posenc_book.bench.language.LanguageSettings`.
    trained : int
        Characters of a training sequence.
    contexts : tuple of int
        Characters that are handed over in a test; the last `asked` predictions count.
    n_windows, asked : int
        Places of the test text at which is read, and characters of each that are predicted: the
        same ones for every context.
    schedules : tuple of str
        Scalings of rotary encoding that take the place of the trained frequencies; () for others.
    tuning_steps, tuning_batch, tuning_rate : int, int, float
        The short fine-tuning at the longest context: steps, sequences in a batch, learning rate.
    """

    trained: int = 128
    contexts: tuple[int, ...] = (512,)
    n_windows: int = 64
    asked: int = 32
    schedules: tuple[str, ...] = ()
    tuning_steps: int = 100
    tuning_batch: int = 4
    tuning_rate: float = 3e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("contexts", "schedules"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # records hold lists
        for name in ("trained", "n_windows", "asked", "tuning_steps", "tuning_batch"):
            _checks.count(name, getattr(self, name), minimum=1)
        _checks.positive("tuning_rate", self.tuning_rate)
        if not self.contexts:
            raise ValueError("contexts must hold at least one length, got none")
        for length in self.contexts:
            _checks.count("contexts", length, minimum=self.asked)

    @property
    def longest(self) -> int:
        """Characters of the longest context."""
        return max(self.contexts)


def cell(encoding: str, seed: int, **changes: Any) -> TextSettings:
    """Return one cell of the protocol, or one that differs from it and so belongs to none."""
    tuning, text = PROTOCOL["tuning"], topics.read_topics()
    common = {
        **PROTOCOL["settings"],
        **{name: PROTOCOL[name] for name in ("trained", "contexts", "n_windows", "asked")},
        "schedules": PROTOCOL["schedules"] if encoding == "rotary" else (),
        "tuning_steps": tuning["steps"],
        "tuning_batch": tuning["batch_size"],
        "tuning_rate": tuning["learning_rate"],
        "protocol": "" if changes else HASH,
        **changes,
    }
    return TextSettings(
        encoding,
        "language",
        "topics",
        seed,
        profile=PROFILE,
        encoding_source=build.encoding_fingerprint(encoding),
        dataset_options={"python": text.python},
        dataset_source=text.fingerprint,
        **common,
    )


def protocol_cells(encodings: Sequence[str] | None = None, seeds: int | None = None) -> SeedBySeed:
    """Return the cells of the protocol, or those of some encodings and first seeds."""
    known = PROTOCOL["encodings"]
    names = seeded.chosen("encoding", encodings, known)
    kept = [(name,) for name in known if name in names]
    return SeedBySeed(cell, kept, seeded.first(seeds, PROTOCOL["seeds"]))


def later_cells(schedule: str, seeds: int | None = None) -> SeedBySeed:
    """Return the cells of a schedule that came later."""
    plan = LATER[_checks.choice("schedule", schedule, LATER)]
    changes = {"schedules": plan["schedules"], "protocol": LATER_HASHES[schedule]}
    make = partial(cell, **changes, **plan.get("settings", {}))
    return SeedBySeed(make, [(plan["encoding"],)], seeded.first(seeds, PROTOCOL["seeds"]))


def options(
    cell: TextSettings, schedule: str, divisors: Sequence[float] | np.ndarray = ()
) -> dict[str, Any]:
    """Return the options of rotary encoding for a schedule that reaches the longest context."""
    if schedule == AS_TRAINED:
        return {}
    factor = cell.longest / cell.trained
    if schedule == "dynamic_ntk":  # its factor comes from the input
        return {"scaling": schedule, "original_length": cell.trained}
    if schedule in ("linear", "ntk"):
        return {"scaling": schedule, "factor": factor}
    asked = {"scaling": schedule, "factor": factor, "original_length": cell.trained}
    if schedule == "longrope":
        lists = {"short_factor": [1.0] * len(divisors), "long_factor": [*map(float, divisors)]}
        asked["scaling_options"] = lists
    return asked


def train(
    cells: Sequence[TextSettings], device: str = "cpu", **of_engine: Any
) -> list[dict[str, Any] | TrainingError]:
    """Train and read cells one after the other."""
    return language.one_by_one(_one, cells, device, **of_engine)


def _one(cell: TextSettings, device: torch.device) -> dict[str, Any]:
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(cell.seed)  # for dropout, and encodings that draw noise in training
        return _read_twice(cell, device)


def _read_twice(cell: TextSettings, device: torch.device) -> dict[str, Any]:
    """Return the losses as trained and after the short fine-tuning, and the course."""
    clock, text, net = Clock(cell.most_seconds), topics.read_topics(), model(cell).to(device)
    found: dict[str, Any] = {"loss": {}, "tuned_loss": {}}
    course = language.fit(cell, net, _batches(cell, text.train, device), clock)
    short = _tuning(cell)
    for schedule in (AS_TRAINED, *cell.schedules):
        divisors = search(cell, net, text.train, clock) if schedule == "longrope" else ()
        if len(divisors):
            found["divisors"] = divisors
        scaled = model(cell, schedule, divisors).to(device)
        scaled.load_state_dict(net.state_dict())
        found["loss"][schedule] = read_losses(cell, scaled, text.test, clock)
        language.fit(short, scaled, _batches(short, text.train, device), clock)
        found["tuned_loss"][schedule] = read_losses(cell, scaled, text.test, clock)
    return {**found, **course}


def model(
    cell: TextSettings, schedule: str = AS_TRAINED, divisors: Sequence[float] | np.ndarray = ()
) -> LanguageModel:
    """Return the model of a cell with a schedule, for the longest context."""
    asked = {**cell.encoding_options, **options(cell, schedule, divisors)}
    longest = max(cell.trained, cell.longest)
    n_symbols = len(topics.read_topics().symbols)
    return language.model(replace(cell, encoding_options=asked), n_symbols, longest)


def search(cell: TextSettings, net: LanguageModel, text: np.ndarray, clock: Clock) -> list[float]:
    """Return the divisors with which a trained model loses least at the longest context."""
    longest = replace(cell, contexts=(cell.longest,))
    device = next(net.parameters()).device

    def loss(divisors: np.ndarray) -> float:
        scaled = model(longest, "longrope", divisors).to(device)
        scaled.load_state_dict(net.state_dict())
        return sum(read_losses(longest, scaled, text, clock).values())

    factor = cell.longest / cell.trained
    rng, plan = np.random.default_rng(cell.seed), LATER["longrope"]["search"]
    omegas = [_omega(model(longest, name)) for name in ("linear", "ntk", "yarn")]
    starts = [np.round(_omega(net) / omega, 6) for omega in omegas]
    return longrope.Search(loss, factor, rng, plan).run(starts).tolist()


def _tuning(cell: TextSettings) -> TextSettings:
    """Return the settings of the short training at the longest context."""
    return replace(
        cell,
        steps=cell.tuning_steps,
        batch_size=cell.tuning_batch,
        learning_rate=cell.tuning_rate,
        trained=cell.longest,
        schedule="constant",
    )


def _batches(cell: TextSettings, text: np.ndarray, device: torch.device):
    """Return what draws sequences of `cell.trained` characters at random places of a text."""
    rng, reach = generator("train", cell.seed), np.arange(cell.trained + 1)
    everything = torch.ones(cell.batch_size, cell.trained, dtype=torch.bool, device=device)

    def draw() -> language.Batch:
        starts = rng.integers(len(text) - cell.trained, size=(cell.batch_size, 1))
        return torch.from_numpy(text[starts + reach]).to(device), everything

    return draw


def windows(cell: TextSettings, text: np.ndarray) -> Tensor:
    """Return the places of a text at which is read, evenly spread."""
    if len(text) <= cell.longest:
        raise ValueError(f"text must have more than {cell.longest} characters, got {len(text)}")
    starts = np.linspace(0, len(text) - cell.longest - 1, cell.n_windows).astype(int)
    return torch.from_numpy(text[starts[:, None] + np.arange(cell.longest + 1)])


@torch.no_grad()
def read_losses(
    cell: TextSettings, net: LanguageModel, text: np.ndarray, clock: Clock
) -> dict[str, float]:
    """Return what a model loses on the last characters of each window, by context.

    The same characters are predicted with every context; a longer one begins earlier.
    """
    net.eval()
    whole, device = windows(cell, text), next(net.parameters()).device
    found = {}
    for context in cell.contexts:
        clock.check(f"before reading {context} characters")
        losses = []
        for rows in whole[:, -context - 1 :].to(device).split(CHUNK):
            logits = net(rows[:, :-1])[:, -cell.asked :].transpose(1, 2)
            right = rows[:, -cell.asked :]
            losses.append(torch.nn.functional.cross_entropy(logits, right, reduction="none"))
        found[str(context)] = torch.cat(losses).mean().item()
    return found


def _omega(net: LanguageModel) -> np.ndarray:
    assert isinstance(net.position, Rotary)
    return net.position.omega
