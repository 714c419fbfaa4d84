"""Text files, plain or gzipped, and the numbers in them."""

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc.data.errors import FileFormatError

MAX_LINE = 1 << 26  # characters; the longest of the archives' cases has 3 million


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end); any BOM, CRLF or .gz is taken away."""
    opened = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opened(path, "rt", encoding="utf-8-sig") as file:
            while line := file.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE:
                    raise FileFormatError(path, number, f"longer than {MAX_LINE:,} characters")
                yield number, line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise FileFormatError(path, number + 1, f"not UTF-8 text ({error.reason})") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FileFormatError(path, number + 1, f"damaged gzip file ({error})") from error


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
    if not path.is_file():
        raise FileFormatError(path, None, "no such file")
    return path


def numbers(path: Path, line: int, text: str, *, missing: bool) -> NDArray[np.float64]:
    """Return the comma-separated values; `?` and `NaN` become NaN where `missing` allows it.

    All others are finite, as 32-bit numbers too: that is how the models get them.
    """
    fields = text.split(",")
    try:
        values = np.array([float(field) for field in fields])
    except ValueError:
        values = np.array([_number(path, line, field) for field in fields])
    if "_" in text or not fits_float32(values).all():
        _check_unusual(path, line, fields, values, missing)
    return values


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
