"""The guide: what to use when, the number behind it, and how sure that is.

Recommendations that the questions of the first page give, too, are taken from their figure.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from posenc_book.atlas import called
from posenc_book.guide import measured
from posenc_book.guide.chooser import (
    FEW_SERIES,
    Chooser,
    gains_of,
    moved_image,
    renumbered,
    small_sets,
    stretch,
)
from posenc_book.read.classification import edition, fair, second
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.found import TOKENS
from posenc_book.read.edition3.reading import load_answers
from posenc_book.read.edition3.tables import points
from posenc_book.read.forecasting import answers, complete, read_out
from posenc_book.read.forecasting.effects import per_cent
from posenc_book.read.gaps import read as gaps
from posenc_book.read.range_probe import longer as lengths
from posenc_book.teaching.table import Table
from posenc_book.teaching.words import WordTable

LEARNED = "PenDigits"  # a set with many training series
LONG, PATCH, WIDTH = 1024, 8, 64  # steps, steps in a patch, d_model


@dataclass(frozen=True)
class Line:
    """One answer of the guide.

    Attributes
    ----------
    use, number, sure : str
        The recommendation, what was measured, and how far that carries.
    """

    use: str
    number: str
    sure: str


def guide_table() -> WordTable:
    """Return the guide as a table whose rows are cards on a narrow screen."""
    rows = {
        question: {"use": one.use, "the number behind it": one.number, "how sure": one.sure}
        for question, one in lines().items()
    }
    return WordTable(rows, head="your case", stacked=True)


def lines() -> dict[str, Line]:
    """Return the answers by the case that they are for."""
    return {question: answer() for question, answer in _ANSWERS.items()}


def short() -> Line:
    """A token a step, and series all of one length."""
    gains = list(gains_of("time_series").values())
    means = [100 * one.effect.mean for one in gains]
    again = load_answers()
    erpe = again["ahead"].answer("erpe - sinusoidal")
    choice = again["choice"].answer("chosen - erpe")
    too = "; try eRPE, too" if erpe.answer == "ahead" else ""
    return Line(
        f"{_advice(token='small')}{too}; {_advice()} if lengths or times vary",
        f"over {gains[0].n_units} independent sets {len(gains)} encodings gain {min(means):+.1f} "
        f"to {max(means):+.1f} points on average; on {len(erpe.by_set)} new sets eRPE is "
        f"{points(erpe)} beside the sinusoid, and the choice of validation among ten "
        f"{points(choice)} beside eRPE",
        f"{_sure(gains)}: {second.said_shown(gains)}{_no_best()}",
    )


def long() -> Line:
    """Series of more than a hundred steps."""
    steps = second.load_grid("time_series").only(protocols.ABOVE_100)
    cut = second.load_grid("patch").only(steps.datasets)
    whole, patched = (100 * one.scores[:, 1:].mean() for one in (steps, cut))
    return Line(
        "patches, if steps cost too much",
        f"attention over {LONG:,} steps multiplies {attention_work():.0f} times as much as over "
        f"their {LONG // PATCH} patches",
        f"open: the work is counted; on {len(steps.datasets)} long sets steps have {whole:.1f} %, "
        f"patches {patched:.1f} %",
    )


def patches() -> Line:
    """Several steps in a token."""
    gains = gains_of("patch")
    effects = {e: gains[e].effect for e in ("sinusoidal", "rotary")}
    sine, rope = (
        f"{100 * one.mean:+.1f} [{100 * one.low:+.1f}, {100 * one.high:+.1f}]"
        for one in effects.values()
    )
    return Line(
        f"{_advice(token='patch')}, beside two seeds of no encoding",
        f"{gains['rotary'].n_units} independent sets, points over none: sinusoid {sine}, RoPE "
        f"{rope}",
        f"{_sure([gains['sinusoidal']])}: {second.said_shown(list(gains.values()))} after "
        "correction",
    )


def forecasts() -> Line:
    """How a series goes on."""
    stored = complete.load_stored()
    found = {name: one.interval for name, one in read_out.effects_of_sinusoid(stored).items()}
    said = {name: f"{per_cent(one.mean):+.1f} %" for name, one in found.items()}
    under_a_mean = [found[f"{tokens}_mean"] for tokens in read_out.TOKENS]
    low = per_cent(min(one.low for one in under_a_mean))
    high = per_cent(max(one.high for one in under_a_mean))
    checked = answers.repeats(stored)
    return Line(
        "a flattened head where the past has one length, with or without an encoding; under a mean "
        "of the tokens the sinusoid; in a decoder the sinusoid or RoPE",
        f"over {under_a_mean[0].n} data sets the sinusoid changes the error by "
        f"{said['patches_flat']} (patches) and {said['steps_flat']} (steps) under a flattened "
        f"head, by {said['patches_mean']} and {said['steps_mean']} under a mean",
        f"fair: registered, five seeds, under a mean {low:+.0f} to {high:+.0f} %; "
        f"{sum(one.same_sign for one in checked)} of {len(checked)} differences repeat on four "
        "more sets; but small models",
    )


def longer() -> Line:
    """Series beyond the length of training, to be classified."""
    found = lengths.load_longer()
    far = f"longer_{max(found.longer)}"
    names = {"relative": "Shaw", "rotary": "RoPE", "sinusoidal": "the sinusoid"}
    said = ", ".join(f"{title} {100 * found.accuracy(e, far):.0f} %" for e, title in names.items())
    lowest = ", ".join(
        f"{names[e]} {min(100 * run[far] for run in found.good(e)):.0f} %"
        for e in ("relative", "rotary")
    )
    n = len(found.good("rotary"))
    return Line(
        _advice(longer="series"),
        f"trained at {found.trained} steps, right at {max(found.longer)}: {said}; a coin 50 %",
        f"fair: {n} seeds, the lowest of {lowest}; but one synthetic task",
    )


def longer_text() -> Line:
    """A causal model with RoPE that is to read more than it was trained on."""
    one = stretch()
    return Line(
        _advice(longer="trained"),
        f"loss in nats: RoPE {one.said('rotary', one.short)} at {one.short} characters, "
        f"{one.said('rotary', one.far)} at {one.far}, none {one.said('none', one.far)}, "
        f"YaRN {one.said('yarn', one.far)}, Llama 3’s {one.said('llama3', one.far)}, LongRoPE "
        f"{one.said('longrope', one.far)}; {one.steps} steps on RoPE "
        f"{one.said('rotary', one.far, tuned=True)}, these "
        f"{', '.join(one.said(n, one.far, tuned=True) for n in ('yarn', 'llama3', 'longrope'))}; "
        f"the price of YaRN at {one.short}: {one.said('yarn', one.short)}, after the steps "
        f"{one.said('yarn', one.short, tuned=True)}",
        f"weak: a small character model, {one.seeds} seeds, one text",
    )


def new_text() -> Line:
    """A causal model that is to be trained, and to read more than in training."""
    one = stretch()
    return Line(
        f"{_advice(longer='anew')}, and long texts at the end of training; or later YaRN and a few "
        "steps of training",
        f"loss in nats at {one.far} characters, trained at {one.short}: RoPE with YaRN and "
        f"{one.steps} steps {one.said('yarn', one.far, tuned=True)}, ALiBi "
        f"{one.said('alibi', one.far)}, none {one.said('none', one.far)}",
        "weak: as above, and the base was not varied; Llama 3 had a larger base and long texts",
    )


def times() -> Line:
    """Samples at uneven times, or lost ones."""
    place, offset = (gaps.worth(group) for group in ("place", "offset"))
    p_value = gaps.p_values()
    return Line(
        _advice(times="yes"),
        f"half of the samples lost: scores move by {renumbered()[0]:.0f} with true times, by up to "
        f"{renumbered()[1]:.1f} standard deviations if numbered anew",
        f"sure in the scores, open in points: {offset.mean:+.1f} for offsets "
        f"(p {p_value['offset']:.2f}), {place.mean:+.1f} for places (p {p_value['place']:.2f}) "
        f"over {len(offset.units)} independent sets",
    )


def images() -> Line:
    """Patches of an image."""
    return Line(
        _advice(times="grid"),
        f"an image moved by 3 rows and 5 columns: axial scores change by {moved_image():.0f}",
        "sure in the scores; not measured in accuracy",
    )


def signal() -> Line:
    """What the series does around a step, on several scales."""
    from posenc_book.guide import layers  # needs torch, which the rest of the guide does without

    return Line(
        "window statistics or wavelets (DyWPE), beside an encoding",
        f"where {LONG:,} values are equal DyWPE gives each step the same vector (they differ by "
        f"{layers.equal_steps(LONG, WIDTH):.0f}), so it does not say where",
        "sure that they do not say where; open what they are worth in points",
    )


def language() -> Line:
    """Text that is written token by token."""
    from posenc_book.guide import layers  # needs torch, which the rest of the guide does without

    one = stretch()
    return Line(
        f"{_advice()}; for longer texts see below",
        f"loss in nats at the trained {one.short} characters: RoPE "
        f"{one.said('rotary', one.short)}, ALiBi {one.said('alibi', one.short)}, none "
        f"{one.said('none', one.short)}; with a cache or without, outputs differ by "
        f"{layers.cached_difference(WIDTH):.0f}",
        f"weak: a small character model, {one.seeds} seeds, one text; sure in the outputs, which "
        "others give with a cache, too",
    )


def speed() -> Line:
    """The time of a training step."""
    found = measured.measured()
    rope, shaw, spe = (found[e].cost for e in ("rotary", "relative", "conv_spe"))
    timed = found["rotary"].tokens
    return Line(
        "the sinusoid",
        f"a step takes {found['sinusoidal'].cost:.2f} times one without positions; with RoPE "
        f"{rope:.2f}, Shaw {shaw:.2f}, ConvSPE {spe:.2f}",
        f"fair: our code on one core, medians over {min(timed)} to {max(timed)} tokens",
    )


def few() -> Line:
    """A small training set."""
    steps, patches = (small_sets(model) for model in TOKENS)
    return Line(
        _advice(token="small"),
        f"{steps.size} sets of at most {FEW_SERIES} series, a token a step: sinusoid minus RoPE "
        f"{steps.min():+.1f} to {steps.max():+.1f} points, mean {steps.mean():+.1f}",
        f"open: ahead on {(steps > 0).sum()} of {steps.size} such sets, and with patches on "
        f"{(patches > 0).sum()} of {patches.size}; not told apart",
    )


def unknown() -> Line:
    """Nobody knows whether order matters."""
    none, others = _scores(second.load_grid("patch"), LEARNED)
    luck = fair.scatter_over_sets("patch")
    return Line(
        f"{_advice()}, beside two seeds of no encoding",
        f"some sets gain nothing: {LEARNED} in one patch has {none:.1f} % without positions, "
        f"{others.min():.1f} to {others.max():.1f} % with",
        f"open: with patches one training scatters by {luck:.1f} points; sure that it takes times "
        "and a cache",
    )


_ANSWERS: dict[str, Callable[[], Line]] = {
    "Steps as tokens, one length": short,
    "Long series": long,
    "Patches as tokens": patches,
    "Forecasts": forecasts,
    "Longer series": longer,
    "A language model": language,
    "Longer texts, RoPE trained": longer_text,
    "Longer texts, a new model": new_text,
    "Uneven samples, real times": times,
    "Images": images,
    "Bursts, trends and edges": signal,
    "Speed counts most": speed,
    "Few data": few,
    "Nothing is known": unknown,
}


def evidence() -> Table:
    """Return accuracies by tokens, means over the data sets of the edition, which is named."""
    rows = {}
    for model, tokens in TOKENS.items():
        grid = second.load_grid(model)
        means = dict(zip(grid.encodings, 100 * grid.scores.mean((0, 2)), strict=True))
        others = [mean for encoding, mean in means.items() if encoding != "none"]
        rows[f"{tokens}, {len(grid.datasets)} sets"] = {
            "none": f"{means['none']:.1f}",
            "sinusoid": f"{means['sinusoidal']:.1f}",
            "RoPE": f"{means['rotary']:.1f}",
            f"all {len(others)}": f"{min(others):.1f} to {max(others):.1f}",
        }
    caption = "Accuracy in per cent, means over data sets and five training runs"
    return Table(rows, caption=f"{caption} ({edition.said()})")


def clocks() -> Table:
    """Return what models make of lost samples that are given the times, and what these bring."""
    columns = {_CLOCKED[name]: _with_times(name) for name in _CLOCKED}
    rows = {
        dataset: {title: said[dataset] for title, said in columns.items()}
        for dataset in next(iter(columns.values()))
    }
    caption = "Accuracy in per cent with true times (and what it is more than with numbers)"
    return Table(rows, caption=caption)


_CLOCKED = {
    "none": "none",
    "sinusoidal": "sinusoid",
    "learnable": "learned",
    "rotary": "RoPE",
    "relative": "Shaw",
}


def _with_times(encoding: str) -> dict[str, str]:
    """Return accuracy with times and its difference from that with numbers, by set, and means."""
    times, numbers = (gaps.accuracy(encoding, clock) for clock in ("times", "indices"))
    for by_set in (times, numbers):
        by_set["mean"] = float(np.mean(list(by_set.values())))
    more = {name: round(times[name] - numbers[name], 1) + 0.0 for name in times}  # no minus zero
    return {name: f"{times[name]:.1f} ({more[name]:+.1f})" for name in times}


def cost_and_reach() -> dict[str, tuple[float, float]]:
    """Return the time of a step and the accuracy at four times the length of training.

    Encodings with which the task was not learned, or that take no longer input, are left out. Where
    only some trainings learned it, the name says how many.
    """
    found = measured.measured()
    return {
        _counted(name, one): (one.cost, one.longer)
        for name, one in found.items()
        if np.isfinite([one.cost, one.longer]).all()
    }


def mended() -> dict[str, float]:
    """Return the loss of the model of characters at the longest context, by what was done."""
    one = stretch()
    nats = {
        name: one.nats[name, one.far, "as trained"] for name in ("rotary", "none", "alibi", "yarn")
    }
    return {
        "RoPE as trained": nats["rotary"],
        "no encoding": nats["none"],
        "ALiBi": nats["alibi"],
        "RoPE with YaRN": nats["yarn"],
        f"RoPE with YaRN, {one.steps} steps": one.nats["yarn", one.far, "fine-tuned"],
        f"RoPE, the last {one.short} only": one.nats["rotary", one.short, "as trained"],
    }


def _counted(name: str, one: measured.Measured) -> str:
    """Return what people call it, with how many trainings learned the task if not all did."""
    learned = "" if one.n_learned == one.n_seeds else f" ({one.n_learned} of {one.n_seeds})"
    return called(name) + learned


@cache
def _chooser() -> Chooser:
    """Return the figure, which gathers all its evidence at the first question."""
    return Chooser()


def _advice(**answers: str) -> str:
    """Return what the first page says to these answers, all others being the usual ones."""
    figure = _chooser()
    return figure.advice(**{**figure.first(), **answers}).use


def _scores(grid: second.Accuracies, name: str) -> tuple[float, NDArray[np.float64]]:
    """Return per cent on a data set without and with encodings, means over resamples."""
    first, *others = _named(grid, name).values()
    return first, np.array(others)


def _named(grid: second.Accuracies, name: str) -> dict[str, float]:
    """Return per cent on a data set by encoding."""
    means = 100 * grid.only([name]).scores[0].mean(1)
    return dict(zip(grid.encodings, means.tolist(), strict=True))


def _sure(gains: Sequence[second.Gain]) -> str:
    """Return "fair" where the frozen test shows that each of some encodings helps, else "open"."""
    return "fair" if all(one.answer == "ahead" for one in gains) else "open"


def _no_best() -> str:
    """Return ", but no best encoding" where one group holds all of them."""
    ranking = second.ranking(second.deciding(second.load_grid("time_series")))
    alike = any(len(group) == len(ranking.encodings) for group in ranking.groups)
    return ", but no best encoding" if alike else ""


def attention_work() -> float:
    """Return how many times as much a layer multiplies over long series as over their patches."""
    return _products(LONG) / _products(LONG // PATCH)


def _products(n_tokens: int) -> int:
    """Return the multiplications of an attention layer: four projections, scores, mixing."""
    return 4 * n_tokens * WIDTH**2 + 2 * n_tokens**2 * WIDTH
