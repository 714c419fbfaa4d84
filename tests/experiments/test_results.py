"""The book's stored results: whole, unmixed, and found wherever the package is."""

import importlib.util
import json
import random
import re
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from walking import each_passes

from posenc import encodings
from posenc_book import data
from posenc_book.bench import build, fingerprints, names, tuning
from posenc_book.bench.build import MODELS
from posenc_book.command_line import parser
from posenc_book.read import (
    capstone,
    checks,
    costs,
    digests,
    living_model,
    peers,
    pictures,
    results,
)
from posenc_book.read.classification import baselines, edition, edition2
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.graphs import read as graphs
from posenc_book.read.shuffled import read as shuffled
from posenc_book.records import records
from posenc_book.records.settings import Settings

ROOT = Path(__file__).parents[2]
NAMES = results.names()
OTHERS = ("probes", "lab", "text")  # lengths and language models: tests of their own
TRAINED = [name for name in NAMES if not name.startswith(OTHERS)]
CHOSEN = [name for name in NAMES if name.startswith("second-")]


@cache
def loaded(name):
    """Return the records of a file, which several tests walk over."""
    return results.load_records(name)


def of(names):
    """Yield the records of files, each with words that find it again."""
    for name in names:
        for record in loaded(name):
            yield f"{name}, {record['key']}", record


def test_every_line_of_every_file_is_a_record_with_a_key_of_its_own():
    def check(name):
        text = (results.folder() / f"{name}.jsonl").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines()]
        each_passes(records.check, ((f"line {n}", line) for n, line in enumerate(lines, 1)))
        assert len({line["key"] for line in lines}) == len(lines) > 0

    each_passes(check, zip(NAMES, NAMES, strict=True))


def test_keys_are_the_hashes_of_the_settings():
    def check(record):
        assert Settings(**record["settings"]).key == record["key"]

    each_passes(check, of(name for name in TRAINED if name not in CHOSEN))  # which are asked below


def test_all_results_are_what_was_locked():
    assert digests.check_all(results.folder()) == []


def flip(path, rng):
    """Change one digit of a file."""
    content = bytearray(path.read_bytes())
    place = rng.choice([i for i, byte in enumerate(content[:20_000]) if 48 <= byte <= 57])
    content[place] ^= 1
    path.write_bytes(content)


def test_a_flip_in_any_file_is_noticed(tmp_path):
    shutil.copytree(results.folder(), tmp_path, dirs_exist_ok=True)
    files = {str(path) for path in tmp_path.rglob("*.json*") if path.name != digests.LOCK}
    rng = random.Random(0)
    for path in sorted(files):
        flip(Path(path), rng)
    assert {fault.split()[0] for fault in digests.check_all(tmp_path)} == files


def test_a_file_that_is_new_gone_or_made_anew_is_told_and_locked(tmp_path, capsys):
    for name in (digests.FILE, "costs.json"):
        shutil.copy(results.folder() / name, tmp_path / name)
    lock, old = tmp_path / digests.LOCK, digests.locks(results.folder())["costs.json"]
    lock.write_text(json.dumps({"costs.json": old, "gone.json": old}))
    (tmp_path / "costs.json").write_text("{}")
    (tmp_path / "new.json").write_text("{}")
    told = "\n".join(digests.check_all(tmp_path))
    assert re.search(r"costs\.json must hold .* if `python benchmarks/costs\.py .* --lock", told)
    assert re.search(r"gone\.json must hold .* got no file", told)
    assert re.search(r"new\.json must be locked: .* --lock new\.json", told)
    folder = ["--folder", str(tmp_path), "--lock"]
    assert digests.main([*folder, "new.json"]) == 2
    assert "lock.json has (costs.json, gone.json), got 'new.json'" in capsys.readouterr().err
    lock.write_text(json.dumps({name: {"command": "x"} for name in ("new.json", digests.FILE)}))
    (tmp_path / "costs.json").unlink()
    assert digests.main([*folder, "new.json", digests.FILE]) == 0
    assert digests.locks(tmp_path)["new.json"].keys() == old.keys()
    assert digests.main(folder[:2]) == 0


def test_what_makes_each_file_is_there():
    for name, lock in digests.locks(results.folder()).items():
        first, *words = lock["command"].split()
        if first == "nothing,":  # it is frozen, and what made it is in the history
            there = True
        elif first == "posenc":
            there = words[1] in parser().format_help()
        elif first == "make":
            there = f"\n{words[0]}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
        elif words[0] == "-m":
            there = importlib.util.find_spec(words[1]) is not None
        else:
            there = (ROOT / words[0]).is_file()
        assert there, f"{name}: {lock['command']}"


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """Return a folder with the book's edition and one of its files."""
    for name in (digests.FILE, "second-Libras.jsonl"):
        shutil.copy(results.folder() / name, tmp_path / name)
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))
    return tmp_path


def change(path, old, new):
    """Change the first accuracy of a file that has a value, and return the number of its line."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    number = next(n for n, line in enumerate(lines, 1) if f'"accuracy":{old!r},' in line)
    lines[number - 1] = lines[number - 1].replace(f'"accuracy":{old!r},', f'"accuracy":{new!r},', 1)
    path.write_text("".join(lines), encoding="utf-8")
    return number


def test_a_changed_accuracy_is_refused_by_name_of_the_file(copied):
    path = copied / "second-Libras.jsonl"
    change(path, 148 / 180, 149 / 180)
    with pytest.raises(ValueError, match=rf"{path} must begin with the scores that edition 2026"):
        results.load_records("second-Libras")
    with pytest.raises(ValueError, match="a line was changed or taken away"):
        edition2.load_grid("patch")


def test_a_line_taken_away_is_refused_and_one_more_is_not(copied):
    path = copied / "second-Libras.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(ValueError, match=f"got {len(lines) - 1} lines"):
        results.load_records("second-Libras")
    path.write_bytes(b"".join([*lines, lines[0]]))
    assert len(results.load_records("second-Libras")) == len(lines)


def test_the_lock_holds_whatever_ends_a_line(copied):
    path = copied / "second-Libras.jsonl"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    digests.check(path, copied)


def test_the_command_locks_what_is_there_now(copied):
    path = copied / "second-Libras.jsonl"
    change(path, 148 / 180, 149 / 180)
    edition.write_edition(edition.make_edition("x", "2027-01-01"))
    assert results.load_records("second-Libras")
    assert edition.read_edition().scores == {"second-Libras": digests.digest(path)}


def test_an_accuracy_between_two_counts_is_refused_by_file_and_line(copied):
    path = copied / "second-Libras.jsonl"
    line = change(path, 148 / 180, 0.8222)
    with pytest.raises(
        ValueError,
        match=rf"{path}, line {line}: .*metrics.accuracy must be a multiple of 1/180, got 0.8222: "
        "148 of 180 right is 0.822222",
    ):
        results.load_records("second-Libras")


def test_a_record_without_a_fingerprint_is_counted_by_its_name(tmp_path, monkeypatch):
    name = "published-RacketSports.jsonl"
    shutil.copy(results.folder() / name, tmp_path / name)
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))
    first = results.load_records(name.removesuffix(".jsonl"))[0]["metrics"]["accuracy"]
    line = change(tmp_path / name, first, 0.7777)
    with pytest.raises(ValueError, match=rf"{name}, line {line}: .* of 1/152, got 0.7777"):
        results.load_records(name.removesuffix(".jsonl"))


def test_a_baseline_is_a_count_too(tmp_path, monkeypatch):
    (tmp_path / "baselines").mkdir()
    path = tmp_path / "baselines" / "baselines.jsonl"
    lines = (results.folder() / "baselines" / path.name).read_text("utf-8").splitlines(True)[:2]
    lines[1] = re.sub(r'"accuracy":[0-9.]+', '"accuracy":0.3334', lines[1])
    path.write_text("".join(lines), "utf-8")
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))
    with pytest.raises(ValueError, match=rf"{path}, line 2: .* a multiple of 1/150, got 0.3334"):
        baselines.load_baselines()


def test_the_control_of_the_re_enactments_holds_every_encoding_as_defined():
    found = results.load_records("published-control")
    assert {record["dataset"] for record in found} == {"RacketSports"}
    assert {record["settings"]["scale"] for record in found} == {"paper"}
    assert not any(record["settings"]["encoding_options"] for record in found)
    for model in MODELS:
        cells = {(r["encoding"], r["seed"]) for r in found if r["model"] == model}
        assert cells == {(e, seed) for e in encodings.names() for seed in range(5)}


def test_a_folder_of_ones_own_takes_the_place_of_the_books(tmp_path, monkeypatch):
    source = results.folder() / "published-control.jsonl"
    line = source.read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "mine.jsonl").write_text(line + "\n", encoding="utf-8")
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))
    assert results.names() == ["mine"]
    assert results.load_records("*") == [json.loads(line)]


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (capstone.load_capstone, r"capstone.*\.json is missing; python -m experiments\.capstone"),
        (checks.load_checks, r"must hold checks\.json.*make checks"),
        (costs.step_costs, r"costs\.json is missing; write it with: python bench"),
        (graphs.load, r"graphs\.json is missing; python -m experiments\.graphs"),
        (living_model.load, r"\.json is missing; python -m experiments\.living_model"),
        (peers.load_comparisons, r"peers\.json.*make peers"),
        (pictures.load, r"pictures\.json is missing; python -m experiments\.pictures"),
        (shuffled.load_shuffled, r"shuffled\.json is missing; python -m experiments\.shuffled"),
    ],
)
def test_a_missing_file_says_what_makes_it(tmp_path, monkeypatch, load, said):
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))
    with pytest.raises(ValueError, match=said):
        getattr(load, "__wrapped__", load)()  # and nothing that was read before


def test_errors_name_what_is_there(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"published-control.*got 'nothing'"):
        results.load_records("nothing")
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path / "absent"))
    with pytest.raises(ValueError, match=r"POSENC_RESULTS.*absent"):
        results.names()


def every_training():
    """Yield all records of results whose settings name an encoding's code."""
    for name in (*TRAINED, "probes"):
        yield from loaded(name)
    for folder in ("edition-3", "forecasting"):
        for path in (results.folder() / folder).glob("[!t]*.jsonl"):
            yield from results.read_records(path)


def test_encodings_outside_the_registry_are_still_those_that_were_measured():
    stored = {
        (r["encoding"], r["settings"]["encoding_source"])
        for r in every_training()
        if ":" in r["encoding"]
    }
    assert {name for name, _ in stored} == fingerprints.BY_CLASS.keys()
    assert {(name, build.encoding_fingerprint(name)) for name, _ in stored} == stored
    classes = {name: build.find_class(name) for name, _ in stored}
    assert {f"{cls.__module__}:{cls.__qualname__}" for cls in classes.values()} == {
        names.present(name) for name in classes
    }


SECOND = [name for name in NAMES if name.startswith(("second-", "tuning-"))]


def test_the_second_edition_follows_its_protocol():
    sources = {name: one["fingerprint"] for name, one in data.recorded()["sets"].items()}
    profiles = {"second": protocols.PROFILE, "tuning": tuning.PROFILE}
    fingerprint = cache(build.encoding_fingerprint)

    def check(named):
        name, record = named
        kind, dataset = name.split(",")[0].split("-")
        assert record["protocol"] == protocols.HASH
        assert record["dataset"] == dataset
        assert record["profile"] == profiles[kind]
        assert record["settings"]["encoding_source"] == fingerprint(record["encoding"])
        assert record["settings"]["dataset_source"] == sources[dataset]

    each_passes(check, ((name, (name, record)) for name, record in of(SECOND)))


@pytest.mark.parametrize("name", CHOSEN)
def test_every_cell_has_the_rate_and_scale_that_its_trials_chose(name):
    trials = {r["key"]: r for r in loaded(name.replace("second", "tuning"))}
    chosen = {}
    for record in loaded(name):
        cell = Settings(**record["settings"])
        assert cell.key == record["key"]
        key = (cell.model, cell.encoding)
        chosen.setdefault(key, set()).add((cell.learning_rate, cell.scale))
        plain = replace(cell, scale="paper", tuned="")
        best = tuning.tuned(plain, trials)
        assert (best.learning_rate, best.scale) == (cell.learning_rate, cell.scale)
    assert all(len(one) == 1 for one in chosen.values())
