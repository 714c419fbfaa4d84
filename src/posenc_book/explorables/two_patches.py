"""Two patches of a picture, each turned by its row and its column, and two ways to score them."""

import math

import numpy as np

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Preset, Spot

Pair = tuple[int, int]  # a row and a column

ROWS, COLUMNS = 8, 12
OMEGA = 0.7  # radians that a hand turns from one row, or one column, to the next
WANTED = 3  # columns to the right at which this query likes a key best
_LEFT, _TOP, _TILE = 8, 18, 22
_DIALS = {"columns": (320, 66), "rows": (320, 152)}
_RADIUS = 30
_ZERO, _UNIT, _BARS = 150, 37, (226, 262)  # of the scores' bars
_BOTH = Spot("both", "Move both", range(2, 6), range(1, 8), "3,2")
_KEY = Spot("key", "Move one eye", range(-1, 2), range(1, 5), "0,3")


class TwoPatches(Explorable):
    """A face in a picture: its eyes are a query and a key."""

    name = "two-patches"
    title = "Two patches that move together"
    caption = (
        "Drag the face. Both eyes move and all hands turn, but the score of the turned patches "
        "stands still. The score with a table added does not: its pale bar shows how far it goes. "
        "Drag the right eye alone, and both scores change."
    )
    alt = (
        "A face in a picture of 8 by 12 patches. Its left eye is the query, its right eye the key, "
        "three columns away. Beside it two dials, for columns and for rows, with two hands each. "
        "Below, the bar of one score is steady, and that of the other has a wide pale range."
    )
    controls = (_BOTH, _KEY)
    presets = (
        Preset("Into the corner", {"both": "5,7"}),
        Preset("A crooked face", {"key": "-1,2"}),
    )
    python = "np.cos(0.7 * (np.array([{key}]) - [0, 3])).sum()"

    def svg(self, state: State) -> str:
        """Return the picture, the dials and the two bars."""
        both, key = pair(state["both"]), pair(state["key"])
        return drawing.svg(
            360, 296, _picture(both, key) + _dials(both, key) + _bars(both, key), label=self.alt
        )

    def summary(self, state: State) -> str:
        """Return where the eyes stand, and both scores there and elsewhere."""
        both, key = pair(state["both"]), pair(state["key"])
        low, high = extremes(key)
        return (
            f"The left eye is in row {both[0] + 1}, column {both[1] + 1}, the other {where(key)}. "
            f"Turned, they score {turned(key):.2f} wherever the face is; with a table added, "
            f"{added(both, key):.2f} here and from {low:.2f} to {high:.2f} elsewhere."
        )


def pair(value: str) -> Pair:
    """Return the row and the column that a control holds."""
    row, column = map(int, value.split(","))
    return row, column


def where(key: Pair) -> str:
    """Return where the key stands, from the query."""
    rows, columns = key
    level = {-1: "1 row higher", 0: "", 1: "1 row lower"}[rows]
    right = "1 column" if columns == 1 else f"{columns} columns"
    return f"{right} to the right" + (f" and {level}" if level else "")


def turned(key: Pair) -> float:
    """Return the score of a query and a key that are turned: a product of two pairs of arrows."""
    rows, columns = key
    return math.cos(OMEGA * rows) + math.cos(OMEGA * (columns - WANTED))


def added(both: Pair, key: Pair) -> float:
    """Return the score of the same query and key with sines and cosines added to them."""
    query_at, key_at = np.array(both), np.add(both, key)
    ahead = np.array([0, -OMEGA * WANTED])  # the key's own arrows, before anything is added
    query = np.exp(0 * ahead * 1j) + 1j * np.exp(-1j * OMEGA * query_at)
    other = np.exp(1j * ahead) + 1j * np.exp(-1j * OMEGA * key_at)
    return float((query * other.conj()).real.sum())


def extremes(key: Pair) -> tuple[float, float]:
    """Return the least and the largest score with a table added, over all places of the pair."""
    scores = [added((row, column), key) for row in _BOTH.rows for column in _BOTH.columns]
    return min(scores), max(scores)


def corner(at: Pair) -> str:
    """Return the transform that leads a drawing of a patch to its place."""
    return f"translate({_LEFT + _TILE * at[1]} {_TOP + _TILE * at[0]})"


def bar_path(value: float, y: int) -> str:
    """Return the bar of a score, from zero on."""
    return f"M{_ZERO} {y}h{_UNIT * value:.2f}v14H{_ZERO}z"


def band_path(low: float, high: float, y: int) -> str:
    """Return the pale bar from the least to the largest score."""
    width = _UNIT * (high - low)
    return f"M{_ZERO + _UNIT * low:.2f} {y - 3}h{width:.2f}v20h{-width:.2f}z"


def _picture(both: Pair, key: Pair) -> str:
    """Return the grid, the face with its left eye, and the right eye."""
    width, height = _TILE * COLUMNS, _TILE * ROWS
    lines = "".join(f"M{_LEFT} {_TOP + _TILE * i}h{width}" for i in range(ROWS + 1))
    lines += "".join(f"M{_LEFT + _TILE * i} {_TOP}v{height}" for i in range(COLUMNS + 1))
    grid = drawing.element("path", class_="thin", d=lines, stroke_opacity=0.5)
    round_face = {"cx": 2 * _TILE, "cy": 0.7 * _TILE, "r": 2.3 * _TILE}
    mouth = f"M{1.2 * _TILE:g} {1.9 * _TILE:g}q{0.8 * _TILE:g} {0.9 * _TILE:g} {1.6 * _TILE:g} 0"
    face = drawing.element("circle", class_="turn", **round_face)
    face += drawing.element("path", class_="soft-line", d=mouth) + _eye("query")
    face += drawing.element("circle", class_="grip free", data_grip="both", **round_face)
    middle = {"cx": _TILE / 2, "cy": _TILE / 2, "r": _TILE}
    eye = _eye("key") + drawing.element("circle", class_="grip free", data_grip="key", **middle)
    at = both[0] + key[0], both[1] + key[1]
    face = drawing.element("g", face, transform=corner(both), data_part="face")
    return grid + face + drawing.element("g", eye, transform=corner(at), data_part="key")


def _eye(name: str) -> str:
    """Return a patch with an eye in it."""
    frame = drawing.element("path", class_=f"pin {name}", d=f"M0 0h{_TILE}v{_TILE}h{-_TILE}z")
    middle = {"cx": _TILE / 2, "cy": _TILE / 2, "r": 5}
    return frame + drawing.element("circle", class_=f"knob {name}", **middle)


def _dials(both: Pair, key: Pair) -> str:
    rows, columns = angles(both, key)
    return _dial("columns", columns) + _dial("rows", rows)


def angles(both: Pair, key: Pair) -> list[tuple[float, float]]:
    """Return the angles of the query's and the key's hand on the dial for rows and for columns."""
    rows, columns = (OMEGA * one for one in both)
    return [(rows, rows + OMEGA * key[0]), (columns, columns + OMEGA * (key[1] - WANTED))]


def _dial(name: str, hands: tuple[float, float]) -> str:
    x, y = _DIALS[name]
    drawn = drawing.element("circle", r=_RADIUS, class_="face")
    for who, angle, length in zip(
        ("query", "key"), hands, (_RADIUS - 3, _RADIUS - 10), strict=True
    ):
        drawn += drawing.element(
            "line", x1=0, y1=0, x2=length, y2=0, class_=f"hand {who}",
            transform=f"rotate({-math.degrees(angle):.2f})", data_part=f"{name}-{who}",
        )  # fmt: skip
    words = drawing.text(x, y - _RADIUS - 6, name, class_="label")
    return words + drawing.element("g", drawn, transform=f"translate({x} {y})")


def _bars(both: Pair, key: Pair) -> str:
    """Return a bar for each score, over the pale range that it has in other places."""
    top, bottom = _BARS
    axis = f"M{_ZERO} {top - 6}v{bottom - top + 26}"
    return (
        _bar("turned", top, turned(key), (turned(key), turned(key)))
        + _bar("added", bottom, added(both, key), extremes(key))
        + drawing.element("path", class_="axis", d=axis)
        + drawing.text(_ZERO, 294, "0", class_="label small")
    )


def _bar(name: str, y: int, value: float, ends: tuple[float, float]) -> str:
    return (
        drawing.element("path", class_="turn", d=band_path(*ends, y), data_part=f"{name}-band")
        + drawing.element("path", class_="fill", d=bar_path(value, y), data_part=f"{name}-bar")
        + drawing.text(_LEFT, y + 11, name, class_="small")
        + drawing.text(352, y + 11, f"{value:.2f}", class_="end", data_part=f"{name}-score")
    )
