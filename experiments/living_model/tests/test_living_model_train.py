"""The text is frozen, a model is trained as the plan says, and pages have what was read."""

import json

import numpy as np
import pytest
import torch

from experiments.living_model import prose, train
from experiments.living_model.__main__ import main
from posenc_book.explorables import living
from posenc_book.read import living_model as read


def test_the_plan_and_the_text_are_frozen():
    text = prose.FILE.read_text(encoding="ascii")
    assert train.HASH == "3afe2383ca37"
    assert len(text) <= train.PLAN["letters"]
    assert set(text) == set(living.LETTERS)
    assert json.loads((read.results.folder() / read.FILE).read_text())["plan"] == train.HASH


def test_no_paragraph_is_both_learned_and_kept():
    learned, kept = (set(part.split("\n")) for part in prose.parts(train.PLAN["each"]))
    assert not learned & kept
    assert len(learned | kept) == len(set(prose.FILE.read_text().splitlines()))


def test_paragraphs_keep_words_and_lose_code_formulas_and_numbers(tmp_path):
    source = (
        "Alice's **score** is $q \\cdot k$, or 0.5 of [Bob's](x.ipynb), "
        "says `softmax`; and the rest of it is here to be long enough for a whole paragraph.\n\n"
        "```python\nwhile nobody reads this code it can be as long as it likes, a hundred letters\n"
        "and a few more of them, so that it would count\n```\n\nToo short.\n\n## A heading"
        "\n\nWhat stands behind a heading is left out, even if it has a hundred letters and more."
    )
    cells = [{"cell_type": "markdown", "source": [source]}, {"cell_type": "code", "source": ["x"]}]
    path = tmp_path / "page.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    (only,) = prose.paragraphs(path)
    assert only.startswith("alice's score is, or of bob's, says; and the rest")


def test_bytes_are_off_by_half_a_step_at_most():
    weights = {key: one.numpy() for key, one in living.untrained("rope").state_dict().items()}
    back = living.unpacked(living.packed("rope", weights))
    assert back.keys() == weights.keys()
    for key, one in weights.items():
        step = np.abs(one).max(1, keepdims=True) / 127 if one.ndim == 2 else 0
        assert (np.abs(one - back[key]) <= 0.5001 * step).all(), key


def test_a_training_writes_weights_and_readings(tmp_path, monkeypatch):
    monkeypatch.setitem(train.PLAN, "steps", 2)
    monkeypatch.setitem(train.PLAN, "windows", 3)
    monkeypatch.setattr(train.trained, "__defaults__", (2,))
    monkeypatch.setattr(train.windows, "__defaults__", (3,))
    out = tmp_path / "out.json"
    told = ["train", "--encodings", "alibi", "--out", str(out), "--scripts", str(tmp_path)]
    assert main(told) == 0
    stored = json.loads(out.read_text())["models"]["alibi"]
    slowings = [(one["slower"], one["start"]) for one in stored["in bytes"]]
    assert slowings == [(n, start) for n in (1, 2, 4, 8) for start in (0, 500)]
    assert all(len(one["nats"]) == 16 for one in stored["as trained"])
    assert living.unpacked((tmp_path / "living-alibi.js").read_text()).keys()


def test_surprise_is_the_mean_of_what_each_letter_costs():
    pieces = train.windows(living.numbers("the cat sat on the mat. " * 20), 2)
    model = living.load("rope")
    text = ["".join(living.LETTERS[i] for i in piece.tolist()) for piece in pieces]
    each = np.mean([living.surprises(model, one) for one in text], axis=0)
    assert train.surprise(model, pieces) == pytest.approx(each.reshape(16, 16).mean(1), abs=1e-4)


@pytest.mark.parametrize("name", train.PLAN["encodings"])
def test_the_weights_of_the_page_are_those_that_were_read(name):
    kept = living.numbers(prose.parts(train.PLAN["each"])[1])
    with torch.no_grad():
        nats = train.surprise(living.load(name), train.windows(kept))
    assert nats == pytest.approx(read.blocks(name), abs=2e-3)
