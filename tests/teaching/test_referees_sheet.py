"""The referee's sheet: each command runs and says what stands below it; two find planted faults."""

import re
import shlex
from pathlib import Path

import pytest
from test_running_benchmarks import PAGE, SMALL, run_block

from posenc.__main__ import _run
from posenc_book.bench import tuning

SHEET = (Path(__file__).parents[2] / "book" / "referees-sheet.md").read_text(encoding="utf-8")
COMMANDS = re.findall(
    r"^\$ posenc ((?:.*\\\n)*.*)\n(.+)$",
    "".join(re.findall(r"```console\n(.*?)```", SHEET, flags=re.DOTALL)),
    flags=re.MULTILINE,
)
FAULTS = """
import torch

from posenc import encodings, tables
from posenc.attention import Position, SelfAttention
from posenc_book.audit import published


class Circle(Position):
    table = torch.tensor(tables.dft(32, 32), dtype=torch.float32)

    def embed(self, x):
        return x + self.table[torch.arange(x.shape[1]) % 32]


def worn():
    return SelfAttention(32, 4, published.DecayingDFT(32, 4, 32))


def along_the_batch():
    return SelfAttention(32, 4, published.BatchIndexed(32, 4, 32))


def across_the_batch():
    return published.AcrossBatch(32, 4, encodings.make("sinusoidal", 32, 4, 32))


def circle():
    return SelfAttention(32, 4, Circle(32, 4, 32))
"""


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Go to a folder with the files of which the sheet speaks, and one with faults."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("POSENC_DATA", "data")
    monkeypatch.setattr(tuning, "STEPS", 4)
    [nearby] = re.findall(r"```python\n(import torch\n[^`]*class Nearby.*?)```", PAGE, re.DOTALL)
    [layer] = re.findall(r"```python\n(.*?)```", SHEET, re.DOTALL)
    Path("mine.py").write_text(nearby + layer, encoding="utf-8")
    Path("faults.py").write_text(FAULTS, encoding="utf-8")
    run_block("gestures.csv")


def words(command):
    """Return the words of a command; a training is small here, and else as on the sheet."""
    found = shlex.split(command.replace("\\\n", " "))
    if found[:2] != ["bench", "run"]:
        return found
    few = "--steps 4 --least-steps 2" if "protocol" in found else "--epochs 1"
    return [*found, *shlex.split(f"{SMALL} {few}")]


@pytest.mark.slow
@pytest.mark.usefixtures("desk")
def test_every_command_of_the_sheet_runs_and_says_what_stands_below_it(capsys):
    assert len(re.findall(r"^\*\*\d\. ", SHEET, re.MULTILINE)) == 9
    assert len(COMMANDS) == SHEET.count("\n$ ") == 10
    for command, said in COMMANDS:
        assert _run(words(command)) == 0, command
        assert said in capsys.readouterr().out.replace("fair\\", "fair/"), command


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    ("check", "fault", "found"),
    [
        (0, "worn", "✗ the same input twice gives the same answer twice"),
        (0, "along_the_batch", "✗ the order of tokens matters"),
        (0, "across_the_batch", "✗ batch rows do not see each other"),
        (1, "circle", "served, and places are mixed up"),
    ],
)
def test_a_check_finds_the_fault_of_which_it_is_made(capfd, check, fault, found):
    assert _run(words(COMMANDS[check][0].replace("mine:make", f"faults:{fault}"))) == 1
    assert found in capfd.readouterr().out
