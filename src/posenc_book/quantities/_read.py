"""What several quantities are read from, read once, and how quantities are put into words."""

from functools import cache

import numpy as np

from posenc_book.read.classification import edition2, families, found, found_tables, variants
from posenc_book.statistics import friedman

grids = cache(found.grids)
answers = cache(found.answers)
spreads = cache(found.spreads)
costs = cache(found.costs)
depends = cache(found_tables.depends)
levels = cache(found.levels)
with_norms = cache(found.with_norms)
family = cache(families.load_family)

WORDS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
CALLED = {
    "dft": "DFT",
    "erpe": "eRPE",
    "learnable": "a learned table",
    "relative": "relative encoding",
    "rotary": "RoPE",
    "sine_spe": "SPE",
    "sinusoidal": "the sinusoid",
    "tape": "tAPE",
    "tpe": "T-PE",
    "tupe": "TUPE",
}


def gains(tokens):
    """Return the frozen verdicts, the largest mean gain first."""
    return answers()[tokens][1]


def by_unit(tokens):
    """Return the mean gain on each independent set, in points."""
    return answers()[tokens][0].mean(0)


@cache
def by_set(tokens):
    """Return the mean gain on each data set, in points."""
    return {name: mean for name, kind, _, mean, *_ in found.by_tokens() if kind == tokens}


def with_answer(tokens, answer):
    """Return the encodings with one of the frozen answers."""
    return [one.encoding for one in gains(tokens) if one.answer == answer]


@cache
def norms_and_sizes():
    """Return the pairs of grids of the variants."""
    return variants.whole()


def word(number):
    """Return a small number in words."""
    return WORDS[number] if number < len(WORDS) else str(number)


def listed(encodings):
    """Return a list of encodings in words."""
    return joined([CALLED[name] for name in encodings] or ["none"])


def joined(words):
    """Return one word or more as a sentence lists them."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def begun(text):
    """Return a text as a sentence begins."""
    return text[0].upper() + text[1:]


def points(value):
    """Return points with one decimal."""
    return f"{value:.1f}"


def formula(effect):
    """Return a mean with its interval, in points, as a formula."""
    return "$" + edition2.points_text(effect).replace(" [", "$ $[") + "$"


def around_zero(said):
    """Say whether an interval that a table prints contains zero."""
    low, high = said.split("[")[1].strip("]").split(", ")
    return float(low) < 0 < float(high)


@cache
def ranked(tokens, *, every=False):
    """Return the ranking over the sets that decide, or over all."""
    grid = grids()[tokens]
    return edition2.ranking(grid.units() if every else edition2.deciding(grid))


def differing(grid):
    """Return the pairs (ahead, behind) that differ after Holm's correction, best ranks first."""
    names, means = grid.encodings[1:], grid.scores[:, 1:].mean(2)
    p_values, ranks = friedman.wilcoxon_holm(means), friedman.average_ranks(means)
    order = np.argsort(ranks, kind="stable")
    return [
        (names[i], names[k])
        for place, i in enumerate(order)
        for k in order[place:]
        if ranks[i] < ranks[k] and p_values[i, k] <= edition2.ALPHA
    ]


@cache
def pairs(tokens, *, every=False):
    """Return the pairs that differ over the sets that decide, or over all."""
    grid = grids()[tokens]
    return differing(grid.units() if every else edition2.deciding(grid))


def table(head, rows, *, numbers_from):
    """Return a Markdown table whose columns from one on stand at the right."""
    shown = [f"| {' | '.join(map(str, line))} |\n" for line in (head, *rows)]
    rule = "|" + "--|" * numbers_from + "--:|" * (len(head) - numbers_from) + "\n"
    return "".join([shown[0], rule, *shown[1:]])
