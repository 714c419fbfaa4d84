"""Shifts and rotary encoding against naive loops and the group law."""

import cmath
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc import frequencies, rotation, tables

properties = settings(deadline=None, max_examples=40, derandomize=True)
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
@properties
def test_shift_matrix_equals_the_blocks(m, k):
    np.testing.assert_allclose(
        rotation.shift_matrix(grid(m), k), naive_shift(grid(m), k), rtol=0, atol=1e-15
    )


@given(halves, offsets, st.floats(-500, 500))
@properties
def test_one_matrix_shifts_every_position(m, k, t):
    before, after = tables.encode([t, t + k], grid(m))
    # Angles up to 700 carry errors of 700 * 2**-53; t + k is rounded as well.
    np.testing.assert_allclose(rotation.shift_matrix(grid(m), k) @ before, after, atol=5e-13)


@given(halves, offsets, offsets)
@properties
def test_shifts_form_a_group_of_rotations(m, k, other):
    shift = rotation.shift_matrix(grid(m), k)
    np.testing.assert_allclose(shift @ shift.T, np.eye(2 * m), atol=1e-14)
    np.testing.assert_allclose(rotation.shift_matrix(grid(m), -k), shift.T, atol=1e-15)
    product = shift @ rotation.shift_matrix(grid(m), other)
    np.testing.assert_allclose(rotation.shift_matrix(grid(m), k + other), product, atol=5e-13)


def test_shift_by_nothing_is_the_identity():
    np.testing.assert_array_equal(rotation.shift_matrix(grid(5), 0), np.eye(10))
    assert rotation.shift_matrix([], 3).shape == (0, 0)


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
@properties
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


@pytest.mark.parametrize("pairing", ["interleaved", "half"])
def test_dot_products_depend_on_the_offset_only(pairing):
    rng = np.random.default_rng(1)
    q, k = rng.standard_normal((2, 1, 16))
    scores = [
        rotation.rotate(q, [t], grid(8), pairing=pairing)[0]
        @ rotation.rotate(k, [t + 5], grid(8), pairing=pairing)[0]
        for t in range(30)
    ]
    other = (
        rotation.rotate(q, [0], grid(8), pairing=pairing)[0]
        @ rotation.rotate(k, [6], grid(8), pairing=pairing)[0]
    )
    np.testing.assert_allclose(scores, scores[0], atol=1e-13)
    assert abs(other - scores[0]) > 1e-3


def test_the_pairings_are_one_permutation_apart():
    rng = np.random.default_rng(2)
    vectors, t, order = rng.standard_normal((9, 12)), np.arange(9), rotation.pairing_permutation(12)
    inside = rotation.rotate(vectors, t, grid(6))[:, order]
    outside = rotation.rotate(vectors[:, order], t, grid(6), pairing="half")
    np.testing.assert_array_equal(inside, outside)
    mixed = rotation.rotate(vectors, t, grid(6), pairing="half")
    assert np.abs(mixed[1:] - rotation.rotate(vectors, t, grid(6))[1:]).max() > 0.1


def test_pairing_permutation_lists_first_members_then_second():
    assert rotation.pairing_permutation(6).tolist() == [0, 2, 4, 1, 3, 5]
    order = rotation.pairing_permutation(10)
    assert order[np.argsort(order)].tolist() == list(range(10))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rotation.shift_matrix([1.0], math.nan), "offset must be finite, got nan"),
        (lambda: rotation.shift_matrix([1.0], math.inf), "offset must be finite, got inf"),
        (lambda: rotation.shift_matrix([1.0], [1]), r"offset must have 0 axes, got 1 .*\(1,\)"),
        (lambda: rotation.shift_matrix([1.0], "1"), "offset must hold real numbers"),
        (lambda: rotation.shift_matrix([[1.0]], 1), "frequencies must have 1 axes, got 2"),
        (lambda: rotation.shift_matrix([math.nan], 1), "frequencies must be finite, got nan"),
        (lambda: rotation.pairing_permutation(5), "d_model must be .* got 5"),
        (lambda: rotation.pairing_permutation(0), "d_model must be .* got 0"),
        (
            lambda: rotation.rotate([[1.0, 2.0, 3.0]], [0], [1.0]),
            r"vectors .* \(1, 2\), got \(1, 3\)",
        ),
        (
            lambda: rotation.rotate([[1.0, 2.0]], [0, 1], [1.0]),
            r"vectors .* \(2, 2\), got \(1, 2\)",
        ),
        (lambda: rotation.rotate([1.0, 2.0], [0], [1.0]), "vectors must have 2 axes, got 1"),
        (lambda: rotation.rotate([[math.inf, 2.0]], [0], [1.0]), "vectors must be finite, got inf"),
        (lambda: rotation.rotate([[1.0, 2.0]], [math.nan], [1.0]), "positions must be finite"),
        (lambda: rotation.rotate([[1.0, 2.0]], [0], [math.nan]), "frequencies must be finite"),
        (
            lambda: rotation.rotate([[1.0, 2.0]], [0], [1.0], pairing="odd"),
            "pairing must be one of interleaved, half, got 'odd'",
        ),
    ],
)
def test_errors_name_argument_and_value(call, message):
    with pytest.raises(ValueError, match=message):
        call()
