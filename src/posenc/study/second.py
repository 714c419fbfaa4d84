"""What came out of the second edition, by the rules of `posenc.study.protocol`.

Which encodings help, on what, by how much, and how sure is that? A `Grid` holds the accuracies of
one model; everything else is computed from it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from posenc.bench import protocols
from posenc.data import official_only, recorded_facts
from posenc.study import edition, equality, friedman, power, results
from posenc.study.protocol import ANALYSIS

BASELINE = str(ANALYSIS["baseline"])
MARGIN = float(ANALYSIS["margin"])
ALPHA = float(ANALYSIS["alpha"])
FAMILIES: dict[str, list[str]] = ANALYSIS["families"]
TOKENS = {"time_series": "steps", "patch": "patches"}  # what a token is, by model
_FAMILY_OF = {name: family for family, sets in FAMILIES.items() for name in sets}


@dataclass(frozen=True)
class Grid:
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

    Examples
    --------
    >>> scores = np.array([[[0.7, 0.7], [0.8, 0.7]], [[0.5, 0.6], [0.6, 0.6]]])
    >>> sets = ("Chinatown", "MelbournePedestrian")
    >>> grid = Grid("patch", sets, ("none", "rotary"), scores, np.full((2, 2), 0.4))
    >>> grid.gains("rotary").round(3).tolist()
    [[0.1, 0.0], [0.1, 0.0]]
    >>> grid.units().datasets  # the same pedestrians are in both
    ('Pedestrians',)
    """

    model: str
    datasets: tuple[str, ...]
    encodings: tuple[str, ...]
    scores: NDArray[np.float64]
    largest_class: NDArray[np.float64]

    def gains(self, encoding: str) -> NDArray[np.float64]:
        """Return the differences from `none`, (n_datasets, n_resamples)."""
        return self.scores[:, self.encodings.index(encoding)] - self.scores[:, 0]

    def units(self) -> "Grid":
        """Return the grid with sets that share series made one, by their mean."""
        names = [unit_of(name) for name in self.datasets]
        units = tuple(dict.fromkeys(names))
        rows = [[i for i, name in enumerate(names) if name == unit] for unit in units]
        scores = np.array([self.scores[r].mean(0) for r in rows])
        floor = np.array([self.largest_class[r].mean(0) for r in rows])
        return Grid(self.model, units, self.encodings, scores, floor)

    def compare(self, encodings: Sequence[str]) -> "Grid":
        """Return the grid with some of its encodings, the first of which all are compared with."""
        columns = [self.encodings.index(name) for name in encodings]
        scores = self.scores[:, columns]
        return Grid(self.model, self.datasets, tuple(encodings), scores, self.largest_class)

    def only(self, datasets: Iterable[str]) -> "Grid":
        """Return the part of some data sets, in this grid's order."""
        wanted = set(datasets)
        kept = [i for i, name in enumerate(self.datasets) if name in wanted]
        names = tuple(self.datasets[i] for i in kept)
        return Grid(self.model, names, self.encodings, self.scores[kept], self.largest_class[kept])


def unit_of(dataset: str) -> str:
    """Return the independent unit of a data set: its family, or itself.

    Parameters
    ----------
    dataset : str

    Returns
    -------
    str

    Examples
    --------
    >>> unit_of("Chinatown"), unit_of("Libras")
    ('Pedestrians', 'Libras')
    """
    return _FAMILY_OF.get(dataset, dataset)


def share_of_test(dataset: str) -> float:
    """Return by how much the trainings on two resamples go together: the share of the test part.

    Parameters
    ----------
    dataset : str

    Returns
    -------
    float
        0 for a set with a single split, whose seeds share no draw of series.

    Raises
    ------
    ValueError
        If there is no such data set.

    Examples
    --------
    >>> share_of_test("Libras"), share_of_test("PenDigits")
    (0.5, 0.0)
    """
    facts = recorded_facts(dataset)
    return 0.0 if official_only(dataset) else facts.test / (facts.train + facts.test)


def members(unit: str) -> list[str]:
    """Return the data sets of an independent unit: those of a family, or the set itself.

    Parameters
    ----------
    unit : str

    Returns
    -------
    list of str

    Examples
    --------
    >>> members("Pedestrians"), members("Libras")
    (['MelbournePedestrian', 'Chinatown'], ['Libras'])
    """
    return FAMILIES.get(unit, [unit])


def load(
    model: str,
    *,
    metric: str = "accuracy",
    encodings: Sequence[str] | None = None,
    variant: str = "",
    every: bool = False,
    records: Iterable[dict] | None = None,
    baselines: Iterable[dict] | None = None,
) -> Grid:
    """Return the data sets of a model that belong to the edition (see `posenc.study.edition`).

    Parameters
    ----------
    model : str
        "patch" or "time_series".
    metric : str
        A score of the records.
    encodings : sequence of str, optional
        "none" and those to compare with it; by default those of tier 1, or of the variant.
    variant : str
        A name of `posenc.bench.protocols.VARIANTS`; empty for the models of tier 1.
    every : bool
        Whether to take in all complete data sets, also those that came after the edition.
    records, baselines : iterable of dict, optional
        Lines of `second-*.jsonl` and of `baselines/`; by default the book's. Given records have no
        edition: all complete data sets are taken in.

    Returns
    -------
    Grid

    Raises
    ------
    ValueError
        If no data set is complete, or one of the edition is not, or its largest class is not
        stored.

    Examples
    --------
    >>> grid = load("patch")  # of the book's results
    >>> grid.encodings[:3], grid.scores.shape[1:]
    (('none', 'sinusoidal', 'learnable'), (11, 5))
    """
    if encodings is None:
        encodings = protocols.COMPARED[variant] if variant else protocols.ENCODINGS
    frozen = records is None and not every
    records = edition.stored(variant) if records is None else records
    baselines = results.baselines() if baselines is None else baselines
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
                f"python -m posenc.bench baselines --datasets {name}"
            )
    floor = [[floors.get((d, r), floors[d, 0]) for r in range(n)] for d in complete]
    return Grid(model, tuple(complete), tuple(encodings), np.array(scores), np.array(floor))


def missing(model: str, tier: int = 1, records: Iterable[dict] | None = None) -> dict[str, int]:
    """Return how many cells of a tier are lacking, by data set; complete sets are left out.

    Parameters
    ----------
    model : str
        "patch" or "time_series".
    tier : int
        Of `posenc.bench.protocols`.
    records : iterable of dict, optional
        Lines of `second-*.jsonl`; by default the book's.

    Returns
    -------
    dict of str to int

    Raises
    ------
    ValueError
        If there is no such model or tier.

    Examples
    --------
    >>> missing("patch", tier=1, records=[])["Libras"]  # 11 encodings, 5 resamples
    55
    """
    n = int(protocols.TRAINING["resamples"])
    found: dict[str, dict] = {}
    lacking: Counter[str] = Counter()
    for block in protocols.blocks(tier, model):
        if block.variant not in found:
            every = edition.stored(block.variant) if records is None else records
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

    Examples
    --------
    >>> Decides("FingerMovements", p_above_largest_class=0.5, p_above_none=0.03).reason
    'nothing is above the largest class by more than luck'
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


def decides(grid: Grid) -> list[Decides]:
    """Return for each data set whether it decides rankings.

    Parameters
    ----------
    grid : Grid

    Returns
    -------
    list of Decides, in the order of the grid.

    Examples
    --------
    >>> means = np.array([[0.70, 0.75, 0.71], [0.41, 0.40, 0.39]])
    >>> scores = means[:, :, None] + np.linspace(-0.02, 0.02, 5)
    >>> names = ("none", "rotary", "dft")
    >>> grid = Grid("patch", ("Libras", "FingerMovements"), names, scores, np.full((2, 5), 0.45))
    >>> [(one.dataset, one.yes) for one in decides(grid)]
    [('Libras', True), ('FingerMovements', False)]
    """
    found = []
    for name, scores, floor in zip(grid.datasets, grid.scores, grid.largest_class, strict=True):
        above_floor = (scores - floor).mean(0, keepdims=True)
        above_none = scores[1:] - scores[:1]
        found.append(Decides(name, float(sign_flips(above_floor)), float(sign_flips(above_none))))
    return found


def learned(grid: Grid) -> Grid:
    """Return the units on which something is learned: what gains over `none` are judged on.

    Parameters
    ----------
    grid : Grid
        Of data sets.

    Returns
    -------
    Grid of units

    Examples
    --------
    >>> means = np.array([[0.70, 0.70, 0.70], [0.41, 0.40, 0.39]])
    >>> scores = means[:, :, None] + np.linspace(-0.02, 0.02, 5)
    >>> names = ("none", "rotary", "dft")
    >>> grid = Grid("patch", ("Libras", "FingerMovements"), names, scores, np.full((2, 5), 0.45))
    >>> learned(grid).datasets
    ('Libras',)
    """
    return grid.only(one.dataset for one in decides(grid) if one.learned).units()


def deciding(grid: Grid) -> Grid:
    """Return the units that decide rankings: deciding sets, those that share series made one.

    Parameters
    ----------
    grid : Grid
        Of data sets.

    Returns
    -------
    Grid of units

    Examples
    --------
    >>> means = np.array([[0.70, 0.75, 0.71], [0.70, 0.70, 0.70]])
    >>> scores = means[:, :, None] + np.linspace(-0.02, 0.02, 5)
    >>> names = ("none", "rotary", "dft")
    >>> grid = Grid("patch", ("Chinatown", "Libras"), names, scores, np.full((2, 5), 0.45))
    >>> deciding(grid).datasets
    ('Pedestrians',)
    """
    return grid.only(one.dataset for one in decides(grid) if one.yes).units()


def sign_flips(differences: NDArray[np.float64]) -> float | NDArray[np.float64]:
    """Return how often flipped resamples reach the largest mean difference: a one-sided p-value.

    Parameters
    ----------
    differences : array of shape (..., n_methods, n_resamples)
        All methods of one resample are flipped together, so that the largest of several
        differences is compared with the largest of several.

    Returns
    -------
    float, or array of shape (...) for several sets
        At least 1 / 2**n_resamples: 0.031 with five.

    Examples
    --------
    >>> sign_flips(np.array([[0.03, 0.02, 0.04, 0.01, 0.03]]))
    0.03125
    >>> sign_flips(np.array([[0.03, -0.02, 0.04, 0.01, 0.03]]))
    0.09375
    """
    n = differences.shape[-1]
    flips = np.array(list(product((1, -1), repeat=n)))
    means = np.round(differences @ flips.T / n, 12).max(-2)
    p_values = (means >= means[..., :1]).mean(-1)
    return p_values if p_values.ndim else float(p_values)


class Judged(Protocol):
    """What has an answer and the two p-values behind it.

    Examples
    --------
    >>> found = friedman.effect([0.001, -0.002, 0.002])
    >>> equal = equality.Probabilities(0.0, 1.0, 0.0)
    >>> one: Judged = Gain("dft", found, 1.0, 0.02, equal, wins=2, losses=1, n_units=3)
    >>> one.answer, one.p_equal
    ('no difference', 0.02)
    """

    @property
    def p_value(self) -> float: ...
    @property
    def p_equal(self) -> float: ...
    @property
    def answer(self) -> str:
        """The verdict."""


@dataclass(frozen=True)
class Gain:
    """What an encoding adds to `none` over units.

    Parameters
    ----------
    encoding : str
    effect : Effect
        Mean gain with its 95 % interval.
    p_value : float
        Wilcoxon, adjusted by Holm over the encodings.
    p_equal : float
        Two one-sided t tests within the margin, adjusted likewise.
    probabilities : Probabilities
        Worse, equal, better by Bayesian signed ranks.
    wins, losses : int
        Units with a mean gain above and below 0, after rounding as the test does.
    n_units : int

    Examples
    --------
    >>> found = friedman.effect([0.001, -0.002, 0.002])
    >>> equal = equality.Probabilities(0.0, 1.0, 0.0)
    >>> gain = Gain("dft", found, 1.0, 0.02, equal, wins=2, losses=1, n_units=3)
    >>> gain.shown, gain.answer
    (False, 'no difference')
    """

    encoding: str
    effect: friedman.Effect
    p_value: float
    p_equal: float
    probabilities: equality.Probabilities
    wins: int
    losses: int
    n_units: int

    @property
    def shown(self) -> bool:
        """Whether it is shown to differ from 0."""
        return self.p_value <= ALPHA

    @property
    def answer(self) -> str:
        """One of "helps", "hurts", "no difference", "open"."""
        if self.shown:
            return "helps" if self.effect.mean > 0 else "hurts"
        return "no difference" if self.p_equal <= ALPHA else "open"


def gains(grid: Grid) -> list[Gain]:
    """Return the gain of each encoding over the rows of a grid of units, largest first.

    Parameters
    ----------
    grid : Grid
        Of units, such as `learned` gives.

    Returns
    -------
    list of Gain

    Raises
    ------
    ValueError
        If there are fewer than two units.

    Examples
    --------
    >>> means = np.array([[0.70, 0.75, 0.69], [0.60, 0.66, 0.62], [0.80, 0.82, 0.79]])
    >>> scores = means[:, :, None] + np.linspace(-0.02, 0.02, 5)
    >>> sets, names = ("Libras", "NATOPS", "PenDigits"), ("none", "rotary", "dft")
    >>> found = gains(Grid("patch", sets, names, scores, np.full((3, 5), 0.4)))
    >>> [(one.encoding, str(one.effect), one.answer) for one in found]
    [('rotary', '+0.043 [-0.008, +0.095]', 'open'), ('dft', '+0.000 [-0.043, +0.043]', 'open')]
    """
    names = grid.encodings[1:]
    cells = [grid.gains(name) for name in names]
    p_values = friedman.holm([friedman.wilcoxon(c).p_value for c in cells])
    p_equal = friedman.holm([equality.tost(c, MARGIN).p_value for c in cells])
    rows = zip(names, cells, p_values, p_equal, strict=True)
    return sorted((_gain(*row) for row in rows), key=_largest_first)


def _largest_first(gain: Gain) -> float:
    return -round(gain.effect.mean, friedman.DECIMALS)


def judged(units: Grid) -> tuple[NDArray[np.float64], list[Gain]]:
    """Return the gain of each encoding on each unit, and the answers, as figures show them.

    Parameters
    ----------
    units : Grid
        As `learned` returns it.

    Returns
    -------
    array of shape (n_encodings, n_units), list of Gain
        Mean gains over resamples in points, and the answers in the same order.

    Raises
    ------
    ValueError
        If there are fewer than two units.

    Examples
    --------
    >>> scores = np.full((3, 2, 5), 0.7) + 0.1 * np.arange(2)[None, :, None]
    >>> units = Grid("patch", ("A", "B", "C"), ("none", "rotary"), scores, np.full((3, 5), 0.4))
    >>> judged(units)[0].round(1).tolist()
    [[10.0, 10.0, 10.0]]
    """
    found = gains(units)
    return 100 * np.array([units.gains(one.encoding).mean(1) for one in found]), found


def _gain(name: str, cells: NDArray[np.float64], p_value: float, p_equal: float) -> Gain:
    means = friedman.set_means(cells).round(friedman.DECIMALS)
    return Gain(
        name,
        friedman.effect(cells),
        float(p_value),
        float(p_equal),
        equality.signed_rank(cells, MARGIN),
        wins=int((means > 0).sum()),
        losses=int((means < 0).sum()),
        n_units=len(cells),
    )


def said_p(p_value: float) -> str:
    """Return a p-value with two digits, and never as 0.

    Parameters
    ----------
    p_value : float

    Returns
    -------
    str

    Examples
    --------
    >>> said_p(0.0312), said_p(0.00312)
    ('0.03', '0.003')
    """
    return f"{p_value:.2f}" if p_value >= 0.01 else f"{p_value:.1g}"


def said_verdict(one: Judged, answer: str = "") -> str:
    """Return an answer with the p-value that it rests on: of equality, or of a difference.

    Parameters
    ----------
    one : Judged
        Such as a `Gain`.
    answer : str, optional
        Other words for its answer.

    Returns
    -------
    str

    Examples
    --------
    >>> found = friedman.effect([0.001, -0.002, 0.002])
    >>> equal = equality.Probabilities(0.0, 1.0, 0.0)
    >>> said_verdict(Gain("dft", found, 1.0, 0.02, equal, wins=2, losses=1, n_units=3))
    'no difference (0.02)'
    """
    p_value = one.p_equal if one.answer == "no difference" else one.p_value
    return f"{answer or one.answer} ({said_p(p_value)})"


def said_points(effect: friedman.Effect) -> str:
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
    >>> said_points(friedman.effect([[0.03, 0.02], [0.01, 0.02], [0.04, 0.03]]))
    '+2.5 [+0.0, +5.0]'
    """
    mean, low, high = (100 * v for v in (effect.mean, effect.low, effect.high))
    return f"{mean:+z.1f} [{low:+z.1f}, {high:+z.1f}]"


def said_shown(gains: Sequence[Gain]) -> str:
    """Return how many gains the frozen test shows, such as "2 of 10 such gains are shown".

    Parameters
    ----------
    gains : sequence of Gain

    Returns
    -------
    str

    Examples
    --------
    >>> said_shown(gains(learned(load("time_series")))).endswith("shown")
    True
    """
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

    Examples
    --------
    >>> means = np.array([[0.9, 0.8, 0.7]] * 3)
    >>> found = Ranking(("rotary", "dft", "tape"), (1.0, 2.0, 3.0), friedman.friedman(means), [])
    >>> found.encodings[0], round(found.test.p_value, 3)
    ('rotary', 0.028)
    """

    encodings: tuple[str, ...]
    ranks: tuple[float, ...]
    test: friedman.Friedman
    groups: list[tuple[str, ...]]


@dataclass(frozen=True)
class Standing:
    """Methods with their average ranks, best first, and the groups that are not told apart.

    Parameters
    ----------
    encodings : tuple of str
    ranks : tuple of float
        1 is best.
    groups : list of tuples of str

    Examples
    --------
    >>> Standing(("rotary", "dft"), (1.2, 1.8), [("rotary", "dft")]).groups
    [('rotary', 'dft')]
    """

    encodings: tuple[str, ...]
    ranks: tuple[float, ...]
    groups: list[tuple[str, ...]]


def standing(scores: NDArray[np.float64], names: Sequence[str], *, alpha: float = 0.05) -> Standing:
    """Return what a critical-difference diagram shows.

    Parameters
    ----------
    scores : array of shape (n_sets, n_methods)
    names : sequence of str
        Of the methods.
    alpha : float
        As for `posenc.study.friedman.cliques`.

    Returns
    -------
    Standing

    Raises
    ------
    ValueError
        As for `posenc.study.friedman.cliques`.

    Examples
    --------
    >>> standing([[0.7, 0.9], [0.6, 0.8]], ["dft", "rotary"]).encodings
    ('rotary', 'dft')
    """
    ranks = friedman.average_ranks(scores)
    order = np.argsort(ranks, kind="stable")
    return Standing(
        tuple(names[i] for i in order),
        tuple(float(ranks[i]) for i in order),
        [tuple(names[i] for i in group) for group in friedman.cliques(scores, alpha=alpha)],
    )


def ranking(grid: Grid) -> Ranking:
    """Return average ranks, Friedman's test, and the groups that are not told apart.

    Parameters
    ----------
    grid : Grid
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
    >>> found = ranking(Grid("patch", sets, names, scores, np.full((3, 5), 0.4)))
    >>> found.encodings, found.ranks, found.groups
    (('rotary', 'dft'), (1.0, 2.0), [('rotary', 'dft')])
    """
    names, means = grid.encodings[1:], grid.scores[:, 1:].mean(2)
    found = standing(means, names)
    return Ranking(found.encodings, found.ranks, friedman.friedman(means), found.groups)


def pairs_shown(grid: Grid, *, zeros: str = "pratt") -> int:
    """Return how many pairs of encodings, without `none`, are told apart: by Wilcoxon and Holm.

    Parameters
    ----------
    grid : Grid
        Of units, such as `deciding` gives.
    zeros : "pratt" or "wilcox"
        What becomes of units on which two encodings tie, see `posenc.study.friedman.wilcoxon`.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there are fewer than two units or two encodings beside `none`.

    Examples
    --------
    >>> scores = np.arange(3.0)[:, None] / 10 + np.arange(7)[:, None, None] / 100 + np.zeros(5)
    >>> sets, names = tuple("ABCDEFG"), ("none", "rotary", "dft")
    >>> pairs_shown(Grid("patch", sets, names, scores, np.zeros((7, 5))))
    1
    """
    p_values = friedman.wilcoxon_holm(grid.scores[:, 1:].mean(2), zeros=zeros)
    return int((p_values[np.triu_indices_from(p_values, 1)] <= ALPHA).sum())


def gains_shown(grid: Grid, *, zeros: str = "pratt") -> int:
    """Return how many encodings are shown to help or to hurt: by Wilcoxon and Holm.

    Parameters
    ----------
    grid : Grid
        Of units, such as `learned` gives.
    zeros : "pratt" or "wilcox"
        What becomes of units on which an encoding ties with `none`.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there is no unit.

    Examples
    --------
    >>> scores = np.arange(3.0)[:, None] / 10 + np.arange(7)[:, None, None] / 100 + np.zeros(5)
    >>> sets, names = tuple("ABCDEFG"), ("none", "rotary", "dft")
    >>> gains_shown(Grid("patch", sets, names, scores, np.zeros((7, 5))))
    2
    """
    cells = [grid.gains(name) for name in grid.encodings[1:]]
    p_values = friedman.holm([friedman.wilcoxon(c, zeros=zeros).p_value for c in cells])
    return int((p_values <= ALPHA).sum())


def powers(grid: Grid, effect: float) -> dict[str, power.Power]:
    """Return for each encoding how often its test would show a mean gain of this size.

    Parameters
    ----------
    grid : Grid
        Of units, with gains as the pilot.
    effect : float
        Mean gain, a share of 1.

    Returns
    -------
    dict of str to Power

    Raises
    ------
    ValueError
        If there are fewer than two units or resamples, or the gains of an encoding are all equal.

    Examples
    --------
    >>> means = np.array([[0.70, 0.75], [0.60, 0.66], [0.80, 0.82], [0.5, 0.54], [0.6, 0.63]])
    >>> scores = means[:, :, None] + np.linspace(-0.02, 0.02, 5)
    >>> sets = ("Libras", "NATOPS", "PenDigits", "LSST", "RacketSports")
    >>> grid = Grid("patch", sets, ("none", "rotary"), scores, np.full((5, 5), 0.2))
    >>> powers(grid, 0.1)["rotary"].value  # five signs alone never reach a level of 0.05
    0.0
    """
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
