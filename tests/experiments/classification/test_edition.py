"""The edition is frozen: new trainings change no page until it is moved."""

import json
import re
from dataclasses import replace
from itertools import product

import pytest

from posenc_book.bench.tuning import TUNED
from posenc_book.read import imports
from posenc_book.read.classification import control, edition, edition2, families
from posenc_book.read.classification import protocol as protocols
from posenc_book.records import records
from posenc_book.records.settings import Settings

N = protocols.TRAINING["resamples"]
NOW = edition.Edition("2026-11", "2026-11-22", protocols.HASH, edition.ANALYSIS_HASH, {})


def trained(dataset, n_resamples=N, encodings=protocols.ENCODINGS):
    """Return the lines of a data set in patches."""
    cells = (
        Settings(e, "patch", dataset, seed=r, protocol=protocols.HASH, steps=10, tuned=TUNED)
        for e in encodings
        for r in range(n_resamples)
    )
    scores = {"accuracy": 1.0}  # a count, whatever the size of the test part
    return [json.dumps(records.finished(c, scores, device="cpu", seconds=1.0)) for c in cells]


def floor(dataset):
    line = {"dataset": dataset, "baseline": "largest_class", "resample": 0}
    return {**line, "metrics": {"accuracy": 0.2}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder of results of one's own, with one whole data set."""
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))
    monkeypatch.setattr(edition2, "load_baselines", lambda: [floor("Trace"), floor("Plane")])
    add(tmp_path, "Trace")
    return tmp_path


def add(folder, dataset, **options):
    text = "\n".join(trained(dataset, **options)) + "\n"
    (folder / f"second-{dataset}.jsonl").write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("folder")
def test_a_folder_without_an_edition_is_read_whole():
    assert edition.read_edition() is None
    assert edition.edition_name() == "all whole sets"
    assert edition2.load_grid("patch").datasets == ("Trace",)


@pytest.mark.parametrize("model", ["patch", "time_series"])
def test_versions_of_an_encoding_or_a_set_are_not_mixed(model):
    lines = [json.loads(line) for line in trained("Trace")]
    for line, name in product(lines[:1], ("encoding", "dataset")):
        settings = {**line["settings"], f"{name}_source": "another"}
        mixed = [*lines, {**line, "key": "0" * 32, "settings": settings}]
        if model == "patch":
            with pytest.raises(ValueError, match=f"several versions of {line[name]};"):
                edition.by_cell(mixed, model)
        else:
            assert edition.by_cell(mixed, model) == {}


def test_two_trainings_of_a_cell_are_named():
    first, *others = (json.loads(line) for line in trained("Trace"))
    again = {**first, "key": "0" * 32}
    with pytest.raises(ValueError, match="two of none on Trace with seed 0 differ"):
        edition.by_cell([first, *others, again], "patch")


def test_new_cells_change_nothing_until_the_edition_is_moved(folder):
    edition.write_edition(edition.make_edition("2026-11", "2026-11-22"))
    add(folder, "Plane")
    assert edition2.load_grid("patch").datasets == ("Trace",)
    assert edition2.load_grid("patch", every=True).datasets == ("Plane", "Trace")
    edition.write_edition(edition.make_edition("2026-12", "2026-12-01"))
    assert edition2.load_grid("patch").datasets == ("Plane", "Trace")
    assert (edition.read_edition().name, edition.read_edition().date) == ("2026-12", "2026-12-01")
    assert edition.edition_name() == "edition 2026-12"


def test_a_set_that_is_not_whole_does_not_enter(folder):
    add(folder, "Plane", n_resamples=N - 1)
    assert edition.make_edition("x", "y").sets == {"patch": ("Trace",)}


def test_sets_of_a_later_tier_enter_together(monkeypatch):
    steps = {*protocols.UP_TO_100}
    assert edition.entering("time_series", steps) == protocols.UP_TO_100
    almost = steps | {*protocols.UP_TO_275[1:]}
    assert edition.entering("time_series", almost) == protocols.UP_TO_100
    both = edition.entering("time_series", steps | {*protocols.UP_TO_275})
    assert both == protocols.UP_TO_100 + protocols.UP_TO_275
    for label in ("patch, large", "patch, other-norm", "time_series, others"):
        assert edition.entering(label, protocols.VARIED[1:]) == ()
        assert edition.entering(label, protocols.VARIED) == protocols.VARIED
    assert edition.entering("patch, others", protocols.DATASETS[1:]) == protocols.DATASETS[19:]
    assert edition.entering("patch, others", protocols.DATASETS[:-1]) == protocols.UP_TO_100
    nine = protocols.WITHOUT_GAPS
    assert edition.entering("patch, later", nine) == nine
    assert edition.entering("patch, later", nine[1:]) == ()
    unplanned = ("PenDigits", "Chinatown")
    control = "patch, window-statistics"
    assert edition.entering(control, (*unplanned, *nine[1:])) == unplanned
    assert {*edition.entering(control, (*unplanned, *nine))} == {*unplanned, *nine}
    monkeypatch.setattr(edition, "load_edition", lambda variant="", **_: [])
    assert edition.make_edition("x", "y").sets == {}


@pytest.fixture
def one_by_one(monkeypatch):
    """Let every whole set enter, as if each were all that is planned."""
    monkeypatch.setattr(edition, "entering", lambda _, there: there)


@pytest.mark.usefixtures("one_by_one")
@pytest.mark.parametrize("kind", ["others", "later"])
def test_sets_with_further_encodings_are_a_kind_of_their_own(folder, kind):
    further = families.FAMILIES[kind]
    add(folder, "Plane", encodings=(*protocols.ENCODINGS, *further))
    edition.write_edition(edition.make_edition("x", "y"))
    sets = {"patch": ("Plane", "Trace"), f"patch, {kind}": ("Plane",)}
    assert edition.read_edition().sets == sets
    assert edition2.load_grid("patch", encodings=("none", further[0])).datasets == ("Plane",)
    assert edition2.load_grid("patch", encodings=("none", "dft")).datasets == ("Plane", "Trace")


@pytest.mark.usefixtures("folder")
def test_an_edition_that_names_more_than_is_stored_says_what_is_lacking():
    edition.write_edition(replace(NOW, sets={"patch": ("Plane", "Trace")}))
    with pytest.raises(ValueError, match="training runs of Plane are lacking for patch"):
        edition2.load_grid("patch")


@pytest.mark.usefixtures("folder")
def test_an_edition_of_another_protocol_is_refused():
    edition.write_edition(replace(NOW, training="0" * 12))
    with pytest.raises(ValueError, match=re.escape(f"run {edition.COMMAND}")):
        edition.read_edition()


@pytest.mark.usefixtures("folder")
def test_a_model_without_any_set_is_named():
    edition.write_edition(edition.make_edition("x", "y"))
    with pytest.raises(ValueError, match="no data set is complete for model 'time_series'"):
        edition2.load_grid("time_series")


def test_the_share_counts_planned_sets():
    some = replace(NOW, sets={"time_series": ("PenDigits", "CricketX")})
    assert some.share("time_series") == f"1 of {len(protocols.UP_TO_100)}"
    assert some.share("patch") == f"0 of {len(protocols.DATASETS)}"
    begun = replace(NOW, sets={"time_series": ("Libras", "Plane")})
    assert begun.share("time_series") == "2 of 32"  # with the second tier, once it has begun


@pytest.mark.usefixtures("folder")
def test_the_command_writes_the_file_and_names_the_day(capsys):
    assert edition.main(["2027-01", "--dry-run"]) == 0
    assert edition.read_edition() is None
    assert edition.edition_name() == "all whole sets"
    assert edition.main(["2027-01"]) == 0
    assert edition.read_edition().name == "2027-01"
    assert "patch: Trace" in capsys.readouterr().out


def test_readers_are_found_through_imports(tmp_path):
    code = {
        "reads": "from posenc_book.read.classification import edition2",
        "through": "%pip install x\nfrom posenc_book.audit.survey import trained",
        "apart": "import numpy as np\nfrom posenc import frequencies",
    }
    for name, source in code.items():
        cell = {"cell_type": "code", "source": [source]}
        (tmp_path / f"{name}.ipynb").write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    assert imports.readers(tmp_path, edition.READER) == ["reads", "through"]


def test_the_books_edition_names_whole_sets_of_the_present_protocol():
    book = edition.read_edition()
    for label, names in book.sets.items():
        model, *more = label.split(", ")
        if more == [control.VARIANT]:
            assert [one.dataset for one in control.load_controlled(model)] == [*names]
            continue
        family = next((families.FAMILIES[one] for one in more if one in families.FAMILIES), ())
        variant = next((one for one in more if one in protocols.VARIANTS), "")
        assert {*more} <= {*families.FAMILIES, *protocols.VARIANTS}, "say here how it is loaded"
        if family or variant:
            of_kind = {"encodings": (*protocols.ENCODINGS, *family)} if family else {}
            assert edition2.load_grid(model, variant=variant, **of_kind).datasets == names
            continue
        assert edition2.load_grid(model).datasets == names
        assert set(names) <= set(edition2.load_grid(model, every=True).datasets)


@pytest.mark.parametrize("change", [{}, {"norm": "layer"}, {"d_model": 128}])
def test_variants_and_controls_are_no_plain_trainings(change):
    settings = {**protocols.TRAINING["settings"], **change}
    assert edition.is_plain({"settings": settings}) == (not change)
    assert not edition.is_plain({"settings": {**settings, "input_statistics": "winstat"}})


def test_a_cell_whose_trials_all_failed_does_not_count():
    lines = [json.loads(line) for line in trained("NATOPS")]
    untuned = [{**r, "settings": {**r["settings"], "tuned": ""}} for r in lines]
    assert len(edition.by_cell(lines, "patch")) == len(lines)
    assert edition.by_cell(untuned, "patch") == {}
