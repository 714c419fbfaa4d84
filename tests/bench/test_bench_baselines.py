"""Baselines: against other computations and published scores, stored once, resumed, refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from posenc_book import data
from posenc_book.bench import baselines, metrics
from posenc_book.data.dataset import Dataset
from posenc_book.records.baselines import FIELDS, read_baselines

QUICK = ("nearest", "largest_class")


@pytest.fixture
def out(tmp_path):
    return tmp_path / "results" / "baselines.jsonl"


def score(name, baseline, resample=0):
    (record,) = baselines.baselines(name, resample, only=[baseline])
    return record["metrics"]["accuracy"]


def prepared(name, resample=0):
    train, test = data.resample(data.load(name, "train"), data.load(name, "test"), resample)
    statistics = data.channel_statistics(train)
    return data.standardise(train, *statistics), data.standardise(test, *statistics)


def made(n, length, n_channels, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    x = rng.normal(size=(n, length, n_channels)) + 2 * y[:, None, None]
    return Dataset(x.astype(np.float32), y, ("a", "b"), "made", "made")


# errors of 1-NN with Euclidean distance as the UCR archive publishes them (Dau et al., 2018)
@pytest.mark.parametrize(
    ("name", "error"), [("GunPoint", 0.0867), ("ArrowHead", 0.2), ("ItalyPowerDemand", 0.0447)]
)
def test_nearest_neighbour_gives_the_published_errors(name, error):
    assert 1 - score(name, "nearest") == pytest.approx(error, abs=5e-5)


@pytest.mark.parametrize("name", ["BasicMotions", "JapaneseVowels"])
def test_nearest_neighbour_by_hand(name):
    train, test = prepared(name)
    distances = ((test.x[:, None].astype(float) - train.x[None]) ** 2).sum(axis=(2, 3))
    expected = train.y[distances.argmin(axis=1)]
    np.testing.assert_array_equal(baselines.nearest(train, test), expected)
    assert score(name, "nearest") == pytest.approx((expected == test.y).mean())


def test_nearest_neighbour_refuses_other_steps_and_channels_of_the_same_size():
    train, test = made(4, 6, 2, seed=0), made(4, 4, 3, seed=1)
    with pytest.raises(ValueError, match=r"of train, \(6, 2\), got \(4, 3\)"):
        baselines.nearest(train, test)


def test_sorted_series_hold_the_values_and_nothing_of_the_order():
    train, test = made(30, 8, 2, seed=0), made(30, 8, 2, seed=1)
    rng = np.random.default_rng(2)
    mixed = replace(test, x=rng.permuted(test.x, axis=1))  # each channel by itself
    found = baselines.nearest_sorted(train, test)
    np.testing.assert_array_equal(found, baselines.nearest_sorted(train, mixed))
    by_hand = [
        train.y[((np.sort(train.x, 1) - np.sort(one, 0)) ** 2).sum((1, 2)).argmin()]
        for one in test.x
    ]
    np.testing.assert_array_equal(found, by_hand)


def test_largest_class_is_the_training_parts():
    train = made(10, 4, 1, seed=0).take([0, 1, 3, 5])
    assert (baselines.largest_class(train, made(10, 4, 1, seed=1)) == 1).all()
    (record,) = baselines.baselines("range_probe", only=["largest_class"])
    assert record["metrics"]["accuracy"] == 0.5
    assert record["metrics"]["balanced_accuracy"] == 0.5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["GunPoint", "BasicMotions"])
def test_minirocket_is_its_transform_and_a_ridge(name):
    from aeon.transformations.collection.convolution_based import MiniRocket
    from sklearn.linear_model import RidgeClassifierCV
    from sklearn.preprocessing import StandardScaler

    train, test = prepared(name)
    kernels = MiniRocket(n_kernels=10_000, random_state=0)
    features = [
        np.asarray(step(part.x.transpose(0, 2, 1)))
        for step, part in ((kernels.fit_transform, train), (kernels.transform, test))
    ]
    scale = StandardScaler(with_mean=False).fit(features[0])
    ridge = RidgeClassifierCV(alphas=np.logspace(-3, 3, 10)).fit(
        scale.transform(features[0]), train.y
    )
    expected = ridge.predict(scale.transform(features[1]))
    np.testing.assert_array_equal(baselines.minirocket(train, test), expected)
    assert (expected == test.y).mean() > 0.95  # two easy sets


@pytest.mark.slow
def test_minirocket_takes_series_that_are_shorter_than_its_kernels():
    train, test = made(40, 8, 2, seed=0), made(40, 8, 2, seed=1)
    assert baselines.minirocket_settings(train)["length"] == 9
    assert (baselines.minirocket(train, test) == test.y).mean() > 0.9


def test_sets_with_many_series_get_fewer_kernels(monkeypatch):
    train = made(40, 12, 1, seed=0)
    assert baselines.minirocket_settings(train) == {"n_kernels": 10_000, "length": 12, "seed": 0}
    monkeypatch.setattr(baselines, "MANY_SERIES", 39)
    assert baselines.minirocket_settings(train)["n_kernels"] == 2_016 == 24 * 84


@pytest.mark.parametrize("resample", [0, 2])
def test_a_record_is_whole(resample):
    (record,) = baselines.baselines("BasicMotions", resample, only=["nearest"])
    train, test = prepared("BasicMotions", resample)
    assert tuple(sorted(record)) == tuple(sorted(FIELDS))
    assert record["fingerprint"] == data.fingerprint("BasicMotions")
    assert (record["n_train"], record["n_test"]) == (40, 40)
    assert (record["dataset"], record["resample"]) == ("BasicMotions", resample)
    assert record["metrics"] == metrics.score(test.y, baselines.nearest(train, test), 4)
    assert {"python", "numpy", "aeon", "scikit-learn", "numba", "posenc"} <= set(record["versions"])
    assert record["seconds"] >= 0
    assert json.loads(json.dumps(record)) == record


@pytest.mark.parametrize(("name", "split"), [("Libras", 3), ("PenDigits", 0)])
def test_fewer_series_are_those_of_a_training(monkeypatch, name, split):
    from posenc_book.bench import parts
    from posenc_book.records.settings import Settings

    seen = []
    monkeypatch.setitem(
        baselines.BASELINES, "nearest", lambda train, test: seen.extend((train, test)) or test.y
    )
    monkeypatch.setattr(data, "split_validation", lambda part, share, seed: (part, part))
    (record,) = baselines.baselines(name, 3, only=["nearest"], max_cases=100)
    at = {"seed": 3, "split_seed": 3, "resample": split}
    cell = Settings("none", "patch", name, max_cases=100, **at)
    theirs = parts.load_parts(cell, "cpu")
    assert record["settings"] == {"max_cases": 100}
    assert (record["n_train"], record["n_test"]) == (100, 100)
    for ours, part in zip(seen, (theirs.train, theirs.test), strict=True):
        np.testing.assert_array_equal(ours.x, part.x[0])
        np.testing.assert_array_equal(ours.y, part.y[0])


def test_a_cap_that_cuts_nothing_leaves_the_record_as_it_is():
    for most in (0, 180):
        (record,) = baselines.baselines("Libras", only=["largest_class"], max_cases=most)
        assert record["settings"] == {}
    with pytest.raises(ValueError, match="max_cases must be an integer of at least 0, got -1"):
        baselines.baselines("Libras", max_cases=-1)


def test_a_set_with_one_split_has_as_many_draws_as_the_trainings_where_it_is_cut(out):
    assert data.official_only("PenDigits")
    assert baselines.run(["PenDigits"], 2, out, only=["nearest"], max_cases=100) == 2
    first, second = read_baselines(out)
    assert [one["resample"] for one in (first, second)] == [0, 1]
    assert first["metrics"] != second["metrics"]
    assert baselines.run(["PenDigits"], 2, out, only=["largest_class"]) == 1  # whole: one split


def test_run_computes_what_is_not_stored(out, monkeypatch):
    assert baselines.run(["BasicMotions", "BasicMotions"], 2, out, only=QUICK) == 4
    stored = read_baselines(out)
    assert [(one["resample"], one["baseline"]) for one in stored] == [
        (r, one) for r in (0, 1) for one in QUICK
    ]
    before = out.read_bytes()
    with monkeypatch.context() as patched:
        patched.setitem(baselines.BASELINES, "nearest", None)  # would fail if it were called
        patched.setitem(baselines.BASELINES, "largest_class", None)
        assert baselines.run(["BasicMotions"], 2, out, only=QUICK) == 0
    assert out.read_bytes() == before
    assert baselines.run(["BasicMotions", "range_probe"], 3, out, only=QUICK) == 4
    assert out.read_bytes().startswith(before)
    probed = [one for one in read_baselines(out) if one["dataset"] == "range_probe"]
    assert [one["resample"] for one in probed] == [0, 0]


def test_run_computes_again_when_the_set_has_changed(out, monkeypatch):
    assert baselines.run(["BasicMotions"], 1, out, only=["largest_class"]) == 1
    told = []
    common = {"only": ["largest_class"], "tell": told.append}
    monkeypatch.setattr(data, "fingerprint", lambda name: "0" * 16)
    assert [baselines.run(["BasicMotions"], 1, out, **common) for _ in range(2)] == [1, 0]
    anew = "1 stored baseline on earlier series of the data set BasicMotions is computed anew."
    assert told == [anew]
    assert len({one["fingerprint"] for one in read_baselines(out)}) == 2


def test_a_record_is_stored_once(out):
    (record,) = baselines.baselines("BasicMotions", only=["largest_class"])
    assert baselines.append(out, record)
    assert not baselines.append(out, record | {"seconds": 5.0})
    assert read_baselines(out) == [record]
    assert baselines.append(out, record | {"resample": 1})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}\n", "line 1: not a record of a baseline, it lacks dataset, fingerprint"),
        ("[1]\n", "line 1: not a record"),
        ("RECORD\nnotes\n", "line 2: not JSON"),
        ('RECORD\n{"dataset": "Ba', "line 2: not JSON"),
        ("RECORD", "line 1: ends without a newline"),
    ],
)
def test_a_file_of_anything_else_stays_as_it_was(out, content, message):
    (record,) = baselines.baselines("BasicMotions", only=["largest_class"])
    out.parent.mkdir()
    out.write_text(content.replace("RECORD", json.dumps(record)))
    before = out.read_bytes()
    with pytest.raises(ValueError, match=message):
        baselines.run(["BasicMotions"], 1, out, only=QUICK)
    assert out.read_bytes() == before


def test_all_sets_are_read_before_the_first_computation(out):
    with pytest.raises(data.UnknownDatasetError, match="BasicMotion"):
        baselines.run(["BasicMotions", "BasicMotion"], 1, out, only=QUICK)
    assert not out.exists()


def test_wrong_arguments(out):
    with pytest.raises(ValueError, match="resamples must be an integer of at least 1, got 0"):
        baselines.run(["BasicMotions"], 0, out)
    with pytest.raises(ValueError, match="only must be one of minirocket, nearest, nearest_sorted"):
        baselines.run(["BasicMotions"], 1, out, only=["rocket"])
    with pytest.raises(ValueError, match="r must be 0 for range_probe, got 1"):
        baselines.baselines("range_probe", 1, only=QUICK)
