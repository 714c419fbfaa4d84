"""What a newer version of a paper says of a row's words: on small texts of our own, offline."""

import urllib.error

import pytest

from posenc_book.audit import versions
from posenc_book.audit.versions import PAPERS, Text, judge

OLD = """Waves are read slowly. In our experi-
ments seven waves were drawn on paper by hand. Large tables are easy to carry while remaining
cheap to print. A door opens twice. Nobody counts the windows of this house."""
NEW = """Waves are read slowly. In our experiments nine waves were drawn on paper by hand.
Large tables are easy to carry and stay cheap to print. A door opens twice."""


def row(words, **more):
    return {"id": "S1", "place": "section 1", "find": words, **more}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Waves are read slowly", "still there"),
        ("a “door” opens  twice", "still there"),  # quotes, case and spaces do not matter
        ("waves were drawn", "other sentence"),  # another number
        ("easy to carry while remaining", "reworded"),
        ("counts the windows", "gone"),
    ],
)
def test_words_are_there_in_another_sentence_reworded_or_gone(words, said):
    assert judge(row(words), Text(OLD), Text(NEW)).said == said


def test_both_sentences_are_shown():
    found = judge(row("easy to carry while remaining"), Text(OLD), Text(NEW))
    assert found.old.startswith("Large tables")
    assert found.new == "Large tables are easy to carry and stay cheap to print."


def test_a_sentence_that_stands_in_fewer_places_is_not_simply_still_there():
    twice = Text(OLD + "\n\nA door opens twice.")
    assert judge(row("door opens twice"), twice, Text(NEW)).said == "other sentence"


@pytest.mark.parametrize("more", [{"find": ""}, {"ours": "a reason"}, {"found": "formula"}])
def test_what_has_no_words_is_looked_at_by_hand(more):
    assert judge(row("door opens") | more, Text(OLD), Text(NEW)).said == "by hand"


@pytest.mark.parametrize(
    ("words", "where"), [("read slowly", 1), ("ave", 0), ("experiments seven", 1), ("", 0)]
)
def test_words_are_whole_and_may_be_hyphenated(words, where):
    assert len(Text(OLD).where(words)) == where


def test_without_an_old_text_words_stand_or_are_gone():
    assert judge(row("door opens twice"), None, Text(NEW)).said == "still there"
    assert judge(row("counts the windows"), None, Text(NEW)).said == "gone"


def test_a_page_is_read_without_scripts_and_the_second_notation_of_a_formula():
    page = "<html><head>Title</head><p>One<script>x=1</script> <math>d<annotation>\\d</annotation>"
    assert versions.from_html(page).split() == ["One", "d"]


def test_a_report_counts_and_doubts_a_paper_in_which_nothing_stands():
    told = versions.report([row("door opens"), row("the windows")], Text(OLD), Text(NEW))
    assert "     was: Nobody counts the windows of this house." in told
    assert told.endswith("1 still there, 1 gone")
    other = versions.report([row("door opens")] * 3, Text(OLD), Text("Quite another thing."))
    assert other.endswith("Is this the right paper, and all of it?")


def test_two_files_are_compared_without_a_network(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(versions, "fetch", None)
    monkeypatch.setattr(versions.ledger, "rows", lambda: [row("door opens twice", source="S")])
    filling = "\n\nThese are a few more words of no consequence." * 200
    old, new = tmp_path / "old.txt", tmp_path / "new.html"
    old.write_text(OLD + filling)
    new.write_text(f"<html><p>{NEW}{filling}</p></html>")
    assert versions.main(["--old", str(old), "--new", str(new)]) == 0
    assert "S1   still there" in capsys.readouterr().out


def no_network(*_, **__):
    raise urllib.error.URLError("no network")


def test_each_paper_has_rows():
    assert all(paper.rows() for paper in PAPERS.values())
    assert len(PAPERS["survey"].rows()) > 60


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--paper", "Yarn"], "--paper must be one of"),
        (["--new", "absent.html"], "absent.html: there is no such file"),
        (["--new", "short.txt"], "short.txt should hold a whole paper"),
        (["--new", "paper.pdf"], "paper.pdf: a PDF: turn it into text first"),
        (["--new", "v2"], "could not be reached (no network). Save the paper"),
        (["--ask"], "could not be reached (no network)"),
    ],
)
def test_an_error_says_what_to_do(arguments, problem, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(versions, "PAUSE", 0.0)
    monkeypatch.setattr(versions.urllib.request, "urlopen", no_network)
    (tmp_path / "short.txt").write_text("An abstract.")
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7 \xff\xfe")
    assert versions.main(arguments) == 2
    assert problem in capsys.readouterr().err
