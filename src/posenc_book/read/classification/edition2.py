"""What came out of the second edition, by the rules of `analysis`.

Which encodings help, on what, by how much, and how sure is that? `Accuracies` holds those of
one model; everything else is computed from it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from posenc_book.data.units import unit_of
from posenc_book.read.classification import edition
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.analysis import ANALYSIS
from posenc_book.read.classification.baselines import load_baselines
from posenc_book.statistics import equality, friedman, power
from posenc_book.statistics.answers import EQUAL, Answer, Family
from posenc_book.statistics.standing import standing

BASELINE = str(ANALYSIS["baseline"])
MARGIN = float(ANALYSIS["margin"])
ALPHA = float(ANALYSIS["alpha"])
TOKENS = {"time_series": "steps", "patch": "patches"}  # what a token is, by model


@dataclass(frozen=True)
class Accuracies:
    """Scores of one model.

    Parameters
    ----------
    model : str
    datasets, encodings : tuple of str
        Encodings begin with "none".
    scores : array of shape (n_datasets, n_encodings, n_resamples)
        Shares of 1.
    largest_class : array of shape (n_datasets, n_resamples)
        Accuracy of always naming the largest class of the training part.
    """

    model: str
    datasets: tuple[str, ...]
    encodings: tuple[str, ...]
    scores: NDArray[np.float64]
    largest_class: NDArray[np.float64]

    def gains(self, encoding: str) -> NDArray[np.float64]:
        """Return the differences from `none`, (n_datasets, n_resamples)."""
        return self.scores[:, self.encodings.index(encoding)] - self.scores[:, 0]

    def units(self) -> "Accuracies":
        """Return the grid with sets that share series made one, by their mean."""
        names = [unit_of(name) for name in self.datasets]
        units = tuple(dict.fromkeys(names))
        rows = [[i for i, name in enumerate(names) if name == unit] for unit in units]
        scores = np.array([self.scores[r].mean(0) for r in rows])
        floor = np.array([self.largest_class[r].mean(0) for r in rows])
        return Accuracies(self.model, units, self.encodings, scores, floor)

    def compare(self, encodings: Sequence[str]) -> "Accuracies":
        """Return the grid with some of its encodings, the first of which all are compared with."""
        columns = [self.encodings.index(name) for name in encodings]
        scores = self.scores[:, columns]
        return Accuracies(self.model, self.datasets, tuple(encodings), scores, self.largest_class)

    def only(self, datasets: Iterable[str]) -> "Accuracies":
        """Return the part of some data sets, in this grid's order."""
        wanted = set(datasets)
        kept = [i for i, name in enumerate(self.datasets) if name in wanted]
        names = tuple(self.datasets[i] for i in kept)
        return Accuracies(
            self.model, names, self.encodings, self.scores[kept], self.largest_class[kept]
        )


def load_grid(
    model: str,
    *,
    metric: str = "accuracy",
    encodings: Sequence[str] | None = None,
    variant: str = "",
    every: bool = False,
    records: Iterable[dict] | None = None,
    baselines: Iterable[dict] | None = None,
) -> Accuracies:
    """Return the data sets of a model that belong to the edition (see `edition`).

    Parameters
    ----------
    model : str
        "patch" or "time_series".
    metric : str
        A score of the records.
    encodings : sequence of str, optional
        "none" and those to compare with it; by default those of tier 1, or of the variant.
    variant : str
        A name of `protocol.VARIANTS`; empty for the models of tier 1.
    every : bool
        Whether to take in all complete data sets, also those that came after the edition.
    records, baselines : iterable of dict, optional
        Lines of `second-*.jsonl` and of `baselines/`; by default the book's. Given records have no
        edition: all complete data sets are taken in.

    Returns
    -------
    Accuracies

    Raises
    ------
    ValueError
        If no data set is complete, or one of the edition is not, or its largest class is not
        stored.

    Examples
    --------
    >>> grid = load_grid("patch")  # of the book's results
    >>> grid.encodings[:3], grid.scores.shape[1:]
    (('none', 'sinusoidal', 'learnable'), (11, 5))
    """
    if encodings is None:
        encodings = protocols.COMPARED[variant] if variant else protocols.ENCODINGS
    frozen = records is None and not every
    records = edition.load_edition(variant) if records is None else records
    baselines = load_baselines() if baselines is None else baselines
    found = edition.by_cell(records, model)
    floors = _floors(baselines, metric)
    n = int(protocols.TRAINING["resamples"])
    complete = (
        edition.datasets(found, model, variant, encodings)
        if frozen
        else edition.whole(found, encodings)
    )
    if not complete:
        raise ValueError(f"no data set is complete for model {model!r} and {', '.join(encodings)}")
    scores = [[[found[d, e, r][metric] for r in range(n)] for e in encodings] for d in complete]
    for name in complete:
        if (name, 0) not in floors:
            raise ValueError(
                f"the largest class of {name} is not stored; run "
                f"posenc bench baselines --datasets {name}"
            )
    floor = [[floors.get((d, r), floors[d, 0]) for r in range(n)] for d in complete]
    return Accuracies(model, tuple(complete), tuple(encodings), np.array(scores), np.array(floor))


def missing(model: str, tier: int = 1, records: Iterable[dict] | None = None) -> dict[str, int]:
    """Return how many cells of a tier are lacking, by data set; complete sets are left out."""
    n = int(protocols.TRAINING["resamples"])
    found: dict[str, dict] = {}
    lacking: Counter[str] = Counter()
    for block in protocols.blocks(tier, model):
        if block.variant not in found:
            every = edition.load_edition(block.variant) if records is None else records
            found[block.variant] = edition.by_cell(every, model)
        there = found[block.variant]
        cells = product([block.dataset], block.encodings, range(n))
        lacking[block.dataset] += sum(cell not in there for cell in cells)
    return {name: count for name, count in lacking.items() if count}


@dataclass(frozen=True)
class Decides:
    """Whether a data set decides rankings.

    Parameters
    ----------
    dataset : str
    p_above_largest_class, p_above_none : float
        By sign flips of whole resamples.
    """

    dataset: str
    p_above_largest_class: float
    p_above_none: float

    @property
    def learned(self) -> bool:
        """Whether the trainings are above the largest class."""
        return self.p_above_largest_class <= ANALYSIS["decides"]["level"]

    @property
    def yes(self) -> bool:
        """Whether the set is learned, and an encoding is above none."""
        return self.learned and self.p_above_none <= ANALYSIS["decides"]["level"]

    @property
    def reason(self) -> str:
        """Why it does not decide; empty if it does."""
        if not self.learned:
            return "nothing is above the largest class by more than luck"
        return "" if self.yes else "no encoding is above none by more than luck"


def decides(grid: Accuracies) -> list[Decides]:
    """Return for each data set whether it decides rankings.

    Parameters
    ----------
    grid : Accuracies

    Returns
    -------
    list of Decides, in the order of the grid.

    Examples
    --------
    >>> means = np.array([[0.70, 0.75, 0.71], [0.41, 0.40, 0.39]])
    >>> scores = means[:, :, None] + np.linspace(-0.02, 0.02, 5)
    >>> names = ("none", "rotary", "dft")
    >>> sets, floor = ("Libras", "FingerMovements"), np.full((2, 5), 0.45)
    >>> grid = Accuracies("patch", sets, names, scores, floor)
    >>> [(one.dataset, one.yes) for one in decides(grid)]
    [('Libras', True), ('FingerMovements', False)]
    """
    found = []
    for name, scores, floor in zip(grid.datasets, grid.scores, grid.largest_class, strict=True):
        above_floor = (scores - floor).mean(0, keepdims=True)
        above_none = scores[1:] - scores[:1]
        found.append(Decides(name, float(sign_flips(above_floor)), float(sign_flips(above_none))))
    return found


def learned(grid: Accuracies) -> Accuracies:
    """Return the units on which something is learned: what gains over `none` are judged on.

    Parameters
    ----------
    grid : Accuracies
        Of data sets.

    Returns
    -------
    Accuracies of units

    Examples
    --------
    >>> means = np.array([[0.70, 0.70, 0.70], [0.41, 0.40, 0.39]])
    >>> scores = means[:, :, None] + np.linspace(-0.02, 0.02, 5)
    >>> names = ("none", "rotary", "dft")
    >>> sets, floor = ("Libras", "FingerMovements"), np.full((2, 5), 0.45)
    >>> grid = Accuracies("patch", sets, names, scores, floor)
    >>> learned(grid).datasets
    ('Libras',)
    """
    return grid.only(one.dataset for one in decides(grid) if one.learned).units()


def deciding(grid: Accuracies) -> Accuracies:
    """Return the units that decide rankings: deciding sets, those that share series made one.

    Parameters
    ----------
    grid : Accuracies
        Of data sets.

    Returns
    -------
    Accuracies of units

    Examples
    --------
    >>> means = np.array([[0.70, 0.75, 0.71], [0.70, 0.70, 0.70]])
    >>> scores = means[:, :, None] + np.linspace(-0.02, 0.02, 5)
    >>> names = ("none", "rotary", "dft")
    >>> grid = Accuracies("patch", ("Chinatown", "Libras"), names, scores, np.full((2, 5), 0.45))
    >>> deciding(grid).datasets
    ('Pedestrians',)
    """
    return grid.only(one.dataset for one in decides(grid) if one.yes).units()


def sign_flips(differences: NDArray[np.float64]) -> float | NDArray[np.float64]:
    """Return how often flipped resamples reach the largest mean difference: a one-sided p-value."""
    n = differences.shape[-1]
    flips = np.array(list(product((1, -1), repeat=n)))
    means = np.round(differences @ flips.T / n, 12).max(-2)
    p_values = (means >= means[..., :1]).mean(-1)
    return p_values if p_values.ndim else float(p_values)


@dataclass(frozen=True)
class Gain(Answer):
    """What an encoding adds to `none` over units, corrected over the encodings.

    Parameters
    ----------
    probabilities : Probabilities
        Worse, equal, better by Bayesian signed ranks.
    wins, losses : int
        Units with a mean gain above and below 0, after rounding as the test does.
    n_units : int
    """

    probabilities: equality.Probabilities
    wins: int
    losses: int
    n_units: int

    @property
    def encoding(self) -> str:
        """What is compared with `none`."""
        return self.contrast


def gains(grid: Accuracies) -> list[Gain]:
    """Return the gain of each encoding over the rows of a grid of units, largest first."""
    names = grid.encodings[1:]
    cells = {name: grid.gains(name) for name in names}
    found = Family(f"over {grid.encodings[0]}", names, MARGIN).over_sets(cells)
    return sorted((_gain(found[name], cells[name]) for name in names), key=_largest_first)


def _largest_first(gain: Gain) -> float:
    return -round(gain.effect.mean, friedman.DECIMALS)


def judged(units: Accuracies) -> tuple[NDArray[np.float64], list[Gain]]:
    """Return the gain of each encoding on each unit, and the answers, as figures show them."""
    found = gains(units)
    return 100 * np.array([units.gains(one.encoding).mean(1) for one in found]), found


def _gain(found: Answer, cells: NDArray[np.float64]) -> Gain:
    means = friedman.set_means(cells).round(friedman.DECIMALS)
    return Gain(
        found.contrast,
        found.effect,
        found.p_value,
        found.p_equal,
        equality.signed_rank(cells, MARGIN),
        wins=int((means > 0).sum()),
        losses=int((means < 0).sum()),
        n_units=len(cells),
    )


def p_value_text(p_value: float) -> str:
    """Return a p-value with two digits, and never as 0.

    Parameters
    ----------
    p_value : float

    Returns
    -------
    str

    Examples
    --------
    >>> p_value_text(0.0312), p_value_text(0.00312)
    ('0.03', '0.003')
    """
    return f"{p_value:.2f}" if p_value >= 0.01 else f"{p_value:.1g}"


def verdict_text(one: Answer) -> str:
    """Return an answer with the p-value that it rests on: of equality, or of a difference."""
    p_value = one.p_equal if one.answer == EQUAL else one.p_value
    return f"{one.answer} ({p_value_text(p_value)})"


def points_text(effect: friedman.Effect) -> str:
    """Return a mean with its interval in points, such as "+2.5 [+0.0, +5.0]".

    Parameters
    ----------
    effect : Effect
        In shares of 1.

    Returns
    -------
    str

    Examples
    --------
    >>> points_text(friedman.effect([[0.03, 0.02], [0.01, 0.02], [0.04, 0.03]]))
    '+2.5 [+0.0, +5.0]'
    """
    mean, low, high = (100 * v for v in (effect.mean, effect.low, effect.high))
    return f"{mean:+z.1f} [{low:+z.1f}, {high:+z.1f}]"


def shown_text(gains: Sequence[Gain]) -> str:
    """Return how many gains the frozen test shows, such as "2 of 10 such gains are shown"."""
    n = sum(one.shown for one in gains)
    return f"{n or 'none'} of {len(gains)} such gains {'is' if n < 2 else 'are'} shown"


@dataclass(frozen=True)
class Ranking:
    """How encodings, without `none`, rank over data sets.

    Parameters
    ----------
    encodings : tuple of str
        Best first.
    ranks : tuple of float
        Average ranks; 1 is best.
    test : Friedman
        That all rank alike.
    groups : list of tuples of str
        Encodings that no pair tells apart, by Wilcoxon and Holm.
    """

    encodings: tuple[str, ...]
    ranks: tuple[float, ...]
    test: friedman.Friedman
    groups: list[tuple[str, ...]]


def ranking(grid: Accuracies) -> Ranking:
    """Return average ranks, Friedman's test, and the groups that are not told apart.

    Parameters
    ----------
    grid : Accuracies
        Of units, such as `deciding` gives.

    Returns
    -------
    Ranking

    Raises
    ------
    ValueError
        If there are fewer than two units or two encodings beside `none`.

    Examples
    --------
    >>> means = np.array([[0.70, 0.75, 0.69], [0.60, 0.66, 0.62], [0.80, 0.82, 0.79]])
    >>> scores = means[:, :, None] + np.linspace(-0.02, 0.02, 5)
    >>> sets, names = ("Libras", "NATOPS", "PenDigits"), ("none", "rotary", "dft")
    >>> found = ranking(Accuracies("patch", sets, names, scores, np.full((3, 5), 0.4)))
    >>> found.encodings, found.ranks, found.groups
    (('rotary', 'dft'), (1.0, 2.0), [('rotary', 'dft')])
    """
    names, means = grid.encodings[1:], grid.scores[:, 1:].mean(2)
    found = standing(means, names)
    return Ranking(found.encodings, found.ranks, friedman.friedman(means), found.groups)


def pairs_shown(grid: Accuracies, *, zeros: str = "pratt") -> int:
    """Return how many pairs of encodings, without `none`, are told apart: by Wilcoxon and Holm."""
    p_values = friedman.wilcoxon_holm(grid.scores[:, 1:].mean(2), zeros=zeros)
    return int((p_values[np.triu_indices_from(p_values, 1)] <= ALPHA).sum())


def gains_shown(grid: Accuracies, *, zeros: str = "pratt") -> int:
    """Return how many encodings are shown to help or to hurt: by Wilcoxon and Holm."""
    cells = [grid.gains(name) for name in grid.encodings[1:]]
    p_values = friedman.holm([friedman.wilcoxon(c, zeros=zeros).p_value for c in cells])
    return int((p_values <= ALPHA).sum())


def powers(grid: Accuracies, effect: float) -> dict[str, power.Power]:
    """Return for each encoding how often its test would show a mean gain of this size."""
    names = grid.encodings[1:]
    designs = {name: power.estimated_design(grid.gains(name)) for name in names}
    return {
        name: power.power(effect, design, alpha=ALPHA, n_tests=len(names))
        for name, design in designs.items()
    }


def _floors(baselines: Iterable[dict], metric: str) -> dict[tuple[str, int], float]:
    return {
        (b["dataset"], b["resample"]): b["metrics"][metric]
        for b in baselines
        if b["baseline"] == "largest_class"
    }
