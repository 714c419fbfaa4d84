"""What was asked of the second edition after its results had been read.

Nothing here is a verdict: the frozen analysis (`second`) decides, and this says how far its answers
carry for somebody who has one data set, and what might be worth asking of other data.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc_book.data.units import members
from posenc_book.read.classification import edition, edition2, found, sanity
from posenc_book.read.classification.baselines import load_baselines
from posenc_book.read.classification.edition2 import Accuracies
from posenc_book.statistics import equality, friedman


@dataclass(frozen=True)
class OnOneSet:
    """How far encodings lie apart on single units, in points, each of shape (n_units,).

    Parameters
    ----------
    apart : array
        The best mean minus the worst.
    luck : array
        How far apart the luck of so few trainings would put them, were all equally good.
    gains : array
        What an encoding gains over none there, in the mean of all.
    """

    apart: NDArray[np.float64]
    luck: NDArray[np.float64]
    gains: NDArray[np.float64]

    @property
    def more_than_gained(self) -> int:
        """On how many units the encodings lie farther apart than they gain."""
        return int((self.apart > self.gains).sum())


def on_one_set(units: Accuracies, *, n_draws: int = 20_000) -> OnOneSet:
    """Return how far encodings, without none, lie apart on each unit.

    Luck is that of trainings alone: what is left of their scores without the means of encodings
    and of resamples. That resamples share series, and that each encoding was tuned once, adds to
    it.
    """
    scores = 100 * units.scores[:, 1:]
    means = scores.mean(2)
    left = scores - means[..., None] - scores.mean(1, keepdims=True)
    left += scores.mean((1, 2))[:, None, None]
    n_encodings, n_resamples = scores.shape[1:]
    variance = (left**2).sum((1, 2)) / ((n_encodings - 1) * (n_resamples - 1))
    drawn = np.random.default_rng(0).normal(size=(n_draws, n_encodings))
    return OnOneSet(
        np.ptp(means, axis=1),
        np.ptp(drawn, axis=1).mean() * np.sqrt(variance / n_resamples),
        means.mean(1) - 100 * units.scores[:, 0].mean(1),
    )


def over_the_sinusoid(units: Accuracies) -> list[edition2.Gain]:
    """Return what each other encoding gains over the sinusoid, a family of its own for Holm."""
    others = [name for name in units.encodings if name not in (edition2.BASELINE, "sinusoidal")]
    return edition2.gains(units.compare(["sinusoidal", *others]))


def picked(model: str) -> Accuracies:
    """Return a grid of learned units with two columns: none, and what validation picks.

    In each resample the encoding with the best validation accuracy is taken, of equal ones that
    with the lowest loss, as somebody would who trains all of them on their own data.
    """
    grid = edition2.load_grid(model)
    trained = edition.by_cell(edition.load_edition(), model)
    scores = np.empty((len(grid.datasets), 2, grid.scores.shape[2]))
    for row, dataset in enumerate(grid.datasets):
        for r in range(scores.shape[2]):
            runs = {name: trained[dataset, name, r] for name in grid.encodings}
            none = runs.pop(edition2.BASELINE)
            best = max(runs.values(), key=_validated)
            scores[row, :, r] = none["accuracy"], best["accuracy"]
    both = Accuracies(
        model, grid.datasets, (edition2.BASELINE, "picked"), scores, grid.largest_class
    )
    return both.units().only(edition2.learned(grid).datasets)


def _validated(metrics: dict) -> tuple[float, float]:
    return metrics["validation_accuracy"], -metrics["validation_loss"]


def on_one_machine(model: str) -> Accuracies:
    """Return the grid without the sets that were trained on a GPU, with another torch."""
    grid = edition2.load_grid(model)
    records = edition.plain(edition.load_edition(), model)
    elsewhere = {record["dataset"] for record in records if record["device"] != "cpu"}
    return grid.only({*grid.datasets} - elsewhere)


def least_p_of_equality(units: Accuracies) -> float:
    """Return the smallest p-value of equality if all mean gains were 0, their scatter as it is."""
    cells = [units.gains(name) for name in units.encodings[1:]]
    centred = [one - one.mean() for one in cells]
    p_values = [equality.tost(one, edition2.MARGIN).p_value for one in centred]
    return float(friedman.holm(p_values).min())


@dataclass(frozen=True)
class Sorting:
    """What sorting each series costs a nearest neighbour, and what encodings gain, in points.

    Parameters
    ----------
    sets : tuple of str
    lost : array of shape (n_sets,)
        Accuracy of the nearest neighbour in order, minus that with each channel sorted.
    gains : array of shape (n_sets,)
        What an encoding gains over none there, in the mean of all.
    """

    sets: tuple[str, ...]
    lost: NDArray[np.float64]
    gains: NDArray[np.float64]


def sorting(model: str) -> Sorting:
    """Return both for the independent sets of a model on which something is learned.

    Sets that share series are one unit, in the mean of the sets.
    """
    units = edition2.learned(edition2.load_grid(model))
    nearest = sanity.means_of(load_baselines())
    lost = [
        np.mean([nearest[n, "nearest"] - nearest[n, "nearest_sorted"] for n in members(unit)])
        for unit in units.datasets
    ]
    gains = units.scores[:, 1:].mean((1, 2)) - units.scores[:, 0].mean(1)
    return Sorting(units.datasets, 100 * np.array(lost), 100 * gains)


def rival_over_the_sinusoid(rival: str = "MiniRocket") -> dict[str, float]:
    """Return by how many points one of `found.levels` is ahead, by tokens, in the mean of sets."""
    differences: dict[str, list[float]] = {tokens: [] for tokens in edition2.TOKENS.values()}
    for (_, tokens), level in found.levels().items():
        differences[tokens].append(level[rival] - level["the sinusoid"])
    return {tokens: float(np.mean(some)) for tokens, some in differences.items()}
