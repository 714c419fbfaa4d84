"""Three questions, one answer, its reason, and how to test it."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from posenc.frequencies import geometric
from posenc.rotation import rotate
from posenc_book.data import recorded_facts
from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset
from posenc_book.read.characters import read as text
from posenc_book.read.classification import second
from posenc_book.read.forecasting.complete import load_stored
from posenc_book.read.forecasting.effects import per_cent
from posenc_book.read.forecasting.read_out import effects_of_sinusoid
from posenc_book.read.lengths import read as lab
from posenc_book.read.range_probe import longer as lengths
from posenc_book.statistics import counts

_ROW = 22
FEW_SERIES = 200  # in the training part


_USE = {
    "yes": "RoPE over the times",
    "grid": "RoPE on two axes, axial or mixed",
    "series": "Shaw’s relative encoding or RoPE",
    "trained": "YaRN and a few steps of training",
    "anew": "RoPE with a larger base",
    "patch": "the sinusoid",
    "future": "the sinusoid",
    "small": "the sinusoid",
    "no": "RoPE",
}
_TEST = {
    "yes": (
        "drop half of the samples of your test series, and read the others once with their times "
        "and once numbered anew."
    ),
    "grid": "move your images by a few patches, and train a model with a learned table beside it.",
    "series": "take series as long as those that you will meet, not as long as in training.",
    "trained": (
        "take texts as long as those that you will meet, and the same texts cut to the trained "
        "length. If the cut is no worse, you need no repair. "
        "If you mend the model, read your short texts again, too."
    ),
    "anew": (
        "train two small models with the two bases, and read texts as long as those that you will "
        "meet, beside the same texts cut short."
    ),
    "patch": "train twice with it and twice without any; if the latter is as good, leave it out.",
    "future": "train twice with it and twice without any, under the head that you mean to keep.",
    "small": "train twice with it and twice with RoPE; a difference of a point may be luck.",
    "no": "train twice with it and twice without any; if the latter is as good, leave it out.",
}


@dataclass(frozen=True)
class Advice:
    """What to use, which question decided, why, and how to test it."""

    use: str
    decided: str
    why: str
    test: str


class Chooser(Explorable):
    """The three questions of the first page, with a reason and a test for each answer."""

    name = "chooser"
    title = "An encoding in three questions"
    caption = (
        "The first answer that asks for something decides; its line is shaded. “Text” is whatever "
        "is predicted token after token."
    )
    alt = (
        "Three questions below one another, under each of them its answers and what to use then. "
        "The last line is marked: none of these, RoPE."
    )
    controls = (
        Choice("times", "What is a position?", {"no": "the number of a token",
               "yes": "a time, with gaps between", "grid": "a row and a column"}, "no"),
        Choice("longer", "Longer than in training?", {"no": "no",
               "series": "yes: series, to be classified",
               "trained": "yes: text, model has RoPE",
               "anew": "yes: text, not trained yet"}, "no"),
        Choice("token", "What is a token?", {"no": "a word or a time step",
               "patch": "a patch of time steps",
               "future": "a piece of the past, to forecast",
               "small": "a step, and I have few series"}, "no"),
    )  # fmt: skip
    presets = (
        Preset("A sensor that skips", {"times": "yes"}),
        Preset("Long documents", {"times": "no", "longer": "trained"}),
        Preset("A series in patches", {"times": "no", "longer": "no", "token": "patch"}),
        Preset("A forecast", {"times": "no", "longer": "no", "token": "future"}),
        Preset("A small data set", {"times": "no", "longer": "no", "token": "small"}),
    )
    python = "chooser.Chooser().advice('{times}', '{longer}', '{token}')"

    def data(self) -> dict:
        """Return the advice for every combination of answers."""
        keys = [control.key for control in self.controls]
        every = product(*(control.options for control in self.controls))
        return {
            " ".join(answers): vars(self.advice(*answers))
            | {"y": _top(self._row(**dict(zip(keys, answers, strict=True))))}
            for answers in every
        }

    def advice(self, times: str, longer: str, token: str) -> Advice:
        """Return what to use where these are the answers."""
        answers = {"times": times, "longer": longer, "token": token}
        decided = next((key for key, answer in answers.items() if answer != "no"), "")
        case = answers.get(decided, "no")
        return Advice(_USE[case], decided, self._why[case], _TEST[case])

    @cached_property
    def _why(self) -> dict[str, str]:
        return {
            "yes": _times(),
            "grid": _grid(),
            "series": _series(),
            "trained": _trained(),
            "anew": _anew(),
            "patch": _patch(),
            "future": _future(),
            "small": _small(),
            "no": _otherwise(),
        }

    def svg(self, state: State) -> str:
        """Return all questions, answers and recommendations, and a mark at the one that decides."""
        lines = self._lines()
        mark = drawing.element(
            "rect", class_="turn glide", x=4, y=_top(self._row(**state)), width=352, height=_ROW,
            rx=5, data_part="mark",
        )  # fmt: skip
        drawn = "".join(_line(i, *line) for i, line in enumerate(lines))
        return drawing.svg(360, _top(len(lines)) + 2, mark + drawn, label=self.alt)

    def _lines(self) -> list[tuple[str, str, str]]:
        """Return the lines of the drawing: a question, or an answer and what to use."""
        lines = []
        for number, control in enumerate(self.controls, 1):
            lines.append((f"{number}. {control.label}", "", ""))
            asked = (option for option in control.options if option != "no")
            lines += [
                ("", control.options[option].removeprefix("yes: "), _USE[option])
                for option in asked
            ]
        return [*lines, ("None of these", "", _USE["no"])]

    def _row(self, **answers: str) -> int:
        """Return which line of the drawing decides."""
        row = 0
        for control in self.controls:
            for option in control.options:
                if option == answers[control.key] != "no":
                    return row + [*control.options].index(option)
            row += len(control.options)
        return row

    def summary(self, state: State) -> str:
        """Return the recommendation, what it rests on, and how to test it."""
        advice = self.advice(**state)
        return f"Use {advice.use}. {advice.why} To test it, {advice.test}"


def _top(row: int) -> int:
    """Return where a line of the drawing begins."""
    return 4 + _ROW * row


def _line(row: int, question: str, answer: str, use: str) -> str:
    y = _top(row) + 15
    left = drawing.text(8, y, question, class_="asked") if question else ""
    answered = drawing.text(24, y, answer) if answer else ""
    return left + answered + (drawing.text(350, y, use, class_="end") if use else "")


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
        "It sees only how much time lies between two samples. Lose half of them: the scores of the "
        f"others change by {by_time:.0f} if they keep their times, and by up to {by_number:.1f} "
        "standard deviations if they are numbered anew. If the hour of the day itself matters, try "
        "the sinusoid over the times, too."
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
        "Half of the pairs turn by the row and half by the column (axial_rotary), or each along a "
        "direction of its own (mixed). Move an image by 3 rows and 5 columns: axial scores change "
        f"by {moved_image():.0f}. Not measured in accuracy: we trained no image model."
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
        f"Trained on series of {short} steps and read at {far}, these are right: {said}. That is "
        "one synthetic task, in which a coin gives 50 %."
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
        "YaRN slows the slow hands of RoPE, so that they reach no angle that is new. In our small "
        f"model of characters ({one.seeds} seeds, one text), read at {one.far // one.short} times "
        f"its length, the loss rises from {one.said('rotary', one.short)} nats to "
        f"{one.said('rotary', one.far)} with RoPE alone, to {one.said('yarn', one.far)} with YaRN, "
        f"and to {one.said('yarn', one.far, tuned=True)} after {one.steps} steps of training. At "
        f"its own length YaRN alone raises it to {one.said('yarn', one.short)}, YaRN with these "
        f"steps to {one.said('yarn', one.short, tuned=True)}."
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
    """

    shares: dict[str, float]
    leaders: dict[str, str]


def reach() -> Reach:
    """Return what is stored of the lab, for encodings that all learned tasks were trained with."""
    found = lab.load_lab()
    tasks = [task for task in found.tasks if found.learned(task)]
    names = [e for e in found.encodings(tasks[0]) if all((t, e) in found.runs for t in tasks)]
    shares = {e: float(np.mean([found.beyond(task, e) for task in tasks])) for e in names}
    return Reach(shares, {task: found.order(task)[0] for task in tasks})


def _anew() -> str:
    one = stretch()
    return (
        "RoPE alone does not read farther than it was trained, but it can be mended: with a larger "
        "base from the start and long texts at the end of training, as in Llama 3, or with YaRN "
        "later. In our small model of "
        f"characters ({one.seeds} seeds, one text), at {one.far // one.short} times its length, "
        f"ALiBi needs no repair and loses {one.said('alibi', one.far)} nats, RoPE with YaRN and "
        f"{one.steps} steps of training {one.said('yarn', one.far, tuned=True)}."
    )


def _patch() -> str:
    gains = gains_of("patch")
    sine, rope = (100 * gains[name].effect.mean for name in ("sinusoidal", "rotary"))
    shown = {name: gains[name].shown for name in ("sinusoidal", "rotary")}
    told = " That of RoPE may be luck." if shown["sinusoidal"] and not shown["rotary"] else ""
    return (
        "A patch does part of the work itself. Over "
        f"{gains['rotary'].n_units} independent sets the sinusoid gained {sine:.1f} points over "
        f"none and RoPE {rope:.1f}.{told}"
    )


def _future() -> str:
    effects = effects_of_sinusoid(load_stored())
    flat, mean = (effects[f"patches_{head}"].interval for head in ("flat", "mean"))
    return (
        "A head that flattens all tokens knows their places by itself, one that averages them "
        f"knows none. Over {flat.n} data sets in patches the sinusoid changed the error by "
        f"{per_cent(flat.mean):+.1f} % under the former, so you can leave it out there, and by "
        f"{per_cent(mean.mean):+.1f} % under the latter. Our models are small."
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
        f"RoPE on {(steps > 0).sum()} of {steps.size} with a token a step, and on "
        f"{(patches > 0).sum()} of {patches.size} in patches. That is no proof."
    )


def _otherwise() -> str:
    gains = gains_of("time_series")
    means = [100 * one.effect.mean for one in gains.values()]
    return (
        "It takes real times, it works with a cache when a model writes word after word, and where "
        "texts grow longer there is a repair. It was not the most accurate on our series: there "
        f"an encoding brought {min(means):.1f} to {max(means):.1f} points on average over "
        f"{gains['rotary'].n_units} independent sets, RoPE {100 * gains['rotary'].effect.mean:.1f}."
    )
