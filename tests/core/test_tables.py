"""Tables against high-precision values, naive double loops and their own promises."""

import math
import tracemalloc

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc import frequencies, tables

EPS = 2.0**-52
UNIT = EPS / 2  # largest relative error of one rounding to float64
DTYPES = [np.float16, np.float32, np.float64, np.longdouble]

evens = st.integers(1, 40).map(lambda half: 2 * half)


def exact_code(t, omega):
    """Interleaved sines and cosines of one position in 50 digits, rounded once at the end."""
    with mpmath.workdps(50):
        angles = [mpmath.mpf(float(t)) * w for w in omega]
        return np.array([float(f(a)) for a in angles for f in (mpmath.sin, mpmath.cos)])


def exact_floats(omega):
    return [mpmath.mpf(float(w)) for w in omega]


def angle_bound(t, omega, factor):
    """Error of a code whose angles carry `factor` relative roundings, plus a few of its values."""
    return np.repeat(factor * UNIT * abs(float(t)) * np.asarray(omega, float), 2) + 16 * EPS


# -- encode --


@pytest.mark.parametrize("t", [0, 1, -7, 0.5, 1023, 99_999, 1e6 + 0.25, 2**40])
def test_encode_loses_no_more_than_the_rounding_of_the_angle(t):
    omega = frequencies.geometric(32)
    error = np.abs(tables.encode([t], omega)[0] - exact_code(t, exact_floats(omega)))
    assert np.all(error <= angle_bound(t, omega, 1))


def test_encode_interleaves_sine_first():
    table = tables.encode([2.0, 3.0], [0.5, 0.1])
    expected = [
        [math.sin(t * w) if half == 0 else math.cos(t * w) for w in (0.5, 0.1) for half in (0, 1)]
        for t in (2.0, 3.0)
    ]
    np.testing.assert_allclose(table, expected, rtol=0, atol=2 * EPS)


@pytest.mark.parametrize("width", [1, 40_000])
def test_encode_crosses_block_borders(width):
    """Every block of rows is filled, whatever the number of rows per block."""
    omega = np.linspace(0.1, 1, width)
    n_rows = 33_000 if width == 1 else 3
    table = tables.encode(np.arange(n_rows), omega)
    np.testing.assert_array_equal(table[-1], tables.encode([n_rows - 1], omega)[0])
    np.testing.assert_allclose(table[:, 0] ** 2 + table[:, 1] ** 2, 1, rtol=4 * EPS)


def test_encode_float32_arguments_are_widened_first():
    omega = np.array([0.1, 0.7], np.float32)
    t = np.array([1e6, 3.0], np.float32)
    exact = np.array([exact_code(p, exact_floats(omega)) for p in t])
    np.testing.assert_allclose(tables.encode(t, omega), exact, rtol=0, atol=1e6 * EPS)


# -- sinusoidal and tape --


@pytest.mark.parametrize("d_model", [2, 16, 100, 512])
def test_sinusoidal_at_large_positions(d_model):
    """From the paper's formula alone: sin and cos of t / base**(2i / d_model)."""
    n_positions = 100_000 if d_model <= 100 else 20_000
    table = tables.sinusoidal(n_positions, d_model)
    with mpmath.workdps(50):
        omega = [mpmath.mpf(10_000) ** (-mpmath.mpf(2 * i) / d_model) for i in range(d_model // 2)]
    # The angle carries the roundings of the frequency (see test_frequencies) and its own.
    factor = math.log(10_000) + 3
    for t in [0, 1, 15, 16, 127, 128, 4095, 12_345, n_positions - 1]:
        error = np.abs(table[t] - exact_code(t, omega))
        assert np.all(error <= angle_bound(t, [float(w) for w in omega], factor)), t


@given(st.integers(0, 700), evens, st.floats(1.5, 1e6))
def test_sinusoidal_is_encode_of_the_geometric_grid(n_positions, d_model, base):
    expected = tables.encode(np.arange(n_positions), frequencies.geometric(d_model, base))
    table = tables.sinusoidal(n_positions, d_model, base)
    np.testing.assert_allclose(table, expected, rtol=0, atol=(16 + n_positions) * EPS)


@pytest.mark.parametrize(("n_positions", "d_model"), [(1, 2), (30, 128), (3000, 16)])
def test_tape_scales_the_angle_by_width_over_length(n_positions, d_model):
    table = tables.tape(n_positions, d_model)
    with mpmath.workdps(50):
        omega = [
            mpmath.mpf(10_000) ** (-mpmath.mpf(2 * i) / d_model) * d_model / n_positions
            for i in range(d_model // 2)
        ]
    for t in {0, n_positions // 2, n_positions - 1}:
        error = np.abs(table[t] - exact_code(t, omega))
        bound = angle_bound(t, [float(w) for w in omega], math.log(10_000) + 5)
        assert np.all(error <= bound)


# -- dft --


def naive_dft(n_positions, d, n_points):
    """Eq. 17 to 20 in 30 digits, one number at a time, on a lattice of `n_points`."""
    k_max = d // 2 - 1
    table = np.empty((n_positions, d))
    with mpmath.workdps(30):
        for s in range(n_positions):
            for column in range(d):
                k = column if column <= k_max else column - k_max
                angle = 2 * mpmath.pi * k * s / n_points
                if column == d - 1:
                    angle = 2 * mpmath.pi * (d // 2) * s / n_points
                end = column == 0 or (column == d - 1 and d == n_points)
                scale = mpmath.sqrt(mpmath.mpf(1 if end else 2) / n_points)
                sine = k_max < column < d - 1
                wave = mpmath.sin(angle) if sine else mpmath.cos(angle)
                table[s, column] = float(scale * wave)
    return table


@pytest.mark.parametrize(("n_positions", "d_model"), [(0, 4), (1, 2), (2, 2), (6, 6), (7, 20)])
def test_dft_equals_the_paper(n_positions, d_model):
    table = tables.dft(n_positions, d_model)
    expected = naive_dft(n_positions, d_model, d_model)
    assert table.shape == expected.shape
    np.testing.assert_allclose(table, expected, rtol=0, atol=8 * EPS)


def test_dft_alias_repeats_the_paper_formula():
    table = tables.dft(20, 6, overflow="alias")
    np.testing.assert_allclose(table, naive_dft(20, 6, 6), rtol=0, atol=8 * EPS)
    np.testing.assert_array_equal(table[6:12], table[:6])


@pytest.mark.parametrize(("n_positions", "d_model"), [(7, 4), (8, 6), (31, 10), (400, 4)])
def test_dft_stretch_takes_the_lowest_functions_of_the_longer_lattice(n_positions, d_model):
    table = tables.dft(n_positions, d_model, overflow="stretch")
    expected = naive_dft(n_positions, d_model, n_positions)
    np.testing.assert_allclose(table, expected, rtol=0, atol=8 * EPS)
    assert len({row.tobytes() for row in table}) == n_positions
    # The functions stay orthonormal, the rows do not.
    np.testing.assert_allclose(table.T @ table, np.eye(d_model), rtol=0, atol=1e-13)


def test_dft_overflow_options_do_nothing_where_all_fits():
    expected = tables.dft(5, 8)
    for overflow in ("alias", "stretch"):
        np.testing.assert_array_equal(tables.dft(5, 8, overflow=overflow), expected)


# -- index, digits, binary, normalized --


@given(st.integers(0, 300), st.integers(1, 7))
def test_index_and_normalized_repeat_one_column(n_positions, d_model):
    index = tables.index(n_positions, d_model)
    assert index.tolist() == [[float(t)] * d_model for t in range(n_positions)]
    share = tables.normalized(n_positions, d_model)
    assert share.tolist() == [[t / n_positions] * d_model for t in range(n_positions)]


@given(st.integers(0, 300), st.integers(2, 12))
def test_digits_spell_the_position(n_positions, base):
    table = tables.digits(n_positions, base=base)
    n_digits = table.shape[1]
    for t, row in enumerate(table):
        assert sum(int(v) * base ** (n_digits - 1 - i) for i, v in enumerate(row)) == t
        assert all(0 <= v < base for v in row)
    # No column is wasted: one digit fewer could not hold the last position.
    assert n_digits == 1 or base ** (n_digits - 1) <= n_positions - 1


@pytest.mark.parametrize("n_positions", [1, 2, 3, 8, 9, 1000])
def test_binary_is_the_binary_numeral(n_positions):
    width = len(f"{n_positions - 1:b}") + 2
    table = tables.binary(n_positions, width)
    assert table.tolist() == [[float(c) for c in f"{t:0{width}b}"] for t in range(n_positions)]
    assert tables.binary(n_positions).shape == (n_positions, width - 2)


def test_normalized_float16_is_rounded_once():
    """Positions above 2048 have no float16 of their own; their share of the length has."""
    table = tables.normalized(100_000, dtype=np.float16)
    expected = (np.arange(100_000) / 100_000).astype(np.float16)
    np.testing.assert_array_equal(table[:, 0], expected)


# -- what all tables promise --

TABLES = {
    "encode": lambda n, d, **kw: tables.encode(np.arange(n), frequencies.geometric(d), **kw),
    "index": tables.index,
    "digits": lambda n, d, **kw: tables.digits(n, d, **kw),
    "binary": lambda n, d, **kw: tables.binary(n, d, **kw),
    "normalized": tables.normalized,
    "sinusoidal": tables.sinusoidal,
    "tape": tables.tape,
    "dft": lambda n, d, **kw: tables.dft(n, d, overflow="stretch", **kw),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", TABLES)
def test_dtype_is_honoured_and_rounded_from_float64(name, dtype):
    table = TABLES[name](200, 16, dtype=dtype)
    assert table.dtype == dtype
    assert table.shape == (200, 16)
    wide = TABLES[name](200, 16)
    assert wide.dtype == np.float64
    spacing = max(np.finfo(dtype).eps, EPS) * np.abs(wide).max()
    np.testing.assert_allclose(table.astype(np.float64), wide, rtol=0, atol=float(spacing) / 2)


@pytest.mark.parametrize("name", TABLES)
def test_calls_repeat_bit_for_bit_and_share_no_memory(name):
    first = TABLES[name](300, 16)
    copy = first.copy()
    second = TABLES[name](300, 16)
    second[:] = -1
    np.testing.assert_array_equal(first, copy)
    np.testing.assert_array_equal(TABLES[name](300, 16), copy)


@pytest.mark.parametrize("name", sorted(set(TABLES) - {"tape"}))
def test_no_positions_make_an_empty_table(name):
    assert TABLES[name](0, 8).shape == (0, 8)


def peak_beyond_result(make):
    make()  # first call: imports and caches
    tracemalloc.start()
    try:
        table = make()
        return tracemalloc.get_traced_memory()[1] - table.nbytes, table.nbytes
    finally:
        tracemalloc.stop()


SMALL_OBJECTS = 32 * 1024  # grids, views and the like, whatever the size of the table


@pytest.mark.parametrize("shape", [(600, 64), (500, 512), (40, 3000), (20_000, 16)])
@pytest.mark.parametrize("name", TABLES)
def test_float32_needs_no_more_than_twice_the_result_beside_it(name, shape):
    extra, size = peak_beyond_result(lambda: TABLES[name](*shape, dtype=np.float32))
    assert extra <= 2 * size + SMALL_OBJECTS


@pytest.mark.parametrize("name", ["encode", "sinusoidal", "tape", "index", "normalized"])
def test_large_float32_tables_hold_little_in_float64(name):
    extra, size = peak_beyond_result(lambda: TABLES[name](20_000, 256, dtype=np.float32))
    assert extra <= size / 8
