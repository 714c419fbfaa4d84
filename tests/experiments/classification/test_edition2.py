"""The analysis of the second edition does what its frozen protocol says."""

import re
from functools import partial

import numpy as np
import pytest

from posenc import encodings
from posenc_book.bench.tuning import TUNED
from posenc_book.data import units
from posenc_book.read import results
from posenc_book.read.classification import analysis, edition2
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.analysis import ANALYSIS
from posenc_book.records import records
from posenc_book.records.settings import Settings
from posenc_book.statistics import equality, friedman

ENCODINGS = ("none", "sinusoidal", "rotary")
N = protocols.TRAINING["resamples"]
PAGE = (results.folder() / "protocol.md").read_text(encoding="utf-8")


def grid(scores, floor=0.2, datasets=None, encodings=ENCODINGS):
    scores = np.asarray(scores, float)
    names = datasets or tuple(f"set {i}" for i in range(len(scores)))
    floors = np.full((len(scores), scores.shape[2]), floor)
    return edition2.Accuracies("patch", tuple(names), encodings, scores, floors)


def record(dataset, encoding, seed, accuracy, **changes):
    changes = {"protocol": protocols.HASH, "steps": 10, "tuned": TUNED, **changes}
    cell = Settings(encoding, "patch", dataset, seed=seed, **changes)
    return records.finished(cell, {"accuracy": accuracy}, device="cpu", seconds=1.0)


def floor(dataset, resample=0, accuracy=0.5):
    metrics = {"accuracy": accuracy}
    return {
        "dataset": dataset,
        "baseline": "largest_class",
        "resample": resample,
        "metrics": metrics,
    }


def test_only_complete_sets_of_this_protocol_enter():
    lines = [record("Trace", e, r, 0.7) for e in ENCODINGS for r in range(N)]
    lines += [record("Plane", e, r, 0.7) for e in ENCODINGS for r in range(N - 1)]
    lines += [record("Adiac", e, r, 0.7, protocol="other") for e in ENCODINGS for r in range(N)]
    found = edition2.load_grid(
        "patch", encodings=ENCODINGS, records=lines, baselines=[floor("Trace"), floor("Plane")]
    )
    assert found.datasets == ("Trace",)
    assert found.scores.shape == (1, 3, N)
    assert (found.largest_class == 0.5).all()
    lacking = edition2.missing("patch", records=lines)
    assert lacking["Trace"] == N * (len(protocols.ENCODINGS) - len(ENCODINGS))
    assert lacking["Adiac"] == N * len(protocols.ENCODINGS)
    with pytest.raises(ValueError, match="largest class of Trace is not stored; run posenc bench"):
        edition2.load_grid("patch", encodings=ENCODINGS, records=lines, baselines=[])
    with pytest.raises(ValueError, match="no data set is complete for model 'time_series'"):
        edition2.load_grid("time_series", records=lines, baselines=[])


def test_sign_flips_are_counted_by_hand():
    assert edition2.sign_flips(np.ones((1, 5))) == 1 / 32
    assert edition2.sign_flips(np.zeros((3, 5))) == 1.0
    assert edition2.sign_flips(-np.ones((1, 5))) == 1.0
    # the largest of two is compared with the largest of two
    assert edition2.sign_flips(np.array([[1.0] * 5, [-1.0] * 5])) == 2 / 32


def test_sign_flips_keep_their_level_over_several_methods():
    rng = np.random.default_rng(0)
    p = [edition2.sign_flips(rng.normal(size=(10, 5))) for _ in range(2000)]
    assert np.mean(np.array(p) <= 0.05) < 0.05
    assert np.mean(np.array(p) <= 0.25) == pytest.approx(0.25, abs=0.03)


def test_a_set_decides_if_it_beats_the_largest_class_and_an_encoding_beats_none():
    resamples = np.arange(5) / 1000
    good = np.stack([0.5 + resamples, 0.6 + resamples, 0.5 + resamples])
    same = np.stack([0.5 + resamples] * 3)
    guessing = good - 0.4
    one, two, three = edition2.decides(grid([good, same, guessing], floor=0.3))
    assert (one.yes, one.reason) == (True, "")
    assert (two.yes, two.reason) == (False, "no encoding is above none by more than luck")
    assert [d.learned for d in (one, two, three)] == [True, True, False]
    assert three.reason == "nothing is above the largest class by more than luck"
    found = grid([good, same, guessing], floor=0.3)
    assert edition2.learned(found).datasets == ("set 0", "set 1")  # gains are judged there
    assert edition2.deciding(found).datasets == ("set 0",)  # and ranks here


def test_sets_that_share_series_are_one_unit():
    scores = np.zeros((3, 3, 5))
    scores[0], scores[1], scores[2] = 0.2, 0.4, 0.9
    made = grid(scores, datasets=("FiftyWords", "WordSynonyms", "Trace")).units()
    assert made.datasets == ("Words", "Trace")
    assert made.scores[:, 0, 0] == pytest.approx([0.3, 0.9])
    names = [name for sets in units.FAMILIES.values() for name in sets]
    assert {family: [*sets] for family, sets in units.FAMILIES.items()} == ANALYSIS["families"]
    assert set(names) <= set(protocols.DATASETS)
    assert len(names) == len(set(names))


def test_what_a_test_takes_for_no_difference_is_neither_a_win_nor_a_loss():
    none = np.full(N, 0.3)
    rotary = np.array([0.4, 0.2, 0.5, 0.1, 0.3])
    assert (rotary - none).mean() != 0  # but for rounding, it is
    others = [[none, none + 0.1, none], [none, none - 0.1, none]]
    found = {one.encoding: one for one in edition2.gains(grid([[none, rotary, none], *others]))}
    assert (found["sinusoidal"].wins, found["sinusoidal"].losses) == (1, 1)
    assert (found["rotary"].wins, found["rotary"].losses) == (0, 0)


def simulated(gain, spread, n_sets=30, seed=0):
    rng = np.random.default_rng(seed)
    none = rng.uniform(0.5, 0.9, size=(n_sets, 1, 5))
    gained = none + gain + rng.normal(0, spread, size=(n_sets, 2, 5))
    return grid(np.concatenate([none, gained], axis=1))


@pytest.mark.parametrize(
    ("gain", "spread", "answer"),
    [
        (0.05, 0.02, "ahead"),
        (-0.05, 0.02, "behind"),
        (0.0, 0.005, "equal"),
        (0.0, 0.3, "undecided"),
    ],
)
def test_answers_are_found_where_they_are_planted(gain, spread, answer):
    found = edition2.gains(simulated(gain, spread))
    assert [one.answer for one in found] == [answer] * 2
    assert found[0].effect.mean >= found[1].effect.mean


def test_a_ranking_puts_the_planted_order_first():
    found = simulated(0.0, 0.001)
    found.scores[:, 2] += 0.1
    ranking = edition2.ranking(found)
    assert ranking.encodings == ("rotary", "sinusoidal")
    assert ranking.test.p_value < 0.001
    assert ranking.groups == []


def test_power_rises_with_the_effect():
    scores = simulated(0.0, 0.05)
    small, large = (edition2.powers(scores, e)["rotary"].value for e in (0.005, 0.05))
    assert small < large
    assert large > 0.95


def test_the_protocol_is_frozen():
    assert (protocols.HASH, analysis.HASH) == ("77c712493a92", "2d0100ec7641")
    assert f"## Training: `{protocols.HASH}`" in PAGE
    assert f"## Analysis: `{analysis.HASH}`" in PAGE


def test_the_tiers_hold_each_set_once_and_only_known_ones():
    for tier, blocks in protocols.TIERS.items():
        named = [(block.model, block.dataset, block.variant) for block in blocks]
        one_each = [(*name, e) for name, b in zip(named, blocks, strict=True) for e in b.encodings]
        assert len(one_each) == len(set(one_each)), tier
        assert {dataset for _, dataset, _ in named} <= set(protocols.DATASETS)
    assert len(protocols.DATASETS) == len(set(protocols.DATASETS)) == 38


def test_the_third_tier_has_every_encoding_of_the_library_and_its_variants_apart():
    assert {*protocols.ENCODINGS, *protocols.OTHERS} == set(encodings.names())
    assert {*protocols.LATER} <= {*encodings.names("series")} - {*encodings.names()}
    plain = {b.encodings for b in protocols.TIERS[3] if not b.variant}
    assert plain == {protocols.OTHERS, protocols.LATER}
    for variant in protocols.VARIANTS:
        blocks = [b for b in protocols.TIERS[3] + protocols.TIERS[4] if b.variant == variant]
        assert {(b.model, b.dataset) for b in blocks} == {
            (model, name) for model in ("patch", "time_series") for name in protocols.VARIED
        }
        assert {b.encodings for b in blocks} == {protocols.COMPARED[variant]}
    nine = {*protocols.VARIED} - {"MelbournePedestrian"}  # it has missing steps
    for tier in (3, 4):
        later = [b for b in protocols.TIERS[tier] if b.encodings == protocols.LATER]
        assert {b.dataset for b in later} == nine


def test_the_page_counts_the_trainings_of_each_kind():
    lines = [line for line in PAGE.splitlines() if re.match(r"\| \d", line)]
    counted = sum(int(line.rstrip(" |").split("| ")[-1].replace(",", "")) for line in lines)
    blocks = [block for tier in protocols.TIERS.values() for block in tier]
    assert counted == sum(len(block.encodings) for block in blocks) * N


def test_what_is_missing_of_a_tier_counts_its_variants():
    lacking = edition2.missing("patch", 3, records=[])
    assert lacking["PenDigits"] == 5 * len(protocols.OTHERS)
    everywhere = len(protocols.OTHERS) + len(protocols.LATER) + len(protocols.CONTROLS)
    assert lacking["Libras"] == 5 * (everywhere + sum(map(len, protocols.COMPARED.values())))


def test_a_verdict_is_said_with_the_p_value_that_it_rests_on():
    found, alike = friedman.effect([0.001, -0.002, 0.002]), equality.Probabilities(0.0, 1.0, 0.0)
    made = partial(edition2.Gain, "dft", found, probabilities=alike, wins=2, losses=1, n_units=3)
    assert edition2.verdict_text(made(p_value=0.9, p_equal=0.004)) == "equal (0.004)"
    assert edition2.verdict_text(made(p_value=0.01, p_equal=0.4)) == "ahead (0.01)"
    assert edition2.verdict_text(made(p_value=0.9, p_equal=0.2)) == "undecided (0.90)"
    assert edition2.verdict_text(made(p_value=0.01, p_equal=0.004)) == "equal (0.004)"
