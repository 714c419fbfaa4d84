"""What SMD and MSL share: labelled recordings cut into normal and anomalous windows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc_book.data import windows
from posenc_book.data.dataset import Dataset

LENGTH = 50
CLASSES = ("normal", "anomalous")


@dataclass(frozen=True, eq=False)
class Recording:
    """One machine or channel: values (n_rows, n_columns), and whether each row is anomalous."""

    name: str
    values: NDArray[np.float64]
    anomalous: NDArray[np.bool_]


def by_recording(
    recordings: list[Recording], is_test: list[bool], name: str, provenance: str
) -> dict[str, Dataset]:
    """Return the windows of both parts; whole recordings go to one part and are the groups."""
    pieces = [[0, len(one.values)] for one in recordings]
    data = _window(recordings, pieces, name, provenance)
    test = np.array(is_test)[data.groups]
    return {"train": data.take(~test), "test": data.take(test)}


def by_time(
    recordings: list[Recording], share: float, block: int, name: str, provenance: str
) -> dict[str, Dataset]:
    """Return the first `share` of every recording for training, the rest for testing.

    Time blocks of `block` rows are the groups. A border that would divide an anomaly moves to its
    end. The test window next to a training window is dropped.
    """
    pieces = [time_blocks(one.anomalous, block) for one in recordings]
    data = _window(recordings, pieces, name, provenance)
    late = [np.array(edges[:-1]) >= share * edges[-1] for edges in pieces]
    owner = np.repeat(np.arange(len(recordings)), [len(one) for one in late])
    is_test = np.concatenate(late)[data.groups]
    kept = windows.interior(is_test, owner[data.groups])
    return {"train": data.take(~is_test), "test": data.take(kept)}


def time_blocks(anomalous: NDArray[np.bool_], block: int) -> list[int]:
    """Return the borders of blocks of about `block` rows, none of them inside an anomaly."""
    n_rows = len(anomalous)
    edges = [0]
    for edge in range(block, n_rows, block):
        normal = np.flatnonzero(~(anomalous[edge:] & anomalous[edge - 1 : -1]))
        moved = edge + int(normal[0]) if len(normal) else n_rows
        if edges[-1] < moved < n_rows:
            edges.append(moved)
    return [*edges, n_rows]


def _window(
    recordings: list[Recording], pieces: list[list[int]], name: str, provenance: str
) -> Dataset:
    """Return the disjoint windows of all pieces, anomalous if any row is; pieces are the groups."""
    x, y, groups, number = [], [], [], 0
    for one, edges in zip(recordings, pieces, strict=True):
        first = windows.starts(edges, LENGTH)
        x.append(windows.cut(one.values, first, LENGTH).astype(np.float32))
        y.append(windows.cut(one.anomalous, first, LENGTH).any(axis=1).astype(np.int64))
        groups.append(number + np.searchsorted(edges, first, side="right") - 1)
        number += len(edges) - 1
    return Dataset(
        np.concatenate(x),
        np.concatenate(y),
        CLASSES,
        name,
        provenance,
        groups=np.concatenate(groups).astype(np.int64),
    )
