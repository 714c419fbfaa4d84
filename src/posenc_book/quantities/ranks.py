"""Which encodings of the benchmark are told apart, and in which order they rank."""

from posenc_book.quantities import _read
from posenc_book.read.classification import edition2, found_tables
from posenc_book.read.classification import protocol as protocols

BEST = ("erpe", "tpe")  # with steps; other names ask for other sentences


def _behind(ahead, *, every=False):
    """With steps: the encodings from which one is told apart, as a list."""
    pairs = _read.pairs("steps", every=every)
    return _read.listed([two for one, two in pairs if one == ahead])


def erpe_and_tpe_are_best():
    """With steps, over the sets that decide and over all, and ahead in each pair of the former."""
    both = [_read.ranked("steps", every=every) for every in (False, True)]
    first = all(one.encodings[:2] == BEST for one in both)
    return first and {ahead for ahead, _ in _read.pairs("steps")} == {*BEST}


def best_are_not_above_the_sinusoid():
    return "sinusoidal" not in {behind for _, behind in _read.pairs("steps")}


def none_is_told_apart_with_patches():
    return not _read.pairs("patches")


def told_apart():
    """Pairs with steps."""
    return _read.word(len(_read.pairs("steps")))


def told_apart_on_all():
    return _read.word(len(_read.pairs("steps", every=True)))


def told_apart_on_both():
    return _read.word(len(_shared()))


def _shared():
    return [pair for pair in _read.pairs("steps") if pair in _read.pairs("steps", every=True)]


def behind_erpe():
    return _behind("erpe")


def behind_tpe():
    return _behind("tpe")


def behind_erpe_on_all():
    return _behind("erpe", every=True)


def behind_tpe_on_all():
    return _behind("tpe", every=True)


def behind_rope_on_all():
    return _behind("rotary", every=True)


def only_three_are_ahead_on_all():
    """With steps: no encoding but eRPE, T-PE and RoPE is told apart from one behind it."""
    return {ahead for ahead, _ in _read.pairs("steps", every=True)} == {*BEST, "rotary"}


def not_behind():
    """From which neither of the two best is told apart, with steps."""
    told = {two for _, two in _read.pairs("steps")}
    return _read.listed([name for name in _read.ranked("steps").encodings[2:] if name not in told])


def behind_tpe_on_both():
    """Beside relative encoding, which is behind both."""
    behind = [two for one, two in _shared() if one == "tpe" and two != "relative"]
    return _read.listed(behind)


def both_are_ahead_of_relative():
    erpe = [two for one, two in _shared() if one == "erpe"]
    return erpe == ["relative"] and ("tpe", "relative") in _shared()


def bars_with_steps():
    return _read.word(len(_read.ranked("steps").groups))


def deciding_at_first():
    """Units with steps before the longer sets came in."""
    return _read.word(len(edition2.deciding(_first()).datasets))


def none_was_told_apart_at_first():
    """Nor could one be."""
    decide = edition2.deciding(_first())
    few = 45 * 2 / 2 ** len(decide.datasets) > edition2.ALPHA
    return few and not _read.differing(decide) and not _read.differing(_first().units())


def _first():
    return _read.grids()["steps"].only(protocols.UP_TO_100)


def only_pair_with_patches():
    """Is the sinusoid and relative encoding, over all sets."""
    return _read.pairs("patches", every=True) == [("sinusoidal", "relative")]


def with_ties_left_out():
    """Pairs with steps over all sets."""
    return _rankings()["steps, all"]["with ties left out"].split()[0]


def with_ties_ranked():
    return _rankings()["steps, all"]["pairs shown to differ"].split()[0]


def ties_matter_nowhere_else():
    rows = [row for name, row in _rankings().items() if name != "steps, all"]
    return all(row["pairs shown to differ"] == row["with ties left out"] for row in rows)


def _rankings():
    return found_tables.rankings(_read.grids())
