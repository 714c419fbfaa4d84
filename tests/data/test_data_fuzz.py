"""Whatever bytes a reader gets, it gives a value or the package's own error, and soon.

Files in order are damaged at random: bytes are changed, cut out, doubled, and put in from a list of
what readers stumble over. POSENC_FUZZ says how many damaged files each reader gets.
"""

import gzip
import io
import os
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from datafiles import TINY_TEST, TINY_TRAIN, make_zip
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from posenc.bench import baselines
from posenc.bench.grid import parse
from posenc.bench.store import Store
from posenc.data import archives, packed
from posenc.data.dataset import Dataset
from posenc.data.errors import ArchiveError, FileFormatError
from posenc.data.formats import arff, array, mat, table, ts
from posenc.data.sets import archive, msl, room

EXAMPLES = int(os.environ.get("POSENC_FUZZ", "40"))
SECONDS = 5.0  # for one file of a few kilobytes, on a machine that does other things, too
STUMBLING = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xd9\xa1", b"\r", b"\n", b'"', b"'", b",",
    b":", b"@", b"{", b"}", b"{" * 3000, b"[" * 3000, b"(" * 3000, b"-" * 3000, b"9" * 5000, b"#",
    b"1e400", b"-1", b"nan", b"inf", b"?", b"1_0", b"%", b"e", b"*a", b"null", b"true", b"@data\n",
    b"@classLabel true a a\n", b"@seriesLength 999999999\n", b"9" * 20, b"x" * 140_000,
)  # fmt: skip


def store(path: Path) -> list[dict]:
    """Read a file of results twice, as the engine does and as tables do."""
    one = Store(path)
    one.refresh()
    return list(one)


def npy(values: np.ndarray) -> bytes:
    """Return the bytes of an array file."""
    buffer = io.BytesIO()
    np.save(buffer, values)
    return buffer.getvalue()


def matlab() -> bytes:
    """Return the bytes of a file of MATLAB."""
    from scipy.io import savemat

    buffer = io.BytesIO()
    savemat(buffer, {"adl_data": np.ones((3, 4))})
    return buffer.getvalue()


def arrays() -> bytes:
    """Return the bytes of a packed data set."""
    x, y = np.zeros((2, 3, 1), np.float32), np.array([0, 1])
    buffer = io.BytesIO()
    np.savez(buffer, **packed._arrays({"train": Dataset(x, y, ("a", "b"), "Tiny", "made")}))
    return buffer.getvalue()


def unpack(path: Path) -> None:
    """Unpack an archive beside itself."""
    archives.unpack(path, path.parent / "unpacked")


def pair(path: Path) -> dict:
    """Read a file as both parts of a set."""
    return archive.build([path, path], "Tiny")


HEADER = '{"key":"%s","encoding":"none","model":"patch","dataset":"a","seed":0,"profile":"smoke",'
RECORD = HEADER % ("0f" * 16) + (
    '"metrics":{"accuracy":0.5},"settings":{},"versions":{},"device":"cpu","seconds":1.5}\n'
)
BASELINE = (
    '{"dataset":"a","fingerprint":"f","baseline":"b","resample":0,"settings":{},"n_train":1,'
    '"n_test":1,"metrics":{},"versions":{},"seconds":1.0}\n'
)
ARFF = "@relation x\n@attribute a numeric\n@attribute b real\n@attribute c {0, 1}\n@data\n1,2,0\n"
SEGMENTS = (
    "chan_id,spacecraft,anomaly_sequences,class,num_values\n"
    'M-1,MSL,"[[1, 5], [7, 9]]",[point],20\nP-1,SMAP,"[[1, 5]]",[point],20\n'
)


@dataclass(frozen=True)
class Reader:
    """A reader of files, a file in order, and the error that it may give."""

    read: Callable[[Path], object]
    good: bytes
    ending: str
    error: type[Exception] | None = FileFormatError


READERS = {
    "ts": Reader(ts.read_ts, TINY_TRAIN.encode(), ".ts"),
    "ts.gz": Reader(ts.read_ts, gzip.compress(TINY_TEST.encode()), ".ts.gz"),
    "both parts": Reader(pair, TINY_TRAIN.encode(), ".ts"),
    "arff": Reader(arff.read_series, ARFF.encode(), ".arff"),
    "npy": Reader(lambda path: array.read_npy(path, 4), npy(np.ones((3, 4))), ".npy"),
    "npy.gz": Reader(
        lambda path: array.read_npy(path, 4), gzip.compress(npy(np.ones((3, 4)))), ".npy.gz"
    ),
    "mat": Reader(lambda path: mat.read_mat(path, "adl_data", 4), matlab(), ".mat"),
    "csv": Reader(
        lambda path: table.read_table(path, 3, header=1), b"a,b,c\n1,2,3\n4,5,6\n", ".csv"
    ),
    "csv.gz": Reader(
        lambda path: table.read_table(path, 3), gzip.compress(b"1,2,3\n4,5,6\n"), ".csv.gz"
    ),
    "room": Reader(
        room.read,
        (",".join(room.HEADER) + "\n2017/12/22,10:49:41" + ",1" * (len(room.HEADER) - 2)).encode(),
        ".csv",
    ),
    "segments": Reader(msl.read_segments, SEGMENTS.encode(), ".csv"),
    "packed": Reader(lambda path: packed.read(path, "train"), arrays(), ".npz", None),
    "zip": Reader(unpack, make_zip({"a/b.ts": TINY_TRAIN}), ".zip", ArchiveError),
    "results": Reader(store, 2 * RECORD.encode(), ".jsonl", ValueError),
    "baselines": Reader(baselines.read, 2 * BASELINE.encode(), ".jsonl", ValueError),
}


@st.composite
def damaged(draw, good: bytes) -> bytes:
    """Return a file with some damage, or bytes that are no such file at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=200))
    data = bytearray(good)
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 40)))
        piece = draw(
            st.one_of(
                st.sampled_from(STUMBLING),
                st.binary(min_size=1, max_size=4),
                st.just(bytes(data[start:end]) * 2),
                st.just(b""),
            )
        )
        data[start:end] = piece
    return bytes(data)


def outcome(reader: Reader, path: Path) -> object:
    """Return what a reader makes of a file, or its error where that is its own kind."""
    if reader.error is None:
        return reader.read(path)
    try:
        return reader.read(path)
    except reader.error as error:
        return error


@pytest.mark.parametrize("name", READERS)
def test_a_file_in_order_is_read(name, tmp_path):
    path = tmp_path / f"Tiny{READERS[name].ending}"
    path.write_bytes(READERS[name].good)
    assert not isinstance(outcome(READERS[name], path), Exception)
    assert name == "zip" or READERS[name].read(path) is not None


@pytest.mark.parametrize("name", READERS)
def test_damage_gives_a_value_or_the_readers_own_error(name, tmp_path_factory):
    reader, folder = READERS[name], tmp_path_factory.mktemp("damaged")

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize="POSENC_FUZZ" not in os.environ,
        suppress_health_check=list(HealthCheck),
    )
    @given(damaged(reader.good))
    def check(content: bytes) -> None:
        path = folder / f"Tiny{reader.ending}"
        path.write_bytes(content)
        started = time.perf_counter()
        found = outcome(reader, path)
        assert time.perf_counter() - started < SECONDS
        if isinstance(found, Exception):
            assert path.name in str(found)
            assert len(str(found)) < 2000 + len(str(path))

    check()


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "Tiny.jsonl"
    path.write_text(RECORD + "[" * 100_000 + "\n" + RECORD)
    with pytest.raises(ValueError, match=r"Tiny\.jsonl, line 2: not a record"):
        list(Store(path))
    path.write_text(BASELINE + "[" * 100_000 + "\n")
    with pytest.raises(ValueError, match=r"Tiny\.jsonl, line 2: not JSON"):
        baselines.read(path)
    path.write_bytes(BASELINE.encode() + b"\xff\n")
    with pytest.raises(ValueError, match=r"Tiny\.jsonl, line 2: not JSON"):
        baselines.read(path)


def test_a_header_that_promises_too_much_takes_no_memory(tmp_path):
    path = tmp_path / "huge.npy"
    good = npy(np.ones((3, 4)))
    path.write_bytes(good.replace(b"(3, 4), }" + 10 * b" ", b"(3000000000, 4), }  "[:19]))
    with pytest.raises(FileFormatError, match=r"huge\.npy: promises 96,000,000,000 bytes, over"):
        array.read_npy(path, 4)
    path.write_bytes(good[:-8])
    with pytest.raises(FileFormatError, match="promises 96 bytes, holds 88"):
        array.read_npy(path, 4)
    path.write_bytes(good + b"x")
    with pytest.raises(FileFormatError, match="promises 96 bytes, holds more"):
        array.read_npy(path, 4)


def test_a_long_line_of_braces_is_refused_at_once(tmp_path):
    path = tmp_path / "braces.arff"
    path.write_text("@attribute a" + "{" * 1_000_000 + "\n")
    started = time.perf_counter()
    with pytest.raises(FileFormatError, match=r"braces\.arff, line 1: only numeric columns"):
        arff.read_series(path)
    assert time.perf_counter() - started < SECONDS


def test_one_long_series_among_thousands_does_not_fill_the_memory(tmp_path):
    path = tmp_path / "long.ts"
    head = "@problemName long\n@equalLength false\n@univariate true\n@classLabel true a\n@data\n"
    path.write_text(head + "1:a\n" * 5_000 + "1," * 20_000 + "1:a\n")
    with pytest.raises(ValueError, match="long: the longest series has 20,001 steps, and padding"):
        ts.read_ts(path)


def test_a_packed_file_that_is_another_kind_of_file_is_made_anew(tmp_path):
    path = tmp_path / "Tiny.npz"
    path.write_bytes(npy(np.ones(3)))
    assert packed.read(path, "train") is None
    with zipfile.ZipFile(path, "w") as content:
        content.writestr("train_x.npy", b"no array")
    assert packed.read(path, "train") is None


@settings(max_examples=10 * EXAMPLES, deadline=None)
@given(st.text(alphabet="ab:=,[]{}\"'0123456789.eE+-NTa \\\n", max_size=60))
def test_options_of_the_command_line(text):
    try:
        said = parse(text).name
    except ValueError as error:
        said = str(error)
    assert text.startswith(said) or said.startswith("options must be written key=value")


def test_an_option_that_is_nested_endlessly_is_a_text():
    assert parse("a:b=" + "[" * 100_000).options == {"b": "[" * 100_000}
