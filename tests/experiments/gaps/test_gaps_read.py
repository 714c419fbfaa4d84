"""What true times are worth, from made-up trainings of the whole protocol."""

import numpy as np
import pytest

from posenc_book.read import results
from posenc_book.read.gaps import protocol as bench
from posenc_book.read.gaps import read as gaps

WORTH = {"none": 0.0, "sinusoidal": 0.06, "learnable": 0.04, "rotary": 0.0, "relative": 0.02}


def made(record):
    """Return a record in which times are worth `WORTH`, and one point more with each seed."""
    clock, encoding = record["settings"]["dataset_options"]["clock"], record["encoding"]
    told = clock == "times" and encoding != "none"
    gain = (WORTH[encoding] + 0.01 * record["seed"]) * told
    return {**record, "metrics": {"accuracy": 0.5 + gain}}


@pytest.fixture
def stored(monkeypatch):
    found = [made(record) for record in results.load_records(gaps.FILE)]
    monkeypatch.setattr(results, "load_records", lambda _: found)
    gaps._accuracies.cache_clear()
    yield found
    gaps._accuracies.cache_clear()


def test_versions_of_an_encoding_are_not_mixed(stored):
    settings = {**stored[0]["settings"], "encoding_source": "another"}
    stored.append({**stored[0], "key": "0" * 32, "settings": settings})
    with pytest.raises(ValueError, match=f"several versions of {stored[0]['encoding']}"):
        gaps.p_values()


@pytest.mark.usefixtures("stored")
def test_the_worth_of_a_group_is_the_mean_of_its_encodings_seed_by_seed():
    place = gaps.worth("place")
    assert place.by_set.keys() == set(bench.PROTOCOL["datasets"])
    for seeds in place.by_set.values():
        assert np.allclose(seeds, [5, 6, 7, 8, 9])
    assert place.mean == pytest.approx(7)
    assert gaps.worth("offset").mean == pytest.approx(3)
    assert gaps.worth("no encoding").mean == 0


@pytest.mark.usefixtures("stored")
def test_the_test_is_over_sets_and_corrected_for_two_groups():
    n = len(bench.PROTOCOL["datasets"]) - 1  # two sets share series
    assert gaps.worth("place").test().p_value == pytest.approx(2 / 2**n)
    assert gaps.p_values() == pytest.approx({"place": 4 / 2**n, "offset": 4 / 2**n})


def test_sets_that_share_series_are_one_unit():
    seeds = {dataset: np.zeros(5) for dataset in bench.PROTOCOL["datasets"]}
    seeds |= {"MelbournePedestrian": np.full(5, 4.0), "Chinatown": np.full(5, 2.0)}
    found = gaps.Worth(seeds)
    assert sorted(found.units) == [0.0] * 7 + [3.0]
    assert found.mean == pytest.approx(3 / 8)


@pytest.mark.usefixtures("stored")
def test_accuracies_are_per_cent_of_one_clock():
    assert gaps.accuracy("rotary", "times")["Libras"] == pytest.approx(52)
    assert gaps.accuracy("rotary", "indices")["Libras"] == pytest.approx(50)
    for wrong in (("clock", "times"), ("rotary", "hours")):
        with pytest.raises(ValueError, match="must be one of"):
            gaps.accuracy(*wrong)
    with pytest.raises(ValueError, match="group must be one of no encoding, place, offset"):
        gaps.worth("rotary")


def test_trainings_are_read_whole_or_not_at_all(stored):
    gone = stored.pop()
    with pytest.raises(ValueError, match=r"but 1 are missing, such as .*run python -m exp"):
        gaps.worth("place")
    stored.append({**gone, "protocol": "another"})
    with pytest.raises(ValueError, match="but 1 are missing"):
        gaps.worth("place")
