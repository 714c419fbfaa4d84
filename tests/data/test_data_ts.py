"""The reader of .ts files: right on right files, clear on wrong ones."""

import gzip

import numpy as np
import pytest
from datafiles import TINY_TRAIN

from posenc_book import _files, data
from posenc_book.data import dataset


def write(tmp_path, content, name="one.ts"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_reads_values_labels_and_classes(tmp_path):
    tiny = data.read_ts(write(tmp_path, TINY_TRAIN))
    assert tiny.x.dtype == np.float32
    assert tiny.x.shape == (3, 3, 2)
    np.testing.assert_array_equal(tiny.x[1], np.float32([[4.5, 40], [0.5, 50], [-6, 60]]))
    assert tiny.classes == ("Up", "down")  # as written, not in lower case
    np.testing.assert_array_equal(tiny.y, [0, 1, 0])
    assert tiny.mask is None
    assert tiny.name == "Tiny"


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", " \n").replace("Up", " Up").encode(),
        lambda text: (text + "\n\n").encode(),
        lambda text: text.rstrip("\n").encode(),
        lambda text: text.replace("# a", "% a").encode(),
    ],
    ids=["spaces", "blank lines", "no last newline", "% comment"],
)
def test_harmless_variants_read_the_same(tmp_path, change):
    plain = data.read_ts(write(tmp_path, TINY_TRAIN))
    varied = data.read_ts(write(tmp_path, change(TINY_TRAIN), "varied.ts"))
    np.testing.assert_array_equal(varied.x, plain.x)
    np.testing.assert_array_equal(varied.y, plain.y)
    assert varied.classes == plain.classes


def test_missing_values_and_short_series_are_masked(tmp_path):
    text = TINY_TRAIN.replace("@missing false", "@missing true")
    text = text.replace("@equalLength true\n@seriesLength 3", "@equalLength false")
    text = text.replace("1,2,3:10,20,30", "1,?,3:10,20,30").replace("1,1,1:2,2,2", "NaN,1:2,2")
    tiny = data.read_ts(write(tmp_path, text))
    expected = [[True, False, True], [True, True, True], [False, True, False]]
    np.testing.assert_array_equal(tiny.mask, expected)
    assert (tiny.x[~tiny.mask] == 0).all()
    np.testing.assert_array_equal(tiny.x[0, [0, 2]], np.float32([[1, 10], [3, 30]]))


HEADER_END = 10  # the line of @data in TINY_TRAIN

WRONG = {
    "empty": ("", None, "without a @data"),
    "no data line": (TINY_TRAIN.split("@data")[0], 9, "without a @data"),
    "no series": (TINY_TRAIN.split("@data")[0] + "@data\n", None, "no series"),
    "no tag": (TINY_TRAIN.replace("@missing false", "missing false"), 4, "@tag"),
    "bad flag": (TINY_TRAIN.replace("@missing false", "@missing maybe"), 4, "true or false"),
    "endless count": (TINY_TRAIN.replace("ions 2", f"ions {'9' * 5000}"), 6, "below 1e9"),
    "bad count": (TINY_TRAIN.replace("@dimensions 2", "@dimensions two"), 6, "positive integer"),
    "tag twice": (TINY_TRAIN.replace("@data", "@missing false\n@data"), 10, "second time"),
    "no classes": (TINY_TRAIN.replace(" Up down", ""), 10, "@classLabel"),
    "class twice": (TINY_TRAIN.replace("Up down", "Up down Up"), 10, "twice"),
    "no times": (TINY_TRAIN.replace("Stamps false", "Stamps true"), 11, "pairs (time,value)"),
    "unknown label": (TINY_TRAIN.replace(":down", ":sideways"), 12, "'sideways' is not among"),
    "label case": (TINY_TRAIN.replace(":down", ":Down"), 12, "not among"),
    "too few channels": (TINY_TRAIN.replace("40,50,60:", ""), 12, "expected 2 channels, got 1"),
    "too many channels": (TINY_TRAIN.replace("40,50", "1,2,3:40,50"), 12, "channels, got 3"),
    "too few values": (TINY_TRAIN.replace("40,50,60", "40,50"), 12, "2 values, expected 3"),
    "wrong length": (TINY_TRAIN.replace("seriesLength 3", "seriesLength 4"), 11, "expected 4"),
    "unequal length": (TINY_TRAIN.replace("1,1,1:2,2,2", "1,1:2,2"), 13, "2 values, expected 3"),
    "univariate": (TINY_TRAIN.replace("univariate false", "univariate true"), 11, "1 channels"),
    "empty value": (TINY_TRAIN.replace("40,50", "40,,50"), 12, "empty value"),
    "beyond 32 bits": (TINY_TRAIN.replace("40,", "-3.5e38,"), 12, "beyond the 32-bit numbers"),
    "a missing value at every step": (
        TINY_TRAIN.replace("@missing false", "@missing true").replace(
            "4.5,5e-1,-6:40,50,60", "4.5,?,?:?,50,60"
        ),
        12,
        "every step of the series has a missing value",
    ),
    "no number": (TINY_TRAIN.replace("40,", "forty,"), 12, "'forty'"),
    "NaN": (TINY_TRAIN.replace("40,", "NaN,"), 12, "missing value 'NaN'"),
    "overflow": (TINY_TRAIN.replace("40,", "1e999,"), 12, "finite"),
    "underscore": (TINY_TRAIN.replace("40,", "4_0,"), 12, "4_0"),
    "not text": (b"@problemName \xff\xfe\n", 1, "UTF-8"),
}


def test_one_giant_series_is_refused_before_it_takes_memory(tmp_path, monkeypatch):
    monkeypatch.setitem(_files.LIMITS, "characters", 1000)
    path = write(tmp_path, TINY_TRAIN.replace("40,", "40," * 1000), "giant.ts")
    with pytest.raises(data.FileFormatError, match="line 12: longer than 1,000 characters"):
        data.read_ts(path)


def test_a_series_that_makes_all_others_huge_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset, "MOST_PADDED", 1000)
    monkeypatch.setenv("POSENC_DATA", str(tmp_path))
    head = "@univariate true\n@equalLength false\n@classLabel true a\n@data\n"
    rows = ["1:a"] * 300 + [",".join("1" * 200) + ":a"] + ["1:a"] * 300
    folder = tmp_path / "Giant"
    folder.mkdir()
    for part in ("TRAIN", "TEST"):
        (folder / f"Giant_{part}.ts").write_text(head + "\n".join(rows))
    for read in (data.read_ts, lambda path: data.load(path.parent.name, "train")):
        with pytest.raises(data.FileFormatError, match=r"line 305: this series has 200 steps, and"):
            read(folder / "Giant_TRAIN.ts")


@pytest.mark.parametrize(("content", "line", "message"), WRONG.values(), ids=WRONG)
def test_wrong_files_name_file_line_and_fault(tmp_path, content, line, message):
    path = write(tmp_path, content, "wrong.ts")
    with pytest.raises(data.FileFormatError) as caught:
        data.read_ts(path)
    assert isinstance(caught.value, ValueError)
    assert caught.value.path == path
    assert caught.value.line == line
    assert str(path) in str(caught.value)
    assert message in str(caught.value)
    assert line is None or f"line {line}" in str(caught.value)


@pytest.mark.parametrize("path", [None, 3, b"one.ts", [], "a" * 5000, "zero\0byte"])
def test_a_path_that_cannot_be_one_is_named(path):
    with pytest.raises(ValueError, match=r"^path must be "):
        data.read_ts(path)


def test_damaged_and_absent_files(tmp_path):
    whole = gzip.compress(TINY_TRAIN.encode())
    with pytest.raises(data.FileFormatError, match="damaged gzip"):
        data.read_ts(write(tmp_path, whole[:-20], "short.ts.gz"))
    with pytest.raises(data.FileFormatError, match="damaged gzip"):
        data.read_ts(write(tmp_path, b"no gzip at all", "fake.ts.gz"))
    with pytest.raises(data.FileFormatError, match="no such file"):
        data.read_ts(tmp_path / "absent.ts")
