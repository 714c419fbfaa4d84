"""What position is worth in forecasting, and under which condition, from the raw lines."""

import json
from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from raw import RESULTS, holm, interval, lines, plan
from scipy import stats

from posenc_book.quantities import forecasting

PLAN = plan("forecasting")
ENCODINGS, APART = PLAN["encodings"], PLAN["kept_apart"]
COUNTED = [unit for unit in PLAN["units"] if unit not in APART]


def read(score):
    """Return {(unit, reader, encoding): {seed: error}}."""
    found = defaultdict(dict)
    for unit in PLAN["units"]:
        for one in lines(f"forecasting/{unit}.jsonl"):
            if not one["settings"]["calendar"] and not one["settings"]["shuffled"]:
                cell = unit, one["model"], one["encoding"]
                found[cell][one["seed"]] = one["metrics"][score]
    return found


TEST, VALIDATION = read("mase"), read("validation_mase")


def mean(errors, *cell):
    return np.mean([*errors[cell].values()])


def effects(units, reader, one="sinusoidal", other="none"):
    """Return by unit the logarithm of an encoding's error over another's, of the same seed."""
    pairs = [(TEST[unit, reader, one], TEST[unit, reader, other]) for unit in units]
    return np.array([np.mean([np.log(a[s] / b[s]) for s in a if s in b]) for a, b in pairs])


def per_cent(logarithms):
    return 100 * np.expm1(logarithms)


@pytest.mark.parametrize(("reader", "of_two"), [("patches_flat", -5.0), ("steps_flat", -10.3)])
def test_under_a_flattened_head_two_units_gain(reader, of_two):
    beside = {u: mean(TEST, u, reader, "none") / mean(TEST, u, "linear", "none") for u in COUNTED}
    far = [unit for unit in COUNTED if beside[unit] < 0.9]
    near = [unit for unit in COUNTED if unit not in far]
    assert (set(far), len(near)) == ({"vic_electricity", "bike_sharing"}, 12)
    assert round(per_cent(effects(far, reader).mean()), 1) == of_two
    middle, low, high = per_cent(interval(effects(near, reader)))
    assert abs(middle) < 0.1
    assert -0.7 < low < 0 < high < 0.7


def test_by_one_per_cent_is_not_shown():
    found = per_cent(interval(effects(COUNTED, "patches_flat")))
    np.testing.assert_allclose(found, (-0.7, -1.9, 0.5), atol=0.06)
    assert forecasting.interval()["patches_flat"] == "{:+.1f} to {:+.1f}".format(*found[1:])


def shown():
    """Return effects of encodings that Holm's steps show: on the units counted, and apart."""
    found = []
    for reader, base in product(PLAN["readers"], ("none", "sinusoidal")):
        names = [name for name in ENCODINGS if name not in ("none", base)]
        counted = [effects(COUNTED, reader, name, base) for name in names]
        p_values = holm([stats.wilcoxon(one, method="exact").pvalue for one in counted])
        for i in np.flatnonzero(p_values <= 0.05):
            found.append((counted[i], effects(APART, reader, names[i], base)))
    return found


def mean_less_flat(units, tokens):
    return effects(units, f"{tokens}_mean") - effects(units, f"{tokens}_flat")


def test_39_of_39_repeat_at_a_third_and_are_about_two():
    encodings = shown()
    heads = [[mean_less_flat(u, t) for u in (COUNTED, APART)] for t in ("steps", "patches")]
    first, again = (np.array([pair[i].mean() for pair in [*encodings, *heads]]) for i in (0, 1))
    assert (len(encodings), len(first), (first * again > 0).all()) == (37, 39, True)
    assert forecasting.last_check() == {"shown": "39", "repeated": "39"}
    assert round((first @ again) / (first @ first), 2) == 0.33
    values = np.linalg.eigvalsh(np.corrcoef([one for one, _ in encodings]))
    assert round(values.sum() ** 2 / (values**2).sum(), 1) == 1.7  # the participation ratio


def test_ahead_of_simple_rules():
    """On 8 of 14 if boosted trees are a simple rule, and without them on 9."""
    rules = json.loads((RESULTS / "forecasting/baselines.json").read_text(encoding="utf-8"))
    rivals, ahead, reader = (
        ["seasonal_naive", "theta", "boosted_trees"],
        np.zeros(3),
        "patches_flat",
    )
    for unit in COUNTED:
        best = min(ENCODINGS, key=lambda one: mean(VALIDATION, unit, reader, one))
        of_rules = np.minimum.accumulate([rules[unit][name]["mase"] for name in rivals])
        ahead += mean(TEST, unit, reader, best) < of_rules
    assert ahead.tolist() == [13, 9, 8]
    assert forecasting.ahead()[f"{reader}.{rivals[0]}"] == "13"
