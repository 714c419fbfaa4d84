"""A letter that looks along its text with a ruler in its hand: a number for each distance."""

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset, Range
from posenc_book.explorables.two_hands import where
from posenc_book.teaching.program import softmax

TEXT = "FLMIPJLFPAABMHNMGJCEOFCELMKMNOCE"
SLOPE, LOUD = 0.5, 5  # taken off for each step; added where a ruler says "look here"
RULERS = {
    "slope": "ALiBi: the nearer, the more",
    "one": "T5: one ruler for all letters",
    "own": "Shaw: each letter brings its own",
}
_LEFT, _TILE, _TOP, _HEIGHT = 20, 10, 40, 20
_ZERO, _HIGH = 190, 110  # of the bars, upwards


class Ruler(Explorable):
    """One query, and the weights that a number for each distance gives the letters around it."""

    name = "ruler"
    title = "A ruler in the hand of a letter"
    caption = (
        "Drag the query along the text. The bars show to which letters it looks if nothing but "
        "the distance counts: its ruler travels with it. Each letter asks for another one, 1 to 4 "
        "places before it, which is framed. Only with its own ruler can it get what it asks for."
    )
    alt = (
        "A row of 32 letters. The query stands at place 16, on a G. Below, bars: the highest at "
        "the query itself, and on both sides lower with every step. A frame is around the letter "
        "three places before it, which the G asks for."
    )
    controls = (
        Range("place", "The query at place", 8, 23, 1, 16),
        Choice("ruler", "Ruler", RULERS, "slope"),
    )
    presets = (
        Preset("One place on", {"place": 17}),
        Preset("One ruler for all", {"ruler": "one"}),
        Preset("Each letter its own", {"ruler": "own"}),
    )
    python = "ruler.weights('{ruler}', {place})"

    def svg(self, state: State) -> str:
        """Return the text, the query, the frame around what it asks for, and the bars."""
        place, ruler = int(state["place"]), str(state["ruler"])
        width = _TILE * len(TEXT)
        frame = drawing.element(
            "path", class_="thin", d=f"M{_LEFT} {_TOP}h{width}v{_HEIGHT}h{-width}z"
        )
        wanted = drawing.element("path", class_="outline", d=tile(place), data_part="wanted")
        letters = "".join(
            drawing.text(middle(i), _TOP + 14, letter, class_="label small")
            for i, letter in enumerate(TEXT)
        )
        bars = "".join(
            drawing.element("path", class_="fill", d=bar(i, weight), data_part=f"bar-{i}")
            for i, weight in enumerate(weights(ruler, place))
        )
        floor = drawing.element("path", class_="axis", d=f"M{_LEFT} {_ZERO}h{width}")
        words = drawing.text(180, _ZERO + 16, "share of the attention", class_="label")
        grip = drawing.element("path", class_="grip", d=f"M0 0h360v{_ZERO}H0z", data_grip="query")
        drawn = frame + letters + wanted + _mark(place) + bars + floor + words + grip
        return drawing.svg(360, _ZERO + 26, drawn, label=self.alt)

    def summary(self, state: State) -> str:
        """Return what the query asks for, and how much of its attention goes there."""
        place, ruler = int(state["place"]), str(state["ruler"])
        share = weights(ruler, place)[place - asks(place)]
        return (
            f"The query stands at place {place}. It is a letter {TEXT[place]}, which asks for the "
            f"letter {where(-asks(place))}. That one gets {100 * share:.0f} % of its attention."
        )


def asks(place: int) -> int:
    """Return how many places back the letter at a place asks to look, 1 to 4."""
    return 1 + (ord(TEXT[place]) - ord("A")) % 4


def numbers(ruler: str, place: int) -> NDArray[np.float64]:
    """Return what a query adds to its score with each letter of the text."""
    _checks.choice("ruler", ruler, RULERS)
    offset = np.arange(len(TEXT)) - place
    if ruler == "slope":
        return -SLOPE * np.abs(offset)
    marked = (offset >= -4) & (offset <= -1) if ruler == "one" else offset == -asks(place)
    return np.where(marked, float(LOUD), 0.0)


def weights(ruler: str, place: int) -> NDArray[np.float64]:
    """Return the attention that the query gives each letter, if all say the same."""
    return softmax(numbers(ruler, place))


def middle(place: int) -> float:
    """Return where the middle of a letter is drawn."""
    return _LEFT + _TILE * (place + 0.5)


def tile(place: int) -> str:
    """Return the frame around the letter that the one at a place asks for."""
    return f"M{_LEFT + _TILE * (place - asks(place))} {_TOP}h{_TILE}v{_HEIGHT}h{-_TILE}z"


def bar(place: int, weight: float) -> str:
    """Return the bar of a weight."""
    x = _LEFT + _TILE * place + 1
    return f"M{x} {_ZERO}v{-_HIGH * weight:.2f}h{_TILE - 2}V{_ZERO}z"


def _mark(place: int) -> str:
    pin = drawing.element("path", class_="pin query", d=f"M{-_TILE // 2} 0h{_TILE}M0 0v-10")
    knob = drawing.element("circle", class_="knob query", cy=-10, r=4)
    word = drawing.text(0, -18, "query", class_="label")
    where_ = f"translate({middle(place):g} {_TOP})"
    return drawing.element("g", pin + knob + word, transform=where_, data_part="query")
