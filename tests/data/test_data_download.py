"""Downloads over a local server that is slow, cut short, wrong or lying, and processes that die."""

import hashlib
import io
import stat
import types
import zipfile

import numpy as np
import pytest
from datafiles import TINY_TEST, TINY_TRAIN, make_zip

from posenc_book import data
from posenc_book.data import archives, bounded, download, packed
from posenc_book.data.download import Url, Zenodo


def leftovers(cache):
    """Every file in the cache that is neither a lock nor a packed array."""
    return [
        path
        for path in cache.rglob("*")
        if path.is_file() and path.parent.name not in ("locks", "packed")
    ]


def good(server, tiny_zip, manner=""):
    server.put("Tiny.zip", tiny_zip)
    return f"{server.url}/{manner}/Tiny.zip" if manner else f"{server.url}/Tiny.zip"


@pytest.mark.parametrize("manner", ["", "slow", "redirect"])
def test_good_downloads(server, tiny_zip, register, own_cache, manner):
    digest = hashlib.sha256(tiny_zip).hexdigest()
    register(Url(good(server, tiny_zip, manner), digest))
    assert data.load("Tiny", "train").x.shape == (3, 3, 2)
    assert data.load("Tiny", "test").y.tolist() == [1, 1, 0]
    hits = 2 if manner == "redirect" else 1
    assert len(server.hits) == hits  # the second load needed no network
    assert sorted(path.name for path in leftovers(own_cache)) == ["Tiny_TEST.ts", "Tiny_TRAIN.ts"]


def test_a_lie_about_the_checksum_is_refused(server, tiny_zip, register, own_cache):
    register(Url(good(server, tiny_zip), hashlib.sha256(b"other").hexdigest()))
    with pytest.raises(data.MissingDataError, match="hash"):
        data.load("Tiny", "train")
    assert leftovers(own_cache) == []


def test_a_failing_host_is_tried_again(server, tiny_zip, register, monkeypatch):
    waits = []
    monkeypatch.setattr("pooch.core.time", types.SimpleNamespace(sleep=waits.append))
    register(Url(good(server, tiny_zip)))
    monkeypatch.setattr(download, "RETRIES", 2)
    server.failures = 2
    assert len(data.load("Tiny", "train")) == 3
    assert len(server.hits) == 3
    assert len(waits) == 2


@pytest.mark.parametrize(
    ("limit", "value", "manner", "said"),
    [("SECONDS", 0.3, "drip", "not there after"), ("MAX_BYTES", 100, "", "more than 0 MiB")],
)
def test_a_download_without_an_end_is_given_up_and_the_next_source_tried(
    server, tiny_zip, register, own_cache, monkeypatch, limit, value, manner, said
):
    url = good(server, tiny_zip, manner)
    with monkeypatch.context() as short:
        short.setattr(bounded, limit, value)
        register(Url(url))
        with pytest.raises(data.MissingDataError, match=said):
            data.load("Tiny", "train")
    assert len(server.hits) == 1  # a limit is no fault that another try would mend
    assert leftovers(own_cache) == []
    register(Url(f"{server.url}/404/Tiny.zip"), Url(good(server, tiny_zip)))
    assert len(data.load("Tiny", "train")) == 3


def test_all_faults_are_told(server, register):
    register(Url(f"{server.url}/404/a.zip"), Url(f"{server.url}/404/b.zip"))
    with pytest.raises(data.MissingDataError, match=r"a\.zip: 404 .*b\.zip: 404 "):
        data.load("Tiny", "train")


def test_zenodo_and_its_checksums(zenodo, register, own_cache):
    files = {"Tiny_TRAIN.ts": TINY_TRAIN.encode(), "Tiny_TEST.ts": TINY_TEST.encode()}
    source = Zenodo(7, tuple(files))
    register(source)
    zenodo(files, lie=True)
    with pytest.raises(data.MissingDataError, match="hash"):
        data.load("Tiny", "train")
    assert leftovers(own_cache) == []
    zenodo(files)
    assert len(data.load("Tiny", "train")) == 3


@pytest.mark.parametrize(("name", "other"), [("Tiny", "readme.md"), ("Tiny_disc", "Tiny.zip")])
def test_zenodo_with_a_zip(zenodo, register, name, other):
    files = (f"{name}_TRAIN.ts", f"{name}_TEST.ts")
    whole = make_zip(dict(zip(files, (TINY_TRAIN, TINY_TEST), strict=True)))
    register(Zenodo(7, files), name=name)
    zenodo({f"{name}.zip": whole, other: b"something else"})
    assert len(data.load(name, "train")) == 3


def test_zenodo_without_the_files(zenodo, register, server):
    register(Zenodo(7, ("Tiny_TRAIN.ts", "Tiny_TEST.ts")))
    zenodo({"readme.md": b"hello"})
    with pytest.raises(data.MissingDataError, match="readme"):
        data.load("Tiny", "train")
    server.files["7"] = b'{"message": "gone"}'
    with pytest.raises(data.MissingDataError, match="zenodo"):
        data.load("Tiny", "train")


@pytest.mark.parametrize("answer", [b"{", b"[]", b'{"files": [{"key": "a"}]}', b'{"files": 3}'])
def test_zenodo_that_answers_otherwise_is_given_up(register, server, tiny_zip, monkeypatch, answer):
    monkeypatch.setattr(download, "API", f"{server.url}/records")
    server.files["7"] = answer
    listing = Zenodo(7, ("Tiny_TRAIN.ts", "Tiny_TEST.ts"))
    register(listing)
    with pytest.raises(data.MissingDataError, match="is not the list of a record's files"):
        data.load("Tiny", "train")
    register(listing, Url(good(server, tiny_zip)))
    assert len(data.load("Tiny", "train")) == 3


@pytest.mark.parametrize(
    ("limit", "value", "manner", "said"),
    [("SECONDS", 0.3, "drip/", "not there after"), ("MAX_LISTING", 9, "", "more than 0 MiB")],
)
def test_a_list_of_files_without_an_end_is_given_up(
    zenodo, register, server, monkeypatch, limit, value, manner, said
):
    zenodo({"Tiny_TRAIN.ts": b"", "Tiny_TEST.ts": b""})
    monkeypatch.setattr(download, "API", f"{server.url}/{manner}".rstrip("/"))
    monkeypatch.setattr(bounded if limit == "SECONDS" else download, limit, value)
    register(Zenodo(7, ("Tiny_TRAIN.ts", "Tiny_TEST.ts")))
    with pytest.raises(data.MissingDataError, match=said):
        data.load("Tiny", "train")
    assert len(server.hits) == 1


def test_offline_says_what_to_fetch_and_where_to_put_it(register, monkeypatch, own_cache):
    register(Url("https://example.org/Tiny.zip"))
    place = str(own_cache / "sets" / "Tiny")
    for offline in ("", "1"):
        monkeypatch.setenv("POSENC_OFFLINE", offline)
        with pytest.raises(data.MissingDataError) as caught:
            data.load("Tiny", "train")
        assert "https://example.org/Tiny.zip" in str(caught.value)
        assert place in str(caught.value)


def test_killed_in_the_middle_of_a_download(server, tiny_zip, register, own_cache, python):
    process = python(good(server, tiny_zip, "stall"), "load('Tiny', 'train')\n")
    assert server.half_sent.wait(600)
    process.kill()
    process.communicate()
    assert not (own_cache / "sets" / "Tiny").exists()
    register(Url(good(server, tiny_zip)))
    assert len(data.load("Tiny", "train")) == 3  # the dead process holds no lock
    assert sorted(path.name for path in leftovers(own_cache)) == ["Tiny_TEST.ts", "Tiny_TRAIN.ts"]


def test_two_processes_at_once(server, tiny_zip, own_cache, python):
    code = "print(load('Tiny', 'train').x.sum(), load('Tiny', 'test').x.sum())\n"
    url = good(server, tiny_zip, "slow")
    answers = [one.communicate(timeout=600) for one in [python(url, code) for _ in range(2)]]
    assert [error for _, error in answers] == ["", ""]
    assert answers[0] == answers[1]
    assert len(server.hits) == 1  # the second waited for the first
    assert len(list((own_cache / "packed").iterdir())) == 1


FULL = """
import resource, warnings
warnings.simplefilter("always")
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
try:
    print(len(load("Tiny", "train")))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_full_disk_during_the_download(server, own_cache, python):
    noise = np.random.default_rng(0).bytes(50_000)
    url = server.put("Tiny.zip", make_zip({"Tiny_TRAIN.ts": TINY_TRAIN, "noise": noise}))
    output, _ = python(url, FULL.format(limit=20_000)).communicate(timeout=600)
    assert output.startswith("MissingDataError")
    assert "cannot write to the cache" in output
    assert leftovers(own_cache) == []


def test_a_full_disk_while_packing(server, tiny_zip, own_cache, python):
    url = good(server, tiny_zip)
    output, errors = python(url, FULL.format(limit=1500)).communicate(timeout=600)
    assert output == "3\n"  # the answer is right all the same
    assert "cannot keep the packed arrays" in errors
    assert list((own_cache / "packed").iterdir()) == []


def test_a_cache_that_cannot_be_written(tiny_folder, monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    monkeypatch.setenv("POSENC_CACHE", str(blocked))
    with pytest.warns(UserWarning, match="cannot keep the packed arrays"):
        assert len(data.load("Tiny", "train")) == 3


def link_zip():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        member = zipfile.ZipInfo("Tiny_TRAIN.ts")
        member.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(member, "/etc/passwd")
    return buffer.getvalue()


def encrypted_zip():
    content = bytearray(make_zip({"Tiny_TRAIN.ts": "x"}))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flags of a member
        content[content.index(mark) + place] |= 1
    return bytes(content)


def nameless_zip():
    content = bytearray(make_zip({"Q": "x"}))
    central, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    content[end + 12] -= 1  # the size of the directory
    content[end + 16] -= 1  # and its place
    del content[central + 46]
    content[central + 28] = 0
    del content[30]
    content[26] = 0
    return bytes(content)


def broken_zip(method):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("noise", np.random.default_rng(0).bytes(2000))
    content = bytearray(buffer.getvalue())
    content[60:80] = bytes(20)
    return bytes(content)


HOSTILE = {
    "encrypted": (encrypted_zip(), "'Tiny_TRAIN.ts' is encrypted"),
    "no name": (nameless_zip(), "a name that no file can have"),
    "a dot": (make_zip({".": "x"}), "a name that no file can have"),
    "long name": (make_zip({"n" * 300: "x"}), "a name that no file can have"),
    "long path": (make_zip({"a": "", 20 * f"{'b' * 250}/" + "b": ""}), "a path that no file can"),
    "nested": (make_zip({"d/" * 1500 + "f": "x"}), "1501 folders deep"),
    "climbs out": (make_zip({"good.txt": "1", "../../evil.txt": "x"}), "would leave"),
    "absolute": (make_zip({"/evil.txt": "x"}), "would leave"),
    "drive": (make_zip({"C:/evil.txt": "x"}), "would leave"),
    "backslashes": (make_zip({"..\\evil.txt": "x"}), "would leave"),
    "link": (link_zip(), "is a link"),
    "no archive": (b"PK\x03\x04 nonsense", "not a usable zip"),
    "empty": (b"", "not a usable zip"),
}


@pytest.mark.parametrize(("content", "message"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_archives(tmp_path, content, message):
    archive, folder = tmp_path / "a.zip", tmp_path / "deep" / "in"
    archive.write_bytes(content)
    folder.mkdir(parents=True)
    with pytest.raises(data.ArchiveError, match=message):
        archives.unpack(archive, folder)
    assert list(folder.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "deep"]


@pytest.mark.parametrize(
    ("manner", "content", "said"),
    [
        ("404", None, "404"),
        ("500", None, "500"),
        ("truncate", None, ""),
        ("stall", None, ""),
        ("", make_zip({"other.txt": "1"}), ": downloaded, but the expected files are not in it"),
        ("", b"<html>please log in</html>", ": not a usable zip archive"),
        ("", broken_zip(zipfile.ZIP_LZMA), ": not a usable zip archive"),
        ("", broken_zip(zipfile.ZIP_BZIP2), ": not a usable zip archive"),
        ("", make_zip({"a": "1", "a/b": "2"}), ": not a usable zip archive"),
        ("", make_zip({"a/b": "1", "a": "2"}), ": not a usable zip archive"),
        ("", HOSTILE["long path"][0], ": .* a path that no file can have"),
    ],
)
def test_a_bad_download_leaves_nothing_and_the_next_source_is_tried(
    server, tiny_zip, register, own_cache, monkeypatch, manner, content, said
):
    server.put("Bad.zip", content or tiny_zip)
    bad = Url(f"{server.url}/{manner}/Bad.zip")
    register(bad)
    with monkeypatch.context() as short:
        if manner == "stall":
            short.setattr(bounded, "SILENCE", 0.5)
        with pytest.raises(data.MissingDataError, match=rf"Bad\.zip.*{said}") as caught:
            data.load("Tiny", "train")
        assert "put the files into" in str(caught.value)
        assert leftovers(own_cache) == []
        register(bad, Url(good(server, tiny_zip)))
        assert len(data.load("Tiny", "train")) == 3


def test_too_many_members(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "MAX_MEMBERS", 2)
    (tmp_path / "a.zip").write_bytes(make_zip({"a": "", "b": "", "c": ""}))
    with pytest.raises(data.ArchiveError, match="has 3 members, over 2"):
        archives.unpack(tmp_path / "a.zip", tmp_path / "out")


def test_bombs_and_damaged_members(tmp_path, monkeypatch):
    archive = tmp_path / "a.zip"
    archive.write_bytes(make_zip({"zeros": bytes(100_000)}))
    monkeypatch.setattr(archives, "MAX_BYTES", 99_999)
    with pytest.raises(data.ArchiveError, match="would unpack to"):
        archives.unpack(archive, tmp_path)
    monkeypatch.undo()
    content = bytearray(make_zip({"noise": np.random.default_rng(0).bytes(1000)}))
    content[500] ^= 255
    archive.write_bytes(content)
    with pytest.raises(data.ArchiveError, match="not a usable zip"):
        archives.unpack(archive, tmp_path / "out")


def test_damaged_packed_arrays_are_made_anew(tiny_folder, monkeypatch, own_cache):
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    expected = data.load("Tiny", "train").x
    (path,) = (own_cache / "packed").iterdir()
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[len(damaged) // 2] ^= 255
    for content in (b"", b"nonsense", whole[: len(whole) // 2], bytes(damaged)):
        path.write_bytes(content)
        np.testing.assert_array_equal(data.load("Tiny", "train").x, expected)
        assert packed.read_packed(path, "train") is not None


def test_a_changed_source_is_never_answered_with_old_arrays(tiny_folder, monkeypatch):
    monkeypatch.setenv("POSENC_DATA", str(tiny_folder.parent))
    assert data.load("Tiny", "train").x[0, 0, 0] == 1
    changed = TINY_TRAIN.replace("1,2,3", "8,2,3")
    (tiny_folder / "Tiny_TRAIN.ts").write_text(changed)
    assert data.load("Tiny", "train").x[0, 0, 0] == 8


def test_the_lock_waits_and_gives_up(own_cache):
    from posenc_book.data import lock

    path = own_cache / "one.lock"
    with (
        lock.hold(path),
        pytest.raises(data.DataError, match="another process"),
        lock.hold(path, timeout=0.1),
    ):
        pass
    with lock.hold(path, timeout=0):
        pass
