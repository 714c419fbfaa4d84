"""The SHA-256 sums of the files that this book was written with."""

import hashlib
from functools import cache
from pathlib import Path

from posenc_book import _files
from posenc_book.data.errors import DataError, FileFormatError

FILE = Path(__file__).with_name("checksums.sha256")


@cache
def known() -> dict[str, str]:
    """Return {path below the data folder: SHA-256}, each file both plain and gzipped."""
    return _listed(_files.text(FILE))


def add(digests: dict[str, str], path: Path = FILE) -> int:
    """Enter the sums of files that are not listed yet; return how many were new."""
    text = _files.text(path)
    listed = _listed(text)
    for name, digest in digests.items():
        if listed.get(name, digest) != digest:
            raise DataError(f"{name}: listed with the sum {listed[name]}, this file has {digest}")
    new = {name: digest for name, digest in digests.items() if name not in listed}
    lines = text.splitlines() + [f"{digest}  {name}" for name, digest in new.items()]
    _files.replace(path, "".join(f"{line}\n" for line in lines))
    known.cache_clear()
    return len(new)


def _listed(text: str) -> dict[str, str]:
    pairs = (line.split("  ", 1) for line in text.splitlines())
    return {path: digest for digest, path in pairs}


def sha256(path: Path) -> str:
    """Return the SHA-256 sum of the file, in hexadecimal."""
    with _files.opened(path, FileFormatError, unpack=False) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def compare(digests: dict[str, str]) -> tuple[int, int, list[str]]:
    """Return how many files agree, how many are unknown, and the paths of those that differ.

    A file agrees if any known file of its data set has its sum: hosts keep them in other folders.
    """
    agree, unknown, differ = 0, 0, []
    for path, digest in digests.items():
        sums = _sums_by_file(path.partition("/")[0], _plain(path))
        agree += digest in sums
        unknown += not sums
        if sums and digest not in sums:
            differ.append(path)
    return agree, unknown, differ


def _plain(path: str) -> str:
    """Return the last two parts of `path` without .gz: enough to know a file of one data set."""
    return "/".join(path.removesuffix(".gz").split("/")[-2:])


def _sums_by_file(dataset: str, plain: str) -> set[str]:
    return {
        digest
        for path, digest in known().items()
        if path.startswith(dataset + "/") and _plain(path) == plain
    }
