"""Tables with a column of words."""

import pytest

from posenc_book.teaching.words import WordTable

ROWS = {"a": {"n": 1200, "what": "x < y & z"}, "b": {"n": 3, "what": ""}}


def test_entries_are_escaped_and_numbers_have_separators():
    shown = WordTable(ROWS, head="set")._repr_mimebundle_()
    assert "<td>1,200</td><td>x &lt; y &amp; z</td>" in shown["text/html"]
    assert '<th scope="col">set</th>' in shown["text/html"]
    assert shown["text/plain"].splitlines() == [
        "set | n | what",
        "a | 1,200 | x < y & z",
        "b | 3 | ",
    ]


def test_a_stacked_table_carries_its_headings_into_every_row():
    shown = WordTable(ROWS, head="set", stacked=True)._repr_mimebundle_()["text/html"]
    assert shown.count('data-label="what"') == len(ROWS)
    assert "posenc-stacked" in shown
    assert "data-label" not in WordTable(ROWS)._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [({}, "at least one row"), ({"a": {"n": 1}, "b": {"m": 1}}, r"row 'b' must have \['n'\]")],
)
def test_rows_must_be_alike(rows, words):
    with pytest.raises(ValueError, match=words):
        WordTable(rows)
