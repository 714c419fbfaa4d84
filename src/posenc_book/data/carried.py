"""Packed arrays in a folder of one's own, for a machine that has no source files.

`posenc data pack` writes them, a file a set, and `load` finds them where
$POSENC_DATA points to that folder. Each file holds the checksums of the files that it was made
from, which must be those of the copies this book used wherever it knows any.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from posenc_book import _files
from posenc_book.data import checksums, packed
from posenc_book.data.dataset import Dataset
from posenc_book.data.errors import DataError, FileFormatError

MAKER = "posenc data pack"


def location(folder: Path, name: str) -> Path:
    """Return the file for data set `name`."""
    return folder / f"{name}.npz"


def write_carried(path: Path, splits: dict[str, Dataset], digests: dict[str, str]) -> None:
    """Write a set with the checksums of its source files, over an older file of this kind only."""
    _files.check_regular(path, FileFormatError)
    if path.exists():
        read_digests(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    more = {"version": np.array(packed.VERSION), "digests": np.array(json.dumps(digests))}
    packed.write_whole(path, packed.arrays(splits) | more, compressed=True)


def read_digests(path: Path) -> dict[str, str]:
    """Return {NAME/path: SHA-256} of the files that a set was made from."""
    why = "it lacks its checksums"
    try:
        with packed.opened(path) as arrays:
            version, digests = int(arrays["version"]), json.loads(str(arrays["digests"]))
            good = all(isinstance(one, str) for pair in digests.items() for one in pair)
    except Exception as error:  # whatever damaged bytes lead zipfile, NumPy and json to
        good, why = False, str(error)
    if not good:
        raise DataError(f"{path} was not written by `{MAKER}`, or is damaged: move it away ({why})")
    if version != packed.VERSION:
        raise DataError(
            f"{path} was packed by another version of this package: remove it, and pack it anew "
            "where the source files are"
        )
    return digests


def read_carried(path: Path, name: str, split: str) -> Dataset:
    """Return one split of a set."""
    _check_digests(path, name, read_digests(path))
    data = packed.read_packed(path, split)
    if data is None or data.name != name:
        raise DataError(f"{path} is damaged, or no {name}: pack it anew where the source files are")
    return replace(data, provenance=f"{data.provenance}; read from packed arrays")


def _check_digests(path: Path, name: str, digests: dict[str, str]) -> None:
    is_known = any(file.startswith(f"{name}/") for file in checksums.known())
    agree, _, differ = checksums.compare(digests)
    if is_known and (agree < len(digests) or not digests):
        others = ", ".join(differ or list(digests)[:3]) or "none"
        raise DataError(
            f"{path} must be made from the copies of {name} that this book used, got other files "
            f"({others}); put the source files themselves where $POSENC_DATA points to"
        )
