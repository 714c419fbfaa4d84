"""What encodings gain over none in the benchmark, and on what that depends."""

from functools import cache

import numpy as np

from posenc_book.guide import evidence
from posenc_book.quantities import _read
from posenc_book.read.classification import edition2, found, found_tables
from posenc_book.read.classification import protocol as protocols

MODELS = {tokens: model for model, tokens in edition2.TOKENS.items()}


def helping():
    """With patches."""
    return _read.begun(_read.listed(_read.with_answer("patches", "ahead")))


def helping_in_words():
    return _read.word(len(_read.with_answer("patches", "ahead")))


def open_in_words():
    return _read.word(len(_read.with_answer("patches", "undecided")))


def rope_is_open():
    return "rotary" in _read.with_answer("patches", "undecided")


def all_help_with_steps():
    return all(one.answer == "ahead" for one in _read.gains("steps"))


def none_is_equal():
    both = (*_read.gains("steps"), *_read.gains("patches"))
    return not any(one.p_equal <= edition2.ALPHA for one in both)


def dft_is_not_ahead():
    """Of the sinusoid, with steps or with patches."""
    means = [{one.encoding: one.effect.mean for one in _read.gains(tokens)} for tokens in MODELS]
    return all(one["dft"] <= one["sinusoidal"] for one in means)


def _rope_with_steps():
    (rope,) = [one for one in _read.gains("steps") if one.encoding == "rotary"]
    return rope


def rope_is_surest():
    """With steps it is behind on no set, and none has a smaller p-value."""
    rope = _rope_with_steps()
    return rope.losses == 0 and rope.p_value == min(one.p_value for one in _read.gains("steps"))


def rope_is_level_on():
    rope = _rope_with_steps()
    return _read.word(rope.n_units - rope.wins)


def lowest():
    """The lowest mean gain of an encoding."""
    return {t: _read.points(100 * _read.gains(t)[-1].effect.mean) for t in MODELS}


def highest():
    return {t: _read.points(100 * _read.gains(t)[0].effect.mean) for t in MODELS}


def lowest_median():
    """The lowest median gain of an encoding over sets."""
    return {t: _read.points(min(_medians(t))) for t in MODELS}


def highest_median():
    return {t: _read.points(max(_medians(t))) for t in MODELS}


def _medians(tokens):
    return np.median(_read.answers()[tokens][0], 1)


def p_values():
    """From the smallest to the largest, after Holm's correction."""
    found_p = {t: sorted(one.p_value for one in _read.gains(t)) for t in MODELS}
    return {
        t: " to ".join(edition2.p_value_text(p[i]) for i in (0, -1)) for t, p in found_p.items()
    }


def chance_of_two_points():
    """With patches: how likely the test shows such a gain, over the encodings."""
    (row,) = [row for name, row in found_tables.chances().items() if name.startswith("patches")]
    return row["gain 2"]


def of_the_sinusoid():
    """With patches."""
    (one,) = [one for one in _read.gains("patches") if one.encoding == "sinusoidal"]
    return _read.points(100 * one.effect.mean)


def independent_sets():
    """On which something is learned."""
    return {tokens: str(_read.gains(tokens)[0].n_units) for tokens in MODELS}


def set_matters_far_more():
    """Than which encoding it is."""
    steps, patches = _read.spreads("steps"), _read.spreads("patches")
    return bool(
        steps["set"] > 10 * steps["encoding"]
        and steps["set"] > 3 * steps["set:encoding"]
        and patches["set"] > 1.5 * patches["set:encoding"]
    )


def from_set_to_set():
    return {t: _read.points(_read.spreads(t)["set"]) for t in MODELS}


def from_encoding_to_encoding():
    return {t: _read.points(_read.spreads(t)["encoding"]) for t in MODELS}


def of_an_encoding_on_a_set():
    return {t: _read.points(_read.spreads(t)["set:encoding"]) for t in MODELS}


def most_sets_gain_little_and_some_much():
    """With patches."""
    means = _read.by_unit("patches")
    return bool(np.mean(means < 2) > 0.5 and (means > 10).any())


def a_few_sets_gain_far_more():
    """With steps."""
    means = _read.by_unit("steps")
    return bool(2 < np.sum(means > 25) <= 4 and np.median(means) < 7)


def two_gain_nothing_and_fifty_words_much():
    gain = _read.by_set("steps")
    return max(gain["Epilepsy"], gain["Trace"]) < 0 and gain["FiftyWords"] > 30


def nothing_on_four_sets():
    gain = _read.by_set("steps")
    return max(gain[name] for name in ("RacketSports", "BasicMotions", "Plane", "Trace")) < 1


def italy_is_better_in_patches():
    """Patches without an encoding, than steps with one."""
    row = found_tables.steps_and_patches()["ItalyPowerDemand"]
    return float(row["patches, none"]) > float(row["steps, mean of ten"])


def racket_sports_loses_in_patches():
    """Without an encoding, to steps with one."""
    row = found_tables.steps_and_patches()["RacketSports"]
    return f"{float(row['steps, mean of ten']) - float(row['patches, none']):.0f}"


def sinusoid_over_rope_on_small_sets():
    """On how many it is ahead."""
    ahead = {tokens: evidence.small_sets(model) > 0 for tokens, model in MODELS.items()}
    return {tokens: f"{one.sum()} of {one.size}" for tokens, one in ahead.items()}


@cache
def by_patches():
    """On sets of few patches, of more and of most."""
    rows = found_tables.by_patches((16, 41)).values()
    said = (f"${row['mean gain']}$" for row in rows)
    return dict(zip(("few", "many", "most"), said, strict=True))


def does_not_grow_with_patches():
    few, many, most = (float(said.strip("$")) for said in by_patches().values())
    return max(abs(few), most) < 1 and many > 4


def of_the_most_patches():
    """How many of the four sets with the most gain two points."""
    most = sorted(_read.by_set("patches"), key=lambda name: found.n_tokens(name, "patches"))[-4:]
    return _read.word(sum(_read.by_set("patches")[name] >= 2 for name in most))


def mean_with_steps_over_patches():
    return _read.points(found.steps_over_patches().mean())


def median_with_steps_over_patches():
    return _read.points(np.median(found.steps_over_patches()))


def no_effect_is_shown():
    rows = _read.depends().values()
    return all(float(row[f"p, {tokens}"]) > edition2.ALPHA for row in rows for tokens in MODELS)


def length_may_have_none():
    """In patches the interval of its effect contains zero."""
    return _read.around_zero(_read.depends()["twice the length"]["patches"])


def long_sets():
    """Sets of more than 100 steps that were trained with both."""
    return str(len(_long()["steps"].datasets))


def long_sets_with_steps_ahead():
    steps, patches = (grid.scores[:, 1:].mean((1, 2)) for grid in _long().values())
    return str((steps > patches).sum())


def _long():
    steps = _read.grids()["steps"].only(protocols.ABOVE_100)
    return {"steps": steps, "patches": _read.grids()["patches"].only(steps.datasets)}


def one_verdict_is_of_accuracy_alone():
    """Over all sets none changes, by balanced accuracy that of SPE with patches."""
    changed = {
        (question, tokens, encoding)
        for tokens, model in MODELS.items()
        for question, grid in {
            "all": edition2.load_grid(model).units(),
            "balanced": edition2.learned(edition2.load_grid(model, metric="balanced_accuracy")),
        }.items()
        for encoding, answer in _answers(edition2.gains(grid)).items()
        if answer != _answers(_read.gains(tokens))[encoding]
    }
    return changed == {("balanced", "patches", "sine_spe")}


def _answers(gains):
    return {one.encoding: one.answer for one in gains}


def what_is_added_costs_nothing():
    added = ("learnable", "tape", "sinusoidal", "dft")
    return all(abs(_read.costs()[name]["time of a step"] - 1) < 0.05 for name in added)


def rope_costs_a_sixth():
    return 1 / 7 < _read.costs()["rotary"]["time of a step"] - 1 < 1 / 5.5


def spe_more_than_doubles_a_step():
    return _read.costs()["sine_spe"]["time of a step"] > 2


def mini_rocket_beats_the_sinusoid():
    row = found_tables.ahead(_read.levels())["MiniRocket beats the sinusoid"]
    return {tokens: said.removesuffix(" sets") for tokens, said in row.items()}
