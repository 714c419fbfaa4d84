"""Every function of the data names a wrong argument, and a Dataset takes no wrong array."""

import numpy as np
import pytest

from posenc_book import data
from posenc_book.data.dataset import Dataset
from posenc_book.data.lost_samples import lose_samples

WRONG = (None, 3, 0.5, [], {}, "", "../x", "/etc", "x\n", "a b", object(),
         "x" * 10_000)  # fmt: skip
NO_COUNT = (None, "text", [], -1, 0.5, np.nan, np.inf, 10**400, object())
NO_SHARE = (None, "text", [], -0.1, 1.0, 2, np.nan, np.inf, 10**400, True, object())
WHOLE = {
    "x": np.zeros((4, 5, 1), np.float32),
    "y": np.array([0, 1, 0, 1]),
    "classes": ("a", "b"),
    "name": "made",
    "provenance": "made",
}
NO_ARRAYS = {
    "x": (None, [], np.zeros((4, 5), np.float32), np.zeros((4, 5, 1)), np.zeros(4, object)),
    "y": (None, [], np.zeros(4), np.zeros(3, np.int64), np.array([0, 1, 2, 1]), np.full(4, -1)),
    "mask": ([], np.ones((4, 4), bool), np.ones((4, 5))),
    "groups": ([], np.zeros(3, np.int64), np.zeros(4)),
}


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("POSENC_OFFLINE", "1")


@pytest.mark.parametrize("function", [data.is_here, data.facts, data.fingerprint, data.prepare])
def test_a_wrong_name_is_named(function):
    for value in WRONG:
        with pytest.raises(data.UnknownDatasetError, match=r"\bname\b|there is no data set"):
            function(value)


@pytest.mark.parametrize("name", ["-x", "_x"])
def test_a_name_that_begins_with_a_sign_is_told_so(name):
    with pytest.raises(data.UnknownDatasetError, match="beginning with a letter or digit, got"):
        data.load(name, "train")


@pytest.mark.parametrize("name", data.names("synthetic"))
def test_a_simulated_set_has_no_files_to_ask_for(name):
    with pytest.raises(data.UnknownDatasetError, match=f"^{name} is made by a simulator and has n"):
        data.recorded_facts(name)


@pytest.mark.parametrize("split", [None, "validation", 0, [], {}, ""])
def test_a_wrong_split_is_named(split):
    with pytest.raises(ValueError, match=r'split must be "train" or "test", got'):
        data.load("BasicMotions", split)


@pytest.mark.parametrize("group", ["", 0, [], {}, "archives"])
def test_a_wrong_group_is_named(group):
    with pytest.raises(ValueError, match="group must be one of"):
        data.names(group)


@pytest.mark.parametrize("argument", NO_ARRAYS)
def test_a_wrong_array_of_a_data_set_is_named(argument):
    for value in NO_ARRAYS[argument]:
        with pytest.raises(ValueError, match=rf"\b{argument}\b"):
            Dataset(**{**WHOLE, argument: value})


@pytest.mark.parametrize("value", NO_SHARE)
def test_a_wrong_share_for_validation_goes_by_the_callers_name(value):
    with pytest.raises(ValueError, match=r"^validation must be between 0 and 1, got"):
        data.prepare("range_probe", validation=value)


@pytest.mark.parametrize("value", NO_COUNT)
def test_a_wrong_resample_goes_by_the_callers_name(value):
    with pytest.raises(ValueError, match=r"^resample must be an integer of at (least 0|most)"):
        data.prepare("BasicMotions", resample=value)


def test_a_resample_of_a_simulated_set_goes_by_the_callers_name():
    with pytest.raises(ValueError, match=r"^resample must be 0 for range_probe, got 1: its series"):
        data.prepare("range_probe", resample=1)


@pytest.mark.parametrize("value", [*NO_SHARE[:4], *NO_SHARE[5:], False])
def test_a_wrong_share_of_faults_is_named(value):
    with pytest.raises(ValueError, match=r"^fault_share must be a number from 0 to 1, got"):
        data.load("elevator", "train", n=2, fault_share=value)


def test_wrong_numbers_are_named():
    one = Dataset(**WHOLE)
    for value in NO_COUNT:
        with pytest.raises(ValueError, match=r"\br\b"):
            data.resample(one, one, value)
        with pytest.raises(ValueError, match=r"\bseed\b"):
            data.split_validation(one, 0.5, seed=value)
        with pytest.raises(ValueError, match=r"\bn\b"):
            data.load("range_probe", "train", n=value)
    for value in NO_SHARE:
        with pytest.raises(ValueError, match=r"\bshare\b"):
            data.split_validation(one, value)
        with pytest.raises(ValueError, match=r"\blost\b"):
            lose_samples(one, "train", lost=value)
