"""What it brings to choose among ten encodings by validation, in the third edition."""

import json
from statistics import mean

from posenc import _files
from posenc.experiments import results
from posenc.experiments.edition3 import choice, planned, tables
from posenc.experiments.edition3.questions import CHOSEN
from quantities import _edition3

SINUSOID, ERPE = f"{CHOSEN} - sinusoidal", f"{CHOSEN} - erpe"


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
    return _edition3.outcome("choice", SINUSOID) == "ahead, within the margin"


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


def held_out():
    """Series that choose, on the smallest and on the largest set."""
    rows = json.loads(_files.text(results.folder() / "edition-3" / planned.FILE.name))["sets"]
    sizes = [rows[name]["validation, halves"] for name in choice.ASKED.datasets]
    return {"fewest": str(min(sizes)), "most": str(max(sizes))}


def seldom_best_never_worst():
    """Best on three sets at most, and on each set at least three of the ten are below it."""
    of_rules = choice.over_the_default(_edition3.scores())
    picked = of_rules.pop(CHOSEN)
    below = [sum(one[d] < picked[d] for one in of_rules.values()) for d in picked]
    return min(below) >= 3 and below.count(len(of_rules)) <= 3


def six_sets_four_winners():
    names = choice.choices(_edition3.scores()).values()
    return sum(len(set(of_set)) == len(choice.RUNS) for of_set in names) == 6


def half_are_erpe():
    """Of what was chosen in all runs: eRPE, or tAPE with eRPE."""
    names = [name for of_set in choice.choices(_edition3.scores()).values() for name in of_set]
    return 2 * sum(name in ("erpe", "tape + erpe") for name in names) == len(names)


def by_lot():
    """Over the sinusoid, in points, for one of the ten that is drawn by lot."""
    of_rules = choice.over_the_default(_edition3.scores())
    means = [mean(by_set.values()) for rule, by_set in of_rules.items() if rule != CHOSEN]
    return f"{100 * mean(means):.1f}"
