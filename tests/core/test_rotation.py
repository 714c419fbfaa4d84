"""Shifts and rotary encoding against naive loops and the group law."""

import cmath
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc import frequencies, rotation, tables

halves = st.integers(1, 12)
offsets = st.integers(-200, 200)


def grid(m):
    return frequencies.geometric(2 * m)


def naive_shift(omega, k):
    """Eq. 9 of the proof, block by block."""
    size = 2 * len(omega)
    matrix = [[0.0] * size for _ in range(size)]
    for i, w in enumerate(omega):
        c, s = math.cos(w * k), math.sin(w * k)
        matrix[2 * i][2 * i], matrix[2 * i][2 * i + 1] = c, s
        matrix[2 * i + 1][2 * i], matrix[2 * i + 1][2 * i + 1] = -s, c
    return np.array(matrix)


@given(halves, offsets)
def test_shift_matrix_equals_the_blocks(m, k):
    np.testing.assert_allclose(
        rotation.shift_matrix(grid(m), k), naive_shift(grid(m), k), rtol=0, atol=1e-15
    )


@given(halves, offsets, st.floats(-500, 500))
def test_one_matrix_shifts_every_position(m, k, t):
    before, after = tables.encode([t, t + k], grid(m))
    # Angles up to 700 carry errors of 700 * 2**-53; t + k is rounded as well.
    np.testing.assert_allclose(rotation.shift_matrix(grid(m), k) @ before, after, atol=5e-13)


def test_float32_frequencies_turn_by_float64_angles():
    omega = np.array([0.1, 0.03], np.float32)
    np.testing.assert_array_equal(
        rotation.shift_matrix(omega, 100_000.0), rotation.shift_matrix(omega.astype(float), 1e5)
    )
    vectors, t = np.ones((2, 4)), np.array([1e5, 7e5], np.float32)
    np.testing.assert_array_equal(
        rotation.rotate(vectors, t, omega), rotation.rotate(vectors, t.astype(float), omega)
    )


def test_small_integers_do_not_overflow():
    t, omega = np.array([100], np.int8), np.array([100], np.int8)
    expected = rotation.rotate([[1.0, 0.0]], [100], [100.0])
    np.testing.assert_array_equal(rotation.rotate([[1.0, 0.0]], t, omega), expected)


def naive_rotate(vectors, positions, omega, pairing):
    """Each pair is a complex number that turns by the angle t * omega."""
    m = len(omega)
    result = np.array(vectors, float)
    for row, t in zip(result, positions, strict=True):
        for i, w in enumerate(omega):
            a, b = (2 * i, 2 * i + 1) if pairing == "interleaved" else (i, i + m)
            turned = complex(row[a], row[b]) * cmath.exp(1j * t * w)
            row[a], row[b] = turned.real, turned.imag
    return result


@pytest.mark.parametrize("pairing", ["interleaved", "half"])
@given(m=halves, n=st.integers(0, 6), seed=st.integers(0, 99))
def test_rotate_equals_a_double_loop(pairing, m, n, seed):
    rng = np.random.default_rng(seed)
    vectors, t = rng.standard_normal((n, 2 * m)), rng.uniform(-50, 50, n)
    original = vectors.copy()
    turned = rotation.rotate(vectors, t, grid(m), pairing=pairing)
    np.testing.assert_allclose(turned, naive_rotate(vectors, t, grid(m), pairing), atol=1e-13)
    np.testing.assert_array_equal(vectors, original)
    np.testing.assert_allclose(
        np.linalg.norm(turned, axis=1), np.linalg.norm(vectors, axis=1), rtol=1e-14
    )


def test_the_pairings_are_one_permutation_apart():
    rng = np.random.default_rng(2)
    vectors, t, order = rng.standard_normal((9, 12)), np.arange(9), rotation.pairing_permutation(12)
    inside = rotation.rotate(vectors, t, grid(6))[:, order]
    assert order.tolist() == [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11]
    outside = rotation.rotate(vectors[:, order], t, grid(6), pairing="half")
    np.testing.assert_array_equal(inside, outside)
