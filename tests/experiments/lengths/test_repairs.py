"""What people would try first: the protocol, the readings of one model, and how pages read them."""

import numpy as np
import pytest
import torch

from posenc.encodings import NoPosition, Rotary
from posenc_book.bench.language import Clock
from posenc_book.read.lengths import read_repairs, repairs
from posenc_book.read.lengths import tasks as length_tasks
from posenc_book.read.lengths import train as lab
from posenc_book.records import records

TINY = {
    "d_model": 16, "n_heads": 2, "d_ff": 32, "steps": 4, "batch_size": 4, "trained": 5,
    "tested": (5, 9), "n_test": 20, "further_steps": 2,
}  # fmt: skip
ROTARY, HALF, THEN_NONE, NONE = repairs.ROWS


def tiny(task="recall", row=ROTARY, seed=0, **changes):
    return repairs.cell(task, row, seed, **{**TINY, **changes})


def test_the_protocol_is_the_one_that_was_frozen():
    """A change here makes another protocol: what is stored would have to be trained anew."""
    assert repairs.HASH == "ab132a9b25d7"


def test_every_cell_of_the_protocol_has_a_key_of_its_own():
    cells = [cell for group in repairs.protocol_cells().groups() for cell in group]
    assert len({cell.key for cell in cells}) == len(cells) == 2 * 4 * repairs.PROTOCOL["seeds"]
    assert {cell.protocol for cell in cells} == {repairs.HASH}
    assert tiny().protocol == ""
    again = repairs.RepairSettings(**cells[0].stored())
    assert again.key == cells[0].key


def positions(net):
    return [type(layer.attention.position) for layer in net.layers]


def test_layers_and_dimensions_go_without_position_where_they_should():
    assert positions(repairs.model(tiny())) == [Rotary, Rotary]
    assert positions(repairs.model(tiny(row=THEN_NONE))) == [Rotary, NoPosition]
    assert positions(repairs.model(tiny(), repairs.DROPPED)) == [NoPosition] * 2
    half = repairs.model(tiny(row=HALF)).position
    assert 2 * len(half.omega) == half.d_head // 2


def test_models_of_one_seed_start_alike():
    first = repairs.model(tiny()).state_dict()
    for row in (HALF, THEN_NONE, NONE):
        other = repairs.model(tiny(row=row)).state_dict()
        assert all(torch.equal(first[name], other[name]) for name in first)


def test_a_schedule_reaches_the_longest_test():
    cell = tiny()
    factor = length_tasks.task("recall").n_tokens(9) / length_tasks.task("recall").n_tokens(5)
    trained, linear = (repairs.model(cell, name) for name in (repairs.AS_TRAINED, "linear"))
    np.testing.assert_allclose(linear.position.omega * factor, trained.position.omega)


def test_a_cut_input_is_the_last_tokens_alone():
    """Against one forward pass for each answer."""
    cell, known = tiny("flip_flop"), length_tasks.task("flip_flop").n_tokens(5) - 1
    net = repairs.model(cell).eval()
    drawn = length_tasks.draw("flip_flop", n=20, length=9, split="test")
    tokens, answers = lab.tensors(drawn, "cpu")
    hits = []
    for row, place in torch.nonzero(answers).tolist():
        seen = tokens[row : row + 1, max(0, place + 1 - known) : place + 1]
        hits.append((net(seen)[0, -1].argmax() == tokens[row, place + 1]).item())
    found = repairs.cut_scores(cell, net, Clock(1000))
    assert found["token"]["9"] == pytest.approx(np.mean(hits))
    whole = lab.test_scores(cell, net, Clock(1000))
    assert found["token"]["5"] == whole["token"]["5"]


def test_all_readings_are_stored_and_equal_seeds_agree():
    one, same = (repairs.train([tiny()])[0]["readings"] for _ in range(2))
    assert one == same
    assert list(one) == [repairs.AS_TRAINED, *ROTARY.readings]
    assert one[repairs.DROPPED] == repairs.train([tiny()])[0]["readings"][repairs.DROPPED]
    assert list(repairs.train([tiny(row=NONE)])[0]["readings"]) == [repairs.AS_TRAINED]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"without": (2,)}, "without must hold layers below 2, got"),
        ({"readings": ("shut",)}, "readings must be one of cut"),
        ({"further_steps": 0}, "further_steps must be an integer of at least 1, got 0"),
        ({"further_rate": 0}, "further_rate must be a finite number above 0, got 0"),
    ],
)
def test_bad_settings_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        tiny(**changes)


# -- as pages read them ----------------------------------------------------------------------------


def record(task, row, seed, share, error=None):
    cell = repairs.cell(task, row, seed)
    if error:
        return records.failed(cell, error, device="cpu", seconds=1.0)
    token = dict(zip(map(str, cell.tested), (share, share - 0.2, share - 0.4), strict=True))
    read = {name: {"token": token} for name in (repairs.AS_TRAINED, *row.readings)}
    return records.finished(cell, {"readings": read}, device="cpu", seconds=1.0)


def everything(seed, share=1.0):
    return [record(task, row, seed, share) for task, row in repairs.places()]


def test_only_seeds_with_every_training_count():
    stored = [*everything(0), *everything(1, 0.9), *everything(2)[:-1]]
    found = read_repairs.load_tried(stored)
    assert found.seeds == (0, 1)
    assert found.at("recall", "rotary: cut", 40).mean == pytest.approx(0.75)
    assert str(found.at("recall", "none", 80)) == "55% (50 to 60)"
    assert found.beyond("flip_flop", "none").mean == pytest.approx((0.75 + 0.55) / 2)
    failed = [*everything(2)[:-1], record("recall", NONE, 2, 0, error="unfinished: 300 seconds")]
    assert read_repairs.load_tried([*everything(0), *failed]).seeds == (0,)
    assert read_repairs.load_tried([lab_record()]).seeds == ()


def lab_record():
    cell = lab.cell("copy", lab.FIRST[0], 0)
    return records.finished(cell, {"token": {}}, device="cpu", seconds=1.0)


def test_a_table_has_the_farthest_first_and_only_rows_with_a_name():
    stored = everything(0)
    for one in stored:
        if (one["dataset"], one["encoding"]) == ("recall", "none"):
            token = one["metrics"]["readings"][repairs.AS_TRAINED]["token"]
            token.update({"40": 1.0, "80": 1.0})
    found = read_repairs.load_tried(stored)
    rows = read_repairs.tried_rows(found, "recall", {"none": "no positions", "rotary": "RoPE"})
    assert list(rows) == ["no positions", "RoPE"]
    assert rows["no positions"]["length 80"] == "100% (1 seed)"
    assert rows["RoPE"] == {
        "length 20": "100% (1 seed)", "length 40": "80% (1 seed)", "length 80": "60% (1 seed)",
    }  # fmt: skip


def test_the_command_refuses_what_this_protocol_does_not_have(call):
    code, _, err = call("lab", "--repairs", "--tasks", "copy")
    assert code == 2
    assert "--repairs is a protocol without tiers" in err


def test_what_the_book_stores_has_every_row_of_whole_seeds():
    found = read_repairs.load_tried()
    assert found.seeds
    for task, row in repairs.places():
        for name in (row.label, *(f"{row.label}: {one}" for one in row.readings)):
            assert set(found.shares[task, name]) == set(found.seeds)
