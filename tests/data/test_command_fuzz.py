"""Whatever stands behind an option of a command, the command answers; it never breaks.

Odd values are put behind every option and in every place of every command, one or two at a time,
where the rest is in order. Nothing is trained and nothing is fetched. POSENC_FUZZ says how many.
"""

import argparse
import os
import re
import time

import numpy as np
import pytest
import torch
from course import grades
from hypothesis import given, settings
from hypothesis import strategies as st
from readers import ODD, READERS

from posenc._wall import FAULT, behind
from posenc.register import command_line as explain
from posenc_book import command_line
from posenc_book.bench import agreement, baselines, extrapolation
from posenc_book.bench.driver import Driver, Summary
from posenc_book.data import __main__ as data_command
from posenc_book.data.from_csv import convert

EXAMPLES = int(os.environ.get("POSENC_FUZZ", "12"))
TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
SECONDS = 20.0  # of the processor, for one command
SALES = ["sales.csv", "--time", "date", "--horizon", "4", "--frequency", "h", "--context", "24"]
PROBE = ["--datasets", "range_probe:n=8,length=8,distance=2"]
TABLE = ["table.csv", "--series", "take", "--time", "when"]
# What is in order: the rest of a command line, into which odd values are put.
GOOD = {
    "run": [*PROBE, "--encodings", "rotary", "--models", "time_series", "--profile", "smoke"],
    "agree": ["--device", "cpu"],
    "status": ["records.jsonl"],
    "merge": ["records.jsonl", "--out", "merged.jsonl"],
    "baselines": ["--datasets", "Runs"],
    "report": ["records.jsonl"],
    "forecast": [*SALES, "--profile", "smoke", "--device", "cpu"],
    "fetch": ["Runs"],
    "verify": ["Runs"],
    "info": ["Runs"],
    "checksums": ["Runs"],
    "pack": ["Runs", "--out", "packed"],
    "from-csv": [*TABLE, "--out", "sets/Mine"],
    "measure": ["measured.json"],
    "explain": ["llama", "--length", "4096"],
    "extrapolation": ["--encodings", "none", "--seeds", "1"],
    "grades": ["marks.csv"],
}
"""Commands by name, with a line that is in order."""
MISSING = {"measure": 1}
"""What these say without the data sets of the book."""
FILES = {
    "forecast": "sales.csv",
    "from-csv": "table.csv",
    "report": "records.jsonl",
    "grades": "marks.csv",
    "explain": "config.json",
}
"""What a command reads, in whose fields odd values are put."""
MARKS = (
    'submission,student number,assignment,by checks,of,by hand,"by hand, at most",page\n'
    "ada.ipynb,12345,01_raw_indices,5,13,2,3,ada.md\n"
    "bob.ipynb,23456,01_raw_indices,4,13,,3,bob.md\n"
)
CONFIG = """{"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
"num_hidden_layers": 2, "max_position_embeddings": 4096, "rope_theta": 10000.0, "rope_scaling":
{"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
"original_max_position_embeddings": 1024}}
"""


def leaves(parser, call, before=()):
    """Yield the commands of a parser: a name, what answers it, its first words and its actions."""
    subs = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    for name, sub in subs[0].choices.items() if subs else [(before[-1], parser)]:
        actions = [a for a in sub._actions if not isinstance(a, argparse._HelpAction)]
        yield name, call, [name] if subs else [], actions


COMMANDS = {
    name: (call, words, actions)
    for parser, main, before in (
        (command_line.parser(), command_line.main, ()),
        (data_command.parser(), data_command.main, ()),
        (explain.parser(), explain.main, ("explain",)),
        (extrapolation._parser(), extrapolation.main, ("extrapolation",)),
        (grades.parser(), grades.main, ("grades",)),
    )
    for name, call, words, actions in leaves(parser, main, before)
    if actions
}


@st.composite
def lines(draw, name: str) -> list[str]:
    """Return a command line with one or two odd values."""
    _, words, actions = COMMANDS[name]
    line = [*words, *GOOD[name]]
    for _ in range(draw(st.integers(1, 2))):
        action = draw(st.sampled_from(actions))
        value = draw(st.sampled_from(ODD) | TEXT)
        if action.option_strings:
            line += [action.option_strings[0]] if action.nargs == 0 else [
                f"{action.option_strings[0]}={value}"
            ]  # fmt: skip
        else:  # it stands in the place of the first word behind the command
            line = [*words, value, *line[len(words) + 1 :]]
    return line


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Make a folder with the files that are in order."""
    folder = tmp_path_factory.mktemp("commands")
    hours = [f"2020-03-{1 + i // 24:02} {i % 24:02}:00,{i % 24 + i / 7:.2f}" for i in range(400)]
    (folder / "sales.csv").write_text("\n".join(["date,y", *hours]))
    rows = [f"{i // 3},{'ab'[i // 3 % 2]},{i % 3},{i}" for i in range(24)]
    (folder / "table.csv").write_text("\n".join(["take,label,when,x", *rows]))
    convert(folder / "table.csv", folder / "sets" / "Runs", series="take", time="when")
    (folder / "records.jsonl").write_bytes(READERS["results"].good)
    (folder / "marks.csv").write_text(MARKS)
    (folder / "config.json").write_text(CONFIG)
    return folder


@pytest.fixture
def idle(place, monkeypatch):
    """Let commands do everything but train, and in a folder of their own."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("POSENC_OFFLINE", "1")
    monkeypatch.setenv("POSENC_DATA", str(place / "sets"))
    monkeypatch.setattr(Driver, "run", lambda *_: Summary())
    monkeypatch.setattr(baselines, "_compute", lambda *_: [])
    still = agreement.Course(torch.zeros(1), torch.zeros(1, 2))
    monkeypatch.setattr(agreement, "course", lambda *_: still)
    monkeypatch.setattr(data_command.checksums, "add", lambda _: 0)


def ask(call, line: list[str]) -> int | str:
    """Return the exit code of a command, which must take little time."""
    started = time.process_time()
    try:
        return behind(call, [*line, "--debug"])
    except SystemExit as error:  # which is how a command says what is wrong
        return error.code
    finally:
        assert time.process_time() - started < SECONDS, line


def test_every_command_is_asked():
    assert set(COMMANDS) == set(GOOD)


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("name", GOOD)
def test_odd_values_are_answered(name, capsys):
    call, words, _ = COMMANDS[name]

    @settings(max_examples=EXAMPLES)
    @given(lines(name))
    def check(line: list[str]) -> None:
        np.random.seed(0)  # noqa: NPY002 - hypothesis asks for the same at each example
        assert ask(call, line) != FAULT, (line, capsys.readouterr().err)

    assert ask(call, [*words, *GOOD[name]]) in (0, MISSING.get(name)), capsys.readouterr().err
    check()


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("name", FILES)
def test_odd_fields_are_answered(name, capsys, place):
    call, words, _ = COMMANDS[name]
    text = (place / FILES[name]).read_text()
    fields = list(re.finditer(r"[^\s,;:(){}\[\]\"]+", text))
    odd = f"odd-{FILES[name]}"
    line = [odd if word == FILES[name] else word for word in GOOD[name]]
    line = [odd] if name == "explain" else line

    @settings(max_examples=EXAMPLES)
    @given(st.sampled_from(fields), st.sampled_from(ODD), st.booleans())
    def check(field: re.Match, value: str, cut: bool) -> None:
        end = text.find("\n", field.end()) if cut else field.end()
        (place / odd).write_text(text[: field.start()] + value + text[end:], encoding="utf-8")
        assert ask(call, [*words, *line]) != FAULT, capsys.readouterr().err

    check()
