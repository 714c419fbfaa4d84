import numpy as np
import pytest
from scipy import stats

from posenc import data
from posenc.audit import printed, survey
from posenc.study import exact, statistics
from posenc.study.tables import Scores

NAMES = ("none", *(name for names in printed.OURS.values() for name in names))
SETS = ("LSST", "RacketSports", "RoomOccupancy", "Chinatown")


def made(level, sigma=0.0, sets=SETS, model="patch"):
    """Scores whose mean is `level(dataset, encoding)`, with five seeds."""
    rng = np.random.default_rng(0)
    cells = {(d, e): level(d, e) + sigma * rng.normal(size=5) for d in sets for e in NAMES}
    return Scores(model, "accuracy", tuple(sets), NAMES, cells)


def as_printed(dataset, encoding):
    """The printed accuracy where there is one; conv_spe just below all others."""
    column = next((c for c, names in printed.OURS.items() if encoding == names[0]), None)
    if column is None or dataset not in printed.DATASETS:
        return 0.4
    return survey.theirs("patch", [dataset])[0, printed.COLUMNS.index(column)]


def record(encoding, seconds, together=1, dataset="LSST", **more):
    metrics = {"accuracy": 0.5, "seconds_per_step": seconds, "seeds_together": together}
    fields = {"encoding": encoding, "model": "patch", "dataset": dataset, "device": "cpu"}
    return {"key": f"{encoding}{together}{seconds}", **fields, "metrics": metrics, **more}


def test_only_sets_with_all_seeds_of_all_encodings_are_whole():
    scores = made(as_printed)
    cells = dict(scores.cells)
    cells["LSST", "tupe"] = cells["LSST", "tupe"][:4]
    del cells["Chinatown", "none"]
    partly = Scores("patch", "accuracy", SETS, NAMES, cells)
    assert survey.whole(scores).datasets == SETS
    assert survey.whole(partly).datasets == ("RacketSports", "RoomOccupancy")


def test_scores_equal_to_the_printed_ones_agree_with_them():
    scores = made(as_printed)
    assert survey.common(scores) == ["LSST", "RacketSports", "RoomOccupancy"]
    table = survey.in_columns(scores, "sine_spe", survey.common(scores))
    assert np.allclose(table, survey.theirs("patch", survey.common(scores)))
    with pytest.raises(ValueError, match="'spe_sine'"):
        survey.columns("spe_sine")


def test_agreement_of_all_sets_with_the_printed_order_is_perfect_and_of_its_reverse_is_not():
    scores = made(as_printed, sets=printed.DATASETS)
    found = survey.agreement(scores, "sine_spe")
    assert (found.tau, found.spe, found.tupe) == (pytest.approx(1), 1, 2)
    assert str(found).startswith("tau +1.00 (p 0.00), SPE in place 1 and TUPE in place 2")
    assert found.repeats
    assert survey.first_three(scores, "sine_spe") == "SPE, TUPE, T-PE"
    assert survey.agreement(scores, "conv_spe").spe == 8
    assert not survey.agreement(scores, "conv_spe").repeats
    low, high = survey.redrawn_tau(scores, "sine_spe", n_draws=5)
    assert (low, high) == (pytest.approx(1), pytest.approx(1))  # seeds without spread
    backwards = made(lambda d, e: 1 - as_printed(d, e), sets=printed.DATASETS)
    assert survey.agreement(backwards, "sine_spe").tau == pytest.approx(-1)


def test_seeds_make_tau_uncertain():
    low, high = survey.redrawn_tau(made(as_printed, 0.05), "sine_spe", n_draws=50)
    assert low < high < 1


def test_a_run_without_noise_is_as_regular_as_printed_and_noise_makes_it_less_so():
    quiet, loud = made(as_printed), made(as_printed, 0.05)
    regular = exact.concordance(survey.theirs("patch", survey.common(quiet)))
    assert survey.redrawn_concordance(quiet, 3) == pytest.approx([regular] * 3)
    assert np.median(survey.redrawn_concordance(loud, 50)) < regular - 0.2


def test_advanced_gain_by_hand():
    level = {"sine_spe": 0.7, "conv_spe": 0.5, "tupe": 0.8, "sinusoidal": 0.5}
    scores = made(lambda d, e: level.get(e, 0.1))
    assert survey.advanced_gain(scores) == pytest.approx([(10 + 30) / 2] * 4)
    assert survey.advanced_gain(scores, relative=True) == pytest.approx([40] * 4)
    assert survey.advanced_gain(scores, reduce=np.median) == pytest.approx([20] * 4)


def test_cost_is_compared_like_with_like():
    records = [record("none", 2.0), record("tupe", 3.0), record("none", 1.0, together=5)]
    records += [record("learnable", 4.0, together=5), record("sine_spe", 9.0, together=16)]
    records.append(record("none", 8.0))  # a second seed, slowed down by other work
    ratios = survey.cost_ratios(records, made(as_printed), "seconds_per_step")
    found = {name: values.tolist() for name, values in ratios.items() if values.size}
    assert found == {"none": [1, 1], "tupe": [1.5], "learnable": [4]}


def test_levels_are_means_in_per_cent():
    scores = made(as_printed, 0.01)
    assert survey.levels(scores).to_numpy() == pytest.approx(100 * scores.mean().T)


def test_every_encoding_is_compared_with_every_control():
    scores = made(as_printed, 0.01)
    found = survey.against(scores, "none")
    assert set(found) == set(NAMES) - {"none"}
    mean = {e: [scores.cells[d, e].mean() for d in SETS] for e in ("tupe", "none")}
    assert found["tupe"] == statistics.compare(mean["tupe"], mean["none"])
    with pytest.raises(ValueError, match="'nothing'"):
        survey.against(scores, "nothing")


def test_the_order_is_that_of_average_ranks():
    means = {name: stats.rankdata(NAMES)[i] / 100 for i, name in enumerate(NAMES)}
    scores = made(lambda d, e: means[e])
    assert survey.ranked(scores) == sorted(NAMES, reverse=True)


def test_the_largest_class_of_chinatown():
    assert survey.largest_class("Chinatown") == 249 / (94 + 249)


def test_differences_are_in_points():
    first = made(lambda d, e: 0.5, sets=("LSST",))
    second = made(lambda d, e: 0.4 if e == "tupe" else 0.6)
    found = survey.differences(first, second)
    assert found.shape == (len(NAMES), 1)
    assert found.loc[["tupe", "none"], "LSST"].tolist() == [10, -10]
    assert survey.differences(first, made(as_printed, sets=("NATOPS",))).empty


def test_what_carries_over_is_measured_against_what_seeds_allow():
    level = {name: 0.3 + i / 40 for i, name in enumerate(NAMES)}
    first, second = made(lambda d, e: level[e], 0.001), made(lambda d, e: 1 - level[e], 0.001)
    row = survey.carried_over(first, second, ["LSST"], ("full", "laptop")).loc["LSST"]
    means = [float(row[f"accuracy, {name}"]) for name in ("full", "laptop")]
    assert means == pytest.approx([100 * np.mean(list(level.values())), 58.75], abs=0.1)
    assert row[["correlation", "if they agreed"]].tolist() == ["-1.00", "1.00"]
    flat = made(lambda d, e: 0.5)
    row = survey.carried_over(flat, second, ["LSST"], ("full", "laptop")).loc["LSST"]
    assert row["encodings / seeds, full"] == "0.0 / 0.0"
    assert row[["correlation", "if they agreed"]].tolist() == ["+nan", "0.00"]


def test_trends_find_a_gain_that_grows_with_length():
    sets = ("Chinatown", "RacketSports", "LSST", "FingerMovements", "NATOPS", "UWaveGestureLibrary")
    length = {d: data.recorded_facts(d).length for d in sets}
    gain = {"tupe": 0.0005, "sine_spe": 0.0005, "conv_spe": 0.0005}
    scores = made(lambda d, e: 0.5 + gain.get(e, 0) * length[d], sets=sets)
    found = survey.trends(scores)
    assert set(found) == {"length", "channels", "two classes"}
    assert survey.facts(scores, "length").tolist() == [24, 30, 36, 50, 51, 315]
    assert found["length"].value == pytest.approx(1)
    assert found["length"].outcome(0.01) == "yes"
    assert str(found["length"]).startswith("+1.00 (p 0.0")
    two = [0, 3]  # Chinatown and FingerMovements have two classes
    relative = [0.1 * length[d] for d in sets]
    others = np.delete(relative, two).mean()
    assert found["two classes"].value == pytest.approx(np.mean([relative[i] for i in two]) - others)
    assert found["two classes"].outcome(0.2) == "not told"
    assert survey.Trend(0.5, 0.01, -0.1).outcome(0.01) == "not told"
    assert survey.Trend(-0.5, 0.01, -0.1).outcome(0.01) == "the opposite"


def test_spreads_tell_seeds_from_encodings():
    level = {name: i / 20 for i, name in enumerate(NAMES)}
    found = survey.spreads(made(lambda d, e: level[e] if d == "LSST" else 0.5, 0.01))
    assert found["LSST"].encodings > 5 * found["LSST"].seeds
    assert found["LSST"].p_value < 0.01
    assert found["Chinatown"].p_value > 0.01
    assert survey.spreads(made(lambda d, e: 0.5))["LSST"] == survey.Spread(0, 0, 1)
