"""The reference pages say what the docstrings say, and those say what a reader needs."""

import doctest
import importlib
import inspect
import re
from enum import Enum
from pathlib import Path

import pytest
import yaml

import api
import posenc
import posenc_book

ROOT = Path(__file__).parents[2]
SOURCE = Path(posenc.__file__).parent
BOOK = Path(posenc_book.__path__[0])
# What readers depend on is told in full; elsewhere a sentence is enough.
COMPLETE = ("mathematics", "attention", "encodings", "models", "statistics")
PASSED_ON = {"BatchNorm", "LayerNorm", "NoNorm"}  # their arguments are those of torch's
BY_FORMULA = ("frequencies", "fourier", "rotation", "encodings")
WITHOUT_FORMULA = {
    "Added",
    "NoPosition",
    "get",
    "make",
    "names",
    "pairing_permutation",
    "register",
}


def modules(*rooms):
    """Return the modules of rooms, by what follows the package in their names."""
    return {path: module for room in rooms for path, module in api.ROOMS[room].imported().items()}


def members(*rooms):
    """Return path of the module, name and value of everything public in rooms."""
    return [
        (path, name, value)
        for path, module in modules(*rooms).items()
        for name, value in api.public(module).items()
    ]


ALL = members(*api.ROOMS)
WITH_ENTRY = {value for _, _, value in ALL}


def test_the_pages_are_those_of_the_code():
    assert api.stale() == [], "run `python tools/api.py`"


def test_a_page_that_is_not_wanted_any_more_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(api, "FOLDER", tmp_path / "api")
    monkeypatch.setattr(api, "pages", lambda: {"../api.md": "index", "models.md": "models"})
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "old.md").write_text("old")
    assert api.stale() == ["api.md", "models.md", "old.md"]
    assert api.main() == 0
    assert api.stale() == []


def test_every_page_is_in_the_book_and_every_room_has_one():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    last = toc["parts"][-1]["chapters"][-1]
    assert last["file"] == "book/api"
    assert [p["file"] for p in last["sections"]] == [f"book/api/{name}" for name in api.ROOMS]
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    of_the_library = {name for name, room in api.ROOMS.items() if room.house == "posenc"}
    assert rooms - {"faithfulness", "tables"} == of_the_library - {"mathematics"}


def says_what_it_is(value):
    """Say whether a name has a docstring of its own that begins with a sentence."""
    summary = (inspect.getdoc(value) or "").split("\n\n")[0]
    return value.__doc__ is not None and summary.endswith((".", ":", "?"))


def test_every_public_name_says_what_it_is():
    found = [f"{path}.{name}" for path, name, value in ALL if not says_what_it_is(value)]
    assert not found, "no sentence to begin with: " + ", ".join(found)


def lacking(name, value):
    """Yield the parts that a docstring should have and has not."""
    parts = api.sections(inspect.getdoc(value) or "")
    if "Returns" not in parts and not inspect.isclass(value):
        yield "Returns"
    for argument in arguments(value):
        known = rf"^[\w, *]*\b{argument}\b|As for"
        if name not in PASSED_ON and not re.search(known, parts.get("Parameters", ""), re.M):
            yield f"the parameter {argument}"


def test_every_part_of_a_docstring_is_there():
    found = [
        f"{path}.{name} lacks {part}"
        for path, name, value in [*members(*COMPLETE), *members("data")]
        for part in lacking(name, value)
        if path.split(".")[0] != "data" or path == "data"
    ]
    assert not found, "\n".join(found)


def arguments(value):
    """Return what is passed: plain errors take a message, and nobody calls a protocol."""
    is_plain = inspect.isclass(value) and issubclass(value, (BaseException, Enum, tuple))
    is_protocol = inspect.isclass(value) and getattr(value, "_is_protocol", False)
    if is_protocol or (is_plain and "__init__" not in vars(value)):
        return []
    return list(inspect.signature(value).parameters)


def test_every_name_of_all_has_an_entry():
    found = [
        f"{path}.{name}"
        for path, module in modules(*api.ROOMS).items()
        for name in set(getattr(module, "__all__", ())) - set(api.entries(module))
    ]
    assert not found, "no entry: " + ", ".join(found)


def test_every_constant_has_a_value_and_a_sentence():
    found = []
    for path, module in modules(*api.ROOMS).items():
        for name, constant in api.constants(module).items():
            if not constant.value:
                found.append(f"{path}.{name} is assigned nowhere that the tool looks")
            if not constant.says.endswith((".", "?")):
                found.append(f"{path}.{name} has no sentence below its assignment")
    assert not found, "\n".join(found)


def signatures(value):
    """Yield the signatures of a function, or of the constructor and the methods of a class."""
    is_class = inspect.isclass(value)
    for one in (value.__init__, *api.methods(value).values()) if is_class else (value,):
        function = getattr(one, "fget", getattr(one, "__func__", one))
        yield str(inspect.signature(inspect.unwrap(function)))


def test_every_class_of_a_signature_has_an_entry():
    files = [*SOURCE.rglob("*.py"), *BOOK.rglob("*.py")]
    ours = {n for p in files for n in re.findall(r"^class (\w+)", p.read_text("utf-8"), re.M)}
    without = ours - {value.__name__ for value in WITH_ENTRY}
    found = [
        f"{path}.{name} speaks of {one}"
        for path, name, value in ALL
        for signature in signatures(value)
        for one in without & set(re.findall(r"(?<!torch\.)\b\w+", signature))
    ]
    assert not found, "no entry for what they speak of: " + ", ".join(found)


def test_a_formula_has_a_source():
    source = re.compile(r"Source: |\b(19|20)\d\d\b|et al\.|Eq\. \d")
    found = [
        f"{path}.{name}"
        for path, name, value in members("mathematics", "encodings")
        if path.startswith(BY_FORMULA)
        and name not in WITHOUT_FORMULA
        and not source.search(inspect.getdoc(value))
    ]
    assert not found, "no source: " + ", ".join(found)


def modules_with_examples():
    files = sorted([*SOURCE.rglob("*.py"), *BOOK.rglob("*.py")])
    paths = [p for p in files if ">>> " in p.read_text(encoding="utf-8")]
    found = [p.relative_to(SOURCE.parent).with_suffix("").parts for p in paths]
    return [".".join(parts[:-1] if parts[-1] == "__init__" else parts) for parts in found]


@pytest.mark.parametrize("module", modules_with_examples())
def test_examples_give_what_they_say(module):
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried
    assert not failed
