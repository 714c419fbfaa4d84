"""The tables of the chapter on the benchmark say what was gathered for it."""

from types import SimpleNamespace

import numpy as np
import pytest

from posenc_book.read.classification import edition2, found, found_tables
from posenc_book.read.classification.edition2 import Accuracies
from posenc_book.statistics.summary import Interval

pytestmark = pytest.mark.usefixtures("read_once")


def as_interval(low, high):
    return Interval((low + high) / 2, low, high, 5)


def test_intervals_that_leave_zero_out_are_counted_by_side():
    gains = {
        ("a", "steps"): {"dft": as_interval(1, 2), "tupe": as_interval(-1, 2)},
        ("a", "patches"): {"dft": as_interval(-2, -1), "tupe": as_interval(0, 0)},
    }
    rows = found_tables.left_out(gains)
    assert list(rows["steps"].values()) == [2, 1, 0, pytest.approx(0.1)]
    assert list(rows["patches"].values()) == [2, 0, 1, pytest.approx(0.1)]


def test_a_rival_is_ahead_where_it_beats_every_encoding():
    level = {"the best of ten": 90.0, "the sinusoid": 80.0, "1-NN": 85.0, "MiniRocket": 90.5}
    rows = found_tables.ahead({("a", "steps"): level})
    assert {name: row["steps"] for name, row in rows.items()} == {
        "1-NN beats the sinusoid": "1 of 1 sets",
        "MiniRocket beats the sinusoid": "1 of 1 sets",
        "1-NN beats the best of ten": "0 of 1 sets",
        "MiniRocket beats the best of ten": "1 of 1 sets",
    }
    for name, of_set in found.levels().items():
        assert of_set["the best of ten"] == max(of_set["encodings"]) >= of_set["the sinusoid"], name


def test_pairs_that_differ_are_counted_on_the_sets_that_decide():
    rng = np.random.default_rng(0)
    worth = np.array([0.2, 0.5, 0.5, 0.9])[None, :, None]  # none, two alike, and one far ahead
    scores = worth + 0.01 * rng.normal(size=(12, 4, 5))
    names = tuple(f"set {i}" for i in range(12))
    grid = Accuracies("patch", names, ("none", "a", "b", "c"), scores, np.full((12, 5), 0.1))
    rows = found_tables.rankings({"patches": grid})
    assert list(rows) == ["patches, sets that decide", "patches, all"]
    for row in rows.values():
        assert row | {"p": "", "least p": ""} == {
            "sets": 12,
            "p": "",
            "least p": "",
            "pairs shown to differ": "2 of 3",
            "with ties left out": "2 of 3",
            "least p of a pair": "0.001",
        }
        assert 0 < float(row["least p"]) <= float(row["p"]) < 0.001


def test_no_p_value_is_printed_as_zero():
    assert [edition2.p_value_text(p) for p in (0.2, 0.034, 0.00234, 4e-7)] == [
        "0.20",
        "0.03",
        "0.002",
        "4e-07",
    ]


def test_the_mixed_model_says_what_gains_depend_on_by_model():
    rows = found_tables.depends()
    assert list(rows) == list(found_tables.EFFECTS.values())
    for row in rows.values():
        for tokens in found.TOKENS.values():
            assert row[tokens][0] in "+-"
            assert float(row[f"p, {tokens}"]) <= 1
    raw = [
        found.depends(tokens).coefficients[name].p_value
        for tokens in found.TOKENS.values()
        for name in found_tables.EFFECTS
    ]
    least = min(float(v) for row in rows.values() for k, v in row.items() if k.startswith("p, "))
    assert least == pytest.approx(6 * min(raw), rel=0.3)  # Holm over the six of both models


def test_spreads_leave_the_noise_of_trainings_out(monkeypatch):
    rng = np.random.default_rng(0)
    n_sets, n_encodings = 40, 12
    names = ("none", *(f"e{i}" for i in range(n_encodings)))
    gains = (
        rng.normal(0, 4.0, (n_sets, 1, 1))
        + rng.normal(0, 2.0, (1, n_encodings, 1))
        + rng.normal(0, 1.0, (n_sets, n_encodings, 1))
        + rng.normal(0, 3.0, (n_sets, n_encodings, 5))
    )
    scores = np.concatenate([np.zeros((n_sets, 1, 5)), gains / 100], axis=1)
    sets = tuple(f"set {i}" for i in range(n_sets))
    grid = Accuracies("patch", sets, names, scores, np.zeros((n_sets, 5)))
    facts = SimpleNamespace(length=10, n_channels=1, train=100)
    monkeypatch.setattr(found, "grids", lambda: {"steps": grid, "patches": grid})
    monkeypatch.setattr(found, "recorded_facts", lambda _: facts)
    rows = found_tables.spreads()
    for tokens in ("steps", "patches"):
        sizes = [float(row[tokens]) for row in rows.values()]
        assert sizes == pytest.approx([4, 2, 1], rel=0.4)


def test_all_columns_leave_out_the_sets_on_which_nothing_is_learned(monkeypatch):
    """Two sets of one family and two others; on one of the family nothing is learned."""
    sets = ("Chinatown", "MelbournePedestrian", "Libras", "NATOPS")
    gains = np.array([0.1, 0.02, 0.1, 0.1])[:, None] + np.linspace(0, 0.01, 5)
    none = np.array([0.6, 0.1, 0.6, 0.6])[:, None] + np.zeros(5)
    scores = np.stack([none, none + gains], axis=1)
    grid = Accuracies("patch", sets, ("none", "rotary"), scores, np.full((4, 5), 0.4))
    monkeypatch.setattr(found, "grids", lambda: {"patches": grid})
    monkeypatch.setattr(edition2, "load_grid", lambda *_, **__: grid)
    monkeypatch.setattr(found_tables.data, "names", lambda _: sets)
    row = found_tables.companions("patches")["rotary"]
    p_values = {row[f"{kind} (3)"] for kind in ("frozen", "balanced accuracy", "survey's sets")}
    assert len(p_values) == 1
    seen = []
    monkeypatch.setattr(found_tables.edition2, "gains", lambda units: seen.append(units) or [])
    found_tables.companions("patches")
    frozen, whole, balanced, survey = (units.gains("rotary").mean(1) for units in seen)
    assert np.array_equal(frozen, balanced)
    assert np.array_equal(frozen, survey)
    assert whole[0] < frozen[0]


def test_one_model_of_both_kinds_of_tokens_finds_a_difference_that_was_put_in(monkeypatch):
    rng = np.random.default_rng(0)

    def made_up(tokens):
        sets, names = [f"set {i}" for i in range(12)], ["a", "b", "c"]
        lengths = {name: 8 * 2 ** (i % 4) for i, name in enumerate(sets)}
        rows = [
            {
                "set": one, "encoding": name, "resample": k, "length": lengths[one],
                "channels": 1 + i % 3, "train_size": 50 * 2 ** (i % 5),
                "gain": 6 * (tokens == "steps") + 2 * np.log2(lengths[one]) + rng.normal(),
            }
            for i, one in enumerate(sets) for name in names for k in range(5)
        ]  # fmt: skip
        return {column: [row[column] for row in rows] for column in rows[0]}

    monkeypatch.setattr(found, "_trainings", made_up)
    rows = found_tables.jointly()
    assert float(rows["steps in place of patches"]["effect"]) == pytest.approx(6, abs=0.5)
    assert float(rows["twice the length"]["effect"]) == pytest.approx(2, abs=0.3)
    low, high = map(float, rows["twice the channels"]["95 % interval"].split(" to "))
    assert low < 0 < high
