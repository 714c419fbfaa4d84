"""The trainings that ask why levels differ: their cells are those that are stored."""

from experiments.levels import __main__ as command
from experiments.levels import train
from posenc_book.read import results
from posenc_book.read.levels import read


def test_the_cells_are_those_that_are_stored():
    cells = [cell for group in train.protocol_cells().groups() for cell in group]
    assert {cell.key for cell in cells} == {line["key"] for line in results.load_records(read.FILE)}


def test_more_seeds_than_the_protocol_has_are_refused(capsys, tmp_path):
    assert command.main(["--seeds", "4", "--out", str(tmp_path / "levels.jsonl")]) == 2
    assert "seeds must be at most 3, got 4" in capsys.readouterr().err
