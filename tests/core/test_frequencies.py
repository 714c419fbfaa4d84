"""Frequency grids against high-precision arithmetic."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc import frequencies

UNIT = 2.0**-53  # largest relative error of one rounding to float64

evens = st.integers(1, 300).map(lambda half: 2 * half)
bases = st.floats(1.5, 1e9)


def exact_geometric(d_model, base):
    """The grid in 40 digits, from the formula alone."""
    with mpmath.workdps(40):
        return [mpmath.mpf(base) ** (-mpmath.mpf(2 * i) / d_model) for i in range(d_model // 2)]


def relative_errors(values, exact):
    with mpmath.workdps(40):
        return [
            float(abs((mpmath.mpf(float(v)) - e) / e)) for v, e in zip(values, exact, strict=True)
        ]


@pytest.mark.parametrize("d_model", [2, 4, 6, 64, 100, 512])
@pytest.mark.parametrize("base", [2.0, 100.0, 10_000.0, 500_000.0])
def test_geometric_is_exact_to_a_few_roundings(d_model, base):
    # One rounding of the exponent, which the power multiplies by ln(base), and one ulp of pow.
    bound = UNIT * (math.log(base) + 2)
    omega = frequencies.geometric(d_model, base)
    assert omega.shape == (d_model // 2,)
    assert omega.dtype == np.float64
    assert max(relative_errors(omega, exact_geometric(d_model, base))) <= bound


@pytest.mark.parametrize("d_model", [2, 4, 10, 256])
def test_harmonic_is_exact_to_a_few_roundings(d_model):
    omega = frequencies.harmonic(d_model)
    assert omega.shape == (d_model // 2 + 1,)
    assert omega[0] == 0
    assert omega[-1] == math.pi
    with mpmath.workdps(40):
        exact = [2 * mpmath.pi * k / d_model for k in range(1, d_model // 2 + 1)]
    assert max(relative_errors(omega[1:], exact)) <= 4 * UNIT


@given(evens, st.integers(1, 10**6), bases)
def test_length_scaled_is_the_geometric_grid_times_width_over_length(d_model, length, base):
    scaled = frequencies.length_scaled(d_model, length, base)
    with mpmath.workdps(40):
        exact = [w * d_model / length for w in exact_geometric(d_model, base)]
    assert scaled.shape == (d_model // 2,)
    assert max(relative_errors(scaled, exact)) <= UNIT * (math.log(base) + 4)


def test_numpy_integers_are_integers():
    np.testing.assert_array_equal(frequencies.geometric(np.int64(8)), frequencies.geometric(8))
