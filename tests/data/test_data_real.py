"""The real bytes: counts against the sources, and values against aeon."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from counted import COUNTS, REPEATS

from posenc_book import data
from posenc_book.data import registry, repeats
from posenc_book.data.sets import archive, msl, smd


@pytest.fixture(autouse=True)
def use_real(real, read_once, monkeypatch):
    monkeypatch.setenv("POSENC_DATA", str(real))
    monkeypatch.setenv("POSENC_CACHE", str(read_once))
    monkeypatch.setenv("POSENC_OFFLINE", "1")


def unpacked(path):
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    train, test = data.load(name, "train"), data.load(name, "test")
    assert (len(train), len(test), train.length, train.n_channels, train.n_classes) == COUNTS[name]
    assert test.x.shape[1:] == train.x.shape[1:]
    assert set(train.y) == set(range(train.n_classes))
    for part in (train, test):
        assert np.isfinite(part.x).all()
        assert "2 equal to the copies this book used" in part.provenance


@pytest.mark.parametrize("name", COUNTS)
def test_repeated_series(name):
    def lines(split):
        path = archive.find(Path(os.environ["POSENC_DATA"]) / name, name)[split == "test"]
        rows = unpacked(path).decode("utf-8").splitlines()
        start = [row.lower().strip() for row in rows].index("@data")
        cut = ":" if ".ts" in path.suffixes else ","
        return [row.rpartition(cut)[0] for row in rows[start + 1 :] if row]

    train, test = lines("train"), lines("test")
    counted = tuple(len(part) - len(set(part)) for part in (train, test))
    assert (*counted, sum(one in set(train) for one in test)) == REPEATS.get(name, (0, 0, 0))
    assert data.recorded_facts(name).repeats == REPEATS.get(name, (0, 0, 0))


def rows_of(name):
    parts = [data.load(name, split) for split in ("train", "test")]
    return {one.tobytes() for part in parts for one in part.x}


def test_toe_segmentation_is_tested_without_what_it_was_trained_on():
    train, test = data.load("ToeSegmentation1", "train"), data.load("ToeSegmentation1", "test")
    left = repeats.without_shared(train, test)
    assert (len(test), len(left)) == (228, 224)
    assert repeats.count(train, left)[2] == 0


def test_strawberry_holds_one_series_under_both_labels():
    train, test = data.load("Strawberry", "train"), data.load("Strawberry", "test")
    pairs = np.argwhere((train.x[:, None] == test.x[None]).all(axis=(2, 3)))
    assert len(pairs) == 1
    assert train.y[pairs[0, 0]] != test.y[pairs[0, 1]]


def test_sets_that_hold_each_other():
    assert rows_of("Chinatown") <= rows_of("MelbournePedestrian")
    bones = rows_of("PhalangesOutlinesCorrect")
    assert rows_of("DistalPhalanxTW") < bones
    assert rows_of("ProximalPhalanxTW") < bones


def test_word_synonyms_are_the_fifty_words_turned_round():
    words, synonyms = (
        np.concatenate([data.load(name, split).x[:, :, 0] for split in ("train", "test")])
        for name in ("FiftyWords", "WordSynonyms")
    )
    turned = words[:, ::-1].astype(np.float64)
    nearest = [((turned - one) ** 2).sum(axis=1).argmin() for one in synonyms]
    assert sorted(nearest) == list(range(len(words)))
    np.testing.assert_allclose(turned[nearest], synonyms, atol=1e-5)


@pytest.mark.parametrize("name", COUNTS)
def test_values_equal_those_of_aeon(name, real, tmp_path):
    from aeon.datasets import load_from_arff_file, load_from_ts_file

    for split, path in zip(("train", "test"), archive.find(real / name, name), strict=True):
        plain = tmp_path / path.name.removesuffix(".gz")
        # one file ends with an empty line, which aeon takes for a case
        plain.write_bytes(unpacked(path).rstrip() + b"\n")
        reader = load_from_ts_file if plain.suffix == ".ts" else load_from_arff_file
        values, labels = reader(str(plain))
        ours = data.load(name, split)
        names = [ours.classes[label].lower() for label in ours.y]
        assert names == [label.lower() for label in labels]
        for i, theirs in enumerate(values):
            steps = np.asarray(theirs, dtype=np.float32).T
            real_steps = ~np.isnan(steps).any(axis=1)
            mine = ours.x[i, : len(steps)]
            np.testing.assert_array_equal(mine[real_steps], steps[real_steps])
            if ours.mask is not None:
                np.testing.assert_array_equal(ours.mask[i, : len(steps)], real_steps)
                assert not ours.mask[i, len(steps) :].any()


def test_melbourne_missing_values_and_short_series():
    train, test = (data.load("MelbournePedestrian", split) for split in data.SPLITS)
    assert (~train.mask).sum() == 82
    assert (~train.mask).any(axis=1).sum() == 56
    assert (~test.mask).sum() == 153 + (24 - 9) + (24 - 21)
    assert (~test.mask).any(axis=1).sum() == 120
    assert train.mask.all(axis=1).sum() == 1138
    assert test.mask.all(axis=1).sum() == 2319


def test_survey_table():
    agree = {
        name: {quantity for quantity, _, _, same in data.facts(name).table() if same}
        for name in ("LSST", "RacketSports", "MelbournePedestrian", "SharePriceIncrease")
    }
    whole = {"train", "test", "length", "n_classes", "n_channels"}
    assert agree["LSST"] == agree["RacketSports"] == agree["MelbournePedestrian"] == whole
    assert agree["SharePriceIncrease"] == whole - {"test"}
    room, emg = data.facts("RoomOccupancy"), data.facts("EMGGestures")
    assert {row[0] for row in room.table() if not row[3]} == {"train", "test", "n_channels"}
    assert {row[0] for row in emg.table() if row[3]} == {"length"}


def test_emg_windows():
    train, test = data.load("EMGGestures", "train"), data.load("EMGGestures", "test")
    assert (len(train), len(test)) == (35180, 7992)
    assert set(test.groups) == {5, 10, 15, 20, 25, 35}
    assert set(train.groups) | set(test.groups) == set(range(1, 37)) - {11, 13, 30}
    assert "64 of 72 recordings" in train.provenance
    changes = (np.diff(train.x, axis=1) != 0).any(axis=2).sum(axis=1)
    assert np.median(1 + changes) == 4  # distinct readings in a window, as the notes say


def test_smd_windows(real):
    train, test = data.load("SMD", "train"), data.load("SMD", "test")
    assert train.x.shape[1:] == test.x.shape[1:] == (50, 38)
    assert not set(train.groups) & set(test.groups)
    assert min(train.y.mean(), test.y.mean()) > 0.05
    files = smd.find(real / "SMD", "SMD")
    shares = {}
    for pair in zip(files[::2], files[1::2], strict=True):
        one = smd.read_machine(*pair)
        shares[one.name] = round(100 * one.anomalous.mean(), 2)
    assert len(shares) == 11
    assert shares["machine-1-6"] == 15.65
    assert shares["machine-3-10"] == 4.42


def test_msl_windows(real):
    train, test = data.load("MSL", "train"), data.load("MSL", "test")
    assert (len(np.unique(train.groups)), len(np.unique(test.groups))) == (18, 9)
    files = msl.find(real / "MSL", "MSL")
    segments = msl.read_segments(files[0])
    recordings = [
        msl.read_channel(path, *segments[path.name.partition(".")[0]]) for path in files[1:]
    ]
    assert len(recordings) == 27
    assert sum(len(one.values) for one in recordings) == 73729
    assert sum(len(pairs) for pairs, _ in segments.values()) == 36
    anomalous = np.concatenate([one.anomalous for one in recordings])
    assert round(100 * anomalous.mean(), 2) == 10.53


def test_two_channels_of_msl_are_one_recording(real):
    channels = {one.name: one for one in msl.read_channels(msl.find(real / "MSL", "MSL"))}
    first, second = channels["P-10"], channels["P-14"]
    assert len(first.values) == 6100
    np.testing.assert_array_equal(first.values, second.values)
    assert (first.anomalous != second.anomalous).sum() == 50
    order = sorted(channels)
    assert all(order.index(one) % 3 != 2 for one in ("P-10", "P-14"))


def test_every_set_at_hand_verifies():
    from posenc_book.data.verify import verify

    for name, entry in registry.ENTRIES.items():
        report = verify(name)
        if report.found:
            assert report.good, str(report)
            assert report.unknown == 0, name
            assert entry.terms in data.load(name, "train").provenance
