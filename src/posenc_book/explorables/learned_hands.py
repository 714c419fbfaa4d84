"""The five clocks in the learned table of a sentence model, beside five that turn evenly."""

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Preset, Range

STORED = Path(__file__).with_suffix(".json")
FIRST, LAST = 1, 510  # places 0 and 511 are odd ones out
N_DIRECTIONS = 11
_RADIUS, _COLUMN, _MIDDLE, _RULER = 30, 72, 92, 22
_LEFT, _WIDTH = 20, 320


class LearnedHands(Explorable):
    """A place on five clocks that a model has made for itself."""

    name = "learned-hands"
    title = "Clocks that nobody built"
    caption = (
        "Drag the place. The thick hands are read off the table of all-MiniLM-L6-v2. A thin hand "
        "shows where one map, the same for all places, expects it, from the place before."
    )
    alt = (
        "A line with a mark at place 20. Below, five dials, each with a thick hand, and a thin one "
        "that it nearly covers."
    )
    controls = (Range("place", "Place", FIRST + 1, LAST, 1, 20),)
    presets = (
        Preset("Place 21", {"place": 21}),
        Preset("Place 127", {"place": 127}),
        Preset("Place 300", {"place": 300}),
    )
    python = "[learned_hands.turn(i, {place}) for i in range(5)]"

    def data(self) -> dict:
        """Return the angles of the hands at every place, their lengths and their speeds."""
        return _stored()

    def svg(self, state: State) -> str:
        """Return the line of places and the five dials."""
        place = int(state["place"])
        line = drawing.element("path", class_="axis", d=f"M{_LEFT} {_RULER}h{_WIDTH}")
        line += "".join(
            drawing.text(_at(at), _RULER + 18, f"{at}", class_="label small")
            for at in (1, 127, 255, 383, 510)
        )
        dot = drawing.element(
            "circle", class_="dot", r=6, cx=_at(place), cy=_RULER, data_part="mark"
        )
        grip = drawing.element("path", class_="grip", d="M0 0h360v44h-360z", data_grip="line")
        dials = "".join(_dial(i, place) for i in range(len(_stored()["speeds"])))
        return drawing.svg(360, 176, line + dot + grip + dials, label=self.alt)

    def summary(self, state: State) -> str:
        """Return how far the hands turned in the last step, and how far they should have."""
        place = int(state["place"])
        numbers = range(len(_stored()["speeds"]))
        turned = ", ".join(f"{turn(i, place):.0f}°" for i in numbers)
        worst = max(abs(turn(i, place) - _stored()["speeds"][i]) for i in numbers)
        return (
            f"From place {place - 1} to place {place} the hands turn by {turned}. "
            f"None is more than {worst:.0f}° from where the map expects it."
        )


@cache
def _stored() -> dict:
    return json.loads(STORED.read_text(encoding="utf-8"))


def _at(place: int) -> float:
    return _LEFT + _WIDTH * (place - FIRST) / (LAST - FIRST)


def turn(i: int, place: int) -> float:
    """Return by how many degrees, from -180 to 180, a hand turns from the place before."""
    before, now = _stored()["angles"][i][place - FIRST - 1 : place - FIRST + 1]
    return math.remainder(now - before, 360)


def _dial(i: int, place: int) -> str:
    known = _stored()
    before, now = known["angles"][i][place - FIRST - 1 : place - FIRST + 1]
    drawn = drawing.element("circle", r=_RADIUS, class_="face")
    for name, kind, angle, length in (
        ("expected", "hand thin", before + known["speeds"][i], 100),
        ("hand", "now", now, known["lengths"][i][place - FIRST]),
    ):
        drawn += drawing.element(
            "line", class_=kind, x1=0, y1=0, x2=reach(length), y2=0,
            transform=f"rotate({-angle:.2f})", data_part=f"{name}-{i}",
        )  # fmt: skip
    said = f"turns in {360 / known['speeds'][i]:.0f}"
    drawn += drawing.text(0, _RADIUS + 22, said, class_="label small")
    return drawing.element("g", drawn, transform=f"translate({_COLUMN * (i + 0.5):g} {_MIDDLE})")


def reach(length: int) -> float:
    """Return how far a hand is drawn; its length is given in hundredths of the mean."""
    return round(min(0.26 * length, _RADIUS + 4.0), 2)


def clocks(table: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.complex128]]:
    """Return the speeds of a table's clocks, slowest first, and their hands as complex numbers.

    Rows are brought to their strongest directions; the eigenvectors of the map that leads each row
    to the next are clocks where their eigenvalues have an angle.
    """
    rows = np.asarray(table, float)[FIRST : LAST + 1]
    rows = rows - rows.mean(axis=0)
    strongest = np.linalg.svd(rows, full_matrices=False)[2][:N_DIRECTIONS]
    points = rows @ strongest.T
    values, vectors = np.linalg.eig(np.linalg.lstsq(points[:-1], points[1:], rcond=None)[0])
    order = [i for i in np.argsort(np.angle(values)) if np.angle(values[i]) > 1e-6]
    hands = (points @ vectors[:, order]).astype(np.complex128)
    return np.angle(values[order]).astype(np.float64), hands


def store(table: ArrayLike, path: Path = STORED) -> None:
    """Write what the figure draws: whole degrees, and lengths in hundredths of their mean."""
    speeds, hands = clocks(table)
    lengths = np.abs(hands) / np.abs(hands).mean(axis=0)
    known = {
        "speeds": np.degrees(speeds).round(3).tolist(),
        "angles": np.degrees(np.angle(hands)).round().astype(int).T.tolist(),
        "lengths": (100 * lengths).round().astype(int).T.tolist(),
    }
    path.write_text(json.dumps(known, separators=(",", ":")) + "\n", encoding="utf-8")
