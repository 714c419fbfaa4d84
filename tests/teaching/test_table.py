"""Tables that a cell returns: readable as text, and rendered with heads and a caption."""

import numpy as np
import pytest
from bs4 import BeautifulSoup

from posenc_book.teaching.table import Table

ROWS = {"slow <wave>": {"share": 0.12345, "positions": 47117}, "fast": {"share": 0, "positions": 6}}


def shown(table):
    return BeautifulSoup(table._repr_mimebundle_()["text/html"], "html.parser")


def test_a_table_is_readable_as_text():
    lines = str(Table(ROWS, head="wave", caption="Two waves.")).splitlines()
    assert lines[0] == "Two waves."
    assert lines[1].split() == ["wave", "share", "positions"]
    assert lines[2].split() == ["slow", "<wave>", "0.123", "47,117"]
    assert len({len(line) for line in lines[1:]}) == 1


def test_a_table_is_rendered_with_its_caption_and_the_heads_of_rows_and_columns():
    page = shown(Table(ROWS, head="wave", caption="Two waves."))
    assert page.caption.text == "Two waves."
    assert [th.text for th in page.find_all("th", scope="col")] == ["wave", "share", "positions"]
    assert [th.text for th in page.find_all("th", scope="row")] == ["slow <wave>", "fast"]
    assert [td.text for td in page.find_all("td")] == ["0.123", "47,117", "0", "6"]
    assert "dataframe" in page.table["class"]


def test_a_table_without_head_and_caption_has_no_empty_ones():
    page = shown(Table(ROWS))
    assert all(th.text for th in page.find_all("th"))
    assert page.caption is None
    assert not str(Table(ROWS)).startswith("\n")


def test_a_wide_table_is_named_in_plain_text():
    plain = Table(ROWS, wide=True)._repr_mimebundle_()["text/plain"]
    assert plain == "[table of 2 rows]"


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("as it is", "as it is"),
        (1_000_000, "1,000,000"),
        (np.int64(7), "7"),
        (np.float64(2.4567), "2.46"),
        (1234.5, "1,234"),
        (-1234.5, "-1,234"),
        (0.00012, "1.2e-04"),
        (0.0, "0"),
        (True, "yes"),
        (np.bool_(False), "no"),
    ],
)
def test_entries_are_short(entry, text):
    assert shown(Table({"row": {"column": entry}})).tbody.td.text == text


def test_rows_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match=r"row 'b' must have the columns \['x'\], got \['y'\]"):
        Table({"a": {"x": 1}, "b": {"y": 1}})
    with pytest.raises(ValueError, match="rows must hold at least one row"):
        Table({})
