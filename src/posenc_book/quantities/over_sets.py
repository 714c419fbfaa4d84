"""Encodings beside the sinusoid over independent data sets of two editions, a token a step."""

from functools import cache

from posenc_book.quantities import _read
from posenc_book.read.classification import edition2
from posenc_book.read.edition3 import over_sets
from posenc_book.statistics.summary import t_interval

LEVEL = edition2.ALPHA


@cache
def _found():
    return over_sets.load()


def _both():
    """Return the differences by "new" and "all", and by encoding."""
    return {
        f"{which}.{name}": [*sets.values()]
        for name, one in _found().items()
        for which, sets in (("new", one.new), ("all", one.every))
    }


def sets():
    """Independent ones: new, known before, and all."""
    one = _found()["erpe"]
    return {
        "new": _read.word(len(one.new)),
        "known": str(len(one.known)),
        "all": str(len(one.every)),
    }


def mean():
    """In points, such as `new.erpe`."""
    return {name: f"{100 * t_interval(of).mean:z.1f}" for name, of in _both().items()}


def with_interval():
    """The same with its interval by the scatter of sets."""
    return {name: over_sets.points(t_interval(of)) for name, of in _both().items()}


def ahead():
    """Sets on which an encoding is ahead."""
    return {name: _read.word(sum(x > 1e-9 for x in of)) for name, of in _both().items()}


def p_on_new_sets():
    """By flipping signs in all ways, for each encoding by itself."""
    return {n: f"{over_sets.p_of_signs([*o.new.values()]):.2g}" for n, o in _found().items()}


def p_over_all():
    """By Wilcoxon's exact test, corrected by Holm over the four encodings."""
    return {n: edition2.p_value_text(p) for n, p in over_sets.p_values(_found()).items()}


def erpe_is_ahead():
    """Shown to be so on the new sets and over all, and not shown to be within the margin."""
    new, every = (t_interval(_both()[f"{which}.erpe"]).low for which in ("new", "all"))
    p_value, p_equal = (of(_found())["erpe"] for of in (over_sets.p_values, over_sets.p_equal))
    return min(new, every) > 0 and p_value <= LEVEL < p_equal


def others_are_equal():
    """The three others over all: shown to be within the margin, and no difference shown."""
    others = set(over_sets.ASKED) - {"erpe"}
    p_values, p_equal = over_sets.p_values(_found()), over_sets.p_equal(_found())
    return all(p_equal[name] <= LEVEL < p_values[name] for name in others)


def others_are_open_on_new_sets():
    """There none of the three is shown to be ahead, behind or equal."""
    margin = over_sets.plan.MARGIN
    found = [t_interval(_both()[f"new.{name}"]) for name in ("tpe", "rotary", "tape")]
    return all(one.low < 0 < one.high and max(-one.low, one.high) > margin for one in found)


def erpe_had_been_best():
    """And T-PE second, by the mean gain of ten encodings of the second edition, with steps."""
    return [one.encoding for one in _read.gains("steps")[:2]] == ["erpe", "tpe"]


def erpe_in_patches():
    """Beside the sinusoid, in points, over the learned units of the second edition."""
    grid = edition2.learned(edition2.load_grid("patch")).compare((over_sets.SINUSOID, "erpe"))
    return over_sets.points(t_interval(grid.gains("erpe").mean(1)))


def not_shown_in_patches():
    low, high = erpe_in_patches().split("[")[1].strip("]").split(", ")
    return float(low) < 0 < float(high)
