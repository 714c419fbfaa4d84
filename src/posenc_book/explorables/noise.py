"""A position that is heard through noise, in two codes: one grows vague, the other breaks."""

import numpy as np
from numpy.typing import NDArray

from posenc import tables
from posenc.faithfulness import unit_rows
from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Preset, Range

N = 64  # positions, and dimensions
SENT = 24
TRIES = 20
CODES = {"sinusoid": "sinusoid", "dft": "DFT encoding"}
_LEFT, _STEP, _UNIT = 20, 5, 34
_ZEROS = {"sinusoid": 96, "dft": 250}  # where the bars of each code stand


class Noise(Explorable):
    """How alike each row of two tables is to what has arrived, as the noise is turned up."""

    name = "noise"
    title = "Turn up the noise"
    caption = (
        f"Position {SENT} of {N} is sent in two codes of {N} numbers, and noise is added. A bar "
        "for each position: how alike its row is to what has arrived. The answer, with the dot, is "
        "the highest one. Drag the picture sideways, or take the slider."
    )
    alt = (
        "Two rows of 64 bars. Above, for the sinusoid, they form a rough hill around position 24, "
        "and the highest bar stands beside it. Below, for the DFT encoding, one bar at 24 stands "
        "out of short grass."
    )
    controls = (
        Range("noise", "Noise", 0, 3, 0.05, 1.2),
        Range("draw", "Another try", 1, TRIES, 1, 12),
    )
    presets = (
        Preset("Quiet", {"noise": 0}),
        Preset("One is off", {"noise": 1.2, "draw": 12}),
        Preset("Both are lost", {"noise": 2.5, "draw": 12}),
    )
    python = (
        "[int(faithfulness.decode(e, e[24] + {noise} * faithfulness.rms_norm(e) / 8 "
        "* np.random.default_rng({draw}).normal(size=64))) "
        "for e in (tables.sinusoidal(64, 64), tables.dft(64, 64))]"
    )

    def data(self) -> dict:
        """Return what the noise adds to each bar, in ten-thousandths."""
        return {code: np.round(10_000 * pushes(code)).astype(int).tolist() for code in CODES}

    def svg(self, state: State) -> str:
        """Return the bars of both codes, one above the other."""
        panels = "".join(
            _panel(code, scores(code, float(state["noise"]), int(state["draw"]))) for code in CODES
        )
        grip = drawing.element("path", class_="grip", d="M0 0h360v308h-360z", data_grip="noise")
        return drawing.svg(360, 308, panels + grip, label=self.alt)

    def summary(self, state: State) -> str:
        """Return what each code answers."""
        noise, draw = float(state["noise"]), int(state["draw"])
        said = (
            f"The {CODES[code]} says {answer}, {judged(answer)}."
            for code in CODES
            for answer in [int(np.argmax(scores(code, noise, draw)))]
        )
        return f"The noise is {noise:.2f} times as long as the code. {' '.join(said)}"


def _panel(code: str, found: NDArray) -> str:
    zero, answer = _ZEROS[code], int(np.argmax(found))
    sent = _LEFT + _STEP * (SENT + 0.5)
    axis = f"M{_LEFT} {zero}h{_STEP * N}M{sent} {zero + 43}v-8m-3 4l3 -4l3 4"
    return (
        drawing.text(_LEFT, zero - 78, CODES[code], class_="word")
        + drawing.text(
            340, zero - 78, f"says {answer}", class_="end word", data_part=f"says-{code}"
        )
        + drawing.element("path", class_="thin", d=axis)
        + drawing.text(sent, zero + 53, f"{SENT} was sent", class_="label small")
        + drawing.element("path", class_="bar", d=bars(found, zero), data_part=f"bars-{code}")
        + drawing.element("circle", class_="dot", r=4, **top(found, zero), data_part=f"top-{code}")
    )


def bars(found: NDArray, zero: int) -> str:
    """Return the path of all bars, from their axis."""
    return "".join(
        f"M{_LEFT + _STEP * (t + 0.5):g} {zero}V{zero - _UNIT * y:.1f}" for t, y in enumerate(found)
    )


def top(found: NDArray, zero: int) -> dict[str, float]:
    """Return where the highest bar ends."""
    answer = int(np.argmax(found))
    y = round(zero - _UNIT * float(found[answer]), 1)
    return {"cx": _LEFT + _STEP * (answer + 0.5), "cy": y}


def rows(code: str) -> NDArray[np.float64]:
    """Return the table of a code, its rows brought to length 1."""
    return unit_rows(tables.sinusoidal(N, N) if code == "sinusoid" else tables.dft(N, N))


def pushes(code: str) -> NDArray[np.float64]:
    """Return, for each try, how far the noise points along each row, to four decimals."""
    noise = [np.random.default_rng(draw).normal(size=N) for draw in range(1, TRIES + 1)]
    return np.round(np.array(noise) @ rows(code).T, 4)


def scores(code: str, noise: float, draw: int) -> NDArray[np.float64]:
    """Return how alike each row is to what has arrived: 1 for the right one where it is quiet."""
    table = rows(code)
    return table @ table[SENT] + noise / np.sqrt(N) * pushes(code)[draw - 1]


def judged(answer: int) -> str:
    """Return how good an answer is."""
    off = abs(answer - SENT)
    return "which is right" if off == 0 else f"{off} position{'' if off == 1 else 's'} off"
