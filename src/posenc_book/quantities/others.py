"""Five more encodings of the library, and those of today, beside the ten of the benchmark."""

from functools import cache, partial

from posenc_book.data import measure
from posenc_book.quantities import _read
from posenc_book.read.classification import edition2, families
from posenc_book.read.classification import protocol as protocols


@cache
def _over_none(family, model):
    return families.over_none(_read.family(family, model), family)


@cache
def _over_ten(family, model):
    return families.over_ten(_read.family(family, model), family)


def _answers(gains):
    return {one.encoding: one.answer for one in gains}


def _points(encoding, model):
    (one,) = [one for one in _over_none("others", model) if one.encoding == encoding]
    return one.effect


def trained_on_short_and_on_varied_sets():
    """In patches, and with steps."""
    patches, steps = (_read.family("others", model) for model in ("patch", "time_series"))
    return patches.datasets == protocols.UP_TO_100 and steps.datasets == protocols.VARIED


# --- with steps


def all_five_help_with_steps():
    return {*_answers(_over_none("others", "time_series")).values()} == {"ahead"}


def alibi_is_last_and_lines_are_first():
    gains = _over_none("others", "time_series")
    return (gains[0].encoding, gains[-1].encoding) == ("sine_linear", "alibi")


def least_with_steps():
    return _read.points(100 * _over_none("others", "time_series")[-1].effect.mean)


def most_with_steps():
    return _read.points(100 * _over_none("others", "time_series")[0].effect.mean)


def units_with_steps():
    (units,) = {one.n_units for one in _over_none("others", "time_series")}
    return _read.word(units)


def lines_over_the_ten():
    """The waves with a straight line over the mean of the ten, with steps."""
    return _read.formula(_over_ten("others", "time_series")[0].effect)


def lines_alone_are_better():
    """Than the mean of the ten; no other encoding of a family is better or worse."""
    decided = [
        (family, model, one.encoding)
        for family, model in _asked()
        for one in _over_ten(family, model)
        if one.answer != "undecided" and one.effect.mean > edition2.MARGIN
    ]
    return decided == [("others", "time_series", "sine_linear")]


def _asked():
    return [
        (family, model)
        for family in families.FAMILIES
        for model in edition2.TOKENS
        if _read.family(family, model) is not None
    ]


def p_of_lines_among_twenty():
    """Counted with all twenty questions of the mean of the ten."""
    if sum(len(_over_ten(*one)) for one in _asked()) != 20:
        raise ValueError("the questions of the mean of the ten are no longer twenty")
    raw = _over_ten("others", "time_series")[0].p_value / len(protocols.OTHERS)
    return edition2.p_value_text(
        20 * raw
    )  # Holm's smallest of a family of five is five times the raw one


def _over_tpe():
    return families.over(_read.family("others", "time_series"), "others", "sine_linear", "tpe")


def lines_over_tpe():
    return _read.formula(_over_tpe().effect)


def lines_are_not_above_the_best():
    best = _of_ten("time_series")[0].encoding
    return _over_tpe().answer == "undecided" and best == "tpe"


@cache
def _of_ten(model):
    return families.of_ten(_read.family("others", model), "others")


def tpe_alone_helps_on_the_nine():
    answers = _answers(_of_ten("time_series"))
    return [name for name, answer in answers.items() if answer == "ahead"] == ["tpe"]


def p_of_the_other_nine():
    p_values = {
        edition2.p_value_text(g.p_value) for g in _of_ten("time_series") if g.encoding != "tpe"
    }
    return " or ".join(sorted(p_values))


def two_intervals_reach_below_zero():
    low = {one.encoding for one in _over_none("others", "time_series") if one.effect.low < 0}
    return low == {"t5", "conv_spe"}


def finger_movements_is_learned_by_the_ten_alone():
    grids = (_read.family("others", "time_series"), _read.grids()["steps"])
    sixteen, eleven = (
        {one.dataset for one in edition2.decides(grid) if not one.learned} for grid in grids
    )
    return sixteen == {"FingerMovements"} and "FingerMovements" not in eleven


# --- ALiBi and the mirror


def alibi_alone_takes_mirror_images_for_one():
    import torch

    from posenc import encodings, models

    torch.manual_seed(0)
    x = torch.randn(3, 60, 1)
    moved = {}
    for name in ("alibi", "t5"):
        net = models.TimeSeriesTransformer(1, 6, 60, position=partial(encodings.make, name)).eval()
        moved[name] = (net(x) - net(x.flip(1))).abs().max().item()
    return moved["alibi"] < 1e-5 < 1e-3 < moved["t5"]


def _on_synthetic_control():
    here = _read.family("others", "time_series").units().only(["SyntheticControl"])
    gains = {one: 100 * float(here.gains(one).mean()) for one in protocols.OTHERS}
    return here, gains


def alibi_on_synthetic_control():
    return _read.points(_on_synthetic_control()[1]["alibi"])


def others_on_synthetic_control():
    """The least of the other four."""
    _, gains = _on_synthetic_control()
    return _read.points(min(gain for name, gain in gains.items() if name != "alibi"))


def alibi_right_on_synthetic_control():
    here, _ = _on_synthetic_control()
    return _read.points(100 * here.compare(["alibi"]).scores.mean())


def alibi_loses_most_on_synthetic_control():
    """More than half of what it is behind the ten."""
    units = _read.family("others", "time_series").units()
    behind = {
        name: units.only([name]).compare(families.TEN).scores.mean()
        - units.only([name]).compare(["alibi"]).scores.mean()
        for name in units.datasets
        if name != "FingerMovements"
    }
    return bool(behind["SyntheticControl"] > 0.5 * sum(behind.values()))


# --- with patches


def two_make_no_difference():
    """ALiBi and convolutional SPE with patches; the other three stay open."""
    answers = _answers(_over_none("others", "patch"))
    equal = {name for name, answer in answers.items() if answer == "equal"}
    return equal == {"alibi", "conv_spe"} and {*answers.values()} == {"undecided", "equal"}


def they_alone_make_no_difference():
    """In the whole benchmark."""
    elsewhere = [edition2.gains(edition2.load_grid(model)) for model in edition2.TOKENS]
    return not any(one.answer == "equal" for gains in elsewhere for one in gains)


def alibi_with_patches():
    return f"${100 * _points('alibi', 'patch').mean:+z.1f}$"


def conv_spe_with_patches():
    return f"${100 * _points('conv_spe', 'patch').mean:+z.1f}$"


def units_with_patches():
    (units,) = {one.n_units for one in _over_none("others", "patch")}
    return ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"][units - 10]


def conv_spe_would_be_open_as_one_of_ten():
    p_value = {one.encoding: one.p_equal for one in _over_none("others", "patch")}
    raw = p_value["conv_spe"] / 4  # Holm's second of five
    return p_value["alibi"] < p_value["conv_spe"] and edition2.ALPHA / 9 < raw < edition2.ALPHA / 4


def most_of_the_ten_on_short_sets():
    return _read.points(100 * max(one.effect.mean for one in _of_ten("patch")))


def relative_stays_open():
    return _answers(_of_ten("patch"))["relative"] == "undecided"


def none_is_above_or_below_the_ten():
    return {*_answers(_over_ten("others", "patch")).values()} <= {"undecided", "equal"}


def short_sets_make_thirteen_patches():
    """At most; and among so few ALiBi's bias is a mirror image of itself."""
    import torch

    from posenc import encodings

    grid, patch = _read.family("others", "patch"), protocols.TRAINING["settings"]["patch"]
    longest = max(measure.recorded()["sets"][name]["length"] for name in grid.datasets)
    bias = encodings.make("alibi", 16, 2, 13).bias(*3 * [torch.zeros(1, 13, 16)])
    mirrored = torch.equal(bias, bias.transpose(-1, -2))
    return -(-longest // patch) == 13 and mirrored


# --- encodings of today


def every_verdict_of_today_is_open():
    both = (*_over_none("later", "patch"), *_over_ten("later", "patch"))
    return {one.answer for one in both} == {"undecided"}


def window_statistics_are_first_and_fire_is_last():
    both = (_over_none("later", "patch"), _over_ten("later", "patch"))
    ends = {(gains[0].encoding, gains[-1].encoding) for gains in both}
    return ends == {("window_statistics", "fire")}


def least_advantage_left():
    return _read.points(100 * min(one.effect.high for one in _over_ten("later", "patch")))


def largest_advantage_left():
    return _read.points(100 * max(one.effect.high for one in _over_ten("later", "patch")))
