"""Behind every command line stands one wall: a fault of ours is called one, in one line."""

import re
import sys
from pathlib import Path

import pytest

from posenc import __main__ as posenc_command
from posenc._wall import FAULT, ISSUES, behind

ROOT = Path(__file__).parents[2]
# What other programs of ours start, and what answers them by its exit code alone.
CHILDREN = {"src/posenc_book/audit/probes.py", "course/runner.py", "course/sandbox.py",
            "course/reader.py"}  # fmt: skip


def broken(_):
    raise TypeError("no\nsuch \x1b[31mcolour")


def test_a_fault_of_ours_is_one_line_and_the_traceback_waits_behind_debug(capsys):
    assert behind(broken, ["--length", "3"]) == FAULT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("This is a fault of posenc, not of what you asked for: TypeError: no su")
    assert ISSUES in err
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert behind(broken, ["--debug"]) == FAULT
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_the_command_does_not_see_debug():
    seen = []
    assert behind(seen.append, ["a", "--debug", "b"]) == 0
    assert seen == [["a", "b"]]


def test_what_a_command_says_itself_passes():
    with pytest.raises(SystemExit, match="no such table"):
        behind(lambda _: sys.exit("no such table"), [])
    assert behind(lambda _: 2, []) == 2


@pytest.mark.parametrize("name", ["explain", "check", "bench"])
def test_posenc_has_the_wall(name, monkeypatch, capsys):
    module = pytest.importorskip(posenc_command.COMMANDS[name][0])
    monkeypatch.setattr(module, "main", broken)
    monkeypatch.setattr("sys.argv", ["posenc", name, "anything"])
    assert posenc_command.main() == FAULT
    assert "fault of posenc" in capsys.readouterr().err


def test_every_module_that_is_a_command_stands_before_it():
    bare = {
        str(path.relative_to(ROOT))
        for folder in ("src", "course")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r'^if __name__ == "__main__":\n(?!(.*\n)*.*behind\()', path.read_text(), re.M)
    }
    main = {"src/posenc/__main__.py"}  # it stands within
    assert bare - main == CHILDREN
