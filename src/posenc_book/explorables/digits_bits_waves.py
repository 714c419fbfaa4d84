"""One position in three alphabets: decimal digits, bits, and waves of the bits' periods."""

import math

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Preset, Range

N_BITS, N_POSITIONS = 5, 32
_LEFT, _WIDTH, _ROW, _TOP, _HEIGHT = 44, 256, 40, 40, 26
_STEP = _WIDTH / N_POSITIONS


class DigitsBitsWaves(Explorable):
    """The last five bits of a position as square waves, with a sine of the same period on each."""

    name = "digits-bits-waves"
    title = "Digits, bits, waves"
    caption = (
        "Each row is one bit: it is 1 where the square wave is high. The curve is a sine of the "
        "same period. Move the position by one and see how many bits jump, and how little the "
        "slow curves move."
    )
    alt = (
        "Five rows of square waves, each of half the period of the row above, with a sine of the "
        "same period on each. A line marks one position in all rows."
    )
    controls = (Range("position", "Position t", 0, N_POSITIONS - 2, 1, 15),)
    presets = (
        Preset("15: five bits jump", {"position": 15}),
        Preset("20: one bit jumps", {"position": 20}),
    )
    python = "tables.binary(32)[[{position}, {position} + 1]]"

    def svg(self, state: State) -> str:
        """Return five rows, the slowest bit on top."""
        rows = "".join(self._row(k, state) for k in range(N_BITS))
        x = _x(state["position"])
        ends = {"y1": _TOP - 10, "y2": _TOP + N_BITS * _ROW - 8}
        marks = drawing.element("line", x1=x, x2=x, class_="cursor", data_part="cursor", **ends)
        words = drawing.text(_LEFT, 18, written(state["position"]), data_part="written")
        return drawing.svg(360, _TOP + N_BITS * _ROW, rows + marks + words, label=self.alt)

    def _row(self, k: int, state: State) -> str:
        top = _TOP + (N_BITS - 1 - k) * _ROW
        t = state["position"]
        value = wave(t, 2 ** (k + 1))
        said = f"{bit(t, k)} | {value:.2f}"
        place = {"cx": _x(t), "cy": _y(value, top)}
        return (
            drawing.text(0, top + 17, f"bit {k}")
            + drawing.element("path", d=square(k, top), class_="soft-line")
            + drawing.element("path", d=sine(k, top), class_="line")
            + drawing.element("circle", r=4, class_="dot", data_part=f"dot-{k}", **place)
            + drawing.text(_LEFT + _WIDTH + 8, top + 17, said, data_part=f"value-{k}")
        )

    def summary(self, state: State) -> str:
        """Return how many bits the next step flips, and how far the waves move."""
        t = int(state["position"])
        flips = sum(bit(t, k) != bit(t + 1, k) for k in range(N_BITS))
        slowest = abs(wave(t + 1, 2**N_BITS) - wave(t, 2**N_BITS))
        return (
            f"From {t} to {t + 1}, {flips} of {N_BITS} bits jump by a whole unit; the slowest wave "
            f"moves by {slowest:.2f}."
        )


def bit(position: float, k: int) -> int:
    """Return bit `k` of a position, 0 the last."""
    return int(position) >> k & 1


def wave(t: float, period: float) -> float:
    """Return the wave between 0 and 1 that is high where a bit of this period is 1."""
    return (1 - math.sin(2 * math.pi * (t + 0.5) / period)) / 2


def written(position: float) -> str:
    """Return a position in decimal and in binary digits."""
    return f"t = {int(position)} in decimal, {int(position):0{N_BITS}b} in binary"


def _x(position: float) -> float:
    return _LEFT + (float(position) + 0.5) * _STEP


def _y(value: float, top: float) -> float:
    return top + _HEIGHT * (1 - value)


def square(k: int, top: float) -> str:
    """Return the path of a bit over all positions."""
    moves, level = [f"M{_LEFT} {_y(0, top):g}"], 0
    for t in range(N_POSITIONS):
        if bit(t, k) != level:
            level = bit(t, k)
            moves.append(f"H{_LEFT + t * _STEP:g}V{_y(level, top):g}")
    return "".join([*moves, f"H{_LEFT + _WIDTH}"])


def sine(k: int, top: float) -> str:
    """Return the path of a wave, sixteen points a period."""
    n = 16 * N_POSITIONS // 2 ** (k + 1)
    times = [i * N_POSITIONS / n - 0.5 for i in range(n + 1)]
    points = [f"{_x(t):.1f} {_y(wave(t, 2 ** (k + 1)), top):.1f}" for t in times]
    return "M" + "L".join(points)
