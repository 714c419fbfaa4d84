"""Frequency grids against high-precision arithmetic."""

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
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


def test_geometric_of_the_transformer_at_known_points():
    omega = frequencies.geometric(512)
    assert omega[0] == 1
    assert omega[128] == pytest.approx(1e-2, rel=1e-15)
    # The last frequency stops short of 1 / base, by a factor 10000**(2 / 512).
    assert omega[-1] * 10_000 == pytest.approx(1.0366329284, rel=1e-9)


@given(evens, bases)
@settings(deadline=None, max_examples=40, derandomize=True)
def test_geometric_falls_by_one_constant_ratio(d_model, base):
    omega = frequencies.geometric(d_model, base)
    np.testing.assert_allclose(omega[1:] / omega[:-1], base ** (-2 / d_model), rtol=1e-13)


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
@settings(deadline=None, max_examples=40, derandomize=True)
def test_length_scaled_is_the_geometric_grid_times_width_over_length(d_model, length, base):
    scaled = frequencies.length_scaled(d_model, length, base)
    with mpmath.workdps(40):
        exact = [w * d_model / length for w in exact_geometric(d_model, base)]
    assert scaled.shape == (d_model // 2,)
    assert max(relative_errors(scaled, exact)) <= UNIT * (math.log(base) + 4)


def test_length_scaled_equals_geometric_where_length_is_width():
    np.testing.assert_array_equal(frequencies.length_scaled(64, 64), frequencies.geometric(64))


GRIDS = [
    (frequencies.geometric, {"d_model": 8}),
    (frequencies.length_scaled, {"d_model": 8, "length": 10}),
    (frequencies.harmonic, {"d_model": 8}),
]
BAD = [
    (GRIDS, "d_model", "a positive even integer", [0, -2, 3, 2.0, True, "8", None]),
    (GRIDS[:2], "base", "a finite number above 0",
     [0.0, -1.0, math.nan, math.inf, "10", None, True, 10**400]),
    (GRIDS[1:2], "length", "an integer of at least 1", [0, -5, 2.5, True]),
]  # fmt: skip


@pytest.mark.parametrize(("grids", "argument", "wanted", "wrong"), BAD)
def test_bad_arguments_are_named_with_their_value(grids, argument, wanted, wrong):
    for (grid, right), bad in product(grids, wrong):
        with pytest.raises(ValueError, match=f"{argument} must be {wanted}") as error:
            grid(**{**right, argument: bad})
        assert repr(bad) in str(error.value)


@pytest.mark.parametrize(("grid", "right"), GRIDS[:2])
def test_a_base_below_one_is_told_why_it_cannot_be(grid, right):
    with pytest.raises(ValueError, match=r"base must be at least 1, .* got 0\.5"):
        grid(**right, base=0.5)
    assert grid(**right, base=1).std() == 0


def test_odd_width_is_told_its_even_neighbours():
    with pytest.raises(ValueError, match="got 7; 6 or 8 would do"):
        frequencies.geometric(7)
    with pytest.raises(ValueError, match="got 1; 2 would do"):
        frequencies.geometric(1)


def test_numpy_integers_are_integers():
    np.testing.assert_array_equal(frequencies.geometric(np.int64(8)), frequencies.geometric(8))
