"""All dimensions of a sinusoidal table against position, for a width and a base."""

import math

from posenc.frequencies import geometric
from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset, Range

LENGTH, MOST_PAIRS, POINTS = 64, 16, 192
_LEFT, _WIDTH, _TOP, _HEIGHT = 84, 268, 8, 272


class WaveBank(Explorable):
    """The sine of every pair, the fastest on top."""

    name = "wave-bank"
    title = "A bank of waves"
    caption = (
        "Every row is one pair of dimensions (its sine is drawn), with the number of positions "
        "after which it repeats. A larger base stretches the lower rows; a larger width puts more "
        "rows between the fastest and the slowest."
    )
    alt = (
        "Rows of sine waves over 64 positions. The top one repeats every six positions, each row "
        "below is slower, the last is almost a straight line."
    )
    controls = (
        Choice("d_model", "Width d_model", {"8": "8", "16": "16", "32": "32"}, "16"),
        Choice("base", "Base", {str(b): f"{b}" for b in (10, 100, 1000, 10_000)}, "10000"),
        Range("position", "Position t", 0, LENGTH, 1, 20),
    )  # fmt: skip
    presets = (
        Preset("Every wave turns", {"base": "10"}),
        Preset("As in the paper", {"base": "10000", "d_model": "32"}),
    )
    python = "tables.sinusoidal(65, {d_model}, base={base})[{position}]"

    def svg(self, state: State) -> str:
        """Return one row a pair; rows that are not needed have no path."""
        rows = "".join(self._row(i, state) for i in range(MOST_PAIRS))
        x = _x(float(state["position"]))
        cursor = drawing.element(
            "line", x1=x, x2=x, y1=_TOP, y2=_TOP + _HEIGHT, class_="cursor", data_part="cursor"
        )
        axis = drawing.text(_LEFT, _TOP + _HEIGHT + 14, "position 0") + drawing.text(
            _LEFT + _WIDTH, _TOP + _HEIGHT + 14, str(LENGTH), class_="end"
        )
        return drawing.svg(360, _TOP + _HEIGHT + 20, rows + cursor + axis, label=self.alt)

    def _row(self, i: int, state: State) -> str:
        omega = self._omega(state)
        used = i < len(omega)
        path = curve(omega[i], i, len(omega)) if used else ""
        label = period(omega[i]) if used else ""
        y = _middle(i, len(omega)) + 4 if used else 0
        return drawing.element("path", d=path, class_="line", data_part=f"row-{i}") + drawing.text(
            _LEFT - 8, float(y), label, class_="end", data_part=f"period-{i}"
        )

    def _omega(self, state: State) -> list[float]:
        return geometric(int(state["d_model"]), float(state["base"])).tolist()

    def summary(self, state: State) -> str:
        """Return the fastest and slowest period and how many waves have turned once."""
        omega = self._omega(state)
        turned = sum(w * LENGTH >= 2 * math.pi for w in omega)
        return (
            f"{len(omega)} pairs, with periods from {period(omega[0])} to {period(omega[-1])} "
            f"positions. Within {LENGTH} positions {turned} of them turn at least once."
        )


def period(omega: float) -> str:
    """Return how many positions one turn takes, in few digits."""
    turn = 2 * math.pi / omega
    return f"{turn:.1f}" if turn < 100 else f"{turn:.0f}"


def _x(position: float) -> float:
    return _LEFT + _WIDTH * position / LENGTH


def _middle(i: int, n_pairs: int) -> float:
    return _TOP + _HEIGHT * (i + 0.5) / n_pairs


def curve(omega: float, i: int, n_pairs: int) -> str:
    """Return the path of the sine of pair i."""
    half = 0.42 * _HEIGHT / n_pairs
    middle = _middle(i, n_pairs)
    times = [LENGTH * j / POINTS for j in range(POINTS + 1)]
    points = [f"{_x(t):.0f} {middle - half * math.sin(omega * t):.1f}" for t in times]
    return "M" + "L".join(points)
