"""The real discrete Fourier transform and Algorithm 1, from the paper's sums alone."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc import fourier, frequencies

evens = st.integers(1, 20).map(lambda half: 2 * half)
seeds = st.integers(0, 10**6)


def phi(index, t, d):
    """The basis function phi_l(t), as printed between Eq. 11 and Eq. 12."""
    k_max = d // 2 - 1
    if index == 0:
        return 1 / math.sqrt(d)
    if index == d - 1:
        return (-1) ** t / math.sqrt(d)
    if index <= k_max:
        return math.sqrt(2 / d) * math.cos(2 * math.pi * (index * t % d) / d)
    return math.sqrt(2 / d) * math.sin(2 * math.pi * ((index - k_max) * t % d) / d)


def naive_coefficients(f):
    d = len(f)
    return np.array([math.fsum(f[t] * phi(i, t, d) for t in range(d)) for i in range(d)])


def naive_values(c):
    d = len(c)
    return np.array([math.fsum(c[i] * phi(i, t, d) for i in range(d)) for t in range(d)])


def random_function(d, seed):
    return np.random.default_rng(seed).standard_normal(d)


@pytest.mark.parametrize("d", [2, 4, 6, 30])
def test_basis_holds_the_printed_functions(d):
    expected = [[phi(i, t, d) for t in range(d)] for i in range(d)]
    np.testing.assert_allclose(fourier.basis(d), expected, rtol=0, atol=4e-16)


# A sum of d <= 40 terms of size 1 keeps about 40 * 2**-53 = 4e-15.
@given(evens, seeds)
def test_analyse_equals_the_sums(d, seed):
    f = random_function(d, seed)
    np.testing.assert_allclose(fourier.analyse(f), naive_coefficients(f), rtol=0, atol=1e-14)


@given(evens, seeds)
def test_synthesise_equals_the_sums(d, seed):
    c = random_function(d, seed)
    np.testing.assert_allclose(fourier.synthesise(c), naive_values(c), rtol=0, atol=1e-14)


def test_transforms_take_stacks_integers_and_float32():
    f = np.arange(24).reshape(2, 3, 4)
    stacked = fourier.analyse(f)
    assert stacked.shape == (2, 3, 4)
    assert stacked.dtype == np.float64
    np.testing.assert_allclose(stacked[1, 2], naive_coefficients(f[1, 2]), atol=1e-13)
    narrow = fourier.analyse(np.float32([0.1, 0.2, 0.3, 0.5]))
    assert narrow.dtype == np.float64
    assert fourier.analyse(np.zeros((0, 4))).shape == (0, 4)
    assert fourier.synthesise(np.zeros((0, 4))).shape == (0, 4)


def test_arguments_are_left_as_they_were():
    f = random_function(8, 0)
    density = fourier.dft_density(8)
    copies = f.copy(), density.copy()
    fourier.analyse(f), fourier.synthesise(f), fourier.reconstruct(f, density)
    np.testing.assert_array_equal(f, copies[0])
    np.testing.assert_array_equal(density, copies[1])


# -- densities --


def naive_density(omega, d, bandwidth):
    """Eq. 15 with one exponential at a time."""
    lattice = [2 * math.pi * k / d for k in range(d // 2 + 1)]
    g = [
        math.fsum(math.exp(-((w_k - w) ** 2) / (2 * bandwidth**2)) for w in omega)
        for w_k in lattice
    ]
    return np.array(g) / math.fsum(g)


@pytest.mark.parametrize(
    ("d", "bandwidth"), [(2, 1.0), (64, 0.05), (64, 3.0), (256, 4 * 2 * math.pi / 256)]
)
def test_frequency_density_equals_equation_15(d, bandwidth):
    omega = frequencies.geometric(d)
    density = fourier.frequency_density(omega, d, bandwidth)
    assert density.shape == (d // 2 + 1,)
    # The argument of the exponential, up to 39**2 / 2, carries a few roundings of its own.
    np.testing.assert_allclose(density, naive_density(omega, d, bandwidth), rtol=1e-12, atol=1e-300)


def test_a_narrow_kernel_counts_the_frequencies_on_the_lattice():
    lattice = frequencies.harmonic(8)
    density = fourier.frequency_density(lattice[[0, 2, 2, 4]], 8, 1e-200)
    np.testing.assert_array_equal(density, [0.25, 0, 0.5, 0, 0.25])


@pytest.mark.parametrize("d", [2, 4, 256])
def test_dft_density_is_flat_but_for_its_ends(d):
    density = fourier.dft_density(d)
    assert density.tolist() == [1 / d] + [2 / d] * (d // 2 - 1) + [1 / d]
    assert density.sum() == pytest.approx(1, rel=1e-14)


# -- Algorithm 1 --


def naive_algorithm_1(f, g):
    """Steps 1 to 6 with the printed coefficients, then the old norm again."""
    d = len(f)
    k_max = d // 2 - 1
    c = naive_coefficients(f)
    c[0] *= g[0]
    c[d - 1] *= g[k_max + 1]
    for k in range(1, k_max + 1):
        c[k] *= g[k]
        c[k_max + k] *= g[k]
    result = naive_values(c)
    return result * np.linalg.norm(f) / np.linalg.norm(result)


@given(evens, seeds)
def test_reconstruct_equals_algorithm_1(d, seed):
    f = random_function(d, seed)
    g = np.random.default_rng(seed + 1).uniform(0.1, 1, d // 2 + 1)
    result = fourier.reconstruct(f, g)
    np.testing.assert_allclose(result, naive_algorithm_1(f, g), rtol=0, atol=5e-14)
    assert np.linalg.norm(result) == pytest.approx(np.linalg.norm(f), rel=1e-14)
    # Only the shape of the density counts, not its size.
    np.testing.assert_allclose(fourier.reconstruct(f, 7 * g), result, rtol=0, atol=5e-14)


def test_reconstruct_survives_weights_too_small_to_square():
    f = np.cos(np.pi * np.arange(8))
    density = np.array([0, 0, 0, 0, 1e-200])
    np.testing.assert_allclose(fourier.reconstruct(f, density), f, rtol=1e-14)


def test_reconstruct_of_zero_is_zero():
    np.testing.assert_array_equal(fourier.reconstruct(np.zeros((2, 6)), np.ones(4)), 0)


def test_transforms_need_memory_in_proportion_to_d():
    """A matrix of this size would need 80 GB; ten vectors of complex numbers do."""
    d = 100_000
    f, density = random_function(d, 0), fourier.dft_density(d)
    for call in (fourier.analyse, fourier.synthesise, lambda x: fourier.reconstruct(x, density)):
        tracemalloc.start()
        call(f)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak <= 10 * 16 * d
