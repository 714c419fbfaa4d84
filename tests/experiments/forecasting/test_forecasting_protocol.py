"""The protocol of the forecasting experiment, its page, its files and its command."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from posenc_book.read.forecasting import __main__ as command
from posenc_book.read.forecasting import planned, protocol, train, units
from posenc_book.read.forecasting.store import UnitStores
from posenc_book.records import records
from posenc_book.statistics.power import Design, provable_margin

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "results" / "forecasting" / "protocol.md").read_text(encoding="utf-8")
STORED = json.loads((ROOT / planned.FILE).read_text(encoding="utf-8"))
BASELINES = json.loads((ROOT / "results" / "forecasting" / "baselines.json").read_text("utf-8"))


def cell(unit="m3_yearly", **changes):
    shape = units.UNITS[unit][0]
    return train.ForecastSettings("none", "patches_mean", unit, patch=shape.patch, **changes)


def record(one, mase=1.0, **metrics):
    return records.finished(one, {"mase": mase, **metrics}, device="cpu", seconds=1.0)


def test_the_page_holds_the_hashes_of_what_is_run():
    assert f"trainings `{protocol.HASH}`, analysis `{protocol.ANALYSIS_HASH}`" in PAGE


def test_the_page_shows_the_units_the_baselines_and_what_can_be_decided():
    for name, (shape, _) in units.UNITS.items():
        assert f"| {name} | {shape.context} | {shape.horizon} |" in PAGE
        numbers = [BASELINES[name][m]["mase"] for m in ("seasonal_naive", "theta", "boosted_trees")]
        assert f"| {name} | " + " | ".join(f"{x:.3f}" for x in numbers) + " |" in PAGE
    for row in STORED:
        assert f"| {row['between']} | {row['margin, first of eight']} |" in PAGE
    assert ", ".join(f"`{name}`" for name in protocol.KEPT_APART) in PAGE


def test_the_margin_can_be_reached_where_the_page_says():
    design = Design(14, 5, 0.02, planned.WITHIN)
    margin = provable_margin(design, n_tests=8, n_runs=500)
    assert margin < protocol.MARGIN
    stored = next(row for row in STORED if row["between"] == 0.02)
    assert margin == pytest.approx(stored["margin, first of eight"], rel=0.1)


def test_what_is_compared():
    counted = set(units.UNITS) - set(protocol.KEPT_APART)
    assert (len(units.UNITS), len(counted)) == (18, 14)
    assert set(protocol.CALENDARS) <= set(units.UNITS)
    assert len(protocol.ENCODINGS) == 9


def test_the_best_rate_by_validation_is_trained():
    one = replace(cell(steps=100), protocol="")
    tried = protocol.trials(one)
    assert {t.steps for t in tried} == {protocol.TRIAL_STEPS}
    errors = [1.3, 1.1, 1.2, 1.4]
    known = {t.key: record(t, 0.0, validation_mase=e) for t, e in zip(tried, errors, strict=True)}
    assert protocol.tuned(one, known).learning_rate == protocol.RATES[1]
    known.pop(tried[0].key)
    assert protocol.tuned(one, known) is None


def test_stacks_hold_cells_of_one_shape():
    names = ("etth1", "bike_sharing", "exchange", "vic_electricity", "air_quality")
    groups = [[replace(cell(name, steps=9), seed=s) for s in (0, 1)] for name in names]
    stacks = protocol.grouped(groups, stacked=True)
    assert [[c.dataset for c in stack[::2]] for stack in stacks] == [
        ["etth1", "bike_sharing", "exchange"],
        ["vic_electricity"],
        ["air_quality"],
    ]
    assert protocol.grouped(groups, stacked=False) == groups


def test_each_unit_has_a_file_and_the_driver_sees_one_store(tmp_path):
    stores = UnitStores(tmp_path, "", ["m3_yearly", "etth1"])
    done, failed = cell(steps=9), cell("etth1", steps=9)
    stores.append(record(done))
    stores.append(records.failed(failed, "no memory", device="cpu", seconds=0.1))
    assert {p.name for p in tmp_path.glob("*.jsonl")} == {
        "m3_yearly.jsonl",
        "etth1.jsonl",
    }
    again = UnitStores(tmp_path, "", ["m3_yearly", "etth1"])
    again.refresh()
    assert again.finished(done.key)
    assert again.failed(failed.key)
    assert set(again.records()) == {done.key, failed.key}


def test_wrong_options_are_told_in_one_line(capsys):
    with pytest.raises(SystemExit):
        command.main(["--units", "m5"])
    assert "invalid choice: 'm5'" in capsys.readouterr().err
    assert command.main(["--units", "m3_yearly", "--seconds", "0"]) == 2
    assert "seconds must be" in capsys.readouterr().err


def test_some_encodings_can_be_trained_first(tmp_path):
    wanted = ["--units", "m3_yearly", "--readers", "patches_mean", "--out", str(tmp_path)]
    options = command._parser().parse_args([*wanted, "--encodings", "none", "sinusoidal"])
    (_, _, trials), _ = command._stages(options, stacked=False)
    cells = [cell for group in trials.groups() for cell in group]
    places = {(cell.encoding, cell.shuffled) for cell in cells}
    assert places == set(product(["none", "sinusoidal"], ["", "steps", "patches"]))
    assert len(cells) == len(places) * len(protocol.RATES)
