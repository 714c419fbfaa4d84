"""Sets of the UCR and UEA archives: NAME_TRAIN and NAME_TEST as .ts or .arff, as published."""

from pathlib import Path

import numpy as np

from posenc_book.data.dataset import Dataset, stack
from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats import arff, text, ts

_ENDINGS = (".ts", ".ts.gz", ".arff", ".arff.gz")


def find(folder: Path, name: str) -> list[Path]:
    """Return the train and the test file, or [] unless both are there."""
    for ending in _ENDINGS:
        pair = [folder / f"{name}_{part}{ending}" for part in ("TRAIN", "TEST")]
        if all(path.is_file() for path in pair):
            return pair
    return []


def missing_half(folder: Path, name: str) -> Path | None:
    """Return the file that would complete a set of which only one half is there, or None."""
    for ending in _ENDINGS:
        train, test = (folder / f"{name}_{part}{ending}" for part in ("TRAIN", "TEST"))
        if train.is_file() != test.is_file():
            return test if train.is_file() else train
    return None


def build(paths: list[Path], name: str) -> dict[str, Dataset]:
    """Return the official splits, padded to one common length."""
    train, test = (_read(path) for path in paths)
    if train[2] != test[2]:
        raise FileFormatError(
            paths[1], None, f"classes {test[2]} differ from the training file's {train[2]}"
        )
    if train[0][0].shape[1] != test[0][0].shape[1]:
        raise FileFormatError(paths[1], None, "has another number of channels than the train file")
    if bool(train[3]) != bool(test[3]):
        raise FileFormatError(paths[1], None, "one file keeps times and the other does not")
    unseen = np.flatnonzero(~np.isin(test[1], train[1]))
    if len(unseen):
        raise FileFormatError(
            paths[1],
            _line_of_case(paths[1], int(unseen[0])),
            f"class {test[2][test[1][unseen[0]]]!r} does not occur in {paths[0].name}: nobody can "
            f"learn it there",
        )
    length = max(len(one) for one in train[0] + test[0])
    return {
        split: stack(
            series, labels, classes, name, f"official {split} part", length=length, times=times
        )
        for split, (series, labels, classes, times) in {"train": train, "test": test}.items()
    }


def _read(path: Path):
    if ".ts" in path.suffixes:
        series, labels, header = ts.read_series(path)
        return series, labels, header.classes, header.times
    return *arff.read_series(path), ()


def _line_of_case(path: Path, number: int) -> int:
    """Return the line of series `number`, from 0, in a file that was read without an error."""
    rows = text.lines(path)
    for _, row in rows:
        if row.strip().lower() == "@data":
            break
    lines = [line for line, row in rows if row.strip() and not row.startswith(("#", "%"))]
    return lines[number]
