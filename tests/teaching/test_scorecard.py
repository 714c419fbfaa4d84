"""The five wishes, measured against loops; each of them can fail."""

import numpy as np
import pytest

from posenc import tables
from posenc_book.teaching import scorecard


def naive_offset_variation(make_table, n):
    worst = 0.0
    for k in scorecard.OFFSETS:
        deltas = []
        for table in (make_table(n), make_table(2 * n)):
            for t in range(len(table) - k):
                deltas.append(np.sqrt(sum((table[t + k] - table[t]) ** 2)))
        worst = max(worst, (max(deltas) - min(deltas)) / np.mean(deltas))
    return worst


def naive_largest_step(table):
    n = len(table)
    pairs = [np.linalg.norm(table[s] - table[t]) for s in range(n) for t in range(n) if s != t]
    steps = [np.linalg.norm(table[t + 1] - table[t]) for t in range(n - 1)]
    return max(steps) / np.mean(pairs)


ENCODINGS = {
    "index": lambda n: tables.index(n, 4),
    "binary": lambda n: tables.binary(n, 8),
    "normalized": lambda n: tables.normalized(n, 4),
    "sinusoidal": lambda n: tables.sinusoidal(n, 16),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_measurements_equal_naive_loops(name):
    make = ENCODINGS[name]
    card = scorecard.measure(make, n_positions=30)
    assert card.offset_variation == pytest.approx(naive_offset_variation(make, 30), abs=1e-9)
    assert card.largest_step == pytest.approx(naive_largest_step(make(30)), rel=1e-9)
    assert card.largest_value == np.abs(make(30)).max()
    assert card.mean_value == pytest.approx(make(30).mean())


@pytest.mark.parametrize(
    ("wish", "make"),
    [
        ("scale", lambda n: 10 * tables.sinusoidal(n, 16)),
        ("unique", lambda n: np.ones((n, 4))),
        ("relative", lambda n: tables.sinusoidal(n, 16) * np.arange(1, n + 1)[:, None] / n),
        ("extendable", lambda n: tables.sinusoidal(n, 16) + 0.1 * n),
        ("smooth", lambda n: tables.binary(n, 8)),
    ],
)
def test_each_wish_can_fail(wish, make):
    assert not scorecard.measure(make, n_positions=30).wishes[wish]


def test_sinusoids_meet_all_wishes():
    assert all(scorecard.measure(ENCODINGS["sinusoidal"]).wishes.values())


def test_an_encoding_that_refuses_longer_sequences_is_not_extendable():
    card = scorecard.measure(lambda n: tables.dft(n, 100), n_positions=100)
    assert np.isinf(card.row_change)
    assert "refuses" in scorecard.render({"dft": card})


def test_an_encoding_that_changes_between_calls_is_not_unique():
    rng = np.random.default_rng(0)
    assert not scorecard.measure(lambda n: rng.normal(size=(n, 8))).repeatable


def test_digits_that_grow_a_column_keep_their_old_rows():
    assert scorecard.measure(tables.digits, n_positions=60).row_change == 0


def test_the_table_ticks_the_wishes_that_are_met():
    card = scorecard.measure(ENCODINGS["index"])
    row = scorecard.scorecard_table({"index": card}).rows["index"]
    assert {wish: entry[-1] == "✓" for wish, entry in row.items()} == card.wishes
    assert all(entry[-1] in "✓✗" for entry in row.values())


def test_too_few_positions_are_refused():
    with pytest.raises(ValueError, match="n_positions must be an integer of at least 21, got 20"):
        scorecard.measure(tables.digits, n_positions=20)
