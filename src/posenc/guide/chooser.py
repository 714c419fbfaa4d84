"""Six questions, a recommendation, and what it rests on."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from posenc.data import recorded_facts
from posenc.experiments.characters import read as text
from posenc.experiments.classification import second
from posenc.experiments.lengths import read as lab
from posenc.experiments.range_probe import longer as lengths
from posenc.frequencies import geometric
from posenc.rotation import rotate
from posenc.statistics import counts
from posenc.teaching.explorables import drawing
from posenc.teaching.explorables.base import Explorable, State
from posenc.teaching.explorables.controls import Choice, Preset

_ROW = 46
FEW_SERIES = 200  # in the training part
FARTHEST = {
    "fire": "FIRE",
    "relative": "Shaw’s relative encoding",
    "kerple": "KERPLE",
    "rotary, random places": "RoPE at random places",
    "cope": "CoPE",
    "alibi": "ALiBi",
    "none": "no encoding",
    "rotary": "RoPE",
}
"""Encodings of the lab with the names that readers know."""


_USE = {
    "none": "no encoding",
    "yes": "RoPE over the times",
    "grid": "RoPE on two axes, axial or mixed",
    "series": "Shaw’s relative encoding or RoPE",
    "trained": "YaRN and a few steps of training",
    "anew": "FIRE, KERPLE or RoPE at random places",
    "cached": "RoPE",
    "patch": "the sinusoid",
    "small": "the sinusoid",
    "no": "RoPE",
}


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
        "The last list holds three of them, and the first answer that asks for something decides. "
        "“Text” is whatever is predicted token after token."
    )
    alt = (
        "Four boxes below one another, each with a question and its answer, and a recommendation "
        "at the end: RoPE."
    )
    controls = (
        Choice("order", "Does order matter?", {"yes": "yes, or not known",
               "no": "no: shuffled steps score the same"}, "yes"),
        Choice("times", "What is a position?", {"no": "the number of a token",
               "yes": "a time, steps are uneven", "grid": "a row and a column"}, "no"),
        Choice("longer", "Longer than in training?", {"no": "no", "series": "yes: a classifier",
               "trained": "yes: text, trained with RoPE", "anew": "yes: text, to be trained"},
               "no"),
        Choice("last", "What else is known?", {"no": "none of the three",
               "cached": "one token after another", "patch": "a token is a patch of steps",
               "small": "short inputs, few data"}, "no"),
    )  # fmt: skip
    presets = (
        Preset("A sensor that skips", {"order": "yes", "times": "yes"}),
        Preset("Long documents",
               {"order": "yes", "times": "no", "longer": "trained", "last": "cached"}),
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
        """Return what to use where these are the answers.

        A classifier whose tokens come one after another is no classifier: it counts as text.
        """
        if order == "no":
            return self._said("order", "none")
        if times != "no":
            return self._said("times", times)
        if longer != "no":
            text_after_all = longer == "series" and last == "cached"
            return self._said("longer", "anew" if text_after_all else longer)
        return self._said("last" if last != "no" else "", last)

    def _said(self, decided: str, case: str) -> Advice:
        return Advice(_USE[case], decided, self._why[case])

    @cached_property
    def _why(self) -> dict[str, str]:
        return {
            "none": "An encoding has nothing to add where order carries nothing.",
            "yes": _times(),
            "grid": _grid(),
            "series": _series(),
            "trained": _trained(),
            "anew": _anew(),
            "cached": (
                "A key is turned once, at its own position, and stays in the cache as it is. If "
                "texts will be longer than in training, answer the third question first."
            ),
            "patch": _patch(),
            "small": _small(),
            "no": _otherwise(),
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
    return {one.encoding: one for one in second.gains(second.learned(second.load_grid(model)))}


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


def moved_image() -> float:
    """Return the largest change of a score when an image moves, with positions on two axes."""
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 49, 16))
    rows, columns = np.divmod(np.arange(49.0), 7)
    gap = _two_axes(q, k, rows, columns) - _two_axes(q, k, rows + 3, columns + 5)
    return float(np.abs(gap).max())


def _two_axes(q: NDArray, k: NDArray, rows: NDArray, columns: NDArray) -> NDArray:
    """Return the scores of queries and keys, (n, d) each, of which each half turns by one axis."""
    half = q.shape[1] // 2
    by_row = _scores(q[:, :half], k[:, :half], rows)
    return by_row + _scores(q[:, half:], k[:, half:], columns)


def _grid() -> str:
    return (
        "Half of the pairs turn by the row, half by the column (axial_rotary); with mixed axes "
        "each pair may learn its own direction. Move an image by 3 rows and 5 columns: axial "
        f"scores change by {moved_image():.0f}. Not measured in accuracy: we trained no image "
        "model."
    )


def _series() -> str:
    found = lengths.load_longer()
    short, far = found.trained, max(found.longer)
    names = {"relative": "Shaw’s encoding", "rotary": "RoPE", "sinusoidal": "the sinusoid"}
    said = ", ".join(
        f"{title} {100 * found.accuracy(name, f'longer_{far}'):.0f} %"
        for name, title in names.items()
    )
    return (
        f"Trained on series of {short} steps and read at {far}, on one synthetic task in which a "
        f"coin gives 50 %: {said}. This says nothing about text."
    )


@dataclass(frozen=True)
class Stretch:
    """What the model of characters loses at its own length and at the longest that is read.

    Attributes
    ----------
    short, far : int
        Characters of context, in training and at most.
    steps, seeds : int
        Of the fine-tuning at the longest context, and trainings of an encoding.
    nats : dict of (name, context, kind) to float
        Means over seeds, by encoding or schedule and a kind of `text.KINDS`.
    """

    short: int
    far: int
    steps: int
    seeds: int
    nats: dict[tuple[str, int, str], float]

    def said(self, name: str, context: int, *, tuned: bool = False) -> str:
        """Return a mean loss as pages write it."""
        return f"{self.nats[name, context, 'fine-tuned' if tuned else 'as trained']:.2f}"


def stretch() -> Stretch:
    """Return what is stored of the model of characters."""
    found, plan = text.load_losses(), text.bench.PROTOCOL
    short, far = plan["trained"], max(plan["contexts"])
    nats = {
        (encoding if schedule == text.bench.AS_TRAINED else schedule, context, kind): float(
            np.mean(found.loss(encoding, schedule, context, kind))
        )
        for encoding, schedule in text.NAMES
        for context in (short, far)
        for kind in text.KINDS
    }
    seeds = len({seed for _, seed in found.runs})
    return Stretch(short, far, plan["tuning"]["steps"], seeds, nats)


def _trained() -> str:
    one = stretch()
    return (
        f"Change RoPE’s frequencies by a schedule such as YaRN. In our small model of characters "
        f"({one.seeds} seeds, one text), trained on {one.short} characters, RoPE’s loss goes from "
        f"{one.said('rotary', one.short)} nats to {one.said('rotary', one.far)} at {one.far}, "
        f"where no encoding has {one.said('none', one.far)}. With YaRN it is "
        f"{one.said('yarn', one.far)}, and after {one.steps} steps at that length "
        f"{one.said('yarn', one.far, tuned=True)}, without YaRN "
        f"{one.said('rotary', one.far, tuned=True)}. Llama 3’s schedule has "
        f"{one.said('llama3', one.far)} and {one.said('llama3', one.far, tuned=True)}, LongRoPE’s, "
        f"after a search, {one.said('longrope', one.far)} and "
        f"{one.said('longrope', one.far, tuned=True)}."
    )


@dataclass(frozen=True)
class Reach:
    """How far encodings travel on the tasks of the lab that were learned.

    Attributes
    ----------
    shares : dict of str to float
        Right answer tokens above the trained length by encoding, means over lengths and tasks.
    leaders : dict of str to str
        By task, the encoding that is farthest.
    seeds : int
        The fewest that an encoding has on a task.
    """

    shares: dict[str, float]
    leaders: dict[str, str]
    seeds: int

    def said(self, names: dict[str, str]) -> str:
        """Return the shares of some encodings, which get titles, in words."""
        return ", ".join(f"{title} {100 * self.shares[e]:.0f} %" for e, title in names.items())

    def led(self, name: str) -> str:
        """Return on how many tasks an encoding is farthest: a number or "none"."""
        return str(list(self.leaders.values()).count(name) or "none")


def reach() -> Reach:
    """Return what is stored of the lab, for encodings that all learned tasks were trained with."""
    found = lab.load_lab()
    tasks = [task for task in found.tasks if found.learned(task)]
    names = [e for e in found.encodings(tasks[0]) if all((t, e) in found.runs for t in tasks)]
    shares = {e: float(np.mean([found.beyond(task, e) for task in tasks])) for e in names}
    seeds = min(len(found.runs[task, e]) for task in tasks for e in names)
    return Reach(shares, {task: found.order(task)[0] for task in tasks}, seeds)


def _anew() -> str:
    one, other, plan = reach(), stretch(), lab.PROTOCOL
    return (
        f"In our small causal models ({one.seeds} seeds), trained on {plan['trained']} symbols and "
        f"read at {min(lab.LONGER)} to {max(lab.LONGER)}, answer tokens are right in these shares, "
        f"means over {len(one.leaders)} learned tasks: {one.said(FARTHEST)}. The lead changes with "
        f"the task; RoPE has it on {one.led('rotary')}. In our small model of characters "
        f"({other.seeds} seeds, one text) ALiBi has {other.said('alibi', other.short)} nats at "
        f"{other.short} characters and {other.said('alibi', other.far)} at {other.far}, RoPE with "
        f"YaRN and {other.steps} more steps {other.said('yarn', other.far, tuned=True)}: train "
        "that beside it."
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
    grid = second.load_grid(model)
    sine, rope = (
        counts.mean(grid.scores[:, grid.encodings.index(name)]) for name in ("sinusoidal", "rotary")
    )
    gaps = 100 * (sine - rope)
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
