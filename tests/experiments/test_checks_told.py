"""What the page on the checker tells of well-known models."""

import pytest

from posenc_book.read import checks

STORED = checks.load_checks()


def test_each_model_is_told_once_as_passed_or_as_found():
    table, told = checks.passed(), checks.found()
    for case in (*STORED["correct"], *STORED["found"]):
        name = case["case"].removeprefix(f"{case['package']}, ")
        assert (name in table) == case["passed"] or name in told
        assert (f"**{name}**" in told) == bool(case["who"])


def test_each_word_on_who_is_right_is_told_once_for_its_model():
    told = checks.found()
    for case in STORED["found"]:
        for question, word in case["who"].items():
            assert question in told
            assert word in told


def test_a_folder_without_them_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("POSENC_RESULTS", str(tmp_path))
    with pytest.raises(ValueError, match=r"must hold checks\.json.*make checks"):
        checks.load_checks()
