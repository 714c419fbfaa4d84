"""A file four times as large takes a reader at most five times as long, and as much memory.

Files grow in every direction: rows, columns, series, classes. What grows with the square of its
file would take sixteen times as much.
"""

import gzip
import io
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from datafiles import TINY_TRAIN, make_zip
from readers import ARFF, BASELINE, OWN, READERS, RECORD, SEGMENTS, TIMED, npy, outcome

from posenc_book.data import packed
from posenc_book.data.dataset import Dataset
from posenc_book.data.sets import room

MOST = 5.0
LEAST_SECONDS, LEAST_BYTES = 0.04, 1 << 18  # below that the reader's own start weighs most
ROUNDS = 8  # of which the quickest counts, as a machine does other things, too
HEAD, _, ROWS = TINY_TRAIN.partition("@data\n")
ONE_CHANNEL = "@univariate true\n@equalLength false\n@classLabel true a\n@data\n"
ROOM = ",".join(room.HEADER) + "\n", "2017/12/22,10:49:41" + ",1" * (len(room.HEADER) - 2) + "\n"


def hour(i: int) -> str:
    return f"{2000 + i // 8064}-{1 + i // 672 % 12:02}-{1 + i // 24 % 28:02} {i % 24:02}:00"


def series(n: int, length: int) -> str:
    """Return so many series of hours, all at the same times."""
    rows = [f"{hour(i)},{k},{i}" for k in range(n) for i in range(length)]
    return "\n".join(["date,user,y", *rows])


def classes(n: int) -> str:
    return "label,x\n" + "".join(f"c{i},1\nc{i},2\n" for i in range(n))


def packed_bytes(n: int) -> bytes:
    x, y = np.random.default_rng(0).normal(size=(n, 3, 1)).astype(np.float32), np.arange(n) % 2
    buffer = io.BytesIO()
    np.savez(buffer, **packed.arrays({"train": Dataset(x, y, ("a", "b"), "Tiny", "made")}))
    return buffer.getvalue()


# Readers by name, in which direction their file grows, and the file of a size.
GROWN: list[tuple[str, str, Callable[[int], str | bytes]]] = [
    ("ts", "rows", lambda n: HEAD + "@data\n" + ROWS * (n // 3)),
    ("ts", "steps", lambda n: ONE_CHANNEL + "1.5," * 10 * n + "1:a\n"),
    ("ts", "classes", lambda n: f"@classLabel true {' '.join(f'c{i}' for i in range(n))}\n@data\n"
                                + "".join(f"1,2:c{i}\n" for i in range(n))),
    ("ts.gz", "rows", lambda n: gzip.compress((HEAD + "@data\n" + ROWS * (n // 3)).encode(), 1)),
    ("ts with times", "rows", lambda n: TIMED + TIMED.partition("@data\n")[2] * (n // 2)),
    ("both parts", "rows", lambda n: HEAD + "@data\n" + ROWS * (n // 3)),
    ("arff", "rows", lambda n: ARFF + "1,2,0\n" * 2 * n),
    ("csv", "rows", lambda n: "a,b,c\n" + "1,2,3\n" * 4 * n),
    ("npy", "rows", lambda n: npy(np.ones((20 * n, 4)))),
    ("own table", "rows", lambda n: "label,a,b\n" + "up,1,2\ndown,2,1\n" * n),
    ("own table", "classes", classes),
    ("own table", "columns", lambda n: "\n".join(
        [",".join(["label", *(f"x{i}" for i in range(n))])]
        + [label + ",1.5" * n for label in ("up", "up", "down", "down")])),
    ("own times", "series", lambda n: OWN.partition("\n")[0] + "\n" + "".join(
        f"{k},{'ab'[k % 2]},{i},{i}\n" for k in range(n // 4) for i in range(8))),
    ("own times", "steps", lambda n: OWN.partition("\n")[0] + "\n" + "".join(
        f"{k},{'ab'[k % 2]},{i},{i}\n" for k in range(4) for i in range(n // 2))),
    ("own series", "rows", lambda n: "date,y\n" + "".join(f"{hour(i)},{i}\n" for i in range(n))),
    ("own series", "columns", lambda n: "\n".join(
        [",".join(["date", *(f"x{i}" for i in range(n))])]
        + [hour(i) + ",1.5" * n for i in range(4)])),
    ("own users", "side by side", lambda n: series(n // 10, 10)),
    ("own users", "one after the other", lambda n: "date,user,y\n" + "".join(
        f"{hour(i)},{i // 4},{i}\n" for i in range(4 * n))),
    ("room", "rows", lambda n: ROOM[0] + ROOM[1] * n),
    ("segments", "rows", lambda n: SEGMENTS + SEGMENTS.splitlines()[1] + "\n" * n),
    ("packed", "series", packed_bytes),
    ("zip", "members", lambda n: make_zip({f"a/{i}.ts": "1" for i in range(n // 4)})),
    ("results", "rows", lambda n: RECORD * n),
    ("baselines", "rows", lambda n: BASELINE * n),
    ("a paper", "rows", lambda n: "<html>" + "<p>Some words of a paper.<td>1" * n + "</html>"),
]  # fmt: skip


def seconds(name: str, path) -> float:
    started = time.process_time()
    outcome(READERS[name], path)
    return time.process_time() - started


def peak(name: str, path) -> int:
    tracemalloc.start()
    try:
        outcome(READERS[name], path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_every_reader_that_takes_files_of_any_size_is_asked():
    same = {"csv.gz", "npy.gz", "mat"}  # unpacked, they are as those beside them; or one array
    assert {name for name, *_ in GROWN} | same == set(READERS)


@pytest.mark.parametrize(("name", "way", "made"), GROWN, ids=[f"{n}, {w}" for n, w, _ in GROWN])
def test_four_times_the_size_takes_five_times_as_much_at_most(name, way, made, tmp_path):
    paths = [tmp_path / f"{size}{READERS[name].ending}" for size in ("small", "large")]
    least = 1000 if way == "classes" else 400
    for path, n in zip(paths, (least, 4 * least), strict=True):
        content = made(n)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    small, large = (peak(name, path) for path in paths)
    assert large <= max(LEAST_BYTES, MOST * small), f"{small:,} bytes, then {large:,} ({way})"
    best = [np.inf, np.inf]
    for _ in range(ROUNDS):
        best = [min(one, seconds(name, path)) for one, path in zip(best, paths, strict=True)]
        if best[1] <= max(LEAST_SECONDS, MOST * best[0]):
            return
    pytest.fail(f"{best[0]:.3f} s, then {best[1]:.3f} s ({way})")
