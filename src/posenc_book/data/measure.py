"""What was counted and measured in the real sets, kept in `measured.json` beside this file.

The book shows these numbers on machines that do not have the sets. `posenc data
measure` writes the file anew; the tests recompute it wherever the sets are at hand.
"""

import difflib
import errno
import hashlib
import json
import os
import platform
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_book import _files
from posenc_book.data.dataset import Dataset
from posenc_book.data.errors import FileFormatError, MissingDataError, UnknownDatasetError
from posenc_book.data.fingerprints import fingerprint
from posenc_book.data.formats.table import read_table
from posenc_book.data.info import Facts, facts
from posenc_book.data.load import find, find_entry, load
from posenc_book.data.protocols import channel_statistics, standardise
from posenc_book.data.registry import ENTRIES
from posenc_book.data.repeats import identities
from posenc_book.data.resamples import resample
from posenc_book.data.sets import anomaly, emg, msl, room

RECORD = Path(__file__).with_name("measured.json")
NO_FACTS = ("fingerprint", "files", "sha256")  # what a set's record holds beyond its facts
LEAKAGE_SETS = ("MSL", "SMD", "RoomOccupancy", "EMGGestures")
TWIN_SETS = ("PowerCons", "Libras")  # sets whose official parts share many series
SEEDS = (0, 1, 2)
N_TREES, MOST_WINDOWS = 100, 1000
CLASSIFIER = (
    f"random forest, {N_TREES} trees, each grown on at most {MOST_WINDOWS} windows; features: "
    f"mean, standard deviation, minimum and maximum of every channel; score: balanced accuracy"
)
# MSL by time: the later 40 % of each channel are the test part, in blocks that divide no anomaly
TIME_SHARE, TIME_BLOCK = 0.6, 500


@cache
def recorded() -> dict:
    """Return what was counted and measured in the real sets, the content of `measured.json`.

    Returns
    -------
    dict
        `versions`; `sets`, the counts of each set by name; `absent`, the names of those that were
        not at hand; `raw`, what two sets held before they were cut into windows; `leakage`, scores
        of honest and of random splits; and `twins`, scores where test series stand in training,
        too.

    Examples
    --------
    What a random split of the windows adds to the balanced accuracy of a random forest:

    >>> scores = recorded()["leakage"]["scores"]["MSL"]
    >>> [round(a - b, 2) for a, b in zip(scores["random"], scores["protocol"])]
    [0.13, 0.12, 0.17]
    """
    return json.loads(_files.text(RECORD))


def recorded_facts(name: str) -> Facts:
    """Return the facts of a real set as counted for the record, without the set.

    Parameters
    ----------
    name : str
        A data set of real recordings.

    Returns
    -------
    Facts
        Without `lengths` and `missing_steps`, which are younger than the record.

    Raises
    ------
    MissingDataError
        If the set was not at hand when the record was made, or lacks half of its files.
    UnknownDatasetError
        If no data set has this name, or a simulator makes it.

    Examples
    --------
    >>> recorded_facts("RacketSports").table()[0]  # printed, counted, whether they agree
    ('train', 151, 151, True)
    """
    entry, sets = find_entry(name), recorded()["sets"]
    if name not in sets:
        raise MissingDataError(f"{name} was not counted for this book; counted: {', '.join(sets)}")
    kept = {key: value for key, value in sets[name].items() if key not in NO_FACTS}
    kept["class_counts"] = {one: tuple(pair) for one, pair in kept["class_counts"].items()}
    for key in ("masked_steps", "repeats"):
        kept[key] = tuple(kept[key])
    return Facts(name=name, printed=entry.printed, notes=entry.notes, **kept)


def write_measured(path: Path = RECORD) -> None:
    """Count and measure everything and write it to `path` as JSON."""
    if not path.parent.is_dir():  # said now, not after minutes of counting
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path.parent))
    _files.check_regular(path, FileFormatError)
    _store(_everything(), path)


def add(name: str, path: Path = RECORD) -> None:
    """Count one set and enter it in the record at `path`; all else stays as it is."""
    if name not in ENTRIES:
        close = ", ".join(difflib.get_close_matches(name, ENTRIES, n=3))
        hint = f"did you mean {close}?" if close else "`posenc data list` names them"
        raise UnknownDatasetError(f"no set of the record is called {name!r}; {hint}")
    record = _read_record(path)
    counted = record["sets"] | {name: count(name)}
    record["sets"] = {known: counted[known] for known in ENTRIES if known in counted}
    record["absent"] = [known for known in ENTRIES if known not in counted]
    _store(record, path)


def _read_record(path: Path) -> dict:
    try:
        record = json.loads(_files.text(path, FileFormatError))
    except FileFormatError:
        raise
    except ValueError as error:
        raise FileFormatError(path, None, f"is no record in JSON ({error})") from error
    if not isinstance(record, dict) or not isinstance(record.get("sets"), dict):
        raise FileFormatError(path, None, 'is no record: it has no "sets" by name')
    return record


def _store(record: dict, path: Path) -> None:
    _files.replace(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def count(name: str) -> dict:
    """Return the counts of a real set, its fingerprint, how many files, one checksum of all."""
    counted = asdict(facts(name))
    for key in ("name", "printed", "notes"):  # these stand in the registry
        del counted[key]
    for key in ("lengths", "missing_steps"):  # younger than the record, which pages do not show
        del counted[key]
    files = find(find_entry(name))
    assert files is not None  # they were read just now
    digests = files.digests()
    listing = "".join(f"{path} {digest}\n" for path, digest in sorted(digests.items()))
    sha256 = hashlib.sha256(listing.encode()).hexdigest()
    counted |= {"fingerprint": fingerprint(name), "files": len(digests), "sha256": sha256}
    return json.loads(json.dumps(counted))


def count_room() -> dict[str, int]:
    """Return what RoomOccupancy's table holds before it is cut into windows."""
    days, _, _, counts = room.read_room(_paths("RoomOccupancy")[0])
    return {
        "readings": len(days),
        "columns_without_label": len(room.HEADER) - 1,
        "sensor_columns": len(room.HEADER) - 3,
        "labels": len(np.unique(counts)),
        "longest_disjoint_cut": len(days) // room.LENGTH,
    }


def count_emg() -> dict[str, int | list[int]]:
    """Return what the recordings of EMGGestures hold before they are cut into windows."""
    tables = [read_table(path, 10, delimiter="\t", header=1) for path in _paths("EMGGestures")]
    marks = np.unique(np.concatenate([np.unique(table[:, 9]) for table in tables]))
    return {
        "rows": sum(map(len, tables)),
        "columns_without_label": tables[0].shape[1] - 1,
        "sensor_columns": tables[0].shape[1] - 2,
        "marks": marks.astype(int).tolist(),
        "recordings": len(tables),
        "all_recordings": emg.ALL_RECORDINGS,
        "longest_disjoint_cut": sum(len(table) // emg.LENGTH for table in tables),
    }


def leakage(name: str, seed: int) -> dict[str, float]:
    """Return the balanced accuracy of a random forest on each split of the set's windows.

    "protocol" is the split of this package. "random" deals the same windows out at random, with a
    test part of the same size. "time", for MSL, splits every channel by time.
    """
    train, test = load(name, "train"), load(name, "test")
    scores = {
        "protocol": _forest_score(train, test, seed),
        "random": _forest_score(*deal_at_random(train, test, seed), seed),
    }
    if name == "MSL":
        parts = anomaly.by_time(
            msl.read_channels(_paths(name)), TIME_SHARE, TIME_BLOCK, name, "split by time"
        )
        scores["time"] = _forest_score(parts["train"], parts["test"], seed)
    return scores


def twins(name: str, n_resamples: int = 5) -> dict[str, Any]:
    """Return what the nearest training series scores where test series stand in training too.

    Euclidean distance of standardised series. "official" is the accuracy on the official test part,
    "on_twins" on the test series that also stand in the training part, "on_others" on the rest,
    "resampled" on other splits of the same series, in which no series is on both sides.
    """
    official = load(name, "train"), load(name, "test")
    of_train, of_test = identities(official)
    is_twin = np.isin(of_test, of_train)
    hits = _nearest_hits(*official)
    shares = {"official": hits, "on_twins": hits[is_twin], "on_others": hits[~is_twin]}
    others = (_nearest_hits(*resample(*official, r)) for r in range(1, n_resamples + 1))
    return {
        "test": len(hits),
        "twins": int(is_twin.sum()),
        **{where: round(float(share.mean()), 4) for where, share in shares.items()},
        "resampled": [round(float(one.mean()), 4) for one in others],
    }


def _nearest_hits(train: Dataset, test: Dataset) -> NDArray[np.bool_]:
    """Return for each test series whether the nearest training series has its class, (n,)."""
    mean, deviation = channel_statistics(train)
    first, second = (
        standardise(part, mean, deviation).x.reshape(len(part), -1).astype(float)
        for part in (train, test)
    )
    nearest = [int(np.square(first - one).sum(axis=1).argmin()) for one in second]
    return train.y[nearest] == test.y


def deal_at_random(train: Dataset, test: Dataset, seed: int) -> tuple[Dataset, Dataset]:
    """Return the windows of both parts dealt out anew, stratified, in parts of the same sizes."""
    from sklearn.model_selection import train_test_split

    both = Dataset(
        np.concatenate([train.x, test.x]),
        np.concatenate([train.y, test.y]),
        train.classes,
        train.name,
        "windows dealt out at random",
    )
    rows = np.arange(len(both))
    parts = train_test_split(rows, test_size=len(test), stratify=both.y, random_state=seed)
    return both.take(parts[0]), both.take(parts[1])


def window_statistics(x: NDArray) -> NDArray:
    """Return mean, deviation, minimum and maximum over time: (n, 4 n_channels), blind to order."""
    return np.concatenate([x.mean(axis=1), x.std(axis=1), x.min(axis=1), x.max(axis=1)], axis=1)


def blind_score(train: Dataset, test: Dataset) -> float:
    """Return the balanced accuracy of a linear rule that cannot see order, for two classes.

    A rule by least squares, with a small ridge, on the standardised `window_statistics`.
    """
    first, second = (window_statistics(part.x).astype(float) for part in (train, test))
    mean, deviation = first.mean(axis=0), first.std(axis=0) + 1e-9
    first, second = (
        np.c_[(part - mean) / deviation, np.ones(len(part))] for part in (first, second)
    )
    rule = np.linalg.solve(first.T @ first + np.eye(first.shape[1]), first.T @ (2 * train.y - 1))
    found = (second @ rule > 0) == test.y
    return float(np.mean([found[test.y == label].mean() for label in (0, 1)]))


def _forest_score(train: Dataset, test: Dataset, seed: int) -> float:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import balanced_accuracy_score

    forest = RandomForestClassifier(
        N_TREES, max_samples=min(MOST_WINDOWS, len(train)), random_state=seed
    )
    forest.fit(window_statistics(train.x), train.y)
    guess = forest.predict(window_statistics(test.x))
    return round(float(balanced_accuracy_score(test.y, guess)), 3)


def _everything() -> dict:
    here = [name for name, entry in ENTRIES.items() if find(entry)]
    scores = {name: [leakage(name, seed) for seed in SEEDS] for name in LEAKAGE_SETS}
    return {
        "made_by": "posenc data measure",
        "versions": {"python": platform.python_version()}
        | {package: version(package) for package in ("posenc", "numpy", "scikit-learn")},
        "sets": {name: count(name) for name in here},
        "absent": [name for name in ENTRIES if name not in here],
        "raw": {"RoomOccupancy": count_room(), "EMGGestures": count_emg()},
        "leakage": {
            "classifier": CLASSIFIER,
            "seeds": list(SEEDS),
            "scores": {
                name: {split: [one[split] for one in runs] for split in runs[0]}
                for name, runs in scores.items()
            },
        },
        "twins": {name: twins(name) for name in TWIN_SETS},
    }


def _paths(name: str) -> list[Path]:
    load(name, "train")  # fetches the set, or says what to fetch
    files = find(find_entry(name))
    assert files is not None
    return list(files.paths)
