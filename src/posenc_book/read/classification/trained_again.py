"""Trainings that are drawn again, and the winner changes: the stored runs of one data set."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posenc_book.atlas import card
from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Preset, Range
from posenc_book.read.classification import fair

N_DRAWS = 60
N_SEEDS = 5
_MODULUS = 65537  # of a generator that Python and the script both run: x to 75 x + 74
_LEFT, _WIDTH, _TOP, _ROW = 138, 204, 12, 19
_LOW, _HIGH = 76, 98  # of the axis, in per cent


class Luck(Explorable):
    """Eleven encodings, five stored trainings each, of which some are drawn."""

    name = "luck"
    title = "Who wins this time?"
    caption = (
        "Small dots: the test accuracies of five trainings of each model on RoomOccupancy, which "
        "differ in their seed alone. Large dots: the training that was drawn, or the mean of "
        "several. Pull the picture sideways to draw again; the best row is shaded."
    )
    alt = (
        "Eleven rows of five small dots, one row for each encoding, between 77 and 97 per cent. "
        "The rows overlap widely. In each a large dot marks one training; one row is shaded."
    )
    controls = (
        Range("draw", "Draw", 1, N_DRAWS, 1, 1),
        Range("runs", "Trainings in a mean", 1, N_SEEDS, 1, 1),
    )
    presets = (Preset("Five in a mean", {"runs": 5}),)
    python = "trained_again.Luck().drawn({draw}, {runs})"

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """Accuracies in per cent, (n_encodings, N_SEEDS)."""
        return np.array([*self._stored.values()])

    @property
    def names(self) -> list[str]:
        """What people call the encodings."""
        return [card(name).title for name in self._stored]

    @cached_property
    def _stored(self) -> dict[str, NDArray[np.float64]]:
        return fair.accuracies("RoomOccupancy", "time_series")

    def drawn(self, draw: int, runs: int) -> NDArray[np.float64]:
        """Return the mean accuracy of some trainings of each encoding, drawn with return."""
        at = choices(draw, len(self.scores) * runs).reshape(-1, runs)
        return np.take_along_axis(self.scores, at, axis=1).mean(axis=1)

    def winners(self, draw: int, runs: int) -> list[int]:
        """Return the rows that come first; several share the place where they are equal."""
        means = self.drawn(draw, runs)
        return np.flatnonzero(means > means.max() - 1e-9).tolist()

    def svg(self, state: State) -> str:
        """Return the rows with their dots."""
        draw, runs = int(state["draw"]), int(state["runs"])
        best, means = self.winners(draw, runs), self.drawn(draw, runs)
        bottom, drawn = _TOP + _ROW * len(self.names), ""
        for i, name in enumerate(self.names):
            shade = row(i) if i in best else ""
            drawn += drawing.element("path", class_="between", d=shade, data_part=f"best-{i}")
            y = _TOP + _ROW * (i + 0.5)
            drawn += drawing.text(_LEFT - 8, y + 4, name, class_="end small")
            drawn += "".join(
                drawing.element("circle", class_="quiet", cx=x_of(one), cy=y, r=2.5)
                for one in self.scores[i].tolist()
            )
            drawn += drawing.element(
                "circle", class_="dot", cx=x_of(float(means[i])), cy=y, r=4.5, data_part=f"dot-{i}"
            )
        drawn += drawing.element("path", class_="axis", d=f"M{_LEFT} {bottom}h{_WIDTH}")
        drawn += "".join(
            drawing.text(x_of(at), bottom + 15, f"{at} %", class_="label")
            for at in (80, 85, 90, 95)
        )
        drawn += drawing.element(
            "path", class_="grip", d=f"M0 0h360v{bottom}h-360z", data_grip="draw"
        )
        return drawing.svg(360, bottom + 22, drawn, label=self.alt)

    def summary(self, state: State) -> str:
        """Return who wins this draw, and how many ever do."""
        draw, runs = int(state["draw"]), int(state["runs"])
        best, means = self.winners(draw, runs), self.drawn(draw, runs)
        who = " and ".join(self.names[i] for i in best)
        wins = f"{who} {'wins' if len(best) == 1 else 'share the first place'}"
        ever = {i for one in range(1, N_DRAWS + 1) for i in self.winners(one, runs)}
        drawn = "one training each" if runs == 1 else f"the mean of {runs} trainings each"
        return (
            f"Draw {draw}, {drawn}: {wins} with {means.max():.1f} %. In {N_DRAWS} draws "
            f"{len(ever)} of the {len(self.names)} come first at least once."
        )

    def data(self) -> dict:
        """Return names and accuracies."""
        return {"names": self.names, "scores": self.scores.round(6).tolist()}


def choices(draw: int, n: int) -> NDArray[np.int_]:
    """Return which trainings a draw takes: numbers from 0 to N_SEEDS - 1."""
    x, found = 7919 * draw % _MODULUS, []
    for _ in range(n + 5):
        x = (75 * x + 74) % _MODULUS
        found.append(N_SEEDS * x // _MODULUS)
    return np.array(found[5:])  # the first are alike in neighbouring draws


def x_of(accuracy: float) -> float:
    """Return where an accuracy in per cent is drawn."""
    return _LEFT + _WIDTH * (accuracy - _LOW) / (_HIGH - _LOW)


def row(i: int) -> str:
    """Return the path around a row."""
    return f"M2 {_TOP + _ROW * i}h356v{_ROW}h-356z"
