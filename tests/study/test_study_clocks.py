"""What time stamps are worth, and accuracies beyond the trained length, from records."""

import numpy as np
import pytest

from posenc import encodings
from posenc.study import clocks, lengths, results


def record(name, seed, clock, accuracy, model="time_series"):
    options = {"lost": 0.5, "clock": clock}
    return {
        "encoding": name,
        "model": model,
        "dataset": "Set",
        "seed": seed,
        "key": f"{name}{seed}{clock}{model}",
        "profile": "laptop",
        "metrics": {"accuracy": accuracy},
        "settings": {"dataset_options": options, "encoding_options": {}, "epochs": 40},
    }


@pytest.fixture
def records(monkeypatch):
    """Records in which times are worth 10 points to groups with positions, and nothing to none."""
    names = sum(clocks.GROUPS.values(), ())
    made = [
        record(name, seed, clock, 0.5 + 0.1 * (clock == "times" and name != "none"))
        for name in names
        for seed in (0, 1)
        for clock in ("times", "indices")
    ]
    monkeypatch.setattr(results, "load", lambda pattern: made)
    clocks._accuracies.cache_clear()
    yield made
    clocks._accuracies.cache_clear()


def test_every_encoding_of_the_trainings_is_in_one_group():
    grouped = sum(clocks.GROUPS.values(), ())
    assert len(grouped) == len(set(grouped))
    assert set(grouped) <= set(encodings.names())
    assert {r["encoding"] for r in results.load("lost-*")} <= set(grouped)


@pytest.mark.usefixtures("records")
def test_the_worth_is_times_minus_indices_in_points():
    assert np.allclose(clocks.worth("offset")["Set", 0], [10, 10])
    assert np.allclose(clocks.worth("no encoding")["Set", 0], 0)


def test_another_model_does_not_count_and_a_missing_training_is_named(records):
    records.append(record("none", 0, "times", 1.0, model="patch"))
    assert np.allclose(clocks.worth("no encoding")["Set", 0], 0)
    records.remove(next(r for r in records if r["encoding"] == "t5"))
    clocks._accuracies.cache_clear()
    with pytest.raises(ValueError, match=r"every training of lost-\*.*t5"):
        clocks.worth("offset")


@pytest.mark.usefixtures("records")
def test_one_encoding_gains_the_mean_of_its_trainings():
    assert clocks.datasets() == ["Set"]
    assert np.isclose(clocks.gained("rotary")["Set"], 10)
    assert np.isclose(clocks.accuracy("rotary", "times")["Set"], 60)


def test_the_stored_gain_of_an_encoding_is_the_mean_of_paired_differences():
    pairs = clocks.worth("no encoding")
    for dataset, value in clocks.gained("none").items():
        each = [gain for (name, _), gains in pairs.items() if name == dataset for gain in gains]
        assert np.isclose(value, np.mean(each))


def test_an_encoding_that_was_not_trained_with_losses_is_named():
    with pytest.raises(ValueError, match=r"encoding must be one of .*rotary.*got 'clock'"):
        clocks.gained("clock")


def test_an_unknown_group_is_refused_kindly():
    with pytest.raises(ValueError, match="group must be one of no encoding, place, offset"):
        clocks.worth("rotary")


def test_rows_show_mean_and_ends():
    runs = [{"validation_accuracy": 1.0, "longer_8": 1.0, "longer_16": v} for v in (0.5, 0.7)]
    found = lengths.Longer(8, (16,), {"one": [*runs, {"validation_accuracy": 0.5}]})
    assert lengths.rows(found, ["one"], {"longer": "longer_16"}) == {
        "one": {
            "as trained": "100%",
            "16, longer": "60% (50% to 70%)",
            "learned it": "2 of 3",
        }
    }
