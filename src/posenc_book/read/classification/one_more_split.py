"""Differences on one split after another, until one can tell: the stored runs of one data set."""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Range
from posenc_book.read.classification import edition2, fair
from posenc_book.records import paired
from posenc_book.statistics import equality

COMPARED = {"rotary": "RoPE", "relative": "Shaw’s encoding", "none": "no encoding"}
BESIDE = "sinusoidal"
N_SPLITS = 5
_LOW, _HIGH = -48, 22  # of the axis, in points
_LEFT, _WIDTH, _TOP, _ROW = 50, 304, 26, 19


class OneMoreSplit(Explorable):
    """How far an encoding is ahead of the sinusoid, on one split after another."""

    name = "one-more-split"
    title = "How many splits until you know?"
    caption = (
        "ItalyPowerDemand, with training runs of ours. A dot says how many points of accuracy one "
        "model is ahead of the sinusoid on one split. The bar at the bottom is the 95 % interval "
        "of their mean, cut off where the picture ends. Pull the picture sideways for one more "
        "split."
    )
    alt = (
        "An axis of points, with a line at zero, a dot for each of two splits, one at zero and "
        "one to the left of it, and below them a bar that is wider than the picture."
    )
    controls = (
        Range("splits", "Splits", 1, N_SPLITS, 1, 2),
        Choice("compared", "Beside the sinusoid", COMPARED, "rotary"),
    )
    python = "one_more_split.OneMoreSplit().judged('{compared}', {splits})"

    @cached_property
    def differences(self) -> dict[str, NDArray[np.float64]]:
        """By how many points each is ahead of the sinusoid, split by split."""
        scores = fair.accuracies("ItalyPowerDemand", "time_series")
        return {name: (scores[name] - scores[BESIDE]).round(6) for name in COMPARED}

    def judged(self, compared: str, splits: int) -> tuple[float, float, float]:
        """Return the mean of the first splits and its interval, which one split has not (NaN)."""
        return judged(self.differences[compared][:splits])

    def svg(self, state: State) -> str:
        """Return the axis, a row for each split, and the mean with its interval."""
        splits, own = int(state["splits"]), self.differences[str(state["compared"])]
        bottom, middle = _TOP + _ROW * N_SPLITS, _TOP + _ROW * (N_SPLITS + 0.8)
        zero, end = x_of(0), bottom + 2 * _ROW
        drawn = drawing.text(zero - 8, 14, "← the sinusoid is ahead", class_="end small")
        drawn += drawing.text(zero + 8, 14, "and here behind →", class_="small")
        drawn += drawing.element("path", class_="thin", d=f"M{zero:.1f} 4V{end}H{_LEFT}h{_WIDTH}")
        for i, one in enumerate(own.tolist()):
            y, r = _TOP + _ROW * (i + 0.5), 4 if i < splits else 0
            drawn += drawing.text(_LEFT - 8, y + 4, f"split {i + 1}", class_="end small")
            drawn += drawing.element(
                "path", class_="thin", d=_reach(one, y) if r else "", data_part=f"reach-{i}"
            )
            drawn += drawing.element(
                "circle", class_="dot", cx=x_of(one), cy=y, r=r, data_part=f"dot-{i}"
            )
        mean, low, high = judged(own[:splits])
        drawn += drawing.text(_LEFT - 8, middle + 4, "mean", class_="end small")
        drawn += drawing.element("path", class_="now", d=_bar(low, high, middle), data_part="bar")
        drawn += drawing.element(
            "circle", class_="seen", cx=x_of(mean), cy=middle, r=5, data_part="mean"
        )
        drawn += "".join(
            drawing.text(x_of(at), end + 14, f"{at:+d}".replace("-", "−"), class_="label small")
            for at in (-40, -20, 20)
        )
        drawn += drawing.text(zero, end + 14, "0 points", class_="label small")
        drawn += drawing.element(
            "path", class_="grip", d=f"M0 0h360v{end}h-360z", data_grip="splits"
        )
        return drawing.svg(360, end + 20, drawn, label=self.alt)

    def summary(self, state: State) -> str:
        """Return how far it is ahead so far, and whether that may be luck."""
        name, splits = str(state["compared"]), int(state["splits"])
        own = self.differences[name][:splits]
        mean, low, high = judged(own)
        ahead, n = ("ahead of", (own > 0).sum()) if mean > 0 else ("behind", (own < 0).sum())
        so_far = f"{COMPARED[name]} is {abs(mean):.1f} points {ahead} the sinusoid"
        if splits == 1:
            return f"On the first split {so_far}. A single pair cannot tell whether that is luck."
        zero = "holds zero: this may" if low <= 0 <= high else "leaves zero out: this can hardly"
        return (
            f"On average {so_far}, and {ahead} it on {n} of {splits} splits. "
            f"The interval from {_signed(low)} to {_signed(high)} {zero} be luck."
        )

    def data(self) -> dict:
        """Return names, differences, and what a deviation of n splits is multiplied by."""
        differences = {name: own.tolist() for name, own in self.differences.items()}
        return {"names": COMPARED, "differences": differences, "factors": factors()}


def judged(differences: ArrayLike) -> tuple[float, float, float]:
    """Return mean, low and high, as a report does for resamples of a small set."""
    differences = np.asarray(differences, dtype=float)
    if differences.size < 2:
        return float(differences.mean()), np.nan, np.nan
    share = paired.LARGEST_SHARE
    found = equality.correlated_t(differences, edition2.MARGIN, test_share=share)
    return found.mean, found.low, found.high


def factors() -> list[float]:
    """Return half the interval of 2, 3, ... differences whose standard deviation is 1."""
    several = (np.arange(n) / np.arange(n).std(ddof=1) for n in range(2, N_SPLITS + 1))
    return [high - mean for mean, _, high in map(judged, several)]


def x_of(points: float) -> float:
    """Return where a difference is drawn, at most at the picture's ends."""
    return _LEFT + _WIDTH * (min(max(points, _LOW), _HIGH) - _LOW) / (_HIGH - _LOW)


def _reach(points: float, y: float) -> str:
    return f"M{x_of(0):.1f} {y:.1f}H{x_of(points):.1f}"


def _bar(low: float, high: float, y: float) -> str:
    return "" if np.isnan(low) else f"M{x_of(low):.1f} {y:.1f}H{x_of(high):.1f}"


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "−")
