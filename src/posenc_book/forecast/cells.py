"""What is trained on the blocks of a file of one's own: trials, then every block and seed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from posenc_book.bench import build, seeded
from posenc_book.bench.grid import parse
from posenc_book.bench.train import TrainingError
from posenc_book.bench.tuning import Cells
from posenc_book.forecast import baselines, units
from posenc_book.forecast import train as training
from posenc_book.forecast.blocks import Layout
from posenc_book.forecast.readers import KNOWN, LINEAR
from posenc_book.records.forecasts import ForecastSettings

NONE = "none"
USUAL = ("sinusoidal", "rotary", "t5")
BASELINES = ("linear", *baselines.METHODS)
TRIAL = "forecast-trial"

# As the book's own experiment trains, whose plan is frozen; profiles say what differs.
SETTINGS: dict[str, Any] = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 128,
    "dropout": 0.0,
    "optimizer": "adamw",
    "weight_decay": 0.01,
    "warmup": 0.05,
    "batch_size": 64,
    "steps": 1500,
    "check_every": 100,
    "scale": "paper",
}
RATES, TRIAL_SEED = (3e-4, 1e-3, 3e-3, 1e-2), 1000
PROFILES: dict[str, dict[str, Any]] = {
    "smoke": {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32, "steps": 20,
              "check_every": 10},
    "laptop": {"steps": 600, "check_every": 50},
    "protocol": {},
}  # fmt: skip
BLOCKS = {"smoke": 2, "laptop": 6, "protocol": 8}
SEEDS = {"smoke": 1, "laptop": 2, "protocol": 5}


@dataclass(frozen=True)
class Plan:
    """Which readers and encodings are compared, on which blocks, with which effort.

    Parameters
    ----------
    layout : Layout
    readers, encodings, rivals : sequence of str
        Encodings without none, which is always there; rivals are baselines.
    profile : str
    seeds : int
    known : sequence of str
        Columns that are known ahead.
    """

    layout: Layout
    readers: Sequence[str]
    encodings: Sequence[str]
    rivals: Sequence[str]
    profile: str
    seeds: int
    known: Sequence[str] = ()

    @cached_property
    def units(self) -> list[units.Unit]:
        """The blocks."""
        return [self.layout.unit(block) for block in range(self.layout.n_blocks)]

    @property
    def places(self) -> list[tuple[str, str]]:
        """Models and encodings, in the order of the table."""
        compared = [(reader, e) for reader in self.readers for e in (NONE, *self.encodings)]
        return compared + [(name, NONE) for name in self.rivals]

    def cell(self, model: str, encoding: str, block: int, seed: int = 0) -> ForecastSettings:
        """Return one cell, not tuned."""
        unit, spec = self.units[block], parse(encoding)
        return ForecastSettings(
            build.stored_name(spec.name),
            model,
            unit.name,
            encoding_options=spec.options,
            encoding_source=seeded.encoding_source(spec.name),
            dataset_source=unit.fingerprint,
            dataset_options={KNOWN: list(self.known)} if self.known else {},
            seed=seed,
            split_seed=seed,
            resample=block,
            patch=unit.shape.patch,
            calendar=self.layout.calendar is not None and model not in baselines.METHODS,
            **{**SETTINGS, **PROFILES[self.profile], "profile": self.profile},
        )

    def trials(self, model: str, encoding: str) -> list[ForecastSettings]:
        """Return the trials of a place: a learning rate each, on what lies before all blocks."""
        if model in baselines.METHODS:
            return []
        one = self.cell(model, encoding, 0, TRIAL_SEED)
        short = replace(one, steps=max(one.check_every, one.steps // 2), profile=TRIAL)
        return [replace(short, learning_rate=rate) for rate in RATES]

    def all_trials(self) -> Cells:
        """Return the trials of all places."""
        return Cells([trials for place in self.places if (trials := self.trials(*place))])

    def all_cells(self, records: Mapping[str, dict]) -> Cells:
        """Return what is trained, block by block; a place whose trials all failed is left out."""
        rates = {place: self.rate(*place, records) for place in self.places}
        return Cells(
            [
                self.seeded(*place, block, rate)
                for block in range(self.layout.n_blocks)
                for place, rate in rates.items()
                if rate is not None
            ]
        )

    def seeded(self, model: str, encoding: str, block: int, rate: float) -> list[ForecastSettings]:
        """Return the seeds of a place on a block; a baseline has one."""
        if model in baselines.METHODS:
            return [self.cell(model, encoding, block)]
        one = replace(
            self.cell(model, encoding, block),
            learning_rate=rate,
            tuned=f"{len(RATES)} trials",
        )
        return [replace(one, seed=seed, split_seed=seed) for seed in range(self.seeds)]

    def rate(self, model: str, encoding: str, records: Mapping[str, dict]) -> float | None:
        """Return the rate of the best trial by validation; None if all have failed."""
        if model in baselines.METHODS:
            return 1.0
        tried = [(records[t.key], t) for t in self.trials(model, encoding) if t.key in records]
        good = [(r["metrics"]["validation_mase"], t.learning_rate) for r, t in tried
                if "error" not in r]  # fmt: skip
        return min(good)[1] if good else None

    @property
    def train(self) -> "Trainer":
        """What the engine's workers call."""
        return Trainer(self.layout)


@dataclass(frozen=True)
class Trainer:
    """Trains cells as the experiment does, on blocks that it cuts itself.

    Parameters
    ----------
    layout : Layout
        It travels to the workers, who read no file.
    """

    layout: Layout

    def __call__(
        self,
        cells: Sequence[ForecastSettings],
        device: str = "cpu",
        *,
        compile: bool = False,
        probe: Callable | None = None,  # noqa: ARG002 - as `posenc_book.bench.jobs` calls it
    ) -> list[dict[str, Any] | TrainingError]:
        unit = self.layout.unit(cells[0].resample)
        units.GIVEN[unit.name] = unit
        method = baselines.METHODS.get(cells[0].model)
        if method is None:
            return training.train(cells, device, compile=compile)
        test = training.load_parts(cells[0], "cpu").test
        score: dict[str, Any] = baselines.score(test, method(unit, test))
        return [score for _ in cells]


def check_names(readers: Sequence[str], encodings: Sequence[str]) -> None:
    """Raise ValueError if an encoding or a reader is unknown, or is there twice."""
    for what, names in (("encodings", encodings), ("readers", readers)):
        if len(set(names)) != len(names):
            raise ValueError(f"{what} must not repeat, got {', '.join(names)}")
    for reader in readers:
        if reader in LINEAR:
            raise ValueError(f"readers must have an encoding, {reader!r} is a baseline")
    for name in encodings:
        spec = parse(name)
        build.check_options(build.stored_name(spec.name), spec.options)
