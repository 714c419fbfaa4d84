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

ROOT = Path(__file__).parents[2]
SOURCE = Path(posenc.__file__).parent
COMPLETE = (
    "mathematics",
    "attention",
    "encodings",
    "models",
    "study",
    "audit",
    "teaching",
)
PASSED_ON = {"BatchNorm", "LayerNorm", "NoNorm"}  # their arguments are those of torch's
# modules whose bytes stored results are keyed by, so that their words cannot change either
KEYED_BY_BYTES = ("audit.published", "audit.decaying")
NEVER_FAIL = {
    "Cache",
    "Coefficient",
    "Comparison",
    "CorrelatedT",
    "Decides",
    "Decision",
    "Decoding",
    "Effect",
    "Equivalence",
    "Friedman",
    "Gain",
    "Grid",
    "Hierarchical",
    "Interval",
    "Lab",
    "Losses",
    "MixedModel",
    "Places",
    "Power",
    "Probabilities",
    "Published",
    "Quoted",
    "Ranking",
    "Return",
    "Scorecard",
    "Scores",
    "Shown",
    "SignTest",
    "SignedRank",
    "Spread",
    "Term",
    "Verdict",
    "compared",
    "curves",
    "decides",
    "deciding",
    "every",
    "higher_mean",
    "how_many",
    "learned",
    "names",
    "render",
    "sign_flips",
    "smaller_spread",
    "some",
    "text",
    "tiers",
    "unit_of",
} | PASSED_ON
BY_FORMULA = ("frequencies", "fourier", "rotation", "encodings")


def members(*rooms):
    paths = [path for room in rooms for path in api.ROOMS[room].modules]
    return [
        pytest.param(path, name, value, id=f"{path}.{name}")
        for path in paths
        for name, value in api.public(importlib.import_module(f"posenc.{path}")).items()
    ]


def test_the_pages_are_those_of_the_code():
    assert api.stale() == [], "run `python tools/api.py`"


def test_every_page_is_in_the_book_and_every_room_has_one():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    last = toc["parts"][-1]["chapters"][-1]
    assert last["file"] == "book/api"
    assert [p["file"] for p in last["sections"]] == [f"book/api/{name}" for name in api.ROOMS]
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert rooms - {"faithfulness", "tables"} == api.ROOMS.keys() - {"mathematics"}


@pytest.mark.parametrize(("path", "name", "value"), members(*api.ROOMS))
def test_every_public_name_says_what_it_is(path, name, value):
    summary = (inspect.getdoc(value) or "").split("\n\n")[0]
    assert summary.endswith((".", ":", "?")), f"{path}.{name} has no sentence to begin with"
    assert value.__doc__ is not None


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [member for member in members(*COMPLETE) if member.values[0] not in KEYED_BY_BYTES],
)
def test_every_part_of_a_docstring_is_there(path, name, value):  # noqa: ARG001
    parts = api.sections(inspect.getdoc(value))
    assert "Examples" in parts
    assert "Raises" in parts or name in NEVER_FAIL
    if inspect.isfunction(value):
        assert "Returns" in parts
    if issubclass(value, tuple | Enum) if inspect.isclass(value) else False:
        return
    for argument in inspect.signature(value).parameters:
        known = rf"^[\w, *]*\b{argument}\b|As for"
        assert name in PASSED_ON or re.search(known, parts["Parameters"], re.M), argument


@pytest.mark.parametrize(("path", "name", "value"), members("mathematics", "encodings"))
def test_a_formula_has_a_source(path, name, value):
    doc = inspect.getdoc(value)
    if path.startswith(BY_FORMULA) and name not in {
        "Added",
        "NoPosition",
        "get",
        "make",
        "names",
        "pairing_permutation",
    }:
        assert re.search(r"Source: |\b(19|20)\d\d\b|et al\.|Eq\. \d", doc), f"{path}.{name}"


def modules_with_examples():
    paths = [p for p in sorted(SOURCE.rglob("*.py")) if ">>> " in p.read_text(encoding="utf-8")]
    found = [p.relative_to(SOURCE.parent).with_suffix("").parts for p in paths]
    return [".".join(parts[:-1] if parts[-1] == "__init__" else parts) for parts in found]


@pytest.mark.parametrize("module", modules_with_examples())
def test_examples_give_what_they_say(module):
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert tried
    assert not failed


def test_signs_of_markdown_mean_themselves():
    assert api._prose("2*pi_k of `a_b` [x] $5") == r"2\*pi\_k of `a_b` \[x\] \$5"


def test_a_docstring_is_cut_by_its_headings():
    doc = "Return it.\n\nParameters\n----------\nx : int\n    A number.\n\nSource: A paper."
    assert api.sections(doc) == {
        "": "Return it.",
        "Parameters": "x : int\n    A number.",
        "Source": "A paper.",
    }
    assert api._entries("x, y : int\n    A number.") == "- `x`, `y`: int. A number."
