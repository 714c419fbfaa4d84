"""Surveys of stars: their readings are read, drawn and dealt, and a damaged file is named."""

from dataclasses import replace

import numpy as np
import pytest

from posenc_book.data import checksums, stars
from posenc_book.data.errors import FileFormatError, MissingDataError

BANDS = stars.SURVEYS["rr_lyrae"]
WHOLE = """series,time,band,magnitude,error,label
7,51081.25,r,17.5,0.01,ab
7,51081.25,u,99.99,99.999,ab
7,51083.5,g,17.25,0.01,ab
9,51080.0,z,16.0,0.02,c
"""
OPTIONS = {"readings": 5, "least": 4, "test": 0.25}


def written(folder, text):
    path = folder / "few.csv"
    path.write_text(text)
    return path


def test_readings_stand_with_their_times_and_bands_and_what_was_not_read_is_left_out(tmp_path):
    two, one = stars.read_stars(written(tmp_path, WHOLE), BANDS)
    assert (two.kind, one.kind) == ("ab", "c")
    assert two.readings.tolist() == [[51081.25, 2, 17.5], [51083.5, 1, 17.25]]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("time,band", "band,time", r"few\.csv, line 1: the columns must be series, time, band"),
        ("17.25", "bright", "line 4: expected series, time.*got '7,51083.5,g,bright,0.01,ab'"),
        (",g,", ",y,", r"line 4: .*\(bands: u, g, r, i, z\)"),
        ("z,16.0,0.02", "z,16.0", "line 5: expected series"),
        ("51083.5", "51081.0", "line 4: the star 7 must have one label, and times that rise"),
        ("51083.5", "nan", "line 4: the star 7 must have one label, and times that rise"),
        ("17.25,0.01,ab", "17.25,0.01,c", "line 4: the star 7 must have one label"),
        ("16.0,0.02", "16.0,99.999", "each star must have a reading"),
        (WHOLE.partition("\n")[2], "", "and there must be stars"),
    ],
)
def test_a_damaged_file_names_its_line(tmp_path, old, new, said):
    assert old in WHOLE
    with pytest.raises(FileFormatError, match=said):
        stars.read_stars(written(tmp_path, WHOLE.replace(old, new, 1)), BANDS)


def test_a_missing_file_and_another_one_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(stars, "load_stars", stars.load_stars.__wrapped__)
    monkeypatch.setenv("POSENC_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"rr_lyrae\.csv\.gz is not there: .*astroML-data"):
        stars.load_stars("rr_lyrae")
    (tmp_path / "irregular").mkdir()
    (tmp_path / "irregular" / "rr_lyrae.csv.gz").write_text(WHOLE)
    with pytest.raises(FileFormatError, match=f"SHA-256 {BANDS.sha256}, got one with"):
        stars.load_stars("rr_lyrae")
    with pytest.raises(ValueError, match="name must be one of"):
        stars.load_stars("quasars")


@pytest.fixture
def planted(monkeypatch):
    """Twelve stars of two kinds and one of a third, each with eight readings in two bands."""
    days = np.cumsum([0, 0.25, 1, 0.5, 2, 0.25, 3, 1]) + 100
    readings = np.column_stack([days, np.arange(8) % 2, np.arange(8.0)])
    found = [
        stars.Star(kind, readings + np.array([i, 0, i])) for i, kind in enumerate("ababababababc")
    ]
    monkeypatch.setattr(stars, "load_stars", lambda _: found)
    monkeypatch.setitem(stars.SURVEYS, "planted", replace(BANDS, bands=("g", "r")))


@pytest.mark.usefixtures("planted")
def test_all_clocks_show_the_same_readings_of_the_same_stars():
    counted, timed, since = (
        stars.deal("planted", 3, clock=clock, unit=0.5, **OPTIONS) for clock in stars.CLOCKS
    )
    for one, at, other in zip(counted, timed, since, strict=True):
        assert one.classes == ("a", "b")
        assert np.array_equal(one.x, at.x)
        assert np.array_equal(one.x, other.x[..., :3])
        assert np.array_equal(one.y, other.y)
        assert one.times is other.times is None
        steps = np.diff(at.times, prepend=0.0)
        assert (steps[:, 1:] > 0).all()
        np.testing.assert_allclose(other.x[..., 3], np.log1p(steps), rtol=1e-6)
    assert [np.bincount(one.y).tolist() for one in counted] == [[4, 4], [2, 2]]


@pytest.mark.usefixtures("planted")
def test_each_band_stands_around_the_stars_own_median():
    one = stars.deal("planted", 1, clock="times", **OPTIONS)[0]
    assert one.x.shape == (8, 5, 3)
    for band in (1, 2):
        seen = np.where(one.x[..., band] == 1, one.x[..., 0], np.nan)
        np.testing.assert_allclose(np.nanmedian(seen, axis=1), 0.0, atol=1e-6)


@pytest.mark.usefixtures("planted")
def test_another_deal_draws_other_readings_and_the_same_deal_the_same():
    first, again, other = (
        sorted(
            row
            for part in stars.deal("planted", r, clock="times", **OPTIONS)
            for row in part.times.tolist()
        )
        for r in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.usefixtures("planted")
def test_a_star_with_few_readings_keeps_all_and_is_padded():
    whole = stars.deal("planted", 1, clock="times", **{**OPTIONS, "readings": 9})[0]
    assert whole.mask.sum(1).tolist() == [8] * 8
    assert not whole.mask[:, 8].any()


def test_the_sums_are_those_of_the_files(real):
    for name, survey in stars.SURVEYS.items():
        assert checksums.sha256(real / "irregular" / f"{name}.csv.gz") == survey.sha256
