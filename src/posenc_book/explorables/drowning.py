"""Two words and the number of their place, which is added to them and drowns them."""

import numpy as np
from numpy.typing import NDArray

from posenc import tables
from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset, Range

N_PLACES, N_NUMBERS = 256, 8
WORDS = ("Alice", "Bob")
WRITTEN = {
    "number": "the number itself",
    "fraction": "the number divided by 256",
    "digits": "its digits",
    "bits": "its bits",
}
_LEFT, _STEP, _RULER = 20, 1.25, 34  # of the page
_PANEL, _BAR, _WIDTH = 170, 19, 15
_BASE, _UP = 154, 78  # no bar is higher


class Drowning(Explorable):
    """Eight numbers of two words, on top of what their place adds."""

    name = "drowning"
    title = "A word and its number"
    caption = (
        "Drag the mark along a page of 256 places. Solid: the eight numbers of each word. Pale: "
        "what is added to them at that place. The tallest bar always fills the picture."
    )
    alt = (
        "A line with a mark at place 20. Below, eight bars for Alice and eight for Bob: each is a "
        "tall pale column of the same height with a small solid piece at its top."
    )
    controls = (
        Range("place", "Place", 0, N_PLACES - 2, 1, 20),
        Choice("written", "What is added", WRITTEN, "number"),
    )
    presets = (
        Preset("Place 0", {"place": 0}),
        Preset("Place 200", {"place": 200}),
        Preset("127, in bits", {"place": 127, "written": "bits"}),
    )
    python = "drowning.added({place}, '{written}')"

    def data(self) -> dict:
        """Return the numbers of the two words."""
        return {"words": words().tolist()}

    def svg(self, state: State) -> str:
        """Return the page with its mark, and the bars of both words."""
        place, written = int(state["place"]), str(state["written"])
        page = drawing.element(
            "path", class_="axis", d=f"M{_LEFT} {_RULER}h{_STEP * (N_PLACES - 1):g}"
        )
        page += "".join(
            drawing.text(_LEFT + _STEP * at, _RULER + 15, f"{at}", class_="label small")
            for at in (0, 64, 128, 192, 255)
        )
        page += drawing.element(
            "circle", class_="dot", r=6, cx=_LEFT + _STEP * place, cy=_RULER, data_part="mark"
        )
        page += drawing.text(
            _said_at(place), 20, f"place {place}", class_="label word", data_part="place"
        )
        page += drawing.text(180, 68, plus(place, written), class_="label", data_part="plus")
        grip = drawing.element("path", class_="grip", d="M0 0h360v54h-360z", data_grip="page")
        bars = "".join(_bars(word, place, written) for word in range(len(WORDS)))
        return drawing.svg(360, 230, page + bars + grip, label=self.alt)

    def summary(self, state: State) -> str:
        """Return what is added, what is wrong with it, and what is left of the words."""
        place, written = int(state["place"]), str(state["written"])
        left = round(100 * words_share(place, written))
        return f"{fault(place, written)} The words are {left}% as tall as the tallest bar."


def words() -> NDArray[np.float64]:
    """Return the numbers of the two words: a draw whose bars fit into the picture."""
    return np.random.default_rng(1990).normal(size=(len(WORDS), N_NUMBERS)).round(1)


def added(place: int, written: str) -> NDArray[np.float64]:
    """Return the eight numbers that a place adds to a word."""
    if written == "number":
        return np.full(N_NUMBERS, float(place))
    if written == "fraction":
        return np.full(N_NUMBERS, place / N_PLACES)
    if written == "digits":
        return tables.digits(N_PLACES, N_NUMBERS)[place].astype(float)
    return tables.binary(N_PLACES)[place].astype(float)


def words_share(place: int, written: str) -> float:
    """Return the largest number of the words, as a share of the tallest bar."""
    x = words()
    tallest = max(np.abs(x + added(place, written)).max(), np.abs(x).max())
    return float(np.abs(x).max() / tallest)


def plus(place: int, written: str) -> str:
    """Return what is added, in few signs."""
    numbers = added(place, written)
    if written == "number":
        return f"+ {place} to each number"
    if written == "fraction":
        return f"+ {numbers[0]:.2f} to each number"
    return "+ " + "  ".join(f"{one:.0f}" for one in numbers)


def fault(place: int, written: str) -> str:
    """Return what is added, and what to think of it."""
    numbers = added(place, written)
    if written == "number":
        return f"At place {place} each of the eight numbers grows by {place}."
    if written == "fraction":
        return (
            f"At place {place} each number grows by {numbers[0]:.2f}; in a text twice as long "
            f"that is place {2 * place}."
        )
    changed = int((added(place + 1, written) != numbers).sum())
    kind = "digit" if written == "digits" else "bit"
    some = f"1 {kind} changes" if changed == 1 else f"{changed} {kind}s change"
    return f"From place {place} to {place + 1}, {some}."


def rect(low: float, high: float, scale: float) -> dict[str, float]:
    """Return place and height of a piece of a bar between two values."""
    return {"y": _BASE - scale * max(low, high), "height": scale * abs(high - low)}


def scale_of(place: int, written: str) -> float:
    """Return the units of the drawing for a value of 1: the tallest bar fills its room."""
    return _UP / max(float((words() + added(place, written)).max()), added(place, written).max())


def _said_at(place: int) -> float:
    return min(max(_LEFT + _STEP * place, 42), 318)


def _bars(word: int, place: int, written: str) -> str:
    left, scale = _LEFT + _PANEL * word, scale_of(place, written)
    drawn = ""
    for i, (x, p) in enumerate(zip(words()[word], added(place, written), strict=True)):
        for part, low, high in (("added", 0, p), ("word", p, p + x)):
            drawn += drawing.element(
                "rect", class_="turn" if part == "added" else "fill",
                x=left + _BAR * i, width=_WIDTH, data_part=f"{part}-{word}-{i}",
                **rect(low, high, scale),
            )  # fmt: skip
    axis = drawing.element("path", class_="axis", d=f"M{left - 3} {_BASE}h{_BAR * N_NUMBERS + 2}")
    name = drawing.text(left + _BAR * N_NUMBERS / 2 - 2, 224, WORDS[word], class_="label word")
    return drawn + axis + name
