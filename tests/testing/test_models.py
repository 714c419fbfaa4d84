"""What well-known attention answered, as `make checks` stored it."""

import json
import re
from pathlib import Path

import pytest

from posenc.testing import Promises
from posenc.testing.checks import EVERY

ROOT = Path(__file__).parents[2]
STORED = json.loads((ROOT / "results" / "checks.json").read_text(encoding="utf-8"))
ASKED = [*STORED["correct"], *STORED["found"]]
NAMES = {check.name for check in EVERY}


def broken(case):
    return {one["name"] for one in case["findings"] if one["outcome"] == "broken"}


def test_the_versions_are_those_that_are_pinned():
    pins = (ROOT / "peers" / "requirements.txt").read_text(encoding="utf-8")
    for package in ("transformers", "x-transformers"):
        assert re.search(rf"^{package}==(\S+)", pins, re.M)[1] == STORED["versions"][package]


@pytest.mark.parametrize("case", STORED["correct"], ids=lambda case: case["case"])
def test_correct_models_pass(case):
    assert case["passed"], broken(case)
    assert not case["who"]
    answered = {one["promise"] for one in case["findings"] if one["outcome"] == "held"}
    assert set(case["promised"]) <= answered


@pytest.mark.parametrize("case", STORED["found"], ids=lambda case: case["case"])
def test_whatever_fails_is_said_to_be_a_defect_or_a_design(case):
    assert broken(case) == set(case["who"])
    assert all(len(word) > 40 for word in case["who"].values())
    shown = [one for one in case["findings"] if one["outcome"] == "broken"]
    assert all(one["smallest"] and one["number"] > one["due"] for one in shown)


def test_the_candidates_are_found():
    found = {case["case"]: broken(case) for case in STORED["found"]}
    assert "the same input gives the same answer after another one" in found["dynamic NTK"]
    for name in ("GPT-OSS", "AfMoE", "GraniteMoeHybrid"):
        assert found[name] == {"packed documents equal documents alone"}
    assert not found["Mixtral"]
    assert found["Falcon with ALiBi"] == {"scores depend on the offset only"}
    changed = {one["case"]: one["change"] for one in STORED["options"]}
    assert changed["Olmo 3, YaRN's truncate"] == 0
    assert changed["Llama, YaRN's truncate"] > 0.1


def test_positions_that_are_ignored_are_said_and_not_passed():
    cases = {case["case"]: case for case in STORED["correct"]}
    for name in ("BLOOM", "MPT"):
        told = {one["name"]: one["outcome"] for one in cases[name]["findings"]}
        assert told["moving all tokens changes nothing"] == "ignored"


def test_what_is_stored_speaks_of_checks_and_promises_that_there_are():
    for case in ASKED:
        assert {one["name"] for one in case["findings"]} <= NAMES
        assert set(case["promised"]) <= set(Promises.__dataclass_fields__)
        assert case["as_expected"]
