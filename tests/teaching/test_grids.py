import pytest
from bs4 import BeautifulSoup

from posenc.teaching.grids import Table


def test_a_table_has_a_head_for_each_column_and_a_name_for_each_row():
    table = Table({"a": [1, "x"], "b": [2, "y"]}, ["number", "letter"], "row")
    page = BeautifulSoup(table._repr_html_(), "html.parser")
    assert [th.get_text() for th in page.thead.find_all("th", scope="col")] == [
        "row",
        "number",
        "letter",
    ]
    rows = [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in page.tbody("tr")]
    assert rows == [["a", "1", "x"], ["b", "2", "y"]]
    assert [row.th["scope"] for row in page.tbody("tr")] == ["row", "row"]


def test_text_that_looks_like_markup_stays_text():
    page = BeautifulSoup(Table({"<b>": ["x < 1"]}, ["a & b"])._repr_html_(), "html.parser")
    assert page.find("b") is None
    assert [cell.get_text() for cell in page(["th", "td"])] == ["", "a & b", "<b>", "x < 1"]


def test_a_table_reads_well_without_a_page():
    assert repr(Table({"a": [1]}, ["number"], "row")) == "row | number\na | 1"


def test_a_row_of_another_length_is_named():
    with pytest.raises(ValueError, match=r"one cell for each of the 2 heads, got 1 in row 'a'"):
        Table({"a": [1]}, ["number", "letter"])
