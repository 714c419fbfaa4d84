"""Is an encoding ahead of the sinusoid on new data sets? Recomputed from the raw lines."""

import json
from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from raw import RESULTS, SIBLINGS, interval, lines, plan, sign_flips

from posenc_book.quantities import over_sets

NEW = plan("edition3")["training"]["counted"]
NONE_AND_TEN = plan("classification")["encodings"]


def accuracies(file, profile):
    """Return {encoding: {seed: accuracy}} of a file, in two layers with a token a step."""
    found = defaultdict(dict)
    for one in lines(file):
        settings = one["settings"]
        plain = not settings["encoding_options"] and settings["n_layers"] == 2
        if (one["model"], one["profile"]) == ("time_series", profile) and plain:
            found[one["encoding"]][one["seed"]] = one["metrics"]["accuracy"]
    return found


def over_sinusoid(by_encoding, name):
    one, other = by_encoding[name], by_encoding["sinusoidal"]
    return 100 * np.mean([one[seed] - other[seed] for seed in one.keys() & other.keys()])


@pytest.fixture(scope="module")
def known():
    """Return {set: {encoding: {seed: accuracy}}} of the second edition, where a set is learned."""
    edition = json.loads((RESULTS / "edition.json").read_text())["sets"]["time_series"]
    every = {name: accuracies(f"second-{name}.jsonl", "second") for name in edition}
    largest = defaultdict(dict)
    for one in lines("baselines/baselines.jsonl"):
        if one["baseline"] == "largest_class":
            largest[one["dataset"]][one["resample"]] = one["metrics"]["accuracy"]
    return {name: of for name, of in every.items() if is_learned(of, largest[name])}


def is_learned(by_encoding, largest):
    """Return whether none and ten encodings together are above naming the largest class."""
    above = [
        np.mean([by_encoding[one][seed] for one in NONE_AND_TEN]) - largest.get(seed, largest[0])
        for seed in range(5)
    ]
    flipped = np.array(list(product((1, -1), repeat=5))) @ above
    return np.mean(flipped >= np.sum(above) - 1e-9) <= 0.05


def of_units(known, name):
    units = defaultdict(list)
    for dataset, by_encoding in known.items():
        units[SIBLINGS.get(dataset, dataset)].append(over_sinusoid(by_encoding, name))
    return [float(np.mean(one)) for one in units.values()]


def of_new(name):
    return [over_sinusoid(accuracies(f"edition-3/{one}.jsonl", "third"), name) for one in NEW]


def said(differences):
    return "{:+.1f} [{:+.1f}, {:+.1f}]".format(*interval(differences))


def test_erpe_is_ahead_on_ten_new_sets():
    new = of_new("erpe")
    np.testing.assert_allclose(interval(new), (1.62, 0.25, 2.98), atol=0.005)
    assert (sum(x > 0 for x in new), round(sign_flips(new), 4)) == (9, 0.0039)
    assert over_sets.with_interval()["new.erpe"] == said(new)
    assert over_sets.p_on_new_sets()["erpe"] == f"{sign_flips(new):.2g}"


@pytest.mark.parametrize(
    ("name", "found", "ahead"),
    [
        ("erpe", (1.95, 0.90, 3.00), 29),
        ("tpe", (0.78, -0.10, 1.66), 24),
        ("rotary", (0.40, -0.37, 1.16), 20),
        ("tape", (0.29, -0.69, 1.28), 21),
    ],
)
def test_over_all_37_units(known, name, found, ahead):
    every = of_units(known, name) + of_new(name)
    np.testing.assert_allclose(interval(every), found, atol=0.006)
    assert (len(every), sum(x > 1e-9 for x in every)) == (37, ahead)
    assert over_sets.with_interval()[f"all.{name}"] == said(every)
    assert over_sets.ahead()[f"all.{name}"] == str(ahead)


def test_erpe_had_been_picked_on_27_as_best_of_ten(known):
    gains = {name: of_units(known, name) for name in NONE_AND_TEN[1:]}
    best = max(gains, key=lambda name: np.mean(gains[name]))
    assert (len(gains), best, len(gains[best])) == (10, "erpe", 27)
