"""What `posenc check` says of modules that end, hang, fork, print or are none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from posenc.testing import command_line

ROOT = Path(__file__).parents[2]
LAYERS = """
import os, sys, time
from posenc_book.teaching.gallery import Attention

class Exits(Attention):
    def answer(self, out):
        os._exit(0)

class Forks(Attention):
    def answer(self, out):
        os.fork()
        return out

class Prints(Attention):
    def answer(self, out):
        print("a word of the layer")
        return out

class Stops(Attention):
    def answer(self, out):
        raise BaseException("enough")

class Eats(Attention):
    def answer(self, out):
        import torch
        return torch.ones(16, 2**30).sum() + out

def waits():
    time.sleep(60)

def leaves():
    sys.exit(0)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "strangers.py").write_text(LAYERS)
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "wrong.py").write_text("def make(:\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["leaving:make"], 2, "the module calls sys.exit(0), so that nothing can be asked"),
        (["wrong:make"], 2, "wrong.py, line 1: invalid syntax"),
        (["missing:make"], 2, "No module named 'missing'"),
        (["strangers.py:make"], 2, "strangers:make, in its own folder"),
        (["strangers:nothing"], 2, "it has: Attention, Eats, Exits, Forks, Prints, Stops"),
        (["strangers"], 2, ""),
        (["strangers:Prints", "cache"], 2, "did you mean 'cached'"),
        (["strangers:Exits"], 1, "ended with status 0 while it was asked whether it answers"),
    ],
)
def test_without_a_whole_report_nothing_passes(folder, capfd, arguments, status, sentence):  # noqa: ARG001
    assert command_line.main(arguments) == status
    out, err = capfd.readouterr()
    assert (out, sentence in err, "Traceback" in err) == ("", True, False), err


@pytest.mark.parametrize(
    ("arguments", "outcome", "sentence"),
    [
        (["strangers:Stops"], "broken", "BaseException: enough"),
        (["strangers:leaves"], "broken", "SystemExit: 0"),
        (["strangers:Eats", "--memory", "4"], "broken", "allocate"),
        (["strangers:waits", "--seconds", "0.5"], "late", "no answer within 0.5 seconds"),
    ],
)
def test_what_the_layer_does_is_a_finding(folder, capfd, arguments, outcome, sentence):  # noqa: ARG001
    assert command_line.main([*arguments, "--json"]) == 1
    (found,) = json.loads(capfd.readouterr().out)["findings"]
    assert found["outcome"] == outcome
    assert sentence in found["came"]


def test_what_a_layer_prints_stands_beside_the_report_and_not_in_it(folder, capfd):  # noqa: ARG001
    assert command_line.main(["strangers:Prints", "causal", "--json"]) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["passed"]
    assert "a word of the layer" in err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_layer_that_forks_is_asked_once(folder, capfd):  # noqa: ARG001
    assert command_line.main(["strangers:Forks", "causal"]) == 0
    assert capfd.readouterr().out.count("all that was promised holds") == 1


@pytest.mark.parametrize("closed", [">&-", "| true"])
def test_a_report_that_nobody_can_read_is_no_pass(folder, closed):
    command = f"{sys.executable} -m posenc check strangers:Attention {closed}"
    run = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (run.returncode, "Traceback" in run.stderr) == (2, False), run.stderr
    assert "posenc check:" in run.stderr
