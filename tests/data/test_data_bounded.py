"""Every reader refuses what is no regular file, and what takes far more memory than its size."""

import ast
import gzip
import json
import os
import re
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from readers import ARFF, BASELINE, READERS, RECORD, judged, npy, outcome

import posenc_book
from posenc_book import _files
from posenc_book.bench import baselines, ownfile
from posenc_book.data import checksums, measure
from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats import mat, text, ts
from posenc_book.records.store import Store, merge

SOURCE = Path(posenc_book.__path__[0])
HEAD = "@univariate true\n@equalLength false\n@classLabel true a\n@data\n"
MIB = 1 << 20


def strange(kind: str, path: Path) -> Path:
    """Put something there that is no regular file: a link to a device, a pipe or a folder."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(kind)
    return path


@pytest.mark.parametrize("kind", ["/dev/full", "/dev/zero", "pipe", "folder"])
@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_regular_files_only(name, kind, tmp_path):
    reader, said = READERS[name], "a device" if kind.startswith("/") else f"a {kind}"
    path = strange(kind, tmp_path / f"Tiny{reader.ending}")
    found = judged(reader, path)
    if reader.error is None:
        assert found is None  # it is made anew
    else:
        assert isinstance(found, reader.error)
        assert f"must be a regular file, is {said}" in str(found) or f"got {kind}" in str(found)


@pytest.mark.parametrize("kind", ["/dev/full", "/dev/null", "pipe", "folder"])
def test_a_writer_takes_regular_files_only(kind, tmp_path):
    path, source = strange(kind, tmp_path / "out.jsonl"), tmp_path / "in.jsonl"
    source.write_text(RECORD)
    for write in (
        lambda: Store(path).append(next(iter(Store(source)))),
        lambda: merge([source], path),
        lambda: merge([path], source),
        lambda: baselines.append(path, json.loads(BASELINE)),
        lambda: ownfile.write_own(path, "me", {}),
        lambda: measure.write_measured(path),
        lambda: measure.add("Libras", path),
        lambda: checksums.sha256(path),
        lambda: _files.replace(path, "text"),
    ):
        with pytest.raises(ValueError, match=r"out\.jsonl"):
            write()
    assert source.read_text() == RECORD
    assert not path.is_file()


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--datasets", "range_probe", "--out"],
        ["merge", "IN", "--out"],
        ["baselines", "--datasets", "range_probe", "--out"],
        ["agree", "--device", "cpu", "--out"],
        ["status"],
        ["report"],
        ["merge"],
    ],
    ids=" ".join,
)
def test_a_command_refuses_a_device_before_it_does_anything(arguments, tmp_path, capsys):
    from posenc_book.command_line import main

    source = tmp_path / "in.jsonl"
    source.write_text(RECORD)
    asked = [str(source) if one == "IN" else one for one in arguments]
    assert main([*asked, "/dev/full"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "/dev/full" in err
    assert "must be a regular file, is a device" in err


def packed(head: bytes, piece: bytes, times: int) -> bytes:
    """Return the bytes of a .gz file of many times the same."""
    pack = zlib.compressobj(9, wbits=31)
    block = piece * 1000
    parts = [pack.compress(head), *(pack.compress(block) for _ in range(times // 1000))]
    return b"".join([*parts, pack.flush()])


BOMBS = {
    "rows of a table": ("csv.gz", b"", b"0,0,0\n", 40_000_000),
    "columns of a table": ("csv.gz", b"", b"0,", 60_000_000),
    "one line": ("ts.gz", HEAD.encode(), b"11,", 20_000_000),
    "one field": ("ts.gz", HEAD.encode(), b"1", 80_000_000),
    "channels": ("ts.gz", HEAD.encode(), b":", 60_000_000),
    "class names": ("ts.gz", b"@classLabel true", b" a", 30_000_000),
    "tags": ("ts.gz", b"", b"@x y\n", 20_000_000),
    "blank lines": ("ts.gz", b"", b"\n", 60_000_000),
    "numbers": ("npy.gz", npy(np.ones((10_000_000, 4)))[:128], b"\0", 320_000_000),
}


@pytest.mark.parametrize(("name", "head", "piece", "times"), BOMBS.values(), ids=BOMBS)
def test_a_file_of_some_kilobytes_does_not_fill_the_memory(
    name, head, piece, times, tmp_path, monkeypatch
):
    """With smaller limits, and a tenth of the bomb, to be quick."""
    monkeypatch.setattr(_files, "SMALL", _files.SMALL // 10)
    monkeypatch.setitem(_files.LIMITS, "lines", 20_000)
    path = tmp_path / f"Tiny{READERS[name].ending}"
    path.write_bytes(packed(head, piece, times // 10))
    assert path.stat().st_size < 40_000
    tracemalloc.start()
    found = outcome(READERS[name], path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(found, FileFormatError)
    assert peak < 16 * MIB


MANY = HEAD.replace("true a", "true a b c d")
COUNTED = [
    (
        "lines",
        2,
        "ts.gz",
        None,
        "line 3: more than 2 lines; if that is no mistake, raise all limits",
    ),
    ("lines", 2, "arff", None, "line 3: more than 2 lines"),
    ("lines", 2, "csv.gz", gzip.compress(b"1,2,3\n" * 3, mtime=0), "line 3: more than 2 lines"),
    ("lines", 2, "segments", None, "line 3: more than 2 lines"),
    ("series", 1, "ts", None, "line 12: more than 1 series"),
    ("series", 1, "ts.gz", None, "line 12: more than 1 series"),
    ("series", 1, "arff", f"{ARFF}3,4,1\n".encode(), "line 7: more than 1 series"),
    ("columns", 3, "ts", (HEAD + "1:1:1:1:a\n").encode(), "line 5: .*more than 3 columns"),
    ("columns", 3, "ts", MANY.encode(), "line 4: .*more than 3 columns"),
    ("columns", 3, "arff", ARFF.replace("0, 1}", "0, 1, 2, 3}").encode(), "line 4: .*more than 3"),
    ("columns", 3, "segments", None, "line 2: .*more than 3 columns"),
]


@pytest.mark.parametrize(("what", "most", "name", "content", "said"), COUNTED)
def test_lines_series_and_columns_are_counted(
    what, most, name, content, said, tmp_path, monkeypatch
):
    monkeypatch.setitem(_files.LIMITS, what, most)
    path = tmp_path / f"Tiny{READERS[name].ending}"
    path.write_bytes(content or READERS[name].good)
    assert re.search(said, str(outcome(READERS[name], path)))


def test_limits_of_what_is_read_whole(tmp_path, monkeypatch):
    for what, name in (
        ("bytes", "ts"),
        ("bytes", "results"),
        ("bytes of a record", "results"),
        ("bytes of a record", "baselines"),
        ("bytes of an array", "mat"),
        ("bytes of an array", "npy"),
    ):
        path = tmp_path / f"Tiny{READERS[name].ending}"
        path.write_bytes(READERS[name].good)
        with monkeypatch.context() as patched:
            patched.setitem(_files.LIMITS, what, 50)
            assert "50" in str(outcome(READERS[name], path))
            patched.setenv(_files.SETTING, "1000")
            assert not isinstance(outcome(READERS[name], path), Exception)
    path.write_text('{"made_by": "me"}')
    monkeypatch.setitem(_files.LIMITS, "bytes of a document", 10)
    with pytest.raises(ValueError, match="more than 10 bytes of a document"):
        _files.text(path)


def test_what_is_compressed_in_a_mat_file_or_in_arrays_is_counted(tmp_path, monkeypatch):
    from scipy.io import savemat

    monkeypatch.setattr(_files, "SMALL", 10_000)
    path = tmp_path / "a.mat"
    savemat(path, {"adl_data": np.zeros((100_000, 4))}, do_compression=True)
    with pytest.raises(FileFormatError, match=r"a\.mat.* bytes unpack to more than"):
        mat.read_mat(path, "adl_data", 4)
    from posenc_book.data import carried

    path = tmp_path / "a.npz"
    np.savez_compressed(path, train_x=np.zeros((100_000, 4)))
    with pytest.raises(ValueError, match=r"a\.npz .* bytes unpack to more than"):
        carried.read_digests(path)


@pytest.mark.parametrize("setting", ["0.5", "much", "-1", "nan", "1e9"])
def test_a_wrong_setting_of_the_limits_is_named(setting, monkeypatch):
    monkeypatch.setenv(_files.SETTING, setting)
    with pytest.raises(ValueError, match=f"POSENC_LIMITS must be a number from 1 .*'{setting}'"):
        _files.most("lines")


def test_a_byte_that_is_no_text_is_found_in_its_line(tmp_path):
    path = tmp_path / "Tiny.ts"
    path.write_bytes(HEAD.encode() + b"1:a\n" * 1000 + b"1\xff:a\n" + b"1:a\n" * 1000)
    with pytest.raises(FileFormatError, match="line 1005: not UTF-8 text"):
        ts.read_ts(path)


def test_a_long_line_is_read_in_pieces_to_the_same_numbers(tmp_path, monkeypatch):
    values = np.random.default_rng(0).normal(size=1000)
    row = ",".join(map(repr, values.tolist()))
    monkeypatch.setattr(text, "PIECE", 100)
    np.testing.assert_array_equal(text.numbers(tmp_path, 1, row, missing=False), values)
    with pytest.raises(FileFormatError, match=r"line 1: expected a number or \?, got 'x'"):
        text.numbers(tmp_path, 1, row + ",x", missing=False)


# What opens files in another way, and why.
ELSEWHERE = {
    "data/archives.py": "writes what an archive holds, after its members were counted",
    "data/lock.py": "a lock",
    "records/locks.py": "locks",
    "records/store.py": "appends, after Store has looked what is there",
    "bench/memory.py": "the kernel's account of a process",
    "bench/build.py": "the code of an encoding that was imported",
    "data/packed.py": "arrays of a file that _files has opened",
}


def opens(path: Path) -> bool:
    """Return whether a module opens a file in order to read it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        modes = [one.value for one in node.args if isinstance(one, ast.Constant)]
        writes = {"w", "wb", "a"} & set(modes)
        if name.endswith((".read_text", ".read_bytes", "np.load", "os.open", "gzip.open")):
            return True
        if name in ("open", "path.open", "content.open") and not writes:
            return True
    return False


ROOMS = ("data", "records", "bench", "forecast", "capstone", "statistics", "read", "guide")


def test_no_other_module_opens_files_for_reading():
    found = {
        path.relative_to(SOURCE).as_posix()
        for room in [
            "data",
            "records",
            "bench",
            "forecast",
            "capstone",
            "statistics",
            "read",
            "guide",
        ]
        for path in (SOURCE / room).rglob("*.py")
        if opens(path)
    }
    assert found == set(ELSEWHERE)
