"""MATLAB .mat files up to version 7.2, read by scipy."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc.data.errors import FileFormatError
from posenc.data.formats import text


def read_mat(path: Path, variable: str, n_columns: int) -> NDArray[np.float64]:
    """Return the matrix `variable` (n_rows, n_columns) of the file."""
    import scipy.io  # slow to import, and one data set needs it

    try:
        content = scipy.io.loadmat(path)
    except Exception as error:  # scipy raises whatever the damaged bytes lead it to
        raise FileFormatError(path, None, f"scipy cannot read it ({error})") from error
    names = sorted(key for key in content if not key.startswith("__"))
    if variable not in content:
        raise FileFormatError(path, None, f"has no variable {variable!r}, only {names}")
    values = content[variable]
    if not isinstance(values, np.ndarray):
        raise FileFormatError(path, None, f"{variable} must be numbers, got {type(values)}")
    if values.ndim != 2 or values.shape[1] != n_columns or values.dtype.kind not in "fiu":
        raise FileFormatError(
            path, None, f"{variable} must be numbers (n, {n_columns}), got {values.shape}"
        )
    fits = text.fits_float32(values)
    if not fits.all():
        row, column = np.argwhere(~fits)[0]
        raise FileFormatError(
            path,
            None,
            f"{variable} holds a number that is not finite in 32 bits: {values[row, column]} in "
            f"row {row}",
        )
    return values.astype(np.float64)
