"""A text of one word: its values as arrows on a dial, turned or not, and what a rose hears."""

import math

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset, Range

OMEGA = 0.4  # radians that a value turns from one place to the next
FIRST = 0.5  # radians at which the arrow of a rose points before it is turned
FURTHER = 5  # places by which the same text is moved on
MOST = 12
_LEFT, _TILE, _TOP = 48, 22, 26  # of the text
_DIAL = (180, 150, 84)  # middle and radius
WAYS = {
    "none": "queries and keys",
    "values": "values, too",
    "back": "values, and back",
}


class Roses(Explorable):
    """The values of equal words, as the first of them hears them, and their mean."""

    name = "roses"
    title = "How many roses?"
    caption = (
        "Each thin arrow is what one rose says; the thick one is their mean, with equal shares, "
        "and that is all the first rose hears. The dashed arrow is the mean when the same text "
        "stands 5 places further on. Pull the row of roses longer or shorter, and choose what is "
        "turned."
    )
    alt = (
        "A row of five roses, and below it a dial. With only queries and keys turned, five arrows "
        "lie on one another, and their mean is the same arrow."
    )
    controls = (
        Range("n", "Roses in the text", 1, MOST, 1, 5),
        Choice("way", "What is turned", WAYS, "none"),
    )
    presets = (
        Preset("Nine roses, RoPE", {"n": 9, "way": "none"}),
        Preset("Turn the values", {"n": 9, "way": "values"}),
        Preset("Turn the sum back", {"n": 9, "way": "back"}),
    )
    python = "[roses.mean({n}, '{way}', start) for start in (0, 5)]"

    def svg(self, state: State) -> str:
        """Return the row of roses, the dial with their arrows, and the two means."""
        n, way = int(state["n"]), state["way"]
        x, y, r = _DIAL
        dial = drawing.element("circle", r=r, class_="face")
        dial += drawing.element("path", class_="quiet", d=_rays(arrows(n, way, 0)), data_part="all")
        for part, class_, start in (("mean", "now", 0), ("moved", "next", FURTHER)):
            dial += drawing.element("path", class_=class_, d=_arrow(n, way, start), data_part=part)
        return drawing.svg(
            360,
            250,
            _row(n) + drawing.element("g", dial, transform=f"translate({x} {y})"),
            label=self.alt,
        )

    def summary(self, state: State) -> str:
        """Return what the first rose can know of the number and of the place."""
        n, way = int(state["n"]), state["way"]
        roses = "1 rose" if n == 1 else f"{n} roses"
        if way == "none":
            return (
                f"{roses}: the mean is the arrow of a single rose, 1.00 long. It would be so for "
                "any number of them, at any place."
            )
        told = f"{roses}: the mean is {length_of_mean(n):.2f} long"
        told += "." if n == 1 else ", so the number shows."
        if way == "values":
            return f"{told} {FURTHER} places further on it points elsewhere: the place shows."
        return f"{told} {FURTHER} places further on it is the same arrow: the place does not show."


def arrows(n: int, way: str, start: int) -> list[float]:
    """Return the angles of the values, as the first rose hears them, in radians."""
    turned = {"none": 0.0, "values": 1.0, "back": 1.0}[way]
    back = OMEGA * start if way == "back" else 0.0
    return [FIRST + turned * OMEGA * (start + j) - back for j in range(n)]


def mean(n: int, way: str, start: int) -> tuple[float, float]:
    """Return the mean of the arrows, each of length 1."""
    angles = arrows(n, way, start)
    return sum(map(math.cos, angles)) / n, sum(map(math.sin, angles)) / n


def length_of_mean(n: int, omega: float = OMEGA) -> float:
    """Return how long the mean of so many arrows is, each turned further than the last."""
    along, up = (sum(wave(omega * j) for j in range(n)) / n for wave in (math.cos, math.sin))
    return math.hypot(along, up)


def _rays(angles: list[float]) -> str:
    r = _DIAL[2] - 6
    return "".join(f"M0 0L{r * math.cos(a):.2f} {-r * math.sin(a):.2f}" for a in angles)


def _arrow(n: int, way: str, start: int) -> str:
    x, y = ((_DIAL[2] - 6) * one for one in mean(n, way, start))
    return f"M0 0L{x:.2f} {-y:.2f}"


def _row(n: int) -> str:
    """Return the roses, those that are not in the text faint, and what a pointer can pull."""
    roses = "".join(
        drawing.element(
            "circle", cx=_LEFT + _TILE * (i + 0.5), cy=_TOP, r=7,
            class_="fill" if i < n else "lone", data_part=f"rose-{i}",
        )
        for i in range(MOST)
    )  # fmt: skip
    grip = drawing.element("path", class_="grip", d="M0 4h360v44h-360z", data_grip="row")
    return roses + grip
