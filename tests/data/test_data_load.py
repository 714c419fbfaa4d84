"""Names, search order, provenance, the command line, and what an import costs."""

import importlib
import subprocess
import sys

import numpy as np
import pytest
from datafiles import TINY_TRAIN

from posenc_book import data
from posenc_book.data import checksums, registry
from posenc_book.data.__main__ import main
from posenc_book.data.download import Url
from posenc_book.data.errors import DataError
from posenc_book.data.load import GROUPS
from posenc_book.data.synthetic import FAMILIES


def test_names_come_group_by_group():
    groups = {group: data.names(group) for group in GROUPS}
    assert set(groups) == {*registry.ROLES, "bundled", "synthetic"}
    assert [name for listed in groups.values() for name in listed] == data.names()
    assert set(groups["survey"]) == {one.name for one in registry.ENTRIES.values() if one.printed}
    assert groups["anomaly"] == ["MSL", "SMD"]
    assert "Chinatown" in groups["stand-in"]
    assert "Computers" in groups["archive"]
    assert set(groups["synthetic"]) == set(FAMILIES)
    assert "GunPoint" in groups["bundled"]
    assert all(listed == sorted(listed, key=str.lower) for listed in groups.values())


def test_every_entry_says_where_to_get_it():
    for entry in registry.ENTRIES.values():
        assert entry.sources
        assert all(str(part).startswith("http") for source in entry.sources for part in source)
        assert entry.page.startswith("http")
        assert entry.terms


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ('role = "survye"', "Mine: role must be one of survey, .* did you mean 'survey'"),
        ('layout = "csv"', "Mine: layout must be one of archive, emg"),
        ('notes = "one"', "Mine: notes must be a list of texts, got 'one'"),
        ("printed = { train = 3 }", "Mine, printed: test is missing"),
        ("record = ", "Invalid value"),
    ],
)
def test_an_error_in_the_list_of_sets_names_file_set_and_field(tmp_path, stored, message):
    path = tmp_path / "mine.toml"
    path.write_text(f"[Mine]\n{stored}\n")
    with pytest.raises(ValueError, match=rf"mine\.toml.*{message}"):
        registry._entries(path)


def test_unknown_names_suggest_close_ones():
    with pytest.raises(data.UnknownDatasetError, match=r"did you mean .*Chinatown"):
        data.load("Chinatwon", "train")
    with pytest.raises(data.UnknownDatasetError, match="names"):
        data.load("q9", "train")


def test_without_aeon_any_set_of_the_archives_is_asked_for_at_their_own_page(monkeypatch):
    """On Colab, which has no aeon: the chapter on data sets loads JapaneseVowels there."""
    module = importlib.import_module("posenc_book.data.load")
    monkeypatch.setattr(module, "_zenodo_records", dict)
    monkeypatch.setattr(module.folders, "bundled", lambda: None)
    ((page,),) = module.find_entry("JapaneseVowels").sources
    assert str(page) == "https://timeseriesclassification.com/aeon-toolkit/JapaneseVowels.zip"
    with pytest.raises(data.UnknownDatasetError, match=r"did you mean .*Chinatown"):
        data.load("Chinatwon", "train")


def test_options_are_checked():
    with pytest.raises(ValueError, match="option of BasicMotions must be one of clock, lost, seed"):
        data.load("BasicMotions", "train", n=3)
    with pytest.raises(ValueError, match="option of range_probe must be one of distance"):
        data.load("range_probe", "train", lost=0.5)
    with pytest.raises(ValueError, match="option lost must say which share"):
        data.load("BasicMotions", "train", clock="times", seed=1)


def test_any_archive_name_that_aeon_knows_is_found_out_about(monkeypatch):
    monkeypatch.setenv("POSENC_OFFLINE", "1")
    with pytest.raises(data.MissingDataError, match=r"zenodo.org/records/\d+ or https"):
        data.load("Beef", "train")


def test_search_order(tiny_folder, monkeypatch, own_cache):
    first = tiny_folder.parent
    second = own_cache / "sets" / "Tiny"
    second.mkdir(parents=True)
    for part in ("TRAIN", "TEST"):
        (second / f"Tiny_{part}.ts").write_text(TINY_TRAIN.replace("1,2,3", "5,2,3"))
    assert data.load("Tiny", "train").x[0, 0, 0] == 5
    monkeypatch.setenv("POSENC_DATA", str(first))
    assert data.load("Tiny", "train").x[0, 0, 0] == 1
    (first / "Tiny" / "Tiny_TEST.ts").unlink()  # an incomplete set does not count
    assert data.load("Tiny", "train").x[0, 0, 0] == 5


def test_bundled_sets_need_no_network(monkeypatch):
    monkeypatch.setenv("POSENC_OFFLINE", "1")
    motions = data.load("BasicMotions", "train")
    assert motions.x.shape == (40, 100, 6)
    train, test = (data.load("JapaneseVowels", split) for split in data.SPLITS)
    assert test.x.shape == (370, 29, 12)
    assert train.length == 29  # padded, as its longest series has 26 steps
    assert [part.mask.sum(axis=1).max() for part in (train, test)] == [26, 29]
    assert test.mask.any(axis=1).all()


def test_packed_and_fresh_loads_are_equal():
    fresh, again = (data.load("JapaneseVowels", "train") for _ in range(2))
    assert fresh.classes == again.classes
    assert fresh.provenance == again.provenance
    for field in ("x", "y", "mask"):
        np.testing.assert_array_equal(getattr(fresh, field), getattr(again, field))
        assert getattr(fresh, field).dtype == getattr(again, field).dtype


def test_provenance_says_what_is_unknown_or_different(tiny_folder, monkeypatch):
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    assert "2 unknown to this book" in data.load("Tiny", "train").provenance
    fake = tiny_folder.parent / "LSST"
    tiny_folder.rename(fake)
    for path in fake.iterdir():
        path.rename(fake / path.name.replace("Tiny", "LSST"))
    provenance = data.load("LSST", "train").provenance
    assert "2 DIFFERENT from the copies this book used (LSST/LSST_TRAIN.ts" in provenance


def test_mismatched_train_and_test(tiny_folder, monkeypatch):
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    test = tiny_folder / "Tiny_TEST.ts"
    test.write_text(TINY_TRAIN.replace("Up down", "down Up"))
    with pytest.raises(data.FileFormatError, match=r"Tiny_TEST.ts: classes .* differ"):
        data.load("Tiny", "train")


def test_a_class_that_the_training_part_does_not_hold(tiny_folder, monkeypatch):
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    train = tiny_folder / "Tiny_TRAIN.ts"
    train.write_text(TINY_TRAIN.replace(":down", ":Up"))
    with pytest.raises(data.FileFormatError, match=r"class 'down' does not occur in Tiny_TRAIN.ts"):
        data.load("Tiny", "train")
    (tiny_folder / "Tiny_TEST.ts").write_text(
        TINY_TRAIN.replace(":down", ":Up").replace("1,1,1:2,2,2:Up", "\n# so\n1,1,1:2,2,2:down")
    )
    with pytest.raises(data.FileFormatError) as caught:
        data.load("Tiny", "test")
    assert (caught.value.path.name, caught.value.line) == ("Tiny_TEST.ts", 15)
    train.write_text(TINY_TRAIN)
    assert data.load("Tiny", "test").y.tolist() == [0, 0, 1]


def test_a_class_without_any_series_is_no_fault(tiny_folder, monkeypatch):
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    for part in tiny_folder.iterdir():
        part.write_text(part.read_text().replace("Up down", "Up down sideways"))
    assert data.load("Tiny", "test").n_classes == 3


@pytest.mark.parametrize("name", data.names("bundled"))
def test_every_bundled_set_loads(name):
    train, test = data.load(name, "train"), data.load(name, "test")
    assert set(test.y) <= set(train.y)


def test_checksums_are_entered_once_and_never_changed(tmp_path):
    path = tmp_path / "sums"
    path.write_text(f"{'a' * 64}  Old/Old_TRAIN.ts\n")
    new = {"New/New_TRAIN.ts": "b" * 64, "Old/Old_TRAIN.ts": "a" * 64}
    assert checksums.add(new, path) == 1
    assert checksums.add(new, path) == 0
    written = [f"{'a' * 64}  Old/Old_TRAIN.ts", f"{'b' * 64}  New/New_TRAIN.ts"]
    assert path.read_text().splitlines() == written
    with pytest.raises(DataError, match=r"Old/Old_TRAIN\.ts: listed with the sum a+, this file"):
        checksums.add({"Old/Old_TRAIN.ts": "c" * 64}, path)


def test_import_brings_neither_torch_nor_aeon():
    code = (
        "import sys, posenc_book.data; posenc_book.data.load('range_probe', 'train');"
        "print({'torch', 'aeon', 'pooch', 'matplotlib', 'pandas'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


def test_list(capsys):
    assert main([]) == 0
    listed = capsys.readouterr().out
    assert all(f"{group}: {purpose}" in listed for group, purpose in GROUPS.items())
    assert all(name in listed for name in data.names())
    assert "made by a simulator" in listed


def test_fetch(register, server, tiny_zip, capsys):
    register(Url(server.put("Tiny.zip", tiny_zip)))
    assert main(["fetch", "Tiny", "elevator"]) == 0
    assert main(["fetch", "Tiny"]) == 0
    assert len(server.hits) == 1
    assert "Tiny: cache:" in capsys.readouterr().out
    assert main(["fetch", "Tinny"]) == 1
    assert "no data set 'Tinny'" in capsys.readouterr().err


def test_verify(tiny_folder, monkeypatch, capsys):
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    assert main(["verify", "Tiny", "elevator"]) == 0
    assert "Tiny: 0 agree, 2 unknown, 0 differ" in capsys.readouterr().out
    fake = tiny_folder.parent / "LSST"
    fake.mkdir()
    (fake / "LSST_TRAIN.ts").write_text(TINY_TRAIN)
    (fake / "LSST_TEST.ts").write_text(TINY_TRAIN)
    assert main(["verify", "LSST"]) == 1
    assert "differs: LSST/LSST_TRAIN.ts" in capsys.readouterr().out
    assert main(["verify", "Sleep"]) == 1


def test_info_shows_printed_and_counted_numbers(capsys):
    assert main(["info", "BasicMotions", "elevator"]) == 0
    shown = capsys.readouterr().out
    assert "Badminton: 10 + 10" in shown
    assert "synthetic" in shown
    rows = data.facts("BasicMotions").table()
    assert rows[0] == ("train", None, 40, None)


@pytest.mark.parametrize("lost", ["TRAIN", "TEST"])
def test_half_a_set_is_told_from_none(tiny_folder, monkeypatch, capsys, lost):
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    missing = tiny_folder / f"Tiny_{lost}.ts"
    missing.unlink()
    assert main(["info", "Tiny"]) == 1
    assert f"{missing} is not there" in capsys.readouterr().err


def test_half_a_known_set_is_told_too(tiny_folder, monkeypatch, register):
    register(Url("https://example.org/Tiny.zip"))
    monkeypatch.setenv("POSENC_OFFLINE", "1")
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    (tiny_folder / "Tiny_TEST.ts").unlink()
    with pytest.raises(data.MissingDataError, match=r"Tiny_TEST\.ts would make it whole"):
        data.load("Tiny", "train")


def test_nobody_calls_an_own_set_official(tiny_folder, monkeypatch, capsys):
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    assert main(["info", "Tiny"]) == 0
    shown = capsys.readouterr().out
    assert "provenance: train part, from files of one's own" in shown
    assert "official" not in shown
    assert "timeseriesclassification" not in shown
    assert data.load("Tiny", "test").provenance.startswith("test part, from")
    assert main(["info", "BasicMotions"]) == 0
    assert "official train part" in capsys.readouterr().out


def test_a_cell_can_ask_whether_a_set_can_be_had_and_says_what_is_missing(monkeypatch, capsys):
    assert data.can_load("elevator")
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("POSENC_OFFLINE", "1")
    assert not data.can_load("Sleep")
    assert "data set Sleep is not here" in capsys.readouterr().out
    with pytest.raises(data.UnknownDatasetError):
        data.can_load("no name")
