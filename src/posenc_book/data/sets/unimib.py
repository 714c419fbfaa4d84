"""UniMiB-SHAR, daily activities: smartphone acceleration, 3 axes of 151 values, 30 subjects.

The windows are the publisher's own. The test part is every fifth subject; subjects are the groups.
"""

from pathlib import Path

import numpy as np

from posenc_book.data.dataset import Dataset
from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats.mat import read_mat

LENGTH = 151
CLASSES = (
    "StandingUpFS",
    "StandingUpFL",
    "Walking",
    "Running",
    "GoingUpS",
    "Jumping",
    "GoingDownS",
    "LyingDownFS",
    "SittingDown",
)
PROTOCOL = "the publisher's windows of daily activities; test part = subjects 5, 10, 15, ..."


def find(folder: Path, name: str) -> list[Path]:
    """Return adl_data.mat and adl_labels.mat, or [] unless both are there."""
    del name
    pair = [sorted(folder.rglob(f"adl_{part}.mat"))[:1] for part in ("data", "labels")]
    return pair[0] + pair[1] if all(pair) else []


def build(paths: list[Path], name: str) -> dict[str, Dataset]:
    """Return the windows of the training subjects and of the test subjects."""
    values = read_mat(paths[0], "adl_data", 3 * LENGTH)
    labels = read_mat(paths[1], "adl_labels", 3).astype(np.int64)
    if len(labels) != len(values):
        raise FileFormatError(paths[1], None, f"{len(labels)} labels for {len(values)} windows")
    if not ((labels[:, 0] >= 1) & (labels[:, 0] <= len(CLASSES))).all():
        raise FileFormatError(paths[1], None, "activities must be numbered 1 to 9")
    data = Dataset(
        x=values.reshape(-1, 3, LENGTH).transpose(0, 2, 1).astype(np.float32),
        y=labels[:, 0] - 1,
        classes=CLASSES,
        name=name,
        provenance=PROTOCOL,
        groups=labels[:, 1],
    )
    is_test = labels[:, 1] % 5 == 0
    return {"train": data.take(~is_test), "test": data.take(is_test)}
