"""The eighteen units: which series, how they are split, and how far back and ahead one looks."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.forecast import files, sources

ETT = ("HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT")
# The direction of the wind is left out: it is an angle, and 359 degrees are next to 1.
AIR = ("so2", "co", "no", "no2", "pm10", "nox", "o3", "veloc.", "pm2.5")

MELBOURNE = "Australia/Melbourne"


@dataclass(frozen=True)
class Shape:
    """How a unit is looked at.

    Parameters
    ----------
    season : int
        Steps of the seasonal naive forecast, which scales the errors; 1 where there is no season.
    context, horizon : int
        Steps that a model sees, and steps that it forecasts.
    patch : int
        Steps in a patch.
    """

    season: int
    context: int
    horizon: int
    patch: int


@dataclass(frozen=True, eq=False)
class Series:
    """One series, test part included.

    Parameters
    ----------
    values : array of shape (n_steps,)
        Not-a-number where a value is missing.
    learned, chosen : int
        Steps that may be learned from, and end of the steps that choose a checkpoint. The test
        part begins behind. They are the same where other series choose.
    end : int
        End of the test part.
    known : array of shape (n_steps, n_features), optional
        What joins the values and was known ahead.
    """

    values: NDArray[np.float64]
    learned: int
    chosen: int
    end: int
    known: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Unit:
    """A unit, read from its files.

    Parameters
    ----------
    name : str
    shape : Shape
    series : list of Series
    calendar : array of shape (n_steps, 4), or None
        Hour, day of the week, day of the month and of the year, each from -0.5 to 0.5, the same for
        all series, as the time features of Informer are.
    dropped : int
        Series that are left out: too short for one context, or constant while learned from.
    """

    name: str
    shape: Shape
    series: list[Series]
    calendar: NDArray[np.float64] | None
    dropped: int

    @property
    def panel(self) -> bool:
        """Whether checkpoints are chosen on series of their own, as each is short."""
        return self.series[0].learned == self.series[0].chosen

    @property
    def fingerprint(self) -> str:
        """Hash of all values, splits and the shape: 12 hexadecimal digits."""
        digest = hashlib.sha256(repr(self.shape).encode())
        for one in self.series:
            digest.update(one.values.tobytes() + f"{one.learned},{one.chosen},{one.end}".encode())
            if one.known is not None:
                digest.update(one.known.tobytes())
        if self.calendar is not None:
            digest.update(self.calendar.tobytes())
        return digest.hexdigest()[:12]


def _competition(name: str, period: str) -> list[Series]:
    return [_of_panel(*pair) for pair in sources.read_competition(name, period)]


def _m4(period: str) -> list[Series]:
    parts = [sources.read_m4(files.path_of(f"M4-{period}-{p}.csv.gz")) for p in ("train", "test")]
    return [_of_panel(*pair) for pair in zip(*parts, strict=True)]


def _of_panel(train: NDArray, test: NDArray) -> Series:
    return Series(np.concatenate((train, test)), len(train), len(train), len(train) + len(test))


def _months_of_ett(an_hour: int, table: sources.Table) -> tuple[int, int, int]:  # noqa: ARG001
    """Twelve months to learn, four to choose, four to test, of 30 days each, as Informer has it."""
    month = 30 * 24 * an_hour
    return 12 * month, 16 * month, 20 * month


def _shares(table: sources.Table) -> tuple[int, int, int]:
    """Return the usual 70, 10 and 20 per cent."""
    n = len(table.values)
    return int(0.7 * n), n - int(0.2 * n), n


def _columns(
    table: sources.Table, split: Callable[[sources.Table], tuple[int, int, int]]
) -> list[Series]:
    return [Series(column, *split(table)) for column in table.values.T]


def calendar_of(times: Sequence[datetime], zone: str = "") -> NDArray[np.float64]:
    """Return the time features of Informer (Zhou et al. 2021): (n_steps, 4), each -0.5 to 0.5.

    Times with a zone are those of the clock on the wall in `zone`, summer time included.
    """
    if zone:
        times = [time.astimezone(ZoneInfo(zone)) for time in times]
    parts = [
        (
            (t.hour + t.minute / 60) / 23,
            t.weekday() / 6,
            (t.day - 1) / 30,
            (t.timetuple().tm_yday - 1) / 365,
        )
        for t in times
    ]
    return np.array(parts) - 0.5


def _ett(name: str, an_hour: int = 1) -> tuple[list[Series], NDArray]:
    table = sources.read_table(files.path_of(f"{name}.csv.gz"), ETT, "date")
    return _columns(table, partial(_months_of_ett, an_hour)), calendar_of(table.times)


def _wide(name: str) -> tuple[list[Series], NDArray]:
    """Return all columns of a file of electricity, traffic or weather."""
    table = sources.read_table(files.path_of(f"{name}.csv"), time="date")
    return _columns(table, _shares), calendar_of(table.times)


def read_victoria() -> sources.Table:
    """Return the demand in Victoria and its times, in UTC; those of its clocks are `MELBOURNE`."""
    return sources.read_table(files.path_of("vic_electricity.csv.gz"), ["Demand"], "Time")


def _vic() -> tuple[list[Series], NDArray]:
    table = read_victoria()
    return _columns(table, _shares), calendar_of(table.times, MELBOURNE)


def _bike() -> tuple[list[Series], NDArray]:
    path = files.path_of("bike_sharing_dataset_clean.csv.gz")
    table = sources.read_table(path, ["users"], "date_time")
    return _columns(table, _shares), calendar_of(table.times)


def _air() -> tuple[list[Series], NDArray]:
    path = files.path_of("air_quality_valencia.csv.gz")
    table = sources.read_table(path, AIR, "datetime")
    return _columns(table, _shares), calendar_of(table.times)


def _exchange() -> list[Series]:
    table = sources.read_numbers(files.path_of("exchange_rate.txt.gz"))
    return _columns(table, _shares)


_YEARS, _QUARTERS = Shape(1, 8, 6, 2), Shape(4, 16, 8, 2)
_MONTHS, _HOURS = Shape(12, 36, 18, 6), Shape(24, 96, 24, 8)

# From names to shapes, and to what reads the series and, where times are known, a calendar.
UNITS: dict[str, tuple[Shape, Callable]] = {
    "m1_yearly": (_YEARS, lambda: _competition("m1", "YEARLY")),
    "m1_quarterly": (_QUARTERS, lambda: _competition("m1", "QUARTERLY")),
    "m1_monthly": (_MONTHS, lambda: _competition("m1", "MONTHLY")),
    "m3_yearly": (_YEARS, lambda: _competition("m3", "YEARLY")),
    "m3_quarterly": (_QUARTERS, lambda: _competition("m3", "QUARTERLY")),
    "m3_monthly": (_MONTHS, lambda: _competition("m3", "MONTHLY")),
    "m3_other": (Shape(1, 24, 8, 4), lambda: _competition("m3", "OTHER")),
    "tourism_yearly": (Shape(1, 8, 4, 2), lambda: _competition("tcomp", "YEARLY")),
    "tourism_quarterly": (_QUARTERS, lambda: _competition("tcomp", "QUARTERLY")),
    "tourism_monthly": (Shape(12, 36, 24, 6), lambda: _competition("tcomp", "MONTHLY")),
    "m4_weekly": (Shape(1, 52, 13, 4), lambda: _m4("Weekly")),
    "m4_hourly": (Shape(24, 96, 48, 8), lambda: _m4("Hourly")),
    "etth1": (_HOURS, lambda: _ett("ETTh1")),
    "etth2": (_HOURS, lambda: _ett("ETTh2")),
    "exchange": (Shape(1, 96, 24, 8), _exchange),
    "vic_electricity": (Shape(48, 96, 48, 8), _vic),
    "bike_sharing": (_HOURS, _bike),
    "air_quality": (_HOURS, _air),
}


# Not part of the experiment, as their files are too large to be carried along; put those of
# Informer and Autoformer into the folder, and `load_unit` reads them.
LARGE: dict[str, tuple[Shape, Callable]] = {
    "ettm1": (Shape(96, 96, 24, 8), lambda: _ett("ETTm1", 4)),
    "ettm2": (Shape(96, 96, 24, 8), lambda: _ett("ETTm2", 4)),
    "electricity": (_HOURS, lambda: _wide("electricity")),
    "traffic": (_HOURS, lambda: _wide("traffic")),
    "weather": (Shape(144, 144, 24, 8), lambda: _wide("weather")),
}


# Units that were cut elsewhere, such as the blocks of a file of one's own (`blocks`), by names
# that hold their fingerprints.
GIVEN: dict[str, Unit] = {}


@cache
def load_unit(name: str) -> Unit:
    """Return a unit, or raise ValueError if there is none of that name or its files are missing."""
    if name in GIVEN:
        return GIVEN[name]
    known = UNITS | LARGE
    shape, read = known[_checks.choice("unit", name, known)]
    found = read()
    series, calendar = found if isinstance(found, tuple) else (found, None)
    kept = [one for one in series if one.chosen >= shape.context and naive_error(one, shape) > 0]
    return Unit(name, shape, kept, calendar, len(series) - len(kept))


def naive_error(series: Series, shape: Shape) -> float:
    """Return the mean absolute error of the seasonal naive forecast where a series is learned from.

    That is what scales errors (Hyndman and Koehler 2006, MASE); 0 where it cannot be told.
    """
    known = series.values[: series.learned]
    season = shape.season if len(known) > shape.season else 1
    steps = np.abs(known[season:] - known[:-season])
    return float(np.nanmean(steps)) if np.isfinite(steps).any() else 0.0
