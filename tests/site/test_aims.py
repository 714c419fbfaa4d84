"""What the book asks of itself: the table says what is met, missed and not measured."""

import itertools
import json
import re
import subprocess
import sys

import pytest
import test_pages
import torch
from sitefiles import ROOT

import aims_page

aims = aims_page.module()


def stored(**ratios: float) -> dict[str, dict]:
    return {key: {"ratio": r, "when": "2026-01-02", "busy": False} for key, r in ratios.items()}


@pytest.mark.parametrize(
    ("key", "ratio", "said"),
    [
        ("page", 1.0, "met"),
        ("page", 1.01, "**missed**"),
        ("linear", 1.0, "met"),
        ("linear", 0.99, "**missed**"),
    ],
)
def test_an_aim_is_met_on_the_right_side(key, ratio, said):
    (line,) = [row for row in aims.rows(stored(**{key: ratio})) if row[3]]
    assert line[2:4] == [f"{ratio:.2f} of the aim", "2026-01-02"]
    assert line[4].startswith(said)


def test_what_is_not_measured_is_said():
    lines = aims.rows(stored(page=0.5))
    assert [line[2] for line in lines].count("") == len(aims.AIMS) - 1
    said = {aim.key: line[4] for aim, line in zip(aims.AIMS, lines, strict=True)}
    assert said["build-all"] == said["build-all-processor"] == "not measured"
    assert said["peers-none"] == "not measured"
    assert said["trainings-aeon"].startswith("given up: aeon has no transformer")
    assert re.fullmatch(r"[\d.]+ with \w+ at [\d,]+ on .+", said["gpu-none"])


def test_the_worst_row_counts_and_the_quickest_peer():
    keys = ("encoding", "compared_with", "time_ratio", "aim", "length")
    rows = [
        ("rotary", "none", 1.1, 1.1, 100),
        ("rotary", "none", 1.21, 1.1, 896),
        ("rotary", "torchtune", 0.5, None, 100),
        ("rotary", "x-transformers, rotary", 0.9, None, 100),
        ("rotary", "torchtune", 0.7, None, 896),
        ("cope", "none", 3.0, None, 100),
    ]
    found = aims.of_steps(
        [{**dict(zip(keys, row, strict=True)), "what": "training"} for row in rows]
    )
    assert found == {"attention-rotary": pytest.approx(1.1), "peers-rotary": 0.9}


def test_times_are_left_out_on_a_busy_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(aims, "STORED", tmp_path / "aims.json")
    monkeypatch.setattr(aims, "read", dict)
    monkeypatch.setattr(aims, "busy", lambda: True)
    monkeypatch.setitem(aims.MEASURES, "build", lambda: {"build-all": 0.5})
    monkeypatch.setitem(aims.MEASURES, "pages", lambda: {"page": 0.5})
    assert aims.measure(["build", "pages"]) == ["build"]
    assert json.loads((tmp_path / "aims.json").read_text()).keys() == {"page"}
    assert aims.measure(["build"], although_busy=True) == []
    assert json.loads((tmp_path / "aims.json").read_text())["build-all"]["busy"]


def test_the_stored_file_knows_only_aims_that_there_are():
    assert aims.read().keys() <= {aim.key for aim in aims.AIMS}


def test_the_aim_for_pages_is_the_one_that_is_tested():
    assert aims.PAGE_LIMIT == test_pages.MOST_BYTES


# All in one process, as each would take seconds to import the same.
HELP = """
import contextlib, io, json, runpy, sys
found = {}
for script in sys.argv[1:]:
    sys.argv, sys.path[0] = [script, "--help"], script.rpartition("/")[0]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            runpy.run_path(script, run_name="__main__")
        except BaseException as error:
            found[script] = [f"{type(error).__name__}: {error}", said.getvalue()]
print(json.dumps(found))
"""


def test_every_benchmark_starts():
    paths = sorted((ROOT / "benchmarks").glob("*.py"))
    scripts = [p.as_posix() for p in paths if "ArgumentParser" in p.read_text(encoding="utf-8")]
    run = subprocess.run([sys.executable, "-c", HELP, *scripts], capture_output=True, text=True)
    found = json.loads(run.stdout)
    assert list(found) == scripts
    for script, (ended, said) in found.items():
        assert ended == "SystemExit: 0", script
        assert said.startswith("usage: "), script


@pytest.mark.parametrize("name", ["learnable", "alibi", "t5", "tupe", "rotary"])
def test_our_layer_decodes_in_two_steps_what_the_whole_gives(name):
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import decoders

    whole, steps = [], []
    x = torch.randn(1, 12, decoders.D_MODEL)
    for outputs, cuts in ((whole, (0, 12)), (steps, (0, 4, *range(5, 13)))):
        torch.manual_seed(0)
        once, each = decoders.ours(name, 12)
        for start, stop in itertools.pairwise(cuts):
            new = x[:, start:stop]
            with torch.inference_mode():
                tokens, places = once(new)
                common = dict(places.common or {})
                outputs.append(each(new, (tokens, places)))
            # all that a layer leaves to others is counted as done once
            assert (places.common or {}) == common
            assert bool(common) == (stop - start == 1 and name != "learnable")
    torch.testing.assert_close(torch.cat(steps, 1), torch.cat(whole, 1), rtol=0, atol=1e-5)


def test_one_page_is_built_with_another_sentence_in_a_copy(monkeypatch):
    page = ROOT / "book" / "rotary.ipynb"
    before, ours, seen = page.read_bytes(), page.stat().st_mtime_ns, []

    def build(command, folder):
        assert page.stat().st_mtime_ns == ours  # a kill at this moment leaves it as it is
        assert (folder / command[1]).read_bytes() == (ROOT / "tools" / "build.py").read_bytes()
        seen.append((folder / "book" / "rotary.ipynb").read_bytes())
        return (10.0, 16.0) if "--clean" in command else (1.5, 2.4)

    monkeypatch.setattr(aims, "_seconds", build)
    assert aims.build() == {
        "build-all": 0.5,
        "build-all-processor": 0.8,
        "build-one": 0.5,
        "build-one-processor": pytest.approx(0.8),
        "build-nothing": 0.5,
    }
    assert seen[0] == before
    assert b"One more sentence." in seen[1]
    assert json.loads(seen[1])["cells"][1:] == json.loads(before)["cells"][1:]


def test_commands_run_in_a_clone_that_borrows_the_environment_and_installs_nothing(monkeypatch):
    seen = []

    def made(command, folder):
        seen.append(command)
        assert (folder / ".venv").resolve() == (ROOT / ".venv").resolve()
        for name in ("requirements.txt", "pyproject.toml", "src/pyproject.toml"):
            assert (folder / name).stat().st_mtime == 0  # older than any environment
        return 50.0, 90.0

    monkeypatch.setattr(aims, "_seconds", made)
    assert aims.commands() == {"command-check": 50 / aims.CHECK, "command-site": 0.5}
    assert seen == [["make", "check"], ["make", "site"]]
