"""Accuracies beyond the trained length, from records."""

from posenc.study import lengths


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
