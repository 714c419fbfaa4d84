"""The reference pages say what the docstrings say, and those say what a reader needs."""

import doctest
import importlib
import inspect
import re
import types
import typing
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
    "data",
    "bench",
    "study",
    "audit",
    "teaching",
)
PASSED_ON = {"BatchNorm", "LayerNorm", "NoNorm"}  # their arguments are those of torch's
NEVER_FAIL = {
    "Best",
    "Block",
    "Cache",
    "Cells",
    "Coefficient",
    "Comparison",
    "CorrelatedT",
    "Course",
    "Decides",
    "Decision",
    "Decoding",
    "Effect",
    "Encoding",
    "Engine",
    "Ensemble",
    "Equivalence",
    "Facts",
    "Files",
    "Friedman",
    "Gain",
    "Grid",
    "Hierarchical",
    "Interval",
    "Job",
    "Judged",
    "Kept",
    "Lab",
    "Listener",
    "Losses",
    "MixedModel",
    "Part",
    "Parts",
    "Places",
    "Power",
    "Prepared",
    "Printed",
    "Probabilities",
    "Published",
    "Quoted",
    "Ranking",
    "Return",
    "Scorecard",
    "Scores",
    "SeedBySeed",
    "Sequences",
    "SerialEngine",
    "Shown",
    "SignedRank",
    "Spec",
    "Spread",
    "Standing",
    "Steps",
    "Summary",
    "Task",
    "Term",
    "Text",
    "Tier",
    "Variant",
    "Verdict",
    "agree",
    "available_cores",
    "beside",
    "compared",
    "complete",
    "curves",
    "decides",
    "deciding",
    "device_name",
    "died",
    "every",
    "failed",
    "farthest",
    "files",
    "finished",
    "first_trials",
    "higher_mean",
    "how_many",
    "label",
    "label_of",
    "learned",
    "learning_rate",
    "members",
    "minirocket_settings",
    "named",
    "names",
    "of",
    "official_only",
    "options",
    "places",
    "plan",
    "recorded",
    "render",
    "said_p",
    "said_verdict",
    "said_points",
    "said_shown",
    "sign_flips",
    "smaller_spread",
    "some",
    "text",
    "tiers",
    "unique",
    "unit_of",
    "versions",
} | PASSED_ON
NO_EXAMPLE = {
    "bench.baselines.minirocket",  # numba compiles it for a minute
    "bench.fingerprints.main",  # writes to a file of the package
    "bench.fingerprints.register",  # computes all encodings, for seconds
    "bench.language.run",  # starts processes
    "data.DownloadError",  # only a host that fails raises it
}
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
    assert rooms - {"faithfulness", "tables", "experiments"} == api.ROOMS.keys() - {"mathematics"}


@pytest.mark.parametrize(("path", "name", "value"), members(*api.ROOMS))
def test_every_public_name_says_what_it_is(path, name, value):
    summary = (inspect.getdoc(value) or "").split("\n\n")[0]
    assert summary.endswith((".", ":", "?")), f"{path}.{name} has no sentence to begin with"
    assert value.__doc__ is not None


@pytest.mark.parametrize(("path", "name", "value"), members(*COMPLETE))
def test_every_part_of_a_docstring_is_there(path, name, value):
    parts = api.sections(inspect.getdoc(value) or "")
    assert ("Examples" in parts) != (f"{path}.{name}" in NO_EXAMPLE)
    is_error = inspect.isclass(value) and issubclass(value, BaseException)
    assert "Raises" in parts or is_error or name in NEVER_FAIL
    if not inspect.isclass(value):
        assert "Returns" in parts
    for argument in arguments(value):
        known = rf"^[\w, *]*\b{argument}\b|As for"
        assert name in PASSED_ON or re.search(known, parts["Parameters"], re.M), argument


def arguments(value):
    """Return what is passed: plain errors take a message, and nobody calls a protocol."""
    is_plain = inspect.isclass(value) and issubclass(value, (BaseException, Enum, tuple))
    is_protocol = inspect.isclass(value) and getattr(value, "_is_protocol", False)
    if is_protocol or (is_plain and "__init__" not in vars(value)):
        return []
    return list(inspect.signature(value).parameters)


@pytest.mark.parametrize("path", [path for room in api.ROOMS.values() for path in room.modules])
def test_every_name_of_all_has_an_entry(path):
    module = importlib.import_module(f"posenc.{path}")
    found = api.entries(module)
    assert set(getattr(module, "__all__", ())) <= set(found)
    for name, constant in api.constants(module).items():
        assert constant.value, f"{path}.{name} is assigned nowhere that the tool looks"
        assert constant.says.endswith((".", "?")), (
            f"{path}.{name} has no sentence below its assignment"
        )


def test_a_constant_has_an_entry_with_its_value():
    page = api.pages()["attention.md"]
    assert "DOORS = ('embed', 'rotate', 'bias', 'mix')" in page
    assert "#api-attention-doors-value" in page
    assert "The four doors" in page
    assert "TASKS = {'copy': ..., 'reverse': ..., " in api.pages()["data.md"]


def annotated(function):
    """Return the classes of posenc that stand in a signature's annotations."""
    function = inspect.unwrap(getattr(function, "fget", getattr(function, "__func__", function)))
    late = {}  # names that are imported for type checkers only
    while True:
        try:
            hints = typing.get_type_hints(function, localns=late)
        except NameError as error:
            named = (one for one in WITH_ENTRY if one.__name__ == error.name)
            late[error.name] = next(named, types.SimpleNamespace(DataFrame=object))
        else:
            return {one for hint in hints.values() for one in classes(hint)}


def classes(hint):
    if isinstance(hint, (list, tuple)):
        return {one for part in hint for one in classes(part)}
    if typing.get_args(hint):
        return classes(typing.get_args(hint))
    is_ours = inspect.isclass(hint) and hint.__module__.startswith("posenc")
    return {hint} if is_ours else set()


WITH_ENTRY = {one.values[2] for one in members(*api.ROOMS)}


@pytest.mark.parametrize(("path", "name", "value"), members(*api.ROOMS))
def test_every_class_of_a_signature_has_an_entry(path, name, value):
    functions = (
        [value.__init__, *api.methods(value).values()] if inspect.isclass(value) else [value]
    )
    for function in functions:
        without = [one.__qualname__ for one in annotated(function) if one not in WITH_ENTRY]
        assert not without, f"{path}.{name} speaks of what has no entry"


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
        "register",
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
