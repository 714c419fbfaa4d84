"""The trainings that ask why levels differ are read whole or not at all."""

import pytest

from posenc_book.read import results
from posenc_book.read.levels import protocol, read

LINES = results.load_records(read.FILE)


def made(record):
    settings = record["settings"]
    accuracy = (record["seed"] + len(settings.get("input_scaling", ""))) / 10
    return {**record, "metrics": {"accuracy": accuracy}}


@pytest.fixture
def stored(monkeypatch):
    found = [made(record) for record in LINES]
    monkeypatch.setattr(results, "load_records", lambda _: found)
    return found


def test_each_place_has_its_three_resamples_in_order(stored):
    stored.reverse()
    found = read.load_levels()
    assert [*found] == protocol.places()
    assert found["LSST", "as in the benchmark", "none"] == pytest.approx([0, 0.1, 0.2])
    assert found["LSST", "heavy tails tamed", "none"] == pytest.approx([0.5, 0.6, 0.7])


def test_where_a_training_is_lacking_the_error_says_which(stored):
    [last] = [r for r in stored if r["encoding"].endswith("BatchIndexed") and r["seed"] == 2]
    stored.remove(last)
    with pytest.raises(
        ValueError, match=r"of MelbournePedestrian, as in .*BatchIndexed are lacking"
    ):
        read.load_levels()


def test_one_thing_differs_from_the_first_row_at_a_time():
    def settings(change):
        return protocol.cell("LSST", change, "none", 0, series="LSST", code="none").stored()

    first = settings("as in the benchmark")
    for change, what in protocol.CHANGES["LSST"].items():
        now = settings(change)
        assert {k for k in now if now[k] != first.get(k)} == set(what)


def test_the_book_has_all_of_them_under_this_protocol():
    assert len(LINES) == len(protocol.places()) * protocol.PROTOCOL["seeds"]
    assert {line["protocol"] for line in LINES} == {protocol.HASH} == {"ff017a852f83"}
