"""The printed tables, and their rounding, against sums and figures worked out by hand."""

from fractions import Fraction

import numpy as np
import pytest

from posenc import encodings
from posenc_book.audit import printed
from posenc_book.audit.rounding import Bounds, Truth, every, how_many
from posenc_book.audit.survey import rounded, summaries

# Sums in thousandths, added from the paper's text.
ROW_SUMS = {
    "time_series": [6981, 5790, 5369, 5815, 6070, 4911, 6287, 7027, 6928, 7481, 5929],
    "patch": [6893, 5936, 5317, 5749, 6060, 4744, 6190, 6836, 6830, 7387, 5805],
}
COLUMN_SUMS = {
    "time_series": [8201, 8366, 8520, 8391, 8702, 8773, 8818, 8817],
    "patch": [8091, 8261, 8454, 8269, 8613, 8663, 8705, 8691],
}
RANK_SUMS = {"time_series": 35.997, "patch": 35.995}

both = pytest.mark.parametrize("model", ["time_series", "patch"])


@both
def test_tables_have_the_printed_sums(model):
    table = 1000 * printed.accuracy(model)
    assert table.shape == (11, 8)
    assert table.sum(axis=1) == pytest.approx(ROW_SUMS[model])
    assert table.sum(axis=0) == pytest.approx(COLUMN_SUMS[model])


@both
def test_printed_ranks_have_the_printed_sum(model):
    ranks = printed.average_ranks(model)
    assert ranks.shape == (8,)
    assert ranks.sum() == pytest.approx(RANK_SUMS[model])
    assert ranks.argmin() == printed.COLUMNS.index("SPE")


def test_scores_hold_the_table():
    scores = printed.printed_scores("patch")
    assert np.array_equal(scores.mean(), printed.accuracy("patch"))
    assert scores.complete().datasets == printed.DATASETS
    assert scores.cells["SelfRegulationSCP1", "SPE"] == [0.883]


def test_facts_are_those_of_the_registry():
    assert printed.column("length").sum() == 178 + 96 + 62 + 24 + 60 + 36 + 30 + 896 + 151 + 30 + 30
    assert printed.column("n_classes").sum() == 5 + 7 + 2 + 10 + 2 + 14 + 4 + 2 + 9 + 4 + 8
    assert printed.column("n_channels").sum() == 1 + 1 + 144 + 1 + 1 + 6 + 6 + 6 + 3 + 18 + 9
    assert printed.facts("LSST").n_classes == 14


def test_every_column_is_one_of_our_encodings():
    assert set(printed.OURS) == set(printed.COLUMNS)
    ours = [name for names in printed.OURS.values() for name in names]
    assert len(ours) == len(set(ours)) == 9
    assert set(ours) <= set(encodings.names())


def test_lists_of_the_text_name_sets_and_methods_of_the_tables():
    named = {*printed.EEG, *printed.SENSORS, *(one.dataset for one in printed.QUOTED)}
    assert named <= set(printed.DATASETS)
    assert {one.method for one in printed.QUOTED} <= set(printed.COLUMNS)


def test_length_classes_cover_every_length_once():
    for length in printed.column("length"):
        assert sum(low < length <= high for low, high in printed.GAINS) == 1


def test_gains_by_hand():
    gains = printed.printed_gains("time_series")
    assert set(gains) == set(printed.READINGS)
    row = printed.DATASETS.index("SelfRegulationSCP1")
    assert gains["SPE"][row] == pytest.approx(90.1 - 84.9)
    assert gains["mean of three"][row] == pytest.approx((90.1 + 90.7 + 89.8) / 3 - 84.9)
    assert gains["best"][printed.DATASETS.index("LSST")] == pytest.approx(63.2 - 58.1)  # eRPE
    relative = printed.printed_gains("time_series", relative=True)
    assert relative["TUPE"][row] == pytest.approx(100 * (907 / 849 - 1))


def test_classes_of_length_by_hand():
    long = [printed.DATASETS.index(d) for d in ("Sleep", "SelfRegulationSCP1", "UniMiB-SHAR")]
    means = printed.in_classes(np.isin(np.arange(11), long).astype(float))
    assert means == [1, 0, 0]
    gain = np.select([printed.column("length") > 100, printed.column("length") > 49], [5.5, 3], 9)
    assert printed.fits(gain) == [True, True, False]


def test_unknown_names_are_named():
    with pytest.raises(ValueError, match="'cnn'"):
        printed.accuracy("cnn")
    with pytest.raises(ValueError, match="'Chinatown'"):
        printed.facts("Chinatown")
    with pytest.raises(ValueError, match="'width'"):
        printed.column("width")


# --- with their rounding


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


SIZES = {"length": 100, "width": 128, "heads": 8, "layers": 4, "taps": 32}


def test_table_2_by_hand():
    found = summaries.parameters(**SIZES)
    assert found == {
        "sinusoidal": 0, "learnable": 12_800, "relative": 203_776, "tape": 12_800,
        "erpe": 40_400, "tupe": 1_024, "conv_spe": 98_816, "tpe": 16_384 + 26_624,
    }  # fmt: skip
    assert found.keys() == summaries.TABLE_1.keys() == summaries.POWER_OF_LENGTH.keys()


@pytest.mark.parametrize(
    ("sizes", "name"), [({"heads": 7}, "heads"), ({"taps": 0}, "taps"), ({"length": -1}, "length")]
)
def test_sizes_of_table_2_that_cannot_be_are_refused(sizes, name):
    with pytest.raises(ValueError, match=name):
        summaries.parameters(**{**SIZES, **sizes})
