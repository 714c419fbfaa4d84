"""How densely a sinusoid's frequencies lie along the Fourier axis."""

import math

import numpy as np
from numpy.typing import NDArray

from posenc.fourier import dft_density, frequency_density
from posenc.frequencies import geometric
from posenc.teaching.explorables import drawing
from posenc.teaching.explorables.base import Explorable, State
from posenc.teaching.explorables.controls import Choice, Preset, Range

D = 64
_LEFT, _WIDTH, _BASE, _HEIGHT = 30, 320, 190, 280
_FULL = 0.6  # the share at which a bar is cut


class Density(Explorable):
    """The paper's frequency density, and the flat one of the DFT encoding."""

    name = "density"
    title = "Which frequencies a sinusoid holds"
    caption = (
        "Bars: the share of the sinusoid's frequencies near each Fourier frequency k, for width "
        "64. The line is the DFT encoding, which holds each once. A smaller base spreads the "
        "bars; a wider kernel only smooths them."
    )
    alt = (
        "33 bars over Fourier frequencies 0 to 32. The first holds most of the total, from the "
        "thirteenth on they are empty, while a flat line marks equal shares."
    )
    controls = (
        Choice("base", "Base", {str(b): f"{b}" for b in (2, 10, 100, 10_000)}, "10000"),
        Range("sigma", "Kernel σ in steps of k", 0.3, 3, 0.1, 0.5),
    )  # fmt: skip
    presets = (Preset("A base of 2", {"base": "2"}),)
    python = (
        "fourier.frequency_density(frequencies.geometric(64, {base}), 64, {sigma} * 2 * np.pi / 64)"
    )

    def svg(self, state: State) -> str:
        """Return the bars and the flat line."""
        density = self._density(state)
        bars = "".join(
            drawing.element("rect", class_="fill", data_part=f"bar-{k}", **bar(k, share))
            for k, share in enumerate(density)
        )
        y = _BASE - _HEIGHT * float(dft_density(D)[1])
        line = drawing.element("line", x1=_LEFT, x2=_LEFT + _WIDTH, y1=y, y2=y, class_="next")
        axis = drawing.text(_LEFT, _BASE + 16, "k = 0 (constant)") + drawing.text(
            _LEFT + _WIDTH, _BASE + 16, f"{D // 2} (alternating)", class_="end"
        )
        rule = drawing.element(
            "line", x1=_LEFT, x2=_LEFT + _WIDTH, y1=_BASE, y2=_BASE, class_="axis"
        )
        return drawing.svg(360, _BASE + 24, bars + line + rule + axis, label=self.alt)

    def _density(self, state: State) -> NDArray[np.float64]:
        omega = geometric(D, float(state["base"]))
        return frequency_density(omega, D, float(state["sigma"]) * 2 * math.pi / D)

    def summary(self, state: State) -> str:
        """Return how much lies in the lowest tenth of the axis."""
        low = 100 * float(sum(self._density(state)[:4]))
        flat = 100 * float(dft_density(D)[:4].sum())
        return (
            f"With base {state['base']}, {low:.0f} % lie at the four lowest of {D // 2 + 1} "
            f"frequencies; of the DFT encoding it is {flat:.0f} %."
        )


def bar(k: int, share: float) -> dict[str, float]:
    """Return place and size of a bar; shares above 0.6 are cut."""
    width = _WIDTH / (D // 2 + 1)
    height = _HEIGHT * min(_FULL, float(share))
    return {"x": _LEFT + k * width + 1, "y": _BASE - height, "width": width - 2, "height": height}
