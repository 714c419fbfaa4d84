"""Text files, plain or gzipped, and the numbers in them."""

import csv
import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc_book import _files
from posenc_book.data.errors import FileFormatError

DELIMITERS = ",;\t"
PIECE = 1 << 16  # characters of a line whose fields are taken apart at once


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end); any BOM, CRLF or .gz is taken away."""
    return _files.lines(path, FileFormatError)


def readable(path: Path | str) -> Path:
    """Return `path` as a Path to a file that is there, or raise ValueError."""
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"path must be a file's path, a str or a Path, got {path!r:.80}")
    path = Path(path)
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass  # said below
    except (OSError, ValueError) as error:  # too long a name, or a zero byte in it
        raise ValueError(f"path must be one that a file can have, got {str(path)!r:.80}") from error
    if not path.exists():
        raise FileFormatError(path, None, "no such file")
    _files.check_regular(path, FileFormatError)
    return path


def table(path: Path, delimiter: str = "") -> tuple[str, Iterator[tuple[int, list[str]]]]:
    """Return the delimiter of somebody's table, and (first line, fields) of its rows.

    Fields in quotes may hold delimiters and line breaks. Where no delimiter is given, the first
    line says it: by `sep=;`, as spreadsheets do, or as the commonest sign of `DELIMITERS` in it.
    """
    lines = _files.lines(path, _fault)
    first = next((pair for pair in lines if pair[1].strip()), (1, ""))
    if "\0" in first[1]:
        raise _fault(path, first[0], "not UTF-8 text")
    if hint := re.fullmatch('"?sep=(.)"?', first[1]):
        if delimiter not in ("", hint[1]):
            why = f"it says that {hint[1]!r} stands between fields: add --separator '{hint[1]}'"
            raise FileFormatError(path, first[0], why)
        delimiter, first = hint[1], next(lines, (2, ""))
    delimiter = delimiter or max(DELIMITERS, key=first[1].count)
    return delimiter, _rows(path, delimiter, chain([first], lines))


def _rows(
    path: Path, delimiter: str, lines: Iterator[tuple[int, str]]
) -> Iterator[tuple[int, list[str]]]:
    begin = n_before = 0

    def pieces() -> Iterator[str]:
        nonlocal begin, n_before
        for line, row in lines:
            begin, n_before = begin or line, n_before + row.count(delimiter)
            if n_before >= _files.most("columns"):
                raise FileFormatError(path, line, _files.beyond("columns"))
            yield f"{row}\n"

    try:
        for row in csv.reader(pieces(), delimiter=delimiter):
            if len(row) > 1 or "".join(row).strip():
                yield begin, row
            begin = n_before = 0
    except csv.Error as error:
        why = f"not a row of a table ({error}); does a field in quotes have no end?"
        raise FileFormatError(path, begin, why) from error


def heads(row: list[str]) -> list[str]:
    """Return the names in the first row of a table, each on one line."""
    return [name.replace("\n", " ").strip() for name in row]


def uneven(line: int, row: list[str]) -> str:
    """Return what else to say of a row with too many or too few fields: where its quotes end."""
    n_breaks = sum(field.count("\n") for field in row)
    end = f"; a field in quotes goes on to line {line + n_breaks}: is its closing sign missing?"
    return end * bool(n_breaks)


def _fault(path: Path, line: int | None, problem: str) -> FileFormatError:
    remedy = "; save the table as CSV in UTF-8" * (problem == "not UTF-8 text")
    return FileFormatError(path, line, problem + remedy)


def fields(path: Path, line: int, row: str, delimiter: str = ",") -> list[str]:
    """Return the fields of a line of a table, which may hold delimiters where they are quoted."""
    if row.count(delimiter) >= _files.most("columns"):
        raise FileFormatError(path, line, _files.beyond("columns"))
    try:
        return next(csv.reader([row], delimiter=delimiter), [])
    except csv.Error as error:
        raise FileFormatError(path, line, f"not a line of a table ({error})") from error


def numbers(path: Path, line: int, text: str, *, missing: bool) -> NDArray[np.float64]:
    """Return the comma-separated values; `?` and `NaN` become NaN where `missing` allows it.

    All others are finite, as 32-bit numbers too: that is how the models get them.
    """
    # a long line in pieces, as the texts of its fields take many times its own memory
    pieces = [_numbers(path, line, piece, missing) for piece in _pieces(text)]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _numbers(path: Path, line: int, text: str, missing: bool) -> NDArray[np.float64]:
    fields = text.split(",")
    try:
        values = np.array([float(field) for field in fields])
    except ValueError:
        values = np.array([_number(path, line, field) for field in fields])
    if "_" in text or not fits_float32(values).all():
        _check_unusual(path, line, fields, values, missing)
    return values


def _pieces(text: str) -> Iterator[str]:
    """Yield a text cut at commas into pieces that are little longer than `PIECE`."""
    start = 0
    while (end := text.find(",", start + PIECE)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def fits_float32(values: NDArray) -> NDArray[np.bool_]:
    """Return where values are finite and stay so as 32-bit numbers."""
    return np.abs(values) <= np.finfo(np.float32).max


def _number(path: Path, line: int, field: str) -> float:
    field = field.strip()
    try:
        return np.nan if field == "?" else float(field)
    except ValueError:
        said = "an empty value" if not field else f"{field[:40]!r}"
        raise FileFormatError(path, line, f"expected a number or ?, got {said}") from None


def _check_unusual(
    path: Path, line: int, fields: list[str], values: NDArray, missing: bool
) -> None:
    for field, value in zip(fields, values, strict=True):
        if "_" in field or np.isinf(value):
            raise FileFormatError(path, line, f"expected a finite number, got {field.strip()!r}")
        if np.isfinite(value) and not fits_float32(value):
            raise FileFormatError(
                path, line, f"{field.strip()} is beyond the 32-bit numbers, which end at 3.4e38"
            )
        if np.isnan(value) and not missing:
            raise FileFormatError(
                path, line, f"missing value {field.strip()!r}, but the header does not announce any"
            )


def check_real_step(path: Path, line: int, series: NDArray[np.float64]) -> None:
    """Raise FileFormatError if no step of `series` (length, n_channels) has all of its values."""
    if np.isnan(series).any(axis=1).all():
        raise FileFormatError(
            path,
            line,
            "every step of the series has a missing value: nothing is left to learn from",
        )
