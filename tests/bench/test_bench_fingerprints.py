"""Fingerprints see changes of code and of what it computes, and nothing else."""

import importlib.util
import json
import linecache
import sys

import pytest

from posenc import encodings
from posenc_book.bench import build, fingerprints

SOURCE = '''
from posenc.attention import Position

STEP = 2


def shift(x):
    """Move."""
    return x + STEP


def twice(x):
    return 2 * x


KINDS = {"twice": twice}


class Mine(Position):
    """An encoding."""

    def embed(self, x):
        return shift(KINDS["twice"](x))  # by two
'''


def fingerprint(tmp_path, monkeypatch, source: str) -> str:
    # two versions within a second and alike in size
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "some_module.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("posenc.some_module", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "posenc.some_module", module)
    spec.loader.exec_module(module)
    linecache.clearcache()
    return fingerprints.of_code(module.Mine)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("An encoding.", "Another wording."),
        ("  # by two", ""),
        ("Move.", "Moves the tokens."),
        ("return x + STEP", "return   x+STEP"),
    ],
)
def test_words_and_layout_leave_it_alone(tmp_path, monkeypatch, old, new):
    before = fingerprint(tmp_path, monkeypatch, SOURCE)
    assert fingerprint(tmp_path, monkeypatch, SOURCE.replace(old, new)) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("STEP = 2", "STEP = 3"),
        ("x + STEP", "x - STEP"),
        ("return 2 * x", "return 3 * x"),  # reached through a dict
        ("return shift(KINDS", "return shift(x + KINDS"),
    ],
)
def test_a_change_of_code_changes_it_however_far_away(tmp_path, monkeypatch, old, new):
    before = fingerprint(tmp_path, monkeypatch, SOURCE)
    assert fingerprint(tmp_path, monkeypatch, SOURCE.replace(old, new)) != before


def test_every_encoding_of_the_book_is_registered_and_computes_what_its_version_did():
    listed = json.loads(fingerprints.FILE.read_text(encoding="utf-8"))
    for name in (*encodings.names("series"), *fingerprints.BY_CLASS):
        stored = fingerprints.of_name(name)
        version = {v["code"]: v for v in listed[name]}[stored]
        assert fingerprints.agree(fingerprints.probe(name), version["probe"]), name


def test_encodings_differ_in_probe_and_code():
    names = encodings.names("series")
    assert len({fingerprints.of_name(name) for name in names}) == len(names)
    probes = [fingerprints.probe(name) for name in ("none", "sinusoidal", "tape", "t5")]
    for i, one in enumerate(probes):
        assert not any(fingerprints.agree(one, other) for other in probes[i + 1 :])


def test_code_written_anew_that_computes_the_same_keeps_its_stored_name(tmp_path, monkeypatch):
    path = tmp_path / "known.json"
    fingerprints.register(path)
    code = fingerprints.of_code(encodings.get("tape"))
    monkeypatch.setattr(fingerprints, "of_code", lambda cls: f"new {cls.__name__}")
    fingerprints._read.cache_clear()
    news = fingerprints.register(path)
    assert f"tape: new TAPE computes what {code} did" in news
    fingerprints._read.cache_clear()
    assert fingerprints.of_name("tape", path) == code
    assert fingerprints.register(path) == []


def test_code_that_computes_something_else_gets_a_name_of_its_own(tmp_path, monkeypatch):
    path = tmp_path / "known.json"
    fingerprints.register(path)
    fingerprints._read.cache_clear()
    monkeypatch.setattr(fingerprints, "of_code", lambda cls: f"new {cls.__name__}")
    monkeypatch.setattr(fingerprints, "probe", lambda _: [1.0])
    assert "tape: new TAPE is new" in fingerprints.register(path)
    fingerprints._read.cache_clear()
    assert fingerprints.of_name("tape", path) == "new TAPE"


@pytest.mark.parametrize("name", fingerprints.BY_CLASS)
def test_classes_of_this_package_have_the_fingerprint_of_their_code_and_not_of_a_file(name):
    assert build.source_file(name) is None
    assert build.encoding_fingerprint(name) == fingerprints.of_name(name)


def test_an_f_string_is_one_piece_in_every_python():
    source = "x = f\"{a + b:>{w}} {{c}}\" + \"d\"  # why\ny = f'''{x}\n  z'''\n"
    pieces = [text for _, text in fingerprints._pieces(source)]
    assert pieces[:-1] == [*"x=", 'f"{a + b:>{w}} {{c}}"', "+", '"d"', *"y=", "f'''{x}\n  z'''"]
