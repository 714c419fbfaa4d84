"""A file of one's own: what is read, and the sentence for whatever is wrong."""

import tracemalloc
from datetime import datetime, timedelta

import numpy as np
import pytest
import torch

from posenc_book.data.errors import FileFormatError
from posenc_book.forecast import blocks
from posenc_book.forecast.grid import frequency, on_grid
from posenc_book.forecast.table import Form, read_tracks
from posenc_book.forecast.windows import cut

START = datetime(2020, 3, 1)
HOURS = [f"{START + timedelta(hours=i)},{i % 24 + i / 7:.2f}" for i in range(600)]


def written(tmp_path, text, name="sales.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


HEAD = "date,y,promo\n"
PROMO = [f"{row},{int(i % 50 < 9)}" for i, row in enumerate(HOURS)]


def read(path, every="h", **form):
    return on_grid(path, read_tracks(path, Form("date", **form)), frequency(every))


def lay_out(path, horizon=4, every="h", context=24, n_blocks=3, calendar=False, **form):
    step = frequency(every)
    shape = blocks.shape(step.season, horizon, context)
    grid = read(path, every, **form)
    return blocks.lay_out(path, grid, shape, n_blocks, calendar=calendar, context=context)


def one_a_day(*rows, head="date,y\n"):
    return head + "\n".join(rows) + "\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", None, "is empty; it needs a head line"),
        ("date,y\n", 1, "no rows below the head line"),
        ("day,y\n2020-01-01,1\n", 1, "no column 'date' for --time, only day, y"),
        ("Date,y\n2020-01-01,1\n", 1, "did you mean 'Date'"),
        ("date,y,date\n2020-01-01,1,2\n", 1, "two columns are called 'date'"),
        ("date\n2020-01-01\n", 1, "no column beside 'date' to forecast"),
        ("date;y\n2020-01-01;1\n", 1, "parted by semicolons: add --separator ';'"),
        ("date\ty\n2020-01-01\t1\n", 1, r"parted by tabs: add --separator \$'\\t'"),
        ("date,y\n2020-01-01,1\n2020-01-02\n", 3, "1 values, 2 in the head line"),
        ("date,y\n2020-01-01,1,5\n", 2, "decimal comma must stand in quotes, with --decimal ','"),
        ('date,y\n2020-01-01,"1,5"\n', 2, "'1,5' .* is no number: .* add --decimal ','"),
        ("date,y\n2020-01-01,one\n", 2, "'one' in the column 'y' is no number; an unknown value"),
        ("date,y\n2020-01-01,1\n2020-01-02,inf\n", 3, "inf in the column 'y' is not finite"),
        ("date,y\n2020-01-01,1e39\n", 2, "1e39 .* is not finite, or beyond 3.4e38"),
        ("date,y\n2020-01-01,1\n2020-01-01,2\n", 3, "stands there twice, first in line 2; .*--ser"),
        ("date,y\n2020-01-01 02:00,1\n2020-01-01 02:00,2\n", 3, "clock was set back, .* zone"),
        ("date,y\n2020-01-02,1\n2020-01-01,2\n", 3, "earlier than the one before it, in line 2;"),
        ("date,y\nyesterday,1\n", 2, "'yesterday' is no time such as 2016-07-01 14:00$"),
        ("date,y\n,1\n", 2, "no time in the column 'date'"),
        ("date,y\n31.12.2020 14:00,1\n", 2, "add --time-format '%d.%m.%Y %H:%M'$"),
        ("date,y\n03/04/2020,1\n", 2, "--time-format '%d/%m/%Y' or '%m/%d/%Y'$"),
        ("date,y\n2020-01-01,1\n02.01.2020,2\n", 3, "that of line 2 is '2020-01-01': write all"),
        ("date,y\n2020-01-01,1\n2020-01-02T00:00Z,2\n", 3, "has a zone, that of line 2 has none"),
        ("date,y\n2020-01-01,1\n2020-01-02,\xe9\n".encode("latin-1"), 3, "UTF-8 text; save the"),
        ("date,y\n1600000000,1\n", 2, "seconds since 1970 must be turned into times"),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_remedy(tmp_path, text, line, said):
    path = written(tmp_path, text)
    with pytest.raises(FileFormatError, match=said) as caught:
        read_tracks(path, Form("date"))
    assert caught.value.line == line
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("rows", "every", "line", "said"),
    [
        (["2020-01-01,1", "2020-01-03,1", "2020-01-05,1", "2020-01-07,2"], "d", 3,
         "3 are missing, .* most rows lie 2d apart: is --frequency right"),
        (["2020-01-01 00:00,1", "2020-01-01 01:00,1", "2020-01-01 01:30,2"], "h", 4,
         "lies between two steps of h"),
        (["2020-01-01,1", "2020-01-02,1", "2020-01-03,1"], "month", 3,
         "in the same step of month as line 2; most rows lie 1d apart"),
        (["2020-01-01,1", "2020-02-01,1", "2020-03-01,1"], "quarter", 3, "between two steps of qu"),
        (["2020-01-01,1", "9999-01-01,1"], "h", 3, "steps of h between the first row"),
        (["0001-01-01T00:00+05:00,1", "0001-01-01T01:00+05:00,1"], "h", 2, "beyond the years 1 to"),
    ],
)  # fmt: skip
def test_rows_that_stand_on_no_steps_are_named(tmp_path, rows, every, line, said):
    with pytest.raises(FileFormatError, match=said) as caught:
        read(written(tmp_path, one_a_day(*rows)), every)
    assert caught.value.line == line


def test_gaps_and_empty_fields_are_told_and_are_unknown(tmp_path):
    text = one_a_day("2020-01-01,1", "2020-01-02,NA", "2020-01-05,3", "2020-01-06,4")
    grid = read(written(tmp_path, text), "d")
    np.testing.assert_array_equal(grid.values, [[1, np.nan, np.nan, np.nan, 3, 4]])
    np.testing.assert_array_equal(grid.lines, [[2, 3, 0, 0, 4, 5]])
    gap, empty = grid.notes
    assert "sales.csv, line 4: no rows between 2020-01-02" in gap
    assert "2 steps in 1 gap count as unknown" in gap
    assert "sales.csv, line 3: an empty value of 'y'; 1 of 4 values" in empty
    weekdays = (grid.calendar[:, 1] + 0.5) * 6
    np.testing.assert_allclose(weekdays, [2, 3, 4, 5, 6, 0])  # 1 January 2020 was a Wednesday


def test_files_as_spreadsheets_write_them_are_read(tmp_path):
    text = '\ufeff"date";y\r\n31.12.2020 23:00;1,5\r\n01.01.2021 00:00;-2\r\n'
    form = {"separator": ";", "decimal": ",", "time_format": "%d.%m.%Y %H:%M"}
    grid = read(written(tmp_path, text), **form)
    np.testing.assert_array_equal(grid.values, [[1.5, -2]])
    thousands = written(tmp_path, text.replace("1,5", "1.234"))
    with pytest.raises(FileFormatError, match="leave out the points between thousands"):
        read(thousands, **form)


@pytest.mark.parametrize(
    ("every", "times"),
    [
        ("h", ["2020-10-25T02:00+02:00", "2020-10-25T02:00+01:00"]),  # the clock is set back
        ("d", ["2020-10-25T00:00+02:00", "2020-10-26T00:00+01:00"]),  # a day of 25 hours
        ("month", ["2020-01-31", "2020-02-29"]),
    ],
)
def test_steps_follow_the_clock_and_the_calendar(tmp_path, every, times):
    text = one_a_day(*(f"{time},{i}" for i, time in enumerate(times)))
    assert read(written(tmp_path, text), every).values.tolist() == [[0, 1]]


def test_series_stand_in_columns_or_below_each_other(tmp_path):
    wide = written(tmp_path, "date,a,b\n2020-01-01,1,2\n2020-01-02,3,4\n")
    assert read(wide, "d").names == ["a", "b"]
    assert read(wide, "d", values=["b"]).values.tolist() == [[2, 4]]
    rows = ["2020-01-02,7,x", "2020-01-03,8,x", "2020-01-01,5,y", "2020-01-02,6,y"]
    below = read(written(tmp_path, one_a_day(*rows, head="date,v,shop\n")), "d", series="shop")
    assert below.names == ["x", "y"]
    np.testing.assert_array_equal(below.values, [[np.nan, 7, 8], [5, 6, np.nan]])
    with pytest.raises(FileFormatError, match=r"of 'x' stands there twice, first in line 2$"):
        read(written(tmp_path, one_a_day(rows[0], rows[0], head="date,v,shop\n")), series="shop")


@pytest.mark.parametrize(
    ("text", "steps", "season"),
    [("h", 3600, 24), ("30min", 1800, 48), ("D", 86400, 7), ("w", 604800, 52), ("min", 60, 60),
     ("month", 0, 12), ("Q", 0, 4), ("2h", 7200, 12), ("7h", 25200, 1), ("y", 0, 1)],
)  # fmt: skip
def test_frequencies(text, steps, season):
    found = frequency(text)
    assert (found.seconds, found.season) == (steps, season)


@pytest.mark.parametrize("text", ["", "fortnight", "0h", "1.5h"])
def test_an_unknown_frequency_is_named(text):
    with pytest.raises(ValueError, match="frequency"):
        frequency(text)


def test_too_long_a_horizon_is_told_what_would_fit(tmp_path):
    path = written(tmp_path, one_a_day(*HOURS))
    with pytest.raises(ValueError, match=r"sales\.csv: 600 steps are too few for a horizon of 100"
                       r" .*; --horizon (\d+) would fit") as caught:  # fmt: skip
        lay_out(path, 100)
    with pytest.raises(ValueError, match=r"30 steps are too few .* a longer file"):
        lay_out(written(tmp_path, one_a_day(*HOURS[:30]), "short.csv"))
    longest = int(str(caught.value).split("--horizon ")[1].split()[0])
    lay_out(path, longest)
    with pytest.raises(ValueError, match="too few for a horizon"):
        lay_out(path, longest + 1)
    # where no context is asked for, it goes with the horizon
    with pytest.raises(ValueError, match=r"with a context of 4,000 .*; --horizon 71 would fit"):
        lay_out(path, 2000, context=None)
    assert lay_out(path, 71, context=None).shape.context == 142


def test_a_constant_and_a_perfectly_repeated_series_are_named(tmp_path):
    same = [row.split(",")[0] + ",5" for row in HOURS]
    with pytest.raises(ValueError, match=r"sales\.csv: y is 5 in all of lines 2 to \d+, where one"):
        lay_out(written(tmp_path, one_a_day(*same)))
    again = [f"{row.split(',')[0]},{i % 24}" for i, row in enumerate(HOURS)]
    with pytest.raises(ValueError, match=r"repeats itself every 24 steps .* another --season"):
        lay_out(written(tmp_path, one_a_day(*again)))


@pytest.mark.parametrize("n_series", [1, 6])
def test_blocks_follow_each_other_and_nothing_behind_one_is_in_it(tmp_path, n_series):
    rng = np.random.default_rng(0)
    n = 600 if n_series == 1 else 60  # short ones are a panel: some series choose for the others
    names = [f"s{i}" for i in range(n_series)]
    rows = [row.split(",")[0] + "," + ",".join(map(str, rng.normal(size=n_series)))
            for row in HOURS[:n]]  # fmt: skip
    head = f"date,{','.join(names)}\n"
    layout = lay_out(written(tmp_path, one_a_day(*rows, head=head)))
    assert layout.panel == (n_series > 1)
    assert layout.length % layout.shape.horizon == 0
    assert [layout.begin(b + 1) - layout.begin(b) for b in range(2)] == [layout.length] * 2
    assert layout.begin(2) + layout.length == n
    for block in range(3):
        unit, begin = layout.unit(block), layout.begin(block)
        values = layout.values[:, begin:]
        kept = values.copy()
        parts = cut(unit)
        assert all(len(one.values) == begin + layout.length for one in unit.series)
        assert int(parts.test.origins.min()) == begin
        values += 1000  # what is tested changes nothing that is learned or chosen, nor a scale
        other = cut(layout.unit(block))
        values[:] = kept
        for part in ("train", "validation"):
            ours, theirs = getattr(parts, part), getattr(other, part)
            rows_of = np.arange(len(ours))
            for a, b in zip(ours.take(rows_of), theirs.take(rows_of), strict=True):
                assert a is b is None or bool((a == b).all())
        assert parts.test.naive.tolist() == other.test.naive.tolist()


def test_series_that_begin_later_or_never_vary_are_left_out(tmp_path):
    rows = [f"{row},{5},{i if i > 500 else ''}" for i, row in enumerate(HOURS)]
    layout = lay_out(written(tmp_path, one_a_day(*rows, head="date,good,same,late\n")))
    unit = layout.unit(0)
    assert (len(unit.series), unit.dropped) == (1, 2)


def test_what_is_known_ahead_joins_each_window_up_to_its_last_step(tmp_path):
    path = written(tmp_path, one_a_day(*PROMO, head=HEAD))
    layout = lay_out(path, known=["promo"])
    assert layout.names == ["y"]
    unit = layout.unit(1)
    parts = cut(unit)
    promo = np.array([float(row[-1]) for row in PROMO])
    scale = promo[: layout.begin(0)]
    promo = (promo - scale.mean()) / scale.std()
    for part in vars(parts).values():
        x, *_ = part.take(torch.arange(len(part)))
        for window, origin in zip(x, part.origins.tolist(), strict=True):
            np.testing.assert_allclose(window[:, 1], promo[origin - 24 : origin], atol=1e-5)
            np.testing.assert_allclose(window[:, 2], promo[origin - 20 : origin + 4], atol=1e-5)
    plain = lay_out(path, values=["y"])
    assert plain.unit(1).fingerprint != unit.fingerprint
    assert cut(plain.unit(1)).test.calendar is None
    both = lay_out(path, calendar=True, known=["promo"])
    dated = cut(both.unit(1), calendar=True)
    assert dated.test.calendar.shape[1] == 4 + 2
    x, *_ = dated.train.take(torch.tensor([0]))
    np.testing.assert_allclose((x[0, :, 1] + 0.5) * 23, np.arange(24), atol=1e-4)


def test_what_is_known_ahead_is_that_of_its_own_series(tmp_path):
    rows = [f"{row.split(',')[0]},{shop},{i % 7},{i % 3 if shop == 'b' else 5}"
            for shop in "ab" for i, row in enumerate(HOURS[:9])]  # fmt: skip
    table = one_a_day(*rows, head="date,shop,y,promo\n")
    grid = read(written(tmp_path, table), series="shop", known=["promo"])
    assert grid.known[..., 0].tolist() == [[5] * 9, [0, 1, 2] * 3]


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        (PROMO, {"known": ["sale"]}, "line 1: there is no column 'sale' for --known-ahead"),
        (PROMO, {"known": ["y"], "values": ["y"]}, "--value must name other columns"),
        ([*PROMO[:9], PROMO[9][:-1]], {"known": ["promo"]}, "line 11: an empty field in the col"),
        (PROMO, {"known": ["promo"], "horizon": 30}, "context must be at least the horizon of 30"),
    ],
)
def test_what_cannot_be_known_ahead_is_named(tmp_path, rows, options, said):
    with pytest.raises(ValueError, match=said):
        lay_out(written(tmp_path, one_a_day(*rows, head=HEAD)), **options)


def test_series_that_begin_one_after_the_other_do_not_fill_the_memory(tmp_path):
    rows = [f"{START + timedelta(hours=i)},{i % 24},{i // 8}" for i in range(10_000)]
    path = written(tmp_path, one_a_day(*rows, head="date,y,user\n"))
    tracemalloc.start()
    with pytest.raises(FileFormatError, match=r"1,250 series of 10,000 steps .* files of their"):
        read(path, series="user")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * path.stat().st_size
