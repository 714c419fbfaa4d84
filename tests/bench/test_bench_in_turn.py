"""Commands that share a slice of time."""

import shlex
import sys

import pytest

from posenc_book.bench import in_turn


@pytest.fixture
def told(tmp_path):
    """Return a command that notes what it is told, and a function that reads its notes."""
    notes = tmp_path / "notes"
    script = tmp_path / "note.py"
    script.write_text(
        "import sys, time\n"
        f"with open({str(notes)!r}, 'a') as file:\n"
        "    print(*sys.argv[1:], file=file)\n"
        "time.sleep(0.05)\n"
        "sys.exit(int(sys.argv[1]))\n"
    )

    def read():
        return [line.split() for line in notes.read_text().splitlines()]

    return shlex.join([sys.executable, str(script)]), read


def test_each_is_told_what_is_left_and_the_largest_code_is_returned(told):
    command, notes = told
    assert in_turn.run([f"{command} 1", f"{command} 3", f"{command} 0"], 60) == 3
    codes, options, seconds = zip(*notes(), strict=True)
    assert codes == ("1", "3", "0")
    assert set(options) == {"--seconds"}
    first, second, third = map(float, seconds)
    assert 60 > first > second + 0.05 > third + 0.1


def test_nothing_begins_when_the_time_is_over(told, capsys):
    command, notes = told
    assert in_turn._main(["0.04", f"{command} 0", f"{command} 1"]) == 0
    assert len(notes()) == 1
    assert f"no time is left for {command} 1; the same line goes on" in capsys.readouterr().out
