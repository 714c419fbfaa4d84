"""One clock hand for each pair of dimensions, and what an offset does to them."""

import math

from posenc.frequencies import geometric
from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Preset, Range

D_MODEL, BASE = 16, 100
_OMEGA = geometric(D_MODEL, BASE)
_RADIUS, _STEP, _COLUMNS = 36, 90, 4


class ClockHands(Explorable):
    """Dials of the pairs of a sinusoidal encoding with 16 dimensions."""

    name = "clock-hands"
    title = "A position is a row of clock hands"
    caption = (
        "Take hold of a hand and turn it; the other clocks run along. The dashed hands show where "
        "the solid ones will stand an offset further on. Turn as you like: the shaded angles stay "
        "as wide as they are, until you change the offset."
    )
    alt = (
        "Eight dials. The hands of the first turn fast, those of the last hardly move. On each a "
        "dashed hand stands ahead of the solid one by an angle that shrinks from dial to dial."
    )
    controls = (
        Range("position", "Position t", 0, 64, 0.25, 5),
        Range("offset", "Offset k", 0, 12, 1, 2),
    )
    presets = (
        Preset("Same offset, far away", {"position": 60}),
        Preset("No offset", {"offset": 0}),
    )
    python = (
        "tables.encode([{position}, {position} + {offset}], frequencies.geometric(16, base=100))"
    )

    def svg(self, state: State) -> str:
        """Return four dials in each of two rows."""
        dials = "".join(self._dial(i, state) for i in range(D_MODEL // 2))
        return drawing.svg(_STEP * _COLUMNS, 2 * (_STEP + 18), dials, label=self.alt)

    def summary(self, state: State) -> str:
        """Return where the first and the last hand stand."""
        first, last = (degrees(i, state["position"]) for i in (0, D_MODEL // 2 - 1))
        turned = degrees(0, state["offset"])
        return (
            f"At position {state['position']:g} the fastest hand stands at {first:.1f}° and the "
            f"slowest at {last:.1f}°. {state['offset']:g} positions further on the fastest has "
            f"turned by {turned:.1f}°, wherever it started."
        )

    def _dial(self, i: int, state: State) -> str:
        x = _STEP * (i % _COLUMNS) + _STEP / 2
        y = (_STEP + 18) * (i // _COLUMNS) + _STEP / 2
        start, turn = degrees(i, state["position"]), degrees(i, state["offset"])
        hands = (
            drawing.element("circle", r=_RADIUS, class_="face")
            + drawing.element("path", d=sector(start, turn), class_="turn", data_part=f"turn-{i}")
            + _hand(start + turn, "next", f"next-{i}")
            + _hand(start, "now", f"now-{i}")
            + drawing.text(0, _RADIUS + 14, f"pair {i}", class_="label")
            + drawing.element("circle", r=_RADIUS, class_="grip", data_grip=str(i), data_turn="")
        )
        return drawing.element("g", hands, transform=f"translate({x:g} {y:g})")


def degrees(pair: int, steps: float | str) -> float:
    """Return the angle by which a hand turns in so many steps, in degrees from 0 to 360."""
    return math.degrees(float(steps) * _OMEGA[pair]) % 360


def _hand(turned: float, kind: str, part: str) -> str:
    """Return a hand; angles run counter-clockwise from the right, as in the plane of cos, sin."""
    return drawing.element(
        "line", x1=0, y1=0, x2=_RADIUS - 4, y2=0, class_=kind,
        transform=f"rotate({-turned:.2f})", data_part=part,
    )  # fmt: skip


def sector(start: float, turn: float) -> str:
    """Return the path of the angle from `start` on, both in degrees, at half the dial's size."""
    r, a, b = _RADIUS / 2, math.radians(start), math.radians(start + turn)
    return (
        f"M0 0L{r * math.cos(a):.2f} {-r * math.sin(a):.2f}"
        f"A{r:g} {r:g} 0 {int(turn > 180)} 0 {r * math.cos(b):.2f} {-r * math.sin(b):.2f}Z"
    )
