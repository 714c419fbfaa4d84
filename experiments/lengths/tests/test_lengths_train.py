"""The length-generalisation lab: its protocol, its training, its tests, and the command."""

import numpy as np
import pytest
import torch

from experiments.lengths import repairs
from experiments.lengths import train as lab
from experiments.lengths.train import LabSettings, tier_cells
from posenc.encodings import RoVE
from posenc_book.bench import jobs, language, local
from posenc_book.bench.language import Clock
from posenc_book.bench.train import TrainingError
from posenc_book.data import tasks as length_tasks
from posenc_book.read import results
from posenc_book.read.lengths import plan_message
from posenc_book.read.lengths.plan import ENCODINGS, FIRST, HASH, PROTOCOL, Encoding, trainings
from posenc_book.records import labels
from posenc_book.records.store import Store

TINY = {
    "d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32, "steps": 6, "batch_size": 4,
    "trained": 5, "tested": (5, 9), "n_test": 20,
}  # fmt: skip
LONG = Clock(1000)


def tiny(task="copy", encoding=FIRST[2], seed=0, **changes):
    return lab.cell(task, encoding, seed, **{**TINY, **changes})


class Oracle(torch.nn.Module):
    """Predicts what follows in the sequences that it was shown, but for some columns."""

    def __init__(self, drawn, n_symbols, wrong=()):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.rows = iter(drawn.split(lab.CHUNK))
        self.n_symbols, self.wrong = n_symbols, wrong

    def forward(self, tokens, *, positions=None):
        assert positions is None
        whole = next(self.rows)
        assert torch.equal(whole[:, :-1], tokens)
        following = whole[:, 1:].clone()
        for row, column in self.wrong:
            following[row, column - 1] = (following[row, column - 1] + 1) % self.n_symbols
        return torch.nn.functional.one_hot(following, self.n_symbols).float()


def named(cell):
    return cell.dataset, labels.label(cell.encoding, cell.random_positions), cell.seed


# -- the protocol ----------------------------------------------------------------------------------


def test_tiers_have_the_announced_sizes_and_contain_each_other():
    keys = {}
    for tier, n in {1: 3 * 8 * 5, 2: 4 * 8 * 5, 3: 7 * 16 * 5, 4: 7 * 16 * 10}.items():
        cells = [cell for group in tier_cells(tier).groups() for cell in group]
        keys[tier] = {cell.key for cell in cells}
        assert len(cells) == len(tier_cells(tier)) == len(keys[tier]) == n
        assert {cell.protocol for cell in cells} == {HASH}
        assert [named(cell) for cell in cells] == trainings(tier)
    assert keys[1] | keys[2] < keys[3]
    assert not keys[1] & keys[2]


def test_the_third_plan_differs_from_the_first_in_its_encoding_alone():
    assert plan_message.PROTOCOL["all_else_as"] == HASH
    cells = [cell for (cell,) in lab.message_cells().groups()]
    assert len({cell.key for cell in cells}) == len(cells) == 4 * 10
    beside = {named(one): one.stored() for (one,) in tier_cells(4, encodings=["rotary"]).groups()}
    for cell in cells:
        rope, ours = beside[cell.dataset, "rotary", cell.seed], cell.stored()
        differing = {name for name in ours if ours[name] != rope[name]}
        assert differing == {"encoding", "encoding_source", "protocol"}
    assert cells[0].protocol == plan_message.HASH
    assert lab.message_cell("copy", plan_message.ENCODING, 0, steps=1).protocol == ""


def test_the_message_starts_from_the_weights_of_rope():
    ours, rope = (lab.model(tiny(encoding=one)) for one in (plan_message.ENCODING, FIRST[2]))
    assert all(map(torch.equal, ours.parameters(), rope.parameters()))
    assert [type(one.attention.position) for one in ours.layers] == [RoVE] * TINY["n_layers"]


def test_every_cell_can_be_built_and_serves_its_longest_test():
    """Tasks differ in length and vocabulary only: every encoding on the longest, one on each."""
    lengths = {task: length_tasks.task(task).n_tokens(100) for task in PROTOCOL["tasks"]}
    longest = max(lengths, key=lengths.get)
    assert lengths[longest] <= 304 < 512
    chosen = [(longest, encoding) for encoding in ENCODINGS]
    for task, encoding in [*chosen, *((task, FIRST[-1]) for task in lengths)]:
        net = lab.model(lab.cell(task, encoding, 0)).eval()
        with torch.no_grad():
            tokens = torch.zeros(1, lengths[task] - 1, dtype=torch.long)
            assert net(tokens).shape[1] == lengths[task] - 1
        assert (net.random_positions or 0) == 512 * encoding.random


def test_cells_come_seed_by_seed_and_can_be_narrowed():
    cells = tier_cells(1, ["parity", "copy"], ["t5", "sinusoidal, random places"], 2)
    found = [(c.seed, c.dataset, c.encoding, c.random_positions) for (c,) in cells.groups()]
    assert found == [
        (seed, task, *encoding)
        for seed in (0, 1)
        for task in ("copy", "parity")
        for encoding in (("t5", 0), ("sinusoidal", 512))
    ]
    for arguments, message in [
        ((5,), "tier must be one of 1, 2, 3, 4, got '5'"),
        ((1, ["reverse"]), "task must be one of copy, parity, addition, got 'reverse'"),
        ((1, None, ["cope"]), "encoding must be one of none"),
        ((1, None, None, 6), "seeds must be at most 5 in tier 1, got 6"),
    ]:
        with pytest.raises(ValueError, match=message):
            tier_cells(*arguments)


def test_a_changed_cell_is_of_no_protocol_and_has_another_key():
    assert tiny().protocol == ""
    cells = [tiny(), tiny(n_test=21), tiny(tested=(5,)), tiny(seed=1), tiny("reverse"),
             tiny(encoding=Encoding("rotary", random=True)), tiny(most_seconds=5)]  # fmt: skip
    assert len({cell.key for cell in cells}) == len(cells)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps must be an integer of at least 1, got 0"),
        ({"tested": ()}, "tested must hold at least one length"),
        ({"tested": (0,)}, "tested must be an integer of at least 1, got 0"),
        ({"trained": 0}, "trained must be an integer of at least 1, got 0"),
        ({"n_test": 0}, "n_test must be an integer of at least 1, got 0"),
        ({"most_seconds": 0}, "most_seconds must be a finite number above 0, got 0"),
    ],
)
def test_bad_settings_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        tiny(**changes)
    with pytest.raises(ValueError, match="task must be one of copy"):
        tiny("copying")


# -- training and tests ----------------------------------------------------------------------------


def test_scores_count_whole_answers_and_single_tokens():
    cell = tiny(tested=(9,))
    drawn = length_tasks.draw("copy", n=20, length=9, split="test")
    tokens, answers = lab.tensors(drawn, "cpu")
    assert answers.shape == (20, 19)
    assert answers.sum(1).tolist() == [9] * 20
    wrong = [(0, 12), (0, 13), (1, 19), (2, 3)]  # the last one is in the question
    found = lab.test_scores(cell, Oracle(tokens, 28, wrong), LONG)
    assert found["exact"]["9"] == pytest.approx(18 / 20)
    assert found["token"]["9"] == pytest.approx(1 - 3 / 180)
    assert lab.test_scores(cell, Oracle(tokens, 28), LONG)["exact"]["9"] == 1


def test_answers_may_stand_anywhere():
    drawn = length_tasks.draw("flip_flop", n=20, length=9, split="test")
    tokens, answers = lab.tensors(drawn, "cpu")
    assert torch.equal(answers, torch.from_numpy(drawn.answers[:, 1:]))
    found = lab.test_scores(tiny("flip_flop", tested=(9,)), Oracle(tokens, 6), LONG)
    assert found["exact"]["9"] == found["token"]["9"] == 1


def test_the_loss_is_that_of_the_answers():
    cell = tiny()
    net, (tokens, answers) = (
        lab.model(cell),
        lab.tensors(length_tasks.draw("copy", n=3, length=4), "cpu"),
    )
    logs = net(tokens[:, :-1]).log_softmax(-1)
    each = [-logs[b, t, tokens[b, t + 1]] for b in range(3) for t in range(5, 9)]
    assert answers[0].nonzero().flatten().tolist() == list(range(5, 9))
    torch.testing.assert_close(language._loss(net, tokens, answers), torch.stack(each).mean())


def test_a_tiny_model_learns_to_find_the_last_bit_written():
    changes = {"steps": 300, "batch_size": 16, "learning_rate": 3e-3, "tested": (5, 8)}
    changes |= {"n_layers": 2, "d_model": 32}
    (found,) = lab.train([tiny("flip_flop", Encoding("alibi"), **changes)])
    assert found["token"]["5"] > 0.9
    assert found["train_loss"][1] < 0.2 * found["train_loss"][0]
    assert found["steps"] == 300
    assert found["refusals"] == {}


def test_equal_seeds_give_equal_results_and_others_do_not():
    one, same, other = (lab.train([tiny(seed=seed)])[0] for seed in (0, 0, 1))
    drop = {"seconds_per_step"}
    assert {k: one[k] for k in one.keys() - drop} == {k: same[k] for k in same.keys() - drop}
    assert one["train_loss"] != other["train_loss"]


@pytest.mark.parametrize("name", ["sinusoidal", "learnable"])
def test_random_places_are_drawn_in_training_and_in_tests(name, monkeypatch):
    seen = []
    draw = lab.LanguageModel.draw_positions

    def spy(self, length, generator=None):
        seen.append((self.training, length))
        return draw(self, length, generator)

    monkeypatch.setattr(lab.LanguageModel, "draw_positions", spy)
    (found,) = lab.train([tiny(encoding=Encoding(name, random=True))])
    assert [is_training for is_training, _ in seen].count(True) == 6
    assert [length for is_training, length in seen if not is_training] == [11, 19]
    assert set(found["exact"]) == {"5", "9"}


def test_lengths_that_an_encoding_refuses_are_recorded_with_the_reason():
    cell = tiny(encoding=Encoding("learnable"))
    short = language.model(cell, len(length_tasks.task("copy").symbols), 12)
    found = lab.test_scores(cell, short, LONG)
    assert set(found["exact"]) == {"5"}
    assert "length must be at most max_length = 12" in found["refusals"]["9"]


def test_a_cell_whose_time_is_over_is_recorded_as_unfinished():
    (record,) = jobs.run(jobs.Job((tiny(most_seconds=1e-6),), "cpu", train=lab.train))
    assert record["error"].startswith("unfinished: 1e-06 seconds were over after 0 of 6 steps")
    assert record["metrics"] == {}
    assert record["key"] == tiny(most_seconds=1e-6).key


def test_a_loss_that_is_not_finite_fails(monkeypatch):
    monkeypatch.setattr(language, "_loss", lambda *_: torch.tensor(np.nan, requires_grad=True))
    (found,) = lab.train([tiny()])
    assert isinstance(found, TrainingError)
    assert str(found) == "the training loss became nan in step 1"


# -- the engine and the command --------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    """Make the protocol small, and run its cells in this process."""
    settings = {**PROTOCOL["settings"], **{k: TINY[k] for k in TINY if k in PROTOCOL["settings"]}}
    for name, value in {"settings": settings, "trained": 5, "tested": (5, 9), "n_test": 20}.items():
        monkeypatch.setitem(PROTOCOL, name, value)
    monkeypatch.setattr(local, "LocalEngine", lambda _: local.SerialEngine())


@pytest.mark.usefixtures("small")
def test_the_command_trains_what_is_missing_and_names_what_is_left(call, tmp_path):
    arguments = ["--tasks", "copy", "--encodings", "none", "t5", "--out", "made/lab.jsonl"]
    code, out, _ = call(*arguments, "--seeds", 1, "--device", "cpu")
    assert code == 0
    assert "2 cells trained, 0 of them failed or unfinished; 0 were there, 0 are left" in out
    records = list(Store(tmp_path / "made" / "lab.jsonl"))
    assert [language.named(r) for r in records] == ["copy, none, seed 0", "copy, t5, seed 0"]
    assert all(r["protocol"] == HASH for r in records)
    code, out, _ = call(*arguments, "--seeds", 2, "--seconds", 1e-9)
    assert code == 0
    assert "0 cells trained" in out
    code, out, _ = call(*arguments, "--seeds", 2)
    assert "2 cells trained, 0 of them failed or unfinished; 2 were there, 0 are left" in out


@pytest.mark.usefixtures("small")
def test_the_command_trains_the_message_by_its_own_plan(call, tmp_path):
    code, out, _ = call("--message", "--seeds", 1, "--out", "m.jsonl", "--device", "cpu")
    assert code == 0
    assert "4 cells trained, 0 of them failed or unfinished" in out
    records = list(Store(tmp_path / "m.jsonl"))
    tasks = plan_message.PROTOCOL["tasks"]
    assert [language.named(r) for r in records] == [f"{task}, rove, seed 0" for task in tasks]
    assert {r["protocol"] for r in records} == {plan_message.HASH}


@pytest.mark.usefixtures("small")
def test_the_command_names_unfinished_cells_and_tries_them_again_when_told(call, monkeypatch):
    arguments = ["--tasks", "copy", "--encodings", "none", "--seeds", 1, "--out", "lab.jsonl"]
    monkeypatch.setitem(PROTOCOL["settings"], "most_seconds", 1e-6)
    code, out, _ = call(*arguments)
    assert code == 1
    assert "copy, none, seed 0: unfinished: 1e-06 seconds were over" in out
    assert out.splitlines()[-1].startswith("to try them again: the same command with --retry-fail")
    code, out, _ = call(*arguments)
    assert "0 cells trained, 0 of them failed or unfinished; 1 were there" in out
    assert "copy, none, seed 0: unfinished" in out
    code, out, _ = call(*arguments, "--retry-failed")
    assert "1 cells trained, 1 of them failed or unfinished" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--repairs", "--tasks", "copy"], "--repairs is a protocol without tiers"),
        (["--message", "--tier", "2"], "--message is a protocol without tiers"),
        (["--message", "--repairs"], "--repairs and --message are two protocols"),
        (["--tier", "5"], "tier must be one of 1, 2, 3, 4"),
        (["--tasks", "coppy"], "task must be one of copy"),
        (["--out", "/dev/full"], "must be a regular file, is a device"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_trained(call, arguments, said):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert said in err


def test_stored_settings_give_their_keys_back():
    for one in results.load_records("lab"):
        kind = repairs.RepairSettings if one["protocol"] == repairs.HASH else LabSettings
        assert kind(**one["settings"]).key == one["key"]
