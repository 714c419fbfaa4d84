"""The mistakes that `tools/mutations.py` plants, each of which has a place and a test."""

import pytest
from sitefiles import ROOT

import mutations


@pytest.mark.parametrize("mistake", mutations.MISTAKES, ids=lambda one: one.what)
def test_each_mistake_changes_one_place_and_names_tests_that_are_there(mistake):
    assert mutations.planted(mistake, ROOT) != (ROOT / mistake.file).read_text(encoding="utf-8")
    for test in mistake.tests:
        path, _, name = test.partition("::")
        assert f"def {name or 'test_'}" in (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(("new", "survived"), [("3", False), ("2 + 0", True)])
def test_a_mistake_is_caught_or_survives_and_is_taken_back(tmp_path, new, survived):
    (tmp_path / "two.py").write_text("TWO = 2\n")
    (tmp_path / "test_two.py").write_text("import two\ndef test_two(): assert two.TWO == 2\n")
    mistake = mutations.Mistake("two is three", "two.py", "2", new, ["test_two.py"])
    assert mutations.survives(mistake, tmp_path) is survived
    assert (tmp_path / "two.py").read_text() == "TWO = 2\n"
    with pytest.raises(ValueError, match=r"two\.py must hold '4' once .* got it 0 times"):
        mutations.planted(mistake._replace(old="4"), tmp_path)
