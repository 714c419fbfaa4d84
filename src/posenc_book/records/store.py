"""Append-only results: one JSON line per training, whole lines only, many writers.

A line is written by one `write` to a file opened for appending, under a lock, and flushed to the
disk before the call returns. A line that a crash has torn is never read, and the next append
removes it: the last one, if it begins with a record's key or stands behind records. So it is with
zero bytes, which a power cut leaves where a line was to stand. A file that begins otherwise belongs
to somebody else and is left alone.
"""

import json
import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from posenc_book import _files
from posenc_book.records import records
from posenc_book.records.locks import exclusive

Cell = TypeVar("Cell", bound=Hashable)
_START = b'{"key":'  # of every record, as `Store.append` writes it
_KEYED = re.compile(rb'\{"key": ?"[0-9a-f]{32}"')  # what no other file begins with
_BOM = b"\xef\xbb\xbf"  # what some editors write in front of a text
_FIRST, _PIECE = 4096, 65536
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)


class StoreError(OSError):
    """A results file could not be written; every line written before is safe."""


class Store:
    """A results file.

    Parameters
    ----------
    path : path
        The file, made with its folder at the first append.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise ValueError(f"out must be a file such as results/run.jsonl, got folder {path}")
        _files.check_regular(self.path)
        self._offset = 0  # bytes of the file that `refresh` has seen
        self._lines = 0  # and lines
        self._finished: set[int] = set()
        self._failed: set[int] = set()

    def append(self, record: dict) -> None:
        """Write one record as one line, and return when it is on the disk."""
        line = records.line(record)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, _FLAGS, 0o644)
            try:
                with exclusive(descriptor):
                    self._check_kind(descriptor)
                    self._mend(descriptor)
                    _write_whole(descriptor, line.encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(
                error.errno,
                f"cannot append to {self.path}: {error.strerror or error}. Finished cells are "
                "safe; make room or mend the path, then run the same command again",
            ) from error

    def refresh(self) -> None:
        """Read the keys of lines that were added since the last call."""
        for record, end, number in self._read(self._offset, self._lines):
            into = self._failed if "error" in record else self._finished
            into.add(_short(record["key"]))
            self._offset, self._lines = end, number

    def finished(self, key: str) -> bool:
        """Return whether a cell has finished without an error, as far as `refresh` read."""
        return _short(key) in self._finished

    def failed(self, key: str) -> bool:
        """Return whether a cell has failed and has not finished since, as far as `refresh` read."""
        return _short(key) in self._failed and not self.finished(key)

    def __iter__(self) -> Iterator[dict]:
        """Yield every whole record in the order of the file, duplicates included."""
        return (record for record, _, _ in self._read(0, 0))

    def _read(self, offset: int, n_before: int) -> Iterator[tuple[dict, int, int]]:
        """Yield records with the place behind them, in bytes and in lines."""
        if not self.path.exists():
            return
        behind_records = offset > 0
        for number, line in _files.records(self.path, offset, n_before):
            ours = behind_records or _is_ours(line)
            content = _bare(line) if ours else line.removeprefix(_BOM).strip()
            is_open = ours and not line.endswith(b"\n")
            if is_open and (not content or _is_torn(content)):
                return  # its cell is not finished
            offset += len(line)
            if content:
                yield self._parse(content, number), offset, number
                behind_records = True

    def _parse(self, line: bytes, number: int) -> dict:
        record = None
        try:
            record = json.loads(line.removeprefix(_BOM).decode())
            return records.check(record)
        except (ValueError, RecursionError) as error:
            why = f"not a record of the benchmark ({error})"
            advice = "remove or mend that line, or name another file"
            if later := _later(record):
                why = f"a record of posenc {later}, which this one cannot read ({error})"
                advice = "leave the line as it is and install that version or a later one"
            raise _files.fault(self.path, number, f"{why}; {advice}") from error

    def _check_kind(self, descriptor: int) -> None:
        """Raise ValueError if the file's first line shows that it is somebody else's."""
        os.lseek(descriptor, 0, os.SEEK_SET)
        first = os.read(descriptor, _FIRST).removeprefix(_BOM).lstrip().split(b"\n")[0]
        if first and not _is_ours(first):
            raise ValueError(
                f"{self.path} is not a results file, its first line starts with "
                f"{first[:30].decode(errors='replace')!r}: name another --out; it was left as it is"
            )

    def _mend(self, descriptor: int) -> None:
        """End the file with a whole line: complete one that lacks its newline, or cut it off."""
        rest = self._last_line(descriptor)
        if not rest:
            return
        if not _bare(rest) or _is_torn(_bare(rest)):
            if not _is_ours(rest):
                for _ in self:  # an error unless all lines before it are records
                    pass
            os.ftruncate(descriptor, os.fstat(descriptor).st_size - len(rest))
        else:
            _write_whole(descriptor, b"\n")

    def _last_line(self, descriptor: int) -> bytes:
        """Return what stands behind the last newline of the file."""
        size = os.fstat(descriptor).st_size
        tail, start = b"", size
        while start and b"\n" not in tail:
            if len(tail) > _files.most("bytes of a record"):
                said = f"{_files.beyond('bytes of a record')}; it was left as it is"
                raise ValueError(f"{self.path}: behind its last whole line stand {said}")
            end, start = start, max(0, start - _PIECE)
            os.lseek(descriptor, start, os.SEEK_SET)
            tail = os.read(descriptor, end - start) + tail
        return tail[tail.rfind(b"\n") + 1 :]


def unique(items: Iterator[dict]) -> list[dict]:
    """Return one record per key: the first that finished, else the last that failed."""
    best: dict[str, dict] = {}
    for record in items:
        old = best.get(record["key"])
        if old is None or "error" in old:
            best[record["key"]] = record
    return list(best.values())


def by_cell(items: Iterable[dict], cell: Callable[[dict], Cell]) -> dict[Cell, dict]:
    """Return the record of each cell that counts, as `unique` says.

    Raises
    ------
    ValueError
        If there are two of one cell, as after a change of code.
    """
    found: dict[Cell, dict] = {}
    for record in unique(iter(items)):
        name = cell(record)
        if name in found:
            raise ValueError(f"records must hold one training of a cell, got two of {name}")
        found[name] = record
    return found


def merge(sources: list[str | os.PathLike], target: str | os.PathLike) -> int:
    """Append to a results file every record of others whose key it lacks."""
    for path in sources:
        _files.check_regular(Path(path))
        if not Path(path).exists():
            raise ValueError(f"merge needs existing files, got {path}")
    store = Store(target)
    store.refresh()
    new = 0
    for record in unique(record for path in sources for record in Store(path)):
        key = record["key"]
        if store.finished(key) or ("error" in record and store.failed(key)):
            continue
        store.append(record)
        new += 1
    return new


def _short(key: str) -> int:
    return int(key[:16], 16)  # 64 bits are enough to tell cells apart, and small


def _later(record: object) -> str:
    """Return the version that made a record if it is later than the present one, else ""."""
    there = record.get("versions") if isinstance(record, dict) else None
    made_by = there.get("posenc") if isinstance(there, dict) else None
    ours = records.versions().get("posenc")
    if not isinstance(made_by, str) or not ours or _numbers(made_by) <= _numbers(ours):
        return ""
    return made_by[:40]


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]{1,9}", version)[:3]]


def _is_ours(line: bytes) -> bool:
    """Return whether a line begins as records do, and no other file."""
    return _KEYED.match(line.removeprefix(_BOM)) is not None


def _bare(line: bytes) -> bytes:
    """Return a line without a BOM, white space, and the zero bytes that a power cut leaves."""
    return line.removeprefix(_BOM).strip(b"\0 \t\r\n")


def _is_torn(line: bytes) -> bool:
    """Return whether a line may be the start of a record that a crash cut off."""
    if line.endswith(b"\n") or _is_whole(line):
        return False
    return line.startswith(_START) or _START.startswith(line)


def _is_whole(line: bytes) -> bool:
    """Return whether a line is JSON to its end; one that is, yet no record, is not torn."""
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _write_whole(descriptor: int, data: bytes) -> None:
    size = os.fstat(descriptor).st_size
    try:
        written = os.write(descriptor, data)
        if written != len(data):
            raise OSError(28, f"only {written} of {len(data)} bytes fitted on the disk")
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
