"""MATLAB .mat files of version 5 (MATLAB's -v6 and -v7): real matrices of numbers, nothing else.

scipy's reader is not used: on damaged bytes it can end the whole process by a segmentation fault.
The tests compare with it. The format: "MAT-File Format", The MathWorks.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc_book import _files
from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats import text

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_CLASSES = range(6, 16)  # double, single, and whole numbers of 8 to 64 bits
_LOGICAL, _COMPLEX = 1 << 9, 1 << 11
Element = tuple[int, bytes]


def read_mat(path: Path, variable: str, n_columns: int) -> NDArray[np.float64]:
    """Return the matrix `variable` (n_rows, n_columns) of the file."""
    path = Path(path)
    try:
        with _files.opened(path, FileFormatError, limit="bytes of an array") as file:
            found = dict(_variables(file.read()))
        if variable not in found:
            raise FileFormatError(path, None, f"has no variable {variable!r}, only {sorted(found)}")
        values = _matrix(*found[variable])
    except (ValueError, zlib.error) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(path, None, f"cannot be read as a .mat file: {error}") from error
    if values.ndim != 2 or values.shape[1] != n_columns:
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


def _variables(content: bytes) -> Iterator[tuple[str, tuple[list[Element], str]]]:
    """Yield the name of every variable with its elements and the order of its bytes."""
    order = {b"IM": "<", b"MI": ">"}.get(content[_HEADER - 2 : _HEADER])
    if order is None or content[_HEADER - 4 : _HEADER - 2] not in (b"\x00\x01", b"\x01\x00"):
        raise ValueError("no header of version 5; save it with -v6 or -v7")
    for kind, body in _elements(content[_HEADER:], order):
        if kind == _COMPRESSED:
            kind, body = _unpacked(body, order)
        if kind != _MATRIX:
            continue
        parts = list(_elements(body, order))
        if len(parts) >= 3 and parts[2][0] == 1:
            yield parts[2][1].decode("latin-1"), (parts, order)


def _elements(content: bytes, order: str) -> Iterator[Element]:
    """Yield type and bytes of the elements that stand one after the other."""
    at = 0
    while at < len(content):
        head = content[at : at + 8]
        if len(head) < 8:
            raise ValueError("it ends within an element")
        kind, size = (int(one) for one in np.frombuffer(head, f"{order}u4"))
        if kind >> 16:  # four bytes or fewer stand in the head
            kind, size, start, after = kind & 0xFFFF, kind >> 16, at + 4, at + 8
            if size > 4:
                raise ValueError(f"a small element promises {size} bytes")
        else:
            start = at + 8
            after = start + size + (0 if kind == _COMPRESSED else -size % 8)
        if start + size > len(content):
            raise ValueError(f"promises {size:,} bytes, holds {len(content) - start:,}")
        yield kind, content[start : start + size]
        at = after


def _unpacked(body: bytes, order: str) -> Element:
    """Return the one element that stands compressed in another."""
    unpack = zlib.decompressobj()
    content = unpack.decompress(body, _files.most_unpacked(len(body)) + 1)
    _files.check_unpacked(len(body), len(content))
    return next(_elements(content, order), (0, b""))


def _matrix(parts: list[Element], order: str) -> NDArray:
    """Return the array of a matrix: flags, sizes, name and numbers, column by column."""
    (_, flags), (sizes_kind, sizes), _, *numbers = parts
    flag = int(np.frombuffer(flags[:4], f"{order}u4")[0]) if len(flags) >= 4 else 0
    if (flag & 0xFF) not in _CLASSES or flag & (_LOGICAL | _COMPLEX):
        raise ValueError("the variable must be a matrix of real numbers")
    if len(numbers) != 1 or numbers[0][0] not in _NUMBERS or sizes_kind != 5 or len(sizes) % 4:
        raise ValueError("the variable must be a plain matrix of numbers")
    kind, content = numbers[0]
    dtype = np.dtype(f"{order}{_NUMBERS[kind]}")
    shape = [int(one) for one in np.frombuffer(sizes, f"{order}i4")]
    if len(content) % dtype.itemsize:
        raise ValueError("the numbers of the variable are cut off")
    if min(shape, default=-1) < 0 or len(shape) > 32:
        raise ValueError(f"a matrix cannot have the sizes {shape[:8]}")
    return np.frombuffer(content, dtype).reshape(shape, order="F")
