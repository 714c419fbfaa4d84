"""What it brings to choose among ten encodings by validation, in the third edition."""

from functools import cache
from math import perm
from statistics import mean

from posenc_book.quantities import _edition3, _read
from posenc_book.read.edition3 import choice, tables
from posenc_book.read.edition3.questions import CHOSEN

SINUSOID, ERPE = f"{CHOSEN} - sinusoidal", f"{CHOSEN} - erpe"


@cache
def _over_the_sinusoid():
    """Return what each of the ten, and the choice, is over it, by data set."""
    return choice.over_the_default(_edition3.scores())


@cache
def _picks():
    """Return what was chosen in the runs of each data set."""
    return [*choice.choices(_edition3.scores()).values()]


def over_the_sinusoid():
    """In points."""
    return f"{_edition3.points('choice', SINUSOID):.1f}"


def over_erpe():
    """In points."""
    return f"{_edition3.points('choice', ERPE):+.1f}"


def with_interval():
    """Both differences, in points, with intervals by the scatter of runs."""
    pairs = {"sinusoid": SINUSOID, "erpe": ERPE}
    return {name: tables.points(_edition3.answer("choice", pair)) for name, pair in pairs.items()}


def beats_the_sinusoid():
    """Shown to be ahead, and by less than the margin."""
    return _edition3.small("choice", SINUSOID) > 0


def equals_erpe():
    return _edition3.outcome("choice", ERPE) == "equal"


def ahead_on_eight():
    return len(_edition3.sets_above(0, "choice", SINUSOID)) == 8


LARGEST = "ToeSegmentation1"


def toe_brings_half():
    """More than half of the lead over the sinusoid."""
    by_set = _edition3.by_set("choice", SINUSOID)
    return by_set[LARGEST] > sum(by_set.values()) / 2


def without_toe():
    """Over the sinusoid, in points, on the nine other sets."""
    return f"{_edition3.points('choice', SINUSOID, LARGEST):.1f}"


def without_toe_equals_the_sinusoid():
    return _edition3.outcome("choice", SINUSOID, LARGEST) == "equal"


def equals_erpe_without_any():
    """Left out one by one."""
    names = choice.ASKED.datasets
    return {_edition3.outcome("choice", ERPE, name) for name in names} == {"equal"}


def by_set_beside_erpe():
    """From the set on which the choice is furthest behind to that on which it is furthest ahead."""
    by_set = _edition3.by_set("choice", ERPE).values()
    return {"least": f"{100 * min(by_set):+.1f}", "most": f"{100 * max(by_set):+.1f}"}


def within_two_hangs_on_two():
    """Left out one by one: without either it is ahead, and not shown to be within the margin."""
    names = choice.ASKED.datasets
    left = {name: _edition3.outcome("choice", SINUSOID, name) for name in names}
    return {name for name, outcome in left.items() if outcome == "ahead"} == {"ERing", "ArrowHead"}


def held_out():
    """About so many series choose, on the smallest and on the largest set."""
    rows = _edition3.planned()["sets"]
    sizes = [rows[name]["validation, halves"] for name in choice.ASKED.datasets]
    return {"fewest": f"{round(min(sizes), -1)}", "most": f"{round(max(sizes), -1)}"}


def runs():
    """On all sets together: in each of them validation chooses anew."""
    return str(len(choice.ASKED.datasets) * len(choice.RUNS))


def ties():
    """Runs in which several of the ten share the best validation accuracy."""
    accuracies = [
        [_edition3.scores()[name, one, 2, run].validated[0] for one in choice.TEN]
        for name in choice.ASKED.datasets
        for run in choice.RUNS
    ]
    return str(sum(of_run.count(max(of_run)) > 1 for of_run in accuracies))


def _below_and_above():
    """Return how many of the ten are below the choice, and above it, by set; means over runs."""
    found = _over_the_sinusoid()
    return {
        name: (
            sum(found[one][name] < here for one in choice.TEN),
            sum(found[one][name] > here for one in choice.TEN),
        )
        for name, here in found[CHOSEN].items()
    }


def passes_all_ten_on_umd():
    return _below_and_above()["UMD"] == (len(choice.TEN), 0)


def best_on_three_never_worst():
    """None of the ten is above it on three sets, and on each set three or more are below."""
    below, above = zip(*_below_and_above().values(), strict=True)
    return above.count(0) == 3 and min(below) >= 3


def sets_of_four_winners_by_lot():
    """Of ten sets, on average: those on which draws among ten differ in all runs."""
    n = len(choice.TEN)
    all_differ = perm(n, len(choice.RUNS)) / n ** len(choice.RUNS)
    return _read.word(round(len(choice.ASKED.datasets) * all_differ))


def six_sets_four_winners():
    return sum(len(set(names)) == len(choice.RUNS) for names in _picks()) == 6


def half_are_erpe():
    """Of what was chosen in all runs: eRPE, or tAPE with eRPE."""
    names = [name for of_set in _picks() for name in of_set]
    return 2 * sum(name in ("erpe", "tape + erpe") for name in names) == len(names)


def by_lot():
    """Over the sinusoid, in points, for one of the ten that is drawn by lot."""
    means = [mean(_over_the_sinusoid()[one].values()) for one in choice.TEN]
    return f"{100 * mean(means):.1f}"


def erpe_in_four_runs():
    """Over the sinusoid, in points, as the table of this question has it."""
    return f"{100 * mean(_over_the_sinusoid()['erpe'].values()):.1f}"
