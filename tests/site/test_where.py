"""What stands behind a number: what `make where` prints is what happens when it is computed."""

import re

import pytest
from sitefiles import ROOT

import fill
import where
from posenc_book.read import digests


@pytest.fixture(scope="module")
def known():
    return where.known()


def test_every_named_number_of_every_page_has_a_sentence_and_a_line_that_holds_it(known):
    printed = {one for path in fill.holders() for one, *_ in where.printed(path)}
    assert {".".join(one.split(".")[:2]) for one in printed} == set(known)
    for path in fill.holders():
        lines = path.read_text(encoding="utf-8").splitlines()
        for name, line, sentence in where.printed(path):
            assert name in lines[line - 1]
            assert sentence
            assert "<data" not in sentence


def test_a_number_is_followed_to_its_lines():
    seen = where.behind("first_page.statements.all")
    assert seen.value == fill.value("first_page.statements.all")
    assert [one.__name__ for one in seen.code][:1] == ["statements"]
    (line,) = (one for at, one in where.sentences("first_page.statements.all") if "README" in at)
    assert line.startswith(f"Of {seen.value} statements in four much-read sources ")


def test_the_files_are_those_that_were_opened(monkeypatch):
    path = ROOT / "results/shuffled.json"

    def opens():
        return {"a": str(len(path.read_text().splitlines())), "b": "2"}

    monkeypatch.setattr(fill, "functions", lambda module: {"lines": opens} if module == "m" else {})
    seen = where.behind("m.lines.a")
    assert seen.value == str(len(path.read_text().splitlines()))
    assert seen.files == [path]
    with pytest.raises(ValueError, match=r"^m\.lines\.c must end with one of a, b$"):
        where.behind("m.lines.c")


def test_a_record_is_named_with_the_digest_that_locks_it():
    text = where.record(ROOT / "results/second-Libras.jsonl")
    found = re.fullmatch(
        r"results/second-Libras\.jsonl  lines 1 to (\d+): (.+), locked by results/edition\.json",
        text,
    )
    assert f'"{found[2]}"' in (ROOT / "results/edition.json").read_text()
    whole = where.record(ROOT / "results/shuffled.json")
    assert digests.locks(ROOT / "results")["shuffled.json"]["digest"] in whole


@pytest.mark.parametrize("wrong", ["gains.long_set", "gain.long_sets"])
def test_a_wrong_name_gets_the_nearest_ones(wrong):
    with pytest.raises(SystemExit) as ended:
        where.main([wrong])
    assert "gains.long_sets" in str(ended.value)
    assert repr(wrong) in str(ended.value)
