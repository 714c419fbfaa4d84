"""What was not equal: counted from the records, and told in the protocol."""

import inspect

import pytest

from posenc_book.bench import build, tuning
from posenc_book.read.classification import analysis, second, unequal
from posenc_book.read.classification import protocol as protocols

pytestmark = pytest.mark.usefixtures("read_once")


@pytest.mark.parametrize("model", second.TOKENS)
def test_rates_are_those_of_every_encoding_on_every_set(model):
    found = unequal.rates(model)
    names = protocols.ENCODINGS
    sets = len(second.load_grid(model).datasets)
    assert found.chosen == len(names) * sets
    added = [name for name in names if _scales(name)]
    assert found.added == len(added) * sets
    assert found.added_at_top <= found.at_top <= found.chosen
    assert max(tuning.RATES) == unequal.TOP


def _scales(encoding):
    return "scale" in inspect.signature(build.find_class(encoding)).parameters


def test_the_table_is_stretched_beyond_the_width_of_the_model():
    grid = second.load_grid("time_series")
    units = second.learned(grid).datasets
    few = [one for one in ("PenDigits", "NATOPS", "SyntheticControl") if one in units]
    many, n = unequal.stretched("time_series")
    assert n == len(units)
    assert 0 < many <= n - len(few)  # 8, 51 and 60 steps
    assert unequal.stretched("patch")[0] < many


def test_the_clip_is_the_default_of_the_encoding():
    parameters = inspect.signature(build.find_class("relative")).parameters
    assert parameters["max_distance"].default == unequal.CLIPPED
    assert parameters["values"].default is False


def test_the_protocol_names_each_of_them():
    told = analysis.text().split("## What was not equal")[1].split("\n## ")[0]
    assert told.count("\n- ") == 6
    steps = unequal.rates("time_series")
    assert f"{steps.at_top} of {steps.chosen} with steps" in told
    assert "on {} of the {} units".format(*unequal.stretched("time_series")) in told
