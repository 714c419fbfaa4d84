"""What a line of results holds wrongly is named: file, line, field, value, and what is right."""

import json
from hashlib import sha256

import pytest

from posenc_book.read import results
from posenc_book.records import records, values
from posenc_book.records.store import Store, merge

WRONG = [
    ("metrics.accuracy", 7.5, "a number from 0 to 1", "7.5"),
    ("metrics.accuracy", True, "a number from 0 to 1", "True"),
    ("metrics.validation_accuracy", [0.5], "a number from 0 to 1", r"\[0.5\]"),
    ("metrics.steps", "many", "an integer of at least 0", "'many'"),
    ("metrics.parameters", -1, "an integer of at least 0", "-1"),
    ("metrics.parameters", 10**30, r"an integer of at least 0, below 2\*\*63", "1000"),
    ("metrics.warm_peak_memory", -1, "an integer of at least 0, .* or null", "-1"),
    ("metrics.seconds_per_step", -1.0, "a finite number of at least 0", "-1.0"),
    ("metrics.train_loss", [0.7, None], "a list of finite numbers", r"\[0.7, None\]"),
    ("metrics.validation_curve", [0.5, 2], "a list of numbers from 0 to 1", r"\[0.5, 2\]"),
    ("settings.d_model", 0, "an integer of at least 1", "0"),
    ("settings.dropout", 1.0, "a number from 0 to below 1", "1.0"),
    ("settings.dataset_options", "n=4", "an object", "'n=4'"),
    ("settings.scale", 1, "a text", "1"),
    ("seconds", float("nan"), "a finite number of at least 0", "nan"),
    ("seed", -1, "an integer of at least 0", "-1"),
    ("error", ["no", "memory"], "a text", r"\['no', 'memory'\]"),
    ("seed", "0", "an integer", "'0'"),
    ("metrics", [], "an object", r"\[\]"),
    ("seconds", "long", "a number", "'long'"),
    ("key", "xyz", "32 hexadecimal digits", "'xyz'"),
    ("versions.torch", 3, "a text", "3"),
    ("seed", 5, "0 as in settings", "5"),
    ("encoding", "dft", "'none' as in settings", "'dft'"),
    ("resample", 2, "0 as in settings", "2"),
    ("protocol", "x", "'' as in settings", "'x'"),
    ("key", "0f" * 16, "the hash [0-9a-f]+ of settings", "'0f0f0f"),
]


@pytest.fixture
def record(cell):
    metrics = {
        "accuracy": 0.5,
        "parameters": 10,
        "seconds_per_step": 0.01,
        "warm_peak_memory": None,
        "validation_loss": None,
    }
    return records.finished(cell(), metrics, device="cpu", seconds=1.0)


def changed(record, field, value):
    """Return the record with another value at a field such as "metrics.accuracy"."""
    inner, _, name = field.rpartition(".")
    return record | ({inner: record[inner] | {name: value}} if inner else {name: value})


@pytest.mark.parametrize(("field", "value", "right", "shown"), WRONG)
def test_a_value_of_the_wrong_kind_is_named_with_its_field(record, field, value, right, shown):
    wrong = changed(record, field, value)
    with pytest.raises(ValueError, match=rf"^{field} must be {right}.*, got {shown}"):
        records.check(wrong)


@pytest.mark.parametrize("command", ["status", "report"])
@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize(("field", "value"), [("metrics.steps", "many"), ("metrics.accuracy", 7.5)])
def test_commands_name_file_and_line(call, record, tmp_path, command, end, field, value):
    file = tmp_path / "run.jsonl"
    lines = [json.dumps(record), json.dumps(changed(record, field, value))]
    file.write_text("\n".join(lines) + end)
    code, _, err = call(command, file)
    assert code == 2
    assert f"{file}, line 2: not a record of the benchmark ({field} must be " in err
    assert f"got {value!r}); remove or mend that line" in err
    assert len(err.splitlines()) == 1


def test_a_whole_last_line_that_is_wrong_is_never_cut_off(record, tmp_path):
    file, wrong = tmp_path / "run.jsonl", json.dumps(changed(record, "metrics.accuracy", 7.5))
    file.write_text(wrong)
    Store(file).append(record)
    assert file.read_text().splitlines()[0] == wrong
    with pytest.raises(ValueError, match=r"run\.jsonl, line 1: .*metrics\.accuracy"):
        list(Store(file))


def keyed(record):
    """Return a record with the key of its settings."""
    text = json.dumps(record["settings"], sort_keys=True, separators=(",", ":"))
    return record | {"key": sha256(text.encode()).hexdigest()[:32]}


def test_other_metrics_and_settings_and_failures_are_let_through(record, cell):
    more = {"exact": {"20": 0.5}, "later_32": None, "text": "long", "correct": [1, 0]}
    assert records.check(record | {"metrics": record["metrics"] | more})
    assert records.check(keyed(changed(record, "settings.test_lengths", [32, 64])))
    assert records.check(
        keyed(changed(record, "settings.learning_rate", 1))
    )  # an integer is a number
    assert records.check(records.failed(cell(), "no memory", device="cpu", seconds=0.0))


def test_another_metric_that_is_no_number_is_named_by_the_report(call, record, tmp_path):
    Store(tmp_path / "run.jsonl").append(changed(record, "metrics.later_32", "good"))
    code, _, err = call("report", "run.jsonl", "--metric", "later_32")
    assert code == 2
    assert "metric later_32 must be a finite number in every record, got 'good'" in err
    assert f"in the one with key {record['key']}" in err


def test_every_rule_is_met_by_some_stored_record_and_by_all():
    met = {"metrics": set(), "settings": set()}
    n_read = 0
    for name in results.names():
        for stored in Store(results.folder() / f"{name}.jsonl"):
            n_read += 1
            for place, names in met.items():
                names.update(stored[place])
    assert n_read > 6000
    younger = {values.WARM_PEAK, "n_train"}  # than what is stored
    assert values.METRICS.keys() - met["metrics"] <= younger
    unmet = {"norm", "patience_steps", "check_every"}  # at what they always were
    assert values.SETTINGS.keys() - met["settings"] <= unmet


def test_merge_names_the_source_of_a_wrong_line(record, tmp_path):
    source = tmp_path / "there.jsonl"
    source.write_text(json.dumps(changed(record, "settings.epochs", 1.5)) + "\n")
    with pytest.raises(ValueError, match=r"there\.jsonl, line 1: .*settings\.epochs must be"):
        merge([source], tmp_path / "here.jsonl")
