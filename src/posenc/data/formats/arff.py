"""Univariate .arff files of the UCR archive: numeric columns, then one nominal class.

scipy and aeon read this format too, but neither names the line of a wrong value.
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc.data.errors import FileFormatError
from posenc.data.formats import text


def read_series(path: Path) -> tuple[list[NDArray[np.float32]], NDArray[np.int64], tuple[str, ...]]:
    """Return the series, arrays (length, 1) with NaN for missing, labels and class names."""
    rows = text.lines(path)
    length, classes = _read_header(path, rows)
    index = {label: i for i, label in enumerate(classes)}
    series: list[NDArray] = []
    labels: list[int] = []
    for line, row in rows:
        if not row.strip() or row.startswith("%"):
            continue
        values, _, label = row.rpartition(",")
        label = label.strip().strip("'\"")
        if label not in index:
            raise FileFormatError(path, line, f"label {label[:40]!r} is not among {list(classes)}")
        case = text.numbers(path, line, values, missing=True)
        if len(case) != length:
            raise FileFormatError(path, line, f"expected {length} values, got {len(case)}")
        text.check_real_step(path, line, case[:, None])
        series.append(case[:, None].astype(np.float32))
        labels.append(index[label])
    if not series:
        raise FileFormatError(path, None, "holds no series after @data")
    return series, np.array(labels, dtype=np.int64), classes


def _read_header(path: Path, rows) -> tuple[int, tuple[str, ...]]:
    length, classes, line = 0, (), 0
    for line, row in rows:
        row = row.strip()
        tag = row.lower()
        if not row or row.startswith("%") or tag.startswith("@relation"):
            continue
        if tag == "@data":
            break
        classes_of = _classes(row)
        if classes or not tag.startswith("@attribute"):
            raise FileFormatError(
                path, line, f"expected numeric columns, one class and @data, got {row[:40]!r}"
            )
        if classes_of:
            classes = classes_of
            if len(set(classes)) != len(classes):
                raise FileFormatError(path, line, "the nominal class names a class twice")
        elif re.fullmatch(r"@attribute\s+\S+\s+(numeric|real)", row, re.IGNORECASE):
            length += 1
        else:
            raise FileFormatError(path, line, f"only numeric columns are read, got {row[:40]!r}")
    else:
        raise FileFormatError(path, line or None, "ends without a @data line")
    if not length or not classes:
        raise FileFormatError(path, line, "the header needs numeric columns and a nominal class")
    return length, classes


def _classes(row: str) -> tuple[str, ...]:
    """Return the classes of a line `@attribute NAME {a, b}`, or () of another line.

    Without a regular expression, which would take hours over a long line of braces.
    """
    head, brace, rest = row.partition("{")
    if not brace or not rest.endswith("}") or not rest[:-1] or len(head.split()) != 2:
        return ()
    if head.split()[0].lower() != "@attribute":
        return ()
    return tuple(one.strip().strip("'\"") for one in rest[:-1].split(","))
