"""The page on running the benchmark shows commands and a class that must work."""

import re
import shlex
from pathlib import Path

import pytest
import torch

from posenc.bench import extrapolation
from posenc.bench.__main__ import parser
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


def test_the_books_results_are_read_as_the_page_says():
    names = run_block("results.load")
    assert 0 < names["accuracy"].interval("RacketSports", "rotary").mean < 1


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
