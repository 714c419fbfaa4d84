"""The budgets of height are whole; the visit of each page in `test_browser.py` keeps them."""

import pytest
from sitefiles import ROOT

import heights


def test_a_chapter_without_a_budget_exists_and_has_a_reason():
    assert all((ROOT / "book" / f"{name}.ipynb").is_file() for name in heights.FREE)
    assert all(len(reason.split()) >= 3 for reason in heights.FREE.values())
    assert set(heights.BUDGET) <= set(heights.chapters())


@pytest.mark.parametrize(("tall", "status"), [(heights.MOST, 0), (heights.MOST + 1, 1)])
def test_the_check_fails_where_a_page_is_too_tall(monkeypatch, capsys, tall, status):
    monkeypatch.setattr(heights, "measure", lambda site, names: {"rotations": tall})
    monkeypatch.setattr("sys.argv", ["heights.py", "--check"])
    assert heights.main() == status
    assert ("over by 1" in capsys.readouterr().out) == bool(status)
