"""Two made-up days in twelve pieces, shuffled: who still forecasts the third day?"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset, Range

DAY, PIECE = 24, 4  # hours
PAST = 2 * DAY
N_PIECES = PAST // PIECE
HEADS = {
    "mean": "the pieces’ mean",
    "flat": "all, side by side",
    "again": "… and learned so",
}
TOLD = {
    "mean": "The mean of the pieces is the same in every order, so the forecast stands still",
    "flat": "Each place has weights of its own, which expect the pieces in their order",
    "again": "Each place has weights of its own, and it has learned what comes there",
}
# Pairs of places whose pieces change, one pair after the other.
SWAPS = ((11, 4), (2, 8), (10, 5), (0, 9), (7, 3), (1, 6))
_SEED, _N_DAYS, _SHOWN = 4, 700, 1723  # the last: the window that is shown
_RIDGE = 1e-2
_LEFT, _STEP, _TOP, _MIDDLE, _UNIT = 12, 4.6, 24, 104, 32


class Drawers(Explorable):
    """Linear forecasters that read the pieces of two days by their mean, or side by side."""

    name = "drawers"
    title = "Who notices a shuffle?"
    caption = (
        "Left of the line: two days in twelve pieces of four hours. Right of it: the day that "
        "came, in grey, and the forecast, dashed. The days are made up, and two linear maps have "
        "learned from hundreds of such days, which begin at all hours."
    )
    alt = (
        "A curve of two days with valleys and peaks, cut in twelve pieces. On the right the third "
        "day in grey, and a dashed forecast that is nearly flat."
    )
    controls = (
        Choice("head", "The forecast reads", HEADS, "mean"),
        Range("swaps", "Pairs that change places", 0, len(SWAPS), 1, 0),
    )
    presets = (
        Preset("Mean, shuffled", {"head": "mean", "swaps": 6}),
        Preset("Side by side", {"head": "flat", "swaps": 0}),
        Preset("… shuffled", {"head": "flat", "swaps": 6}),
        Preset("… and learned so", {"head": "again", "swaps": 6}),
    )
    python = "drawers.Drawers().forecast('{head}', {swaps})"

    @cached_property
    def fitted(self) -> dict[str, NDArray[np.float64]]:
        """The days that are shown, and the weights, as rounded as the script gets them."""
        windows = made_up(_N_DAYS)
        past, ahead = windows[:, :PAST], windows[:, PAST:]
        learned = np.arange(len(windows)) != _SHOWN
        mean = weights(means(past[learned]), ahead[learned])
        flat = weights(past[learned], ahead[learned])
        shown = {"past": past[_SHOWN], "ahead": ahead[_SHOWN], "mean": mean, "flat": flat}
        return {name: values.round(3) for name, values in shown.items()}

    def forecast(self, head: str, swaps: int) -> NDArray[np.float64]:
        """Return the forecast of the third day, (24,).

        Parameters
        ----------
        head : {"mean", "flat", "again"}
        swaps : int
            How many pairs of pieces have changed places.
        """
        known = self.fitted
        pieces = known["past"].reshape(N_PIECES, PIECE)
        if head == "mean":
            return pieces[order(swaps)].mean(0) @ known["mean"]
        if head == "flat":
            return pieces[order(swaps)].ravel() @ known["flat"]
        # The same pieces meet the same weights: who learns in another order learns the same.
        return pieces.ravel() @ known["flat"]

    def off(self, head: str, swaps: int) -> float:
        """Return how far the forecast is off on average, in standard deviations of the past."""
        return float(np.abs(self.forecast(head, swaps) - self.fitted["ahead"]).mean())

    def data(self) -> dict:
        """Return the days and the weights."""
        return {name: values.tolist() for name, values in self.fitted.items()} | {"swaps": SWAPS}

    def svg(self, state: State) -> str:
        """Return the pieces as they lie, what came, and the forecast."""
        head, swaps = str(state["head"]), int(state["swaps"])
        border = _LEFT + _STEP * PAST
        drawn = drawing.text(_LEFT, 14, "the past") + drawing.text(border + 8, 14, "the next day")
        drawn += drawing.element(
            "line", class_="axis", x1=border + 2, x2=border + 2, y1=_TOP, y2=_TOP + 144
        )
        cuts = "".join(f"M{_LEFT + _STEP * PIECE * i:.1f} {_TOP}v144" for i in range(1, N_PIECES))
        drawn += drawing.element("path", class_="thin", d=cuts, stroke_opacity=0.35)
        paths = {
            "past": ("line", pieces_path(self.fitted["past"], order(swaps))),
            "ahead": ("soft-line", line_path(self.fitted["ahead"], border + 4)),
            "said": ("next", line_path(self.forecast(head, swaps), border + 4)),
        }
        for part, (look, d) in paths.items():
            drawn += drawing.element("path", class_=look, d=d, data_part=part)
        return drawing.svg(360, _TOP + 150, drawn, label=self.alt)

    def summary(self, state: State) -> str:
        """Return how far off the forecast is, and why."""
        head, swaps = str(state["head"]), int(state["swaps"])
        told = f"{TOLD[head]}. It is off by {self.off(head, swaps):.2f} on average"
        if head == "mean" or not swaps:
            return f"{told}."
        return f"{told}, and by {self.off(head, 0):.2f} in order."


def made_up(n_days: int) -> NDArray[np.float64]:
    """Return windows of three days, (n, 72), that begin at all hours of the day.

    They are measured from the last hour of the second day, in standard deviations of the first two.
    """
    rng = np.random.default_rng(_SEED)
    hours = np.arange(24 * (n_days + 2))
    day = np.sin(2 * np.pi * (hours - 10) / 24) + 0.6 * np.cos(4 * np.pi * (hours - 19) / 24)
    size = np.repeat(rng.uniform(0.7, 1.3, n_days + 2), 24)
    weather = np.interp(hours, hours[::24], rng.normal(0, 0.35, n_days + 2).cumsum())
    series = size * day + weather + rng.normal(0, 0.08, len(hours))
    windows = np.lib.stride_tricks.sliding_window_view(series, 72)[::7]
    past = windows[:, :PAST]
    return (windows - past[:, -1:]) / past.std(1, keepdims=True)


def means(past: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the pieces of each past, (n, 4)."""
    return past.reshape(-1, N_PIECES, PIECE).mean(1)


def weights(x: NDArray[np.float64], ahead: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the linear map with the least squares from each x to what came, (n_inputs, 24)."""
    gram = x.T @ x + _RIDGE * len(x) * np.eye(x.shape[1])
    found: NDArray[np.float64] = np.linalg.solve(gram, x.T @ ahead).astype(float)
    return found


def order(swaps: int) -> list[int]:
    """Return which piece lies at each place after so many swaps."""
    places = list(range(N_PIECES))
    for one, other in SWAPS[:swaps]:
        places[one], places[other] = places[other], places[one]
    return places


def pieces_path(past: NDArray[np.float64], places: list[int]) -> str:
    """Return the path of all pieces, each where it lies."""
    pieces = past.reshape(N_PIECES, PIECE)
    return "".join(
        line_path(pieces[piece], _LEFT + _STEP * PIECE * i) for i, piece in enumerate(places)
    )


def line_path(values: NDArray[np.float64], left: float) -> str:
    """Return the path of a curve that begins at a place."""
    points = [f"{left + _STEP * i:.1f} {_MIDDLE - _UNIT * y:.1f}" for i, y in enumerate(values)]
    return f"M{'L'.join(points)}"
