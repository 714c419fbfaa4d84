"""Are two methods practically equal, or is one better, or can these data not tell?

A test of difference can only fail to find one. The functions here can say "equal", for differences
within a region of practical equivalence (rope) that is named beforehand:

`signed_rank`
    over data sets, one difference each: the Bayesian signed-rank test;
`correlated_t`
    on one data set, over resamples, which share cases and so are not independent;
`tost`
    the answer of classical statistics, two one-sided tests, with a p-value for equivalence.

Differences are positive where the first method is better. The two Bayesian answers are
probabilities of worse, equal and better. They are written here because `baycomp`, by the authors of
these methods, has had no release since 2023 and needs a C++ compiler; what it and the papers print
is what the tests compare with.

Sources: Benavoli, Corani, Demšar and Zaffalon (2017), Time for a change; Corani and Benavoli
(2015), A Bayesian approach for comparing cross-validated algorithms; Nadeau and Bengio (2003) for
the correlation of resamples; Schuirmann (1987) for two one-sided tests.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from posenc import _checks
from posenc_book.statistics.friedman import DECIMALS, set_means, wilcoxon


@dataclass(frozen=True)
class Probabilities:
    """How probable it is that the first method is worse, practically equal, better; sum 1.

    Parameters
    ----------
    worse, equal, better : float
        Each in [0, 1].

    Examples
    --------
    >>> print(Probabilities(0.05, 0.15, 0.8))
    worse 0.05, equal 0.15, better 0.80
    """

    worse: float
    equal: float
    better: float

    def __str__(self) -> str:
        return f"worse {self.worse:.2f}, equal {self.equal:.2f}, better {self.better:.2f}"


def signed_rank(
    differences: ArrayLike,
    rope: float,
    *,
    prior: float = 0.5,
    n_draws: int = 20_000,
    seed: int = 0,
) -> Probabilities:
    """Return the Bayesian signed-rank test over data sets.

    A Dirichlet process with a pseudo-observation at 0 weighs the sets; each draw of the weights
    asks in which region most of the weighted means of two sets lie.

    Parameters
    ----------
    differences : array of shape (n_sets,) or (n_sets, n_resamples)
        With resamples, the mean of each set counts.
    rope : float
        Differences up to this size count as equal.
    prior : float
        Weight of the pseudo-observation, in sets.
    n_draws, seed : int
        Of the posterior.

    Returns
    -------
    Probabilities

    Raises
    ------
    ValueError
        If there is no set, a difference is not finite, `rope` or `prior` is not above 0, or
        `n_draws` is below 1.

    Source: Benavoli et al. (2017), Time for a change.

    Examples
    --------
    >>> print(signed_rank([0.03, 0.05, 0.02, 0.04, 0.03], rope=0.01))
    worse 0.00, equal 0.00, better 1.00
    >>> print(signed_rank([0.001, -0.002, 0.0, 0.003, -0.001], rope=0.01))
    worse 0.00, equal 1.00, better 0.00
    """
    rope, prior = _checks.positive("rope", rope), _checks.positive("prior", prior)
    seed = _checks.count("seed", seed)
    points = np.append(set_means(differences), 0.0)
    strength = np.append(np.ones(points.size - 1), prior)
    averages = ((points[:, None] + points) / 2).round(DECIMALS)  # what reaches the rope is equal
    weights = np.random.default_rng(seed).dirichlet(
        strength, size=_checks.count("n_draws", n_draws, minimum=1)
    )
    regions = (averages < -rope, np.abs(averages) <= rope, averages > rope)
    mass = np.stack([((weights @ region) * weights).sum(axis=1) for region in regions])
    return Probabilities(*_shares(mass.argmax(axis=0)))


@dataclass(frozen=True)
class CorrelatedT:
    """The difference on one data set.

    Parameters
    ----------
    probabilities : Probabilities
        Of the mean difference on this set.
    mean, low, high : float
        Posterior mean and interval, in the unit of the scores.

    Examples
    --------
    >>> found = correlated_t([0.02, 0.03, 0.01, 0.03, 0.02], rope=0.01, test_share=0.2)
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3)
    (0.022, 0.006, 0.038)
    """

    probabilities: Probabilities
    mean: float
    low: float
    high: float


def correlated_t(
    differences: ArrayLike, rope: float, *, test_share: float, level: float = 0.95
) -> CorrelatedT:
    """Return the Bayesian correlated t-test over resamples of one data set.

    Resamples share cases, so that their scores go up and down together: with a correlation equal
    to the share of cases that is tested on, by the rule of thumb of Nadeau and Bengio.

    Parameters
    ----------
    differences : array of shape (n_resamples >= 2,)
    rope : float
        Differences up to this size count as equal.
    test_share : float
        Test cases over all cases of the set; 1/k for k-fold cross-validation. 0 takes the
        resamples for independent.
    level : float
        Of the interval.

    Returns
    -------
    CorrelatedT

    Raises
    ------
    ValueError
        If there are fewer than two resamples, one is not finite, `rope` is not above 0,
        `test_share` is no share below 1, or `level` no probability below 1.

    Source: Corani and Benavoli (2015); Nadeau and Bengio (2003) for the correlation.

    Examples
    --------
    >>> differences = [0.02, 0.03, 0.01, 0.03, 0.02]
    >>> print(correlated_t(differences, rope=0.01, test_share=0.0).probabilities)
    worse 0.00, equal 0.02, better 0.98
    >>> print(correlated_t(differences, rope=0.01, test_share=0.5).probabilities)
    worse 0.01, equal 0.12, better 0.87
    """
    rope = _checks.positive("rope", rope)
    level = _checks.probability("level", level)
    values = _checks.finite_array("differences", differences, ndim=1)
    if values.size < 2:
        raise ValueError(f"differences must hold at least two resamples, got {values.size}")
    mean = float(values.mean())
    scale = _scale(values, _share(test_share))
    better, worse = (_t_sf(rope - m, scale, values.size - 1) for m in (mean, -mean))
    half = scale * float(special.stdtrit(values.size - 1, (1 + level) / 2))
    return CorrelatedT(
        Probabilities(worse, max(0.0, 1 - worse - better), better), mean, mean - half, mean + half
    )


def resampled_p(differences: ArrayLike, test_share: float) -> float:
    """Return the two-sided p-value of the corrected resampled t-test on one data set.

    Parameters
    ----------
    differences : array of shape (n_resamples >= 2,)
    test_share : float
        Test cases over all cases of the set; 0 takes the resamples for independent.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If there are fewer than two resamples, one is not finite, or `test_share` is no share
        below 1.

    Source: Nadeau and Bengio (2003), section 3.

    Examples
    --------
    >>> differences = [0.02, 0.03, 0.01, 0.03, 0.02]
    >>> [round(resampled_p(differences, share), 4) for share in (0.0, 0.5)]
    [0.0042, 0.0743]
    """
    values = _checks.finite_array("differences", differences, ndim=1)
    if values.size < 2:
        raise ValueError(f"differences must hold at least two resamples, got {values.size}")
    scale = _scale(values, _share(test_share))
    distance = abs(float(values.mean()))
    return 2 * _t_sf(distance, scale, values.size - 1) if distance else 1.0


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests.

    Parameters
    ----------
    p_value : float
        That the difference lies beyond the margin: small where equivalence is shown.
    p_above, p_below : float
        That it lies above the margin, below minus the margin; the larger is the p-value.
    mean, low, high : float
        The mean difference and the interval at level 1 - 2 alpha; by Student's t, equivalence is
        shown at level alpha just if it lies within the margin.
    margin : float
        In the unit of the scores.
    n : int
        Sets, or resamples of one set.

    Examples
    --------
    >>> found = tost([0.002, -0.001, 0.003, 0.0, 0.001], margin=0.01)
    >>> found.p_value < 0.05, round(found.low, 4), round(found.high, 4)
    (True, -0.0005, 0.0025)
    """

    p_value: float
    p_above: float
    p_below: float
    mean: float
    low: float
    high: float
    margin: float
    n: int


def tost(
    differences: ArrayLike,
    margin: float,
    *,
    test: str = "t",
    test_share: float = 0.0,
    alpha: float = 0.05,
) -> Equivalence:
    """Return two one-sided tests of equivalence.

    Parameters
    ----------
    differences : array of shape (n_sets,) or (n_sets, n_resamples)
        With resamples, the mean of each set counts. Resamples of one set are (n_resamples,) with
        its `test_share`.
    margin : float
        Differences up to this size count as equal; named beforehand.
    test : "t" or "signed_rank"
        Student's t, or Wilcoxon's signed ranks of the differences moved by the margin.
    test_share : float
        For resamples of one set: see `correlated_t`. 0 for data sets.
    alpha : float
        Level of the interval.

    Returns
    -------
    Equivalence

    Raises
    ------
    ValueError
        If there are fewer than two differences, signed ranks are asked of resamples, `margin` is
        not above 0, `test` is unknown, or a share is out of its range.

    Source: Schuirmann (1987).

    Examples
    --------
    >>> differences = [0.002, -0.001, 0.003, 0.0, 0.001]
    >>> round(tost(differences, margin=0.01).p_value, 4)
    0.0001
    >>> round(tost(differences, margin=0.002).p_value, 2)
    0.12
    """
    margin = _checks.positive("margin", margin)
    alpha = _checks.probability("alpha", alpha)
    _checks.choice("test", test, ("t", "signed_rank"))
    values = set_means(differences)
    share = _share(test_share)
    if values.size < 2:
        raise ValueError(f"differences must hold at least two, got {values.size}")
    if share and (test != "t" or np.ndim(differences) != 1):
        raise ValueError(
            "test_share is for Student's t over the resamples of one set, "
            f"got {test_share} with test={test!r} and shape {np.shape(differences)}"
        )
    mean, scale = float(values.mean()), _scale(values, share)
    half = scale * float(special.stdtrit(values.size - 1, 1 - alpha))
    if test == "t":
        p_above, p_below = (_t_sf(margin - m, scale, values.size - 1) for m in (mean, -mean))
    else:
        p_above = wilcoxon(margin - values, alternative="greater").p_value
        p_below = wilcoxon(margin + values, alternative="greater").p_value
    return Equivalence(
        max(p_above, p_below),
        p_above,
        p_below,
        mean,
        mean - half,
        mean + half,
        margin,
        values.size,
    )


def _t_sf(distance: float, scale: float, freedom: int) -> float:
    """Return the upper tail of Student's t; without spread it is all or nothing."""
    if not scale:
        return float(distance < 0)
    return float(special.stdtr(freedom, -distance / scale))


def _scale(values: NDArray, test_share: float) -> float:
    """Return the standard error of the mean of correlated resamples."""
    return float(np.sqrt(values.var(ddof=1) * inflation(len(values), test_share)))


def inflation(n_resamples: int, test_share: ArrayLike) -> NDArray[np.float64]:
    """Return how much of a resample's variance the mean of correlated resamples has.

    A correlation rho adds rho / (1 - rho) of the variance to the 1/n of it.

    Parameters
    ----------
    n_resamples : int
        At least 1.
    test_share : float or array of shape (sets,)
        Of the series, those in the test part; it stands for the correlation.

    Returns
    -------
    array of the shape of `test_share`.

    Raises
    ------
    ValueError
        If `n_resamples` is no integer of at least 1, or a share is not in [0, 1).

    Source: Nadeau and Bengio (2003), "Inference for the generalization error".
    """
    n_resamples = _checks.count("n_resamples", n_resamples, minimum=1)
    shares = _checks.finite_array("test_share", test_share, ndim=None).astype(float)
    if ((shares < 0) | (shares >= 1)).any():
        raise ValueError(f"test_share must be in [0, 1), got {test_share!r}")
    return np.asarray(1 / n_resamples + shares / (1 - shares))


def _share(test_share: ArrayLike) -> float:
    shares = _checks.finite_array("test_share", test_share, ndim=None).astype(float)
    if shares.shape not in ((), (1,)) or ((shares < 0) | (shares >= 1)).any():
        raise ValueError(f"test_share must be one share in [0, 1), got {test_share!r}")
    return float(shares.item())


def _shares(winners: NDArray) -> list[float]:
    return [float(s) for s in np.bincount(winners, minlength=3) / winners.size]
