"""The book's own measurements: the files of the folder `results`, read by name.

They are part of the repository and of the installed package, so chapters that quote them run
wherever the package does. Set POSENC_RESULTS to a folder to read yours in their place.
"""

import json
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import posenc_book
from posenc_book import _files
from posenc_book.read import digests
from posenc_book.records import cases
from posenc_book.records.store import Store, unique

Seen = tuple[tuple[int, int] | None, ...]
_PACKAGE = Path(posenc_book.__file__).resolve().parent


def folder() -> Path:
    """Return the folder of results: $POSENC_RESULTS, the checkout's, or the package's own."""
    named = os.environ.get("POSENC_RESULTS")
    if named:
        if not Path(named).is_dir():
            raise ValueError(f"POSENC_RESULTS must name a folder with results, got {named!r}")
        return Path(named)
    for path in (_PACKAGE.parents[1] / "results", _PACKAGE / "results"):
        if path.is_dir():
            return path
    raise ValueError(
        "the folder 'results' is missing: clone the book's repository, or set POSENC_RESULTS to a "
        "folder with files of `posenc bench run`"
    )


def names() -> list[str]:
    """Return the names of the results files, without folder and ending, in order."""
    return sorted(path.stem for path in folder().glob("*.jsonl"))


def load_records(pattern: str, *, locked: bool = True) -> list[dict]:
    """Return the records of every file whose name fits, one per cell; finished ones win.

    Who asks again while the files are as they were gets the same objects: do not change them.

    Parameters
    ----------
    pattern : str
        A name such as "second-Libras", or several such as "second-*".
    locked : bool
        Whether scores must be those of the edition; only what makes a new one does without.

    Returns
    -------
    list of dict
        Records in the form of `posenc_book.records.records`.

    Raises
    ------
    ValueError
        If no file fits, a line of one is no record, or scores are not those of the edition.

    Examples
    --------
    >>> records = load_records("published-control")
    >>> {record["dataset"] for record in records}
    {'RacketSports'}
    """
    paths = sorted(folder().glob(f"{pattern}.jsonl"))
    if not paths:
        raise ValueError(
            f"pattern must fit one of the results files {', '.join(names())}; got {pattern!r}"
        )
    edition = _edition(paths[0])
    now = seen(*paths, edition / digests.FILE)
    return list(_load_once(tuple(paths), now, locked))


def _edition(path: Path) -> Path:
    """Return the folder whose edition locks a file: its own if it has one, or that of results."""
    own = path.parent
    return own if (own / digests.FILE).is_file() else folder()


@lru_cache(maxsize=8)
def _load_once(paths: tuple[Path, ...], seen: Seen, locked: bool) -> tuple[dict, ...]:
    """Return the records of files as `seen`; pages ask for the same ones many times over."""
    *of_paths, digest = seen
    files = (
        _read_once(path, (one, digest), locked) for path, one in zip(paths, of_paths, strict=True)
    )
    return tuple(unique(record for file in files for record in file))


@lru_cache(maxsize=256)
def _read_once(path: Path, seen: tuple, locked: bool) -> tuple[dict, ...]:  # noqa: ARG001
    """Return the records of one file as `seen`, which may stand in several patterns."""
    return tuple(read_records(path, locked=locked))


def seen(*paths: Path) -> Seen:
    """Return what tells that one of some files has changed: size and time, None for a lacking one.

    A function that keeps what it made of the files takes this as an argument.
    """
    return tuple(map(_seen, paths))


def _seen(path: Path) -> tuple[int, int] | None:
    if not path.is_file():
        return None
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def read_records(path: Path, *, locked: bool = True) -> Iterator[dict]:
    """Yield the records of one file of the folder, whose scores must be those of the edition."""
    if not path.is_file():
        return
    for record in Store(path):
        try:
            cases.check(record, by_name=True)
        except ValueError as error:
            raise ValueError(f"{path}, line {_line_of(record, path)}: {error}") from error
        yield record
    if locked:
        digests.check(path, _edition(path))


def _line_of(record: dict, path: Path) -> int:
    """Return the number of the line that holds a record."""
    lines = _files.text(path).splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip() and json.loads(line) == record)
