"""NumPy .npy files, plain or gzipped. Nothing is ever unpickled."""

import gzip
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc.data.errors import FileFormatError
from posenc.data.formats import text


def read_npy(path: Path, n_columns: int) -> NDArray[np.float64]:
    """Return the array (n_rows, n_columns) of the file, finite as 32-bit numbers too."""
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rb") as file:
            values = np.lib.format.read_array(file, allow_pickle=False)
    except (ValueError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FileFormatError(path, None, f"not a plain NumPy array file ({error})") from error
    if values.ndim != 2 or values.shape[1] != n_columns or values.dtype.kind not in "fiu":
        raise FileFormatError(
            path, None, f"expected numbers (n, {n_columns}), got {values.dtype} {values.shape}"
        )
    fits = text.fits_float32(values)
    if not fits.all():
        row, column = np.argwhere(~fits)[0]
        raise FileFormatError(
            path,
            None,
            f"row {row} holds a number that is not finite in 32 bits: {values[row, column]}",
        )
    return values.astype(np.float64)
