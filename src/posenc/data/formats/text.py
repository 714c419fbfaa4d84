"""Text files, plain or gzipped, and the numbers in them."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc.data.errors import FileFormatError


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end); any BOM, CRLF or .gz is taken away."""
    opened = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opened(path, "rt", encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                yield number, line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise FileFormatError(path, number + 1, f"not UTF-8 text ({error.reason})") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FileFormatError(path, number + 1, f"damaged gzip file ({error})") from error


def numbers(path: Path, line: int, text: str, *, missing: bool) -> NDArray[np.float64]:
    """Return the comma-separated values; `?` and `NaN` become NaN where `missing` allows it."""
    fields = text.split(",")
    try:
        values = np.array([float(field) for field in fields])
    except ValueError:
        values = np.array([_number(path, line, field) for field in fields])
    if "_" in text or not np.isfinite(values).all():
        _check_unusual(path, line, fields, values, missing)
    return values


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
        if np.isnan(value) and not missing:
            raise FileFormatError(
                path, line, f"missing value {field.strip()!r}, but the header does not announce any"
            )
