"""The book's emblem: clocks whose hands turn at different speeds, and the bits beneath them."""

import math

from posenc_book.explorables import drawing
from posenc_book.explorables.clocks import angle, half

PLACE, PERIODS = 5, (8, 4, 2)  # the bits 101, which are the number of the place
RADIUS, COLUMN, HEIGHT = 40, 100, 148
DIAL, BIT = 52, 122  # heights at which dials and bits have their middles
INK, BLUE, WHITE = "#1b2a49", "#14507a", "#ffffff"
CAPTION = (
    "The sign of this book: place 5 on three clocks that turn in 8, 4 and 2 places. The thick rim "
    "is the way that each hand has come since place 4. A dial whose hand has gone half a turn or "
    "more is shaded and reads as 1: below stands 101, which is 5 in bits."
)
ALT = (
    "Three clocks with a bit below each. The hand of the first has gone 5/8 of a turn and points "
    "to the lower left, that of the second points up, that of the third to the left. The first "
    "and the third dial are shaded and bear a 1, the second bears a 0. Along the rims run thick "
    "arcs of 1/8, 1/4 and 1/2 of a turn."
)


def svg(place: int = PLACE, *, color: str = "currentColor") -> str:
    """Return the emblem: a clock for each bit of a place, the slowest first."""
    return _drawing(COLUMN * len(PERIODS), _row(place, PERIODS), color, ALT)


def favicon() -> str:
    """Return the first clock of the emblem above its bit, as a file to be read at 16 pixels."""
    ground = drawing.element("rect", width=HEIGHT, height=HEIGHT, rx=28, fill=BLUE, stroke="none")
    # a little to the right of the middle, where the 1 fills one column of 16 pixels
    clock = drawing.element("g", _row(PLACE, PERIODS[:1], bold=1.8), transform="translate(28.6)")
    return _file(_drawing(HEIGHT, ground + clock, WHITE, "A clock above a 1")) + "\n"


def show() -> None:
    """Display the emblem in a notebook, with its caption and alt text."""
    from IPython.display import publish_display_data

    shown = {"image/svg+xml": _file(svg(color=INK)), "text/plain": f"[figure: {ALT}]"}
    words = {"name": "fig-emblem", "caption": CAPTION, "alt": ALT}
    publish_display_data(shown, {"posenc": words})


def _file(drawn: str) -> str:
    return drawn.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


def _drawing(width: int, content: str, color: str, label: str) -> str:
    style = {"stroke": "currentColor", "stroke_linecap": "round", "stroke_linejoin": "round"}
    drawn = drawing.element("g", content, color=color, fill="none", **style)
    return drawing.svg(width, HEIGHT, drawn, label=label)


def _row(place: int, periods: tuple[int, ...], bold: float = 1.0) -> str:
    clocks = (_clock(place, period, bold) for period in periods)
    return "".join(
        drawing.element("g", clock, transform=f"translate({COLUMN * (i + 0.5):g} {DIAL})")
        for i, clock in enumerate(clocks)
    )


def _clock(place: int, period: int, bold: float) -> str:
    """Return a dial with its hand, the way of the hand since the place before, and its bit."""
    turned, bit = angle(place, period), half(place, period)
    lower = f"{_at(180)}A{RADIUS} {RADIUS} 0 0 0 {RADIUS} 0Z"
    way = f"{_at(turned - 360 / period)}A{RADIUS} {RADIUS} 0 0 0 {_at(turned)[1:]}"
    drawn = drawing.element("circle", r=RADIUS, stroke_width=2.5 * bold)
    if bit:
        drawn += drawing.element(
            "path", d=lower, fill="currentColor", fill_opacity=0.3, stroke="none"
        )
    drawn += drawing.element("path", d=way, stroke_width=7, stroke_linecap="butt")
    drawn += drawing.element("path", d=f"M0 0L{_at(turned, 0.75)[1:]}", stroke_width=6 * bold)
    return drawn + _bit(bit, bold)


def _bit(bit: int, bold: float) -> str:
    """Return a digit as lines, which look alike everywhere and need no type."""
    style = {"stroke_width": 4.5 * bold, "data_bit": bit}
    y = BIT - DIAL
    if bit:
        return drawing.element("path", d=f"M-8 {y - 8}L0 {y - 16}V{y + 16}M-8 {y + 16}H8", **style)
    return drawing.element("ellipse", cx=0, cy=y, rx=11, ry=16, **style)


def _at(degrees: float, share: float = 1.0) -> str:
    """Return the point of a dial to which a hand of so many degrees points, as a path's start."""
    x, y = math.cos(math.radians(degrees)), -math.sin(math.radians(degrees))
    return f"M{round(share * RADIUS * x, 2) + 0:g} {round(share * RADIUS * y, 2) + 0:g}"
