"""The page on running the benchmark shows commands and a class that must work."""

import json
import re
import shlex
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from posenc import encodings
from posenc.bench import tuning
from posenc.bench.settings import PROFILES
from posenc.experiments.classification import protocol as protocols
from posenc.experiments.command_line import main, parser
from posenc.experiments.range_probe import extrapolation
from posenc.models import TimeSeriesTransformer

PAGE = (Path(__file__).parents[2] / "book" / "running-benchmarks.md").read_text(encoding="utf-8")
COMMANDS = re.findall(
    r"python -m posenc\.bench ((?:.*\\\n)*.*)",
    "".join(re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)),
)


def run_block(text):
    """Run the page's Python block that holds `text`, and return its names."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    [source] = [block for block in blocks if text in block]
    names = {}
    exec(source, names)
    return names


SMALL = "--engine serial --n-layers 1 --d-model 8 --n-heads 2 --d-ff 8 --check-every 2"
SERIES = """@problemName MyGestures
@timeStamps false
@missing false
@univariate true
@equalLength true
@seriesLength 8
@classLabel true left right
@data
"""


def walk():
    """Return the commands of the first sections, as lists of words."""
    steps = PAGE[: PAGE.index("## What you may conclude")]
    text = "".join(re.findall(r"```console\n(.*?)```", steps, flags=re.DOTALL))
    found = re.findall(r"\$ python -m posenc\.bench ((?:.*\\\n)*.*)", text)
    return [shlex.split(command.replace("\\\n", " ")) for command in found]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make a folder with `mine.py` and a small data set, as the page asks for, and go there."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    [source] = [block for block in blocks if "class Nearby" in block]
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    home = tmp_path / "data" / "MyGestures"
    home.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for part, n in (("TRAIN", 24), ("TEST", 12)):
        rows = [
            ",".join(f"{x:.3f}" for x in rng.normal(size=8)) + (":left" if i % 2 else ":right")
            for i in range(n)
        ]
        (home / f"MyGestures_{part}.ts").write_text(SERIES + "\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("POSENC_DATA", "data")
    assert protocols.TRAINING["tuning"]["steps"] == tuning.STEPS  # before it is made smaller
    monkeypatch.setattr(tuning, "STEPS", 4)
    return tmp_path


def test_every_command_of_the_walk_runs_on_a_set_of_ones_own(folder, capsys):
    for command in walk():
        words = ["MyGestures" if word == "ItalyPowerDemand" else word for word in command]
        if words[0] == "run":
            few = "--steps 4 --least-steps 2" if "protocol" in words else "--epochs 1"
            words += shlex.split(f"{SMALL} {few}")
        assert main(words) == 0, words
    said = capsys.readouterr().out
    assert "written: first/report.md" in said.replace("\\", "/")
    report = (folder / "fair" / "report.md").read_text(encoding="utf-8")
    assert all(name in report for name in ("none", "sinusoidal", "mine:Nearby"))


def test_the_walk_tunes_and_resamples():
    assert f"four trials of {tuning.STEPS} steps" in PAGE
    [first, _, fair, _] = walk()
    assert "--tune" not in first
    assert fair[fair.index("--profile") + 1] == "protocol"
    [own] = [command for command in COMMANDS if "gestures.jsonl" in command and "--out" in command]
    assert "--profile protocol" in own
    settings = protocols.TRAINING["settings"]
    assert f"has not improved for {settings['patience_steps']} of them" in PAGE
    assert protocols.TRAINING["resamples"] == 5


def test_the_books_results_are_read_as_the_page_says():
    names = run_block("second.load_grid")
    assert {len(set(names["grid"].datasets)), len(names["gains"])} == {len(names["grid"].datasets)}


def test_the_class_of_the_page_enters_a_model():
    names = run_block("class Nearby")
    torch.manual_seed(0)
    model = TimeSeriesTransformer(3, 2, 10, position=names["Nearby"], d_model=16, n_heads=2)
    x = torch.randn(4, 10, 3)
    model.eval()
    assert model(x).shape == (4, 2)
    assert not torch.allclose(model(x), model(x.flip(1)[:, torch.randperm(10)]))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_page_are_understood(command):
    parser().parse_args(shlex.split(command.replace("\\\n", " ")))


def test_the_command_on_longer_series_is_understood():
    [command] = re.findall(r"python -m posenc\.experiments\.range_probe\.extrapolation (.*)", PAGE)
    assert extrapolation._parser().parse_args(shlex.split(command)).seeds == 3


def test_the_page_shows_commands():
    assert len(COMMANDS) >= 5


def test_the_table_of_profiles_is_that_of_the_code():
    table = PAGE[PAGE.index("| profile | layers") :]
    for name, settings in PROFILES.items():
        row = next(line for line in table.splitlines() if line.startswith(f"| `{name}`"))
        cells = [cell.strip() for cell in row.split("|")[2:6]]
        known = {"n_layers": 2, "d_model": 64, "epochs": 40, "max_cases": 1000} | settings
        shown = [known["n_layers"], known["d_model"], known["epochs"], known["max_cases"]]
        expected = [f"{value:,}" for value in shown[:3]] + [f"{shown[3]:,}" if shown[3] else "all"]
        if steps := known.get("steps"):
            expected[2] = f"{steps:,} steps"
        assert cells == expected


def stored(name):
    folder = Path(__file__).parents[2] / "results"
    return json.loads((folder / name).read_text(encoding="utf-8"))


def row(*cells):
    return f"| {' | '.join(cells)} |"


def test_trainings_an_hour_on_the_page_are_those_that_were_measured():
    beside = stored("engine.json")
    ratios = [one["ratio"] for name in ("laptop", "full") for one in beside[name]]
    assert f"ends {min(ratios):.1f} to {max(ratios):.1f} times as many training runs" in PAGE
    for name in ("laptop", "full"):
        for one in beside[name]:
            hourly = (f"{one[whose]:,}" for whose in ("tsai_an_hour", "ours_an_hour"))
            assert row(name, str(one["length"]), *hourly, f"{one['ratio']:.1f}") in PAGE


SHARES = (
    "linear maps reach",
    "alone, in cache",
    "alone, outside",
    "attention",
    "dropout",
    "optimiser",
    "all else",
    "compiled takes",
)


def percents(rows, name):
    return [round(100 * one[name]) for one in rows]


def test_shares_of_the_machine_on_the_page_are_those_that_were_measured():
    steps = stored("steps.json")
    assert not steps["busy"], "measure again on an idle machine"
    rows = steps["rows"]
    for one in rows:
        assert row(str(one["tokens"]), *(f"{round(100 * one[name])} %" for name in SHARES)) in PAGE
    reached, in_cache, outside, *_, all_else, compiled = (percents(rows, n) for n in SHARES)
    assert f"those of a step reach {min(reached)} to {max(reached)} %" in PAGE
    assert f"come to {min(in_cache)} % and more" in PAGE
    assert f"to {min(outside)} to {max(outside)} % if these lie outside" in PAGE
    assert f"*All else*, from {min(all_else)} to {max(all_else)} %," in PAGE
    assert f"{compiled[0]} % of its time at 8 tokens, but {compiled[-1]} % at 300" in PAGE


def test_the_other_processor_is_quicker_and_a_step_reaches_less_of_it():
    here, there = (stored(name) for name in ("steps.json", "steps-2026-11-23.json"))
    assert not there["busy"]
    rates = [[round(one["limit, GFLOP/s"]) for one in two["rows"]] for two in (there, here)]
    (low, high), (least, most) = ((min(one), max(one)) for one in rates)
    assert f"({low} to {high} against {least} to {most} GFLOP/s)" in PAGE
    assert 1.75 < low / least < 2 > high / most > 1.75  # "nearly twice"
    reached = percents(there["rows"], "linear maps reach")
    assert f"there a step reached {min(reached)} to {max(reached)} %" in PAGE
    assert all(
        a < b for a, b in zip(reached, percents(here["rows"], "linear maps reach"), strict=True)
    )


def test_what_all_else_is_made_of_is_what_was_measured():
    short, *_, long = stored("steps.json")["rows"]
    rest = ("Python", "around attention", "around products")
    python, attention, products = (round(100 * short[name]) for name in rest)
    assert f"{python} % of the step, then what lies" in PAGE
    assert f"around attention and around the products, {attention} and {products} %" in PAGE
    assert f"at 300 tokens Python has {round(100 * long['Python'])} %" in PAGE
    columns = list(short)
    others = {short[name] for name in columns[columns.index("compiled takes") + 1 :]}
    assert sorted(others)[-3:] == sorted(short[name] for name in rest)


@pytest.fixture(scope="module")
def decoded():
    measured = stored("decoding.json")
    assert not measured["busy"], "measure again on an idle machine"
    return measured["rows"]


@pytest.fixture(scope="module")
def beside(decoded):
    """Return (kind, column, tokens kept) -> our time over that of the quickest elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
        from decoding import ratios

    return {
        (kind, column, kept): ratio
        for column in ("alone", "of many")
        for (kept, kind), (ratio, _) in ratios(decoded, column).items()
    }


@pytest.fixture(scope="module")
def over_none(decoded):
    """Return (kind, tokens kept) -> our time as one layer of many over that of `none`."""
    ours = {}
    for one in decoded:
        if one["whose"].startswith("posenc"):
            ours.setdefault((one["kind"], one["prompt"]), []).append(one["of many"])
    return {(kind, n): min(times) / min(ours["none", n]) for (kind, n), times in ours.items()}


COLUMNS = [*product(("alone", "of many"), (64, 512))]


def test_times_of_one_token_on_the_page_are_those_that_were_measured(beside, over_none):
    kinds = {kind for kind, _ in over_none}
    known = {*encodings.names(), *protocols.LATER}  # later ones wait for an idle machine
    assert known - {*encodings.names("signal")} <= kinds <= {*encodings.names("series")}
    for kind in kinds:
        costs = [f"{over_none[kind, kept]:.2f}" for kept in (64, 512)]
        ratios = [
            f"{beside[kind, *column]:.2f}" if (kind, *column) in beside else ""
            for column in COLUMNS
        ]
        assert row(f"`{kind}`", *costs, *ratios) in PAGE


def test_the_encodings_that_are_compared_are_those_of_the_aims(beside, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    from aim_limits import DECODED

    assert {kind for kind, *_ in beside} == {*DECODED}


def test_what_the_page_says_of_layers_elsewhere_is_what_was_measured(beside):
    for kind in ("sinusoidal", "rotary", "t5", "alibi"):  # "quicker than any there" by themselves
        assert max(beside[kind, "alone", kept] for kept in (64, 512)) < 1
    for kind in ("xpos", "cope", "pope"):
        assert max(beside[kind, *column] for column in COLUMNS) < 1
    five = ("none", "learnable", "t5", "rotary", "alibi")
    said = (
        "`none` takes {:.2f} times as long, `learnable` {:.2f}, T5's bias {:.2f}, RoPE {:.2f} "
        "and ALiBi {:.2f};"
    )
    assert said.format(*(beside[kind, "of many", 64] for kind in five)) in PAGE
    longest = max(beside[kind, "of many", 512] for kind in five)
    assert f"the five are at {longest:.2f} and less" in PAGE


def test_what_the_page_says_an_encoding_adds_to_a_token_is_what_was_measured(over_none):
    added = ("sinusoidal", "learnable", "dft", "tape", "learnable_frequency", "sine_linear")
    for kind, kept in product(added, (64, 512)):
        assert abs(over_none[kind, kept] - 1) < 0.035  # "nothing"
    biases = [
        100 * over_none[kind, kept] - 100
        for kind, kept in product(("kerple", "alibi", "t5"), (64, 512))
    ]
    assert f"add {min(biases):.0f} to {max(biases):.0f} %" in PAGE
    assert all(0.2 < over_none["rotary", kept] - 1 < 0.3 for kept in (64, 512))  # "a quarter"
    dear = "transformer_xl", "sine_spe", "conv_spe"
    far, sine, conv = (over_none[kind, 512] for kind in dear)
    assert f"makes it {far:.2f} times as long with 512 kept" in PAGE
    assert f"{sine:.1f} times with `sine_spe` and {conv:.0f} times with `conv_spe`" in PAGE
    assert max(cost for (kind, _), cost in over_none.items() if kind not in dear) < 2


def test_what_the_page_says_of_plain_attention_is_what_was_measured(decoded):
    alike = [one for one in decoded if one["kind"] == "none" and one["prompt"] == 64]
    ours = next(one["alone"] for one in alike if one["whose"] == "posenc")
    theirs = {one["whose"]: one["alone"] for one in alike if one["whose"] != "posenc"}
    best = min(theirs, key=theirs.get)
    assert "GPT-2" in best
    said = f"takes {ours - theirs[best]:.0f} of {theirs[best]:.0f} microseconds longer than GPT-2's"
    assert said in PAGE
