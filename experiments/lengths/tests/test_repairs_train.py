"""What people would try first: the cells of the protocol, and the readings of one model."""

import numpy as np
import pytest
import torch

from experiments.lengths import repairs
from experiments.lengths import train as lab
from posenc.encodings import NoPosition, Rotary
from posenc_book.bench.language import Clock
from posenc_book.data import tasks as length_tasks
from posenc_book.read.lengths.plan_repairs import AS_TRAINED, HASH, PROTOCOL, ROWS

TINY = {
    "d_model": 16, "n_heads": 2, "d_ff": 32, "steps": 4, "batch_size": 4, "trained": 5,
    "tested": (5, 9), "n_test": 20, "further_steps": 2,
}  # fmt: skip
ROTARY, HALF, THEN_NONE, NONE = ROWS


def tiny(task="recall", row=ROTARY, seed=0, **changes):
    return repairs.cell(task, row, seed, **{**TINY, **changes})


def test_every_cell_of_the_protocol_has_a_key_of_its_own():
    cells = [cell for group in repairs.protocol_cells().groups() for cell in group]
    assert len({cell.key for cell in cells}) == len(cells) == 2 * 4 * PROTOCOL["seeds"]
    assert {cell.protocol for cell in cells} == {HASH}
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
    trained, linear = (repairs.model(cell, name) for name in (AS_TRAINED, "linear"))
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
    assert list(one) == [AS_TRAINED, *ROTARY.readings]
    assert one[repairs.DROPPED] == repairs.train([tiny()])[0]["readings"][repairs.DROPPED]
    assert list(repairs.train([tiny(row=NONE)])[0]["readings"]) == [AS_TRAINED]


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
