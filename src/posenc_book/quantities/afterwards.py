"""What was asked of the benchmark after its results were read, and what it could not decide."""

from functools import cache

from scipy.stats import spearmanr

from posenc_book.quantities import _read
from posenc_book.quantities.gains import MODELS
from posenc_book.read.classification import edition2, found_tables, luck, post_hoc
from posenc_book.statistics import friedman


@cache
def _units(tokens):
    return edition2.learned(_read.grids()[tokens])


@cache
def _on_one_set(tokens):
    return post_hoc.on_one_set(_units(tokens))


@cache
def _over_the_sinusoid(tokens):
    return {one.encoding: one for one in post_hoc.over_the_sinusoid(_units(tokens))}


def apart_on_one_set():
    """The best of ten above the worst, in the mean of the sets."""
    return {t: _read.points(_on_one_set(t).apart.mean()) for t in MODELS}


def apart_by_luck():
    """Were all ten equally good."""
    return {t: _read.points(_on_one_set(t).luck.mean()) for t in MODELS}


def apart_in_the_mean():
    """The best of ten above the worst, each in its mean over the sets."""
    means = {t: [100 * one.effect.mean for one in _read.gains(t)] for t in MODELS}
    return {t: _read.points(max(one) - min(one)) for t, one in means.items()}


def apart_more_than_gained():
    """On how many sets."""
    found = {t: _on_one_set(t) for t in MODELS}
    return {t: f"{one.more_than_gained} of {one.gains.size}" for t, one in found.items()}


def mean_of_ten():
    """What an encoding gains over none."""
    return {t: _read.points(_on_one_set(t).gains.mean()) for t in MODELS}


def erpe_over_the_sinusoid():
    """With steps."""
    return _read.formula(_over_the_sinusoid("steps")["erpe"].effect)


def tpe_over_the_sinusoid():
    """With steps."""
    return _read.formula(_over_the_sinusoid("steps")["tpe"].effect)


def p_over_the_sinusoid():
    """Of both, as two of nine."""
    p_values = {
        edition2.p_value_text(_over_the_sinusoid("steps")[n].p_value) for n in ("erpe", "tpe")
    }
    return " and ".join(sorted(p_values))


def two_alone_are_ahead_of_the_sinusoid():
    """With steps eRPE and T-PE, with patches none."""
    ahead = {
        t: {name for name, one in _over_the_sinusoid(t).items() if one.answer == "ahead"}
        for t in MODELS
    }
    return ahead == {"steps": {"erpe", "tpe"}, "patches": set()}


@cache
def _picked():
    grids = {t: post_hoc.picked(model) for t, model in MODELS.items()}
    return {t: friedman.effect(grid.gains("picked")) for t, grid in grids.items()}


def picked_by_validation():
    """What the encoding gains over none that validation picks among ten."""
    return {t: _read.points(100 * one.mean) for t, one in _picked().items()}


def sinusoid():
    """What it gains over none."""
    return {
        t: _read.points(100 * one.effect.mean)
        for t in MODELS
        for one in _read.gains(t)
        if one.encoding == "sinusoidal"
    }


@cache
def _on_one_machine():
    return post_hoc.on_one_machine("time_series")


def sets_elsewhere():
    """With steps, trained on a GPU."""
    grid = _read.grids()["steps"]
    return _read.word(len(grid.datasets) - len(_on_one_machine().datasets))


def told_apart_on_one_machine():
    """Pairs with steps, over the sets that decide."""
    return _read.word(len(_read.differing(edition2.deciding(_on_one_machine()))))


def erpe_leads_them_on_one_machine():
    pairs = _read.differing(edition2.deciding(_on_one_machine()))
    return {*pairs} == {("erpe", "rotary"), ("erpe", "sine_spe")}


def equality_was_out_of_reach():
    """Though all mean gains had been 0."""
    return all(post_hoc.least_p_of_equality(_units(t)) > edition2.ALPHA for t in MODELS)


def least_p_of_equality():
    return {t: edition2.p_value_text(post_hoc.least_p_of_equality(_units(t))) for t in MODELS}


@cache
def _screen():
    grids = _read.grids()
    passed = {t: sum(one.yes for one in edition2.decides(grid)) for t, grid in grids.items()}
    return {t: (passed[t], round(luck.expected(grid))) for t, grid in grids.items()}


def screened():
    """Sets that decide rankings."""
    return {t: str(passed) for t, (passed, _) in _screen().items()}


def screened_by_luck():
    """Sets that would, were no encoding of any use."""
    return {t: str(by_luck) for t, (_, by_luck) in _screen().items()}


def mini_rocket_over_the_sinusoid():
    """In the mean of all sets."""
    return {t: _read.points(one) for t, one in post_hoc.rival_over_the_sinusoid().items()}


def nearest_beats_the_sinusoid():
    return _wins("1-NN beats the sinusoid")


def nearest_beats_the_best():
    """Of ten, which the test part chose."""
    return _wins("1-NN beats the best of ten")


def _wins(row):
    said = found_tables.ahead(_read.levels())[row]
    return {tokens: one.removesuffix(" sets") for tokens, one in said.items()}


@cache
def _sorting():
    return {t: post_hoc.sorting(model) for t, model in MODELS.items()}


def sorting_costs_much():
    """With steps: more than ten points on so many sets, and on how many of them five are gained."""
    one = _sorting()["steps"]
    costs = one.lost > 10
    return {"sets": _read.word(costs.sum()), "gain": _read.word((one.gains[costs] >= 5).sum())}


def sorting_costs_nothing():
    """With steps: on so many sets, and on how many of them less than five points are gained."""
    one = _sorting()["steps"]
    free = one.lost <= 0
    return {"sets": _read.word(free.sum()), "gain": _read.word((one.gains[free] < 5).sum())}


def handwriting_and_adiac_alone_are_otherwise():
    """With steps: of these two kinds of sets."""
    one = _sorting()["steps"]
    other = ((one.lost > 10) & (one.gains < 5)) | ((one.lost <= 0) & (one.gains >= 5))
    return {name for name, odd in zip(one.sets, other, strict=True) if odd} == {
        "Handwriting",
        "Adiac",
    }


def sorting_strawberry():
    """With steps: what it costs there, and what an encoding gains."""
    one = _sorting()["steps"]
    at = one.sets.index("Strawberry")
    return {"lost": _read.points(one.lost[at]), "gain": _read.points(one.gains[at])}


def sorting_and_gain_agree():
    """Spearman's rank correlation."""
    return {t: f"{spearmanr(one.lost, one.gains).statistic:.2f}" for t, one in _sorting().items()}


def p_of_sorting():
    """Of that correlation."""
    p_values = {t: spearmanr(one.lost, one.gains).pvalue for t, one in _sorting().items()}
    return {t: edition2.p_value_text(one) for t, one in p_values.items()}
