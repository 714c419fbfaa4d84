"""Windows, validation parts and normalisation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc_book import data
from posenc_book.data import windows
from posenc_book.data.dataset import Dataset, stack
from posenc_book.data.sets.anomaly import Recording, by_time, time_blocks


def make(y, *, groups=None, mask=None, x=None):
    y = np.asarray(y, dtype=np.int64)
    rng = np.random.default_rng(0)
    x = rng.normal(3, 5, (len(y), 6, 2)).astype(np.float32) if x is None else x
    groups = None if groups is None else np.asarray(groups, dtype=np.int64)
    return Dataset(x, y, ("a", "b", "c"), "made", "made", mask, groups)


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=6),
    st.integers(1, 12),
)
def test_windows_stay_inside_their_piece(sizes, length):
    edges = np.concatenate([[0], np.cumsum(sizes)])
    first = windows.starts(edges, length)
    piece = np.repeat(np.arange(len(sizes)), sizes)
    cut = windows.cut(piece, first, length)
    assert (cut == cut[:, :1]).all()
    assert len(first) == sum(size // length for size in sizes)
    assert (np.diff(first) >= length).all()


def test_borders_lie_where_anything_changes():
    a, b = np.array([1, 1, 2, 2, 2]), np.array([0, 0, 0, 0, 5])
    np.testing.assert_array_equal(windows.borders(a, b), [0, 2, 4, 5])


def test_interior_keeps_away_from_the_training_part():
    is_test = np.array([0, 1, 1, 1, 0, 1, 1], dtype=bool)
    np.testing.assert_array_equal(windows.interior(is_test), [0, 0, 1, 0, 0, 0, 1])
    recording = np.array([0, 0, 0, 0, 0, 1, 1])
    np.testing.assert_array_equal(windows.interior(is_test, recording), [0, 0, 1, 0, 0, 1, 1])


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 30)), min_size=1), st.integers(1, 40))
def test_time_blocks_never_divide_an_anomaly(runs, block):
    anomalous = np.concatenate([np.full(n, flag) for flag, n in runs])
    edges = time_blocks(anomalous, block)
    assert edges[0] == 0
    assert edges[-1] == len(anomalous)
    assert (np.diff(edges) > 0).all()
    assert not any(anomalous[edge - 1] and anomalous[edge] for edge in edges[1:-1])


@given(st.integers(0, 1000))
def test_time_split_shares_no_row_and_no_anomaly(seed):
    rng = np.random.default_rng(seed)
    recordings = []
    for number in range(3):
        n_rows = int(rng.integers(400, 900))
        rows = np.stack([np.arange(n_rows), np.full(n_rows, number)], axis=1).astype(float)
        anomalous = np.zeros(n_rows, dtype=bool)
        start = int(rng.integers(n_rows))
        anomalous[start : start + int(rng.integers(1, 200))] = True
        recordings.append(Recording(str(number), rows, anomalous))
    parts = by_time(recordings, 0.6, 100, "made", "made")
    train, test = parts["train"], parts["test"]
    assert not set(train.groups) & set(test.groups)
    for number, one in enumerate(recordings):
        early = train.x[train.x[:, 0, 1] == number, :, 0]
        late = test.x[test.x[:, 0, 1] == number, :, 0]
        if len(early) and len(late):
            assert early.max() + 50 <= late.min()
            between = one.anomalous[int(early.max()) : int(late.min()) + 1]
            assert not between.all()


def test_validation_is_stratified_and_repeats():
    full = make([0] * 50 + [1] * 20 + [2] * 5)
    train, held_out = data.split_validation(full, 0.2, seed=3)
    np.testing.assert_array_equal(np.bincount(held_out.y), [10, 4, 1])
    np.testing.assert_array_equal(np.bincount(train.y), [40, 16, 4])
    again = data.split_validation(full, 0.2, seed=3)[1]
    np.testing.assert_array_equal(again.x, held_out.x)
    other = data.split_validation(full, 0.2, seed=4)[1]
    assert not np.array_equal(other.x, held_out.x)
    rows = np.concatenate([train.x, held_out.x]).reshape(75, -1)
    assert len(np.unique(rows, axis=0)) == 75


@given(
    st.lists(st.integers(0, 2), min_size=4, max_size=60), st.floats(0.05, 0.95), st.integers(0, 9)
)
def test_validation_never_empties_a_class(y, share, seed):
    full = make(y)
    train, held_out = data.split_validation(full, share, seed)
    assert len(train) + len(held_out) == len(full)
    assert set(train.y) == set(full.y)


@given(st.integers(0, 200), st.integers(2, 12))
def test_validation_keeps_groups_whole(seed, n_groups):
    rng = np.random.default_rng(seed)
    groups = np.concatenate([np.arange(n_groups), rng.integers(n_groups, size=100)])
    full = make(rng.integers(3, size=len(groups)), groups=groups)
    train, held_out = data.split_validation(full, 0.25, seed)
    assert not set(train.groups) & set(held_out.groups)
    assert len(train)
    assert len(held_out)


def test_group_validation_comes_near_the_share():
    rng = np.random.default_rng(1)
    full = make(rng.integers(3, size=600), groups=np.repeat(np.arange(60), 10))
    for seed in range(10):
        _, held_out = data.split_validation(full, 0.2, seed)
        assert 0.14 < len(held_out) / 600 < 0.26


def test_validation_errors():
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        data.split_validation(make([0, 0, 1, 1]), 0)
    with pytest.raises(ValueError, match="cannot give up"):
        data.split_validation(make([0, 1, 2]))
    with pytest.raises(ValueError, match="cannot give up"):
        data.split_validation(make([0, 0, 1], groups=[4, 4, 4]))


def test_normalisation_uses_the_training_part_only():
    parts = data.prepare("BasicMotions", seed=1)
    flat = parts.train.x.reshape(-1, 6).astype(np.float64)
    np.testing.assert_allclose(flat.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(flat.std(axis=0), 1, rtol=1e-6)
    raw = data.load("BasicMotions", "test").x
    expected = (raw - parts.mean) / parts.deviation
    np.testing.assert_allclose(parts.test.x, expected, rtol=1e-5, atol=1e-6)
    assert abs(parts.validation.x.mean()) > 1e-4  # not centred on itself
    assert len(parts.train) + len(parts.validation) == 40


def test_masked_steps_do_not_count_and_stay_zero():
    mask = np.ones((4, 6), dtype=bool)
    mask[:, 4:] = False
    x = np.full((4, 6, 2), 10, dtype=np.float32)
    x[:, 0] = 12
    x[~mask] = 0
    part = make([0, 0, 1, 1], mask=mask, x=x)
    mean, deviation = data.channel_statistics(part)
    np.testing.assert_allclose(mean, 10.5)
    scaled = data.standardise(part, mean, deviation)
    assert (scaled.x[~mask] == 0).all()
    np.testing.assert_allclose(scaled.x[mask].mean(), 0, atol=1e-6)


def test_constant_channels_become_zero():
    x = np.full((4, 6, 2), 0.1, dtype=np.float32)
    part = make([0, 0, 1, 1], x=x)
    scaled = data.standardise(part, *data.channel_statistics(part))
    np.testing.assert_allclose(scaled.x, 0, atol=1e-6)


def test_without_normalisation():
    parts = data.prepare("BasicMotions", normalise=False)
    np.testing.assert_array_equal(parts.test.x, data.load("BasicMotions", "test").x)


def test_prepare_passes_options_to_families():
    parts = data.prepare("range_probe", n=20, distance=2, length=16)
    assert parts.test.x.shape == (20, 16, 2)
    assert len(parts.validation) == 4


def test_stack_pads_and_masks():
    series = [np.ones((2, 1)), np.array([[1.0], [np.nan], [3.0]])]
    made = stack(series, np.array([0, 0]), ("a",), "n", length=4)
    np.testing.assert_array_equal(made.mask, [[1, 1, 0, 0], [1, 0, 1, 0]])
    np.testing.assert_array_equal(made.x[:, :, 0], [[1, 1, 0, 0], [1, 0, 3, 0]])
    assert repr(made) == "Dataset('n', n=2, length=4, n_channels=1, n_classes=1)"
