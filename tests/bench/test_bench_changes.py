"""A change of an encoding's code or of the series is told apart, before training and after."""

from dataclasses import replace

import pytest

from posenc_book.bench import commands, report, tuning
from posenc_book.records import tables
from posenc_book.records.changes import Change, Stored
from posenc_book.records.records import finished
from posenc_book.records.settings import Settings, profile
from posenc_book.records.store import Store

OPTIONS = {"length": 12, "n": 48, "distance": 3}
SET = "range_probe:length=12,n=48,distance=3"
RUN = ["run", "--datasets", SET, "--profile", "smoke", "--encodings", "none", "--models", "patch"]
RUN += ["--engine", "serial", "--device", "cpu", "--out", "run.jsonl"]
NAMED = "range_probe:distance=3:length=12:n=48"


def line(seed=0, encoding="none", code="a", series="s", dataset="A", **changes):
    sources = {"encoding_source": code, "dataset_source": series}
    cell = Settings(encoding, "patch", dataset, seed, **{**profile("smoke"), **sources, **changes})
    metrics = {"accuracy": 0.5 + seed / 10, "parameters": 1, "seconds_per_step": 0.1}
    return finished(cell, metrics, device="cpu", seconds=1.0)


def told(records, tmp_path):
    """Return the sentences of a report on what is left out."""
    text = report.write_report(records, tmp_path / "report").read_text()
    return [part for part in text.split("\n\n") if "left out" in part]


def test_a_report_says_that_the_series_changed_and_whose(tmp_path):
    assert told([line(), line(1)], tmp_path) == []
    old, new = line(series="old"), line(series="new")
    assert told([old, new, line(dataset="B")], tmp_path) == [
        "1 training run on earlier series of the data set A is left out."
    ]
    others = [line(seed, dataset="B", series="old") for seed in (0, 1)]
    assert told([old, *others, new, line(dataset="B")], tmp_path) == [
        "3 training runs on earlier series of the data sets A and B are left out."
    ]


def test_a_report_tells_both_changes_apart(tmp_path):
    records = [
        line(0, "t5", "old", "old"),
        line(0, "dft", "new", "old"),
        line(0, "t5", "old", "new"),
        line(0, "t5", "new", "new"),
        line(0, "dft", "new", "new"),
    ]
    assert sorted(told(records, tmp_path)) == [
        "1 training run on earlier series of the data set A is left out.",
        "1 training run with earlier code of the encoding t5 is left out.",
        "1 training run with earlier code of the encoding t5 on earlier series of the data set A "
        "is left out.",
    ]
    assert tables.latest(records) == records[3:]
    with pytest.raises(ValueError, match=r"several versions.*tables.latest keeps"):
        tables.scores(records, "patch")


@pytest.mark.parametrize(
    ("attribute", "sentence"),
    [
        ("dataset_source", f"on earlier series of the data set {NAMED}"),
        ("encoding_source", "with earlier code of the encoding none"),
    ],
)
@pytest.mark.parametrize("n", [1, 2])
def test_a_run_says_before_training_what_has_changed(call, monkeypatch, attribute, sentence, n):
    kind = attribute.split("_")[0]
    at = (
        "posenc_book.data.fingerprint"
        if kind == "dataset"
        else "posenc_book.bench.build.encoding_fingerprint"
    )
    monkeypatch.setattr(at, lambda *_, **__: "before")
    assert "anew" not in call(*RUN, "--seeds", n)[1]
    assert "anew" not in call(*RUN, "--seeds", n)[1]  # nothing has changed
    monkeypatch.setattr(at, lambda *_, **__: "after")
    ending = "run %s is trained anew." if n == 1 else "runs %s are trained anew."
    text = call(*RUN, "--seeds", n)[1].splitlines()
    assert text[0] == f"{n} stored training {ending % sentence}"
    assert text[1].startswith(f"{n} cells trained")
    assert "anew" not in call(*RUN, "--seeds", n)[1]  # both versions are stored by now
    assert "anew" not in call(*RUN, "--seeds", n, "--epochs", 1)[1]  # another cell, never trained


def test_a_tuned_run_is_compared_whatever_tuning_had_chosen(capsys, tmp_path):
    cell = Settings("rotary", "patch", "A", encoding_source="old", dataset_source="s")
    now = replace(cell, encoding_source="new")
    best = replace(cell, learning_rate=0.003, tuned=tuning.TUNED)
    store = Store(tmp_path / "run.jsonl")
    store.append(finished(cell.tuned_as(best), {}, device="cpu", seconds=1.0))
    for groups, said in (([[now]], True), ([[cell]], False)):
        commands.print_changes(groups, store.path, tuned=True)
        out = capsys.readouterr().out
        expected = "1 stored training run with earlier code of the encoding rotary is trained anew."
        assert out.strip() == expected * said


def test_a_stored_version_is_not_said_to_have_changed_though_a_later_one_is_stored():
    stored = Stored([line(series="old"), line(series="new")])
    assert stored.change(line(series="old")["settings"], "none", "A") == Change()
    assert stored.change(line(series="third")["settings"], "none", "A") == Change(dataset="A")
    assert stored.change(line(code="b", series="x")["settings"], "none", "A") == ("none", "A")
