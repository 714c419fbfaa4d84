"""NumPy .npy files, plain or gzipped. Nothing is ever unpickled."""

import gzip
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc.data.errors import FileFormatError


def read_npy(path: Path, n_columns: int) -> NDArray[np.float64]:
    """Return the array (n_rows, n_columns) of the file; all of its numbers are finite."""
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
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0, 0])
        raise FileFormatError(path, None, f"row {row} holds a number that is not finite")
    return values.astype(np.float64)
