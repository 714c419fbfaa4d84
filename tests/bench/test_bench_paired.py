"""Gains over `none`, pair by pair, and the sentence on what they decide."""

import numpy as np
import pytest
from scipy import stats

from posenc_book.bench import report
from posenc_book.records import paired, records
from posenc_book.records.settings import Settings, profile

BY_RESAMPLE = np.array([0.60, 0.70, 0.65, 0.72, 0.58])


def stored(encoding, accuracies, dataset="MyGestures", n_test=30, resampled=True, **metrics):
    """Return finished records of an encoding, one a resample or a seed."""
    return [
        records.finished(
            Settings(
                encoding, "patch", dataset, seed=r, split_seed=r * resampled,
                resample=r * resampled, **profile("protocol"),
            ),
            {
                "accuracy": float(accuracy), "parameters": 1, "seconds_per_step": 0.1,
                "peak_memory": None, "steps": 900, "n_train": 70, "n_test": n_test, **metrics,
            },
            device="cpu",
            seconds=1.0,
        )
        for r, accuracy in enumerate(accuracies)
    ]  # fmt: skip


def one_gain(*more, **changes):
    found = [*stored("none", BY_RESAMPLE, **changes), *more]
    return {one.encoding: one for one in paired.paired_gains(found, "patch")}


def test_a_gain_is_the_mean_of_pairs_with_the_interval_of_the_corrected_t():
    differences = np.array([0.02, 0.03, 0.01, 0.05, 0.02])
    gain = one_gain(*stored("rotary", BY_RESAMPLE + differences))["rotary"]
    assert gain.differences == pytest.approx(differences)
    assert gain.mean == pytest.approx(differences.mean())
    scale = np.sqrt(differences.var(ddof=1) * (1 / 5 + 30 / 70))  # Nadeau and Bengio
    low, high = stats.t.interval(0.95, 4, differences.mean(), scale)
    assert (gain.low, gain.high) == pytest.approx((low, high))
    assert gain.p_value == pytest.approx(2 * stats.t.sf(differences.mean() / scale, 4))


def test_pairs_are_of_one_resample_also_where_others_lack_theirs():
    steady = stored("rotary", BY_RESAMPLE + 0.1)
    gain = one_gain(*steady[2:])["rotary"]
    assert gain.differences == pytest.approx([0.1] * 3)  # unpaired it would be 0.086
    assert gain.answer == "undecided"  # three pairs decide nothing


def test_seeds_of_one_split_are_independent_and_said_to_be_of_one_split():
    differences = np.array([0.02, 0.03, 0.01, 0.05, 0.02])
    found = stored("none", BY_RESAMPLE, resampled=False)
    found += stored("rotary", BY_RESAMPLE + differences, resampled=False)
    [gain] = paired.paired_gains(found, "patch")
    expected = stats.ttest_1samp(differences, 0)
    assert gain.p_value == pytest.approx(expected.pvalue)
    assert (gain.low, gain.high) == pytest.approx(expected.confidence_interval())
    assert "MyGestures all training runs share one split" in paired.section(found, "patch")[-1]


def test_answers_are_corrected_for_the_number_of_encodings():
    differences = np.array([0.02, 0.03, 0.01, 0.05, 0.02])
    near = stored("rotary", BY_RESAMPLE + differences, n_test=7)
    alone = one_gain(*near, n_test=7)["rotary"]
    others = [
        one
        for name, shift in (("dft", 0.02), ("tape", -0.03))
        for one in stored(name, BY_RESAMPLE + shift * np.array([1, -1, 1, -1, 1]), n_test=7)
    ]
    among = one_gain(*near, *others, n_test=7)["rotary"]
    assert (alone.low, alone.high) == (among.low, among.high)
    assert among.p_value == pytest.approx(3 * alone.p_value)
    assert (alone.answer, among.answer) == ("ahead", "undecided")


@pytest.mark.parametrize(
    ("differences", "answer"),
    [
        ([0.10, 0.12, 0.11, 0.10, 0.12], "ahead"),
        ([-0.10, -0.12, -0.11, -0.10, -0.12], "behind"),
        ([0.001, -0.001, 0.0, 0.001, 0.0], "equal"),
        ([0.05, -0.06, 0.03, -0.02, 0.04], "undecided"),
        ([0.0] * 5, "equal"),
    ],
)
def test_the_answer_and_its_sentence(differences, answer):
    gain = one_gain(*stored("rotary", BY_RESAMPLE + np.array(differences)))["rotary"]
    assert gain.answer == answer
    said = {
        "ahead": "MyGestures decides: `rotary` is above `none`.",
        "behind": "MyGestures decides: `rotary` is below `none`.",
        "equal": "MyGestures decides: `rotary` is within 0.01 of `none`.",
        "undecided": "MyGestures cannot decide whether `rotary` is above or below `none`: more "
        "resamples or more series are needed.",
    }
    assert paired.verdict_sentence([gain]) == said[answer]


def test_nothing_is_within_a_point_in_a_metric_that_has_none():
    found = stored("none", BY_RESAMPLE, train_seconds=1.0)
    found += stored("rotary", BY_RESAMPLE, train_seconds=1.001)
    [gain] = paired.paired_gains(found, "patch", "train_seconds")
    assert gain.p_equal == 1


def test_a_registered_set_without_stored_counts_has_those_of_its_record():
    found = [*stored("none", BY_RESAMPLE, "Libras"), *stored("rotary", BY_RESAMPLE**2, "Libras")]
    halves = [r | {"metrics": r["metrics"] | {"n_train": 180, "n_test": 180}} for r in found]
    bare = [
        r | {"metrics": {k: v for k, v in r["metrics"].items() if k[:2] != "n_"}} for r in found
    ]
    assert paired.paired_gains(bare, "patch") == paired.paired_gains(halves, "patch")
    unknown = [r | {"dataset": "MyGestures"} for r in bare]
    assert (
        paired.paired_gains(unknown, "patch")[0].low == paired.paired_gains(halves, "patch")[0].low
    )


def test_the_report_shows_gains_what_they_decide_and_which_trainings_were_cut(tmp_path):
    found = [*stored("none", BY_RESAMPLE), *stored("rotary", BY_RESAMPLE + 0.1, steps=4000)]
    text = report.write_report(found, tmp_path).read_text()
    assert "| gain in accuracy over none | rotary |" in text
    assert "| MyGestures | +0.100 [+0.100, +0.100] |" in text
    assert "- MyGestures decides: `rotary` is above `none`." in text
    assert "5 of 10 training runs ended at the most steps or epochs" in text


def test_without_none_the_report_says_what_is_lacking(tmp_path):
    text = report.write_report(stored("rotary", BY_RESAMPLE), tmp_path / "a").read_text()
    assert "Without training runs of `none` on the same splits no gain" in text
    text = report.write_report(stored("none", BY_RESAMPLE), tmp_path / "b").read_text()
    assert "gain" not in text
