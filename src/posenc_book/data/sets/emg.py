"""EMGGestures: eight muscle channels on the forearm, 36 subjects, two recordings each.

Windows of 30 rows, disjoint, inside one stretch of one gesture of one recording. Only the six
gestures that every subject performed are classes: rows marked 0 are "unmarked" rather than a
gesture, and gesture 7 was made by some subjects only. The time column is not a channel. The test
part is every fifth subject; subjects are the groups.
"""

import re
from pathlib import Path

import numpy as np

from posenc_book.data import windows
from posenc_book.data.dataset import Dataset
from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats.table import read_table

LENGTH = 30
GESTURES = (1, 2, 3, 4, 5, 6)
CLASSES = (
    "rest",
    "fist",
    "wrist flexion",
    "wrist extension",
    "radial deviation",
    "ulnar deviation",
)
ALL_RECORDINGS = 72
PROTOCOL = (
    f"disjoint windows of {LENGTH} rows within one gesture of one recording; gestures 1 to 6, rows "
    f"marked 0 (unmarked) and gesture 7 (not made by all) left out; 8 channels, time column "
    f"dropped; test part = subjects 5, 10, 15, ..., train part = all others"
)


def find(folder: Path, name: str) -> list[Path]:
    """Return the recordings NN/[12]_raw_data*.txt, however many there are."""
    del name
    return sorted(path for path in folder.rglob("*_raw_data_*.txt*") if path.is_file())


def build(paths: list[Path], name: str) -> dict[str, Dataset]:
    """Return the windows of the training subjects and of the test subjects."""
    parts = [_read_windows(path) for path in paths]
    note = f"{PROTOCOL}; {len(paths)} of {ALL_RECORDINGS} recordings present"
    groups = np.concatenate([np.full(len(y), subject) for _, y, subject in parts])
    data = Dataset(
        x=np.concatenate([x for x, _, _ in parts]).astype(np.float32),
        y=np.concatenate([y for _, y, _ in parts]),
        classes=CLASSES,
        name=name,
        provenance=note,
        groups=groups,
    )
    is_test = groups % 5 == 0
    return {"train": data.take(~is_test), "test": data.take(is_test)}


def _read_windows(path: Path) -> tuple[np.ndarray, np.ndarray, int]:
    subject = path.parent.name
    if not re.fullmatch(r"\d{1,3}", subject):
        raise FileFormatError(path, None, f"expected a folder numbered by subject, got {subject!r}")
    rows = read_table(path, 10, delimiter="\t", header=1)
    gesture = rows[:, 9].astype(np.int64)
    first = windows.starts(windows.borders(gesture), LENGTH)
    first = first[np.isin(gesture[first], GESTURES)]
    return windows.cut(rows[:, 1:9], first, LENGTH), gesture[first] - 1, int(subject)
