"""Tables of numbers as text: comma or tab between the columns, perhaps one header line."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats import text


def read_table(
    path: Path,
    n_columns: int,
    *,
    delimiter: str = ",",
    header: int = 0,
    dtype: type = np.float64,
) -> NDArray:
    """Return the numbers of the file as `dtype` (n_rows, n_columns), all finite in 32 bits."""
    rows = (row for _, row in _rows(path, n_columns, delimiter, header))
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "loadtxt: input contained no data")
            values = np.loadtxt(rows, dtype, delimiter=delimiter, ndmin=2)
    except FileFormatError:
        raise
    except ValueError as error:
        # NumPy is fast but counts rows without header and empty lines: look for the line ourselves
        _raise_first_fault(path, n_columns, delimiter, header)
        raise FileFormatError(path, None, str(error)) from error
    if values.shape[1:] != (n_columns,) or not text.fits_float32(values).all():
        _raise_first_fault(path, n_columns, delimiter, header)
        raise FileFormatError(path, None, f"expected {n_columns} columns of finite numbers")
    return values


def _rows(path: Path, n_columns: int, delimiter: str, header: int) -> Iterator[tuple[int, str]]:
    """Yield the lines behind the header, none of them with more columns than expected."""
    for line, row in text.lines(path):
        if line <= header:
            continue
        if "#" in row:  # where NumPy sees a comment begin
            row = row.partition("#")[0]
        n_here = row.count(delimiter) + 1
        if n_here > n_columns:
            raise FileFormatError(path, line, f"expected {n_columns} columns, got {n_here:,}")
        yield line, row


def _raise_first_fault(path: Path, n_columns: int, delimiter: str, header: int) -> None:
    n_rows = 0
    for line, row in _rows(path, n_columns, delimiter, header):
        if not row.strip():
            continue
        n_rows += 1
        n_here = row.count(delimiter) + 1
        if n_here != n_columns:
            raise FileFormatError(path, line, f"expected {n_columns} columns, got {n_here}")
        text.numbers(path, line, row.replace(delimiter, ","), missing=False)
    if not n_rows:
        raise FileFormatError(path, None, "holds no rows")
