"""A short name for what `load` returns, so that a record can say which series it was made with."""

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from posenc_book.data.dataset import Dataset
from posenc_book.data.load import SPLITS, load

DIGITS = 16


def fingerprint(name: str, **options) -> str:
    """Return 16 hexadecimal digits of the content of a data set, both parts.

    Series, labels, classes, masks, groups and times count; the place and the packing of the files,
    terms and notes do not.

    Parameters
    ----------
    name : str
        A data set, see `names`.
    **options
        Those of `load`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        As `load` does: for an unknown name or option, or a set that is not on this machine and
        cannot be downloaded.

    Examples
    --------
    Another seed makes other series:

    >>> fingerprint("range_probe", n=4) == fingerprint("range_probe", n=4, seed=1)
    False
    """
    return of_parts(load(name, split, **options) for split in SPLITS)


def of_parts(parts: Iterable[Dataset]) -> str:
    """Return 16 hexadecimal digits of the content of some parts."""
    digest = hashlib.sha256()
    for part in parts:
        for piece in _pieces(part):
            digest.update(piece)
    return digest.hexdigest()[:DIGITS]


def _pieces(part: Dataset):
    yield "\n".join(part.classes).encode()
    real = np.ones(part.x.shape[:2], dtype=bool) if part.mask is None else part.mask
    yield from _array(part.x)
    yield from _array(part.y)
    yield from _array(real)
    yield b"independent" if part.groups is None else b"grouped"
    if part.groups is not None:
        yield from _array(part.groups)
    if part.times is not None:
        yield b"timed"
        yield from _array(part.times)


def _array(values: NDArray):
    yield f"{values.dtype.name} {values.shape}".encode()
    # the same bytes on machines that store the last byte first
    yield np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).data
