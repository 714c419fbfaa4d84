"""Other splits of the same series, so that a result does not hang on one split.

Resample 0 is the official split. Every other one pools both parts and deals them out anew in parts
of the official sizes with the official class counts, as is the custom with the UCR archive
(Bagnall et al., "The great time series classification bake off", Data Min Knowl Disc 31, 2017).
aeon's `stratified_resample_data` does this for arrays. It is not used because it loses masks and
divides groups, and because it may put a series into both parts where the archive holds it twice:
here identical series stay together, whatever the official split did with them.

Where series come in groups (subjects, recordings), whole groups are dealt out: as many to the test
part as there are officially, so sizes and class counts agree only about. Some sets have nothing but
their official split, see `official_only`.

A training part of twenty series leaves five to choose by. `halves` deals out the same series in two
parts of about one size.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.data.dataset import Dataset, longer
from posenc_book.data.registry import ENTRIES
from posenc_book.data.repeats import identities
from posenc_book.data.synthetic import FAMILIES

ATTEMPTS = 1000


def official_only(name: str) -> str | None:
    """Return why a data set has only its official split, or None if it can be resampled.

    Parameters
    ----------
    name : str
        A data set; one that is not registered can be resampled.

    Returns
    -------
    str or None

    Examples
    --------
    >>> official_only("elevator")
    'its series are made by a simulator, and another seed makes others'
    >>> official_only("Libras") is None
    True
    """
    if name in FAMILIES:
        return "its series are made by a simulator, and another seed makes others"
    entry = ENTRIES.get(name)
    return entry.official_only if entry else None


def resample(train: Dataset, test: Dataset, r: int, *, seed: int = 0) -> tuple[Dataset, Dataset]:
    """Return resample `r` of a data set: a training and a test part.

    Parameters
    ----------
    train, test : Dataset
        The official parts, as `load` returns them.
    r : int
        0 returns the official parts themselves. Equal `r` and `seed` deal equally everywhere.
    seed : int
        Another seed gives another series of resamples.

    Returns
    -------
    tuple of (Dataset, Dataset)
        Of the official sizes and class counts; where there are groups, of about these.

    Raises
    ------
    ValueError
        If `r` or `seed` is negative or no integer, if the parts do not belong together, if the set
        has only its official split (`official_only` says why), or if no draw keeps identical
        series together and every class in both parts.

    Source: Bagnall et al. (2017), "The great time series classification bake off".

    Examples
    --------
    >>> x = np.arange(8, dtype=np.float32).reshape(8, 1, 1)
    >>> mine = Dataset(x, np.array([0, 0, 0, 0, 1, 1, 1, 1]), ("low", "high"), "mine", "made here")
    >>> train, test = resample(mine.take([0, 1, 4, 5]), mine.take([2, 3, 6, 7]), 2)
    >>> train.x[:, 0, 0].tolist(), train.y.tolist()
    ([0.0, 5.0, 2.0, 6.0], [0, 1, 0, 1])
    """
    r, seed = _checks.count("r", r), _checks.count("seed", seed)
    _check_parts(train, test)
    if r == 0:
        return train, test
    reason = official_only(train.name)
    if reason:
        raise ValueError(f"r must be 0 for {train.name}, got {r}: {reason}")
    both = _pool(train, test)
    is_official_train = np.arange(len(both)) < len(train)
    bits = np.random.PCG64([seed, r])
    same = identities((both,))[0]
    if both.groups is None:
        how = "sizes and class counts as official"
        chosen = _deal_series(both.y, same, np.bincount(train.y, minlength=both.n_classes), bits)
    else:
        how = "whole groups, as many as officially"
        chosen = _deal_groups(both, same, is_official_train, bits)
    said = f"resample {r} (seed {seed}) of both official parts: {how}"
    return _parted(both, chosen, (train, test), said)


def halves(train: Dataset, test: Dataset, r: int, *, seed: int = 0) -> tuple[Dataset, Dataset]:
    """Return deal `r` of a data set: half of the series of each class for either part.

    Of an odd number the test part gets one more. Identical series stay together.

    Parameters
    ----------
    train, test : Dataset
        The official parts, as `load` returns them.
    r : int
        At least 1, as no official split has such sizes. Equal `r` and `seed` deal equally
        everywhere.
    seed : int
        Another seed gives another series of deals.

    Returns
    -------
    tuple of (Dataset, Dataset)

    Raises
    ------
    ValueError
        If `r` or `seed` is out of range, if the parts do not belong together, if series come in
        groups, which must not be divided, if the set has only its official split or a class only
        one series, or if no draw halves each class with identical series kept together.

    Examples
    --------
    >>> x = np.arange(7, dtype=np.float32).reshape(7, 1, 1)
    >>> mine = Dataset(x, np.array([0, 0, 0, 0, 1, 1, 1]), ("low", "high"), "mine", "made here")
    >>> train, test = halves(mine.take([0, 4]), mine.take([1, 2, 3, 5, 6]), 1)
    >>> np.bincount(train.y).tolist(), np.bincount(test.y).tolist()
    ([2, 1], [2, 2])
    """
    r, seed = _checks.count("r", r, minimum=1), _checks.count("seed", seed)
    _check_parts(train, test)
    reason = official_only(train.name)
    if reason:
        raise ValueError(f"{train.name} cannot be dealt in halves: {reason}")
    both = _pool(train, test)
    if both.groups is not None:
        raise ValueError(
            f"{train.name} cannot be dealt in halves: its series come in groups, which must not be "
            "divided; use resample"
        )
    counts = np.bincount(both.y, minlength=both.n_classes)
    if (counts == 1).any():
        alone = both.classes[int(np.flatnonzero(counts == 1)[0])]
        raise ValueError(
            f"each class must have two series at least to be halved, got one of {alone!r} in "
            f"{train.name}"
        )
    bits = np.random.PCG64([seed, r])
    chosen = _deal_series(both.y, identities((both,))[0], counts // 2, bits)
    said = f"deal {r} (seed {seed}) of both official parts: half of each class"
    return _parted(both, chosen, (train, test), said)


def _parted(
    both: Dataset, chosen: NDArray[np.bool_], official: tuple[Dataset, Dataset], said: str
) -> tuple[Dataset, Dataset]:
    """Return the chosen series and the others, and say in both how they were dealt out."""
    new_train, new_test = (
        _without_idle_mask(replace(both.take(rows), provenance=f"{said}; {part.provenance}"))
        for rows, part in zip((chosen, ~chosen), official, strict=True)
    )
    return new_train, new_test


def _check_parts(train: Dataset, test: Dataset) -> None:
    for quantity in ("name", "classes", "n_channels"):
        first, second = getattr(train, quantity), getattr(test, quantity)
        if first != second:
            raise ValueError(
                f"test must belong to train, got {quantity} {second!r} and {first!r} in train"
            )
    for what in ("groups", "times"):
        if (getattr(train, what) is None) != (getattr(test, what) is None):
            raise ValueError(f"train and test must both have {what} or both have none")
    for part, value in (("train", train), ("test", test)):
        if not len(value):
            raise ValueError(f"{part} must hold series, got none")


def _pool(train: Dataset, test: Dataset) -> Dataset:
    """Return the series of both parts, training part first, padded to one length."""
    length = max(train.length, test.length)
    parts = [_padded(part, length) for part in (train, test)]
    return replace(
        train,
        x=np.concatenate([part.x for part in parts]),
        y=np.concatenate([part.y for part in parts]),
        mask=np.concatenate([part.mask for part in parts]),
        groups=None if train.groups is None else np.concatenate([train.groups, test.groups]),
        times=None if train.times is None else np.concatenate([part.times for part in parts]),
    )


def _padded(part: Dataset, length: int) -> Dataset:
    mask = np.ones(part.x.shape[:2], dtype=bool) if part.mask is None else part.mask
    more = length - part.length
    return replace(
        part,
        x=np.pad(part.x, ((0, 0), (0, more), (0, 0))),
        mask=np.pad(mask, ((0, 0), (0, more))),
        times=None if part.times is None else longer(part.times, length),
    )


def _without_idle_mask(part: Dataset) -> Dataset:
    """Return the part without a mask if every step is real, as a file without gaps is read."""
    return part if part.mask is None or not part.mask.all() else replace(part, mask=None)


def _deal_series(
    y: NDArray[np.int64],
    same: NDArray[np.int64],
    wanted: NDArray[np.int64],
    bits: np.random.PCG64,
) -> NDArray[np.bool_]:
    """Return which series are for training: as many of each class, equal `same` on one side."""
    # how many series of each class are one and the same: (n_different, n_classes)
    held = np.zeros((int(same.max()) + 1, len(wanted)), dtype=np.int64)
    np.add.at(held, (same, y), 1)
    for _ in range(ATTEMPTS):
        left, taken = wanted.copy(), np.zeros(len(held), dtype=bool)
        for one in _shuffled(len(held), bits):
            if (held[one] <= left).all():
                left -= held[one]
                taken[one] = True
        if not left.any():
            return taken[same]
    raise ValueError(
        f"no draw out of {ATTEMPTS} gives the class counts {wanted.tolist()} with "
        f"identical series kept together"
    )


def _deal_groups(
    both: Dataset,
    same: NDArray[np.int64],
    is_official_train: NDArray[np.bool_],
    bits: np.random.PCG64,
) -> NDArray[np.bool_]:
    """Return which series are for training: whole groups, every class on both sides."""
    assert both.groups is not None
    shared = np.intersect1d(both.groups[is_official_train], both.groups[~is_official_train])
    if len(shared):
        raise ValueError(f"groups must not be divided, got {shared[:5].tolist()} in both parts")
    groups = _joined(both.groups, same)
    numbers = np.unique(groups)
    n_test = len(np.unique(groups[~is_official_train]))
    for _ in range(ATTEMPTS):
        drawn = numbers[_shuffled(len(numbers), bits)[:n_test]]
        chosen = ~np.isin(groups, drawn)
        if all(len(np.unique(both.y[side])) == both.n_classes for side in (chosen, ~chosen)):
            return chosen
    raise ValueError(
        f"no draw out of {ATTEMPTS} leaves every class of {both.name} in both parts with {n_test} "
        f"of {len(numbers)} groups in the test part"
    )


def _joined(groups: NDArray[np.int64], same: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return groups in which those that hold equal series have become one."""
    joined, before = groups, None
    while before is None or (joined != before).any():
        before = joined
        for kind in (same, groups):
            _, kind = np.unique(kind, return_inverse=True)
            lowest = np.full(kind.max() + 1, np.iinfo(np.int64).max)
            np.minimum.at(lowest, kind, joined)
            joined = lowest[kind]
    return joined


def _shuffled(n: int, bits: np.random.PCG64) -> NDArray[np.int64]:
    """Return 0 to n - 1 in random order.

    Sorted by raw 64-bit numbers: NumPy promises that this stream of PCG64 stays as it is, which it
    does not promise of `Generator.permutation`. So the deal is the same on every machine.
    """
    return np.argsort(bits.random_raw(n), kind="stable")
