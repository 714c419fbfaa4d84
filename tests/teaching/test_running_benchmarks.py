"""The page on running the benchmark shows commands and a class that must work."""

import re
import shlex
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch

from posenc.models import TimeSeriesTransformer
from posenc_book.bench import extrapolation, tuning
from posenc_book.command_line import main, parser
from posenc_book.data.__main__ import main as data_main
from posenc_book.forecast import blocks, cells, commands, verdict
from posenc_book.read.classification import protocol as protocols
from posenc_book.records.settings import PROFILES

PATH = Path(__file__).parents[2] / "book" / "running-benchmarks.ipynb"
CELLS = nbformat.read(PATH, as_version=4).cells
PAGE = "\n\n".join(cell.source for cell in CELLS if cell.cell_type == "markdown")
COMMANDS = re.findall(
    r"posenc bench ((?:.*\\\n)*.*)",
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
    steps = PAGE[: PAGE.index("## How many splits until you know?")]
    text = "".join(re.findall(r"```console\n(.*?)```", steps, flags=re.DOTALL))
    found = re.findall(r"\$ posenc bench ((?:.*\\\n)*.*)", text)
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
        words = command
        if words[0] == "run":
            few = "--steps 4 --least-steps 2" if "protocol" in words else "--epochs 1"
            words = [*words, *shlex.split(f"{SMALL} {few}")]
        assert main(words) == 0, words
    said = capsys.readouterr().out
    assert "written: first/report.md" in said.replace("\\", "/")
    report = (folder / "fair" / "report.md").read_text(encoding="utf-8")
    assert all(name in report for name in ("none", "sinusoidal", "mine:Nearby"))


def test_the_table_of_the_page_becomes_a_data_set_as_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_block("gestures.csv")
    lines = Path("gestures.csv").read_text(encoding="utf-8").splitlines()
    assert "\n".join(["```text", *lines[:3], "```"]) in PAGE
    pattern = r"\$ posenc data (from-csv (?:.*\\\n)*.*)\n(.*)\n"
    command, said = re.search(pattern, PAGE).groups()
    assert data_main(shlex.split(command.replace("\\\n", " "))) == 0
    assert capsys.readouterr().out.strip() == said


def test_the_books_results_are_read_as_the_page_says():
    names = run_block("edition2.load_grid")
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
    [command] = re.findall(r"posenc_book\.bench\.extrapolation (.*)", PAGE)
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


def test_what_the_page_says_of_a_forecast_is_what_runs():
    words = {"six": 6, "two": 2, "eight": 8, "five": 5, "three": 3}
    [said] = re.findall(r"last (\d+) per cent of your file are cut into (\w+) blocks", PAGE)
    assert int(said[0]) == 100 * blocks.TESTED
    assert words[said[1]] == cells.BLOCKS["laptop"]
    [seeds] = re.findall(r"the same four trials, and the\nsame (\w+) seeds", PAGE)
    assert words[seeds] == cells.SEEDS["laptop"]
    assert len(cells.RATES) == 4
    [most] = re.findall(r"as long as the book did, on (\w+) blocks with (\w+) seeds", PAGE)
    assert [words[n] for n in most] == [cells.BLOCKS["protocol"], cells.SEEDS["protocol"]]
    [margin] = re.findall(r"errors within (\w+) per cent of it", PAGE)
    assert words[margin] == 100 * commands.MARGIN
    [fewest] = re.findall(r"fewer than (\w+) blocks decide nothing", PAGE)
    assert words[fewest] == verdict.FEWEST
