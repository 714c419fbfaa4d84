"""What a set gives without a transformer: MiniRocket with a ridge, nearest neighbours, a guess.

A set on which no transformer beats these, or these beat no guess, decides nothing about encodings.

The baselines see series as the trainings do: channels standardised by the training part,
zeros at steps that are not real, whole series. Nobody tells them which steps those are, so a gap
looks like a mean. Of larger parts they take as many series as a training does
(`Settings.max_cases`), and with the seed of the resample the very same: of EMGGestures, LSST,
MelbournePedestrian and PenDigits. They learn from the whole of what a training part gives, where a
training sets a quarter of it aside for validation.
"""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book import _files, data
from posenc_book.bench import metrics, parts, stopwatch
from posenc_book.bench.progress import name_place
from posenc_book.data import Dataset
from posenc_book.records import changes, records
from posenc_book.records.baselines import read_baselines
from posenc_book.records.locks import exclusive
from posenc_book.records.settings import MOST_SEEDS

N_KERNELS = 10_000
# the ridge needs the features of all series at once: with this many series it gets fewer of them
MANY_SERIES, FEWER_KERNELS = 10_000, 2_016
SHORTEST = 9  # steps: the length of MiniRocket's kernels
# two records with the same values of these stand for one computation
_SAME = ("dataset", "fingerprint", "baseline", "resample", "settings")


def minirocket_settings(train: Dataset) -> dict[str, int]:
    """Return the number of kernels, the length that short series are padded to, and the seed."""
    n_kernels = N_KERNELS if len(train) <= MANY_SERIES else FEWER_KERNELS
    return {"n_kernels": n_kernels, "length": max(train.length, SHORTEST), "seed": 0}


def minirocket(train: Dataset, test: Dataset) -> NDArray[np.int64]:
    """Return the classes that MiniRocket with a ridge predicts, by aeon.

    Series that are shorter than a kernel are padded with zeros at their end.

    Source: Dempster, Schmidt and Webb (2021), "MiniRocket", KDD.
    """
    from aeon.classification.convolution_based import MiniRocketClassifier

    chosen = minirocket_settings(train)
    model = MiniRocketClassifier(n_kernels=chosen["n_kernels"], random_state=chosen["seed"])
    first, second = (
        np.pad(part.x, ((0, 0), (0, chosen["length"] - part.length), (0, 0))).transpose(0, 2, 1)
        for part in (train, test)
    )
    return model.fit(first, train.y).predict(second)


@cache
def _compile(several_channels: bool) -> None:
    """Let numba compile MiniRocket, which takes a minute, so that no record's seconds hold it."""
    from aeon.transformations.collection.convolution_based import MiniRocket

    x = np.random.default_rng(0).normal(size=(2, 1 + several_channels, SHORTEST))
    MiniRocket(n_kernels=84, random_state=0).fit_transform(x.astype(np.float32))


def nearest(train: Dataset, test: Dataset) -> NDArray[np.int64]:
    """Return the class of the training series at the smallest Euclidean distance."""
    from sklearn.neighbors import KNeighborsClassifier

    if test.x.shape[1:] != train.x.shape[1:]:
        raise ValueError(
            f"test must have the steps and channels of train, {train.x.shape[1:]}, got "
            f"{test.x.shape[1:]}"
        )
    model = KNeighborsClassifier(n_neighbors=1, algorithm="brute")
    model.fit(train.x.reshape(len(train), -1), train.y)
    return model.predict(test.x.reshape(len(test), -1))


def nearest_sorted(train: Dataset, test: Dataset) -> NDArray[np.int64]:
    """Return what `nearest` does where each channel of each series is sorted by size.

    Then nothing of the order is left, and all values are: what a model can see without positions.
    """
    return nearest(*(replace(part, x=np.sort(part.x, axis=1), mask=None) for part in (train, test)))


def largest_class(train: Dataset, test: Dataset) -> NDArray[np.int64]:
    """Return the largest class of the training part for every test series."""
    return np.full(len(test), np.bincount(train.y).argmax())


BASELINES: dict[str, Callable[[Dataset, Dataset], NDArray[np.int64]]] = {
    "minirocket": minirocket,
    "nearest": nearest,
    "nearest_sorted": nearest_sorted,
    "largest_class": largest_class,
}
_SETTINGS = {"minirocket": minirocket_settings}


def baselines(
    name: str,
    resample: int = 0,
    *,
    only: Sequence[str] = tuple(BASELINES),
    max_cases: int = 0,
) -> list[dict]:
    """Return one record for each baseline on one split of a data set."""
    only = [_checks.choice("only", one, BASELINES) for one in only]
    return list(_compute(name, resample, only, _checks.count("max_cases", max_cases)))


def run(
    datasets: Iterable[str],
    resamples: int,
    out: str | os.PathLike,
    *,
    only: Sequence[str] = tuple(BASELINES),
    max_cases: int = 0,
    tell: Callable[[str], object] | None = None,
) -> int:
    """Compute what is not stored yet and store it."""
    resamples = _checks.count("resamples", resamples, minimum=1, maximum=MOST_SEEDS)
    only = [_checks.choice("only", one, BASELINES) for one in only]
    max_cases = _checks.count("max_cases", max_cases)
    stored = read_baselines(out)
    contents = {name: data.fingerprint(name) for name in dict.fromkeys(datasets)}
    if tell is not None:
        name_place(Path(out))
        for sentence in _renewed(stored, contents, only, resamples):
            tell(sentence)
    new = 0
    for name, content in contents.items():
        for resample in range(_splits(name, resamples, max_cases)):
            for record in _compute(name, resample, only, max_cases, content, out):
                new += append(out, record)
    return new


def append(path: str | os.PathLike, record: dict) -> bool:
    """Store a record unless the file has one for the same computation."""
    path = Path(path)
    _files.check_regular(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file, exclusive(file.fileno()):
        stored = read_baselines(path)
        if any(_same(record, one) for one in stored):
            return False
        file.write(json.dumps(record, allow_nan=False, separators=(",", ":")) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return True


def _renewed(
    stored: Iterable[dict], contents: dict[str, str], only: Sequence[str], resamples: int
) -> list[str]:
    """Return a sentence if what is stored of these sets was computed on earlier series."""
    fingerprints: dict[tuple[str, str, int], set[str]] = defaultdict(set)
    for one in stored:
        if one["dataset"] in contents and one["baseline"] in only and one["resample"] < resamples:
            computed = one["dataset"], one["baseline"], one["resample"]
            fingerprints[computed].add(one["fingerprint"])
    changed = (
        changes.Change(dataset=name)
        for (name, *_), known in fingerprints.items()
        if contents[name] not in known
    )
    counted, end = ("stored baseline", "stored baselines"), "computed anew"
    return changes.change_sentences(changed, *counted, (f"is {end}", f"are {end}"))


def _splits(name: str, resamples: int, max_cases: int) -> int:
    """Return how many splits or draws of a set differ."""
    return resamples if not data.official_only(name) or _is_drawn(name, max_cases) else 1


def _is_drawn(name: str, max_cases: int) -> bool:
    """Return whether a set has its official split only, and a part that is cut."""
    parts_of = (data.load(name, part) for part in ("train", "test"))
    cut = max_cases and any(len(part) > max_cases for part in parts_of)
    return bool(cut and data.official_only(name))


def _compute(
    name: str,
    resample: int,
    only: Sequence[str],
    max_cases: int,
    content: str | None = None,
    stored_in: str | os.PathLike | None = None,
) -> Iterator[dict]:
    split = 0 if _is_drawn(name, max_cases) else resample
    whole = data.resample(data.load(name, "train"), data.load(name, "test"), split)
    train, test = (parts.some(part, max_cases, resample) for part in whole)
    fewer = {"max_cases": max_cases} if (train, test) != whole else {}
    mean, deviation = data.channel_statistics(train)
    train, test = (data.standardise(part, mean, deviation) for part in (train, test))
    for baseline in only:
        record = {
            "dataset": name,
            "fingerprint": content or data.fingerprint(name),
            "baseline": baseline,
            "resample": resample,
            "settings": _SETTINGS.get(baseline, lambda _: {})(train) | fewer,
        }
        if stored_in is not None and any(_same(record, one) for one in read_baselines(stored_in)):
            continue
        if baseline == "minirocket":
            _compile(train.n_channels > 1)
        started = stopwatch.now()
        predicted = BASELINES[baseline](train, test)
        seconds = round(stopwatch.since(started), 4)
        yield record | {
            "n_train": len(train),
            "n_test": len(test),
            "metrics": metrics.score(test.y, predicted, test.n_classes),
            "versions": _versions(),
            "seconds": seconds,
        }


def _same(record: dict, other: dict) -> bool:
    return all(record[field] == other[field] for field in _SAME)


def _versions() -> dict[str, str]:
    found = {name: one for name, one in records.versions().items() if name != "torch"}
    return found | {name: version(name) for name in ("aeon", "scikit-learn", "numba")}
