"""What the sets of the benchmark give without a transformer, as it is stored."""

from functools import lru_cache
from pathlib import Path

from posenc_book.read import digests, results
from posenc_book.records.baselines import read_baselines


def load_baselines() -> list[dict]:
    """Return the records of the baselines, from the folder `baselines`; [] where there are none.

    Who asks again while the files are as they were gets the same objects: do not change them.
    """
    folder = results.folder()
    paths = sorted((folder / "baselines").glob("*.jsonl"))
    return list(_load_once(folder, tuple(paths), results.seen(*paths, folder / digests.FILE)))


@lru_cache(maxsize=2)
def _load_once(folder: Path, paths: tuple[Path, ...], _seen: results.Seen) -> tuple[dict, ...]:
    """Return the records of files as they were seen; every grid of the edition asks for them."""
    found = tuple(record for path in paths for record in read_baselines(path))
    for path in paths:
        digests.check(path, folder)
    return found
