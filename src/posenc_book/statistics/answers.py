"""One engine for answers: a question, its family, its tests, and the words for what comes of it.

A question is a contrast in a family that was registered before its data were read. Its two tests,
of a difference and of equality within a margin, are corrected by Holm over the whole family. Then
one of four words is said, so that "ahead" and "equal" are never both said of one difference:

equal       shown to be within the margin, even where 0 is left out: less than matters
ahead       otherwise, and shown to be above 0
behind      otherwise, and shown to be below 0
undecided   neither

What a difference is about is named too, in the words of `ESTIMANDS`: the same numbers say more of
the series at hand than of new ones, and more of those than of other data sets.

Sources: Holm (1979) for the correction; Schuirmann (1987) for two one-sided tests; Nadeau and
Bengio (2003) for resamples that share series.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from posenc_book.statistics import equality, friedman

LEVEL = 0.05
AHEAD, BEHIND, EQUAL, UNDECIDED = WORDS = "ahead", "behind", "equal", "undecided"
HERE, NEW_SERIES, NEW_SETS = ESTIMANDS = (
    "on these very series",
    "on new series",
    "on new data sets",
)
LARGEST_SHARE = 0.5
"""Of the test part that Nadeau and Bengio's rule is given, which is made for no larger ones."""


def word(side: float, p_value: float | None, p_equal: float | None) -> str:
    """Return one of `WORDS`; a test that was not asked for shows nothing.

    Parameters
    ----------
    side : float
        Above 0 where the first of the two is better.
    p_value, p_equal : float or None
        Of no difference, and of one beyond the margin, corrected for the family.

    Returns
    -------
    str

    Examples
    --------
    >>> word(0.03, 0.001, 0.9), word(0.003, 0.001, 0.01), word(-0.03, 0.2, 0.9)
    ('ahead', 'equal', 'undecided')
    """
    if p_equal is not None and p_equal <= LEVEL:
        return EQUAL
    if p_value is not None and p_value <= LEVEL:
        return AHEAD if side > 0 else BEHIND
    return UNDECIDED


@dataclass(frozen=True)
class Answer:
    """What a question comes to; before `Family.answers` has corrected it, by itself.

    Parameters
    ----------
    contrast : str
        What is compared.
    effect : Effect
        Mean difference and 95 % interval, above 0 where the first is better.
    p_value, p_equal : float
        Of no difference, and of one beyond the margin.
    """

    contrast: str
    effect: friedman.Effect
    p_value: float
    p_equal: float

    @property
    def shown(self) -> bool:
        """Whether it is shown to differ from 0, be it within the margin or not."""
        return self.p_value <= LEVEL

    @property
    def answer(self) -> str:
        """One of `WORDS`."""
        return word(self.effect.mean, self.p_value, self.p_equal)


@dataclass(frozen=True)
class Family:
    """Questions that are corrected together.

    Parameters
    ----------
    name : str
    contrasts : tuple of str
        All that are registered: each counts, also while it has no answer.
    margin : float
        Differences up to this size count as none.
    """

    name: str
    contrasts: tuple[str, ...]
    margin: float

    def over_sets(self, differences: Mapping[str, ArrayLike]) -> dict[str, Answer]:
        """Return the answers on new data sets, from arrays (n_sets,) or (n_sets, n_resamples)."""
        return self.answers({c: of_sets(c, one, self.margin) for c, one in differences.items()})

    def answers(self, alone: Mapping[str, Answer]) -> dict[str, Answer]:
        """Return answers with both p-values by Holm over all contrasts; what is lacking has p = 1.

        Raises
        ------
        ValueError
            If a contrast is not one of the family.
        """
        for contrast in alone:
            if contrast not in self.contrasts:
                known = ", ".join(self.contrasts)
                raise ValueError(
                    f"contrast must be registered in {self.name!r} ({known}), got {contrast!r}"
                )
        p_values, p_equal = (
            dict(zip(self.contrasts, map(float, friedman.holm(raw)), strict=True))
            for raw in (
                [alone[c].p_value if c in alone else 1.0 for c in self.contrasts],
                [alone[c].p_equal if c in alone else 1.0 for c in self.contrasts],
            )
        )
        return {
            c: replace(one, p_value=p_values[c], p_equal=p_equal[c]) for c, one in alone.items()
        }


def of_sets(contrast: str, differences: ArrayLike, margin: float) -> Answer:
    """Return one question by itself, with data sets as units: Wilcoxon's exact test, and two t.

    Parameters
    ----------
    contrast : str
    differences : array of shape (n_sets,) or (n_sets, n_resamples)
    margin : float

    Returns
    -------
    Answer
    """
    return Answer(
        contrast,
        friedman.effect(differences),
        friedman.wilcoxon(differences).p_value,
        equality.tost(differences, margin).p_value,
    )


def of_runs(
    contrast: str,
    differences: ArrayLike,
    margin: float,
    *,
    weights: ArrayLike | None = None,
    test_share: ArrayLike = 0.0,
    more: float = 0.0,
) -> Answer:
    """Return one question by itself, by the scatter of runs within sets, which is alike in all.

    Parameters
    ----------
    contrast : str
    differences : array of shape (n_sets, n_resamples)
    margin : float
    weights : array of shape (n_sets,), optional
        Of the means of the sets; by default their mean.
    test_share : float or array of shape (n_sets,)
        Test cases over all cases of each set, of which the rule takes at most a half: the answer
        is about new series. 0 takes runs for independent, and the answer is about these series.
    more : float
        Variance of the mean that no scatter of runs shows, such as that of its tuning.

    Returns
    -------
    Answer
    """
    table = np.asarray(differences, float)
    n, r = table.shape
    of_sets = np.full(n, 1 / n) if weights is None else np.asarray(weights, float)
    share = np.broadcast_to(np.minimum(test_share, LARGEST_SHARE), n)
    scatter = table.var(axis=1, ddof=1).mean()
    error = math.sqrt(scatter * float(of_sets**2 @ equality.inflation(r, share)) + more)
    mean, freedom = float(of_sets @ table.mean(1)), n * (r - 1)
    half = float(stats.t.isf(LEVEL / 2, freedom)) * error
    return Answer(
        contrast,
        friedman.Effect(mean, mean - half, mean + half, 1 - LEVEL, n, r),
        min(1.0, 2 * _beyond(abs(mean), error, freedom)),
        _beyond(margin - abs(mean), error, freedom),
    )


def _beyond(distance: float, error: float, freedom: int) -> float:
    """Return the upper tail of Student's t; without scatter it is all or nothing."""
    if not error:
        return 0.0 if distance > 0 else 1.0 if distance < 0 else 0.5
    return float(stats.t.sf(distance / error, freedom))
