"""The demand for electricity in Victoria, with which the chapter on forecasting begins."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from posenc_book.data.errors import MissingDataError
from posenc_book.forecast import units

ZONE = ZoneInfo(units.MELBOURNE)
DAY = 48  # half hours


@dataclass(frozen=True, eq=False)
class Demand:
    """A demand for electricity.

    Parameters
    ----------
    megawatts : array of shape (n_steps,)
        One number for each half hour.
    times : list of datetime
        Of the clock on the wall in Melbourne.
    origin : str
        A sentence that says where it comes from, or that it is synthetic and why.
    """

    megawatts: NDArray[np.float64]
    times: list[datetime]
    origin: str

    def from_midnight(self, day: str, n_days: int = 7) -> "Demand":
        """Return the days from midnight of a day on, such as "2013-05-06"."""
        first = datetime.fromisoformat(day).replace(tzinfo=ZONE)
        start = self.times.index(first)
        part = slice(start, start + n_days * DAY)
        return Demand(self.megawatts[part], self.times[part], self.origin)


def load_demand() -> Demand:
    """Return the demand in Victoria from 2012 to 2014, or a synthetic one where it cannot be had.

    The synthetic one has a day, a week and weather, and says of itself that it is synthetic.
    """
    try:
        table = units.read_victoria()
    except MissingDataError as error:
        why = (
            "Synthetic demand, as the real one could not be had. What the text says of numbers is "
            f"not of these. ({error})"
        )
        return synthetic_demand(why)
    times = [time.astimezone(ZONE) for time in table.times]
    said = f"Victoria, every half hour, {times[0]:%Y} to {times[-1]:%Y}"
    return Demand(table.values[:, 0], times, said)


def synthetic_demand(origin: str = "Synthetic demand.", n_days: int = 1096) -> Demand:
    """Return a demand that was made up: a day with two peaks, a quieter weekend, and weather."""
    start = datetime(2012, 1, 1, tzinfo=ZONE).astimezone(ZoneInfo("UTC"))
    n_steps = n_days * DAY
    times = [(start + timedelta(minutes=30 * i)).astimezone(ZONE) for i in range(n_steps)]
    hours = np.array([time.hour + time.minute / 60 for time in times])
    weekend = np.array([time.weekday() >= 5 for time in times])
    day = 500 * np.sin(np.pi * (hours - 10) / 12) + 300 * np.cos(np.pi * (hours - 19) / 6)
    of_day = np.random.default_rng(0).normal(0, 150, n_days + 1)
    weather = np.interp(np.arange(n_steps), DAY * np.arange(n_days + 1), of_day)
    return Demand(4700 + day * np.where(weekend, 0.6, 1.0) - 350 * weekend + weather, times, origin)
