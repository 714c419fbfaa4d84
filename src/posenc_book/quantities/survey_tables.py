"""The survey's accuracies beside ours: how far apart their levels are, and what moves ours."""

from collections import Counter
from functools import cache

import numpy as np

from posenc_book.audit import ledger, printed
from posenc_book.audit.survey import side_by_side
from posenc_book.quantities import _read
from posenc_book.read.levels import protocol, read

_accuracies = cache(side_by_side.accuracies)
_levels = cache(read.load_levels)
STREET, STARS = "MelbournePedestrian", "LSST"


def verdicts():
    """Sentences about the survey's results, by what the cells of their page say of them."""
    page = "audit/survey-results.ipynb"
    found = Counter(row["verdict"] for row in ledger.rows() if row["anchor"].startswith(page))
    said = {"confirmed": "confirmed", "refuted": "refuted", "slip": "slip"}
    said |= {"condition": "confirmed with a condition", "open": "not testable here"}
    return {"all": str(found.total())} | {key: _read.word(found[one]) for key, one in said.items()}


@cache
def _row(model, name):
    """Return a row of Table 4 or 5: printed and ours, a method each, and what stands beside."""
    row = _accuracies(model).rows[name]
    pairs = [
        row[column].removesuffix(side_by_side.CROSS).split(side_by_side.BAR)
        for column in printed.COLUMNS
    ]
    beside = {key: float(row[label]) for key, label in side_by_side.OURS.items()}
    return *np.array(pairs, dtype=float).T, beside


def _measured():
    return [name for name in printed.DATASETS if name not in side_by_side.missing()]


def gap():
    """Printed minus ours on LSST, in points, the mean of the eight methods."""
    tables = {"steps": "time_series", "patches": "patch"}
    gaps = {kind: np.subtract(*_row(model, STARS)[:2]).mean() for kind, model in tables.items()}
    return {kind: f"{100 * found:.0f}" for kind, found in gaps.items()}


def the_street_is_printed_below_none():
    """All eight methods, with a token a step."""
    said, _, beside = _row("time_series", STREET)
    return bool(said.max() < beside["none"])


def mini_rocket():
    """On how many sets it is ahead of all transformers: of ours, and of the printed ones, too."""
    ours = anyone = 0
    for name in _measured():
        tables = [_row(model, name) for model in printed.TABLES]
        rocket = tables[0][2]["minirocket"]
        of_ours = max(max(found.max(), beside["none"]) for _, found, beside in tables)
        of_theirs = max(said.max() for said, *_ in tables)
        ours += rocket > of_ours
        anyone += rocket > max(of_ours, of_theirs)
    return {"ours": _read.word(ours), "anyone": _read.word(anyone)}


def shares():
    """Of SharePriceIncrease: by how many points print is ahead of the larger class at the most."""
    said, _, beside = _row("time_series", "SharePriceIncrease")
    return f"{100 * (said.max() - beside['largest_class']):.0f}"


def shares_are_the_larger_class():
    """With every method of ours, to a point and a half."""
    tables = [_row(model, "SharePriceIncrease") for model in printed.TABLES]
    return all(
        np.abs(found - beside["largest_class"]).max() < 0.0155 for _, found, beside in tables
    )


@cache
def _stars(change):
    return {name: _levels()[STARS, change, name] for name in protocol.ENCODINGS[STARS]}


def stars():
    """What two of the changes make of LSST, the mean of both encodings."""
    named = {"tamed": "heavy tails tamed", "layer_norm": "layer norm"}
    return {key: f"{np.mean([*_stars(name).values()]):.2f}" for key, name in named.items()}


def rate():
    """What the fixed learning rate is worth on LSST beside the one that trials chose, in points."""
    grid, seeds = _read.grids()["steps"], protocol.PROTOCOL["seeds"]
    chosen = grid.scores[grid.datasets.index(STARS), :, :seeds]
    gains = [
        scores - chosen[grid.encodings.index(name)]
        for name, scores in _stars("as in the benchmark").items()
    ]
    return f"{100 * np.mean(gains):.0f}"


def street():
    """Accuracies with a token a step: without positions, by step, by row of the batch."""
    names = dict(zip(("none", "step", "row"), protocol.ENCODINGS[STREET], strict=True))
    found = {
        key: _levels()[STREET, "as in the benchmark", name].mean() for key, name in names.items()
    }
    return {key: f"{mean:.2f}" for key, mean in found.items()}


def the_row_is_as_printed():
    """Inside of the printed range, where the others lie above it."""
    said, found = _row("time_series", STREET)[0], {k: float(v) for k, v in street().items()}
    inside = said.min() <= found["row"] <= said.max()
    return bool(inside and min(found["none"], found["step"]) > said.max())


def stars_hardly_ask_for_order():
    """Without positions LSST is as easy: less than a quarter of what the changes do."""
    every = [{k: v.mean() for k, v in _stars(name).items()} for name in protocol.CHANGES[STARS]]
    within = max(abs(row["none"] - row["sinusoidal"]) for row in every)
    levels = [np.mean([*row.values()]) for row in every]
    return bool(within < np.ptp(levels) / 4)


def taming_or_layer_norm_it_takes():
    """Each brings LSST into the printed range by itself, and nothing does without them."""
    said, every = _row("time_series", STARS)[0], protocol.CHANGES[STARS]
    means = {name: np.mean([*_stars(name).values()]) for name in every}
    inside = {name for name, mean in means.items() if said.min() <= mean <= said.max()}
    either = {"input_scaling": "asinh"}.items(), {"norm": "layer"}.items()
    have = {name for name, what in every.items() if any(one <= what.items() for one in either)}
    return {"heavy tails tamed", "layer norm"} <= inside <= have


def larger_is_worse():
    """By itself, on each resample with either encoding."""
    large, plain = _stars("four layers of width 128"), _stars("as in the benchmark")
    return bool(all((large[name] < plain[name]).all() for name in plain))
