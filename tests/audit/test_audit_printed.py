"""The printed tables against sums that were added up apart from them."""

import numpy as np
import pytest

from posenc import encodings
from posenc_book.audit import printed

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


def test_one_wrong_digit_would_change_two_sums():
    table = 1000 * printed.accuracy("patch")
    table[3, 2] += 1
    assert np.flatnonzero(~np.isclose(table.sum(axis=1), ROW_SUMS["patch"])).tolist() == [3]
    assert np.flatnonzero(~np.isclose(table.sum(axis=0), COLUMN_SUMS["patch"])).tolist() == [2]


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
