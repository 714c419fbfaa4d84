"""Gains between models that are alike: read from stored results, drawn, and told in words."""

import json

import numpy as np
import pytest

from posenc_book.read import results
from posenc_book.read.classification import fair
from posenc_book.read.classification import protocol as protocols
from posenc_book.statistics import power

SETS = [("PenDigits", "time_series"), ("PenDigits", "patch"), ("SmoothSubspace", "patch")]


@pytest.mark.parametrize(("dataset", "model"), SETS)
def test_accuracies_are_those_of_the_records(dataset, model):
    found = fair.accuracies(dataset, model)
    assert list(found) == list(protocols.ENCODINGS)
    lines = (results.folder() / f"second-{dataset}.jsonl").read_text().splitlines()
    for record in map(json.loads, lines):
        if record["model"] == model and record["encoding"] in protocols.ENCODINGS:
            assert record["protocol"] == protocols.HASH
            score = 100 * record["metrics"]["accuracy"]
            assert found[record["encoding"]][record["seed"]] == pytest.approx(score)


def test_a_set_that_is_not_complete_is_named(monkeypatch):
    monkeypatch.setattr(results, "load_records", lambda _: [])
    with pytest.raises(ValueError, match="PenDigits lacks 55, such as none with seed 0"):
        fair.accuracies("PenDigits", "patch")
    with pytest.raises(ValueError, match="model must be one of patch, time_series"):
        fair.accuracies("PenDigits", "steps")


def test_tuning_chooses_by_validation_and_reports_the_test():
    table = fair.trials("PenDigits", "time_series")
    assert list(table.index) == list(protocols.ENCODINGS)
    stored = [
        r
        for r in results.load_records("tuning-PenDigits")
        if (r["encoding"], r["model"]) == ("learnable", "time_series")
    ]
    best = max(stored, key=lambda r: r["metrics"]["validation_accuracy"])
    assert table.loc["learnable", "tuned"] == pytest.approx(100 * best["metrics"]["accuracy"])
    assert (table["gain"] == table["tuned"] - table["untuned"]).all()
    assert (table["gain"] < 0).any()  # validation does not know the test part


def test_validation_curves_never_fall_and_end_at_the_best():
    steps, best = fair.validation_curves("PenDigits", "patch")
    assert steps[0] == 50
    assert steps[-1] <= protocols.TRAINING["settings"]["steps"]
    stored = [
        max(r["metrics"]["validation_curve"])
        for r in results.load_records("second-PenDigits")
        if (r["encoding"], r["model"]) == ("none", "patch")
    ]
    for values in best.values():
        assert values.shape == steps.shape
        assert (np.diff(values) >= 0).all()
    assert best["none"][-1] == pytest.approx(100 * np.mean(stored))


def test_encodings_that_do_nothing_gain_nothing_on_average():
    gains = fair.gains_of_nothing(np.random.default_rng(0), 2.0, n_sets=4000, n_encodings=3)
    assert gains.shape == (3, 4000)
    # the difference of two means of five, and what all share with `none`
    assert gains.std() == pytest.approx(2.0 * np.sqrt(2 / 5), rel=0.05)
    assert np.corrcoef(gains)[0, 1] == pytest.approx(0.5, abs=0.05)
    assert abs(gains.mean()) < 0.1


def test_scatter_is_pooled():
    assert fair.scatter({"a": np.array([0.0, 2.0]), "b": np.array([5.0, 5.0])}) == 1.0


def test_chances_grow_with_the_gain_and_with_the_sets():
    design = power.Design(4, n_resamples=5, between=1.0, within=1.0)
    rows = fair.chances(design, n_sets=(12, 30), gains=(0.5, 3), n_tests=1)
    found = {name: [float(cell.rstrip("%")) for cell in row.values()] for name, row in rows.items()}
    assert list(rows) == ["12 sets", "30 sets"]
    assert list(rows["12 sets"]) == ["gain 0.5", "gain 3"]
    assert found["12 sets"][0] < found["30 sets"][0]
    assert all(small < large for small, large in found.values())
