"""The encoding made from the signal beside its control, on records made in place."""

import numpy as np
import pytest

from posenc_book.bench.tuning import TUNED
from posenc_book.read.classification import control, edition
from posenc_book.read.classification import protocol as protocols


def record(dataset, encoding, seed, accuracy, protocol=protocols.HASH):
    return {
        "dataset": dataset,
        "encoding": encoding,
        "seed": seed,
        "model": "patch",
        "protocol": protocol,
        "key": f"{dataset} {encoding} {seed} {accuracy}",
        "settings": {"tuned": TUNED},
        "metrics": {"accuracy": accuracy},
    }


def records(encoding, accuracy, dataset="Libras", n=5):
    return [record(dataset, encoding, r, accuracy + r / 100) for r in range(n)]


PLAIN = records("none", 0.5) + records("window_statistics", 0.7)


def test_gains_are_counted_from_the_plain_model_resample_by_resample():
    (one,) = control.load_controlled("patch", records=PLAIN, controls=records("none", 0.6))
    assert one.dataset == "Libras"
    assert one.encoded == pytest.approx(np.full(5, 20.0))
    assert one.richer == pytest.approx(np.full(5, 10.0))
    assert one.ahead.mean == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("plain", "controls"),
    [
        (PLAIN[1:], records("none", 0.6)),
        (PLAIN, records("none", 0.6, n=4)),
        (PLAIN, records("none", 0.6, dataset="NATOPS")),
        (PLAIN, [record("Libras", "none", r, 0.6, "another") for r in range(5)]),
    ],
)
def test_a_set_of_which_a_training_is_lacking_is_left_out(plain, controls):
    assert control.load_controlled("patch", records=plain, controls=controls) == []


def test_the_other_model_is_another_question():
    assert (
        control.load_controlled("time_series", records=PLAIN, controls=records("none", 0.6)) == []
    )


def test_an_edition_names_what_is_read_and_must_be_whole(monkeypatch):
    label = edition.kind("patch", control.VARIANT)
    stored = {"": PLAIN, control.VARIANT: records("none", 0.6)}
    monkeypatch.setattr(edition, "load_edition", lambda variant="", **_: stored.get(variant, []))
    monkeypatch.setattr(edition, "entering", lambda _, there: there)
    made = edition.make_edition("test", "2026-01-01")
    assert made.sets == {label: ("Libras",)}, "and no other kind of training is whole"
    monkeypatch.setattr(edition, "read_edition", lambda: made)
    assert [one.dataset for one in control.load_controlled("patch")] == ["Libras"]
    stored[control.VARIANT] = []
    with pytest.raises(ValueError, match=r"edition test must hold whole data sets.*Libras"):
        control.load_controlled("patch")
    assert control.load_controlled("patch", every=True) == []


def test_the_mean_of_planned_sets_counts_each_set_once_and_no_other():
    names = ("PenDigits", *protocols.WITHOUT_GAPS)
    plain = [r for name in names for r in records("none", 0.5, name)]
    encoded = [
        r for k, name in enumerate(names) for r in records("window_statistics", 0.6 + k / 100, name)
    ]
    richer = [r for name in names for r in records("none", 0.6, name)]
    found = control.load_controlled("patch", records=plain + encoded, controls=richer)
    mean = control.over_planned(found)
    assert mean.encoded == pytest.approx(10 + np.arange(1, 10))
    assert mean.richer == pytest.approx(np.full(9, 10.0))
    assert mean.ahead.mean == pytest.approx(5.0)
    with pytest.raises(ValueError, match="every planned data set, got none for BasicMotions"):
        control.over_planned(found[:-1])
