"""Rows of the tables in the chapter on the benchmark: what `found` gathers, in words.

Each function returns a mapping of rows to entries, for `posenc_book.teaching.table.Table`.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_book import data
from posenc_book.data.units import members
from posenc_book.read.classification import edition, edition2, found, post_hoc, sanity
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.edition2 import Accuracies, Gain
from posenc_book.statistics import counts, friedman, mixed, power
from posenc_book.statistics import summary as statistics

Rows = dict[str, dict[str, Any]]
RIVALS = ("1-NN", "MiniRocket")
SPREADS = {  # of the mixed model without fixed effects
    "set": "from set to set",
    "encoding": "from encoding to encoding",
    "set:encoding": "an encoding on a set, beyond both",
}
REASONS = {  # of a set that does not decide rankings, in fewer words
    "": "",
    "no encoding is above none by more than luck": "no gain beyond luck",
    "nothing is above the largest class by more than luck": "nothing learned",
}
EFFECTS = {  # of the mixed model
    "length, per doubling": "twice the length",
    "channels, per doubling": "twice the channels",
    "train_size, per doubling": "twice the training series",
}

CONTRASTS = {
    **EFFECTS,
    "tokens: steps - patches": "steps in place of patches",
    "norm: layer - batch": "layer norm in place of batch norm",
}


def left_out(gains: Mapping[tuple[str, str], Mapping[str, statistics.Interval]]) -> Rows:
    """Return how many 95 % intervals leave zero out, and how many luck alone would give.

    Parameters
    ----------
    gains : mapping of (data set, tokens) to a mapping of encoding to its gain
        Those of `found.gains_by_set`.
    """
    rows = {}
    for tokens in dict.fromkeys(kind for _, kind in gains):
        some = [one for (_, kind), row in gains.items() if kind == tokens for one in row.values()]
        rows[tokens] = {
            "all": len(some),
            "above zero": sum(one.low > 0 for one in some),
            "below zero": sum(one.high < 0 for one in some),
            "outside by luck": 0.05 * len(some),
        }
    return rows


def ahead(levels: Mapping[tuple[str, str], Mapping[str, Any]]) -> Rows:
    """Return on how many sets of `found.levels` a rival beats encodings.

    The best of ten is chosen by the test part, so it flatters; the sinusoid is fixed beforehand.
    """
    rows: Rows = {}
    for tokens in dict.fromkeys(kind for _, kind in levels):
        some = [level for (_, kind), level in levels.items() if kind == tokens]
        for whom, rival in product(("the sinusoid", "the best of ten"), RIVALS):
            wins = sum(level[rival] > level[whom] for level in some)
            rows.setdefault(f"{rival} beats {whom}", {})[tokens] = f"{wins} of {len(some)} sets"
    return rows


def steps_and_patches(names: Sequence[str] = ()) -> Rows:
    """Return accuracies in per cent, a row for each data set that is whole in both, and a mean.

    Parameters
    ----------
    names : sequence of str
        Data sets to be shown; by default all. The mean is that of all in any case.
    """
    grids = found.grids()
    both = [name for name in grids["steps"].datasets if name in grids["patches"].datasets]
    rows = {}
    for name in both:
        steps, patches = (100 * counts.mean(grids[t].only([name]).scores[0]) for t in grids)
        rows[name] = {
            "steps, none": steps[0],
            "steps, mean of ten": steps[1:].mean(),
            "patches, none": patches[0],
            "patches, mean of ten": patches[1:].mean(),
            "steps, best − worst": np.ptp(steps[1:]),
        }
    mean = {key: np.mean([row[key] for row in rows.values()]) for key in rows[both[0]]}
    shown = {name: rows[name] for name in names or both} | {f"mean of {len(both)}": mean}
    return {
        name: {key: f"{value:.1f}" for key, value in row.items()} for name, row in shown.items()
    }


def verdicts(answers: Mapping[str, tuple[NDArray[np.float64], Sequence[Gain]]]) -> Rows:
    """Return mean gains with their 95 % intervals, p-values and verdicts by encoding.

    Parameters
    ----------
    answers : mapping of what a token is to (gains, answers)
        That of `found.answers`.
    """
    rows: Rows = {}
    for tokens, (_, gains) in answers.items():
        for one in gains:
            row = rows.setdefault(one.encoding, {})
            row[tokens] = edition2.points_text(one.effect)
            row[f"verdict (p), {tokens}"] = edition2.verdict_text(one)
    return rows


def medians(answers: Mapping[str, tuple[NDArray[np.float64], Sequence[Gain]]]) -> str:
    """Return the range of the encodings' median gains over sets, such as "+5.8 to +8.1 ..."."""
    told = (f"{_range(np.median(units, 1))} with {t}" for t, (units, _) in answers.items())
    return f"Medians over sets: {', '.join(told)}."


def by_patches(cuts: Sequence[int]) -> Rows:
    """Return gains in points by the number of patches, over the units that are judged.

    A unit counts by its mean over encodings and resamples.

    Parameters
    ----------
    cuts : sequence of int
        The least number of patches of each group but the first, in rising order.
    """
    units = edition2.learned(found.grids()["patches"])
    counts = [found.n_tokens(members(name)[0], "patches") for name in units.datasets]
    of_units = [*zip(counts, found.mean_gains(units).tolist(), strict=True)]
    rows: Rows = {}
    for low, high in pairwise((0, *cuts, math.inf)):
        some = [(n, mean) for n, mean in of_units if low <= n < high]
        (sizes, means) = zip(*some, strict=True)
        rows[f"{min(sizes)} to {max(sizes)} patches"] = {
            "independent sets": len(some),
            "mean gain": f"{np.mean(means):+z.1f}",
            "median": f"{np.median(means):+z.1f}",
            "lowest and highest set": _range(np.array(means)),
            "sets with 2 points or more": sum(mean >= 2 for mean in means),
        }
    return rows


def open_answers(answers: Mapping[str, tuple[object, Sequence[Gain]]]) -> str:
    """Return how many encodings stay undecided, such as "Undecided: 1 of 9 with steps"."""
    counts = {t: sum(g.answer == "undecided" for g in gains) for t, (_, gains) in answers.items()}
    told = (f"{n} of {len(answers[tokens][1])} with {tokens}" for tokens, n in counts.items())
    return f"Undecided: {', '.join(told)}."


def chances(points: Iterable[int] = (1, 2)) -> Rows:
    """Return how likely the edition and its finished tiers show true gains.

    The range over encodings, simulated with the scatter of the gains that are there: two rows for
    each model that has left an encoding open. Of the sets that are planned those are taken away
    on which nothing was learned.

    Parameters
    ----------
    points : iterable of int
        True gains.
    """
    points = list(points)
    rows: Rows = {}
    for model, tokens in found.TOKENS.items():
        grid = edition2.load_grid(model)
        units = edition2.learned(grid)
        if all(one.shown for one in edition2.gains(units)):
            continue
        now = len(units.datasets)
        planned = found.n_units(model) - (len(grid.units().datasets) - now)
        designs = [power.estimated_design(units.gains(name)) for name in units.encodings[1:]]
        for n_sets in dict.fromkeys((now, planned)):
            kept = [power.with_sets(one, n_sets) for one in designs]
            rows[f"{tokens}, {n_sets} sets"] = {f"gain {n}": _chance(n, kept) for n in points}
    return rows


def _chance(points: int, designs: Sequence[power.Design]) -> str:
    """Return the range of the power over encodings for a true gain."""
    seen = [power.power(points / 100, one, n_tests=len(designs)).value for one in designs]
    return f"{min(seen):.2f} to {max(seen):.2f}"


def rankings(grids: Mapping[str, Accuracies]) -> Rows:
    """Return Friedman's test and the pairs that differ, over deciding sets and over all.

    Sets on which two encodings tie are ranked without a sign (Pratt), beside it they are left out.
    """
    rows = {}
    for tokens, grid in grids.items():
        for kind, some in (("sets that decide", edition2.deciding(grid)), ("all", grid.units())):
            n_sets, test = len(some.datasets), edition2.ranking(some).test
            shown = {zeros: edition2.pairs_shown(some, zeros=zeros) for zeros in friedman.ZEROS}
            n_pairs = math.comb(len(some.encodings) - 1, 2)
            rows[f"{tokens}, {kind}"] = {
                "sets": n_sets,
                "p": edition2.p_value_text(test.p_value),
                "least p": edition2.p_value_text(test.smallest_p) + " (drawn)" * (not test.exact),
                "pairs shown to differ": f"{shown['pratt']} of {n_pairs}",
                "with ties left out": f"{shown['wilcox']} of {n_pairs}",
                "least p of a pair": edition2.p_value_text(min(1.0, n_pairs * 2 / 2**n_sets)),
            }
    return rows


def spreads() -> Rows:
    """Return by how much gains differ, in points: standard deviations, a column for each model.

    Beside them those with steps without the two data sets that gain most.
    """
    found_spreads = {
        "steps": found.spreads("steps"),
        "steps, without two sets": found.spreads("steps", without=found.farthest("steps", 2)),
        "patches": found.spreads("patches"),
    }
    return {
        shown: {tokens: f"{one[name]:.1f}" for tokens, one in found_spreads.items()}
        for name, shown in SPREADS.items()
    }


def depends() -> Rows:
    """Return what the gain over none depends on, in points, by model: effects and p after Holm.

    Holm counts the effects of all models.
    """
    rows: Rows = {shown: {} for shown in EFFECTS.values()}
    models = {tokens: found.depends(tokens).coefficients for tokens in found.TOKENS.values()}
    asked = [*product(models, EFFECTS)]
    adjusted = friedman.holm([models[tokens][name].p_value for tokens, name in asked])
    for (tokens, name), p_value in zip(asked, adjusted, strict=True):
        one, row = models[tokens][name], rows[EFFECTS[name]]
        row[tokens] = f"{one.estimate:+z.1f} [{one.low:+z.1f}, {one.high:+z.1f}]"
        row[f"p, {tokens}"] = edition2.p_value_text(p_value)
    return rows


def jointly() -> Rows:
    """Return the effects of the one mixed model of both kinds of tokens, in points."""
    return _effects(found.jointly())


def with_norms(*, every: bool = False) -> Rows:
    """Return the effects of the one mixed model with norms, in points; nothing before tier 3.

    Parameters
    ----------
    every : bool
        Whether to take in sets that came after the edition.
    """
    model = found.with_norms(every=every)
    return {} if model is None else _effects(model)


def _effects(model: mixed.MixedModel) -> Rows:
    """Return an effect a row, with its interval and p-value."""
    return {
        CONTRASTS.get(name, name): {
            "effect": f"{one.estimate:+z.1f}",
            "95 % interval": f"{one.low:+z.1f} to {one.high:+z.1f}",
            "p": edition2.p_value_text(one.p_value),
        }
        for name, one in model.coefficients.items()
        if name != "mean"
    }


def later_tiers() -> Rows:
    """Return what the protocol plans beyond its first tier, and whether the edition has it."""
    now, rows = edition.read_edition(), {}
    for tier in (2, 3, 4):
        for label, blocks in edition.by_kind(tier).items():
            sets = [block.dataset for block in blocks]
            there = now is not None and {*sets} <= {*now.sets.get(label, ())}
            rows[f"tier {tier}: {_said(blocks[0])}"] = {
                "data sets": len(sets),
                "steps of a series": found.span(sets),
                "in this edition": "yes" if there else "not yet" if tier < 4 else "not run",
            }
    return rows


def _said(block: protocols.Block) -> str:
    """Return what a block trains, in words."""
    if block.variant:
        return f"{edition2.TOKENS[block.model]}, {block.variant.replace('-', ' ')}"
    return f"{edition2.TOKENS[block.model]}, {len(block.encodings)} encodings"


def beside(tokens: str) -> Rows:
    """Return accuracies in per cent, a row a data set, and what keeps it from deciding rankings.

    Beside the best of the encodings stand no encoding, MiniRocket, the nearest neighbour and the
    largest class; see `sanity.sanity_table`.

    Parameters
    ----------
    tokens : {"steps", "patches"}
    """
    table = sanity.sanity_table(found.grids()[tokens])
    rows: Rows = {}
    for name, row in table.iterrows():
        percents = {key: f"{row[key]:.1f}" for key in (*sanity.NAMES.values(), "none", "best")}
        rows[name] = {**percents, "best encoding": row["best encoding"]}
        rows[name]["does not decide"] = REASONS[row["does not decide"]]
    return rows


def undecided(rows: Rows) -> str:
    """Return how many sets of `beside` do not decide, such as "4 of 14 do not decide rankings."."""
    n = sum(bool(row["does not decide"]) for row in rows.values())
    return f"{n} of {len(rows)} do not decide rankings."


def companions(tokens: str) -> Rows:
    """Return what the protocol sets beside the verdicts of one model, a row an encoding.

    The verdict and its p-value by accuracy, as in `verdicts`; over all units, those included on
    which nothing is learned; by balanced accuracy; over the survey's sets; the probabilities of
    worse, equal and better; the p-value of the two one-sided tests of equality; and the power for
    true gains of one point and of two.

    Parameters
    ----------
    tokens : {"steps", "patches"}
    """
    grid = found.grids()[tokens]
    learned = [one.dataset for one in edition2.decides(grid) if one.learned]
    balanced = edition2.load_grid(grid.model, metric="balanced_accuracy")
    kinds = {
        "frozen": grid.only(learned),
        "all sets": grid,
        "balanced accuracy": balanced.only(learned),
        "survey's sets": grid.only(set(learned) & set(data.names("survey"))),
    }
    judged = {kind: edition2.gains(sets.units()) for kind, sets in kinds.items()}
    powers = [edition2.powers(kinds["frozen"].units(), points / 100) for points in (1, 2)]
    rows: Rows = {one.encoding: {} for one in judged["frozen"]}
    for kind, gains in judged.items():
        for one in gains:
            rows[one.encoding][f"{kind} ({one.n_units})"] = edition2.verdict_text(one)
    for one in judged["frozen"]:
        chances = one.probabilities
        said = f"{chances.worse:.2f}, {chances.equal:.2f}, {chances.better:.2f}"
        rows[one.encoding]["worse, equal, better"] = said
        rows[one.encoding]["p of equality"] = edition2.p_value_text(one.p_equal)
        rows[one.encoding]["power for 1, 2 points"] = ", ".join(
            f"{shown[one.encoding].value:.2f}" for shown in powers
        )
    return rows


def stopped(
    curves: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]], at: Sequence[int]
) -> Rows:
    """Return the lowest and the highest gain, had all trainings been stopped at some steps.

    Parameters
    ----------
    curves : mapping of a title to steps, (n_checks,), and gains, (n_encodings, n_checks)
    at : sequence of int
        Steps at which validation was measured.
    """
    return {
        title: {f"{step:,}": _range(gains[:, steps.tolist().index(step)]) for step in at}
        for title, (steps, gains) in curves.items()
    }


def training() -> Rows:
    """Return how many steps trainings took to their best validation, a row for what a token is."""
    rows = {}
    for tokens, steps in found.best_steps().items():
        quarters = np.quantile(steps, [0.25, 0.5, 0.75], method="nearest")
        rows[tokens] = {
            "training runs": len(steps),
            **{f"{p} of 4 by step": int(q) for p, q in zip((1, 2, 3), quarters, strict=True)},
            "after step 1,000": f"{np.mean(steps > 1000):.0%}",
            "after step 3,000": f"{np.mean(steps > 3000):.0%}",
        }
    return rows


def costs() -> Rows:
    """Return time of a step, where none takes 1, and parameters added, the cheapest first."""
    cheapest = sorted(found.costs().items(), key=lambda item: item[1]["time of a step"])
    return {
        name: {
            "time of a step (none = 1)": f"{one['time of a step']:.2f}",
            "parameters added": int(one["parameters added"]),
        }
        for name, one in cheapest
    }


def _range(values: NDArray[np.float64]) -> str:
    return f"{values.min():+z.1f} to {values.max():+z.1f}"


def sorting(tokens: str) -> Rows:
    """Return what sorting costs the nearest neighbour and what an encoding gains, in points.

    A row an independent set, the largest gain first.

    Parameters
    ----------
    tokens : {"steps", "patches"}
    """
    model = next(model for model, kind in found.TOKENS.items() if kind == tokens)
    one = post_hoc.sorting(model)
    return {
        one.sets[i]: {"lost by sorting": f"{one.lost[i]:+z.1f}", "gained": f"{one.gains[i]:+z.1f}"}
        for i in np.argsort(-one.gains, kind="stable")
    }
