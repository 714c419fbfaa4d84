"""What the Audit reads from stored trainings and answers, beside counts made another way."""

import json
from itertools import product

import numpy as np
import pytest
from scipy import stats

from posenc_book.audit import habits, modules
from posenc_book.read import results
from posenc_book.read.range_probe import longer as lengths
from posenc_book.read.range_probe import protocol as probes
from posenc_book.read.range_probe import read as probe
from posenc_book.read.windows import read as windows

# --- trained at one length, tested at others


def made_up():
    good = {"validation_accuracy": 0.95, "longer_8": 1.0, "later_16": 0.5, "refusals": {}}
    bad = {"validation_accuracy": 0.6, "longer_8": 0.0, "later_16": 0.0, "refusals": {"16": "no"}}
    return lengths.Longer(8, (16,), {"a": [good, good, bad], "b": [bad]})


def test_only_seeds_that_learned_count():
    runs = made_up()
    assert runs.learned == ["a"]
    assert runs.share("a") == pytest.approx(2 / 3)
    assert runs.accuracy("a", "longer_8") == 1
    assert np.isnan(runs.accuracy("b", "longer_8"))
    assert runs.refusing == ["a", "b"]


def test_beyond_asks_all_tests_but_that_of_training():
    found = made_up().beyond("a")
    assert len(found) == 2
    assert np.isnan(found[0])  # longer_16 is not stored
    assert found[1] == 0.5


def test_the_stored_trainings_are_read_whole():
    runs = lengths.load_longer()
    assert runs.trained == 32
    assert runs.longer == (64, 128)
    assert {len(seeds) for seeds in runs.runs.values()} == {probes.PROTOCOL["seeds"]}
    assert len(runs.runs) == len(probes.SIZED + probes.OTHERS)
    assert {"sinusoidal", "dft (loud)", "one-hot (loud)"} <= runs.runs.keys()


# --- windows, probe and benchmark


def runs_of(scores):
    """Runs with accuracies {variant: {seed: accuracy}} on one set."""
    cells = {
        (*windows.VARIANTS[variant], "X", "time_series"): {
            seed: {"accuracy": value} for seed, value in by_seed.items()
        }
        for variant, by_seed in scores.items()
    }
    return windows.Runs(cells)


def test_differences_pair_the_seeds_that_both_have():
    runs = runs_of({windows.DFT: {0: 0.5, 1: 0.7, 3: 0.9}, windows.SINES: {1: 0.6, 3: 1.0, 4: 0.1}})
    found = runs.differences(windows.DFT, windows.SINES, "X", "accuracy")
    assert found == pytest.approx([0.1, -0.1])
    assert runs.paired(windows.DFT, windows.SINES, "X", "accuracy").mean == pytest.approx(0)
    assert runs.scores("none", "X", "accuracy") == {}


@pytest.fixture
def trained(monkeypatch):
    """Return made-up trainings of the whole protocol of the probe, which are read as stored."""
    curve = {"validation_curve": [0.5, 0.6, 0.95]}
    every = [{**one, "metrics": curve} for one in results.load_records(probe.FILE)]
    monkeypatch.setattr(results, "load_records", lambda _: every)
    probe.records.cache_clear()
    yield every
    probe.records.cache_clear()


def test_a_task_is_found_at_the_first_check_with_nine_of_ten():
    assert probe.steps_to_find({"validation_curve": [0.5, 0.89, 0.9, 0.4]}) == 150
    assert probe.steps_to_find({"validation_curve": [0.5]}) == np.inf


def test_the_probe_is_read_whole_or_not_at_all(trained):
    assert len(probe.records()) == len(trained)
    trained.pop()
    probe.records.cache_clear()
    with pytest.raises(ValueError, match=r"but 1 of .* at distance 4 are missing: .*experiments"):
        probe.records()


def test_two_versions_of_the_probe_are_not_mixed(trained):
    settings = {**trained[0]["settings"], "encoding_source": "another"}
    trained[-1:] = [{**trained[0], "key": "0" * 32, "settings": settings}]
    with pytest.raises(ValueError, match=f"several versions of {trained[0]['encoding']}"):
        probe.records()


def test_every_variant_of_the_probe_stands_at_every_distance(trained):
    runs = windows.on_probe()
    for variant, far in product(windows.VARIANTS, windows.DISTANCES):
        steps = runs.scores(variant, far, "steps_to_find")
        assert list(steps.values()) == [150] * int(probes.PROTOCOL["seeds"])
    assert len(trained) > len(windows.VARIANTS) * len(windows.DISTANCES)


def test_found_counts_the_trainings_that_ever_had_the_task(trained):
    one = next(record for record in trained if record["encoding"] == "none")
    one["metrics"] = {"validation_curve": [0.5, 0.5]}
    runs, first = windows.on_probe(), probe.distance(one)
    assert runs.found("none", first) == "9 of 10"
    assert sorted(runs.steps_to_find("none", first)) == [150] * 9 + [np.inf]


@pytest.mark.parametrize("name", windows.SETS)
def test_flagging_every_window_scores_as_the_counts_say(name):
    share = np.mean(windows.anomalous(name))
    flagged, right = np.ones(1000), share * 1000
    precision, recall = right / flagged.sum(), 1.0
    expected = 2 * precision * recall / (precision + recall)
    assert windows.flag_all(name) == pytest.approx(expected)
    assert 0.05 < share < 0.2


def test_stored_windows_pair_at_least_ten_seeds():
    runs = windows.anomalies()
    for name in windows.SETS:
        assert runs.paired(windows.DFT, windows.SINES, name, "f1").n == 10


# --- habits of published code


@pytest.mark.parametrize(("p", "n", "m"), [(0.5, 2, 2), (0.3, 3, 2), (0.75, 2, 3)])
def test_the_best_of_some_models_is_the_mean_over_all_cases(p, n, m):
    cases = product(range(n + 1), repeat=m)
    exact = sum(max(case) / n * np.prod(stats.binom.pmf(case, n, p)) for case in cases)
    assert habits.expected_best(p, n, m) == pytest.approx(exact)
    assert habits.expected_best(p, n, 1) == pytest.approx(p)


@pytest.mark.parametrize(
    ("value", "n", "fits"), [(0.667, 3, True), (0.666, 3, True), (0.5, 3, False), (0.668, 3, False)]
)
def test_which_shares_print_as_three_decimals(value, n, fits):
    assert habits.possible(value, n) is fits


def test_re_enactments_and_their_models_are_stored():
    assert set(habits.by_rule()) == {"RacketSports", "NATOPS", "FingerMovements"}
    assert all(values.shape[1] == len(habits.RULES) for values in habits.by_rule().values())
    assert len(habits.probe_table()) == len(habits.PAIRS)
    assert len(habits.other_answers()) == len(habits.SETS) * len(habits.AXES)
    assert list(habits.racket_table().index) == [*habits.PAIRS, *habits.CONFIGURED]


# --- the answers of the public classes


def test_places_are_those_that_were_counted_by_reading():
    def count(name, **wanted):
        return modules.places(
            modules.SURVEY, name, lambda found: all(found.get(k) == v for k, v in wanted.items())
        )

    assert count("PositionalEncoding") == count("PositionalEncoding", batch_first="time") == 36
    assert count("AbsolutePositionalEncoding", is_sinusoid=True) == 19
    assert count("LearnedPositionalEncoding") == 37
    assert count("LearnedPositionalEncoding", batch_first="time") == 36
    assert count("LearnablePositionalEncoding", batch_first="time") == 19


def test_the_class_that_decays_does_what_was_read():
    found = modules.answer(modules.COMPANION, "DFTEncoding")
    assert found["inner_norms"] == pytest.approx([1, 0.0913, 0.00833, 0.00076], rel=2e-3)
    assert (found["rank"], found["width"]) == (239, 240)
    assert found["from_re_enactment"] < modules.EXACT


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"error": "NameError: x"}, "stops: NameError: x"),
        ({"inner_norms": [1.0, 0.09128]}, "norms of a row in 2 passes: 1, 0.091"),
        ({"by_heads": {"4": "stops", "8": "runs"}}, "of 4, 8 heads runs with 8"),
        ({"finite": False, "scale": 0.0}, "divides by 0: NaN"),
        (
            {"with_length": "stops, x", "with_tokens": "runs"},
            "given tokens runs, given a length stops",
        ),
        ({"batch_first": "time", "length_first": "x"}, "batch first: time; length first: x"),
    ],
)
def test_answers_are_said_in_words(found, words):
    assert modules.in_words(found) == words


def test_every_stored_class_has_a_row_with_words():
    for repository in (modules.COMPANION, modules.SURVEY):
        rows = modules.classes_table(repository).rows.values()
        assert len(rows) == len(modules.load_answers(repository)["modules"])
        assert all(len(row["what it does"]) > 3 for row in rows)
    said = {row["our re-enactment"] for row in modules.classes_table(modules.SURVEY).rows.values()}
    assert said == {"", "equal", "off by 0.09"}


def test_what_is_stored_is_of_the_commits_that_the_book_names():
    text = (results.folder() / modules.FILE).read_text(encoding="utf-8")
    assert [(one["repository"], one["commit"]) for one in json.loads(text)] == [
        (modules.COMPANION, "3918f7b"),
        (modules.SURVEY, "12b718b"),
    ]
    assert not [word for word in ("self.", "def ", "class ", "import ") if word in text]


def test_what_is_not_stored_is_named(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="repository must be one that"):
        modules.load_answers("nobody/nothing")
    with pytest.raises(ValueError, match="name must be a class that"):
        modules.answer(modules.SURVEY, "DFTEncoding")
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))
    with pytest.raises(ValueError, match="from a checkout"):
        modules.load_answers(modules.SURVEY)
    (tmp_path / modules.FILE).write_text(json.dumps([{"repository": "a/b", "modules": []}]))
    assert modules.load_answers("a/b")["modules"] == []


def test_both_splits_of_the_windows_have_the_same_methods():
    found = windows.splits()
    assert list(found) == [(n, s) for n in windows.SETS for s in ("whole groups", "at random")]
    assert len({tuple(methods) for methods in found.values()}) == 1
    for name in windows.SETS:
        runs = found[name, "at random"]
        seeds = {len(runs[label]) for label in ("none", windows.SINES, windows.DFT)}
        assert seeds == {5}
        assert all(0 <= score <= 1 for scores in runs.values() for score in scores)
