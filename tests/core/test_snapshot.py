"""The net below moves of code sees a changed number, and lets names change."""

import snapshot

BEFORE = {"records": {"a.jsonl:1": "x"}, "readings": {"gaps.read.table": "y"}}


def test_a_function_may_move_and_its_value_may_not_change():
    moved = {"records": {"a.jsonl:1": "x"}, "readings": {"experiments.gaps.read.table": "y"}}
    assert snapshot.differences(BEFORE, moved) == []
    other = {"records": {"a.jsonl:1": "x"}, "readings": {"gaps.read.table": "z"}}
    assert snapshot.differences(BEFORE, other) == ["readings: gaps.read.table"]


def test_a_record_that_changes_goes_or_comes_is_named():
    now = {"records": {"a.jsonl:2": "x"}, "readings": {"gaps.read.table": "y"}}
    assert snapshot.differences(BEFORE, now) == ["records: a.jsonl:1", "records, new: a.jsonl:2"]


def test_names_of_classes_outside_the_registry_do_not_count_and_scores_do():
    def record(module, accuracy, key):
        settings = {"encoding": f"{module}:LoudDFT", "encoding_source": key}
        return {"encoding": f"{module}:LoudDFT", "settings": settings, "accuracy": accuracy}

    before = snapshot.digest(record("matched", 0.5, "a"))
    assert snapshot.digest(record("posenc_book.audit.matched", 0.5, "b")) == before
    assert snapshot.digest(record("matched", 0.25, "a")) != before
