"""SMD, the Server Machine Dataset: 38 measurements of 28 servers, one row a minute.

The publisher's `train` recordings carry no labels. As a classification task, the labelled `test`
recordings are cut into windows of 50 rows and split by time: the first 70 % of each machine's rows
are for training. Blocks of 1000 rows are the groups; no border divides an anomaly, and the test
window next to the training part is dropped. A split by machine was tried: what a metric means
differs so much from server to server that a random forest on window statistics finds next to
nothing there, and a comparison of encodings would compare noise.
"""

import re
from pathlib import Path

import numpy as np

from posenc_book.data.dataset import Dataset
from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats.table import read_table
from posenc_book.data.sets.anomaly import LENGTH, Recording, by_time

N_COLUMNS = 38
ALL_MACHINES = 28
SHARE = 0.7
BLOCK = 1000
PROTOCOL = (
    f"labelled test recordings, disjoint windows of {LENGTH} rows, anomalous if any row is; split "
    f"by time: the first {SHARE:.0%} of each machine for training, no anomaly divided, one window "
    f"left out between the parts; groups = blocks of {BLOCK} rows"
)


def find(folder: Path, name: str) -> list[Path]:
    """Return recordings and labels of every machine that has both."""
    del name
    found = [path for path in folder.rglob("machine-*.txt*") if path.is_file()]
    tests = {_machine(path): path for path in found if path.parent.name == "test"}
    labels = {_machine(path): path for path in found if path.parent.name == "test_label"}
    both = sorted(tests.keys() & labels.keys())
    return [path for machine in both for path in (tests[machine], labels[machine])]


def build(paths: list[Path], name: str) -> dict[str, Dataset]:
    """Return the early windows of every machine for training, the late ones for testing."""
    recordings = [read_machine(*pair) for pair in zip(paths[::2], paths[1::2], strict=True)]
    note = f"{PROTOCOL}; {len(recordings)} of {ALL_MACHINES} machines present"
    return by_time(recordings, SHARE, BLOCK, name, note)


def read_machine(test: Path, labels: Path) -> Recording:
    """Return one machine's labelled recording."""
    values = read_table(test, N_COLUMNS)
    anomalous = read_table(labels, 1)[:, 0]
    if len(anomalous) != len(values):
        raise FileFormatError(
            labels, len(anomalous), f"{len(anomalous)} labels for the {len(values)} rows of {test}"
        )
    if not np.isin(anomalous, (0, 1)).all():
        line = int(np.argmin(np.isin(anomalous, (0, 1)))) + 1
        raise FileFormatError(labels, line, f"a label must be 0 or 1, got {anomalous[line - 1]:g}")
    return Recording("machine-{}-{}".format(*_machine(test)), values, anomalous == 1)


def _machine(path: Path) -> tuple[int, int]:
    numbers = re.match(r"machine-(\d+)-(\d+)\.txt", path.name)
    if not numbers:
        raise FileFormatError(path, None, "expected a name such as machine-1-2.txt")
    return int(numbers[1]), int(numbers[2])
