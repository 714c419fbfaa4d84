"""Files that somebody hands us, read within limits: readers of data and results open them here.

A path may lead to a device that never ends, and a file of some kilobytes may unpack to gigabytes.
So nothing but regular files is opened, and what comes out of them is counted while it is read.
"""

import gzip
import io
import os
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SETTING = "POSENC_LIMITS"
LIMITS = {
    "bytes": 1 << 32,  # of one file, unpacked; the largest of the registry has 42 million
    "lines": 1 << 22,  # of a text; the longest recording of the registry has 68,698
    "characters": 1 << 26,  # of a line; the longest of the archives' cases has 3 million
    "series": 1 << 18,  # of one part of a set; the archives' largest has 30 thousand
    "values": 1 << 26,  # of series side by side, known or not; the largest of the registry has 6e6
    "columns": 1 << 16,  # of a table, channels of a series, classes; the archives: 1,345 channels
    "bytes of a record": 1 << 22,  # a line of results; the longest of the book has 3,671
    "bytes of a document": 1 << 26,  # a file of JSON
    "bytes of an array": 1 << 31,  # the largest recording of the registry has 42 million
}
"""What is read of one file at most. POSENC_LIMITS=10 makes all of them ten times as large."""
SMALL, GROWTH = 1 << 24, 300
"""Bytes that any compressed file may unpack to, and how many times its size a larger one may."""

Error = Callable[[Path, int | None, str], ValueError]
"""What makes an error of a file, a line (None for the file as a whole) and what is wrong there."""


def fault(path: Path, line: int | None, problem: str) -> ValueError:
    """Return an error that names the file, and the line if there is one."""
    return ValueError(f"{path}: {problem}" if line is None else f"{path}, line {line}: {problem}")


def most(what: str) -> int:
    """Return a limit of `LIMITS`, raised by the setting POSENC_LIMITS where that is given."""
    return int(LIMITS[what] * _factor())


def _factor() -> float:
    given = os.environ.get(SETTING) or "1"
    try:
        factor = float(given)
    except ValueError:
        factor = 0.0
    if not 1 <= factor <= 1e6:
        raise ValueError(f"{SETTING} must be a number from 1 to 1,000,000, got {given!r:.40}")
    return factor


def beyond(what: str) -> str:
    """Return that a limit of `LIMITS` was passed, and how to raise it."""
    return f"more than {most(what):,} {what}; {REMEDY}"


REMEDY = f"if that is no mistake, raise all limits, for example tenfold: {SETTING}=10"


def most_unpacked(size: int) -> int:
    """Return how many bytes a compressed piece of `size` bytes may unpack to."""
    return min(int(max(SMALL, GROWTH * size) * _factor()), most("bytes"))


def check_unpacked(packed: int, unpacked: int) -> None:
    """Raise ValueError if `packed` bytes may not unpack to so many."""
    if unpacked > most_unpacked(packed):
        raise ValueError(_too_much(packed))


def _too_much(packed: int) -> str:
    return f"{packed:,} bytes unpack to more than {most_unpacked(packed):,}; {REMEDY}"


def check_regular(path: Path, error: Error = fault) -> None:
    """Raise an error if something else than a regular file is there; nothing at all may be."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    except ValueError as wrong:  # a zero byte in it
        raise error(path, None, f"is no path that a file can have ({wrong})") from None
    if not stat.S_ISREG(mode):
        kind = next((word for fits, word in _KINDS if fits(mode)), "something else")
        raise error(path, None, f"must be a regular file, is {kind}")


_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def opened(
    path: Path, error: Error = fault, *, unpack: bool = True, limit: str = "bytes"
) -> io.BufferedReader:
    """Open a regular file of no more than a limit for reading, unpacked if its name ends in .gz.

    Reading raises `TooMuchError` where a .gz file unpacks to more than its size explains.
    """
    check_regular(path, error)
    file = open(path, "rb")  # noqa: SIM115 - closed by who asked for it
    size = os.fstat(file.fileno()).st_size
    if size > most(limit):
        file.close()
        raise error(path, None, beyond(limit))
    if unpack and Path(path).suffix == ".gz":
        return io.BufferedReader(_Unpacked(file, size), 1 << 17)
    return file


class TooMuchError(Exception):
    """A file unpacks to more than its size explains."""


class _Unpacked(io.RawIOBase):
    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size = file, size
        self._content = gzip.GzipFile(fileobj=file)
        self._left = most_unpacked(size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        n = self._content.readinto(buffer)
        self._left -= n
        if self._left < 0:
            raise TooMuchError(_too_much(self._size))
        return n

    def close(self) -> None:
        self._content.close()
        self._file.close()
        super().close()


DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, TooMuchError)
"""What reading a .gz file raises where it is damaged or too much."""


def lines(path: Path, error: Error = fault) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end); any BOM, CRLF or .gz is taken away."""
    number, longest, last = 0, most("characters"), most("lines")
    content = opened(path, error)
    try:
        with io.TextIOWrapper(content, "utf-8-sig", errors="surrogateescape") as file:
            while line := file.readline(longest + 1):
                number += 1
                if len(line) > longest:
                    raise error(path, number, f"longer than {longest:,} characters; {REMEDY}")
                if number > last:
                    raise error(path, number, beyond("lines"))
                if not (line.isascii() or _is_utf8(line)):
                    raise error(path, number, "not UTF-8 text")
                yield number, line.rstrip("\r\n")
    except DAMAGED as fault_of_gzip:
        said = "" if isinstance(fault_of_gzip, TooMuchError) else "damaged gzip file: "
        raise error(path, number + 1, f"{said}{fault_of_gzip}") from fault_of_gzip


def _is_utf8(line: str) -> bool:
    try:
        line.encode()
    except UnicodeEncodeError:  # the stand-in of a byte that is none
        return False
    return True


def records(path: Path, offset: int = 0, n_before: int = 0) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file of results behind `offset`, with their ends and numbers."""
    longest = most("bytes of a record")
    with opened(path, unpack=False) as file:
        file.seek(offset)
        number = n_before
        while line := file.readline(longest + 1):
            number += 1
            if len(line) > longest:
                raise fault(path, number, f"longer than {longest:,} bytes; {REMEDY}")
            yield number, line


def text(path: Path, error: Error = fault) -> str:
    """Return a whole document such as JSON, which cannot be read in pieces, without its BOM.

    Raises UnicodeDecodeError if it is not UTF-8.
    """
    with opened(path, error, unpack=False, limit="bytes of a document") as file:
        return file.read().decode("utf-8-sig")


def replace(path: Path, content: str) -> None:
    """Put a text in its place in one step; at any moment there is the old file or the new one."""
    check_regular(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)  # of temporary files it is 0o600
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
