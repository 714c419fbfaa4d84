"""The trainings that ask why levels differ are read whole or not at all."""

import json

import pytest

from posenc_book.read import results
from posenc_book.read.levels import protocol, read

SOURCES = {
    line["settings"]["dataset"]: line["settings"]["dataset_source"]
    for line in results.load_records(read.FILE)
}
CELLS = [
    protocol.cell(*place, seed, source=SOURCES[place[0]])
    for place in protocol.places()
    for seed in range(3)
]


def record(cell):
    settings = json.loads(json.dumps(cell.stored()))
    accuracy = (cell.seed + len(cell.input_scaling)) / 10
    return {"key": cell.key, "settings": settings, "metrics": {"accuracy": accuracy}}


@pytest.fixture
def stored(monkeypatch):
    found = [record(cell) for cell in CELLS]
    monkeypatch.setattr(results, "load_records", lambda _: found)
    return found


def test_each_place_has_its_three_resamples_in_order(stored):
    stored.reverse()
    found = read.load_levels()
    assert [*found] == protocol.places()
    assert found["LSST", "as in the benchmark", "none"] == pytest.approx([0, 0.1, 0.2])
    assert found["LSST", "heavy tails tamed", "none"] == pytest.approx([0.5, 0.6, 0.7])


def test_where_a_training_is_lacking_the_error_says_which(stored):
    del stored[-1]
    with pytest.raises(
        ValueError, match=r"of MelbournePedestrian, as in .*BatchIndexed are lacking"
    ):
        read.load_levels()


def test_one_thing_differs_from_the_first_row_at_a_time():
    first = protocol.cell("LSST", "as in the benchmark", "none", 0, source="LSST").stored()
    for change, what in protocol.CHANGES["LSST"].items():
        now = protocol.cell("LSST", change, "none", 0, source="LSST").stored()
        assert {k for k in now if now[k] != first.get(k)} == set(what)


def test_the_book_has_all_of_them_under_this_protocol():
    lines = results.load_records(read.FILE)
    assert {line["key"] for line in lines} == {cell.key for cell in CELLS}
    assert {line["protocol"] for line in lines} == {protocol.HASH}
