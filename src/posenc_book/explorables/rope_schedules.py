"""What each schedule does to the pairs of a rotary encoding when inputs grow longer."""

import math

import numpy as np
from numpy.typing import NDArray

from posenc import _checks, schedules
from posenc.frequencies import geometric
from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset, Range

D_HEAD = 96  # that of the model whose LongRoPE numbers are below
N_PAIRS = D_HEAD // 2
KEEP = 0.75
SCHEDULES = {
    "none": "none", "linear": "linear", "ntk": "NTK", "dynamic_ntk": "dynamic NTK",
    "yarn": "YaRN", "llama3": "Llama 3", "longrope": "LongRoPE", "keep": "p-RoPE, keep 75 %",
}  # fmt: skip

# Divisors from the published configuration of Phi-3.5-mini-instruct: base 10,000, trained on 4,096
# positions, for 131,072. They were found by search and are nobody else's.
LONG_FACTOR = [
    1.08, 1.11, 1.14, 1.34, 1.59, 1.6, 1.62, 2.62, 3.23, 3.23, 4.79, 7.4, 7.7, 9.09, 12.2, 17.67,
    24.46, 28.57, 30.42, 30.84, 32.59, 32.93, 42.32, 44.96, 50.34, 50.45, 57.55, 57.93, 58.21,
    60.14, 62.61, 62.62, 62.71, 63.14, 63.14, 63.77, 63.93, 63.96, 63.97, 64.03, 64.07, 64.08,
    64.12, 64.41, 64.48, 64.51, 64.53, 64.84,
]  # fmt: skip
SHORT_FACTOR = [
    1, 1.02, 1.03, 1.03, 1.05, 1.05, 1.05, 1.05, 1.05, 1.07, 1.1, 1.11, 1.16, 1.16, 1.17, 1.29,
    1.34, 1.68, 1.79, 1.82, 1.85, 1.88, 1.91, 1.94, 1.99, 2.02, 2.02, 2.02, 2.02, 2.02, 2.02,
    2.03, 2.03, 2.03, 2.03, 2.03, 2.03, 2.03, 2.03, 2.03, 2.08, 2.09, 2.19, 2.22, 2.59, 2.73,
    2.75, 2.84,
]  # fmt: skip

_LEFT, _WIDTH = 40, 312
_TOP, _DEEP, _MOST = 26, 98, 7  # the upper picture shows divisors from 1 to 2 ** 7
_STILL = _TOP + _DEEP + 12
_BASE, _HIGH = 284, 100


def frequencies(schedule: str, factor: float, original: int, base: float) -> NDArray[np.float64]:
    """Return the frequencies of 48 pairs on an input `factor` times as long as in training."""
    _checks.choice("schedule", schedule, SCHEDULES)
    omega, length = geometric(D_HEAD, base), round(factor * original)
    if schedule == "none":
        return omega
    if schedule == "keep":
        return np.where(np.arange(N_PAIRS) < KEEP * N_PAIRS, omega, 0)
    if schedule == "dynamic_ntk":
        return schedules.dynamic_ntk(omega, 1, length, original)
    if schedule == "longrope":
        lists = {"short_factor": SHORT_FACTOR, "long_factor": LONG_FACTOR}
        return schedules.longrope(omega, length, original, **lists)
    more = () if schedule in ("linear", "ntk") else (original,)
    return getattr(schedules, schedule)(omega, factor, *more)


class RopeSchedules(Explorable):
    """Divisor of each pair, and the share of its circle in training and beyond."""

    name = "rope-schedules"
    title = "Which frequencies a schedule slows down"
    caption = (
        "48 pairs, the fastest on the left. Upper picture: what each frequency is divided by. "
        "Lower picture: bars show how much of its circle a pair has turned through in training, "
        "dots how much it turns through at the new length. A large dot above its bar is an angle "
        "that the model has never met. Pairs left of the dashed line turn at least once in "
        "training. LongRoPE’s divisors are those of one model, Phi-3.5-mini, trained on 4,096 "
        "tokens for 32 times as many."
    )
    alt = (
        "Two pictures over 48 pairs, for YaRN at 8 times the length. Above, the divisor is 1 for "
        "the fast pairs, rises and is 8 for the slow ones. Below, bars are full up to the pair "
        "that turns once in training and shrink from there on, and no dot stands above its bar."
    )
    controls = (
        Choice("schedule", "Schedule", SCHEDULES, "yarn"),
        Range("factor", "Times longer", 1, 32, 1, 8),
        Choice("original", "Trained length", {"512": "512", "4096": "4,096", "8192": "8,192"},
               "4096"),
        Choice("base", "Base", {"10000": "10,000", "500000": "500,000"}, "10000"),
    )  # fmt: skip
    presets = (
        Preset("Nothing changed", {"schedule": "none", "factor": 8}),
        Preset("Llama 3.1’s numbers", {"schedule": "llama3", "factor": 8, "original": "8192",
                                       "base": "500000"}),
        Preset("LongRoPE’s own case", {"schedule": "longrope", "factor": 32, "original": "4096",
                                       "base": "10000"}),
    )  # fmt: skip
    python = "rope_schedules.frequencies('{schedule}', {factor}, {original}, {base})"

    def data(self) -> dict:
        """Return LongRoPE's divisors and what schedules are called."""
        return {"long": LONG_FACTOR, "short": SHORT_FACTOR, "names": SCHEDULES}

    def svg(self, state: State) -> str:
        """Return the divisors above, the angles below."""
        old, new = self._turns(state)
        pairs = "".join(self._pair(i, old[i], new[i], state) for i in range(N_PAIRS))
        return drawing.svg(360, 322, self._frame() + pairs + self._once(state), label=self.alt)

    def _pair(self, i: int, old: float, new: float, state: State) -> str:
        x = place(i)
        y = depth(self._ratios(state)[i])
        high, unseen = share(old), is_unseen(old, new)
        bar = {"x": x - 2.5, "y": _BASE - _HIGH * high, "width": 5, "height": _HIGH * high}
        dot = {"cx": x, "cy": _BASE - _HIGH * share(new), "r": 3.2 if unseen else 1.6}
        return (
            drawing.element("circle", class_="seen", cx=x, cy=y, r=2.2, data_part=f"ratio-{i}")
            + drawing.element("rect", class_="turn", data_part=f"bar-{i}", **bar)
            + drawing.element(
                "circle", class_="dot" if unseen else "seen", data_part=f"dot-{i}", **dot
            )
        )

    def _frame(self) -> str:
        ticks = "".join(
            drawing.text(_LEFT - 5, y + 4, words, class_="end")
            for y, words in [(depth(2.0**-k), f"÷{2**k}") for k in (0, 3, 6)]
            + [(_STILL, "stop"), (_BASE - _HIGH, "1 turn"), (_BASE - _HIGH / 2, "½"), (_BASE, "0")]
        )
        rules = "".join(
            drawing.element("line", x1=_LEFT, x2=_LEFT + _WIDTH, y1=y, y2=y, class_="axis")
            for y in (_TOP, _BASE, _BASE - _HIGH)
        )
        words = (
            drawing.text(_LEFT, 14, "divisor of each frequency")
            + drawing.text(_LEFT, _BASE - _HIGH - 12, "share of the circle: training, new length")
            + drawing.text(_LEFT, _BASE + 18, "fast pairs")
            + drawing.text(_LEFT + _WIDTH, _BASE + 18, "slow pairs", class_="end")
        )
        return rules + ticks + words

    def _once(self, state: State) -> str:
        x = once(int(state["original"]), float(state["base"]))
        return drawing.element(
            "line", x1=x, x2=x, y1=_TOP, y2=_BASE, class_="cursor", data_part="once"
        )

    def _new(self, state: State) -> NDArray[np.float64]:
        numbers = float(state["factor"]), int(state["original"]), float(state["base"])
        return frequencies(str(state["schedule"]), *numbers)

    def _ratios(self, state: State) -> NDArray[np.float64]:
        return self._new(state) / geometric(D_HEAD, float(state["base"]))

    def _turns(self, state: State) -> tuple[NDArray, NDArray]:
        """Return the turns of each pair in training and at the new length."""
        original, omega = int(state["original"]), geometric(D_HEAD, float(state["base"]))
        longer = float(state["factor"]) * original
        return schedules.turns(omega, original), longer * self._new(state) / (2 * math.pi)

    def summary(self, state: State) -> str:
        """Return how many pairs keep their frequency, and how many meet new angles."""
        old, new = self._turns(state)
        kept = int((np.abs(self._ratios(state) - 1) < 1e-9).sum())
        unseen = sum(is_unseen(a, b) for a, b in zip(old, new, strict=True))
        length = int(state["factor"]) * int(state["original"])
        return (
            f"Schedule {SCHEDULES[str(state['schedule'])]}, {length:,} positions after training on "
            f"{int(state['original']):,}: {kept} of {N_PAIRS} pairs keep their frequency, and "
            f"{unseen} meet angles that training never showed."
        )


def place(i: float) -> float:
    """Return where a pair stands."""
    return _LEFT + _WIDTH * (i + 0.5) / N_PAIRS


def depth(ratio: float) -> float:
    """Return how deep a divided frequency hangs; one of 0 hangs below all others."""
    return _TOP - _DEEP * math.log2(ratio) / _MOST if ratio > 0 else float(_STILL)


def share(turns: float) -> float:
    """Return how much of its circle a pair has passed."""
    return min(1.0, float(turns))


def is_unseen(old: float, new: float) -> bool:
    """Return whether a pair reaches angles that it did not reach in training."""
    return share(new) > share(old) + 1e-9


def once(original: int, base: float) -> float:
    """Return where a pair would stand that turns just once in training."""
    return place(math.log(original / (2 * math.pi)) / math.log(base) * N_PAIRS)
