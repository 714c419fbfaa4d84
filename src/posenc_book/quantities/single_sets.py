"""What single data sets of the benchmark show: accuracies in per cent, and counts of sets."""

from functools import cache

from posenc_book.quantities import _read
from posenc_book.read.classification import found, found_tables
from posenc_book.read.classification.explorable import FOLLOWED, TOKENS, Benchmark


@cache
def _benchmark():
    return Benchmark()


@cache
def _column(tokens, kind):
    """Return a column of the table of sets that are whole with steps and with patches."""
    rows = found_tables.steps_and_patches().items()
    return {name.split(" of ")[0]: row[f"{tokens}, {kind}"] for name, row in rows}


def steps_without():
    """A token a step, no encoding; `mean` is that of all sets."""
    return _column("steps", "none")


def steps_with():
    """The mean of ten encodings."""
    return _column("steps", "mean of ten")


def patches_without():
    return _column("patches", "none")


def largest_class():
    """What is right if one always names it."""
    levels = _read.levels()
    return {
        name: f"{one['largest class']:.1f}" for (name, t), one in levels.items() if t == "steps"
    }


def worst_of_ten():
    """With steps."""
    return {name: f"{min(ten):.1f}" for name, ten in _tens()}


def best_of_ten():
    """With steps."""
    return {name: f"{max(ten):.1f}" for name, ten in _tens()}


def _tens():
    rows = _benchmark().rows["steps"]
    return zip(rows["sets"], rows["encodings"], strict=True)


def most_steps():
    """Of a series."""
    return {t: row["steps in a series"].split(" to ")[1] for t, row in found.progress().items()}


def much():
    """On how many an encoding brings ten points or more."""
    return {tokens: str(_benchmark().set_counts(tokens, "rotary")["much"]) for tokens in TOKENS}


def little():
    """On how many it brings less than two."""
    return {tokens: str(_benchmark().set_counts(tokens, "rotary")["little"]) for tokens in TOKENS}


def between():
    """On how many it brings neither much nor little."""
    told = {tokens: _benchmark().set_counts(tokens, "rotary") for tokens in TOKENS}
    return {t: _read.word(one["sets"] - one["much"] - one["little"]) for t, one in told.items()}


def sets():
    """That are whole."""
    return {tokens: str(_benchmark().set_counts(tokens, "rotary")["sets"]) for tokens in TOKENS}


def among_the_best():
    """With steps, on how many each is one of the three best of the ten."""
    return {name: str(_benchmark().set_counts("steps", name)["best"]) for name in FOLLOWED}


def among_the_worst():
    return {name: str(_benchmark().set_counts("steps", name)["worst"]) for name in FOLLOWED}


def none_is_never_among_the_worst():
    """With steps."""
    return all(_benchmark().set_counts("steps", name)["worst"] > 0 for name in FOLLOWED)


def erpe_is_among_the_best_most_often():
    """With steps, and least often among the worst."""
    told = {name: _benchmark().set_counts("steps", name) for name in FOLLOWED}
    most = max(told, key=lambda name: told[name]["best"])
    return most == "erpe" == min(told, key=lambda name: told[name]["worst"])


def spe_is_below_none_on_adiac():
    """With steps, and the worst of the ten."""
    row = dict(zip(_benchmark().rows["steps"]["sets"], range(99), strict=False))["Adiac"]
    ten = dict(zip(FOLLOWED, _benchmark().rows["steps"]["encodings"][row], strict=True))
    return ten["sine_spe"] == min(ten.values()) < _benchmark().rows["steps"]["none"][row]


def most_are_below_half_of_what_one_brings():
    """Apart in the mean of the sets, against what having an encoding brings."""
    gained = [100 * one.effect.mean for one in _read.gains("steps")]
    return 2 * (max(gained) - min(gained)) < sum(gained) / len(gained)


def without_stays_below_two_thirds():
    """On SyntheticControl, with steps."""
    return float(steps_without()["SyntheticControl"]) < 200 / 3
