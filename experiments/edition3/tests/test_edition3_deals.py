"""What the engine trains of the unused sets: deals in halves, which share nothing."""

import os

import numpy as np
import pytest
import torch

from posenc_book import data
from posenc_book.bench import parts
from posenc_book.data import repeats
from posenc_book.data.resamples import halves
from posenc_book.read.edition3 import plan
from posenc_book.records.settings import Settings

CPU = torch.device("cpu")
HALVES = {"deal": "halves"}
SHARED = "ToeSegmentation1"  # some of its test series also stand in its training part
needs_sets = pytest.mark.skipif(not os.environ.get("POSENC_DATA"), reason="needs the sets")


def cell(dataset, **changes):
    return Settings("none", "time_series", dataset, max_cases=0, **changes)


@needs_sets
@pytest.mark.parametrize("name", plan.COUNTED)
def test_the_unused_sets_can_be_dealt_and_share_nothing(name):
    official = data.load(name, "train"), data.load(name, "test")
    for r in (1, 5, 1000):
        first, second = halves(*official, r)
        assert len(first) + len(second) == len(official[0]) + len(official[1])
        assert 0 <= len(second) - len(first) <= first.n_classes
        assert repeats.count(first, second)[2] == 0
        assert len(data.split_validation(first, 0.25, seed=r)[1]) >= 20


@needs_sets
def test_the_set_with_four_shared_series_parts_none_of_them():
    official = [data.load(SHARED, split) for split in data.SPLITS]
    assert repeats.count(*official)[2] == 4
    both = np.bincount(np.concatenate([part.y for part in official]))
    for r in (1, 2, 1000):
        first, second = halves(*official, r)
        assert repeats.count(first, second)[2] == 0
        np.testing.assert_array_equal(np.bincount(first.y), both // 2)


@needs_sets
def test_the_engine_deals_in_halves_and_resamples_can_share_a_stack():
    official = [data.load(SHARED, split) for split in data.SPLITS]
    cells = [cell(SHARED, resample=r, split_seed=r, seed=r, dataset_options=HALVES) for r in (1, 2)]
    alone = parts.load_parts(cells[0], CPU)
    first, second = halves(*official, 1)
    assert len(alone.train) + len(alone.validation) == len(first)
    np.testing.assert_array_equal(alone.test.y[0], second.y)
    together = parts.load_together(cells, CPU)
    assert together.test.y.shape == (2, len(second))
    assert (together.test.x[0] != together.test.x[1]).any()
    plain = parts.load_parts(cell(SHARED, resample=1, split_seed=1, seed=1), CPU)
    assert len(plain.test) == len(official[1]) != len(second)


def test_the_engine_deals_nothing_else():
    options = {"n": 20, "length": 12, "distance": 3}
    one = cell("range_probe", resample=1, dataset_options={**options, "deal": "thirds"})
    with pytest.raises(ValueError, match="option deal of range_probe must be one of"):
        parts.load_parts(one, CPU)
    whole = cell("range_probe", dataset_options={**options, "deal": "official"})
    assert len(parts.load_parts(whole, CPU).test) == 20
    with pytest.raises(ValueError, match="r must be an integer of at least 1, got 0"):
        parts.load_parts(cell("range_probe", dataset_options={**options, **HALVES}), CPU)
