"""Parsed data sets as plain arrays in the cache, so that the second load takes milliseconds.

One .npz file holds both splits. Its name carries the checksum of the source files, so a changed
source is never answered with old arrays. Files appear whole or not at all.
"""

import hashlib
import os
import tempfile
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from posenc_book import _files
from posenc_book.data import folders
from posenc_book.data.dataset import Dataset

# raise it whenever a reader, a protocol or this layout changes
VERSION = 4
_OPTIONAL = ("mask", "groups", "times")


def location(name: str, digests: dict[str, str]) -> Path:
    """Return the file for data set `name` read from source files with these checksums."""
    listing = "".join(f"{path} {digest}\n" for path, digest in sorted(digests.items()))
    key = hashlib.sha256(f"{VERSION}\n{listing}".encode()).hexdigest()[:20]
    return folders.cache() / "packed" / f"{name}-{key}.npz"


def read_packed(path: Path, split: str) -> Dataset | None:
    """Return one split of the file, or None if it is absent or damaged."""
    try:
        with opened(path) as arrays:
            return Dataset(
                x=arrays[f"{split}_x"],
                y=arrays[f"{split}_y"],
                classes=tuple(arrays["classes"].tolist()),
                name=str(arrays["name"]),
                provenance=str(arrays[f"{split}_provenance"]),
                **{
                    field: arrays[f"{split}_{field}"]
                    for field in _OPTIONAL
                    if f"{split}_{field}" in arrays
                },
            )
    except Exception:  # whatever damaged bytes lead zipfile and NumPy to: it is made anew
        return None


@contextmanager
def opened(path: Path) -> Iterator[Mapping[str, np.ndarray]]:
    """Open a file of arrays that do not unpack to more than its size explains."""
    # np.load would leave a damaged file open
    with _files.opened(path) as file:
        with zipfile.ZipFile(file) as content:
            unpacked = sum(one.file_size for one in content.infolist())
        _files.check_unpacked(path.stat().st_size, unpacked)
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            yield arrays


def write_packed(path: Path, splits: dict[str, Dataset]) -> None:
    """Write all splits to `path`; warn, and leave nothing behind, where that is impossible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, arrays(splits))
    except OSError as error:
        warn_not_kept(path, error)


def warn_not_kept(path: Path, error: Exception) -> None:
    """Say that the set was read but could not be kept."""
    warnings.warn(
        f"cannot keep the packed arrays in {path.parent} ({error}); every load will read the "
        f"source files again. Set POSENC_CACHE to a folder with room.",
        stacklevel=3,
    )


def arrays(splits: dict[str, Dataset]) -> dict[str, np.ndarray]:
    """Return what `read_packed` needs, by name."""
    first = next(iter(splits.values()))
    found = {"classes": np.array(first.classes), "name": np.array(first.name)}
    for split, data in splits.items():
        found |= {f"{split}_x": data.x, f"{split}_y": data.y}
        found[f"{split}_provenance"] = np.array(data.provenance)
        for field in _OPTIONAL:
            if getattr(data, field) is not None:
                found[f"{split}_{field}"] = getattr(data, field)
    return found


def write_whole(path: Path, content: dict[str, np.ndarray], *, compressed: bool = False) -> None:
    """Write arrays to `path` in one step; where that fails, nothing is left behind."""
    descriptor, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            (np.savez_compressed if compressed else np.savez)(file, allow_pickle=False, **content)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
