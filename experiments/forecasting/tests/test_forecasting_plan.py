"""The plan of the forecasting experiment, its page, its files and its command."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from experiments.forecasting import __main__ as command
from experiments.forecasting import cells
from experiments.forecasting.store import UnitStores
from posenc_book.forecast import cells as of_a_file
from posenc_book.forecast.readers import LINEAR, READERS
from posenc_book.forecast.units import UNITS
from posenc_book.read.forecasting import plan
from posenc_book.records import records
from posenc_book.records.forecasts import ForecastSettings

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "results" / "forecasting" / "protocol.md").read_text(encoding="utf-8")


def cell(unit="m3_yearly", **changes):
    patch = UNITS[unit][0].patch
    return ForecastSettings("none", "patches_mean", unit, patch=patch, **changes)


def record(one, mase=1.0, **metrics):
    return records.finished(one, {"mase": mase, **metrics}, device="cpu", seconds=1.0)


def test_the_page_holds_the_hashes_of_what_is_run():
    assert (plan.HASH, plan.ANALYSIS_HASH) == ("806167979925", "190385f145ed")
    assert plan.ANALYSIS["training"] == plan.HASH
    assert f"trainings `{plan.HASH}`, analysis `{plan.ANALYSIS_HASH}`" in PAGE


def test_the_engine_has_the_units_and_readers_of_the_plan():
    shapes = {name: list(vars(shape).values()) for name, (shape, _) in UNITS.items()}
    assert list(plan.UNITS.items()) == list(shapes.items())
    readers = {name: list(vars(reader).values()) for name, reader in READERS.items()}
    assert list(plan.READERS.items()) == list(readers.items())
    assert list(plan.LINEAR) == list(LINEAR)


def test_a_file_of_ones_own_is_trained_as_the_plan_says():
    assert plan.TRAINING["settings"] == of_a_file.SETTINGS
    assert list(of_a_file.RATES) == plan.RATES
    assert plan.TRAINING["tuning"]["seed"] == of_a_file.TRIAL_SEED


def test_the_best_rate_by_validation_is_trained():
    one = replace(cell(steps=100), protocol="")
    tried = plan.trials(one)
    assert {t.steps for t in tried} == {750}
    errors = [1.3, 1.1, 1.2, 1.4]
    known = {t.key: record(t, 0.0, validation_mase=e) for t, e in zip(tried, errors, strict=True)}
    assert plan.tuned(one, known).learning_rate == plan.RATES[1]
    known.pop(tried[0].key)
    assert plan.tuned(one, known) is None


def test_stacks_hold_cells_of_one_shape():
    names = ("etth1", "bike_sharing", "exchange", "vic_electricity", "air_quality")
    groups = [[replace(cell(name, steps=9), seed=s) for s in (0, 1)] for name in names]
    stacks = cells.grouped(groups, stacked=True)
    assert [[c.dataset for c in stack[::2]] for stack in stacks] == [
        ["etth1", "bike_sharing", "exchange"],
        ["vic_electricity"],
        ["air_quality"],
    ]
    assert cells.grouped(groups, stacked=False) == groups


def test_each_unit_has_a_file_and_the_driver_sees_one_store(tmp_path):
    stores = UnitStores(tmp_path, "", ["m3_yearly", "etth1"])
    done, failed = cell(steps=9), cell("etth1", steps=9)
    stores.append(record(done))
    stores.append(records.failed(failed, "no memory", device="cpu", seconds=0.1))
    assert {p.name for p in tmp_path.glob("*.jsonl")} == {"m3_yearly.jsonl", "etth1.jsonl"}
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
    tried = [cell for group in trials.groups() for cell in group]
    places = {(cell.encoding, cell.shuffled) for cell in tried}
    assert places == set(product(["none", "sinusoidal"], ["", "steps", "patches"]))
    assert len(tried) == len(places) * len(plan.RATES)
