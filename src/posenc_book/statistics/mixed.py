"""On which data sets, and in which models, do encodings gain more over no encoding?

One linear mixed model of the gain over `none` in place of many counts of signs: `gain_model` has
fixed effects of length, channels, training size, norm and tokens, and random effects of all that
the rows share: the set, the encoding, the pair of both, what a token is on a set, the norm on a
set, the model on a set, and the training without an encoding that all gains of one resample are
measured against. Leaving the last out would count one lucky baseline ten times; leaving out what
tokens and norms have on a set would count a set with two norms as two answers about its tokens.
`fit` takes any fixed effects and groups.

The model is fitted by restricted maximum likelihood (REML); intervals are Student's, with
Satterthwaite's degrees of freedom, because what varies between forty sets has no more than forty
observations, however many trainings there were. It is written here because the `MixedLM` of
statsmodels gives normal intervals only, took two minutes on a simulated table of 3,800 gains with
crossed groups, and did not converge; the tests compare with the printed output of lme4.

Sources: Bates, Mächler, Bolker and Walker (2015), Fitting linear mixed-effects models using lme4,
section 3, for the criterion; Kuznetsova, Brockhoff and Christensen (2017), lmerTest, for
Satterthwaite's method.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, optimize, sparse, special

from posenc import _checks

# Of a set: per doubling. Of a model: one level against another.
NUMERIC = ("length", "channels", "train_size")
FIXED = (*NUMERIC, "norm", "tokens")
RANDOM = (
    "set",
    "encoding",
    "set:encoding",
    "set:tokens",
    "set:norm",
    "set:tokens:norm",
    "set:tokens:norm:resample",
)

RELATIVE_STEP = 1e-3  # of the numerical derivatives


@dataclass(frozen=True)
class Coefficient:
    """A fixed effect.

    Parameters
    ----------
    estimate, error : float
        The effect and its standard error, in the unit of the response.
    freedom : float
        Satterthwaite's degrees of freedom.
    low, high : float
        Student's interval.
    p_value : float
        Two-sided, that the effect is 0; not corrected for other effects.

    Examples
    --------
    >>> print(Coefficient(0.02, 0.005, 12.0, 0.009, 0.031, 0.0017))
    +0.02 [+0.009, +0.031], p 0.0017
    """

    estimate: float
    error: float
    freedom: float
    low: float
    high: float
    p_value: float

    def __str__(self) -> str:
        return f"{self.estimate:+.4g} [{self.low:+.4g}, {self.high:+.4g}], p {self.p_value:.2g}"


@dataclass(frozen=True)
class MixedModel:
    """A fitted model.

    Parameters
    ----------
    coefficients : mapping of str to Coefficient
        "mean" first: of rows with average numbers, halfway between the levels.
    spreads : mapping of str to float
        Standard deviation of each group's effects, and of the "residual".
    effects : mapping of str to mapping of label to float
        Predicted effects of each group's levels, drawn towards 0 as far as they are uncertain.
    dropped : mapping of str to str
        Groups that these data cannot tell from something else, and from what.
    criterion : float
        Minus twice the restricted log-likelihood.
    level : float
        Coverage of the intervals.
    n_rows : int

    Examples
    --------
    >>> model = fit([1.0, 1.2, 2.1, 2.3, 3.0, 3.3], {}, {"set": ["A", "A", "B", "B", "C", "C"]})
    >>> list(model.coefficients), list(model.spreads), model.n_rows
    (['mean'], ['set', 'residual'], 6)
    """

    coefficients: Mapping[str, Coefficient]
    spreads: Mapping[str, float]
    effects: Mapping[str, Mapping[str, float]]
    dropped: Mapping[str, str]
    criterion: float
    level: float
    n_rows: int


def gain_model(
    table: Mapping[str, ArrayLike],
    *,
    fixed: Sequence[str] = FIXED,
    random: Sequence[str] = RANDOM,
    level: float = 0.95,
) -> MixedModel:
    """Return the mixed model of the gain over no encoding.

    Parameters
    ----------
    table : mapping of str to array of shape (n_rows,), such as a pandas DataFrame
        A row is a training with an encoding, its `gain` the score minus that of the training
        without one on the same `set`, `resample`, `tokens` and `norm`; further columns are
        `encoding`, `length`, `channels` and `train_size`.
    fixed : names of columns
        Numbers (length, channels, training size) count by their binary logarithm, so that a
        coefficient is the gain per doubling; columns of labels by the difference of each level
        from the first in the alphabet. Leave out what does not vary.
    random : names of columns, or several joined by ":"
        Groups with an effect of their own. Groups that the data cannot tell apart are dropped and
        named.
    level : float
        Coverage of the intervals.

    Returns
    -------
    MixedModel

    Raises
    ------
    ValueError
        If a column is missing, does not vary, or is a combination of others.

    Examples
    --------
    >>> table = {
    ...     "gain": [0.01, 0.02, 0.03, 0.05, 0.06, 0.05, 0.08, 0.09],
    ...     "set": ["A", "A", "B", "B", "C", "C", "D", "D"],
    ...     "length": [24, 24, 48, 48, 96, 96, 192, 192],
    ... }
    >>> model = gain_model(table, fixed=["length"], random=["set"])
    >>> round(model.coefficients["length, per doubling"].estimate, 3)
    0.023
    """
    columns = {}
    for name in fixed:
        columns |= _fixed_columns(name, _column(table, name))
    groups = {term: _joined([_column(table, n) for n in term.split(":")]) for term in random}
    return fit(_column(table, "gain"), columns, groups, level=level)


def fit(
    response: ArrayLike,
    fixed: Mapping[str, ArrayLike],
    random: Mapping[str, Sequence],
    *,
    level: float = 0.95,
) -> MixedModel:
    """Return a linear mixed model with independent groups, by REML.

    Parameters
    ----------
    response : array of shape (n_rows,)
    fixed : mapping of str to array of shape (n_rows,)
        Columns beside the "mean", which is always in the model.
    random : mapping of str to labels of shape (n_rows,)
        The group of each row; groups may be crossed or nested.
    level : float
        Coverage of the intervals.

    Returns
    -------
    MixedModel

    Raises
    ------
    ValueError
        If shapes differ, a value is not finite, columns depend on each other, no group is left, or
        there are too few rows.

    Examples
    --------
    >>> model = fit([1.0, 1.2, 2.1, 2.3, 3.0, 3.3], {}, {"set": ["A", "A", "B", "B", "C", "C"]})
    >>> round(model.coefficients["mean"].estimate, 2)
    2.15
    >>> {name: round(spread, 2) for name, spread in model.spreads.items()}
    {'set': 1.02, 'residual': 0.17}
    """
    level = _checks.probability("level", level)
    y = _checks.finite_array("response", response, ndim=1).astype(float)
    if not y.size or not np.ptp(y):
        raise ValueError(f"response must vary, got {y.size} rows that do not")
    names, x = _design(fixed, y.size)
    groups, dropped = _groups(random, y.size)
    reml = _Reml(y, x, [codes for codes, _ in groups.values()])
    ratios = reml.best_ratios()
    found = reml.at(ratios)
    sigma = float(np.sqrt(found.squares / reml.freedom))
    labels = {name: known for name, (_, known) in groups.items()}
    parts = np.split(found.effects, np.cumsum([len(known) for known in labels.values()])[:-1])
    return MixedModel(
        coefficients=_coefficients(names, reml, ratios, found, sigma, level),
        spreads={
            **{name: float(r * sigma) for name, r in zip(labels, ratios, strict=True)},
            "residual": sigma,
        },
        effects={
            name: dict(zip(known, map(float, part), strict=True))
            for (name, known), part in zip(labels.items(), parts, strict=True)
        },
        dropped=dropped,
        criterion=float(reml.criterion(found)),
        level=level,
        n_rows=y.size,
    )


@dataclass(frozen=True)
class _State:
    """The model at given ratios of spreads, everything else at its best."""

    log_determinants: float
    squares: float  # residuals and effects, in units of the residual variance
    beta: NDArray
    covariance: NDArray  # of beta, in the same units
    effects: NDArray


class _Reml:
    """The restricted likelihood as a function of ratios, spread of a group to the residual's.

    Bates et al. (2015), section 3.4: the groups' effects are solved for by one Cholesky factor, as
    large as there are levels. No row has two levels of one group, so the levels of the largest
    group come first, where their part of the factor is diagonal.
    """

    def __init__(self, y: NDArray, x: NDArray, codes: list[NDArray]) -> None:
        rows = np.arange(y.size)
        blocks = [sparse.csr_array((np.ones(y.size), (rows, c))) for c in codes]
        z = sparse.hstack(blocks).tocsr()
        self.sizes = [block.shape[1] for block in blocks]
        group = np.repeat(np.arange(len(codes)), self.sizes)
        largest = group == np.argmax(self.sizes)
        self.first, self.rest = np.flatnonzero(largest), np.flatnonzero(~largest)
        zz = (z.T @ z).toarray()
        self.counts, self.zz = zz.diagonal()[self.first], zz[np.ix_(self.rest, self.rest)]
        self.between, self.z_xy = zz[np.ix_(self.rest, self.first)], z.T @ np.column_stack([x, y])
        self.xx, self.xy, self.yy = x.T @ x, x.T @ y, y @ y
        self.freedom = y.size - x.shape[1]

    def at(self, ratios: NDArray) -> _State:
        scale = np.repeat(ratios, self.sizes)
        first, rest = scale[self.first], scale[self.rest]
        root = np.sqrt(self.counts * first**2 + 1)  # the factor is [[root, 0], [across, lower]]
        across = self.between * rest[:, None] * (first / root)
        inner = self.zz * rest[:, None] * rest - across @ across.T
        inner[np.diag_indices_from(inner)] += 1
        lower = np.linalg.cholesky(inner)
        above = (first / root)[:, None] * self.z_xy[self.first]
        below = rest[:, None] * self.z_xy[self.rest] - across @ above
        below = linalg.solve_triangular(lower, below, lower=True)
        solved = np.concatenate([above, below])
        zx, zy = solved[:, :-1], solved[:, -1]
        left, right = self.xx - zx.T @ zx, self.xy - zx.T @ zy
        beta = linalg.solve(left, right, assume_a="pos")
        left_over, effects = np.split(zy - zx @ beta, [root.size]), np.empty(scale.size)
        effects[self.rest] = linalg.solve_triangular(lower.T, left_over[1], lower=False)
        effects[self.first] = (left_over[0] - effects[self.rest] @ across) / root
        return _State(
            2 * np.log([*root, *np.diag(lower)]).sum() + np.linalg.slogdet(left)[1],
            float(self.yy - zy @ zy - right @ beta),
            beta,
            linalg.inv(left),
            scale * effects,
        )

    def criterion(self, state: _State) -> float:
        """Return minus twice the restricted log-likelihood at the best residual variance."""
        return state.log_determinants + self.freedom * (
            1 + np.log(2 * np.pi * state.squares / self.freedom)
        )

    def best_ratios(self) -> NDArray[np.float64]:
        """Return the ratios at which the likelihood is highest; 0 where a group has no effects.

        The squares are searched: at a ratio of 0 the slope by the ratio itself is always 0.
        """
        n = len(self.sizes)
        found = optimize.minimize(
            lambda squared: self.criterion(self.at(np.sqrt(squared))),
            np.full(n, 0.5),
            method="L-BFGS-B",
            bounds=[(0, None)] * n,
            options={"ftol": 1e-12, "gtol": 1e-4, "eps": 1e-6},
        )
        return np.sqrt(found.x)


def _coefficients(
    names: list[str],
    reml: _Reml,
    ratios: NDArray,
    found: _State,
    sigma: float,
    level: float,
) -> dict[str, Coefficient]:
    """Return the fixed effects with Satterthwaite's degrees of freedom."""
    variances = sigma**2 * np.diag(found.covariance)
    spread, slopes = _uncertainty(reml, ratios, found, sigma)
    noise = np.einsum("ic,ij,jc->c", slopes, spread, slopes)
    freedom = np.clip(2 * variances**2 / np.maximum(noise, 1e-300), 1, reml.freedom)
    errors = np.sqrt(variances)
    half = special.stdtrit(freedom, (1 + level) / 2) * errors
    p_values = 2 * special.stdtr(freedom, -np.abs(found.beta) / errors)
    rows = np.column_stack(
        [found.beta, errors, freedom, found.beta - half, found.beta + half, p_values]
    )
    return {name: Coefficient(*map(float, row)) for name, row in zip(names, rows, strict=True)}


def _uncertainty(
    reml: _Reml, ratios: NDArray, found: _State, sigma: float
) -> tuple[NDArray, NDArray]:
    """Return the covariance of (ratios, sigma), and the slopes of the variances of beta by them.

    The first is twice the inverse of the criterion's second derivatives, which are differences in
    the ratios and closed forms in sigma. Directions in which the criterion is flat are left out, as
    lmerTest does.
    """
    n = ratios.size
    steps = RELATIVE_STEP * np.maximum(ratios, 0.1)
    near = {}

    def at(*moves: tuple[int, int]) -> tuple[float, float, NDArray]:
        key = tuple(sorted(moves))
        if key not in near:
            moved = ratios.copy()
            for place, sign in moves:
                moved[place] += sign * steps[place]
            state = reml.at(moved)
            fixed_sigma = state.log_determinants + state.squares / sigma**2
            near[key] = fixed_sigma, state.squares, np.diag(state.covariance)
        return near[key]

    curvature, slopes = np.zeros((n + 1, n + 1)), np.zeros((n + 1, found.beta.size))
    for i in range(n):
        up, down = at((i, 1)), at((i, -1))
        curvature[i, i] = (up[0] - 2 * at()[0] + down[0]) / steps[i] ** 2
        curvature[i, n] = curvature[n, i] = -(up[1] - down[1]) / steps[i] / sigma**3
        slopes[i] = sigma**2 * (up[2] - down[2]) / (2 * steps[i])
        for j in range(i):
            same = at((i, 1), (j, 1))[0] + at((i, -1), (j, -1))[0]
            other = at((i, 1), (j, -1))[0] + at((i, -1), (j, 1))[0]
            curvature[i, j] = curvature[j, i] = (same - other) / (4 * steps[i] * steps[j])
    curvature[n, n] = 4 * reml.freedom / sigma**2
    slopes[n] = 2 * sigma * np.diag(found.covariance)
    values, vectors = np.linalg.eigh(curvature)
    kept = values > 1e-8 * values.max()
    return 2 * (vectors[:, kept] / values[kept]) @ vectors[:, kept].T, slopes


def _column(table: Mapping[str, ArrayLike], name: str) -> NDArray:
    try:
        return np.asarray(table[name])
    except KeyError as error:
        raise ValueError(f"table must have a column {name!r}, got {', '.join(table)}") from error


def _joined(columns: list[NDArray]) -> list[str]:
    """Return one label a row from several columns."""
    return [":".join(map(str, row)) for row in zip(*columns, strict=True)]


def _fixed_columns(name: str, values: NDArray) -> dict[str, NDArray]:
    """Return the columns of a fixed effect: a centred logarithm, or levels against the first."""
    if name in NUMERIC:
        values = _checks.finite_array(name, values, ndim=1)
        if (values <= 0).any():
            raise ValueError(f"{name} must be above 0, got {values.min()}")
        logs = np.log2(values)
        return {f"{name}, per doubling": logs - logs.mean()}
    first, *others = sorted({str(value) for value in values})
    known = np.array([str(value) for value in values])
    if not others:
        raise ValueError(f"{name} has the one value {first!r}: leave it out of fixed")
    # halfway between the levels all columns are 0
    return {f"{name}: {o} - {first}": (known == o) - 1 / (1 + len(others)) for o in others}


def _design(fixed: Mapping[str, ArrayLike], n_rows: int) -> tuple[list[str], NDArray]:
    columns = {"mean": np.ones(n_rows)}
    for name, values in fixed.items():
        columns[name] = _checks.finite_array(name, values, ndim=1).astype(float)
        if columns[name].size != n_rows:
            raise ValueError(f"{name} must have {n_rows} rows, got {columns[name].size}")
    x = np.column_stack(list(columns.values()))
    for last in range(1, x.shape[1] + 1):
        if np.linalg.matrix_rank(x[:, :last]) < last:
            name = list(columns)[last - 1]
            raise ValueError(f"{name} must not follow from the columns before it: leave it out")
    if n_rows < x.shape[1] + 2:
        raise ValueError(f"response must have more than {x.shape[1] + 1} rows, got {n_rows}")
    return list(columns), x


def _groups(
    random: Mapping[str, Sequence], n_rows: int
) -> tuple[dict[str, tuple[NDArray, list[str]]], dict[str, str]]:
    """Return the codes and labels of the groups, and what was dropped for what reason."""
    groups, dropped = {}, {}
    for name, labels in random.items():
        if len(labels) != n_rows:
            raise ValueError(f"{name} must have {n_rows} rows, got {len(labels)}")
        known = list(dict.fromkeys(map(str, labels)))  # in the order of their first row
        place = {label: i for i, label in enumerate(known)}
        codes = np.array([place[str(label)] for label in labels])
        twin = next((n for n, (other, _) in groups.items() if np.array_equal(other, codes)), None)
        if len(known) == 1:
            dropped[name] = "the mean: there is one level"
        elif len(known) == n_rows:
            dropped[name] = "the residual: every row is a level"
        elif twin is not None:
            dropped[name] = f"{twin}: the same rows belong together"
        else:
            groups[name] = (codes, known)
    if not groups:
        raise ValueError(f"random must hold a group that the data can tell apart, got {dropped}")
    return groups, dropped
