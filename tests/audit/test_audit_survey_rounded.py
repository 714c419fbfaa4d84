"""The printed tables with their rounding, against figures worked out by hand."""

from fractions import Fraction

import numpy as np
import pytest

from posenc_book.audit import printed
from posenc_book.audit.rounding import Bounds, Truth, every, how_many
from posenc_book.audit.survey import rounded, summaries

both = pytest.mark.parametrize("model", ["time_series", "patch"])


def exactly(*values):
    return [Bounds(v, v) for v in values]


@both
def test_cells_are_half_a_thousandth_wide_to_both_sides(model):
    cells = np.array(rounded.cells(model))
    table = printed.accuracy(model)
    assert cells.shape == table.shape
    for cell, value in zip(cells.ravel(), table.ravel(), strict=True):
        middle = Fraction(round(1000 * value), 10)
        assert (cell.low, cell.high) == (middle - Fraction(1, 20), middle + Fraction(1, 20))


def test_columns_are_those_asked_for_in_their_order():
    (first, *_) = rounded.columns("time_series", ["TUPE", "Fixed"])  # Sleep: 0.888 and 0.854
    assert [float(cell.low + cell.high) / 2 for cell in first] == [88.8, 85.4]
    with pytest.raises(ValueError, match="methods"):
        rounded.columns("time_series", ["BERT"])


@both
@pytest.mark.parametrize("relative", [False, True])
def test_gains_hold_those_of_the_printed_values(model, relative):
    inside = rounded.rounded_gains(model, relative=relative)
    plain = printed.printed_gains(model, relative=relative)
    assert inside.keys() == plain.keys()
    for name, bounds in inside.items():
        for one, value in zip(bounds, plain[name], strict=True):
            assert float(one.low) < value < float(one.high)
            assert float(one.high - one.low) < 0.5


def test_a_gain_in_points_is_sure_to_a_tenth():
    tupe = rounded.rounded_gains("time_series")["TUPE"][0]  # Sleep: 88.8 - 85.4
    assert (tupe.low, tupe.high) == (Fraction(33, 10), Fraction(35, 10))


def test_largest_smallest_gap_and_median():
    values = [Bounds(1, 2), Bounds(4, 5), Bounds(3, 6)]
    assert rounded.largest(values) == Bounds(4, 6)
    assert rounded.smallest(values) == Bounds(1, 2)
    assert rounded.gap(values) == Bounds(2, 5)
    assert rounded.median(values) == Bounds(3, 5)
    assert rounded.median(exactly(1, 2, 4, 9)) == Bounds(3, 3)


def test_a_group_against_the_others():
    values, members = exactly(1, 2, 9), [False, False, True]
    assert rounded.group(values, members) == exactly(9)
    assert rounded.contrast(values, members) == Bounds(7.5, 7.5)
    assert rounded.contrast(values, members, rounded.largest) == Bounds(7, 7)
    mirrored = rounded.contrast(values, ~np.array(members))
    assert mirrored == -rounded.contrast(values, members)


@both
def test_means_of_length_classes_are_those_without_rounding(model):
    gains, plain = rounded.rounded_gains(model)["SPE"], printed.printed_gains(model)["SPE"]
    pairs = zip(rounded.in_classes(gains), printed.in_classes(plain), strict=True)
    assert all(abs(float(b.low + b.high) / 2 - value) < 1e-9 for b, value in pairs)


def test_pairs_of_equal_length_do_not_count_as_growth():
    found = rounded.rising(exactly(1, 3, 2), [10, 10, 20])
    assert sorted(t.name for t in found) == ["ALWAYS", "NEVER"]
    assert every(rounded.rising(exactly(1, 2, 3), [1, 2, 3])) is Truth.ALWAYS
    assert how_many(rounded.rising([Bounds(0, 2), Bounds(1, 3)], [1, 2])) == Bounds(0, 1)


def test_table_2_by_hand():
    found = summaries.parameters(length=100, width=128, heads=8, layers=4, taps=32)
    assert found == {
        "sinusoidal": 0,
        "learnable": 12_800,
        "relative": 203_776,
        "tape": 12_800,
        "erpe": 40_400,
        "tupe": 1_024,
        "conv_spe": 98_816,
        "tpe": 16_384 + 26_624,
    }
    assert found.keys() == summaries.TABLE_1.keys() == summaries.POWER_OF_LENGTH.keys()


@pytest.mark.parametrize(
    ("sizes", "name"), [({"heads": 7}, "heads"), ({"taps": 0}, "taps"), ({"length": -1}, "length")]
)
def test_sizes_of_table_2_that_cannot_be_are_refused(sizes, name):
    with pytest.raises(ValueError, match=name):
        summaries.parameters(
            **{"length": 100, "width": 128, "heads": 8, "layers": 4, "taps": 32, **sizes}
        )
