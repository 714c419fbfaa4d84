"""From a data set to the three parts that an experiment uses.

The test part is never looked at: validation series are taken from the training part, and
means and deviations are those of the training series that remain.
"""

import numbers
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.data import resamples
from posenc_book.data.dataset import Dataset
from posenc_book.data.load import load


@dataclass(frozen=True, eq=False)
class Prepared:
    """The three parts of a data set that an experiment uses; `prepare` makes it.

    Parameters
    ----------
    train, validation, test : Dataset
        The parts, normalised alike.
    mean, deviation : float64 arrays of shape (n_channels,)
        By which they were normalised, in the units of the series: those of the training part.

    Examples
    --------
    >>> ready = prepare("range_probe", n=40)
    >>> len(ready.train), len(ready.validation), len(ready.test), ready.mean.shape
    (32, 8, 40, (2,))
    """

    train: Dataset
    validation: Dataset
    test: Dataset
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]


def prepare(
    name: str,
    seed: int = 0,
    *,
    resample: int = 0,
    validation: float = 0.2,
    normalise: bool = True,
    **options,
) -> Prepared:
    """Return a data set, split and normalised for an experiment.

    Parameters
    ----------
    name : str
        A data set, see `names`.
    seed : int
        Seeds the choice of the validation part.
    resample : int
        0 for the official split, see `posenc_book.data.resample` for others.
    validation : float
        Share of the training part that is set aside, between 0 and 1, see `split_validation`.
    normalise : bool
        Whether channels get mean 0 and deviation 1 in the training part; else `mean` is 0 and
        `deviation` 1.
    **options
        Those of `load`.

    Returns
    -------
    Prepared

    Raises
    ------
    ValueError
        If an argument is out of range, the set is too small for a validation part, or it cannot be
        had, as in `load`.

    Examples
    --------
    >>> ready = prepare("range_probe", n=100, length=16, validation=0.25)
    >>> ready.train
    Dataset('range_probe', n=76, length=16, n_channels=2, n_classes=2)
    >>> bool(abs(ready.train.x.mean()) < 1e-6)
    True
    """
    _check_share("validation", validation)
    _check_resample(name, resample)
    parts = load(name, "train", **options), load(name, "test", **options)
    train, test = resamples.resample(*parts, resample)
    train, held_out = split_validation(train, validation, seed)
    mean, deviation = np.zeros(train.n_channels), np.ones(train.n_channels)
    if normalise:
        mean, deviation = channel_statistics(train)
    train, held_out, test = (standardise(part, mean, deviation) for part in (train, held_out, test))
    return Prepared(train, held_out, test, mean, deviation)


def split_validation(data: Dataset, share: float = 0.2, seed: int = 0) -> tuple[Dataset, Dataset]:
    """Return (training, validation), stratified by class, the same for the same seed.

    Where the set has groups, whole groups go to one side, so that the validation part is about as
    far from the training part as the test part is; classes then agree as well as groups allow.

    Parameters
    ----------
    data : Dataset
        A training part.
    share : float
        Of the series that are held out, above 0 and below 1.
    seed : int
        Equal seeds choose equal series.

    Returns
    -------
    tuple of (Dataset, Dataset)

    Raises
    ------
    ValueError
        If `share` is not between 0 and 1, `seed` no integer of at least 0, or the set too small to
        give both parts.

    Examples
    --------
    >>> from posenc_book import data
    >>> train, held_out = split_validation(data.load("range_probe", "train", n=40), 0.25)
    >>> np.bincount(train.y).tolist(), np.bincount(held_out.y).tolist()
    ([15, 15], [5, 5])
    """
    _check_share("share", share)
    rng = np.random.default_rng(_checks.count("seed", seed))
    choose = _choose_series if data.groups is None else _choose_groups
    chosen = choose(data, share, rng)
    if chosen.all() or not chosen.any():
        raise ValueError(
            f"{data!r} cannot give up a share of {share:g}: it needs two series of some class, "
            f"or two groups"
        )
    return data.take(~chosen), data.take(chosen)


def _check_share(name: str, share: float) -> None:
    """Raise ValueError unless this is a share of the series that leaves some on either side."""
    if not isinstance(share, numbers.Real) or isinstance(share, bool) or not 0 < share < 1:
        raise ValueError(f"{name} must be between 0 and 1, got {share!r}")


def _check_resample(name: str, resample: int) -> None:
    """Raise ValueError unless this is the number of a resample that a data set can have."""
    reason = resamples.official_only(name) if _checks.count("resample", resample) else None
    if reason:
        raise ValueError(f"resample must be 0 for {name}, got {resample}: {reason}")


def _choose_series(data: Dataset, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    chosen = np.zeros(len(data), dtype=bool)
    for label in range(data.n_classes):
        members = rng.permutation(np.flatnonzero(data.y == label))
        # both sides get one where there are two; a single series stays in the training part
        wanted = min(max(1, round(share * len(members))), len(members) - 1)
        chosen[members[: max(wanted, 0)]] = True
    return chosen


def _choose_groups(data: Dataset, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    assert data.groups is not None
    numbers = np.unique(data.groups)
    counts = np.stack(
        [np.bincount(data.y[data.groups == one], minlength=data.n_classes) for one in numbers]
    )
    total = counts.sum(axis=0)
    target, weight = share * total, 1 / np.maximum(total, 1)
    held, taken = np.zeros(data.n_classes), []

    def distance(reached: NDArray) -> float:
        return float((((reached - target) * weight) ** 2).sum())

    for one in rng.permutation(len(numbers)):
        last = len(taken) == len(numbers) - 1
        if not last and (not taken or distance(held + counts[one]) < distance(held)):
            held, taken = held + counts[one], [*taken, numbers[one]]
    return np.isin(data.groups, taken)


def channel_statistics(data: Dataset) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of each channel over all real steps.

    A channel that never changes gets deviation 1, so that it becomes 0 and not NaN.

    Parameters
    ----------
    data : Dataset

    Returns
    -------
    tuple of float64 arrays of shape (n_channels,)
        In the units of the series.

    Raises
    ------
    ValueError
        If no step of `data` is real.

    Examples
    --------
    >>> x = np.array([[[1.0, 5.0], [3.0, 5.0]]], np.float32)
    >>> mean, deviation = channel_statistics(Dataset(x, np.array([0]), ("one",), "mine", ""))
    >>> mean.tolist(), deviation.tolist()
    ([2.0, 5.0], [1.0, 1.0])
    """
    steps = data.x.reshape(-1, data.n_channels) if data.mask is None else data.x[data.mask]
    mean = steps.mean(axis=0, dtype=np.float64)
    deviation = steps.std(axis=0, dtype=np.float64)
    constant = steps.min(axis=0) == steps.max(axis=0)
    return mean, np.where(constant, 1.0, deviation)


def standardise(data: Dataset, mean: NDArray, deviation: NDArray) -> Dataset:
    """Return the set with (x - mean) / deviation; steps that are not real stay 0.

    Parameters
    ----------
    data : Dataset
    mean, deviation : arrays of shape (n_channels,)
        As `channel_statistics` returns them, of the training part.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If `mean` or `deviation` cannot be broadcast against the channels.

    Examples
    --------
    >>> x = np.array([[[1.0], [3.0]]], np.float32)
    >>> small = Dataset(x, np.array([0]), ("one",), "mine", "")
    >>> standardise(small, *channel_statistics(small)).x[0, :, 0].tolist()
    [-1.0, 1.0]
    """
    x = ((data.x - mean) / deviation).astype(np.float32)
    if data.mask is not None:
        x[~data.mask] = 0
    return replace(data, x=x)
