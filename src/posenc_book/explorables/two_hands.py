"""Two tokens of a text, the hands that they turn, and the score, which knows only their offset."""

import math

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Preset, Range

TEXT = "ALICEHELPEDBOBANDBOBHELPEDALICES"
OMEGA = 0.4  # radians that a hand turns from one place to the next
AHEAD = 1.2  # radians by which the key is ahead of the query before either turns: three places
_LEFT, _TILE, _TOP, _HEIGHT = 20, 10, 40, 20
_DIAL = (100, 172, 62)  # middle and radius
_ZERO, _UNIT, _BAR = 270, 70, 164  # of the score's bar


class TwoHands(Explorable):
    """One dial of RoPE: a query and a key, each turned by its place in the text."""

    name = "two-hands"
    title = "Two hands on a dial"
    caption = (
        "Drag the query, drawn above the text, or the key below it: a hand turns, and the score "
        "changes. Drag the text between them, and both hands turn while the score stands still."
    )
    alt = (
        "A row of letters. One is marked as the query and one, five places before it, as the key. "
        "Below, a dial with two hands; the angle between them is shaded, and a bar shows the score."
    )
    controls = (
        Range("place", "Move both", 8, 23, 1, 12),
        Range("offset", "Move the key", -8, 8, 1, -5),
    )
    presets = (
        Preset("Both 8 places on", {"place": 20}),
        Preset("Key three before", {"offset": -3}),
        Preset("Key three after", {"offset": 3}),
    )
    python = "np.cos(0.4 * {offset} + 1.2)"

    def svg(self, state: State) -> str:
        """Return the text with its two marks, the dial and the bar."""
        place, offset = int(state["place"]), int(state["offset"])
        return drawing.svg(
            360,
            250,
            _text(place, offset) + _dial(place, offset) + _bar(offset),
            label=self.alt,
        )

    def summary(self, state: State) -> str:
        """Return where both stand, and the angle and the score that follow."""
        place, offset = int(state["place"]), int(state["offset"])
        return (
            f"The query stands at place {place}, the key {where(offset)}. Between their hands are "
            f"{apart(offset):.1f}°, so the score is {score(offset):.2f}. It is the same wherever "
            "the two stand."
        )


def where(offset: int) -> str:
    """Return where the key stands, from the query."""
    if offset == 0:
        return "at its own place"
    steps = "1 place" if abs(offset) == 1 else f"{abs(offset)} places"
    return f"{steps} {'before' if offset < 0 else 'after'} it"


def angles(place: int, offset: int) -> tuple[float, float]:
    """Return the angles of the query's hand and of the key's, in radians."""
    return OMEGA * place, OMEGA * (place + offset) + AHEAD


def score(offset: int) -> float:
    """Return the product of two hands of length 1."""
    return math.cos(OMEGA * offset + AHEAD)


def apart(offset: int) -> float:
    """Return the angle between the hands, in degrees from 0 to 180."""
    return math.degrees(math.acos(score(offset)))


def middle(place: int) -> float:
    """Return where the middle of a letter is drawn."""
    return _LEFT + _TILE * (place + 0.5)


def moved(place: int, y: float) -> str:
    """Return the transform that leads a mark to its letter."""
    return f"translate({middle(place):g} {y:g})"


def between(place: int, key: int) -> str:
    """Return the path around the letters from the one to the other."""
    start, end = min(place, key), max(place, key)
    width = _TILE * (end - start + 1)
    return f"M{_LEFT + _TILE * start} {_TOP}h{width}v{_HEIGHT}h{-width}z"


def sector(start: float, end: float) -> str:
    """Return the path of the smaller angle between two hands, at half the dial's size."""
    r = _DIAL[2] / 2
    turn = math.remainder(end - start, 2 * math.pi)
    b = start + turn
    return (
        f"M0 0L{r * math.cos(start):.2f} {-r * math.sin(start):.2f}"
        f"A{r:g} {r:g} 0 0 {int(turn < 0)} {r * math.cos(b):.2f} {-r * math.sin(b):.2f}Z"
    )


def _text(place: int, offset: int) -> str:
    """Return the letters, the two marks, and what a pointer can take hold of."""
    width = _TILE * len(TEXT)
    frame = drawing.element("path", class_="thin", d=f"M{_LEFT} {_TOP}h{width}v{_HEIGHT}h{-width}z")
    shade = between(place, place + offset)
    frame += drawing.element("path", class_="between", d=shade, data_part="between")
    letters = "".join(
        drawing.text(middle(i), _TOP + 14, letter, class_="label small")
        for i, letter in enumerate(TEXT)
    )
    marks = _mark("query", place, _TOP, -1) + _mark("key", place + offset, _TOP + _HEIGHT, 1)
    grips = _grip("query", 0, _TOP) + _grip("both", _TOP, _HEIGHT)
    return frame + letters + marks + grips + _grip("key", _TOP + _HEIGHT, 40)


def _mark(name: str, place: int, y: int, down: int) -> str:
    pin = drawing.element(
        "path", class_=f"pin {name}", d=f"M{-_TILE // 2} 0h{_TILE}M0 0v{10 * down}"
    )
    knob = drawing.element("circle", class_=f"knob {name}", cy=10 * down, r=4)
    word = drawing.text(0, 27 if down > 0 else -18, name, class_="label")
    return drawing.element("g", pin + knob + word, transform=moved(place, y), data_part=name)


def _grip(name: str, top: int, height: int) -> str:
    path = f"M0 {top}h360v{height}h-360z"
    return drawing.element("path", class_="grip", d=path, data_grip=name)


def _dial(place: int, offset: int) -> str:
    x, y, r = _DIAL
    query, key = angles(place, offset)
    hands = drawing.element("circle", r=r, class_="face")
    hands += drawing.element("path", class_="turn", d=sector(query, key), data_part="angle")
    for name, angle in (("query", query), ("key", key)):
        hands += drawing.element(
            "line", x1=0, y1=0, x2=r - 5, y2=0, class_=f"hand {name}",
            transform=f"rotate({-math.degrees(angle):.2f})", data_part=f"{name}-hand",
        )  # fmt: skip
    return drawing.element("g", hands, transform=f"translate({x} {y})")


def _bar(offset: int) -> str:
    ends = drawing.element(
        "path", class_="axis", d=f"M{_ZERO - _UNIT} {_BAR + 22}h{2 * _UNIT}M{_ZERO} {_BAR - 6}v28"
    )
    words = "".join(
        drawing.text(_ZERO + _UNIT * at, _BAR + 38, said, class_="label")
        for at, said in ((-1, "−1"), (0, "0"), (1, "1"))
    )
    said = f"score {score(offset):.2f}"
    words += drawing.text(_ZERO, _BAR - 18, said, class_="label word", data_part="score")
    bar = drawing.element("path", class_="fill", d=bar_path(score(offset)), data_part="bar")
    return bar + ends + words


def bar_path(value: float) -> str:
    """Return the bar of a score, from zero on."""
    return f"M{_ZERO} {_BAR}h{_UNIT * value:.2f}v16H{_ZERO}z"
