"""The readers, on trainings that were made up, so that the truth is known."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from posenc_book.audit import printed
from posenc_book.data import recorded_facts
from posenc_book.read.edition3 import claims, plan, reading
from posenc_book.read.edition3.claims import CLAIMS
from posenc_book.read.edition3.questions import QUESTIONS, TEN
from posenc_book.read.edition3.reading import Scored, answered
from posenc_book.records import records
from posenc_book.records.settings import Settings

MARGIN = plan.MARGIN


def trainings(one, effect, noise=0.01, seed=1):
    """Return trainings of a question: sets and deals differ, and `effect(set, name, layers)`."""
    rng = np.random.default_rng(seed)
    found = {}
    for dataset, r in itertools.product(one.datasets, range(1, one.resamples + 1)):
        base = 0.6 + 0.1 * rng.normal() * (r == 1) + 0.03 * rng.normal()
        for name, layers in itertools.product(sorted(one.names), one.layers):
            accuracy = base + effect(dataset, name, layers) + noise * rng.normal()
            found[dataset, name, layers, r] = Scored(accuracy, (accuracy, 0.0))
    return found


def outcomes(title, effects, **more):
    one = QUESTIONS[title]
    found = trainings(one, lambda _, name, layers: effects.get((name, layers), 0.0), **more)
    return [answer.answer for answer in reading.question(one, found).answers]


@pytest.mark.parametrize(
    ("effects", "noise", "wanted"),
    [
        ({("erpe", 2): 0.05}, 0.01, ["ahead", "equal"]),
        ({("tpe", 2): -0.05}, 0.01, ["equal", "behind"]),
        ({("erpe", 2): 0.01}, 0.003, ["equal", "equal"]),
        ({("erpe", 2): -0.01}, 0.003, ["equal", "equal"]),
        ({("erpe", 2): 0.02}, 0.08, ["undecided", "undecided"]),
    ],
)
def test_what_is_there_is_said(effects, noise, wanted):
    assert outcomes("ahead", effects, noise=noise) == wanted


def test_an_answer_is_found_by_its_title_and_a_wrong_one_is_named():
    one = QUESTIONS["ahead"]
    family = reading.question(one, trainings(one, lambda *_: 0.0))
    assert family.answer("tpe - sinusoidal") is family.answers[1]
    with pytest.raises(ValueError, match=r"\(erpe - sinusoidal, tpe - sinusoidal\), got 'tpe'"):
        family.answer("tpe")
    with pytest.raises(ValueError, match="none, as trainings are missing"):
        reading.question(one, {}).answer("erpe - sinusoidal")


def test_depth_takes_two_layers_from_four_and_none_from_both():
    effects = {("erpe", 4): 0.08, ("none", 4): 0.03, ("sinusoidal", 4): 0.03, ("erpe", 2): 0.0}
    answers = outcomes("depth", effects)
    pairs = [pair[0] for pair in QUESTIONS["depth"].pairs]
    assert dict(zip(pairs, answers, strict=True)) == {"sinusoidal": "equal", "erpe": "ahead"}


def test_one_block_is_not_mistaken_for_two_layers():
    assert outcomes("convtran", {("convtran", 1): 0.05}) == ["ahead", "ahead"]
    assert {layers for _, _, layers, _ in trainings(QUESTIONS["convtran"], lambda *_: 0)} == {1}


def test_what_is_chosen_is_what_validates_best_and_of_equal_ones_by_loss():
    one = QUESTIONS["choice"]
    found = trainings(one, lambda *_: 0.0, noise=0.0)
    worst, best = TEN[3], TEN[5]
    for (dataset, name, layers, r), training in found.items():
        validated = {worst: (0.8, -0.5), best: (0.8, -0.4)}.get(name, (0.7, 0.0))
        gain = {worst: -0.2, best: 0.1}.get(name, 0.0)
        found[dataset, name, layers, r] = Scored(training.accuracy + gain, validated)
    answers = reading.question(one, found).answers
    assert [a.effect.mean for a in answers] == pytest.approx([0.1, 0.1])


def by_least_squares(table):
    """Return mean, error and degrees of freedom by a regression on dummies of the sets."""
    n, r = table.shape
    x = np.kron(np.eye(n), np.ones((r, 1)))
    weights, left, *_ = np.linalg.lstsq(x, table.ravel(), rcond=None)
    mean = np.full(n, 1 / n)
    variance = left[0] / (n * r - n) * mean @ np.linalg.inv(x.T @ x) @ mean
    return weights.mean(), math.sqrt(variance), n * r - n


def test_numbers_are_those_of_a_regression_and_of_holm():
    from scipy import stats

    rng = np.random.default_rng(3)
    tables = [rng.normal(0.01, 0.03, (6, 5)) + rng.normal(0, 0.1, (6, 1)) for _ in range(3)]
    answers = answered({str(i): one for i, one in enumerate(tables)}, MARGIN)
    raw, equal = [], []
    for table, answer in zip(tables, answers, strict=True):
        mean, error, freedom = by_least_squares(table)
        half = stats.t.ppf(0.975, freedom) * error
        assert (answer.effect.mean, answer.effect.low, answer.effect.high) == pytest.approx(
            (mean, mean - half, mean + half)
        )
        raw.append(2 * stats.t.sf(abs(mean) / error, freedom))
        equal.append(max(stats.t.sf((MARGIN - s * mean) / error, freedom) for s in (1, -1)))
    for p, name in ((raw, "p_value"), (equal, "p_equal")):
        order = np.argsort(p)
        stepped = np.maximum.accumulate(np.array(p)[order] * (3, 2, 1)).clip(max=1)
        found = [getattr(answers[i], name) for i in order]
        assert found == pytest.approx(stepped)


def test_a_family_errs_no_more_often_than_it_may():
    rng = np.random.default_rng(0)
    scatter = np.linspace(0.01, 0.06, 10)[:, None]  # sets do not scatter alike
    own = rng.normal(0, 0.05, (10, 1))
    own -= own.mean()
    wrong = equal = 0
    for _ in range(1000):
        tables = {str(i): own + scatter * rng.normal(size=(10, 5)) for i in range(2)}
        wrong += any(a.shown for a in answered(tables, MARGIN))
        edge = {"0": MARGIN + own + scatter * rng.normal(size=(10, 5))}
        [answer] = answered(edge, MARGIN)
        equal += answer.answer == "equal"
    assert wrong < 75  # five per cent, and its luck
    assert equal < 75


def test_sets_that_do_not_scatter_are_all_or_nothing():
    answers = answered({"a": np.full((2, 3), 0.05), "b": np.zeros((2, 3))}, MARGIN)
    assert [a.answer for a in answers] == ["ahead", "equal"]


def test_a_family_is_not_answered_in_part():
    one = QUESTIONS["ahead"]
    found = trainings(one, lambda *_: 0.0)
    gone = (one.datasets[0], "erpe", 2, 5)
    del found[gone]
    assert reading.question(one, found) == reading.Family((), (gone,))
    found[gone] = Scored(0.5, (0.5, 0.0))
    assert len(reading.question(one, found).answers) == 2
    lines = reading._lines("ahead", reading.Family((), (gone,)))
    assert lines == [f"ahead: not answered, 1 trainings are missing ({gone[0]} 1)"]


def test_the_longest_sets_are_shown_and_not_tested():
    one = replace(QUESTIONS["ahead"], datasets=plan.LONG)
    found = trainings(one, lambda _, name, __: 0.05 * (name == "erpe"))
    answers = reading.longest(found).answers
    assert not any(a.tested for a in answers)
    assert answers[0].effect.low < 0.05 < answers[0].effect.high
    del found[plan.LONG[0], "tpe", 2, 1]
    assert reading.longest(found).missing == ((plan.LONG[0], "tpe", 2, 1),)


def claimed(one, accuracy, noise=0.001):
    rng = np.random.default_rng(0)
    return {
        (d, e, 2, r): Scored(accuracy(d, e) + noise * rng.normal(), (0.0, 0.0))
        for d in one.datasets
        for e in one.encodings
        for r in range(1, one.resamples + 1)
    }


def test_the_printed_order_is_that_of_the_surveys_table_4():
    ranks = dict(zip(printed.COLUMNS, printed.average_ranks("time_series"), strict=True))
    ours = {
        "Fixed": "sinusoidal",
        "Learnable": "learnable",
        "Relative": "relative, whole",
        "tAPE": "tape",
        "eRPE": "erpe, one for all heads",
        "T-PE": "tpe",
        "SPE": "conv_spe",
        "TUPE": "tupe",
    }
    worst_first = sorted(ranks, key=lambda name: -ranks[name])
    assert tuple(ours[name] for name in worst_first) == claims.PRINTED_ORDER


@pytest.mark.parametrize(("sign", "wanted"), [(1, "ahead"), (-1, "behind")])
def test_the_printed_order_is_found_where_it_is_there(sign, wanted):
    one = CLAIMS["S19"]
    found = claimed(one, lambda _, e: 0.5 + sign * 0.02 * claims.PRINTED_ORDER.index(e))
    [answer] = reading.claim(one, found).answers
    assert answer.answer == wanted
    assert answer.effect.mean == pytest.approx(sign)


def test_an_order_by_luck_is_no_agreement():
    assert claims.agreement(np.full((2, 8), 0.5)).tolist() == [0, 0]
    one = CLAIMS["S19"]
    [answer] = reading.claim(one, claimed(one, lambda *_: 0.5)).answers
    assert answer.answer in ("equal", "undecided")
    assert abs(answer.effect.mean) < 0.15


def test_advanced_methods_are_weighed_against_the_simple_ones():
    gains = {"tupe": 0.06, "conv_spe": 0.02, "learnable": -0.02}
    one = CLAIMS["S31"]
    [answer] = reading.claim(one, claimed(one, lambda _, e: 0.5 + gains.get(e, 0.0))).answers
    assert answer.effect.mean == pytest.approx(0.05, abs=0.001)
    assert answer.answer == "ahead"
    one = CLAIMS["F23"]
    [answer] = reading.claim(one, claimed(one, lambda *_: 0.5)).answers
    assert answer.answer == "equal"


def test_trends_are_slopes_that_nobody_tests():
    one = CLAIMS["S20"]

    def accuracy(dataset, name):
        return 0.5 + 0.03 * np.log2(recorded_facts(dataset).length) * (name != "sinusoidal")

    family = reading.claim(one, claimed(one, accuracy, noise=0.0))
    [of_length] = [a for a in family.answers if a.contrast == "a doubling of length"]
    assert of_length.effect.mean == pytest.approx(0.03)
    assert of_length.on_new_sets.effect.mean == pytest.approx(0.03)
    assert not any(a.tested for a in family.answers)


def cell(name, dataset="RacketSports", layers=2, r=1):
    """Return a training as the trainer makes it, of data and code that nobody looks at."""
    encoding, options = plan.ENCODINGS[name]
    one = Settings(
        encoding,
        plan.MODELS.get(name, plan.MODEL),
        dataset,
        **dict.fromkeys(("seed", "split_seed", "resample"), r),
        profile=plan.PROFILE,
        protocol=plan.HASH,
        encoding_options=options,
        **{**plan.TRAINING["settings"], "n_layers": layers},
    )
    return replace(one, tuned="5 trials of 500 steps", learning_rate=0.003)


def record(one, accuracy=0.5):
    right = round(accuracy * 152)
    metrics = {
        "accuracy": right / 152,
        "validation_accuracy": 0.5,
        "validation_loss": 1.0,
        "n_train": 151,
        "n_test": 152,
    }
    return records.finished(one, metrics, device="cpu", seconds=1.0)


def test_trainings_are_known_by_what_was_trained():
    names = ("convtran, none", "none", "relative", "relative, whole", "erpe, one for all heads")
    stored = [record(cell(name, layers=1 + (i > 0)), i / 10) for i, name in enumerate(names)]
    found = reading.scored(stored)
    assert list(found) == [("RacketSports", name, 1 + (i > 0), 1) for i, name in enumerate(names)]
    assert found["RacketSports", "relative", 2, 1].accuracy == round(0.2 * 152) / 152


def test_how_often_tuning_ends_at_the_top_is_counted():
    top = max(plan.RATES)
    cells = [replace(cell("erpe", r=r), learning_rate=top) for r in (1, 2)] + [cell("tpe")]
    assert reading.at_top([record(one) for one in cells]) == (1, 2)


def test_other_protocols_trials_and_doubles_do_not_count():
    one = cell("erpe")
    assert not reading.scored([record(replace(one, protocol="other"))])
    assert not reading.scored([record(replace(one, profile="third-trial"))])
    with pytest.raises(ValueError, match="got two of erpe on RacketSports, 2 layers, resample 1"):
        reading.scored([record(one), record(replace(one, learning_rate=0.001))])
    with pytest.raises(ValueError, match="several versions of erpe"):
        reading.scored([record(one), record(replace(one, seed=2, encoding_source="older"))])


def test_a_failed_training_counts_as_a_guess_and_is_never_chosen():
    failed = records.failed(cell("erpe"), "the loss became nan", device="cpu", seconds=1.0)
    [one] = reading.scored([failed]).values()
    assert one.accuracy == 1 / recorded_facts("RacketSports").n_classes
    assert one.failed
    assert one.validated < (0.0, -100.0)
    finished = reading.scored([failed, record(cell("erpe"))])
    assert not next(iter(finished.values())).failed
    question = QUESTIONS["ahead"]
    found = trainings(question, lambda *_: 0.0)
    found[question.datasets[0], "erpe", 2, 1] = one
    assert [a.failed for a in reading.question(question, found).answers] == [1, 0]


@pytest.mark.parametrize("name", TEN)
def test_a_failed_training_of_any_that_might_be_chosen_counts(name):
    one = QUESTIONS["choice"]
    found = trainings(one, lambda *_: 0.0)
    for r in (1, 2):
        found[one.datasets[0], name, 2, r] = Scored(0.5, (-math.inf, -math.inf), failed=True)
    family = reading.question(one, found)
    assert [answer.failed for answer in family.answers] == [2, 2]
    assert all(line.endswith("; 2 failed") for line in reading._lines("choice", family))


def test_scores_are_locked_by_their_digests(tmp_path, capsys):
    path = tmp_path / "RacketSports.jsonl"
    lines = [records.line(record(cell("erpe", r=r), 0.6)) for r in (1, 2)]
    path.write_text("".join(lines))
    assert reading.main(["--folder", str(tmp_path), "--lock"]) == 0
    told = capsys.readouterr().out
    assert "ahead: not answered" in told
    stored = json.loads((tmp_path / "edition.json").read_text())
    assert stored["training"] == plan.HASH
    assert list(stored["scores"]) == ["RacketSports"]
    assert len(reading.load_trainings(tmp_path)) == 2
    path.write_text(lines[1])
    with pytest.raises(ValueError, match=r"edition3\.reading --lock"):
        reading.load_trainings(tmp_path)
    assert reading.main(["--folder", str(tmp_path)]) == 2
