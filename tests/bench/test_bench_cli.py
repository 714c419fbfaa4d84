"""The command `posenc bench` in small real runs: what it trains, prints, merges and refuses."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from posenc import encodings
from posenc_book.bench import build, report
from posenc_book.bench.progress import Progress
from posenc_book.command_line import main
from posenc_book.records import records, tables
from posenc_book.records.settings import Settings, profile
from posenc_book.records.store import Store

TINY = ["--datasets", "range_probe:length=12,n=48,distance=3", "--profile", "smoke"]


def fake(encoding, dataset, seed, accuracy, model="patch", **changes):
    cell = Settings(encoding, model, dataset, seed, **{**profile("smoke"), **changes})
    metrics = {"accuracy": accuracy, "parameters": 10, "seconds_per_step": 0.01}
    return records.finished(cell, metrics | {"peak_memory": 2**30}, device="cpu", seconds=2.0)


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "results" / "run.jsonl"
    store = Store(path)
    rng = np.random.default_rng(0)
    for i, encoding in enumerate(["tape", "none", "rotary"]):
        for dataset in ["A", "B", "C", "D"]:
            for seed in range(3):
                store.append(fake(encoding, dataset, seed, 0.5 + 0.1 * i + rng.random() / 50))
    store.append(records.failed(Settings("t5", "patch", "A"), "boom", device="cpu", seconds=1))
    return path


def test_smoke_profile_over_every_encoding_and_both_models(call, tmp_path):
    out = tmp_path / "smoke.jsonl"
    arguments = ["--datasets", "BasicMotions", "--profile", "smoke", "--seeds", 1]
    arguments += ["--device", "cpu", "--engine", "serial"]
    code, text, err = call("run", *arguments, "--out", out)
    assert code == 0, err
    assert text.startswith("32 cells trained, 0 of them failed; 0 were there")
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert {(r["encoding"], r["model"]) for r in found} == {
        (e, m) for e in encodings.names() for m in ("time_series", "patch")
    }
    for r in found:
        metrics = r["metrics"]
        assert list(r) == [*records.FIELDS, *records.LATER]
        assert all(0 <= metrics[m] <= 1 for m in ("accuracy", "balanced_accuracy", "macro_f1"))
        assert metrics["parameters"] > 0
        assert metrics["seconds_per_step"] > 0
        assert metrics["epochs"] == 2
        assert Settings(**r["settings"]).key == r["key"]
    code, text, _ = call("report", out)
    assert code == 0
    assert (tmp_path / "smoke" / "heatmap-patch.png").stat().st_size > 10_000


def test_run_status_merge(call, tmp_path):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    common = ["run", *TINY, "--encodings", "none", "rotary:pairing=half", "--models", "patch"]
    assert call(*common, "--seeds", 1, "--engine", "serial", "--out", one)[0] == 0
    assert call(*common, "--seeds", 2, "--engine", "serial", "--epochs", 1, "--out", two)[0] == 0
    code, text, _ = call("status", one)
    assert code == 0
    assert "2 finished, 0 failed" in text
    assert "encoding: none 1, rotary 1" in text
    code, text, _ = call("merge", one, two)
    assert "4 cells added" in text
    code, text, err = call("report", one)
    assert code == 2
    assert "the records differ in epochs" in err
    assert call("report", one, "--where", "epochs=1")[0] == 0
    assert "rotary:pairing=half" in (tmp_path / "one" / "report.md").read_text()


def test_short_trainings_are_named_with_what_helps(call, tmp_path):
    out = tmp_path / "short.jsonl"
    arguments = ["run", *TINY[:2], "--encodings", "none", "--models", "patch", "--seeds", 1]
    arguments += ["--engine", "serial", "--d-model", 8, "--d-ff", 8, "--out", out]
    code, text, _ = call(*arguments, "--epochs", 3)
    assert code == 0
    few = "Trained for fewer than 200 steps: range_probe:distance=3:length=12:n=48 (3)."
    assert few in text
    assert "more --epochs and --patience help" in text
    assert few in report.overview([json.loads(line) for line in out.read_text().splitlines()])
    assert tables.short_trainings(fake("none", "A", 0, 0.5) for _ in range(2)) == ""
    enough = fake("none", "A", 0, 0.5)
    enough["metrics"]["steps"] = 200
    assert tables.short_trainings([enough]) == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--datasets", "BasicMotion"], "did you mean BasicMotions"),
        (["--profile", "smok"], "did you mean 'smoke'"),
        (["--engine", "lokal"], "did you mean 'local'"),
        (["--stack", "0"], "stack must be an integer of at least 1, got 0"),
        (["--out", "."], "out must be a file"),
    ],
)
def test_wrong_arguments_are_named_in_one_line(call, arguments, message):
    code, _, err = call("run", *TINY, *arguments)
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_failing_run_says_so_by_its_exit_code(call, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "bad.py").write_text(
        "from posenc.attention import Position\n"
        "class Bad(Position):\n    def embed(self, x):\n        raise OSError('no')\n"
    )
    arguments = [*TINY, "--encodings", "bad:Bad", "--models", "patch", "--seeds", 1]
    code, text, _ = call("run", *arguments, "--engine", "serial", "--out", tmp_path / "r.jsonl")
    assert code == 1
    assert "1 cells trained, 1 of them failed" in text
    assert f"why they failed: posenc bench status {tmp_path / 'r.jsonl'}" in text
    why = "failed: bad:Bad patch range_probe seed 0: OSError: no"
    assert why in call("status", tmp_path / "r.jsonl")[1]


def test_failures_of_code_that_was_mended_are_told_apart(call, tmp_path):
    out, made = tmp_path / "r.jsonl", {"device": "cpu", "seconds": 1.0}
    cells = [Settings("dft", "patch", "Libras", encoding_source=code) for code in "abc"]
    for cell, error in zip(cells, ("no memory", "no time"), strict=False):
        Store(out).append(records.failed(cell, error, **made))
        assert f"failed: dft patch Libras seed 0: {error}" in call("status", out)[1]
    assert "0 finished, 1 failed (1 more before" in call("status", out)[1]
    Store(out).append(records.finished(cells[-1], {}, **made))
    text = call("status", out)[1]
    assert "1 finished, 0 failed (2 more before their code or series was changed)" in text
    assert "to try them again" not in text
    told = report.overview(list(Store(out)))
    assert "1 finished training run, 0 failed (2 more before" in told
    assert "no memory" not in told


def test_progress_names_its_stage_running_failed_and_the_time_left(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    with Progress(10, stream, done=3, stage="tuning, last trial") as progress:
        progress.skip(1)
        progress.add(2, 1, 3)
    last = stream.getvalue().split("\r")[-1]
    assert last.startswith("tuning, last trial:  60%")
    assert re.search(r" 6/10 .*<\d\d:\d\d.*failed=1, running=3", last)


def test_scores_tabulate_means_over_seeds(results):
    scores = tables.scores(Store(results), "patch")
    assert scores.datasets == ("A", "B", "C", "D")
    assert scores.encodings == ("none", "rotary", "tape")
    mine = [r for r in Store(results) if (r["encoding"], r["dataset"]) == ("tape", "B")]
    expected = np.mean([r["metrics"]["accuracy"] for r in mine])
    assert scores.mean()[1, 2] == pytest.approx(expected)
    assert scores.interval("B", "tape").n == 3
    assert scores.interval("B", "t5") is None


def test_only_data_sets_that_all_finished_are_compared(results):
    Store(results).append(fake("none", "E", 0, 0.5))
    scores = tables.scores(Store(results), "patch")
    assert scores.datasets == ("A", "B", "C", "D", "E")
    assert np.isnan(scores.mean()[4, 1:]).all()
    assert scores.complete().datasets == ("A", "B", "C", "D")


def test_unlike_settings_are_not_compared(results):
    Store(results).append(fake("none", "A", 9, 0.5, learning_rate=0.5))
    said = r"differ in learning_rate: .* 36 of 37 have learning_rate=0\.001; take only those with"
    with pytest.raises(ValueError, match=said):
        tables.scores(Store(results), "patch")


def test_another_norm_reaches_the_model():
    for norm, kind in (("own", "BatchNorm"), ("layer", "LayerNorm")):
        cell = Settings("none", "time_series", "A", norm=norm)
        model = build.model(cell, n_channels=2, n_classes=2, length=9)
        assert type(model.input_norm).__name__ == kind


def test_seeds_of_a_split_and_resamples_are_not_averaged():
    lines = [fake("rotary", "A", 1, 0.2), fake("rotary", "A", 1, 0.9, split_seed=1, resample=1)]
    message = "two training runs of rotary on A with seed 1: seeds .* --where split_seed=0"
    with pytest.raises(ValueError, match=message):
        tables.scores(lines, "patch")


def test_report_holds_tables_tests_figures_and_alt_texts(results, tmp_path):
    path = report.write_report(Store(results), tmp_path / "report")
    text = path.read_text()
    assert "36 finished training runs, 1 failed" in text
    assert "\n\n3 seeds on the official split, not tuned.\n\n" in text
    assert "- failed 1×: t5, patch, A: boom" in text
    assert "| average rank (4) | 2.000 | 1.000 | 3.000 |" in text
    assert "Friedman's test: p = 0.00463 over 4 data sets, counted; smaller than 0.0046" in text
    assert "p cannot be below 0.38, so no pair can be shown to differ (α = 0.05)." in text
    assert "| rotary – none | +0." in text
    images = [name for _, name in re.findall(r"!\[([^]]{20,})\]\(([^)]+)\)", text)]
    assert images == [f"{one}-patch.png" for one in ("heatmap", "ranks", "critical-difference")]
    assert all((path.parent / name).stat().st_size > 5000 for name in images)
    assert "Average ranks from best to worst: rotary 1.00, none 2.00, tape 3.00." in text
    with (path.parent / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 36
    assert float(rows[0]["accuracy"]) == next(iter(Store(results)))["metrics"]["accuracy"]


def test_costs_say_how_they_were_taken(results, tmp_path):
    path = report.write_report(Store(results), tmp_path / "cold")
    text = path.read_text()
    assert "| encoding | parameters | ms per step, as it ran | peak memory (MiB) |" in text
    assert "| none | 10 | 10.00 | – |" in text  # 1 GiB, taken without a warm-up, is not shown
    assert "with whatever else the machine was doing, other workers above all" in text
    assert "peak_memory" not in (path.parent / "scores.csv").read_text()
    warm = {"warm_peak_memory": 3 * 2**19}
    lines = [r | {"metrics": r["metrics"] | warm} for r in Store(results) if "error" not in r]
    text = report.write_report(lines, tmp_path / "warm").read_text()
    assert "| none | 10 | 10.00 | 1.5 |" in text


def test_one_data_set_has_no_average_rank(results, tmp_path):
    one = [r for r in Store(results) if r["dataset"] == "A"]
    folder = report.write_report(one, tmp_path / "report").parent
    text = (folder / "report.md").read_text()
    assert "Average ranks are not given: over fewer than two data sets" in text
    assert "average rank (" not in text
    assert "Average ranks from" not in text
    assert not (folder / "ranks-patch.png").exists()


def test_reports_are_the_same_every_time(results, tmp_path):
    first, second = (report.write_report(Store(results), tmp_path / n).parent for n in "ab")
    for file in first.iterdir():
        assert file.read_bytes() == (second / file.name).read_bytes()


@pytest.mark.parametrize("name", ["report.md", "heatmap-patch.png"])
def test_a_report_leaves_files_of_others_alone(results, tmp_path, call, name):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / name).write_text("mine")
    (folder / "notes.md").write_text("notes")
    code, text, err = call("report", results, "--out", folder)
    assert (code, text) == (2, "")
    assert f"{folder / name} was not written by posenc bench report" in err
    assert "name another --out; it was left as it is" in err
    assert {p.name: p.read_text() for p in folder.iterdir()} == {name: "mine", "notes.md": "notes"}


def test_a_report_goes_over_its_own_files_and_over_no_others(results, tmp_path, call):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "notes.md").write_text("notes")
    assert call("report", results, "--out", folder)[0] == 0
    assert call("report", results, "--out", folder)[0] == 0  # over its own
    with (folder / "report.md").open("a") as file:
        file.write("a remark of a reader")
    code, _, err = call("report", results, "--out", folder)
    assert code == 2
    assert "report.md was not written by posenc bench report, or was changed" in err
    assert "a remark" in (folder / "report.md").read_text()
    assert (folder / "notes.md").read_text() == "notes"


def test_a_report_knows_its_figures_of_earlier_records(results, tmp_path):
    records = list(Store(results))
    few = [r for r in records if r["encoding"] == "none"]
    for some in (records, few, records):
        path = report.write_report(some, tmp_path / "report")
    assert "ranks-patch.png" in path.read_text()


def test_a_report_of_nothing_is_refused(tmp_path, call):
    with pytest.raises(ValueError, match="no finished record among 0"):
        report.write_report([], tmp_path)
    code, _, err = call("report", tmp_path / "absent.jsonl")
    assert code == 2
    assert "there is no results file" in err


def test_reading_results_needs_no_torch():
    code = (
        "import sys; from posenc_book.records import settings, store\n"
        "from posenc_book.records import tables\n"
        "from posenc_book.statistics import summary\n"
        "print('torch' in sys.modules, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False False\n"


@pytest.mark.parametrize("command", ["run", "merge", "report", "baselines"])
@pytest.mark.parametrize("place", ["a file/x.jsonl", "/proc/x.jsonl"])
def test_an_out_that_cannot_be_written_is_named_before_anything_is_done(
    tmp_path, monkeypatch, capsys, command, place
):
    monkeypatch.chdir(tmp_path)
    Path("a file").touch()
    Path("some.jsonl").touch()
    read = ["some.jsonl"] if command in ("merge", "report") else ["--datasets", "range_probe"]
    assert main([command, *read, "--out", place]) == 2
    assert f"--out {place} cannot be written" in capsys.readouterr().err


def test_a_refused_command_leaves_no_folder_behind(call, tmp_path):
    place = tmp_path / "new" / "folder" / "r.jsonl"
    assert call("run", *TINY, "--d-model", "15", "--out", place)[0] == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("unbuffered", [[], ["-u"]], ids=["at the end", "at the first line"])
@pytest.mark.parametrize("arguments", ["bench status", "data list"])
def test_a_reader_that_leaves_ends_a_command_without_a_word(results, arguments, unbuffered):
    file = [results] if arguments == "bench status" else []
    command = ["-m", "posenc", *arguments.split(), *file]
    started = [sys.executable, "-W", "error", *unbuffered, *command]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(started, **pipes) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
