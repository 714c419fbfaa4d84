"""Times in a column of a table: numbers, or dates and clocks as people write them."""

import math
import re
from datetime import UTC, datetime
from pathlib import Path

from posenc_book.data.errors import FileFormatError

# How people write times that ISO 8601 does not; day and month are never guessed.
FORMATS = (
    "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%d.%m.%Y",
    "%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d/%m/%Y",
    "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%m/%d/%Y", "%m/%d/%Y %I:%M %p",
    "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%Y-%m", "%Y",
)  # fmt: skip
_SAMPLE = datetime(2016, 7, 1, 14, 5, 6, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1)


def check_form(name: str, form: str) -> str:
    """Return a form of `datetime.strptime`, or raise ValueError if it is none."""
    try:
        datetime.strptime(_SAMPLE.strftime(form), form)
    except (ValueError, re.error) as error:
        why = "a sign stands there twice" if isinstance(error, re.error) else str(error)
        raise ValueError(
            f"{name} must be such as '%d.%m.%Y %H:%M' (%m are months, %M minutes), got "
            f"{form!r:.80}: {why:.200}"
        ) from None
    return form


class Moments:
    """Reads the times of one column, which must all be written alike.

    Parameters
    ----------
    path : pathlib.Path
    column : str
        Its name, for messages.
    form : str
        As `datetime.strptime` has it; empty for ISO 8601.
    """

    def __init__(self, path: Path, column: str, form: str = "") -> None:
        self.path, self.column, self.form = path, column, form
        self.first: tuple[int, str, datetime] | None = None
        self.counts: bool | None = None  # whether they are numbers, which the first one says

    def number(self, written: str, line: int) -> float:
        """Return a time that is a number as it stands, and any other in seconds since 1970."""
        written = written.strip()
        value = math.nan if self.form else _as_number(written)
        if self.counts is None:
            self.counts = math.isfinite(value)
        if not self.counts:
            time = self.time(written, line)
            return (time - _EPOCH.replace(tzinfo=time.tzinfo and UTC)).total_seconds()
        if math.isfinite(value):
            return value
        said = f"no number as the first time in the column {self.column!r} is"
        raise FileFormatError(self.path, line, f"the time {written!r:.40} is {said}")

    def time(self, written: str, line: int) -> datetime:
        """Return a time, or raise FileFormatError with what would be right."""
        written = written.strip()
        try:
            time = _parsed(written, self.form)
        except (ValueError, OverflowError):
            raise FileFormatError(self.path, line, self._no_time(written)) from None
        if self.first is None:
            self.first = line, written, time
        elif (time.tzinfo is None) != (self.first[2].tzinfo is None):
            why = (
                f"the time {written!r} has {'no' if time.tzinfo is None else 'a'} zone, that of "
                f"line {self.first[0]} has {'one' if time.tzinfo is None else 'none'}: "
                f"{self.first[1]!r}; write all of them alike"
            )
            raise FileFormatError(self.path, line, why)
        return time

    def _no_time(self, written: str) -> str:
        if not written:
            return f"no time in the column {self.column!r}"
        asked = self.form
        said = f"{written!r:.40} is no time " + (
            f"of the form {asked}" if asked else "such as 2016-07-01 14:00"
        )
        if self.first is not None:
            return f"{said}; that of line {self.first[0]} is {self.first[1]!r}: write all alike"
        if written.isdigit() and len(written) > 8:
            return f"{said}; seconds since 1970 must be turned into times first"
        fitting = [form for form in FORMATS if form != asked and _fits(written, form)]
        if fitting:
            said += ": add --time-format " + " or ".join(f"'{form}'" for form in fitting)
        return said


def _parsed(written: str, form: str) -> datetime:
    return datetime.strptime(written, form) if form else datetime.fromisoformat(written)


def _fits(written: str, form: str) -> bool:
    try:
        return bool(_parsed(written, form))
    except ValueError:
        return False


def _as_number(written: str) -> float:
    try:
        return math.nan if "_" in written else float(written)
    except ValueError:
        return math.nan
