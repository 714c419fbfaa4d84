"""The capstone's examples: the task needs what is far away, and what is stored is what was run."""

import ast
import inspect
import json

import nbformat
import pytest
import torch
from sitefiles import ROOT

from posenc_book.capstone import stretching
from posenc_book.read import capstone as read

PAGE = nbformat.read(ROOT / "book" / "capstone.ipynb", as_version=4)


def dealt(length, n=400):
    return stretching.door_code(length)(torch.Generator().manual_seed(0), n)


@pytest.mark.parametrize("length", [32, 128])
def test_each_answer_is_the_code_that_was_told_last(length):
    for words, answers in zip(*(part.tolist() for part in dealt(length, 50)), strict=True):
        code = None
        for place, (word, answer) in enumerate(zip(words, answers, strict=True)):
            if word == stretching.TOLD:
                code = words[place + 1]
            assert (answer != -100) == (word == stretching.ASKED and place > 0)
            assert answer in (-100, code)
        assert answers[-1] == code
        assert words.count(stretching.TOLD) == 2


def test_who_reads_the_second_half_alone_can_only_guess():
    words, answers = dealt(128)
    assert not (words[:, 64:] == stretching.TOLD).any()
    codes = answers[:, -1]
    shown = torch.stack([(words[:, 64:] == digit).sum(1) for digit in range(2, stretching.WORDS)])
    commonest = shown.argmax(0) + 2
    assert (commonest == codes).float().mean() < 0.2
    assert torch.bincount(codes, minlength=stretching.WORDS)[2:].max() / len(codes) < 0.2


def test_the_page_deals_the_task_that_the_stored_seeds_had():
    (cell,) = [c for c in PAGE.cells if c.cell_type == "code" and "def door_code" in c.source]
    here = ast.parse(inspect.getsource(stretching.door_code)).body[0].body[-2:]
    there = ast.parse(cell.source).body[-1].body
    assert [ast.dump(node) for node in here] == [ast.dump(node) for node in there]
    assert "TOLD, ASKED, WORDS = 0, 1, 12" in cell.source
    assert (stretching.TOLD, stretching.ASKED, stretching.WORDS) == (0, 1, 12)


def test_a_seed_has_every_row_and_is_not_trained_again(monkeypatch, tmp_path):
    tiny = stretching.Size(length=12, d_model=16, steps=1, practice=1)
    monkeypatch.setitem(stretching.SIZES, "small", tiny)
    one = stretching.one_seed("small", 0)
    practised = [row + stretching.PRACTISED for row in stretching.READINGS]
    assert {*one["right"]} == {stretching.CUT, *stretching.READINGS, *practised}
    assert all(len(shares) == 3 for shares in one["right"].values())
    out = tmp_path / "mine.json"
    out.write_text(json.dumps({"small": {"0": one}}))
    monkeypatch.setattr(stretching, "one_seed", None)
    stretching.run("small", [0], out, workers=1)
    assert json.loads(out.read_text()) == {"small": {"0": one}}


def test_a_task_of_ones_own_is_stretched_and_stored_apart(monkeypatch, tmp_path):
    monkeypatch.setitem(stretching.SIZES, "small", stretching.Size(12, 16, steps=1, practice=1))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "latest_code.py").write_text(
        "from posenc_book.capstone.stretching import door_code as mine\nN_WORDS = 14\n"
    )
    (tmp_path / "wordless.py").write_text("def mine(length): ...\n")
    out, path = tmp_path / "mine.json", "latest_code:mine"
    one = stretching.one_seed("small", 0, path)
    out.write_text(json.dumps({"small": {}, f"small {path}": {"0": one}}))
    stretching.run("small", [0], out, 1, path)  # it is stored, and not trained again
    assert read.stretched(f"small {path}", out)["cut"].shape == (1, 3)
    with pytest.raises(ValueError, match="must say N_WORDS"):
        stretching.task_of("wordless:mine")


def test_what_is_stored_is_whole_and_fits_the_protocol():
    stored = read.load_capstone()
    rows = read.stretched()
    assert len({len(shares) for shares in rows.values()}) == 1
    assert len(rows["as trained"]) >= 2
    assert set(rows) == set(stored["small"]["0"]["right"])
    for name, splits in read.nearby().items():
        assert splits.shape == (5,), name
        assert ((splits > 0) & (splits <= 100)).all()


def test_the_story_of_the_page_holds_in_the_stored_seeds():
    far = {row: shares[:, -1] for row, shares in read.stretched().items()}
    assert far["as trained"].max() < 0.2
    assert far["cut"].max() < 0.2
    assert (far["YaRN"] > far["as trained"]).all()
    assert (far["YaRN, practised"] > far["YaRN"]).all()
    assert far["YaRN, practised"].mean() > far["as trained, practised"].mean()
