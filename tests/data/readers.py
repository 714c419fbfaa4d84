"""Every reader of files, with a file in order and the error that it may give."""

import gzip
import io
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from datafiles import TINY_TEST, TINY_TRAIN, make_zip

from posenc_book.audit import versions
from posenc_book.data import archives, from_csv, packed
from posenc_book.data.dataset import Dataset
from posenc_book.data.errors import ArchiveError, FileFormatError
from posenc_book.data.formats import arff, array, mat, table, ts
from posenc_book.data.sets import archive, msl, room
from posenc_book.forecast.grid import frequency, on_grid
from posenc_book.forecast.table import Form, read_tracks
from posenc_book.records.baselines import read_baselines
from posenc_book.records.store import Store

SECONDS = 5.0  # of the processor, for one file of a few kilobytes


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
    np.savez(buffer, **packed.arrays({"train": Dataset(x, y, ("a", "b"), "Tiny", "made")}))
    return buffer.getvalue()


def own_table(path: Path) -> str:
    """Make a set of one's own of a table, in a folder that is new each time."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        return from_csv.convert(path, Path(folder) / "Tiny")


def own_times(path: Path) -> str:
    """Make a set of one's own of a table with times."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        return from_csv.convert(path, Path(folder) / "Tiny", series="take", time="when")


def unpack(path: Path) -> None:
    """Unpack an archive beside itself."""
    archives.unpack(path, path.parent / "unpacked")


def own(path: Path) -> object:
    """Read a file of one's own to forecast, and put it on steps."""
    return on_grid(path, read_tracks(path, Form("date")), frequency("h"))


def own_users(path: Path) -> object:
    """Read a file with several series below each other, and put them on steps."""
    return on_grid(path, read_tracks(path, Form("date", series="user")), frequency("h"))


def pair(path: Path) -> dict:
    """Read a file as both parts of a set."""
    return archive.build([path, path], "Tiny")


HEADER = '{"key":"%s","encoding":"none","model":"patch","dataset":"a","seed":0,"profile":"smoke",'
RECORD = HEADER % sha256(b"{}").hexdigest()[:32] + (  # a key is the hash of the settings
    '"metrics":{"accuracy":0.5},"settings":{},"versions":{},"device":"cpu","seconds":1.5}\n'
)
BASELINE = (
    '{"dataset":"a","fingerprint":"f","baseline":"b","resample":0,"settings":{},"n_train":1,'
    '"n_test":1,"metrics":{},"versions":{},"seconds":1.0}\n'
)
ARFF = "@relation x\n@attribute a numeric\n@attribute b real\n@attribute c {0, 1}\n@data\n1,2,0\n"
TIMED = (
    "@timeStamps true\n@missing true\n@classLabel true a b\n@data\n"
    "(0,1),(0.5,2):(0,3),(0.5,?):a\n(0,1),(2,2):(0,3),(2,1e1):b\n"
)
OWN = "take,label,when,x\n" + "".join(
    f"{take},{'ab'[take % 2]},{step * step},{step}\n" for take in range(4) for step in range(3)
)
MARKS = (
    'submission,student number,assignment,by checks,by hand,"by hand, at most",to read\n'
    "ada.ipynb,12345,01_raw_indices,5,2,3,\nbob.ipynb,23456,01_raw_indices,4,,3,yes\n"
)
SEGMENTS = (
    "chan_id,spacecraft,anomaly_sequences,class,num_values\n"
    'M-1,MSL,"[[1, 5], [7, 9]]",[point],20\nP-1,SMAP,"[[1, 5]]",[point],20\n'
)


ODD = (
    "", " ", "-1", "0", "1", "2.5", "-0", "99999", "9" * 11, "9" * 30, "9" * 400, "9" * 5000,
    "99999999999d", "1e400", "1e308", "5e-324", "nan", "inf", "1.000", "1,5", "1_0", "0x10", "None",
    "null", "true", "[", "[" * 3000, "{}", "(", "%", "%s", "%Q", "%Y-%m-%d %H:%m:%S", "2016-13-45",
    "9999-12-31", "0001-01-01T00:00+05:00", "a:b=c", "rotary:", ":", "rotary:base=nan",
    "range_probe:n=-1", "..", "/dev/full", "/dev/null", ".", "a" * 300, "\x1b[31m", "\x00", "a\nb",
    "ü", "=x", "+", "--help", "cuda:99", "mps", "serial", "steps", "month", "s", ";", "\t",
)  # fmt: skip
"""What a field or an option may hold that nobody thought of."""


@dataclass(frozen=True)
class Reader:
    """A reader of files, a file in order, and the error that it may give."""

    read: Callable[[Path], object]
    good: bytes
    ending: str
    error: type[Exception] | None = FileFormatError

    @property
    def is_text(self) -> bool:
        """Whether its files hold fields that somebody can type."""
        return self.good.isascii() and b"\0" not in self.good


READERS = {
    "ts": Reader(ts.read_ts, TINY_TRAIN.encode(), ".ts"),
    "ts.gz": Reader(ts.read_ts, gzip.compress(TINY_TEST.encode()), ".ts.gz"),
    "ts with times": Reader(ts.read_ts, TIMED.encode(), ".ts"),
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
    "own table": Reader(own_table, b"label,a,b\n" + 2 * b"up,1,2\ndown,?,1\n", ".csv"),
    "own times": Reader(own_times, OWN.encode(), ".csv"),
    "room": Reader(
        room.read_room,
        (",".join(room.HEADER) + "\n2017/12/22,10:49:41" + ",1" * (len(room.HEADER) - 2)).encode(),
        ".csv",
    ),
    "own series": Reader(
        own, b"date,y\n2020-01-01 00:00,1\n2020-01-01 01:00,2.5\n2020-01-01 02:00,\n", ".csv"
    ),
    "own users": Reader(
        own_users, b"date,user,y\n2020-01-01,a,1\n2020-01-01,b,2\n2020-01-01 01:00,b,3\n", ".csv"
    ),
    "segments": Reader(msl.read_segments, SEGMENTS.encode(), ".csv"),
    "packed": Reader(lambda path: packed.read_packed(path, "train"), arrays(), ".npz", None),
    "zip": Reader(unpack, make_zip({"a/b.ts": TINY_TRAIN}), ".zip", ArchiveError),
    "results": Reader(store, 2 * RECORD.encode(), ".jsonl", ValueError),
    "baselines": Reader(read_baselines, 2 * BASELINE.encode(), ".jsonl", ValueError),
    "a paper": Reader(versions.read, b"<html><p>A paper<td>1</html>", ".html", ValueError),
}


def outcome(reader: Reader, path: Path) -> object:
    """Return what a reader makes of a file, or its error where that is its own kind."""
    if reader.error is None:
        return reader.read(path)
    try:
        return reader.read(path)
    except reader.error as error:
        return error


def judged(reader: Reader, path: Path) -> object:
    """Read a file; fail where that takes long, or where an error does not name the file."""
    started = time.process_time()
    found = outcome(reader, path)
    assert time.process_time() - started < SECONDS
    if isinstance(found, Exception):
        assert path.name in str(found)
        assert len(str(found)) < 2000 + len(str(path))
    return found
