"""The table of all sets."""

import pytest

from posenc_book import data
from posenc_book.data.overview import overview, special

TABLE = overview()


def test_every_counted_set_has_a_row_and_the_shortest_comes_first():
    assert set(TABLE) == set(data.recorded()["sets"])
    names = list(TABLE)
    archives = names[: names.index("RoomOccupancy")]
    steps = [TABLE[name]["steps"] for name in archives]
    assert steps == sorted(steps)
    assert set(names) - set(archives) == {"RoomOccupancy", "EMGGestures", "SMD", "MSL"}


@pytest.mark.parametrize("name", TABLE)
def test_twins_and_fixed_splits_are_told(name):
    facts = data.recorded_facts(name)
    assert ("also stand" in special(name)) == (facts.repeats[2] > 0)
    assert ("official split only" in special(name)) == (data.official_only(name) is not None)
    assert "survey" not in special(name)


def test_facts_tell_padding_from_missing_values(tmp_path, monkeypatch):
    header = "@problemName Uneven\n@missing true\n@univariate true\n@equalLength false\n"
    body = "@classLabel true a b\n@data\n1,2,3,4:a\n1,?,3:b\n1,2:a\n"
    folder = tmp_path / "Uneven"
    folder.mkdir()
    for part in ("TRAIN", "TEST"):
        (folder / f"Uneven_{part}.ts").write_text(header + body)
    monkeypatch.setenv("POSENC_DATA", str(tmp_path))
    found = data.facts("Uneven")
    assert found.lengths == ((2, 4), (2, 4))
    assert found.masked_steps == (4, 4)
    assert found.missing_steps == (1, 1)
    assert "padding after the last step: 3 + 3" in str(found)
    assert "2 to 4 + 2 to 4" in str(found)
