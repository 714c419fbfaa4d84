"""What the book asks of itself: the table says what is met, missed and not measured."""

import ast
import itertools
import json
import re
import subprocess
import sys
from graphlib import TopologicalSorter

import pytest
import test_pages
import torch
from sitefiles import ROOT

import aims_page

aims = aims_page.module()


def stored(**ratios: float) -> dict[str, dict]:
    return {key: {"ratio": r, "when": "2026-01-02", "busy": False} for key, r in ratios.items()}


def test_every_aim_has_a_key_of_its_own_and_something_that_measures_it():
    assert len({aim.key for aim in aims.AIMS}) == len(aims.AIMS)
    assert {aim.group for aim in aims.AIMS} == aims.MEASURES.keys()


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


def test_what_is_missed_for_a_reason_says_it():
    (line,) = [row for row in aims.rows(stored(**{"attention-tupe": 1.1})) if row[3]]
    assert line[4].startswith("**missed**: PyTorch's kernel by itself takes 1.3")
    (line,) = [row for row in aims.rows(stored(linear=0.8)) if row[3]]
    assert "from outside the cache" in line[4]


def test_the_worst_row_counts_and_the_quickest_peer():
    def row(encoding, beside, ratio, aim=None, length=100):
        return {
            "encoding": encoding,
            "compared_with": beside,
            "time_ratio": ratio,
            "aim": aim,
            "length": length,
            "what": "training",
        }

    rows = [
        row("rotary", "none", 1.1, 1.1),
        row("rotary", "none", 1.21, 1.1, 896),
        row("rotary", "torchtune", 0.5),
        row("rotary", "x-transformers, rotary", 0.9),
        row("rotary", "torchtune", 0.7, length=896),
        row("cope", "none", 3.0),
    ]
    found = aims.of_steps(rows)
    assert found == {"attention-rotary": pytest.approx(1.1), "peers-rotary": 0.9}


def test_with_long_inputs_only_those_near_none_go_on(monkeypatch):
    import attention

    taken = {"none": 1.0, "rotary": 1.1, "t5": 1.3}
    monkeypatch.setitem(attention.LENGTHS, 4, (1, 2, 5))
    monkeypatch.setattr(attention, "build", lambda name, _: torch.nn.Linear(len(name), 1))
    monkeypatch.setattr(attention, "step", lambda *_: None)
    monkeypatch.setattr(attention, "timed", lambda _, model, *rest: by_size[model.in_features])
    by_size = {len(name): seconds for name, seconds in taken.items()}
    times = attention.seconds(list(taken), 4, 0)
    rounds = {name: len(of_steps) for name, of_steps in times["training"].items()}
    assert rounds == {"none": 5, "rotary": 5, "t5": 2}


def test_what_was_measured_today_is_left_out_when_one_goes_on(monkeypatch):
    today = aims.datetime.date.today().isoformat()
    one = {"ratio": 1.0, "when": today, "busy": False}
    monkeypatch.setattr(aims, "read", lambda: {"page": one, "linear": one | {"busy": True}})
    assert aims.of_today("pages")
    assert not aims.of_today("steps")  # the machine did other work
    assert not aims.of_today("build")


def test_peers_are_those_that_train_elsewhere():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import encoders

    assert {kind for kind, _ in encoders.PEERS.values()} == set(aims.PEERS)


def test_a_busy_machine_is_said():
    found = stored(page=0.5)
    found["page"]["busy"] = True
    assert any("on a busy machine" in line[3] for line in aims.rows(found))


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


def test_the_table_names_every_aim():
    table = aims.table({})
    assert all(f"| {aim.what} | " in table for aim in aims.AIMS)
    assert "make bench" in (ROOT / "book" / "speed.md").read_text(encoding="utf-8")


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


def test_a_step_is_measured_at_every_length():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import steps

    for length in steps.LENGTHS:
        assert steps.training("none", length, 4).data.length == length


def test_decoding_is_compared_with_the_quickest_layer_of_its_kind():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import decoders
    import decoding

    assert tuple(decoders.REFERENCES) == aims.DECODED
    times = {"posenc": 30, "posenc, rotary, halves": 20, "transformers X": 50, "x-transformers": 40}
    rows = [
        {"prompt": prompt, "kind": "rotary", "whose": whose, "alone": prompt + time}
        for prompt in (0, 20)
        for whose, time in times.items()
    ]
    rows.append({"prompt": 0, "kind": "fire", "whose": "posenc", "alone": 9})
    found = decoding.ratios(rows, "alone")
    assert found == {
        (0, "rotary"): (0.5, "x-transformers"),
        (20, "rotary"): (40 / 60, "x-transformers"),
    }


def test_decoding_is_not_measured_without_the_other_libraries(monkeypatch):
    monkeypatch.setattr(aims, "has", lambda python, *names: "x_transformers" not in names)
    assert aims.decoding() == {}


@pytest.mark.parametrize("name", ["learnable", "alibi", "t5", "tupe", "rotary"])
def test_our_layer_decodes_in_two_steps_what_the_whole_gives(name):
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import decoders
    import torch

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
    }
    assert seen[0] == before
    assert b"One more sentence." in seen[1]
    assert json.loads(seen[1])["cells"][1:] == json.loads(before)["cells"][1:]


def test_commands_run_in_a_clone_that_borrows_the_environment(monkeypatch):
    seen = []

    def made(command, folder):
        seen.append([command[0], command[-1]])
        installed = {one.name for one in (ROOT / ".venv").glob(".*-installed")}
        assert {part.rpartition("/")[2] for part in command[1:-1]} == installed
        assert (folder / ".venv").resolve() == (ROOT / ".venv").resolve()
        assert (folder / "Makefile").is_file()
        return 50.0, 90.0

    monkeypatch.setattr(aims, "_seconds", made)
    assert aims.commands() == {"command-check": 50 / aims.CHECK, "command-site": 0.5}
    assert seen == [["make", "check"], ["make", "site"]]


def test_an_index_of_twice_the_text_has_each_section_again():
    import site_speed

    index = {
        "pages": [{"path": "a"}],
        "sections": [[["one"], ["two"], ["three"]]],
        "asked": {"2": ["what"]},
        "words": "0clock b3b 0wave c",
    }
    twice = site_speed.doubled(index)
    assert twice["words"] == "0clock b3bc3b 0wave cd"  # 1, 2, and on by three: 4, 5; 2 and 5
    assert twice["asked"] == {"2": ["what"], "5": ["what"]}
    assert [page["path"] for page in twice["pages"]] == ["a", "a-again"]


def test_a_build_is_measured_by_the_clock_and_in_time_of_the_processor(tmp_path):
    clock, processor = aims._seconds([sys.executable, "-c", "import time; time.sleep(1)"], tmp_path)
    assert clock >= 1
    assert 0 < processor < clock  # who sleeps needs no processor
    work = "import time\nwhile time.process_time() < 0.3: pass"
    assert aims._seconds([sys.executable, "-c", work], tmp_path)[1] >= 0.3


def test_no_benchmark_imports_what_imports_it():
    paths = {path.stem: path for path in (ROOT / "benchmarks").glob("*.py")}
    graph = {name: imported(path) & paths.keys() for name, path in paths.items()}
    assert graph["aims"] >= {"engine", "steps", "explorables"}
    TopologicalSorter(graph).prepare()  # a circle raises an error that names it


def imported(path):
    """Return the modules that a file imports, in its functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found
