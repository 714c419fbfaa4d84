"""The page on running the benchmark shows commands and a class that must work."""

import json
import re
import shlex
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from posenc.bench import extrapolation, protocols, tuning
from posenc.bench.__main__ import main, parser
from posenc.bench.settings import PROFILES
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
            few = "--steps 4 --least-steps 2" if "--steps" in words else "--epochs 1"
            words += shlex.split(f"{SMALL} {few}")
        assert main(words) == 0, words
    said = capsys.readouterr().out
    assert "written: first/report.md" in said.replace("\\", "/")
    report = (folder / "fair" / "report.md").read_text(encoding="utf-8")
    assert all(name in report for name in ("none", "sinusoidal", "mine:Nearby"))


def test_the_walk_tunes_and_resamples():
    [first, _, fair, _] = walk()
    assert "--tune" not in first
    assert {"--tune", "--resamples", "--steps"} <= {*fair}


def test_the_books_results_are_read_as_the_page_says():
    names = run_block("second.load")
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
    [command] = re.findall(r"python -m posenc\.bench\.extrapolation (.*)", PAGE)
    assert extrapolation._parser().parse_args(shlex.split(command)).seeds == 3


def test_the_page_shows_commands():
    assert len(COMMANDS) >= 5


def test_the_table_of_profiles_is_that_of_the_code():
    for name, settings in PROFILES.items():
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}`"))
        cells = [cell.strip() for cell in row.split("|")[2:6]]
        known = {"n_layers": 2, "d_model": 64, "epochs": 40, "max_cases": 1000} | settings
        shown = [known["n_layers"], known["d_model"], known["epochs"], known["max_cases"]]
        expected = [f"{value:,}" for value in shown[:3]] + [f"{shown[3]:,}" if shown[3] else "all"]
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


def test_shares_of_the_machine_on_the_page_are_those_that_were_measured():
    steps = stored("steps.json")
    assert not steps["busy"], "measure again on an idle machine"
    shares = {name: [round(100 * one[name]) for one in steps["rows"]] for name in SHARES}
    for i, one in enumerate(steps["rows"]):
        assert row(str(one["tokens"]), *(f"{shares[name][i]} %" for name in SHARES)) in PAGE
    reached, in_cache, outside, *_, all_else, compiled = shares.values()
    assert f"those of a step reach {min(reached)} to {max(reached)} %" in PAGE
    assert f"come to {min(in_cache)} % and more" in PAGE
    assert f"to {min(outside)} to {max(outside)} % if these lie outside" in PAGE
    assert f"*all else*, from {min(all_else)} to {max(all_else)} %," in PAGE
    assert f"{compiled[0]} % of its time at 8 tokens, but {compiled[-1]} % at 300" in PAGE


def test_times_of_one_token_on_the_page_are_those_that_were_measured(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    from aims import DECODED

    measured = stored("decoding.json")
    assert not measured["busy"], "measure again on an idle machine"
    found = {}
    for kind in DECODED:
        for column, kept in product(("alone", "of many"), (64, 512)):
            alike = [r for r in measured["rows"] if (r["prompt"], r["kind"]) == (kept, kind)]
            ours = min(r[column] for r in alike if r["whose"].startswith("posenc"))
            theirs = min(r[column] for r in alike if not r["whose"].startswith("posenc"))
            found.setdefault(kind, []).append(ours / theirs)
        assert row(f"`{kind}`", *(f"{ratio:.2f}" for ratio in found[kind])) in PAGE
    of_many = [found[kind][2] for kind in ("rotary", "t5", "alibi")]
    said = "RoPE takes {:.2f} times as long, T5's bias {:.2f} and ALiBi's {:.2f}:"
    assert said.format(*of_many) in PAGE
    assert max(found["rotary"][:2] + found["t5"][:2]) < 1  # "the quickest", by themselves
    longest = max(found[kind][3] for kind in ("rotary", "t5", "alibi"))
    assert f"shrinks to {longest:.2f} and less" in PAGE
    assert {one["kind"] for one in measured["rows"]} == {*DECODED}
    assert max(max(found[kind]) for kind in ("xpos", "cope", "pope")) < 1


def test_the_layer_beside_sinusoids_is_what_the_page_says():
    rows = [r for r in stored("decoding.json")["rows"] if r["prompt"] == 64]
    ours = {r["kind"]: r["of many"] for r in rows if r["whose"] == "posenc"}
    assert ours["sinusoidal"] == pytest.approx(ours["none"], rel=0.02)
    theirs = {}
    for r in rows:
        if not r["whose"].startswith("posenc"):
            theirs.setdefault(r["kind"], []).append((r["of many"], r["whose"]))
    xglm, *gpt2 = (min(theirs[kind]) for kind in ("sinusoidal", "none", "learnable"))
    assert xglm[1] == "transformers XGLM"
    assert {whose for _, whose in gpt2} == {"transformers GPT-2"}
    assert xglm[0] < 0.95 * min(time for time, _ in gpt2)


def test_what_alibi_takes_longer_for_is_the_layer_and_not_the_biases():
    rows = {
        (r["kind"], r["whose"]): r for r in stored("decoding.json")["rows"] if r["prompt"] == 64
    }
    ours, plain = rows["alibi", "posenc"], rows["none", "posenc"]
    made = ours["alone"] - plain["alone"]
    for whose in ("transformers MPT", "transformers BLOOM"):
        theirs = rows["alibi", whose]
        assert made == pytest.approx(theirs["alone"] - theirs["of many"], rel=0.1)
        assert plain["alone"] > 1.1 * theirs["of many"]
