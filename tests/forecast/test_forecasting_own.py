"""One's own file from end to end: what is trained, what is said, and what stays behind."""

import json
import pickle
from datetime import datetime, timedelta

import numpy as np
import pytest

from posenc_book.bench import local
from posenc_book.command_line import main
from posenc_book.forecast import cells, verdict
from posenc_book.forecast.blocks import Layout, shape
from posenc_book.statistics.answers import LEVEL
from posenc_book.statistics.summary import t_interval

START = datetime(2020, 3, 1)
ASKED = ["--time", "date", "--horizon", "4", "--frequency", "h", "--context", "24"]
SMOKE = [*ASKED, "--profile", "smoke", "--device", "cpu", "--workers", "1"]


@pytest.fixture
def sales(tmp_path):
    """Write a walk with a daily season and one gap."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=400).cumsum() + 5 * np.sin(np.arange(400) * np.pi / 12)
    rows = [f"{START + timedelta(hours=i)},{v:.3f}" for i, v in enumerate(values) if i != 77]
    path = tmp_path / "sales.csv"
    path.write_text("\n".join(["date,y", *rows]) + "\n")
    return path


@pytest.fixture
def call(capsys):
    def run(*arguments):
        code = main(["forecast", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def test_one_command_trains_resumes_and_says_what_it_found(sales, call, tmp_path, monkeypatch):
    monkeypatch.setattr(cells, "RATES", (1e-3, 3e-3))
    monkeypatch.setattr(local, "LocalEngine", lambda _: local.SerialEngine())
    out = tmp_path / "results" / "sales.jsonl"
    asked = [sales, *SMOKE, "--encodings", "none", "rotary", "--out", out]
    code, text, err = call(*asked, "--seconds", 1e-9)
    assert code == 0
    assert "no time is left: 6 cells of tuning are to be trained; the same command goes on" in text
    assert f"results go to {out}, trials to {out.with_stem('sales-tuning')}\n" in err
    code, text, err = call(*asked)
    assert code == 0, text + err
    assert "sales: one series of 400 steps; 24 steps are seen, 4 forecast, the season has 24" in err
    assert "sales.csv, line 79: no rows between 2020-03-04 04:00:00 and 2020-03-04 06:00:00" in err
    lines = [line.split("|")[1:3] for line in text.splitlines() if line.startswith("| ")]
    assert [[cell.strip() for cell in line] for line in lines[1:5]] == [
        ["patches flat", "none"], ["patches flat", "rotary"], ["linear", ""],
        ["seasonal naive", ""],
    ]  # fmt: skip
    assert "its numbers say nothing" in text
    stored = [json.loads(line) for line in out.read_text().splitlines()]
    assert {r["resample"] for r in stored} == {0, 1}
    assert {r["model"] for r in stored} >= {"patches_flat", "linear", "seasonal_naive"}
    again = call(*asked)
    assert again[:2] == (0, text)
    assert out.read_text().count("\n") == len(stored)
    assert {p.name for p in out.parent.iterdir()} == {
        f"sales{kind}.jsonl{end}" for kind in ("", "-tuning") for end in ("", ".claims")
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--readers", "patches"], "reader must be"),
        (["--encodings", "rotary", "rotary"], "encodings must not repeat"),
        (["--blocks", "1"], "blocks must be an integer of at least 2, got 1"),
        (["--margin", "0"], "margin must be"),
        (["--frequency", "m"], "write min or month"),
        (["--frequency", "d"], "line 3: the time 2020-03-01 01:00:00 lies between two steps of d"),
        (["--season", "48"], "context must be at least a season of 48 steps"),
        (["--value", "z"], "line 1: there is no column 'z' for --value, only date, y"),
        (["--separator", ";;"], "separator must be one sign"),
        (["--seconds", "0"], "seconds must be"),
    ],
)
def test_wrong_arguments_are_told_in_one_line_and_leave_nothing(
    sales, call, arguments, said, tmp_path
):
    code, _, err = call(sales, *SMOKE, "--out", tmp_path / "out.jsonl", *arguments)
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == [sales]


def plan(n_blocks=6, seeds=2, encodings=("sinusoidal", "rotary", "t5")):
    values = np.random.default_rng(0).normal(size=(1, 900)).cumsum(1)
    layout = Layout("sales", ["y"], values, None, shape(24, 4, 24), n_blocks)
    return cells.Plan(layout, ["patches_flat"], encodings, ["linear"], "laptop", seeds)


def known(one, effects, scatter, seeds=2):
    """Return errors: around 1 for none, moved by effects, with scatter of blocks' differences."""
    rng = np.random.default_rng(1)
    n = one.layout.n_blocks
    none = np.exp(rng.normal(size=(n, seeds)))
    noise = rng.normal(size=(len(effects), n, 1))
    noise -= noise.mean(1, keepdims=True)
    noise /= noise.std(1, ddof=1, keepdims=True)
    moved = zip(effects.items(), noise, strict=True)
    return {("patches_flat", "none"): none} | {
        ("patches_flat", name): none * np.exp(effect + scatter * z) for (name, effect), z in moved
    }


def test_what_trains_travels_to_other_processes_and_cuts_the_same_blocks():
    one = plan()
    sent = pickle.loads(pickle.dumps(one.train))
    assert [sent.layout.unit(b).name for b in range(6)] == [unit.name for unit in one.units]
    score = sent([one.cell("seasonal_naive", "none", 2)])
    assert score[0]["mase"] > 0


def test_every_place_is_tuned_and_trained_alike():
    one = plan()
    trials = one.all_trials().listed
    assert len(trials) == 5  # none, three encodings, and the linear map
    assert {cell.resample for group in trials for cell in group} == {0}
    assert {cell.learning_rate for cell in trials[0]} == set(cells.RATES)
    records = {
        cell.key: {"metrics": {"validation_mase": abs(cell.learning_rate - 3e-3)}}
        for group in trials
        for cell in group
    }
    assert all(one.rate(*place, records) == 3e-3 for place in one.places)
    groups = one.all_cells(records).listed
    assert len(groups) == 5 * 6
    assert [cell.resample for group in groups for cell in group] == sorted(
        cell.resample for group in groups for cell in group
    )
    assert {cell.learning_rate for group in groups for cell in group} == {3e-3}
    assert len({cell.key for group in groups for cell in group}) == 2 * 5 * 6
    failed = {key: {"error": "no"} for key in records}
    assert not one.all_cells(failed).listed


def test_effects_and_intervals_are_those_of_blocks():
    one = plan()
    errors = known(one, {"sinusoidal": -0.05, "rotary": 0.0, "t5": 0.04}, 0.01)
    found = verdict.effects(one, errors, 0.03)
    assert [e.answer for e in found] == ["ahead", "equal", "behind"]
    for effect, mean in zip(found, (-0.05, 0.0, 0.04), strict=True):
        assert effect.interval.mean == pytest.approx(mean, abs=1e-9)
        assert effect.interval == t_interval(effect.differences.mean(1))
    assert verdict.verdict_sentences(one, errors, found) == [
        "sales decides: sinusoidal has smaller errors than none; t5 has larger errors than none; "
        "rotary has errors within 3 % of those of none."
    ]
    shown = verdict.table(one, errors, found).splitlines()
    assert "| -4.9 %       | [-5.9, -3.9]  | ahead" in shown[3]


def test_a_difference_that_is_small_enough_is_called_equal():
    one = plan()
    errors = known(one, {"rotary": -0.01}, 0.002)
    [found] = verdict.effects(one, errors, 0.03)
    assert (found.answer, found.p_value < LEVEL) == ("equal", True)
    assert verdict.verdict_sentences(one, errors, [found]) == [
        "sales decides: rotary has errors within 3 % of those of none."
    ]


def test_what_cannot_be_told_comes_with_how_many_blocks_would_be_needed():
    one = plan()
    errors = known(one, {"sinusoidal": 0.0, "rotary": 0.01, "t5": -0.01}, 0.05)
    found = verdict.effects(one, errors, 0.03)
    first, second = verdict.verdict_sentences(one, errors, found)
    assert first == "sales cannot decide whether sinusoidal, rotary or t5 is of use."
    needed = verdict.blocks_needed(found[0], 3)
    assert 25 < needed < 60
    assert f"about {needed:.0f} blocks like these 6 would be needed" in second
    assert f"{(needed - 6) * one.layout.length:,.0f} more steps" in second
    # three times the scatter, about nine times the blocks
    wide = known(one, {"sinusoidal": 0.0}, 0.15)
    wide_found = verdict.effects(one, wide, 0.03)
    assert 6 < verdict.blocks_needed(wide_found[0], 3) / needed < 11
    hopeless = verdict.effects(one, known(one, {"sinusoidal": 0.0}, 5.0), 0.03)
    assert "name a larger --margin" in verdict.verdict_sentences(one, errors, hopeless)[1]


def test_seeds_that_scatter_are_the_cheaper_remedy():
    one, none = plan(encodings=("rotary",)), np.ones((6, 2))
    blocks, seeds = np.array([[1, -1] * 3]).T, np.array([[1, -1]])
    for by_seed, told in ((0.3, True), (0.03, False)):
        moved = 0.1 * blocks + by_seed * seeds
        errors = {("patches_flat", "none"): none, ("patches_flat", "rotary"): np.exp(moved)}
        said = verdict.verdict_sentences(one, errors, verdict.effects(one, errors, 0.03))
        assert any("Most of the scatter is that of seeds" in s for s in said) == told
    alone = {place: error[:, :1] for place, error in errors.items()}
    said = verdict.verdict_sentences(one, alone, verdict.effects(one, alone, 0.03))
    assert "With one seed its luck is part of the scatter" in said[-1]


def test_few_blocks_decide_nothing():
    one = plan(n_blocks=4)
    errors = known(one, {"sinusoidal": -0.5}, 0.001)
    found = verdict.effects(one, errors, 0.03)
    assert [e.answer for e in found] == ["undecided"]
    [said, *_] = verdict.verdict_sentences(one, errors, found)
    assert "4 blocks are too few, take at least 5" in said


def test_a_baseline_that_is_ahead_of_all_is_named():
    one = plan()
    errors = known(one, {"sinusoidal": -0.05}, 0.01)
    errors["linear", "none"] = 0.5 * errors["patches_flat", "none"]
    said = verdict.verdict_sentences(one, errors, verdict.effects(one, errors, 0.03))
    assert said[-1].startswith("But linear has a smaller error")
    errors["linear", "none"] *= 4
    said = verdict.verdict_sentences(one, errors, verdict.effects(one, errors, 0.03))
    assert not said[-1].startswith("But")


def test_a_promotion_that_is_known_ahead_is_used(tmp_path, call, monkeypatch):
    """Noise that jumps with each promotion: nothing but the column says when."""
    monkeypatch.setattr(cells, "RATES", (3e-2,))
    monkeypatch.setattr(local, "LocalEngine", lambda _: local.SerialEngine())
    monkeypatch.setattr(cells, "BASELINES", ("linear",))
    monkeypatch.setitem(cells.PROFILES, "smoke", {**cells.PROFILES["smoke"], "steps": 120})
    rng = np.random.default_rng(0)
    promo = rng.random(600) < 0.3
    values = rng.normal(size=600) + 20 * promo
    rows = [f"{START + timedelta(hours=i)},{v:.3f},{int(p)}"
            for i, (v, p) in enumerate(zip(values, promo, strict=True))]  # fmt: skip
    path = tmp_path / "sales.csv"
    path.write_text("\n".join(["date,y,promo", *rows]) + "\n")
    error = {}
    for name, more in {"blind": ["--value", "y"], "told": ["--known-ahead", "promo"]}.items():
        out = tmp_path / f"{name}.jsonl"
        code, text, err = call(path, *SMOKE, "--encodings", "none", *more, "--out", out)
        assert code == 0, text + err
        assert ("Known ahead: promo." in err) == (name == "told")
        stored = [json.loads(line) for line in out.read_text().splitlines()]
        error[name] = np.mean([r["metrics"]["mase"] for r in stored if r["model"] == "linear"])
    assert error["told"] < 0.5 * error["blind"]
