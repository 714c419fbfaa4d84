"""Sets of graphs as text: whole ones are read, and of damaged ones the line is named."""

import numpy as np
import pytest

from posenc_book.data.errors import FileFormatError, MissingDataError
from posenc_book.data.graphs import NAMES, load_graphs, read_graphs

WHOLE = "2\n3 7\n0 1 1\n4 2 0 2\n0 1 1 0.5 0.25\n1 3\n2 0\n"


def written(folder, text):
    path = folder / "few.txt"
    path.write_text(text)
    return path


def test_tags_neighbours_and_classes_are_read_and_attributes_left_out(tmp_path):
    three, single = read_graphs(written(tmp_path, WHOLE))
    assert three.tags.tolist() == [0, 4, 0]
    assert np.array_equal(three.adjacency, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert (three.label, single.label) == (1, 0)
    assert len(single) == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2\n3 7", "many\n3 7", r"few\.txt, line 1: expected 1 whole numbers, got 'many'"),
        ("3 7", "3", "line 2: expected 2 whole numbers, got '3'"),
        ("4 2 0 2", "4 2 0", "line 4: expected tag, number of neighbours, neighbours"),
        ("4 2 0 2", "4 2 0 3", "line 4: expected tag, number of neighbours"),
        ("4 2 0 2", "4 1 0", "of the nodes 1 and 2 of a graph only one calls the other"),
        ("3 7", "0 7", "a graph of 0 nodes"),
        ("2 0\n", "", "got the end of the file"),
        ("2 0\n", "2 0\n1 1\n", "line 8: the first line announces 2 graphs, and there are more"),
    ],
)
def test_a_damaged_file_names_its_line(tmp_path, old, new, said):
    assert old in WHOLE
    with pytest.raises(FileFormatError, match=said):
        read_graphs(written(tmp_path, WHOLE.replace(old, new, 1)))


def test_an_empty_file_and_none_are_named(tmp_path):
    with pytest.raises(FileFormatError, match="announces 0 graphs, and there are none"):
        read_graphs(written(tmp_path, "0\n"))
    with pytest.raises(FileFormatError, match="no such file"):
        read_graphs(tmp_path / "gone.txt")


def test_a_set_is_found_in_the_folder_of_data_or_said_to_be_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("POSENC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("POSENC_OFFLINE", "1")
    monkeypatch.setenv("POSENC_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"MUTAG\.txt is not there: put it into the folder"):
        load_graphs("MUTAG")
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "MUTAG.txt").write_text(WHOLE)
    assert len(load_graphs("MUTAG")) == 2
    with pytest.raises(ValueError, match="name must be one of"):
        load_graphs("MUTAGS")


def test_the_three_sets_are_what_their_page_says(real, monkeypatch):
    monkeypatch.setenv("POSENC_DATA", str(real))
    counted = {"MUTAG": (188, 2), "PROTEINS": (1113, 2), "ENZYMES": (600, 6)}
    for name in NAMES:
        graphs = load_graphs(name)
        assert (len(graphs), len({one.label for one in graphs})) == counted[name]
