"""Where the waves of an encoding lie, and what Algorithm 1 of the DFT paper makes of a position."""

import math

import numpy as np
from numpy.typing import NDArray

from posenc import fourier
from posenc.frequencies import geometric
from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset, Range

D = 256
PLACES = (5, 40, 75)  # the three positions of the paper's Figure 2
BANDWIDTH = 4 * 2 * math.pi / D  # of a bell: the paper's four lattice steps
_LEFT, _WIDTH = 20, 330
_BASE, _HEIGHT = 92, 750  # of the shares: pixels for a share of 1
_ZERO, _UNIT = 226, 110  # of the spikes


class Density(Explorable):
    """Figures 1 and 2 of the DFT paper, from the sinusoid's waves to evenly spread ones."""

    name = "density"
    title = "Spread the waves, sharpen the spikes"
    caption = (
        "Above: how densely the waves lie, from slow on the left to fast on the right; the dashed "
        "line is the even spread of the DFT encoding. Below: positions 5, 40 and 75 of 256, "
        "rebuilt from these waves, each as heavy as its density says."
    )
    alt = (
        "Above, a hill at the left end, for slow waves, which is flat and empty from a third of "
        "the axis on, while a dashed line marks an even spread. Below, three broad bumps at 5, 40 "
        "and 75, about a third as high as a spike; the first comes in again at the right end."
    )
    controls = (
        Range("even", "Even waves, %", 0, 100, 5, 0),
        Choice("base", "Base", {str(b): f"{b}" for b in (10, 100, 10_000)}, "10000"),
    )  # fmt: skip
    presets = (
        Preset("The sinusoid", {"even": 0, "base": "10000"}),
        Preset("Half and half", {"even": 50, "base": "10000"}),
        Preset("The DFT encoding", {"even": 100}),
    )
    python = (
        "fourier.reconstruct(np.eye(256)[40], (1 - {even} / 100) * fourier.frequency_density("
        "frequencies.geometric(256, {base}), 256, 8 * np.pi / 256) "
        "+ {even} / 100 * fourier.dft_density(256))"
    )

    def svg(self, state: State) -> str:
        """Return the density above and the three spikes below."""
        shares = spread(int(state["even"]), float(state["base"]))
        y = _BASE - _HEIGHT * 2 / D
        line = drawing.element("line", x1=_LEFT, x2=_LEFT + _WIDTH, y1=y, y2=y, class_="next")
        hill = drawing.element("path", class_="turn", d=outline(shares), data_part="hill")
        bumps = drawing.element("path", class_="line", d=spikes(kernel(shares)), data_part="spikes")
        rules = "".join(
            drawing.element("line", x1=_LEFT, x2=_LEFT + _WIDTH, y1=at, y2=at, class_="axis")
            for at in (_BASE, _ZERO)
        )
        words = (
            drawing.text(_LEFT, _BASE + 14, "no turn")
            + drawing.text(_LEFT + _WIDTH, _BASE + 14, "half a turn each step", class_="end")
            + drawing.text(_LEFT, _ZERO + 24, "position 0")
            + drawing.text(_LEFT + _WIDTH, _ZERO + 24, f"{D - 1}", class_="end")
        )
        return drawing.svg(360, _ZERO + 30, hill + line + bumps + rules + words, label=self.alt)

    def summary(self, state: State) -> str:
        """Return how high and how wide a rebuilt spike is."""
        even, base = int(state["even"]), state["base"]
        found = kernel(spread(even, float(base)))
        return (
            f"{even} % of the waves are spread evenly"
            + ("" if even == 100 else f", the others as the sinusoid's with base {base}")
            + f". A spike comes back {found[0]:.2f} high, and is {width(found)} "
            f"position{'' if width(found) == 1 else 's'} wide at half of its height. Its top stays "
            "where it was."
        )


def spread(even: int, base: float) -> NDArray[np.float64]:
    """Return the share of the waves at each lattice frequency, `even` per cent of them flat."""
    rest = fourier.frequency_density(geometric(D, base), D, BANDWIDTH)
    return (1 - even / 100) * rest + even / 100 * fourier.dft_density(D)


def kernel(shares: NDArray) -> NDArray[np.float64]:
    """Return what Algorithm 1 makes of the spike at 0."""
    return fourier.reconstruct(np.eye(1, D)[0], shares)


def width(found: NDArray) -> int:
    """Return how many positions in one piece are at least half as high as the peak at 0."""
    return 2 * int(np.argmax(found < found[0] / 2)) - 1


def outline(shares: NDArray) -> str:
    """Return the path around the density."""
    step = _WIDTH / (len(shares) - 1)
    points = [f"{_LEFT + k * step:.1f} {_BASE - _HEIGHT * y:.1f}" for k, y in enumerate(shares)]
    return f"M{_LEFT} {_BASE}L{'L'.join(points)}V{_BASE}z"


def spikes(found: NDArray) -> str:
    """Return the path of the rebuilt spikes, one after the other."""
    step = _WIDTH / (D - 1)
    return "".join(
        "M"
        + "L".join(
            f"{_LEFT + t * step:.1f} {_ZERO - _UNIT * found[(t - place) % D]:.1f}" for t in range(D)
        )
        for place in PLACES
    )
