import numpy as np
import pytest

from posenc.audit import printed, survey


def test_printed_accuracies_come_by_data_set():
    sets = ["LSST", "RacketSports"]
    found = survey.theirs("patch", sets)
    assert found.shape == (2, len(printed.COLUMNS))
    rows = [printed.DATASETS.index(name) for name in sets]
    np.testing.assert_array_equal(found, printed.accuracy("patch")[rows])


def test_columns_name_our_encodings_with_either_candidate_for_spe():
    first, second = (survey.columns(name) for name in printed.OURS["SPE"])
    (place,) = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    assert printed.COLUMNS[place] == "SPE"
    with pytest.raises(ValueError, match="'spe_sine'"):
        survey.columns("spe_sine")
