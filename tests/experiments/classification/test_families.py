"""The other encodings are a family of their own, beside none and beside the ten."""

import numpy as np
import pytest
from test_edition import add, floor

from posenc_book.read.classification import edition, edition2, families
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.edition2 import Accuracies
from posenc_book.statistics import friedman

SETS = protocols.UP_TO_180
NAMES = ("none", *families.TEN, *protocols.OTHERS)


def grid(ten, others, noise=0.002):
    """Return scores in which the ten gain `ten`, and the others what is named, else as much."""
    gains = np.array([0.0, *10 * [ten], *(others.get(name, ten) for name in protocols.OTHERS)])
    rng = np.random.default_rng(0)
    scores = 0.6 + gains[None, :, None] + rng.normal(0, noise, (len(SETS), len(NAMES), 5))
    return Accuracies("patch", SETS, NAMES, scores, np.full((len(SETS), 5), 0.3))


def test_a_family_is_judged_over_none_and_over_the_ten():
    found = grid(0.05, {"t5": 0.09, "alibi": 0.01, "conv_spe": 0.0})
    over_none = {one.encoding: one for one in families.over_none(found, "others")}
    over_ten = {one.encoding: one for one in families.over_ten(found, "others")}
    assert {*over_none} == {*over_ten} == {*protocols.OTHERS}
    assert [over_none[name].answer for name in ("t5", "sine_linear")] == ["ahead", "ahead"]
    assert over_none["conv_spe"].answer == "equal"
    answers = [over_ten[name].answer for name in ("t5", "sine_linear", "alibi")]
    assert answers == ["ahead", "equal", "behind"]
    assert over_ten["t5"].effect.mean == pytest.approx(0.04, abs=0.002)


def test_one_encoding_is_compared_with_another_over_the_family_s_units():
    found = grid(0.05, {"t5": 0.09})
    ahead = families.over(found, "others", "t5", "tpe")
    assert ahead.encoding == "t5"
    assert ahead.effect.mean == pytest.approx(0.04, abs=0.002)
    assert ahead.n_units == families.over_none(found, "others")[0].n_units
    with pytest.raises(ValueError, match=r"must be among none, .* got 'kerple'"):
        families.over(found, "others", "kerple", "tpe")


def test_holm_counts_the_family_and_not_the_ten():
    found = grid(0.05, {"t5": 0.09})
    (t5,) = [one for one in families.over_none(found, "others") if one.encoding == "t5"]
    cells = found.compare(("none", "t5")).gains("t5")
    assert t5.p_value == pytest.approx(5 * friedman.wilcoxon(cells).p_value)


def test_a_family_is_read_where_all_encodings_are_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))
    monkeypatch.setattr(edition2, "load_baselines", lambda: [floor(name) for name in SETS])
    add(tmp_path, "Trace")
    assert families.load_family("others", "patch") is None
    add(tmp_path, "Plane", encodings=(*protocols.ENCODINGS, *protocols.OTHERS))
    assert families.load_family("others", "patch").datasets == ("Plane",)
    assert families.load_family("later", "patch") is None
    monkeypatch.setattr(edition, "entering", lambda _, there: there)
    edition.write_edition(edition.make_edition("a", "2026-11-25"))
    add(tmp_path, "Adiac", encodings=(*protocols.ENCODINGS, *protocols.OTHERS))
    assert families.load_family("others", "patch").datasets == ("Plane",)
    assert families.load_family("others", "patch", every=True).datasets == ("Plane", "Adiac")


def test_answers_have_the_gain_of_every_unit_beside_the_verdict(monkeypatch):
    monkeypatch.setattr(families, "load_family", lambda *_, **__: grid(0.05, {"t5": 0.09}))
    points, gains = families.answers("others", ["patch"])["patches"]
    assert points.shape == (len(protocols.OTHERS), gains[0].n_units)
    assert [100 * one.effect.mean for one in gains] == pytest.approx(points.mean(1).tolist())
    monkeypatch.setattr(families, "load_family", lambda *_, **__: None)
    assert families.answers("others") == {}
