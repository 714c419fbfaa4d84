"""The book's emblem: clocks whose hands turn at different speeds, and the bits beneath them."""

import math

from posenc_book.explorables import drawing
from posenc_book.explorables.clocks import angle, half

PLACE, PERIODS = 5, (8, 4, 2)  # the bits 101, which are the number of the place
RADIUS, COLUMN, HEIGHT = 40, 100, 148
DIGITS = ("M-11 70a11 16 0 0 0 22 0a11 16 0 0 0-22 0", "M-8 62L0 54V86M-8 86H8")  # without type
CAPTION = """The sign of this book: place 5 on three clocks that turn in 8, 4 and 2 places. The \
thick rim is the way that each hand has come since place 4. A dial whose hand has gone half a turn \
or more is shaded and reads as 1: below stands 101, which is 5 in bits."""
ALT = """Three clocks with a bit below each. The first hand points to the lower left, the second \
up, the third to the left. The first and the third dial are shaded and bear a 1, the second bears \
a 0. Along the rims, thick arcs of 1/8, 1/4 and 1/2 of a turn end at the hands."""


def svg(place: int = PLACE, *, color: str = "currentColor") -> str:
    """Return the emblem: a clock for each bit of a place, the slowest first."""
    clocks = [_clock(place, period, COLUMN * (i + 0.5)) for i, period in enumerate(PERIODS)]
    return _drawing(COLUMN * len(PERIODS), "".join(clocks), color, ALT)


def favicon() -> str:
    """Return the first clock of the emblem above its bit, as a file to be read at 16 pixels."""
    ground = f'<rect width="{HEIGHT}" height="{HEIGHT}" rx="28" fill="#14507a" stroke="none"/>'
    clock = _clock(PLACE, PERIODS[0], 78.6, bold=1.8)  # there the 1 fills one column of 16
    return _file(_drawing(HEIGHT, ground + clock, "#ffffff", "A clock above a 1"), 32) + "\n"


def show() -> None:
    """Display the emblem in a notebook, with its caption and alt text."""
    from IPython.display import publish_display_data

    drawn = _file(svg(color="#1b2a49"), 360)
    shown = {"image/svg+xml": drawn, "text/plain": f"[figure: {ALT}]"}
    words = {"name": "fig-emblem", "caption": CAPTION, "alt": ALT}
    publish_display_data(shown, {"posenc": words})


def _clock(place: int, period: int, x: float, bold: float = 1.0) -> str:
    """Return a dial with its hand, the way of the hand since the place before, and its bit."""
    turned, bit = angle(place, period), half(place, period)
    arc = f"A{RADIUS} {RADIUS} 0 0 0 "
    return (
        f'<g transform="translate({x:g} 52)" stroke-width="{4.5 * bold:g}">'
        f'<path d="M{_at(180)}{arc}{_at(0)}" fill="currentColor" opacity="{0.3 * bit}" '
        f'stroke="none"/><circle r="{RADIUS}" stroke-width="{2.5 * bold:g}"/>'
        f'<path d="M{_at(turned - 360 / period)}{arc}{_at(turned)}" stroke-width="7" '
        f'stroke-linecap="butt"/><path d="M0 0L{_at(turned, 0.75)}" stroke-width="{6 * bold:g}"/>'
        f'<path d="{DIGITS[bit]}" data-bit="{bit}"/></g>'
    )


def _at(degrees: float, share: float = 1.0) -> str:
    """Return the point of a dial to which a hand of so many degrees points."""
    x, y = math.cos(math.radians(degrees)), -math.sin(math.radians(degrees))
    return f"{share * RADIUS * x:z.2f} {share * RADIUS * y:z.2f}"


def _file(drawn: str, width: int) -> str:
    start = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
    return drawn.replace("<svg ", start, 1)


def _drawing(width: int, content: str, color: str, label: str) -> str:
    style = 'fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round"'
    return drawing.svg(width, HEIGHT, f'<g color="{color}" {style}>{content}</g>', label=label)
