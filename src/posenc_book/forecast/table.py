"""A file of one's own: a head line, a row for each time, and a sentence for whatever is wrong."""

import difflib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import numpy as np

from posenc_book import _files
from posenc_book.data.errors import FileFormatError
from posenc_book.data.formats import moments, text

MOST = float(np.finfo(np.float32).max)  # models get 32-bit numbers
MISSING = ("", "na", "nan", "null", "none")
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True)
class Form:
    """How a file is written.

    Parameters
    ----------
    time : str
        Column of the times.
    values : sequence of str
        Columns of what is forecast; all others if there is none.
    series : str
        Column that names the series of a row; empty where all rows are of one.
    separator, decimal : str
        Between fields, and within numbers.
    time_format : str
        As `datetime.strptime` has it; empty for ISO 8601.
    known : sequence of str
        Columns that are known ahead, such as promotions: they are read, and not forecast.
    """

    time: str
    values: Sequence[str] = ()
    series: str = ""
    separator: str = ","
    decimal: str = "."
    time_format: str = ""
    known: Sequence[str] = ()

    def __post_init__(self) -> None:
        if len(self.separator) != 1:
            raise ValueError(f"separator must be one sign such as ';', got {self.separator!r}")
        if self.decimal not in (".", ","):
            raise ValueError(f"decimal must be . or a comma, got {self.decimal!r}")
        if self.decimal == self.separator:
            raise ValueError(f"separator and decimal must differ, got {self.decimal!r} for both")
        if self.time_format:
            moments.check_form("time_format", self.time_format)


@dataclass(eq=False)
class Track:
    """One series as the file has it, not yet on regular steps.

    Parameters
    ----------
    name : str
    times : list of datetime
        They rise.
    values : list of float
        Not-a-number where a value is missing.
    lines : list of int
        Where each stands in the file.
    known : list of sequences of float
        What was known ahead of each.
    """

    name: str
    times: list[datetime] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    known: list[Sequence[float]] = field(default_factory=list)


def read_tracks(path: Path, form: Form) -> list[Track]:
    """Return the series of a file, or raise FileFormatError with the line that is wrong."""
    _, rows = text.table(text.readable(path), form.separator)
    head = next(rows, (0, []))[1]
    if not any(name.strip() for name in head):
        raise FileFormatError(path, None, "is empty; it needs a head line, and a row for each time")
    reader = _Reader(path, form, text.heads(head))
    for line, row in rows:
        reader.take(line, row)
    if not reader.tracks:
        raise FileFormatError(path, 1, "there are no rows below the head line")
    return list(reader.tracks.values())


class _Reader:
    """Takes rows, and sorts them into series."""

    def __init__(self, path: Path, form: Form, head: list[str]) -> None:
        self.path, self.form, self.head = path, form, head
        self.at, self.n_called = {name: i for i, name in enumerate(head)}, Counter(head)
        self.time = self._place(form.time, "--time")
        self.series = self._place(form.series, "--series") if form.series else None
        self.known = [(name, self._place(name, "--known-ahead")) for name in form.known]
        apart = {form.time, form.series, *form.known}
        names = list(form.values) or [name for name in head if name and name not in apart]
        if not names:
            raise FileFormatError(path, 1, f"there is no column beside {form.time!r} to forecast")
        for name, n in Counter(names).items():
            if name in apart or n > 1:
                raise ValueError(f"--value must name other columns, each once, got {name!r}")
        self.columns = {name: self._place(name, "--value") for name in names}
        self.tracks: dict[tuple[str, str], Track] = {}
        self.clock = moments.Moments(path, form.time, form.time_format)

    def take(self, line: int, row: list[str]) -> None:
        """Take a row."""
        if len(row) != len(self.head):
            raise FileFormatError(self.path, line, self._uneven(row, line))
        time = self.clock.time(row[self.time], line)
        of = "" if self.series is None else row[self.series].strip()
        if self.series is not None and not of:
            raise FileFormatError(self.path, line, f"no name in the column {self.form.series!r}")
        known = [self._known(row[place], name, line) for name, place in self.known]
        for column, place in self.columns.items():
            track = self.tracks.get((of, column)) or self._begin(of, column, line)
            self._check_order(track, time, row[self.time], line)
            track.times.append(time)
            track.values.append(self._number(row[place], column, line))
            track.lines.append(line)
            track.known.append(known)

    def _begin(self, of: str, column: str, line: int) -> Track:
        if len(self.tracks) >= _files.most("series"):
            raise FileFormatError(self.path, line, _files.beyond("series"))
        names = [of] * bool(of) + [column] * (not of or len(self.columns) > 1)
        return self.tracks.setdefault((of, column), Track(" ".join(names)))

    def _place(self, name: str, option: str) -> int:
        if self.n_called[name] == 1:
            return self.at[name]
        if name in self.at:
            raise FileFormatError(self.path, 1, f"two columns are called {name!r}; rename one")
        sign = self.form.separator
        others = {s: said for s, said in SEPARATORS.items() if s != sign and s in self.head[0]}
        if len(self.head) == 1 and others:
            [(other, said), *_] = others.items()
            shown = "$'\\t'" if other == "\t" else f"'{other}'"
            why = f"its fields are parted by {said}: add --separator {shown}"
            raise FileFormatError(self.path, 1, why)
        near = difflib.get_close_matches(name, self.head, 1, 0.5)
        same = [known for known in self.head if known.lower() == name.lower()]
        guess = f"; did you mean {(same or near)[0]!r}?" if same or near else ""
        there = ", ".join(self.head[:20]) + " ..." * (len(self.head) > 20)
        why = f"there is no column {name!r} for {option}, only {there}{guess}"
        raise FileFormatError(self.path, 1, why)

    def _uneven(self, row: list[str], line: int) -> str:
        said = f"{len(row)} values, {len(self.head)} in the head line{text.uneven(line, row)}"
        if len(row) > len(self.head) and self.form.separator == ",":
            said += "; numbers with a decimal comma must stand in quotes, with --decimal ','"
        return said

    def _check_order(self, track: Track, time: datetime, written: str, line: int) -> None:
        if not track.times or time > track.times[-1]:
            return
        of = f" of {track.name!r}" if self.series is not None else ""
        if time in track.times:
            where = track.lines[track.times.index(time)]
            why = f"the time {written}{of} stands there twice, first in line {where}"
            if self.series is None:
                why += "; if rows are of several series, name their column with --series"
            if time.tzinfo is None and (time.hour or time.minute):
                why += "; if a clock was set back, write times with their zone, such as +02:00"
        else:
            why = f"the time {written}{of} is earlier than the one before it, in line "
            why += f"{track.lines[-1]}; sort the rows by time"
        raise FileFormatError(self.path, line, why)

    def _known(self, written: str, column: str, line: int) -> float:
        value = self._number(written, column, line)
        if math.isnan(value):
            why = f"an empty field in the column {column!r}: what is known ahead must stand there"
            raise FileFormatError(self.path, line, why)
        return value

    def _number(self, written: str, column: str, line: int) -> float:
        written = written.strip()
        if written.lower() in MISSING:
            return math.nan
        plain, barred = written, "_"
        if self.form.decimal == ",":
            plain, barred = written.replace(",", "."), "._"
        try:
            value = math.nan if set(barred) & set(written) else float(plain)
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise FileFormatError(self.path, line, self._no_number(written, column))
        if abs(value) > MOST:
            why = f"{written} in the column {column!r} is not finite, or beyond 3.4e38; "
            raise FileFormatError(self.path, line, why + "leave the field empty if it is unknown")
        return value

    def _no_number(self, written: str, column: str) -> str:
        said = f"{written!r:.40} in the column {column!r} is no number"
        if self.form.decimal == "." and _is_number(written.replace(",", ".", 1)):
            return f"{said}: if that is a decimal comma, add --decimal ','"
        if self.form.decimal == "," and _is_number(written.replace(".", "")):
            return f"{said}: leave out the points between thousands"
        return f"{said}; an unknown value is left empty, a column of words is left out by --value"


def _is_number(written: str) -> bool:
    try:
        return math.isfinite(float(written))
    except ValueError:
        return False
