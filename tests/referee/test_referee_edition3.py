"""The third edition's differences, corrected for series in common and for all that was asked."""

import json

import numpy as np
from raw import RESULTS, holm, lines, plan
from scipy import stats

from posenc_book.quantities import third_edition

PLAN = plan("edition3")
TEN, QUESTIONS = PLAN["analysis"]["ten"], PLAN["analysis"]["families"].values()


def cell_of(encoding, options, model):
    return encoding, json.dumps(options, sort_keys=True), model


def read():
    """Return {(set, encoding, layers, run): metrics}."""
    models = PLAN["training"]["other models"]
    names = {
        cell_of(*one, models.get(name, "time_series")): name
        for name, one in PLAN["training"]["encodings"].items()
    }
    found = {}
    for path in (RESULTS / "edition-3").glob("[A-Z]*.jsonl"):
        for one in lines(path):
            settings = one["settings"]
            name = names[cell_of(one["encoding"], settings["encoding_options"], one["model"])]
            found[path.stem, name, settings["n_layers"], one["seed"]] = one["metrics"]
    return found


FOUND = read()
SIZES = {dataset: (one["n_train"], one["n_test"]) for (dataset, *_), one in FOUND.items()}


def accuracies(asked, name, layers):
    """Return the accuracies in per cent, (n_sets, n_runs); "chosen" is what validation picks."""
    runs = range(1, asked["resamples"] + 1)
    return 100 * np.array([[one_of(d, name, layers, r) for r in runs] for d in asked["sets"]])


def one_of(dataset, name, layers, run):
    cells = [(dataset, one, layers, run) for one in (TEN if name == "chosen" else [name])]
    best = max(cells, key=lambda one: validated(FOUND[one]))
    return FOUND[best]["accuracy"]


def validated(metrics):
    return metrics["validation_accuracy"], -metrics["validation_loss"]


def differences(asked, first, other):
    by_depth = [accuracies(asked, first, k) - accuracies(asked, other, k) for k in asked["layers"]]
    return by_depth[-1] - by_depth[0] if len(by_depth) > 1 else by_depth[0]


ASKED = [(q, tuple(pair), differences(q, *pair)) for q in QUESTIONS for pair in q["pairs"]]
KERNEL = "tpe", "tpe, kernel alone"


def p_value(table, ratios=0.0):
    """Return that of a mean over sets; of a set's runs, series stand in several test parts."""
    n, runs = table.shape
    error = np.sqrt((table.var(1, ddof=1) * (1 / runs + ratios)).sum()) / n
    return 2 * stats.t.sf(abs(table.mean()) / error, n * (runs - 1))


def shown():
    """Return the answers whose differences Holm's steps show within their question."""
    steps = []
    for question in QUESTIONS:
        answers = [one for one in ASKED if one[0] is question]
        steps += zip(answers, holm([p_value(table) for *_, table in answers]), strict=True)
    return [one for one, p in steps if p < 0.05]


def test_of_ten_shown_differences_four_stand_after_holm_over_all():
    steps = holm([p_value(table) for *_, table in ASKED])
    standing = {pair for (_, pair, _), p in zip(ASKED, steps, strict=True) if p < 0.05}
    assert (len(ASKED), len(shown())) == (19, 10)
    shaw, choice = ("relative, whole", "relative"), ("chosen", "sinusoidal")
    assert standing == {("erpe", "sinusoidal"), choice, shaw, KERNEL}


def test_corrected_for_series_in_common_none_stays_shown():
    """The smallest is 0.057 by each set's variance, 0.062 by one variance for all sets."""
    ratios = {name: n_test / n_train for name, (n_train, n_test) in SIZES.items()}
    p_values = {
        pair: p_value(table, np.array([ratios[name] for name in question["sets"]]))
        for question, pair, table in ASKED
    }
    assert min(p_values, key=p_values.get) == KERNEL
    assert round(p_values[KERNEL], 3) == 0.057
    assert round(p_values["erpe", "sinusoidal"], 2) == 0.12


def test_room_occupancy_has_29_to_70_per_cent_of_the_variance_of_what_is_shown():
    def least_and_most(answers):
        within = [(q["sets"], table.var(1, ddof=1)) for q, _, table in answers]
        shares = [v[s.index("RoomOccupancy")] / v.sum() for s, v in within if "RoomOccupancy" in s]
        return round(min(shares), 2), round(max(shares), 2)

    assert least_and_most(shown()) == (0.29, 0.70)
    assert least_and_most(ASKED) == (0.16, 0.70)


def test_room_is_left_on_five_of_ten_sets():
    (question, _, erpe), (_, _, tpe) = ASKED[:2]
    room = accuracies(question, "sinusoidal", 2).mean(1) <= 97
    assert (room.sum(), third_edition.five_sets_leave_little_to_gain()) == (5, True)
    told = third_edition.where_there_is_room()
    assert told["erpe"].startswith(f"{erpe[room].mean():+.1f} [")
    assert told["tpe"].startswith(f"{tpe[room].mean():+.1f} [")
    for table, wanted in ((erpe[room], (2.3, 0.6, 3.9)), (tpe[room], (-2.2, -3.7, -0.8))):
        half = stats.t.isf(0.025, 20) * np.sqrt(table.var(1, ddof=1).mean() / 25)
        mean = table.mean()
        np.testing.assert_allclose((mean, mean - half, mean + half), wanted, atol=0.05)
