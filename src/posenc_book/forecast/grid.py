"""From rows to regular steps: which step of the clock or the calendar each row stands on."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc_book import _files
from posenc_book.data.dataset import MOST_GROWTH
from posenc_book.data.errors import FileFormatError
from posenc_book.forecast.table import Track
from posenc_book.forecast.units import calendar_of

SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
NAMES = {"ms": "month", "me": "month", "q": "quarter", "qs": "quarter", "y": "year", "a": "year"}
DAY = 86400
MOST_YEARS = 1000
LONGEST_SEASON = 336  # a day of minutes is no season that a model of this size could see
SMALL = 1 << 20  # values that series side by side may always have
MOST_MISSING = 0.5  # of the steps between the first row and the last


@dataclass(frozen=True)
class Frequency:
    """The distance of two steps.

    Parameters
    ----------
    text : str
        As it was asked for, such as "30min".
    seconds, months : int
        One of them is 0.
    """

    text: str
    seconds: int
    months: int

    @property
    def season(self) -> int:
        """Steps of the next longer natural cycle: of hours a day, of days a week, of months a year.

        1 where the steps do not divide it.
        """
        if self.months:
            return 12 // self.months if 12 % self.months == 0 else 1
        if self.seconds == SECONDS["w"]:
            return 52
        cycles = (DAY, 3600, 60) if self.seconds < DAY else (7 * DAY,)
        steps = [cycle // self.seconds for cycle in cycles if cycle % self.seconds == 0]
        return next((n for n in steps if 1 < n <= LONGEST_SEASON), 1)

    def steps(self, time: datetime, origin: datetime) -> float:
        """Return by how many steps a time lies behind another, both as `plain` has them."""
        if self.months:
            months = 12 * (time.year - origin.year) + time.month - origin.month
            return months / self.months
        return (time - origin) / timedelta(seconds=self.seconds)

    def plain(self, time: datetime) -> datetime:
        """Return a time without its zone: hours are counted through, days are those of the wall."""
        if time.tzinfo is None:
            return time
        return (time.astimezone(UTC) if 0 < self.seconds < DAY else time).replace(tzinfo=None)


def frequency(text: str) -> Frequency:
    """Return the frequency that a text such as h, 30min, D, W or month means."""
    found = re.fullmatch(r"\s*(\d*)\s*([A-Za-z]+)\s*", text)
    n, unit = (int(found[1] or 1), found[2]) if found else (0, "")
    if unit in ("m", "M"):
        raise ValueError(f"frequency {text!r} may be minutes or months: write min or month")
    unit = NAMES.get(unit.lower(), unit.lower())
    if n < 1 or unit not in (*SECONDS, *MONTHS):
        raise ValueError(
            f"frequency must be {', '.join((*SECONDS, *MONTHS))}, or some of them such as 30min, "
            f"got {text!r}"
        )
    every = Frequency(text, n * SECONDS.get(unit, 0), n * MONTHS.get(unit, 0))
    if max(every.seconds / DAY / 365, every.months / 12) > MOST_YEARS:
        raise ValueError(
            f"frequency must be {MOST_YEARS:,} years at most, all that a calendar has, got {text!r}"
        )
    return every


@dataclass(frozen=True, eq=False)
class Grid:
    """Series on common steps.

    Parameters
    ----------
    names : list of str
    values : array of shape (n_series, n_steps)
        Not-a-number where nothing is known.
    lines : array of shape (n_series, n_steps)
        Where each value stands in the file; 0 where no row is.
    calendar : array of shape (n_steps, 4)
        See `units.calendar_of`.
    notes : list of str
        What a reader should know of gaps.
    known : array of shape (n_series, n_steps, n_known)
        What was known ahead; not-a-number where no row is.
    """

    names: list[str]
    values: NDArray[np.float64]
    lines: NDArray[np.int64]
    calendar: NDArray[np.float64]
    notes: list[str]
    known: NDArray[np.float64]


def on_grid(path: Path, tracks: Sequence[Track], every: Frequency) -> Grid:
    """Put series on steps, or raise FileFormatError where a row lies between two of them."""
    plain = [_plain(path, track, every) for track in tracks]
    origin = min(times[0] for times in plain)
    places = [
        _places(path, track, times, origin, every)
        for track, times in zip(tracks, plain, strict=True)
    ]
    for track, place in zip(tracks, places, strict=True):
        _check_spacing(path, track, place, every)
    n_steps = max(int(place[-1]) for place in places) + 1
    _check_size(path, tracks, n_steps, every)
    values = np.full((len(tracks), n_steps), np.nan)
    lines = np.zeros((len(tracks), n_steps), np.int64)
    known = np.full((len(tracks), n_steps, len(tracks[0].known[0])), np.nan)
    for row, (track, place) in enumerate(zip(tracks, places, strict=True)):
        values[row, place], lines[row, place] = track.values, track.lines
        known[row, place] = track.known
    wall = _wall_times(tracks, places, n_steps, _adder(every))
    notes = _gaps(path, tracks, places)
    names = [track.name for track in tracks]
    return Grid(names, values, lines, calendar_of(wall), notes, known)


def _check_size(path: Path, tracks: Sequence[Track], n_steps: int, every: Frequency) -> None:
    """Raise FileFormatError if series side by side take far more memory than their rows."""
    n_rows, n_each = sum(len(track.times) for track in tracks), 1 + len(tracks[0].known[0])
    n_values = len(tracks) * n_steps * n_each
    sizes = f"{len(tracks):,} series of {n_steps:,} steps of {every.text} are"
    if n_steps > _files.most("lines"):
        raise FileFormatError(path, None, f"{sizes} {_files.beyond('lines')}")
    if n_values > max(SMALL, MOST_GROWTH * n_rows * n_each):
        raise FileFormatError(
            path, None, f"{sizes} {n_values:,} values, and the file has {n_rows:,} rows: series "
            "that do not go on at the same times belong into files of their own"
        )  # fmt: skip
    if n_values > _files.most("values"):
        raise FileFormatError(path, None, f"{sizes} {_files.beyond('values')}")


def _plain(path: Path, track: Track, every: Frequency) -> list[datetime]:
    """Return the times of a series without their zones."""
    found = []
    for time, line in zip(track.times, track.lines, strict=True):
        try:
            found.append(every.plain(time))
        except OverflowError:
            why = f"the time {time} is beyond the years 1 to 9999 in UTC"
            raise FileFormatError(path, line, why) from None
    return found


def _places(
    path: Path, track: Track, times: Sequence[datetime], origin: datetime, every: Frequency
) -> NDArray[np.int64]:
    """Return the step of each row of a series."""
    found = np.array([every.steps(time, origin) for time in times])
    places = found.round().astype(np.int64)
    between = np.flatnonzero(np.abs(found - places) > 1e-6)
    if between.size:
        row = int(between[0])
        why = (
            f"the time {track.times[row]} lies between two steps of {every.text} from "
            f"{origin} on; {_spacing_hint(times)}"
        )
        raise FileFormatError(path, track.lines[row], why)
    twice = np.flatnonzero(np.diff(places) < 1)
    if twice.size:
        row = int(twice[0]) + 1
        why = (
            f"the time {track.times[row]} is in the same step of {every.text} as line "
            f"{track.lines[row - 1]}; {_spacing_hint(times)}"
        )
        raise FileFormatError(path, track.lines[row], why)
    return places


def _spacing_hint(times: Sequence[datetime]) -> str:
    usual = _usual_spacing(times)
    said = f"most rows lie {usual} apart" if usual else "a series of one row has no steps"
    return f"{said}: mend --frequency, or move the times to regular steps"


def _usual_spacing(times: Sequence[datetime]) -> str:
    apart = Counter(b - a for a, b in pairwise(times))
    return _frequency_text(apart.most_common(1)[0][0]) if apart else ""


def _frequency_text(apart: timedelta) -> str:
    """Return a distance as --frequency takes it."""
    seconds = int(apart.total_seconds())
    if apart.days in (28, 29, 30, 31):
        return "a month"
    if apart.days in (90, 91, 92):
        return "a quarter"
    if apart.days in (365, 366):
        return "a year"
    size = next((s for s in (DAY, 3600, 60) if seconds >= s and seconds % s == 0), 1)
    return f"{seconds // size}" + {DAY: "d", 3600: "h", 60: "min", 1: "s"}[size]


def _check_spacing(path: Path, track: Track, places: NDArray[np.int64], every: Frequency) -> None:
    """Raise FileFormatError if most rows are not one step apart, or most steps have no row."""
    n, apart = int(places[-1] - places[0]) + 1, np.diff(places)
    usual = Counter(apart.tolist()).most_common(1)
    if not usual or (usual[0][0] == 1 and len(places) >= (1 - MOST_MISSING) * n):
        return
    row = int(apart.argmax()) + 1
    why = (
        f"of {n:,} steps of {every.text} between the first row{_of(track)} and its last "
        f"{n - len(places):,} are missing, the most before this line; most rows lie "
        f"{_usual_spacing(track.times)} apart: is --frequency right?"
    )
    raise FileFormatError(path, track.lines[row], why)


def _gaps(
    path: Path,
    tracks: Sequence[Track],
    places: Sequence[NDArray[np.int64]],
) -> list[str]:
    """Return sentences on rows that are not there and on fields that are empty."""
    notes = []
    gaps = [(track, row) for track, place in zip(tracks, places, strict=True)
            for row in np.flatnonzero(np.diff(place) > 1) + 1]  # fmt: skip
    if gaps:
        track, row = gaps[0]
        n = sum(int(place[-1] - place[0]) + 1 - len(place) for place in places)
        notes.append(
            f"{path}, line {track.lines[row]}: no rows between {track.times[row - 1]} and "
            f"{track.times[row]}{_of(track)}; {_counted(n, 'step')} in "
            f"{_counted(len(gaps), 'gap')} count as unknown and are masked: if "
            "nothing happened in them, write rows with 0"
        )
    empty = [(track, row) for track in tracks
             for row in np.flatnonzero(np.isnan(track.values))]  # fmt: skip
    if empty:
        track, row = empty[0]
        n = len(empty)
        notes.append(
            f"{path}, line {track.lines[row]}: an empty value{_of(track)}; {n:,} of "
            f"{sum(len(t.values) for t in tracks):,} values count as unknown and are masked"
        )
    return notes


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _of(track: Track) -> str:
    return f" of {track.name!r}"


def _wall_times(
    tracks: Sequence[Track],
    places: Sequence[NDArray[np.int64]],
    n_steps: int,
    later: Callable[[datetime, int], datetime],
) -> list[datetime]:
    """Return what the clock on the wall shows at each step; in a gap it goes on."""
    known: dict[int, datetime] = {}
    for track, place in zip(tracks, places, strict=True):
        for step, time in zip(place.tolist(), track.times, strict=True):
            known.setdefault(step, time)
    walls, last = [], 0
    for step in range(n_steps):
        last = step if step in known else last
        walls.append(known[last] if step in known else later(known[last], step - last))
    return walls


def _adder(every: Frequency) -> Callable[[datetime, int], datetime]:
    def later(time: datetime, n: int) -> datetime:
        if every.seconds:
            return time + timedelta(seconds=n * every.seconds)
        months = 12 * time.year + time.month - 1 + n * every.months
        return time.replace(year=months // 12, month=months % 12 + 1, day=min(time.day, 28))

    return later
