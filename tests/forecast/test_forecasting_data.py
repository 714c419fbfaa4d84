"""Files, splits, windows and calendars of the forecasting experiment."""

import gzip
import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import torch

from posenc_book.data import folders
from posenc_book.data.errors import DownloadError, FileFormatError, MissingDataError
from posenc_book.forecast import files, sources, units
from posenc_book.forecast.units import Series, Shape, Unit
from posenc_book.forecast.windows import cut

SHAPE = Shape(season=4, context=8, horizon=4, patch=2)
HEAD = "date,a,b\n"


def written(tmp_path, text, name="wide.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def noise():
    return np.random.default_rng(0).normal(size=200).cumsum()


def long_unit(values, calendar=None):
    return Unit("long", SHAPE, [Series(values, 120, 150, 200)], calendar, 0)


def panel_unit(noise):
    parts = [Series(noise[i : i + 30 + i].copy(), 26 + i, 26 + i, 30 + i) for i in range(10)]
    return Unit("panel", SHAPE, parts, None, 0)


@pytest.mark.parametrize(
    ("rows", "line", "said"),
    [
        ("2020-01-01 00:00,1,2\n2020-01-01 00:00,3,4\n", 3, "stands there twice"),
        ("2020-01-01 01:00,1,2\n2020-01-01 00:00,3,4\n", 3, "is earlier than the one before it"),
        ("2020-01-01 00:00,1,2\n2020-01-01 01:00+00:00,3,4\n", 3, "are mixed"),
        ("yesterday,1,2\n", 2, "'yesterday' is no time such as"),
        ("2020-01-01 00:00,1,inf\n", 2, "values must be finite, got inf"),
        ("2020-01-01 00:00,1,two\n", 2, "'two' is no number"),
        ("2020-01-01 00:00,1\n", 2, "2 values, 3 in the head line"),
    ],
)
def test_a_wrong_row_is_named_with_its_line(tmp_path, rows, line, said):
    path = written(tmp_path, HEAD + rows)
    with pytest.raises(FileFormatError, match=said) as caught:
        sources.read_table(path, time="date")
    assert caught.value.line == line
    with pytest.raises(FileFormatError, match="no column 'load', only date, a, b"):
        sources.read_table(path, ["load"], "date")


def test_gaps_are_read_as_gaps_and_rows_of_m4_may_differ_in_length(tmp_path):
    gaps = written(tmp_path, HEAD + "2020-01-01,,NA\n2020-01-02,3,4\n")
    table = sources.read_table(gaps, time="date")
    np.testing.assert_array_equal(table.values, [[np.nan, np.nan], [3, 4]])
    rows = written(tmp_path, '"V1","V2","V3"\n"H1","1","2"\n"H2","3",""\n')
    first, second = sources.read_m4(rows)
    assert (first.tolist(), second.tolist()) == ([1, 2], [3])


@pytest.fixture
def nothing_here(tmp_path, monkeypatch):
    """An empty folder of data and an empty cache; whatever is fetched holds one line."""

    def fetch(name, sources, complete):
        ((url,),) = sources
        path = folders.cache() / "sets" / name / url.url.rpartition("/")[2]
        path.parent.mkdir(parents=True)
        path.write_text(url.url)
        assert complete(path.parent)

    monkeypatch.setenv("POSENC_DATA", str(tmp_path / "own"))
    monkeypatch.setenv("POSENC_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("POSENC_OFFLINE", raising=False)
    monkeypatch.setattr(files.download, "fetch", fetch)
    return tmp_path


def test_a_file_of_ones_own_comes_first_gzipped_or_plain(nothing_here):
    own = nothing_here / "own" / "forecasting" / "ETTh1.csv"
    own.parent.mkdir(parents=True)
    own.write_text("date")
    assert files.path_of("ETTh1.csv.gz") == own
    own.with_name("ETTh1.csv.gz").write_bytes(b"")
    assert files.path_of("ETTh1.csv.gz") == own.with_name("ETTh1.csv.gz")


def test_a_missing_file_is_fetched_once_at_its_commit(nothing_here, monkeypatch):
    path = files.path_of("M4-Weekly-test.csv.gz")
    assert path == nothing_here / "cache" / "sets" / "M4-Weekly-test" / "Weekly-test.csv"
    commit = "6c1067e5a57161249b17289a565178dc7a3fb3ca"
    assert path.read_text().endswith(f"/{commit}/Dataset/Test/{path.name}")
    monkeypatch.setattr(files.download, "fetch", None)
    assert files.path_of("M4-Weekly-test.csv.gz") == path


@pytest.mark.usefixtures("nothing_here")
def test_what_cannot_be_fetched_is_named_with_what_to_do(monkeypatch):
    with pytest.raises(MissingDataError, match=r"traffic\.csv is not there: put it into"):
        files.path_of("traffic.csv")

    def fail(*_):
        raise DownloadError("no route to the host")

    monkeypatch.setattr(files.download, "fetch", fail)
    with pytest.raises(MissingDataError, match=r"ETTh1\.csv\.gz is not there.*no route"):
        files.path_of("ETTh1.csv.gz")
    monkeypatch.setenv("POSENC_OFFLINE", "1")
    with pytest.raises(MissingDataError, match=r"POSENC_OFFLINE forbids.*ETTh1\.csv"):
        files.path_of("ETTh1.csv.gz")


@pytest.mark.parametrize("name", [n for n, url in files.ADDRESSES.items() if url.sha256])
def test_the_addresses_hold_the_files_that_were_read(name):
    path = Path(os.environ.get("POSENC_DATA", ""), files.FOLDER, name)
    if not path.is_file():
        pytest.skip("the file is not on this machine")
    address = files.ADDRESSES[name]
    data = path.read_bytes()
    if not address.url.endswith(".gz"):
        data = gzip.decompress(data)
    assert hashlib.sha256(data).hexdigest() == address.sha256


LARGE = {"ettm1": ("ETTm1.csv.gz", 4), "electricity": ("electricity.csv", 1)}
LARGE |= {"traffic": ("traffic.csv", 1), "weather": ("weather.csv", 6)}


@pytest.mark.parametrize("name", LARGE)
def test_loaders_of_large_sets_read_small_files_of_their_form(name, tmp_path, monkeypatch):
    file, rows_an_hour = LARGE[name]
    folder = tmp_path / "forecasting"
    folder.mkdir()
    columns = units.ETT if name == "ettm1" else ("0", "1", "OT")
    n_rows = 20 * 30 * 24 * 4 if name == "ettm1" else 3000
    start = np.datetime64("2016-07-01T00:00:00")
    times = start + np.arange(n_rows) * np.timedelta64(60 // rows_an_hour, "m")
    rows = [f"{str(t).replace('T', ' ')}," + ",".join(f"{i % 97}" for _ in columns)
            for i, t in enumerate(times)]  # fmt: skip
    text = "\n".join([f"date,{','.join(columns)}", *rows])
    path = folder / file
    path.write_bytes(gzip.compress(text.encode()) if file.endswith("gz") else text.encode())
    monkeypatch.setenv("POSENC_DATA", str(tmp_path))
    unit = units.load_unit.__wrapped__(name)
    assert len(unit.series) == len(columns)
    assert unit.calendar.shape == (n_rows, 4)
    assert len(cut(unit).test)


def test_the_calendar_follows_the_clock_on_the_wall():
    # Melbourne goes from 01:59 to 03:00 on 7 October 2012
    before = datetime(2012, 10, 6, 15, 30, tzinfo=UTC)
    after = datetime(2012, 10, 6, 16, 0, tzinfo=UTC)
    hours = (units.calendar_of([before, after], "Australia/Melbourne")[:, 0] + 0.5) * 23
    np.testing.assert_allclose(hours, [1.5, 3.0])


def test_the_overview_names_the_repository_that_each_file_is_fetched_from():
    read = {row["repository"].partition(",")[0] for row in files.overview().values()}
    assert read == {"/".join(url.url.split("/")[3:5]) for url in files.ADDRESSES.values()}


def test_nothing_of_the_test_part_is_in_what_is_learned_or_chosen(noise):
    for make, first_test in ((long_unit, 150), (panel_unit, None)):
        unit, changed = make(noise.copy()), make(noise.copy())
        for one in changed.series:
            one.values[one.chosen :] += 1000.0
        before, after = cut(unit), cut(changed)
        for part in ("train", "validation"):
            ours, theirs = getattr(before, part), getattr(after, part)
            rows = torch.arange(len(ours))
            for a, b in zip(ours.take(rows), theirs.take(rows), strict=True):
                assert a is b is None or torch.equal(a, b)
        if first_test:
            assert int(before.test.origins.min()) == first_test


def test_train_and_validation_of_a_panel_share_no_series(noise):
    parts = cut(panel_unit(noise), seed=3)
    assert not set(parts.train.series.tolist()) & set(parts.validation.series.tolist())
    assert len(parts.test) == 10


def test_windows_are_scaled_by_their_context_alone(noise):
    parts = cut(long_unit(noise))
    rows = torch.tensor([0, 5])
    x, mask, y, scale = parts.train.take(rows)
    assert mask is None
    for row, origin in enumerate((8, 13)):
        near, ahead = noise[origin - 8 : origin], noise[origin : origin + 4]
        spread = np.abs(near - near.mean()).mean()
        np.testing.assert_allclose(x[row, :, 0], (near - near[-1]) / spread, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(y[row], (ahead - near[-1]) / spread, rtol=1e-4, atol=1e-5)
        naive = np.abs(noise[4:120] - noise[:116]).mean()
        np.testing.assert_allclose(scale[row], spread / naive, rtol=1e-4)


def test_a_gap_is_masked_and_the_last_known_value_is_the_anchor(noise):
    values = noise.copy()
    values[[6, 7, 9]] = np.nan
    x, mask, y, _ = cut(long_unit(values)).train.take(torch.tensor([0]))
    assert mask[0].tolist() == [True] * 6 + [False] * 2
    assert x[0, 5, 0] == 0
    assert x.isfinite().all()
    assert y[0].isnan().tolist() == [False, True, False, False]


def test_windows_of_which_too_little_is_known_are_left_out(noise):
    values = noise.copy()
    values[20:60] = np.nan
    origins = cut(long_unit(values)).train.origins.tolist()
    assert not set(origins) & set(range(25, 63))
    assert {8, 80} <= set(origins)


def test_a_longer_context_stays_within_its_series(noise):
    kept = cut(long_unit(noise)).train.reaching(4)
    assert int(kept.origins.min()) == 32
    x, *_ = kept.take(torch.tensor([0]), longer=4)
    near = noise[:32]
    spread = np.abs(near[-8:] - near[-8:].mean()).mean()
    np.testing.assert_allclose(x[0, :, 0], (near - near[-1]) / spread, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("what", "size"), [("steps", 1), ("patches", 2)])
def test_shuffled_windows_hold_the_same_blocks_in_another_order(noise, what, size):
    plain, mixed = cut(long_unit(noise)).train, cut(long_unit(noise), shuffled=what).train
    rows = torch.arange(len(plain))
    x, other = plain.take(rows)[0][..., 0], mixed.take(rows)[0][..., 0]
    assert torch.equal(x.sort(-1).values, other.sort(-1).values)
    blocks = {tuple(b) for b in x[3].view(-1, size).tolist()}
    assert {tuple(b) for b in other[3].view(-1, size).tolist()} == blocks
    assert (x != other).any(-1).float().mean() > 0.9


def test_only_units_with_times_have_a_calendar(noise):
    with pytest.raises(ValueError, match="calendar must be False for long"):
        cut(long_unit(noise), calendar=True)
    features = np.arange(800.0).reshape(200, 4)
    x, *_ = cut(long_unit(noise, features), calendar=True).train.take(torch.tensor([2]))
    np.testing.assert_array_equal(x[0, :, 1:], features[2:10])
