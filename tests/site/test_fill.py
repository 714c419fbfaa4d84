"""Numbers in prose are those that the results give now, and words that rest on data still hold."""

import json
import os
import subprocess
import sys

import pytest
from sitefiles import ROOT

import fill
from posenc_book.audit import versions
from posenc_book.quantities import paper_versions

HOLDERS = [path.relative_to(ROOT).as_posix() for path in fill.holders()]


@pytest.mark.parametrize("page", HOLDERS)
def test_prose_says_what_the_results_say(page):
    assert fill.renew(ROOT / page, check=True) == []


def test_every_quantity_stands_somewhere():
    used = {name for page in HOLDERS for name in fill.names(ROOT / page)}
    known = {f"{module}.{one}" for module in fill.modules() for one in fill.functions(module)}
    assert known == {".".join(name.split(".")[:2]) for name in used}


ASKS_A_MODEL = {
    "living_model.nats",
    "living_model.size",
    "living_model.text",
    "others.alibi_alone_takes_mirror_images_for_one",
    "others.short_sets_make_thirteen_patches",
    "speed.all_others_decode",
    *(f"machines.{name}" for name in fill.functions("machines")),  # tables that benchmarks print
}
NUMBERS = """
import sys
import fill
for module in fill.modules():
    for name in fill.functions(module):
        if f"{module}.{name}" not in sys.argv:
            fill.computed(module, name)
        assert "torch" not in sys.modules, (module, name)
"""


@pytest.mark.slow
def test_numbers_of_pages_are_read_without_torch():
    """But for those that a model is asked for, which say so by being listed here."""
    known = {f"{module}.{name}" for module in fill.modules() for name in fill.functions(module)}
    assert known >= ASKS_A_MODEL
    run = subprocess.run(
        [sys.executable, "-c", NUMBERS, *ASKS_A_MODEL],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tools"), str(ROOT)])},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr[-2000:]


def test_every_row_of_the_survey_bears_one_mark():
    rows = [row["id"] for row in versions.PAPERS["survey"].rows()]
    marked = [one for names in paper_versions.SURVEY.values() for one in names]
    assert len(set(marked)) == len(marked)
    assert {*marked} <= {*rows}
    table = paper_versions.marks_of_the_survey().splitlines()[2:]
    assert sum(int(line.split(" | ")[1]) for line in table) == len(rows)


def test_what_a_release_was_is_not_filled_in_anew():
    sections = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1:]
    released = [one for one in sections if not one.startswith("Unreleased")]
    assert released
    assert [one.split(":")[0] for one in released if fill.NAMED.search(one)] == []


def known(name, *, condition=False):
    return name == "a.true" if condition else {"a.gain": "7.3", "a.few": "$+1.7$"}[name]


def test_a_stale_number_is_filled_in_and_named():
    text = 'It gains <data value="a.gain">7.1</data> points, <data value="a.few"></data> with few.'
    now = 'It gains <data value="a.gain">7.3</data> points, <data value="a.few">$+1.7$</data> with'
    assert fill.filled(text, known) == (
        f"{now} few.",
        ["a.gain is '7.3', not '7.1'", "a.few is '$+1.7$', not ''"],
    )
    assert fill.filled(f"{now} few.", known) == (f"{now} few.", [])


def test_a_table_is_filled_in_between_its_comments():
    rows = "| steps |\n|--:|\n| 8 |\n"
    page = "Text\n\n<!-- data a.table -->\n{}<!-- /data -->\n\n<!-- else -->\n| 7 |\n"
    new, messages = fill.filled(page.format("| 9 |\n"), lambda *_, **__: rows)
    assert (new, len(messages)) == (page.format(rows), 1)
    assert fill.filled(new, lambda *_, **__: rows) == (new, [])


def test_words_that_hold_no_longer_are_named_and_kept():
    text = (
        'So <data value="if:a.true">A is **ahead**</data>, <data value="if:a.false">B</data> too.'
    )
    assert fill.filled(text, known) == (text, ["a.false holds no longer, rewrite 'B'"])


@pytest.mark.parametrize(
    ("name", "condition", "message"),
    [
        ("nowhere.gain", False, "quantities/nowhere.py has no function 'gain'"),
        ("_read.grids", False, "quantities/_read.py has no function 'grids'"),
        ("windows.lowest_of_longer", True, "must be true or false, got '0.50'"),
    ],
)
def test_a_name_that_nothing_computes_is_refused(name, condition, message):
    with pytest.raises(fill.FillError, match=message):
        fill.value(name, condition=condition)


def test_a_file_is_filled_and_nothing_else_of_it_changes(tmp_path, monkeypatch):
    name = "windows.lowest_of_longer"
    monkeypatch.setattr(fill, "computed", lambda *_: "0.50")
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Ä\n", f'<data value="{name}">']},
        {"cell_type": "code", "metadata": {}, "source": [f'<data value="{name}">1</data>']},
    ]
    cells[0]["source"][1] += "0.4</data>."
    text = json.dumps({"cells": cells}, ensure_ascii=False, indent=1) + "\n"
    page = tmp_path / "page.ipynb"
    page.write_text(text, encoding="utf-8")
    stale = [f"page.ipynb: {name} is '0.50', not '0.4'"]
    assert fill.renew(page, check=True) == stale
    assert page.read_text(encoding="utf-8") == text
    assert fill.renew(page) == stale
    assert page.read_text(encoding="utf-8") == text.replace(">0.4<", ">0.50<")
    assert fill.renew(page) == []


def test_other_results_are_never_written_into_the_book(monkeypatch, tmp_path):
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))
    with pytest.raises(SystemExit, match="add --check"):
        fill.main([])
