"""Packed arrays in a folder of one's own take the place of source files, with their checksums."""

import numpy as np
import pytest

from posenc_book import data
from posenc_book.data import __main__ as command
from posenc_book.data import carried, checksums, packed
from posenc_book.read.classification.protocol import DATASETS


@pytest.fixture
def pack(tmp_path, monkeypatch, capsys):
    """Return a function that packs sets of a folder, and then knows the packed ones only."""
    out = tmp_path / "build" / "packed"

    def go(folder, *names):
        monkeypatch.setenv("POSENC_DATA", str(folder))
        code = command.main(["pack", "--out", str(out), *names])
        monkeypatch.setenv("POSENC_DATA", str(out))
        monkeypatch.setenv("POSENC_CACHE", str(tmp_path / "another cache"))
        monkeypatch.setenv("POSENC_OFFLINE", "1")
        return code, *capsys.readouterr()

    go.out = out
    return go


def test_a_packed_set_is_read_where_there_are_no_source_files(tiny_folder, monkeypatch, pack):
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    before, fingerprint = [data.load("Tiny", s) for s in data.SPLITS], data.fingerprint("Tiny")
    code, text, _ = pack(tiny_folder.parent, "Tiny")
    assert code == 0
    assert text.startswith(f"Tiny: {pack.out / 'Tiny.npz'}, 0.0 MiB")
    assert data.is_here("Tiny")
    assert data.fingerprint("Tiny") == fingerprint
    for split, old in zip(data.SPLITS, before, strict=True):
        new = data.load("Tiny", split)
        np.testing.assert_array_equal(new.x, old.x)
        assert new.provenance == f"{old.provenance}; read from packed arrays"
    assert command.main(["verify", "Tiny"]) == 0


def test_source_files_come_before_packed_ones(tiny_folder, pack):
    pack(tiny_folder.parent, "Tiny")
    tiny_folder.rename(pack.out / "Tiny")
    assert "packed" not in data.load("Tiny", "train").provenance


@pytest.mark.parametrize("listed", ["Tiny/Tiny_TRAIN.ts", "Tiny/Tiny_OTHER.ts"])
def test_a_set_packed_from_other_files_than_the_books_is_refused(
    tiny_folder, monkeypatch, pack, listed
):
    pack(tiny_folder.parent, "Tiny")
    monkeypatch.setattr(checksums, "known", lambda: {listed: "a" * 64})
    with pytest.raises(data.DataError, match=r"Tiny\.npz must be made from the copies of Tiny"):
        data.load("Tiny", "train")


def test_what_is_no_packed_set_is_named_and_left_alone(tiny_folder, pack):
    path = pack.out / "Tiny.npz"
    path.parent.mkdir(parents=True)
    for content in (b"mine", b""):
        path.write_bytes(content)
        code, _, err = pack(tiny_folder.parent, "Tiny")
        assert code == 1
        assert f"{path} was not written by `posenc data pack`" in err
        assert path.read_bytes() == content
        with pytest.raises(data.DataError, match="or is damaged: move it away"):
            data.load("Tiny", "train")


def test_a_packed_set_of_another_version_or_name_is_refused(tiny_folder, pack, monkeypatch):
    pack(tiny_folder.parent, "Tiny")
    path = pack.out / "Tiny.npz"
    path.with_name("Other.npz").write_bytes(path.read_bytes())
    with pytest.raises(data.DataError, match=r"Other\.npz is damaged, or no Other"):
        data.load("Other", "train")
    with monkeypatch.context() as later:
        later.setattr(packed, "VERSION", packed.VERSION + 1)
        with pytest.raises(data.DataError, match=r"Tiny\.npz was packed by another version"):
            data.load("Tiny", "train")
    whole = path.read_bytes()
    path.write_bytes(whole[:50] + b"?" * 30 + whole[80:])
    with pytest.raises(data.DataError, match=r"Tiny\.npz"):
        data.load("Tiny", "train")


def test_by_default_the_sets_of_the_protocol_are_packed(tiny_folder, pack):
    assert set(command._compared()) >= set(DATASETS)
    code, text, err = pack(tiny_folder.parent, "elevator", "no set")
    assert code == 1
    assert text == "elevator: made by a simulator, needs no files\n"
    assert "name must be" in err
    pack.out.parent.mkdir()
    pack.out.write_text("a file")
    code, _, err = pack(tiny_folder.parent, "Tiny")
    assert code == 1
    assert f"error: cannot write {pack.out / 'Tiny.npz'}" in err


def test_a_real_set_keeps_its_fingerprint(real, pack):
    pack(real, "Libras")
    assert data.fingerprint("Libras") == data.recorded()["sets"]["Libras"]["fingerprint"]
    path = carried.location(pack.out, "Libras")
    assert checksums.compare(carried.read_digests(path)) == (2, 0, [])
