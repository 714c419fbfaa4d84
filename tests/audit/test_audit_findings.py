"""The sentences of the first page: each with its number, each computed."""

import re

import pytest

from posenc.audit import findings, ledger
from posenc.study import peers

ALL = findings.findings()


@pytest.mark.parametrize("finding", ALL, ids=lambda one: one.page)
def test_a_finding_is_a_sentence_with_a_number_and_a_page(finding):
    assert re.search(r"\d", finding.text)
    assert finding.text.endswith(".")
    assert finding.title.endswith(".")
    assert finding.page.endswith((".ipynb", ".md"))


def test_the_counts_are_those_of_the_stored_tables():
    said = {one.page: one.text for one in ALL}
    of_four = [row for row in ledger.rows() if row["source"] in ledger.FOUR]
    assert f"Of {len(of_four)} checkable statements in four sources" in said["claims.md"]
    later = sum(row["source"] == "N" and not row.get("ours") for row in ledger.rows())
    assert f"Of {later} statements of the papers" in said["claims.md"]
    n_pairs = len(peers.load()["comparisons"])
    assert any(f"in {n_pairs} comparisons" in text for text in said.values())


def test_the_table_that_shrinks_is_the_stored_one():
    text = next(one.text for one in ALL if "wore off" in one.title)
    assert "1, 0.091, 0.0083, 0.00076" in text
