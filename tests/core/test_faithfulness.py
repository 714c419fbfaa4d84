"""Graded faithfulness against naive loops, closed forms and bit patterns."""

import math
import struct
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc import faithfulness, frequencies, tables

seeds = st.integers(0, 10**6)


def random_table(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


# -- separation, Gram matrix, rank, condition --


@given(st.integers(2, 12), st.integers(1, 6), seeds)
def test_separation_equals_a_double_loop(n, d, seed):
    table = random_table(n, d, seed)
    expected = min(math.dist(table[i], table[j]) for i in range(n) for j in range(i))
    assert faithfulness.separation(table) == pytest.approx(expected, rel=1e-12)


def test_separation_across_blocks(monkeypatch):
    table = random_table(40, 3)
    expected = faithfulness.separation(table)
    for pairs in (1, 100, 333):
        monkeypatch.setattr(faithfulness.blocks, "_BLOCK_PAIRS", pairs)
        assert faithfulness.separation(table) == expected


def test_gram_holds_all_dot_products():
    table = random_table(5, 3)
    expected = [[math.fsum(a * b for a, b in zip(x, y, strict=True)) for y in table] for x in table]
    np.testing.assert_allclose(faithfulness.gram(table), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("n", "d", "rank"), [(6, 4, 2), (4, 6, 3), (5, 5, 5), (5, 5, 0)])
def test_numerical_rank_of_a_product(n, d, rank):
    table = random_table(n, rank, 1) @ random_table(rank, d, 2)
    assert faithfulness.numerical_rank(table) == rank


def test_numerical_rank_counts_above_the_threshold():
    table = np.diag([1.0, 1e-3, 1e-6, 0.0])
    assert [faithfulness.numerical_rank(table, r) for r in (1e-2, 1e-4, 1e-7)] == [1, 2, 3]
    assert faithfulness.numerical_rank(1e9 * table, 1e-4) == 2
    assert faithfulness.numerical_rank(np.zeros((0, 3))) == 0


def test_condition_number_of_special_tables():
    assert faithfulness.condition_number(tables.dft(20, 20)) == pytest.approx(1, rel=1e-13)
    assert faithfulness.condition_number(np.diag([2.0, 0.0])) == math.inf
    assert faithfulness.condition_number(np.zeros((2, 2))) == math.inf
    table = random_table(7, 4)
    squared = np.linalg.eigvalsh(table.T @ table)
    expected = math.sqrt(squared[-1] / squared[0])
    assert faithfulness.condition_number(table) == pytest.approx(expected, rel=1e-10)
    assert faithfulness.condition_number(-5 * table.T) == pytest.approx(expected, rel=1e-10)


# -- injectivity --


@given(st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), max_size=12))
def test_first_collision_equals_a_double_loop(rows):
    pairs = [(i, j) for j in range(len(rows)) for i in range(j) if rows[i] == rows[j]]
    expected = min(pairs, key=lambda pair: (pair[1], pair[0]), default=None)
    table = np.array(rows, float).reshape(-1, 2)
    assert faithfulness.first_collision(table) == expected
    assert faithfulness.is_injective(table) is (expected is None)


def test_collisions_are_exact():
    assert faithfulness.first_collision([[0.0, 1.0], [-0.0, 1.0]]) == (0, 1)
    assert faithfulness.is_injective([[1.0], [1.0 + 2**-52]])
    # Too near for any distance in float64, yet different.
    assert faithfulness.is_injective([[1e-200], [2e-200]])


# -- scale --


@given(st.integers(1, 9), st.integers(1, 6), seeds)
def test_rms_norm_equals_a_loop(n, d, seed):
    table = random_table(n, d, seed)
    expected = math.sqrt(math.fsum(x * x for row in table for x in row) / n)
    assert faithfulness.rms_norm(table) == pytest.approx(expected, rel=1e-13)


def test_unit_rows_keep_directions():
    table = random_table(6, 4)
    rows = faithfulness.unit_rows(table)
    for row, original in zip(rows, table, strict=True):
        length = math.sqrt(math.fsum(x * x for x in original))
        np.testing.assert_allclose(row * length, original, rtol=1e-14)
    np.testing.assert_allclose(faithfulness.unit_rows(3 * table), rows, rtol=1e-14)


# -- decoding --


@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 7), seeds)
def test_decode_equals_a_double_loop(n, d, n_noisy, seed):
    table, noisy = random_table(n, d, seed), random_table(n_noisy, d, seed + 1)
    expected = [min(range(n), key=lambda t, row=row: math.dist(table[t], row)) for row in noisy]
    assert faithfulness.decode(table, noisy).tolist() == expected


def test_decode_details(monkeypatch):
    table = np.array([[0.0], [1.0], [1.0], [5.0]])
    assert faithfulness.decode(table, [[1.0], [4.0]]).tolist() == [1, 3]  # the first of equals
    single = faithfulness.decode(table, [4.5])
    assert single == 3
    assert np.ndim(single) == 0
    monkeypatch.setattr(faithfulness.blocks, "_BLOCK_PAIRS", 5)
    assert faithfulness.decode(table, table).tolist() == [0, 1, 1, 3]


def test_decoding_error_equals_its_definition():
    table, noise, n_trials = tables.sinusoidal(12, 6), 1.5, 4
    rng = np.random.default_rng(3)
    scale = noise * math.sqrt(3) / math.sqrt(6)  # rows of norm sqrt(6 / 2), 6 dimensions
    wrong, far = 0, 0
    for _ in range(n_trials):
        for t, z in enumerate(rng.standard_normal((12, 6))):
            noisy = table[t] + scale * z
            found = min(range(12), key=lambda s, noisy=noisy: math.dist(table[s], noisy))
            wrong, far = wrong + (found != t), far + abs(found - t)
    result = faithfulness.decoding_error(table, noise, n_trials, seed=3)
    assert wrong > 5  # the case is not trivial
    assert result.error_rate == pytest.approx(wrong / 48, rel=1e-14)
    assert result.mean_distance == pytest.approx(far / 48, rel=1e-14)


def test_without_noise_only_equal_rows_are_confused():
    assert faithfulness.decoding_error(tables.dft(16, 16), 0.0) == (0, 0)
    assert faithfulness.decoding_error(np.zeros((4, 2)), 0.0) == (0.75, 1.5)


def test_decoding_error_does_not_depend_on_scale_and_repeats():
    table = tables.sinusoidal(40, 8)
    first = faithfulness.decoding_error(table, 0.7, 3)
    assert faithfulness.decoding_error(table, 0.7, 3) == first
    assert faithfulness.decoding_error(1024 * table, 0.7, 3) == first
    assert faithfulness.decoding_error(table, 0.7, 3, seed=1) != first
    generator = np.random.default_rng(0)
    assert faithfulness.decoding_error(table, 0.7, 3, seed=generator) == first


# -- rounding --

SAMPLES = np.concatenate(
    [
        random_table(1, 2000).ravel() * 2.0 ** np.random.default_rng(1).integers(-30, 15, 2000),
        [0.0, -0.0, 1.0, -1.0, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-40, 65504.0],
        [2.0**-24, 2.0**-25, 3 * 2.0**-25, 2.0**-140, 2.0**-14, 6.1e-5],
        # around the smallest normal and subnormal numbers of bfloat16 and float32
        np.random.default_rng(2).uniform(1, 2, 40) * 2.0 ** -np.arange(115, 155),
    ]
)


@pytest.mark.parametrize("precision", ["float16", "float32", "float64"])
def test_round_to_equals_the_hardware_formats(precision):
    expected = SAMPLES.astype(precision).astype(np.float64)
    np.testing.assert_array_equal(faithfulness.round_to(SAMPLES, precision), expected)


def bfloat16_neighbours(x):
    """The bfloat16 numbers around x: the upper half of float32's bits, one less, one more."""
    upper = struct.unpack(">I", struct.pack(">f", abs(x)))[0] >> 16
    for bits in (upper - 1, upper, upper + 1):
        if bits >= 0:
            yield bits, math.copysign(struct.unpack(">f", struct.pack(">I", bits << 16))[0], x)


def test_round_to_bfloat16_takes_the_nearest_neighbour_and_even_on_ties():
    for x, rounded in zip(SAMPLES, faithfulness.round_to(SAMPLES, "bfloat16"), strict=True):
        # Exact distances: fractions know no rounding. An odd last bit loses a tie.
        _, _, expected = min(
            (abs(Fraction(value) - Fraction(x)), bits % 2, value)
            for bits, value in bfloat16_neighbours(x)
        )
        assert rounded == expected, x


# -- returns --


@pytest.mark.parametrize("d_model", [2, 8, 64])
def test_return_distances_equal_those_of_the_table(d_model):
    omega = frequencies.geometric(d_model)
    table = tables.encode(np.arange(500), omega)
    expected = [math.dist(row, table[0]) for row in table]
    np.testing.assert_allclose(
        faithfulness.return_distances(omega, 500), expected, rtol=0, atol=1e-12
    )


def test_return_distances_far_out_in_high_precision():
    omega, t = frequencies.geometric(6), 250_000
    with mpmath.workdps(40):
        squares = sum(mpmath.sin(mpmath.mpf(float(w)) * t / 2) ** 2 for w in omega)
        expected = float(2 * mpmath.sqrt(squares))
    # The largest angle, t / 2, is rounded once; the distance moves by at most twice that.
    bound = t * 2.0**-53 + 1e-15
    assert abs(faithfulness.return_distances(omega, t + 1)[t] - expected) <= bound


def test_nearest_return_equals_a_loop():
    omega = frequencies.geometric(4)
    table = tables.encode(np.arange(1000), omega)
    for after in (0, 3, 50):
        position = min(range(after + 1, 1000), key=lambda t: math.dist(table[t], table[0]))
        found = faithfulness.nearest_return(omega, 1000, after=after)
        assert found.position == position
        assert found.distance == pytest.approx(math.dist(table[position], table[0]), abs=1e-12)
