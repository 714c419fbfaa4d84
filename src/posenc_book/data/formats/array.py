"""NumPy .npy files, plain or gzipped. Nothing is ever unpickled."""

import warnings
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from posenc_book import _files
from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats import text

PIECE = 1 << 20
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_npy(path: Path, n_columns: int) -> NDArray[np.float64]:
    """Return the array (n_rows, n_columns) of the file, finite as 32-bit numbers too."""
    try:
        with _files.opened(path, FileFormatError) as file:
            values = _read(path, file, n_columns)
    except FileFormatError:
        raise
    except (ValueError, *_files.DAMAGED) as error:
        raise FileFormatError(path, None, f"not a plain NumPy array file ({error})") from error
    fits = text.fits_float32(values)
    if not fits.all():
        row, column = np.argwhere(~fits)[0]
        raise FileFormatError(
            path,
            None,
            f"row {row} holds a number that is not finite in 32 bits: {values[row, column]}",
        )
    return values.astype(np.float64)


def _read(path: Path, file: BinaryIO, n_columns: int) -> NDArray:
    """Return the array, whose header may promise more than the file holds."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise FileFormatError(path, None, f"version {version} of the format is not read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that Python 2 wrote
            shape, by_columns, dtype = _HEADERS[version](file)
    except Exception as error:  # NumPy raises whatever the damaged bytes lead it to
        raise ValueError(f"no header: {error}") from error
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are never unpickled")
    if len(shape) != 2 or shape[0] < 0 or shape[1] != n_columns or dtype.kind not in "fiu":
        raise FileFormatError(path, None, f"expected numbers (n, {n_columns}), got {dtype} {shape}")
    wanted = shape[0] * shape[1] * dtype.itemsize
    most = _files.most("bytes of an array")
    if wanted > most:
        said = f"promises {wanted:,} bytes, over {most:,}; {_files.REMEDY}"
        raise FileFormatError(path, None, said)
    content = _up_to(file, wanted + 1)
    if len(content) != wanted:
        more = "more" if len(content) > wanted else f"{len(content):,}"
        raise FileFormatError(path, None, f"promises {wanted:,} bytes, holds {more}")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if by_columns else "C")


def _up_to(file: BinaryIO, most: int) -> bytes:
    """Return so many bytes of a file or all; in pieces, so that a promise alone takes no memory."""
    pieces = []
    while most and (piece := file.read(min(PIECE, most))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)
