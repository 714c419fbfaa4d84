"""Schedules of rotary frequencies against loops written from the papers' formulas."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from posenc import frequencies, schedules

pairs = st.integers(2, 40)
bases = st.sampled_from([100.0, 10_000.0, 500_000.0])
factors = st.floats(1, 64)
lengths = st.integers(16, 10_000)
exact = {"rtol": 1e-12, "atol": 0}


def grid(n, base=10_000.0):
    return frequencies.geometric(2 * n, base)


def by_paper(omega, factor, length, slow, fast):
    """Peng et al., Definition 2, pair by pair."""
    out = []
    for theta in omega:
        r = length / (2 * math.pi / theta)
        gamma = 0 if r < slow else 1 if r > fast else (r - slow) / (fast - slow)
        out.append((1 - gamma) * theta / factor + gamma * theta)
    return out


def by_code(d, base, factor, length, fast=32, slow=1):
    """The ramp of the authors' program: between two numbers of pairs."""

    def number(rotations):
        return d * math.log(length / (rotations * 2 * math.pi)) / (2 * math.log(base))

    low, high = max(math.floor(number(fast)), 0), min(math.ceil(number(slow)), d - 1)
    out = []
    for i in range(d // 2):
        theta = base ** (-2 * i / d)
        gamma = 1 - min(max((i - low) / (high - low if high != low else 0.001), 0), 1)
        out.append((1 - gamma) * theta / factor + gamma * theta)
    return out


@given(pairs, bases, factors)
def test_linear_is_interpolation_of_positions(n, base, factor):
    t = np.arange(50.0)
    angles = np.outer(t, schedules.linear(grid(n, base), factor))
    np.testing.assert_allclose(angles, np.outer(t / factor, grid(n, base)), **exact)


@given(pairs, bases, factors)
def test_ntk_raises_the_base_and_divides_the_slowest_by_the_factor(n, base, factor):
    d, slower = 2 * n, schedules.ntk(grid(n, base), factor)
    np.testing.assert_allclose(slower, grid(n, base * factor ** (d / (d - 2))), rtol=1e-9)
    assert slower[0] == 1
    np.testing.assert_allclose(slower[-1], grid(n, base)[-1] / factor, rtol=1e-12)


@given(pairs, factors, lengths, st.floats(0.1, 8))
def test_dynamic_ntk_follows_the_input(n, factor, original, times):
    length = int(times * original)
    got = schedules.dynamic_ntk(grid(n), factor, length, original)
    stretch = factor * length / original - (factor - 1) if length > original else 1
    np.testing.assert_allclose(got, schedules.ntk(grid(n), max(1, stretch)), rtol=1e-9)
    if length <= original:
        np.testing.assert_array_equal(got, grid(n))


@given(pairs, bases, factors, lengths)
def test_yarn_over_turns_is_the_papers_formula(n, base, factor, length):
    got = schedules.yarn(grid(n, base), factor, length, ramp="turns")
    np.testing.assert_allclose(got, by_paper(grid(n, base), factor, length, 1, 32), rtol=1e-9)


@given(pairs, bases, factors, lengths)
def test_yarn_over_pairs_is_the_authors_program(n, base, factor, length):
    got = schedules.yarn(grid(n, base), factor, length)
    np.testing.assert_allclose(got, by_code(2 * n, base, factor, length), rtol=1e-9)


@given(pairs, bases, factors, lengths)
def test_llama_is_the_formula_of_yarn_with_other_numbers(n, base, factor, length):
    got = schedules.llama3(grid(n, base), factor, length)
    np.testing.assert_allclose(got, by_paper(grid(n, base), factor, length, 1, 4), rtol=1e-9)
    same = schedules.yarn(grid(n, base), factor, length, beta_slow=1, beta_fast=4, ramp="turns")
    np.testing.assert_allclose(got, same, **exact)


def test_longrope_divides_each_pair_by_its_own_number():
    lists = {"short_factor": [1, 2, 4], "long_factor": [1, 5, 25]}
    for length, name in [(99, "short_factor"), (100, "short_factor"), (101, "long_factor")]:
        got = schedules.longrope(grid(3), length, 100, **lists)
        np.testing.assert_allclose(got, grid(3) / lists[name], **exact)


def test_gains_are_those_of_the_papers():
    # 1 / sqrt(t) = 0.1 ln(s) + 1; sqrt(1 + ln s / ln L)
    assert math.isclose(schedules.yarn_gain(16), 0.1 * math.log(16) + 1)
    assert math.isclose(schedules.longrope_gain(32, 4096), math.sqrt(1 + 5 / 12))


def test_ends_of_a_ramp_may_meet_as_in_llama_4_scout_and_kimi_k2():
    omega = grid(64)
    turned = schedules.turns(omega, 8192)
    step = schedules.llama3(omega, 16, 8192, low_freq_factor=1, high_freq_factor=1)
    np.testing.assert_array_equal(step, np.where(turned < 1, omega / 16, omega))
    ramp = schedules.yarn(omega, 32, 4096, beta_fast=1, beta_slow=1)
    first = int((schedules.turns(omega, 4096) >= 1).sum())
    np.testing.assert_allclose(ramp[:first], omega[:first])
    np.testing.assert_allclose(ramp[first:], omega[first:] / 32)


def test_turns_count_wavelengths():
    np.testing.assert_allclose(schedules.turns([2 * np.pi, np.pi / 50], 100), [100, 1])
