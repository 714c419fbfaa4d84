"""What results say beside the decision record: numbers and tables that pages show."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc_book.atlas import called
from posenc_book.data import recorded_facts
from posenc_book.guide import measured
from posenc_book.read.characters import read as text
from posenc_book.read.classification import edition, edition2
from posenc_book.read.classification.found import TOKENS
from posenc_book.read.gaps import read as gaps
from posenc_book.read.lengths import read as lab
from posenc_book.statistics import counts
from posenc_book.teaching.table import Table

FEW_SERIES = 200  # in the training part
LONG, PATCH, WIDTH = 1024, 8, 64  # steps, steps in a patch, d_model


@dataclass(frozen=True)
class Stretch:
    """What the model of characters loses at its own length and at the longest that is read.

    Attributes
    ----------
    short, far : int
        Characters of context, in training and at most.
    steps, seeds : int
        Of the fine-tuning at the longest context, and trainings of an encoding.
    nats : dict of (name, context, kind) to float
        Means over seeds, by encoding or schedule and a kind of `text.KINDS`.
    """

    short: int
    far: int
    steps: int
    seeds: int
    nats: dict[tuple[str, int, str], float]

    def mean_text(self, name: str, context: int, *, tuned: bool = False) -> str:
        """Return a mean loss as pages write it."""
        return f"{self.nats[name, context, 'fine-tuned' if tuned else 'as trained']:.2f}"


def stretch() -> Stretch:
    """Return what is stored of the model of characters."""
    found, plan = text.load_losses(), text.bench.PROTOCOL
    short, far = plan["trained"], max(plan["contexts"])
    nats = {
        (encoding if schedule == text.bench.AS_TRAINED else schedule, context, kind): float(
            np.mean(found.loss(encoding, schedule, context, kind))
        )
        for encoding, schedule in text.NAMES
        for context in (short, far)
        for kind in text.KINDS
    }
    seeds = len({seed for _, seed in found.runs})
    return Stretch(short, far, plan["tuning"]["steps"], seeds, nats)


@dataclass(frozen=True)
class Reach:
    """How far encodings travel on the tasks of the lab that were learned.

    Attributes
    ----------
    shares : dict of str to float
        Right answer tokens above the trained length by encoding, means over lengths and tasks.
    leaders : dict of str to str
        By task, the encoding that is farthest.
    """

    shares: dict[str, float]
    leaders: dict[str, str]


def reach() -> Reach:
    """Return what is stored of the lab, for encodings that all learned tasks were trained with."""
    found = lab.load_lab()
    tasks = [task for task in found.tasks if found.learned(task)]
    names = [e for e in found.encodings(tasks[0]) if all((t, e) in found.runs for t in tasks)]
    shares = {e: float(np.mean([found.beyond(task, e) for task in tasks])) for e in names}
    return Reach(shares, {task: found.order(task)[0] for task in tasks})


def small_sets(model: str) -> NDArray[np.float64]:
    """Return accuracy with the sinusoid minus with RoPE, in points, on sets of few series.

    One value for each data set of the edition with at most `FEW_SERIES` training series, the mean
    over its resamples.
    """
    grid = edition2.load_grid(model)
    sine, rope = (
        counts.mean(grid.scores[:, grid.encodings.index(name)]) for name in ("sinusoidal", "rotary")
    )
    gaps = 100 * (sine - rope)
    few = [recorded_facts(name).train <= FEW_SERIES for name in grid.datasets]
    return gaps[few]


def by_tokens() -> Table:
    """Return accuracies by tokens, means over the data sets of the edition, which is named."""
    rows = {}
    for model, tokens in TOKENS.items():
        grid = edition2.load_grid(model)
        means = dict(zip(grid.encodings, 100 * grid.scores.mean((0, 2)), strict=True))
        others = [mean for encoding, mean in means.items() if encoding != "none"]
        rows[f"{tokens}, {len(grid.datasets)} sets"] = {
            "none": f"{means['none']:.1f}",
            "sinusoid": f"{means['sinusoidal']:.1f}",
            "RoPE": f"{means['rotary']:.1f}",
            f"all {len(others)}": f"{min(others):.1f} to {max(others):.1f}",
        }
    caption = "Accuracy in per cent, means over data sets and five training runs"
    return Table(rows, caption=f"{caption} ({edition.edition_name()})")


def clocks() -> Table:
    """Return what models make of lost samples that are given the times, and what these bring."""
    columns = {_CLOCKED[name]: _with_times(name) for name in _CLOCKED}
    rows = {
        dataset: {title: said[dataset] for title, said in columns.items()}
        for dataset in next(iter(columns.values()))
    }
    caption = "Accuracy in per cent with true times (and what it is more than with numbers)"
    return Table(rows, caption=caption)


_CLOCKED = {
    "none": "none",
    "sinusoidal": "sinusoid",
    "learnable": "learned",
    "rotary": "RoPE",
    "relative": "Shaw",
}


def _with_times(encoding: str) -> dict[str, str]:
    """Return accuracy with times and its difference from that with numbers, by set, and means."""
    times, numbers = (gaps.accuracy(encoding, clock) for clock in ("times", "indices"))
    for by_set in (times, numbers):
        by_set["mean"] = float(np.mean(list(by_set.values())))
    more = {name: round(times[name] - numbers[name], 1) + 0.0 for name in times}  # no minus zero
    return {name: f"{times[name]:.1f} ({more[name]:+.1f})" for name in times}


def cost_and_reach() -> dict[str, tuple[float, float]]:
    """Return the time of a step and the accuracy at four times the length of training.

    Encodings with which the task was not learned, or that take no longer input, are left out. Where
    only some trainings learned it, the name says how many.
    """
    found = measured.measured()
    return {
        _counted(name, one): (one.cost, one.longer)
        for name, one in found.items()
        if np.isfinite([one.cost, one.longer]).all()
    }


def mended() -> dict[str, float]:
    """Return the loss of the model of characters at the longest context, by what was done."""
    one = stretch()
    nats = {
        name: one.nats[name, one.far, "as trained"] for name in ("rotary", "none", "alibi", "yarn")
    }
    return {
        "RoPE as trained": nats["rotary"],
        "no encoding": nats["none"],
        "ALiBi": nats["alibi"],
        "RoPE with YaRN": nats["yarn"],
        f"RoPE with YaRN, {one.steps} steps": one.nats["yarn", one.far, "fine-tuned"],
        f"RoPE, the last {one.short} only": one.nats["rotary", one.short, "as trained"],
    }


def _counted(name: str, one: measured.Measured) -> str:
    """Return what people call it, with how many trainings learned the task if not all did."""
    learned = "" if one.n_learned == one.n_seeds else f" ({one.n_learned} of {one.n_seeds})"
    return called(name) + learned


def attention_work() -> float:
    """Return how many times as much a layer multiplies over long series as over their patches."""
    return _products(LONG) / _products(LONG // PATCH)


def _products(n_tokens: int) -> int:
    """Return the multiplications of an attention layer: four projections, scores, mixing."""
    return 4 * n_tokens * WIDTH**2 + 2 * n_tokens**2 * WIDTH
