"""The demand for electricity that the chapter on forecasting begins with, and its figures."""

from datetime import datetime, timedelta

import matplotlib.pyplot as plt
import numpy as np
import pytest

from posenc_book.data.errors import MissingDataError
from posenc_book.figures import forecasting as figures
from posenc_book.forecast import demand
from posenc_book.forecast.demand import DAY, ZONE


@pytest.fixture
def shown(monkeypatch):
    """What figures hand to `plots.show`."""
    found = []
    monkeypatch.setattr(figures.plots, "show", lambda drawn, **words: found.append((drawn, words)))
    yield found
    plt.close("all")


def test_the_demand_is_read_with_the_clock_on_the_wall(tmp_path, monkeypatch):
    path = tmp_path / "vic.csv"
    path.write_text(
        "Time,Demand,Temperature\n2012-12-31T13:00:00Z,4000.5,20\n2012-12-31T13:30:00Z,3900,19\n"
    )
    monkeypatch.setattr(demand.units.files, "path_of", lambda name: path)
    found = demand.load_demand()
    assert found.megawatts.tolist() == [4000.5, 3900]
    assert found.times[0] == datetime(2013, 1, 1, tzinfo=ZONE)
    assert found.origin == "Victoria, every half hour, 2013 to 2013"


def test_without_the_file_the_demand_is_synthetic_and_says_so(monkeypatch):
    def missing(name):
        raise MissingDataError(f"{name} is not there: put it somewhere")

    monkeypatch.setattr(demand.units.files, "path_of", missing)
    found = demand.load_demand()
    assert found.origin.startswith("Synthetic demand, as the real one could not be had.")
    assert "vic_electricity.csv.gz is not there: put it somewhere" in found.origin
    again = demand.load_demand()
    np.testing.assert_array_equal(found.megawatts, again.megawatts)


def test_synthetic_demand_has_a_day_and_a_quieter_weekend():
    made = demand.synthetic_demand(n_days=70)
    assert len(made.megawatts) == len(made.times) == 70 * DAY
    week = made.from_midnight("2012-02-06")
    days = week.megawatts.reshape(7, DAY)
    assert days[:5].mean() > days[5:].mean() + 200
    assert (days.argmax(1) > DAY / 2).all()
    assert np.median(days.argmin(1)) < DAY / 4


def test_a_week_begins_at_midnight_also_where_the_clock_is_changed():
    made = demand.synthetic_demand(n_days=120)
    week = made.from_midnight("2012-04-01")  # that night the hour from two to three came twice
    assert (week.times[0].hour, week.times[0].minute) == (0, 0)
    assert week.times[-1] - week.times[0] == timedelta(days=7, minutes=-90)
    assert len(week.megawatts) == 7 * DAY


def test_the_week_is_named_by_its_days(shown):
    made = demand.synthetic_demand(n_days=70).from_midnight("2012-02-06")
    figures.week(made.times, made.megawatts)
    ((drawn, words),) = shown
    (ax,) = drawn.axes
    names = [tick.get_text() for tick in ax.get_xticklabels()]
    assert names == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert "the week of 6 February 2012" in words["caption"]
    assert f"{made.megawatts[:DAY].max():,.0f}" in words["alt"]


def test_forecasts_are_drawn_behind_the_past_and_their_errors_told(shown):
    past, ahead = np.arange(96.0), np.arange(48.0)
    figures.forecasts(past, ahead, {"mean": {"blind": ahead + 7}, "flat": {"blind": ahead - 3}})
    ((drawn, words),) = shown
    assert [ax.get_title(loc="left") for ax in drawn.axes] == ["mean", "flat"]
    curve = drawn.axes[0].lines[2]
    assert (curve.get_xdata()[0], curve.get_ydata()[0]) == (96, 7)
    assert "off by 7 MW (mean, blind), 3 MW (flat, blind)" in words["alt"]


def test_pieces_are_bars_that_end_where_the_forecast_begins(shown):
    figures.pieces([1.0, 2.0, 3.0], patch=8)
    ((drawn, words),) = shown
    bars = drawn.axes[0].patches
    assert [bar.get_height() for bar in bars] == [1, 2, 3]
    middles = [bar.get_x() + bar.get_width() / 2 for bar in bars]
    assert middles == pytest.approx([-10, -6, -2])
    assert words["alt"].endswith("1.00, 2.00, 3.00.")
