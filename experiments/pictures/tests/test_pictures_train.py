"""Digits are dealt, shown and read as the plan says."""

import json

import pytest
import torch

from experiments.pictures import train
from experiments.pictures.__main__ import main
from posenc_book.read import pictures as read


def test_the_plans_are_frozen():
    assert [read.HASH, read.LATER_HASH] == ["e1f5312055c8", "ca9760b9a1ca"] == read.load()["plans"]


def test_a_seed_deals_all_digits_and_no_digit_twice():
    learned, _, tested, names = train.digits(3)
    assert len(tested) == len(names) == read.PLAN["test"]
    assert len({one.numpy().tobytes() for one in torch.cat([learned, tested])}) == 1797
    assert not torch.equal(tested, train.digits(4)[2])


def test_a_sheet_is_blank_but_for_the_digit():
    pictures = torch.arange(1.0, 65).reshape(1, 8, 8).repeat(40, 1, 1)
    for how, shape in {"wide": (8, 16), "sheet": (16, 16)}.items():
        sheets = train.shown(pictures, how, torch.Generator().manual_seed(0))
        assert sheets.shape == (40, *shape)
        for sheet in sheets:
            row, column = (sheet == 1).nonzero()[0]
            assert torch.equal(sheet[row : row + 8, column : column + 8], pictures[0])
            assert sheet.sum() == pictures[0].sum()
        assert len({one.numpy().tobytes() for one in sheets}) > 5


def test_an_enlarged_digit_covers_the_places_of_the_small_one():
    assert torch.equal(train.places_of(8, 8, "spread"), train.places_of(8, 8))
    spread = train.places_of(16, 16, "spread").reshape(16, 16, 2)
    pairs = spread.unflatten(0, (8, 2)).unflatten(2, (8, 2)).mean((1, 3))
    assert torch.equal(pairs.flatten(0, 1), train.places_of(8, 8))
    picture = torch.full((1, 8, 8), 0.5)
    assert torch.equal(
        train.shown(picture, "enlarged", torch.Generator()), torch.full((1, 16, 16), 0.5)
    )


@pytest.mark.parametrize("encoding", ["axial", "mixed", "sinusoid", "learned", "none"])
def test_what_a_model_is_told_is_what_its_name_says(encoding):
    torch.manual_seed(0)
    model, places = train.Classifier(encoding).eval(), train.places_of(8, 8)
    pictures = torch.rand(2, 8, 8)
    said = model(pictures, places)
    turned_over = model(pictures.flip(1), places)
    assert torch.allclose(said, turned_over, atol=1e-4) == (encoding == "none")
    moved = torch.allclose(said, model(pictures, places + torch.tensor([30, 7])), atol=1e-4)
    assert moved == (encoding != "sinusoid")  # a table is not asked where


def test_a_training_is_stored_and_not_made_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(train.COURSE, "steps", 2)
    out = tmp_path / "out.json"
    told = ["--encodings", "axial, shaken", "none", "--seeds", "1", "--out", str(out)]
    assert main(told) == 0
    stored = json.loads(out.read_text())
    assert [one["encoding"] for one in stored["runs"]] == ["none", "axial, shaken"]
    assert [one["right"].keys() for one in stored["runs"]] == [read.PLAN["readings"].keys()] * 2
    assert {name: (len(one), len(one[0])) for name, one in stored["shown"].items()} == {
        name: tuple(int(n) for n in name.split(",")[0].split(" x ")) for name in stored["shown"]
    }
    with monkeypatch.context() as patch:
        patch.setattr(train, "run", None)
        assert main(told) == 0
    assert json.loads(out.read_text()) == stored
    assert main([*told, "--later"]) == 0
    later = json.loads(out.read_text())["later"]
    assert [list(one["right"]) for one in later] == [list(read.LATER["readings"])] * 2
    with pytest.raises(SystemExit):
        main(["--encodings", "alibi"])
    assert "invalid choice: 'alibi'" in capsys.readouterr().err


def test_paper_that_is_hidden_changes_nothing_where_offsets_alone_count():
    for encoding, same in {"axial": True, "mixed": True, "none": True, "sinusoid": False}.items():
        torch.manual_seed(0)
        model, digits = train.Classifier(encoding).eval(), torch.rand(9, 8, 8)
        alone = model(digits, train.places_of(8, 8))
        sheets = train.shown(digits, "sheet", torch.Generator().manual_seed(0))
        paper = train.shown(torch.ones(9, 8, 8), "sheet", torch.Generator().manual_seed(0))
        found = model(sheets, train.places_of(16, 16), paper.flatten(1) > 0)
        assert torch.allclose(found, alone, atol=1e-4) == same
