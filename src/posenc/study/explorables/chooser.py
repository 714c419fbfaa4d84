"""Six questions, a recommendation, and what it rests on."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from posenc.data import recorded_facts
from posenc.frequencies import geometric
from posenc.rotation import rotate
from posenc.study import lengths, second
from posenc.teaching.explorables import drawing
from posenc.teaching.explorables.base import Explorable, State
from posenc.teaching.explorables.controls import Choice, Preset

_ROW = 46
FEW_SERIES = 200  # in the training part


@dataclass(frozen=True)
class Advice:
    """What to use, which question decided, and why."""

    use: str
    decided: str
    why: str


class Chooser(Explorable):
    """The six questions of the first page, with their evidence; the last list holds three."""

    name = "chooser"
    title = "An encoding in six questions"
    caption = (
        "The six questions of the first page: the last list holds three of them, and the first "
        "that is true counts. The first answer that asks for something decides. The sentence "
        "below the picture says what the advice rests on."
    )
    alt = (
        "Four boxes below one another, each with a question and its answer, and a recommendation "
        "at the end: RoPE."
    )
    controls = (
        Choice("order", "Does order matter?", {"yes": "yes, or not known",
               "no": "no: shuffled steps score the same"}, "yes"),
        Choice("times", "What is a position?", {"no": "the number of a token",
               "yes": "a time, steps are uneven"}, "no"),
        Choice("longer", "Longer than in training?", {"no": "no", "yes": "yes"}, "no"),
        Choice("last", "What else is known?", {"no": "none of the three",
               "cached": "one token after another", "patch": "a token is a patch of steps",
               "small": "short inputs, few data"}, "no"),
    )  # fmt: skip
    presets = (
        Preset("A sensor that skips", {"order": "yes", "times": "yes"}),
        Preset("Long documents", {"order": "yes", "times": "no", "longer": "yes"}),
        Preset("A series in patches",
               {"order": "yes", "times": "no", "longer": "no", "last": "patch"}),
        Preset("A small data set",
               {"order": "yes", "times": "no", "longer": "no", "last": "small"}),
    )  # fmt: skip
    python = "chooser.Chooser().advice('{order}', '{times}', '{longer}', '{last}')"

    def data(self) -> dict:
        """Return the advice for every combination of answers."""
        every = product(*(control.options for control in self.controls))
        return {" ".join(answers): vars(self.advice(*answers)) for answers in every}

    def advice(self, order: str, times: str, longer: str, last: str) -> Advice:
        """Return what to use where these are the answers: "yes" or "no", or what is known."""
        if order == "no":
            return Advice("no encoding", "order", self._why["none"])
        if times == "yes":
            return Advice("RoPE over the times", "times", self._why["times"])
        if longer == "yes":
            return Advice("Shaw’s relative encoding or RoPE", "longer", self._why["longer"])
        if last == "cached":
            return Advice("RoPE", "last", self._why["cached"])
        if last == "patch":
            return Advice("the sinusoid", "last", self._why["patch"])
        if last == "small":
            return Advice("the sinusoid", "last", self._why["small"])
        return Advice("RoPE", "", self._why["else"])

    @cached_property
    def _why(self) -> dict[str, str]:
        return {
            "none": "An encoding has nothing to add where order carries nothing.",
            "times": _times(),
            "longer": _longer(),
            "cached": (
                "A key is turned once, at its own position, and stays in the cache as it is."
            ),
            "patch": _patch(),
            "small": _small(),
            "else": _otherwise(),
        }

    def svg(self, state: State) -> str:
        """Return the questions with their answers, and the recommendation."""
        advice = self.advice(**state)
        rows = "".join(
            self._row(i, control, state, advice) for i, control in enumerate(self.controls)
        )
        y = _ROW * len(self.controls) + 8
        end = drawing.element(
            "rect", x=4, y=y, width=352, height=44, rx=6, class_="outline"
        ) + drawing.text(180, y + 27, advice.use, class_="label word", data_part="use")
        return drawing.svg(360, y + 50, rows + end, label=self.alt)

    def _row(self, i: int, control: Choice, state: State, advice: Advice) -> str:
        y = _ROW * i + 4
        kind = "turn" if advice.decided == control.key else "quiet"
        box = {"x": 4, "y": y, "width": 352, "height": 38, "rx": 6, "class_": kind}
        shown = control.options[str(state[control.key])]
        return (
            drawing.element("rect", data_part=f"box-{control.key}", **box)
            + drawing.text(14, y + 23, control.label)
            + drawing.text(346, y + 23, shown, class_="end", data_part=f"answer-{control.key}")
        )

    def summary(self, state: State) -> str:
        """Return the recommendation and what it rests on."""
        advice = self.advice(**state)
        return f"Use {advice.use}. {advice.why}"


def gains_of(model: str) -> dict[str, second.Gain]:
    """Return each encoding's gain over none over the independent sets of the edition."""
    return {one.encoding: one for one in second.gains(second.learned(second.load(model)))}


def renumbered() -> tuple[float, float]:
    """Return how far scores move when half of the samples are lost, by times and new numbers.

    The second is in standard deviations of the scores.
    """
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 40, 16))
    left = np.sort(rng.choice(40, 20, replace=False))
    whole = _scores(q, k, np.arange(40.0))[np.ix_(left, left)]
    by_time, by_number = (
        np.abs(_scores(q[left], k[left], places) - whole).max() for places in (left, np.arange(20))
    )
    return float(by_time), float(by_number / whole.std())


def _times() -> str:
    by_time, by_number = renumbered()
    return (
        "It is a formula in time. Lose half of the samples: the scores of the others change by "
        f"{by_time:.0f} if they keep their times, and by up to {by_number:.1f} standard "
        "deviations if they are numbered anew. If the hour of the day itself matters, try the "
        "sinusoid over the times, too."
    )


def _scores(q: NDArray, k: NDArray, places: NDArray) -> NDArray:
    """Return the scores of queries and keys, (n, d) each, turned at their places."""
    omega = geometric(q.shape[1])
    return rotate(q, places, omega) @ rotate(k, places, omega).T


def _longer() -> str:
    found = lengths.load()
    short, far = found.trained, max(found.longer)
    names = {"relative": "Shaw’s encoding", "rotary": "RoPE", "sinusoidal": "the sinusoid"}
    said = ", ".join(
        f"{title} {100 * found.accuracy(name, f'longer_{far}'):.0f} %"
        for name, title in names.items()
    )
    return (
        f"Trained at {short} steps and read at {far}, on a synthetic task in which a coin gives "
        f"50 %: {said}."
    )


def _patch() -> str:
    gains = gains_of("patch")
    sine, rope = (100 * gains[name].effect.mean for name in ("sinusoidal", "rotary"))
    return (
        "Train two seeds without any encoding beside it. Over "
        f"{gains['rotary'].n_units} independent sets the sinusoid gained {sine:+.1f} points over "
        f"none and RoPE {rope:+.1f}; by the test that was fixed beforehand "
        f"{second.said_shown(list(gains.values()))}."
    )


def small_sets(model: str) -> NDArray[np.float64]:
    """Return accuracy with the sinusoid minus with RoPE, in points, on sets of few series.

    One value for each data set of the edition with at most `FEW_SERIES` training series, the mean
    over its resamples.
    """
    grid = second.load(model)
    gaps = 100 * (grid.gains("sinusoidal") - grid.gains("rotary")).mean(1)
    few = [recorded_facts(name).train <= FEW_SERIES for name in grid.datasets]
    return gaps[few]


def _small() -> str:
    steps, patches = small_sets("time_series"), small_sets("patch")
    return (
        f"It costs one addition. On sets of at most {FEW_SERIES} training series it was ahead of "
        f"RoPE on {(steps > 0).sum()} of {steps.size} with a token a step, by {steps.min():+.1f} "
        f"to {steps.max():+.1f} points, and on {(patches > 0).sum()} of {patches.size} in patches. "
        "That is no proof; yours may differ."
    )


def _otherwise() -> str:
    gains = gains_of("time_series")
    means = [100 * one.effect.mean for one in gains.values()]
    return (
        "Train two seeds without any encoding beside it: if they are as good, order carries "
        f"nothing. With a token a step an encoding brought {min(means):.1f} to {max(means):.1f} "
        f"points over {gains['rotary'].n_units} independent sets, whichever of {len(means)} it was."
    )
