"""The table of all sets."""

import pytest

from posenc import data
from posenc.data.overview import overview, special

TABLE = overview()


def test_every_counted_set_has_a_row_and_the_shortest_comes_first():
    assert set(TABLE) == set(data.recorded()["sets"])
    names = list(TABLE)
    archives = names[: names.index("RoomOccupancy")]
    steps = [TABLE[name]["steps"] for name in archives]
    assert steps == sorted(steps)
    assert set(names) - set(archives) == {"RoomOccupancy", "EMGGestures", "SMD", "MSL"}


def test_counts_are_those_recorded():
    facts, row = data.recorded_facts("LSST"), TABLE["LSST"]
    assert (row["steps"], row["channels"], row["classes"]) == (36, 6, 14)
    assert (row["train"], row["test"]) == (facts.train, facts.test)


@pytest.mark.parametrize("name", TABLE)
def test_twins_and_fixed_splits_are_told(name):
    facts = data.recorded_facts(name)
    assert ("also stand" in special(name)) == (facts.repeats[2] > 0)
    assert ("official split only" in special(name)) == (data.official_only(name) is not None)
    assert "survey" not in special(name)


def test_what_was_counted_in_part_is_told():
    assert "counted: 64 of 72 recordings" in special("EMGGestures")
    assert "counted" not in special("MSL")
    assert special("Epilepsy").startswith("one training series occurs twice")


def test_every_set_has_a_source():
    assert all(row["source"] for row in TABLE.values())
    assert TABLE["Adiac"]["source"] == "Zenodo 11179788"
