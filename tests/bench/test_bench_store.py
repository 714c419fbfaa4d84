"""The store of results: whole lines only, many writers, and torn lines that do no harm."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from posenc_book.records import locks, records
from posenc_book.records.locks import Claims
from posenc_book.records.store import Store, StoreError, merge, unique

WRITER = """
import sys
from pathlib import Path
from posenc_book.records import records
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store
path, first, n, text = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), "x" * int(sys.argv[4])
store = Store(path)
print("ready", flush=True)
for seed in range(first, first + n):
    cell = Settings("none", "patch", "LSST", seed=seed)
    store.append(records.finished(cell, {"text": text}, device="cpu", seconds=1.0))
    print(cell.key, flush=True)
"""


def start_writer(path, first, n, size=10, **options):
    command = [sys.executable, "-c", WRITER, str(path), str(first), str(n), str(size)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


@pytest.fixture
def record(cell):
    def make(seed=0, error="", **metrics):
        if error:
            return records.failed(cell(seed=seed), error, device="cpu", seconds=1.0)
        return records.finished(cell(seed=seed), metrics, device="cpu", seconds=1.0)

    return make


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results" / "run.jsonl"


def whole_lines(path):
    text = path.read_bytes()
    assert text.endswith(b"\n")
    return [json.loads(line) for line in text.splitlines()]


def test_a_line_has_exactly_the_promised_fields(path, record):
    Store(path).append(record(accuracy=0.5))
    Store(path).append(record(seed=1, error="broken"))
    fields = "key encoding model dataset seed profile metrics settings versions device seconds"
    fields += " resample protocol"
    good, bad = whole_lines(path)
    assert list(good) == fields.split()
    assert list(bad) == [*fields.split(), "error"]
    assert good["metrics"] == {"accuracy": 0.5}
    assert (bad["metrics"], bad["error"]) == ({}, "broken")
    assert {"python", "torch", "numpy", "posenc"} <= set(good["versions"])


def test_what_is_appended_is_read_and_known(path, record):
    store = Store(path)
    store.append(record(0))
    store.append(record(1, error="nan"))
    store.refresh()
    done, broken, absent = (record(seed)["key"] for seed in range(3))
    assert [store.finished(k) for k in (done, broken, absent)] == [True, False, False]
    assert [store.failed(k) for k in (done, broken, absent)] == [False, True, False]
    store.append(record(1))
    store.refresh()
    assert store.finished(broken)
    assert not store.failed(broken)
    assert len(list(store)) == 3


@pytest.mark.parametrize("line", [b"{broken\n", b"[1, 2]\n", b'{"key": "1"}\n', b"\xff\xfe\n"])
def test_a_foreign_line_in_the_middle_is_named(path, record, line):
    store = Store(path)
    store.append(record(0))
    with path.open("ab") as file:
        file.write(line)
    with path.open("ab") as file:
        file.write((json.dumps(record(1)) + "\n").encode())
    with pytest.raises(ValueError, match=r"run\.jsonl, line 2: not a record"):
        list(Store(path))


def test_unique_prefers_the_first_that_finished(record):
    a, b, c = record(0, error="nan"), record(0, accuracy=1), record(0, accuracy=0)
    d, e = record(1, error="first"), record(1, error="last")
    assert unique(iter([a, b, c, d, e])) == [b, e]


def test_merge_adds_what_is_missing(tmp_path, record):
    one, two, target = (tmp_path / f"{n}.jsonl" for n in "abc")
    Store(one).append(record(0, accuracy=1))
    Store(one).append(record(1, error="nan"))
    Store(two).append(record(0, accuracy=0))
    Store(two).append(record(1, accuracy=1))
    Store(two).append(record(2, error="nan"))
    assert merge([one, two], target) == 3
    assert merge([one, two], target) == 0
    found = {r["seed"]: r for r in Store(target)}
    assert found[0]["metrics"] == {"accuracy": 1}
    assert "error" not in found[1]
    assert "error" in found[2]
    with pytest.raises(ValueError, match="needs existing files"):
        merge([tmp_path / "absent.jsonl"], target)


def test_many_writers_at_once_lose_nothing_and_tear_nothing(path):
    writers = [start_writer(path, 100 * i, 25, 20_000) for i in range(4)]
    for writer in writers:
        _, err = writer.communicate(timeout=600)
        assert writer.returncode == 0, err
    seeds = sorted(r["seed"] for r in whole_lines(path))
    assert seeds == [100 * i + j for i in range(4) for j in range(25)]


def test_a_writer_killed_at_any_moment_leaves_whole_lines_and_all_that_it_acknowledged(path):
    acknowledged = set()
    for attempt in range(4):
        writer = start_writer(path, 1000 * attempt, 1000, 200_000)
        assert writer.stdout.readline() == "ready\n"
        out = "".join(writer.stdout.readline() for _ in range(1 + attempt))
        time.sleep(0.005 * attempt)
        os.kill(writer.pid, signal.SIGKILL)
        out += writer.stdout.read()
        writer.communicate()
        assert writer.returncode == -signal.SIGKILL
        keys = out.split("\n")[:-1]
        assert len(keys) > attempt
        acknowledged |= set(keys)
    found = {r["key"] for r in Store(path)}
    assert acknowledged <= found
    survivor = start_writer(path, 9000, 1)
    survivor.communicate(timeout=600)
    assert {r["key"] for r in whole_lines(path)} >= acknowledged


def test_a_full_disk_keeps_every_line_and_says_what_to_do(path):
    limit = 100_000

    def full_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    writer = start_writer(path, 0, 100, 5000, preexec_fn=full_disk)
    out, err = writer.communicate(timeout=600)
    assert writer.returncode == 1
    assert "Finished cells are safe" in err
    assert "StoreError" in err
    keys = [r["key"] for r in whole_lines(path)]
    assert keys == out.split("\n")[1:-1]
    assert 10 < len(keys) < 20
    assert path.stat().st_size <= limit
    start_writer(path, 50, 1).communicate(timeout=600)  # there is room again
    assert len(whole_lines(path)) == len(keys) + 1


def test_a_failed_flush_leaves_the_file_as_it_was(path, record, monkeypatch):
    store = Store(path)
    store.append(record(0))
    before = path.read_bytes()

    def fail(_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StoreError, match="Input/output error"):
        store.append(record(1))
    assert path.read_bytes() == before


@pytest.fixture
def other(tmp_path):
    """A process with claims on a file, and a function that lets it take one."""
    code = (
        "import sys; from pathlib import Path; from posenc_book.records.locks import Claims\n"
        "claims = Claims(Path(sys.argv[1])); print('open', flush=True)\n"
        "for key in sys.stdin:\n    print(claims.take(key.strip()), flush=True)\n"
    )
    started = [sys.executable, "-c", code, str(tmp_path / "run.jsonl")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(started, **pipes) as process:
        assert process.stdout.readline() == "open\n"

        def take(key):
            print(key, file=process.stdin, flush=True)
            return process.stdout.readline() == "True\n"

        yield process, take
        process.kill()


def test_claims_of_a_killed_process_become_free(tmp_path, other):
    process, take = other
    assert take("ab" * 16)
    claims = Claims(tmp_path / "run.jsonl")
    assert not claims.take("ab" * 16)
    assert claims.take("cd" * 16)
    process.kill()
    process.wait()
    assert claims.take("ab" * 16)
    claims.close()
    (left,) = tmp_path.iterdir()
    assert (left.name, left.stat().st_size) == ("run.jsonl.claims", 0)


def test_a_driver_that_ends_does_not_part_two_others(tmp_path, other):
    Claims(tmp_path / "run.jsonl").close()
    third = Claims(tmp_path / "run.jsonl")
    assert third.take("ab" * 16)
    assert not other[1]("ab" * 16)
    third.close()


def test_a_system_without_locks_is_said(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    claims = Claims(tmp_path / "run.jsonl")
    monkeypatch.setattr(locks.fcntl, "lockf", refuse)
    with pytest.raises(OSError, match="No locks available"):
        claims.take("ab" * 16)
    claims.close()


@pytest.mark.parametrize(
    "foreign",
    [b'{"mine": 1}\n', b"\nsome text", b"\0\1", b"{", b'{"key":"a note of mine","text":"half'],
)
def test_a_file_of_somebody_else_is_never_changed(tmp_path, record, call, foreign):
    path = tmp_path / "mine.json"
    path.write_bytes(foreign)
    trained = ["run", "--datasets", "range_probe:n=40", "--profile", "smoke", "--models", "patch"]
    code, text, err = call(*trained, "--encodings", "none", "--engine", "serial", "--out", path)
    assert (code, text) == (2, "")
    assert "mine.json, line" in err
    assert path.read_bytes() == foreign
    with pytest.raises(ValueError, match=r"mine\.json is not a results file.*left as it is"):
        Store(path).append(record())
    assert path.read_bytes() == foreign
    source = tmp_path / "run.jsonl"
    Store(source).append(record())
    with pytest.raises(ValueError, match=r"mine\.json"):
        merge([source], path)
    assert path.read_bytes() == foreign


BOM = b"\xef\xbb\xbf"
START = b'{"key":"' + b"0f" * 16 + b'","enco'


@pytest.mark.parametrize("mark", [BOM, BOM + b"\n"])
def test_a_file_with_a_byte_order_mark_is_read_and_grows(path, record, mark):
    store = Store(path)
    store.append(record(0))
    path.write_bytes(mark + path.read_bytes())
    assert [r["seed"] for r in Store(path)] == [0]
    store = Store(path)
    store.append(record(1))
    store.refresh()
    assert store.finished(record(1)["key"])
    assert merge([path], path.with_name("other.jsonl")) == 2
    path.write_bytes(path.read_bytes() + b'{"key":"0f0f')
    Store(path).append(record(2))
    assert [r["seed"] for r in Store(path)] == [0, 1, 2]
    assert path.read_bytes().startswith(mark)


def test_what_is_left_of_a_first_record_is_removed(path, record):
    path.parent.mkdir()
    for content in (BOM, BOM + START, START + b"x" * 300_000, START + b"\0" * 500):
        path.write_bytes(content)
        assert list(Store(path)) == []
        Store(path).append(record(0))
        assert [r["seed"] for r in Store(path)] == [0]


TORN = [b"{", b'{"key": 3', START, START + b"x" * 300_000]
# What a power cut leaves of a line that was to be written: zero bytes, with or without its start.
TORN += [b"\0" * 500, b'{"key":"0f0f' + b"\0" * 500, b"\0" * 200_000, b"\0\0\0 "]


@pytest.mark.parametrize("torn", TORN)
def test_half_a_line_is_not_read_and_the_next_append_removes_it(path, record, torn):
    store = Store(path)
    store.append(record(0))
    path.write_bytes(path.read_bytes() + torn)
    reader = Store(path)
    reader.refresh()
    assert [r["seed"] for r in Store(path)] == [0]
    store.append(record(1))
    assert [r["seed"] for r in whole_lines(path)] == [0, 1]
    reader.refresh()  # it had stopped where the half line began
    assert reader.finished(record(1)["key"])


def test_half_a_line_behind_a_note_of_somebody_is_left(path, record):
    Store(path).append(record(0))
    noted = path.read_bytes() + b'{"key":"a note"}\n{"key": 3'
    path.write_bytes(noted)
    with pytest.raises(ValueError, match=r"run\.jsonl, line 2: not a record"):
        Store(path).append(record(2))
    assert path.read_bytes() == noted


@pytest.mark.parametrize("end", [b"", b"\0" * 500])
def test_a_whole_record_that_lacks_only_its_newline_keeps_its_place(path, record, end):
    path.parent.mkdir()
    path.write_bytes(json.dumps(record(0)).encode() + end)
    store = Store(path)
    store.refresh()
    assert store.finished(record(0)["key"])
    store.append(record(1))
    store.refresh()
    assert store.finished(record(1)["key"])
    assert [r["seed"] for r in Store(path)] == [0, 1]


def test_zero_bytes_within_a_file_of_records_are_skipped(path, record):
    """An earlier version wrote on behind them; so do some network drives."""
    store = Store(path)
    for seed in range(3):
        store.append(record(seed))
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"\0" * 500 + b"\n" + second + b"\0" * 500 + third)
    assert [r["seed"] for r in Store(path)] == [0, 1, 2]
    store = Store(path)
    store.append(record(3))
    assert [r["seed"] for r in Store(path)] == [0, 1, 2, 3]


@pytest.mark.parametrize("change", [{"metrics": {"accuracy": {"mean": 0.5}}}, {"settings": {}}])
def test_a_record_of_a_later_version_is_said_to_be_one(path, record, change):
    store = Store(path)
    store.append(record(0))
    whole = path.read_bytes()
    later = record(1) | change | {"versions": {"posenc": "99.1"}}
    path.write_bytes(whole + json.dumps(later).encode() + b"\n")
    said = r"line 2: a record of posenc 99\.1, which this one cannot read .*leave the line as it is"
    with pytest.raises(ValueError, match=said):
        list(Store(path))
    today = record(1) | change
    path.write_bytes(whole + json.dumps(today).encode() + b"\n")
    with pytest.raises(ValueError, match="line 2: not a record of the benchmark"):
        list(Store(path))


@pytest.mark.parametrize(
    ("n_records", "n_zeros", "said"),
    [(0, 500, ""), (1, 5 << 20, ".* 4,194,304 bytes")],  # may be anybody's; an endless line
)
def test_zero_bytes_that_are_no_half_line_are_left(path, record, n_records, n_zeros, said):
    Store(path).append(record(0))
    content = path.read_bytes() * n_records + b"\0" * n_zeros
    path.write_bytes(content)
    for use in (lambda: list(Store(path)), lambda: Store(path).append(record(1))):
        with pytest.raises(ValueError, match=rf"run\.jsonl{said}"):
            use()
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("metrics", "said"),
    [
        ({"accuracy": float("nan")}, r"metrics\.accuracy must be a number from 0 to 1, got nan"),
        ({"later_32": float("nan")}, "not JSON compliant"),
        ({"text": "x" * (4 << 20)}, "more than 4,194,304 bytes of a record"),
    ],
)
def test_what_could_not_be_read_again_is_not_written(path, record, metrics, said):
    with pytest.raises(ValueError, match=said):
        Store(path).append(record(**metrics))
    assert not path.exists()
