"""Univariate .arff files of the UCR archive: numeric columns, then one nominal class.

scipy and aeon read this format too, but neither names the line of a wrong value.
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc_book import _files
from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats import text

# Nothing here is tried twice (++, *+): a long damaged line would otherwise take hours.
_QUOTED = r"""'(?:[^'\\]++|\\.)*+'|"(?:[^"\\]++|\\.)*+\""""
_ATTRIBUTE = re.compile(rf"@attribute\s++(?:{_QUOTED}|[^\s{{'\"][^\s{{]*+)\s*+", re.IGNORECASE)
_CLASS = re.compile(rf"\s*+({_QUOTED}|[^\s,{{}}'\"][^,{{}}]*+)\s*+([,}}])")
_ESCAPED = re.compile(r"""\\(['"\\%])""")
_NUMERIC = ("numeric", "real", "integer")


def read_series(path: Path) -> tuple[list[NDArray[np.float32]], NDArray[np.int64], tuple[str, ...]]:
    """Return the series, arrays (length, 1) with NaN for missing, labels and class names."""
    rows = text.lines(path)
    length, classes = _read_header(path, rows)
    index = {label: i for i, label in enumerate(classes)}
    series: list[NDArray] = []
    labels: list[int] = []
    most_series = _files.most("series")
    for line, row in rows:
        if not row.strip() or row.startswith("%"):
            continue
        values, label = _split(path, line, row, length)
        if label not in index:
            raise FileFormatError(path, line, f"label {label[:40]!r} is not among {list(classes)}")
        case = text.numbers(path, line, values, missing=True)
        text.check_real_step(path, line, case[:, None])
        series.append(case[:, None].astype(np.float32))
        labels.append(index[label])
        if len(series) > most_series:
            raise FileFormatError(path, line, _files.beyond("series"))
    if not series:
        raise FileFormatError(path, None, "holds no series after @data")
    return series, np.array(labels, dtype=np.int64), classes


def _split(path: Path, line: int, row: str, length: int) -> tuple[str, str]:
    """Return the values of a row as one text, and its label, which may hold commas if quoted."""
    n_commas = row.count(",")
    if n_commas > length:
        begin = sum(map(len, row.split(",", length)[:length])) + length
        values, label = row[: begin - 1], row[begin:].strip()
    else:
        values, _, label = row.rpartition(",")
        label = label.strip()
    plain = _plain(label)
    if n_commas < length or (plain == label and "," in label):
        raise FileFormatError(path, line, f"expected {length} values, got {n_commas:,}")
    return values, plain


def _plain(label: str) -> str:
    """Return a name without its quotes, if it has any."""
    return _ESCAPED.sub(r"\1", label[1:-1]) if re.fullmatch(_QUOTED, label) else label


def _read_header(path: Path, rows) -> tuple[int, tuple[str, ...]]:
    length, line = 0, 0
    classes: tuple[str, ...] = ()
    for line, row in rows:
        row = row.strip()
        tag = row[:20].lower()
        if not row or row.startswith("%") or tag.startswith("@relation"):
            continue
        if tag == "@data":
            break
        if classes or not tag.startswith("@attribute"):
            raise FileFormatError(
                path, line, f"expected numeric columns, one class and @data, got {row[:40]!r}"
            )
        name = _ATTRIBUTE.match(row)
        kind = row[name.end() :] if name else ""
        if kind.lower() in _NUMERIC:
            length += 1
        else:
            classes = _classes(path, line, kind)
        if not (kind.lower() in _NUMERIC or classes):
            raise FileFormatError(
                path,
                line,
                "only numeric columns and one class in braces are read, names with spaces in "
                f"quotes, got {row[:40]!r}",
            )
    else:
        raise FileFormatError(path, line or None, "ends without a @data line")
    if not length or not classes:
        raise FileFormatError(path, line, "the header needs numeric columns and a nominal class")
    return length, classes


def _classes(path: Path, line: int, kind: str) -> tuple[str, ...]:
    """Return the classes of a kind of attribute such as `{a, 'b, c'}`, or () of another kind."""
    classes, at = [], 1
    while kind.startswith("{") and (found := _CLASS.match(kind, at)):
        classes.append(_plain(found[1].rstrip()))
        at = found.end()
        if len(classes) > _files.most("columns"):
            raise FileFormatError(path, line, f"the class names {_files.beyond('columns')}")
        if found[2] == "}":
            break
    if not classes or found is None or at != len(kind):
        return ()
    if len(set(classes)) != len(classes):
        raise FileFormatError(path, line, "the nominal class names a class twice")
    return tuple(classes)
