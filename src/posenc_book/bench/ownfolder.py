"""Files that a command keeps in a folder, beside those of others: it replaces its own only."""

import hashlib
import os
from pathlib import Path

from posenc_book import _files
from posenc_book.bench import ownfile


def put(made: Path, folder: Path, listing: str, maker: str) -> None:
    """Move all files of one folder into another, over those only that this command put there."""
    known = ownfile.read_own(folder / listing, maker).get("files", {})
    new = {path.name: _sum(path) for path in sorted(made.iterdir())}
    for name in new:
        path = folder / name
        if path.exists() and not (path.is_file() and known.get(name) == _sum(path)):
            raise ValueError(
                f"{path} was not written by {maker}, or was changed since: move it away, or name "
                "another --out; it was left as it is"
            )
    for name in new:
        os.replace(made / name, folder / name)
    ownfile.write_own(folder / listing, maker, {"files": dict(sorted({**known, **new}.items()))})


def _sum(path: Path) -> str:
    with _files.opened(path, unpack=False) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
