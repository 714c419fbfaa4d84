"""Gains over the fixed encoding, and what they go with."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc.audit.survey.ours import facts
from posenc.study import exact
from posenc.study.tables import Scores


def advanced_gain(
    scores: Scores, *, reduce: Callable = np.mean, relative: bool = False
) -> NDArray[np.float64]:
    """Return the mean gain of TUPE and SPE over sinusoidal on every data set, (n_datasets,).

    SPE is the mean of both candidates. In points, or in per cent of sinusoidal if `relative`.
    """
    reached = {e: [reduce(scores.cells[d, e]) for d in scores.datasets] for e in scores.encodings}
    sine, conv, tupe, fixed = (
        np.array(reached[e]) for e in ("sine_spe", "conv_spe", "tupe", "sinusoidal")
    )
    return 100 * ((sine + conv) / 2 + tupe - 2 * fixed) / 2 / (fixed if relative else 1)


@dataclass(frozen=True)
class Trend:
    """A statistic of the gains from means over seeds, its p-value, and that from medians."""

    value: float
    p_value: float
    by_medians: float

    def outcome(self, p_value: float) -> str:
        """Return "yes" (it grows), "the opposite" or "not told", at a corrected p-value."""
        if p_value >= 0.05 or self.value * self.by_medians <= 0:
            return "not told"
        return "yes" if self.value > 0 else "the opposite"

    def __str__(self) -> str:
        return f"{self.value:+.2f} (p {self.p_value:.2f}), by medians {self.by_medians:+.2f}"


def trends(scores: Scores) -> dict[str, Trend]:
    """Return how the gain of TUPE and SPE goes with three properties of the data sets.

    Returns
    -------
    dict
        "length" and "channels": Spearman's correlation. "two classes": relative gain on sets with
        two classes minus that on the others, in per cent.
    """
    found = {}
    for name, fact in (("length", "length"), ("channels", "n_channels")):
        (rho, p), (other, _) = (
            exact.spearman(advanced_gain(scores, reduce=f), facts(scores, fact))
            for f in (np.mean, np.median)
        )
        found[name] = Trend(rho, p, other)
    two = facts(scores, "n_classes") == 2
    (value, p), (other, _) = (
        exact.group_test(advanced_gain(scores, reduce=f, relative=True), two)
        for f in (np.mean, np.median)
    )
    return found | {"two classes": Trend(value, p, other)}
