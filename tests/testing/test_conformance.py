"""The table of conformance: every encoding keeps its promises, and answers as is stored.

Where answers have changed and shall, `python tests/testing/test_conformance.py` stores them.
"""

import json

import pytest

from posenc import encodings
from posenc.testing import Finding
from posenc_book.atlas import conformance


@pytest.mark.parametrize("name", encodings.names("all"))
def test_an_encoding_keeps_its_promises_and_answers_as_is_stored(name):
    report = conformance.ask(name)
    assert report.passed, str(report)
    assert conformance.answers(report) == conformance.stored()[name]


def test_every_encoding_has_a_row():
    table = conformance.conformance_table()
    assert table.index.tolist() == encodings.names("all")
    assert table.columns.tolist() == [*conformance.COLUMNS, "promises kept"]


@pytest.mark.parametrize(
    ("outcome", "came", "word"),
    [
        ("held", "0", "yes"),
        ("measured", "yes, 0", "yes"),
        ("measured", "no, 2.5", "no"),
        ("broken", "2.5", "no"),
        ("cannot", "it turns no queries and keys", "–"),
        ("ignored", "0", "–"),
        ("measured", "yes, 0 (refused: ValueError)", "refused"),
        ("measured", "ValueError: positions must be whole numbers", "refused"),
    ],
)
def test_an_answer_is_one_word(outcome, came, word):
    assert conformance.answer(Finding("asked", outcome, came=came)) == word


if __name__ == "__main__":
    rows = []
    for name in encodings.names("all"):
        report = conformance.ask(name)
        report.raise_for_failures()
        answers = json.dumps(conformance.answers(report), ensure_ascii=False)
        rows.append(f' "{name}": {answers}')
    conformance.STORED.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
