"""Fetch the files of a data set into the cache, all of them or nothing.

pooch downloads, retries and checks the sums. Everything happens in a folder `incoming`, and one
rename moves the finished set into `sets`: whoever looks there finds a whole set or none.
"""

import json
import logging
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from posenc_book import _files
from posenc_book.data import archives, folders, lock
from posenc_book.data.bounded import BeyondLimitError, Bounded
from posenc_book.data.errors import DownloadError

RETRIES = 2
API = "https://zenodo.org/api/records"
MAX_LISTING = 1 << 24  # bytes of a record's list of files, which has a few thousand


@dataclass(frozen=True)
class Url:
    """A file on the web; `sha256` None where its host publishes no sum. Zip files are unpacked."""

    url: str
    sha256: str | None = None

    def fetch(self, folder: Path) -> None:
        pooch = _pooch()
        name = PurePosixPath(urlsplit(self.url).path.replace("%2B", "+").replace("+", "_")).name
        client = pooch.create(
            folder, base_url="", registry={name: self.sha256}, urls={name: self.url},
            retry_if_failed=RETRIES,
        )  # fmt: skip
        client.fetch(name, downloader=Bounded())
        _unpack_if_zip(folder / name, folder)

    def __str__(self) -> str:
        return self.url


@dataclass(frozen=True)
class Zenodo:
    """Files of a Zenodo record, checked against the MD5 sums that Zenodo publishes."""

    record: int
    files: tuple[str, ...]

    def fetch(self, folder: Path) -> None:
        pooch = _pooch()
        listed = self._listed(pooch, folder)
        client = pooch.create(
            folder, base_url="",
            registry={name: one["checksum"] for name, one in listed.items()},
            urls={name: one["links"]["self"] for name, one in listed.items()},
            retry_if_failed=RETRIES,
        )  # fmt: skip
        for name in self._wanted(set(listed)):
            client.fetch(name, downloader=Bounded())
            _unpack_if_zip(folder / name, folder)

    def _listed(self, pooch, folder: Path) -> dict[str, dict]:
        """Return {file: what the record says of it}; pooch's own request for it has no limits."""
        url, name = f"{API}/{self.record}", "record.json"
        client = pooch.create(
            folder, base_url="", registry={name: None}, urls={name: url}, retry_if_failed=RETRIES
        )
        client.fetch(name, downloader=Bounded(most=MAX_LISTING))
        try:
            record = json.loads(_files.text(folder / name))
            return {one["key"]: one for one in record["files"] if one["links"]["self"]}
        except (ValueError, KeyError, TypeError) as error:
            raise DownloadError(f"{url} is not the list of a record's files ({error!r})") from error
        finally:
            (folder / name).unlink()

    def _wanted(self, present: set[str]) -> list[str]:
        plain = [name for name in self.files if name in present]
        archive = self.files[0].removesuffix("_TRAIN.ts") + ".zip"
        zipped = [archive] if archive in present else []
        if len(plain) < len(self.files) and not zipped:
            raise DownloadError(f"{self} holds {sorted(present)}, not {list(self.files)}")
        return plain if len(plain) == len(self.files) else zipped

    def __str__(self) -> str:
        return f"https://zenodo.org/records/{self.record}"


Source = tuple[Url | Zenodo, ...]  # everything that is needed, from one host


def fetch(name: str, sources: tuple[Source, ...], complete: Callable[[Path], bool]) -> Path:
    """Download data set `name` from the first of `sources` that works; return its folder.

    `complete` says of a folder whether it holds the set. Raises DownloadError naming every source
    tried and what went wrong with it.
    """
    folder = folders.cache() / "sets" / name
    incoming = folders.cache() / "incoming" / name
    try:
        with lock.hold(folders.cache() / "locks" / f"{name}.lock"):
            if complete(folder):  # another process was faster
                return folder
            shutil.rmtree(incoming, ignore_errors=True)  # of a process that was killed
            try:
                _fetch_any(name, sources, incoming, complete)
                _replace(incoming, folder)
            finally:
                shutil.rmtree(incoming, ignore_errors=True)
    except OSError as error:
        raise DownloadError(
            f"{name}: cannot write to the cache {folders.cache()} ({error}); set POSENC_CACHE to a "
            f"folder with room"
        ) from error
    return folder


def _fetch_any(
    name: str, sources: tuple[Source, ...], incoming: Path, complete: Callable[[Path], bool]
) -> None:
    _pooch()
    from requests.exceptions import RequestException

    faults = []
    for source in sources:
        try:
            incoming.mkdir(parents=True)
            for part in source:
                part.fetch(incoming)
            if complete(incoming):
                return
            faults.append(f"{source[0]}: downloaded, but the expected files are not in it")
        # RequestException is an OSError, so it must be told from a full disk here; KeyError is
        # what pooch makes of an answer that is not the one it expects from Zenodo
        except (RequestException, BeyondLimitError, ValueError, KeyError) as error:
            faults.append(f"{source[0]}: {error}")
        shutil.rmtree(incoming, ignore_errors=True)
    raise DownloadError(f"{name} could not be downloaded. " + "; ".join(faults))


def _replace(incoming: Path, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.exists():  # an incomplete set that somebody put there
        shutil.rmtree(folder)
    os.replace(incoming, folder)


def _unpack_if_zip(path: Path, folder: Path) -> None:
    if path.suffix == ".zip":
        archives.unpack(path, folder)
        path.unlink()


def _pooch():
    try:
        import pooch
    except ImportError as error:
        raise DownloadError(f"downloading: {error}") from error
    pooch.get_logger().setLevel(logging.WARNING)
    return pooch
