"""Find a data set by name, fetch it if need be, read it once, keep the arrays."""

import difflib
import inspect
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from posenc import _checks
from posenc_book.data import carried, checksums, download, folders, lock, packed
from posenc_book.data.dataset import Dataset
from posenc_book.data.errors import DataError, DownloadError, MissingDataError, UnknownDatasetError
from posenc_book.data.formats import ts
from posenc_book.data.lost_samples import CLOCKS, lose_samples
from posenc_book.data.registry import ENTRIES, ROLES, Entry, from_archive
from posenc_book.data.sets import archive
from posenc_book.data.synthetic import FAMILIES

SPLITS = ("train", "test")
"""The official parts of every data set, as `load` takes them."""
LOSSES = ("lost", "clock", "seed")
# what a set is here for, in the order of `names`: the roles of the registry and two more
GROUPS = ROLES | {
    "bundled": "sets that come with the library aeon",
    "synthetic": "made by the simulators of this package, never real",
}
OWN_TERMS = "not known here: no list of this book, of aeon or of the archives has the set"


@dataclass(frozen=True)
class Found:
    """The files of a data set on this machine, and the place they were found in."""

    place: str
    folder: Path
    paths: tuple[Path, ...]
    is_carried: bool = False  # packed arrays, no source files

    def digests(self) -> dict[str, str]:
        """Return {NAME/path: SHA-256} of every source file."""
        if self.is_carried:
            return carried.read_digests(self.paths[0])
        root = self.folder.parent
        return {path.relative_to(root).as_posix(): checksums.sha256(path) for path in self.paths}


def names(group: str | None = None) -> list[str]:
    """Return the names of the registered, bundled and synthetic data sets, group after group.

    Beyond these, `load` takes the name of any set of the UCR and UEA archives.

    Parameters
    ----------
    group : {"survey", "anomaly", "stand-in", "archive", "bundled", "synthetic"}, optional
        What the sets are here for: those of the survey and of the anomaly paper, sets in the place
        of survey sets that could not be had, further sets of the archives, those that come with
        aeon, and simulators. None means all groups.

    Returns
    -------
    list of str
        Sets of a group in alphabetical order.

    Raises
    ------
    ValueError
        For an unknown group.

    Examples
    --------
    >>> names("synthetic")
    ['elevator', 'range_probe']
    >>> names("anomaly")
    ['MSL', 'SMD']
    """
    if group is None:
        return [name for one in GROUPS for name in names(one)]
    _checks.choice("group", group, GROUPS)
    if group == "synthetic":
        found = list(FAMILIES)
    elif group == "bundled":
        found = [name for name in _bundled() if name not in ENTRIES]
    else:
        found = [name for name, entry in ENTRIES.items() if entry.role == group]
    return sorted(found, key=str.lower)


def load(name: str, split: str, **options) -> Dataset:
    """Return one split of a data set.

    Real sets are looked for in $POSENC_DATA, then in the cache ($POSENC_CACHE or the platform's
    cache folder), then among the sets that come with aeon, and then downloaded, unless
    POSENC_OFFLINE is set. Where there are no source files, $POSENC_DATA may also hold what
    `posenc data pack` has written.

    Parameters
    ----------
    name : str
        One of `names`, or a set of the UCR and UEA archives.
    split : {"train", "test"}
        Which of the official parts.
    **options
        Parameters of a synthetic family, see `posenc_book.data.synthetic`. From a real set they
        take steps away: `lost`, and with it `clock` and `seed`, see
        `posenc_book.data.lost_samples`.

    Returns
    -------
    Dataset

    Raises
    ------
    UnknownDatasetError
        If no data set has this name.
    MissingDataError
        If the files are not on this machine and cannot be downloaded; the message says what to do.
    FileFormatError
        If a file is damaged.
    ValueError
        For another split, and for options that the set does not take. The errors above are
        ValueErrors, too.

    Examples
    --------
    >>> load("range_probe", "train", n=100, length=32)
    Dataset('range_probe', n=100, length=32, n_channels=2, n_classes=2)
    """
    if split not in SPLITS:
        raise ValueError(f'split must be "train" or "test", got {split!r}')
    if _is_simulated(name):
        _check_options(
            name, options, inspect.signature(FAMILIES[name]).parameters.keys() - {"split"}
        )
        return FAMILIES[name](split, **options)
    _check_options(name, options, LOSSES)
    if options and not {"lost", "clock"} & options.keys():
        raise ValueError(f"option lost must say which share of the steps to lose, got {options}")
    data = _load_recordings(find_entry(name), split)
    if "lost" in options:
        return lose_samples(data, split, **options)
    return _on_clock(data, **options) if options else data


def _on_clock(data: Dataset, *, clock: str, **others: Any) -> Dataset:
    """Return a set that keeps its times with them, or with its steps counted."""
    if data.times is None or others:
        raise ValueError(
            "option lost must say which share of the steps to lose, or the set keep times of its "
            f"own, got {dict(others, clock=clock)} for {data.name}"
        )
    counted = _checks.choice(f"option clock of {data.name}", clock, CLOCKS) == "indices"
    return replace(data, times=None) if counted else data


def _check_options(name: str, options: Mapping[str, Any], known: Iterable[str]) -> None:
    for option in options:
        _checks.choice(f"option of {name}", option, sorted(known))


def _load_recordings(entry: Entry, split: str) -> Dataset:
    found = find(entry) or fetch(entry)
    if found.is_carried:
        return carried.read_carried(found.paths[0], entry.name, split)
    digests = found.digests()
    path = packed.location(entry.name, digests)
    data = packed.read_packed(path, split)
    if data is None:
        data = _read_and_pack(entry, found, digests, path)[split]
    return data


def is_here(name: str) -> bool:
    """Return whether `load` would answer without a download.

    Parameters
    ----------
    name : str
        As for `load`.

    Returns
    -------
    bool

    Raises
    ------
    DataError
        If no data set has this name, or half of its files are missing.

    Examples
    --------
    >>> is_here("elevator")  # made on the spot
    True
    """
    return _is_simulated(name) or find(find_entry(name)) is not None


def can_load(name: str) -> bool:
    """Return whether `load` gives the set; where it can't, print what is missing and what to do.

    Parameters
    ----------
    name : str
        As for `load`, which may download it.

    Returns
    -------
    bool

    Raises
    ------
    UnknownDatasetError
        If no data set has this name.

    Examples
    --------
    >>> if can_load("elevator"):
    ...     print(len(load("elevator", "train")) > 0)
    True
    """
    try:
        load(name, "train")
    except MissingDataError:
        print(
            f"Left out: the data set {name} is not here and could not be fetched. "
            f'data.load("{name}") says from where to fetch it, and where to put it.'
        )
        return False
    return True


def _is_simulated(name: object) -> bool:
    return isinstance(name, str) and name in FAMILIES


def check_own_name(name: str) -> None:
    """Raise DataError unless `load` would take a folder of this name for a set of one's own."""
    _check_name("the folder's name", name)
    if name in FAMILIES or name in ENTRIES:
        raise DataError(f"the folder's name must not be that of a set of this book, got {name!r}")


def _check_name(which: str, name: object) -> None:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", name):
        raise UnknownDatasetError(
            f"{which} must be up to 100 letters, digits, - and _, beginning with a letter or "
            f"digit, got {name!r:.80}"
        )


def find_entry(name: str) -> Entry:
    """Return the registry's entry for `name`, or one made up for a set of the archives."""
    _check_name("name", name)
    if name in FAMILIES:
        raise UnknownDatasetError(f"{name} is made by a simulator and has no files")
    if name in ENTRIES:
        return ENTRIES[name]
    entry = from_archive(name, None)
    if find(entry):
        return entry
    records = _zenodo_records()
    if name in records:
        return from_archive(name, records[name])
    half = _missing_half(name)
    if half:
        raise MissingDataError(f"{name} lacks its other half: {half} is not there")
    close = difflib.get_close_matches(name, {*names(), *records}, n=3)
    if not (close or records):
        return entry  # without aeon no list says which sets there are, the archive's page does
    hint = f"did you mean {', '.join(close)}?" if close else "see posenc_book.data.names()"
    raise UnknownDatasetError(f"there is no data set {name!r}; {hint}")


def _missing_half(name: str) -> Path | None:
    """Return the file that a set of the archives' form lacks where half of it is, or None."""
    halves = (archive.missing_half(root / name, name) for _, root in folders.search())
    return next(filter(None, halves), None)


def find(entry: Entry) -> Found | None:
    """Return the set's files in the first place that has them, packed arrays last, or None."""
    for place, root in folders.search():
        folder = root / entry.name
        paths = entry.layout.find(folder, entry.name)
        if paths:
            return Found(place, folder, tuple(paths))
    for place, root in folders.search():
        path = carried.location(root, entry.name)
        if path.is_file():
            return Found(f"{place}, packed", root, (path,), is_carried=True)
    return None


def fetch(entry: Entry) -> Found:
    """Download the set into the cache and return its files there."""
    if os.environ.get("POSENC_OFFLINE"):
        raise MissingDataError(_how_to_get(entry, "POSENC_OFFLINE forbids downloads"))
    try:
        download.fetch(
            entry.name, entry.sources, lambda folder: bool(entry.layout.find(folder, entry.name))
        )
    except DownloadError as error:
        raise MissingDataError(_how_to_get(entry, str(error))) from error
    found = find(entry)
    if found is None:
        raise MissingDataError(_how_to_get(entry, "it vanished after the download"))
    return found


def _how_to_get(entry: Entry, why: str) -> str:
    urls = " or ".join(" and ".join(map(str, source)) for source in entry.sources)
    place = Path(os.environ.get("POSENC_DATA") or folders.cache() / "sets") / entry.name
    half = _missing_half(entry.name) if entry.layout is archive else None
    why += f"; {half} would make it whole" if half else ""
    return (
        f"{entry.name} is not on this machine ({why}). Fetch {urls} (its page: {entry.page}), "
        f"unpack it, and put the files into {place}"
    )


def _read_and_pack(
    entry: Entry, found: Found, digests: dict[str, str], path: Path
) -> dict[str, Dataset]:
    origin, own = _origin(digests), _is_own(entry, found)
    terms = OWN_TERMS if own else entry.terms
    splits = {
        split: replace(data, provenance=f"{_part(split, data, own)}; {origin}; terms: {terms}")
        for split, data in entry.layout.build(list(found.paths), entry.name).items()
    }
    _check_classes(splits["train"], splits["test"])
    _pack(entry.name, path, splits)
    return splits


def _is_own(entry: Entry, found: Found) -> bool:
    """Return whether no list holds the set; that of aeon takes seconds to ask."""
    listed = entry.name in ENTRIES or found.place == "aeon"
    return not listed and entry.name not in _zenodo_records()


def _part(split: str, data: Dataset, own: bool) -> str:
    """Return what is said of a split; nobody calls one's own official."""
    return f"{split} part, from files of one's own" if own else data.provenance


def _check_classes(train: Dataset, test: Dataset) -> None:
    unseen = sorted(set(test.y.tolist()) - set(train.y.tolist()))
    if unseen:
        raise DataError(
            f"{train.name}: the test part holds the class {train.classes[unseen[0]]!r}, the "
            f"training part does not"
        )


def _pack(name: str, path: Path, splits: dict[str, Dataset]) -> None:
    try:
        with lock.hold(folders.cache() / "locks" / f"{name}.lock"):
            packed.write_packed(path, splits)
    except (OSError, DataError) as error:
        packed.warn_not_kept(path, error)


def _origin(digests: dict[str, str]) -> str:
    agree, unknown, differ = checksums.compare(digests)
    listed = ", ".join(differ[:3]) + (", ..." if len(differ) > 3 else "")
    said = [
        f"{agree} equal to the copies this book used" if agree else "",
        f"{unknown} unknown to this book" if unknown else "",
        f"{len(differ)} DIFFERENT from the copies this book used ({listed})" if differ else "",
    ]
    return f"files read: {len(digests)}, of these " + ", ".join(filter(None, said))


def _bundled() -> list[str]:
    folder = folders.bundled()
    if folder is None:
        return []
    pairs = {child.name: archive.find(child, child.name) for child in folder.iterdir()}
    return [name for name, pair in pairs.items() if pair and all(map(ts.is_classification, pair))]


def _zenodo_records() -> dict[str, int]:
    try:
        from aeon.datasets.tsc_datasets import tsc_zenodo
    except ImportError:
        return {}
    return tsc_zenodo
