"""Four clocks that can be turned by hand; the halves of their dials are the bits of the place."""

import math

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Preset, Range

PERIODS = (16, 8, 4, 2)  # places for a whole turn
_LEFT, _STEP, _RULER = 20, 20, 22
_RADIUS, _COLUMN, _MIDDLE = 36, 90, 92


class Clocks(Explorable):
    """A place between 0 and 16 on four clocks, each twice as fast as the one before."""

    name = "clocks"
    title = "Clocks that count"
    caption = (
        "Take hold of a clock and turn it: drag to the right, and its hand goes counter-clockwise. "
        "The other hands and the place follow. A dial is shaded, and reads as 1, when its hand has "
        "gone half a turn or more."
    )
    alt = (
        "A line with a mark at place 5. Below, four clocks. The hand of the first has gone 5/16 of "
        "a turn, that of the second 5/8, of the third 1/4 and of the last 1/2. The second and the "
        "last dial are shaded. Below them the bits 0, 1, 0, 1."
    )
    controls = (Range("place", "Place", 0, 15.9, 0.1, 5),)
    presets = (
        Preset("Just before 8", {"place": 7.9}),
        Preset("At 8", {"place": 8}),
    )
    python = "program.encode([{place}], 2 * np.pi / np.array([16, 8, 4, 2]))"

    def svg(self, state: State) -> str:
        """Return the places, and the four clocks."""
        place = float(state["place"])
        line = drawing.element("path", class_="axis", d=f"M{_LEFT} {_RULER}h{16 * _STEP}")
        line += "".join(
            drawing.text(_LEFT + _STEP * at, _RULER + 18, f"{at}", class_="label small")
            for at in range(16)
        )
        x = _LEFT + _STEP * place
        line += drawing.element("circle", class_="dot", r=6, cx=x, cy=_RULER, data_part="mark")
        line += drawing.element("path", class_="grip", d="M0 0h360v44h-360z", data_grip="line")
        clocks = "".join(_clock(i, place) for i in range(len(PERIODS)))
        return drawing.svg(360, 176, line + clocks, label=self.alt)

    def summary(self, state: State) -> str:
        """Return what the halves of the dials read, and what the next place changes."""
        place = float(state["place"])
        read = " ".join(f"{half(place, period)}" for period in PERIODS)
        flips = sum(half(place, p) != half(place + 1, p) for p in PERIODS)
        some = "1 bit jumps" if flips == 1 else f"{flips} bits jump"
        return (
            f"At place {place:.1f} the dials read {read}, which is {math.floor(place)} in bits. "
            f"One place on, {some}; the slowest hand glides by 22.5°, as always."
        )


def angle(place: float, period: int) -> float:
    """Return how far a hand has turned, in degrees from 0 to 360."""
    return 360 * (place % period) / period


def half(place: float, period: int) -> int:
    """Return 1 if a hand has gone half a turn or more, and 0 otherwise."""
    return int(place % period >= period / 2)


def _clock(i: int, place: float) -> str:
    period = PERIODS[i]
    lower = f"M{-_RADIUS} 0A{_RADIUS} {_RADIUS} 0 0 0 {_RADIUS} 0Z"
    drawn = drawing.element("circle", r=_RADIUS, class_="face")
    drawn += drawing.element(
        "path", class_="turn", d=lower, opacity=half(place, period), data_part=f"half-{i}"
    )
    drawn += drawing.element(
        "line", class_="now", x1=0, y1=0, x2=_RADIUS - 4, y2=0,
        transform=f"rotate({-angle(place, period):.2f})", data_part=f"hand-{i}",
    )  # fmt: skip
    drawn += drawing.text(
        0, _RADIUS + 22, f"{half(place, period)}", class_="label word", data_part=f"bit-{i}"
    )
    drawn += drawing.text(0, _RADIUS + 40, f"turns in {period}", class_="label small")
    drawn += drawing.element("path", class_="grip", d="M-44 -40h88v84h-88z", data_grip=f"{i}")
    x = _COLUMN * (i + 0.5)
    return drawing.element("g", drawn, transform=f"translate({x:g} {_MIDDLE})")
