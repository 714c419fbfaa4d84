"""The model of characters: its text, its protocol, what a context is worth, and the command."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from experiments.characters import topics
from experiments.characters import train as text
from experiments.characters.train import TextSettings, protocol_cells
from posenc_book.bench import local
from posenc_book.bench.language import Clock
from posenc_book.bench.train import TrainingError
from posenc_book.read import results
from posenc_book.read.characters.plan import HASH, LATER, LATER_HASHES, PROTOCOL
from posenc_book.records.store import Store

TINY = {
    "d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32, "steps": 6, "batch_size": 4,
    "trained": 16, "contexts": (16, 64), "n_windows": 20, "asked": 8,
    "tuning_steps": 2, "tuning_batch": 2,
}  # fmt: skip
LONG = Clock(1000)


def tiny(encoding="rotary", seed=0, **changes):
    return text.cell(encoding, seed, **{**TINY, **changes})


# -- the text --------------------------------------------------------------------------------------


def test_the_text_is_that_of_this_python_in_two_parts():
    found = topics.read_topics()
    assert found.symbols == tuple(sorted(found.symbols))
    assert 300_000 < len(found.train) < 450_000
    assert 60_000 < len(found.test) < 150_000
    shown = "".join(found.symbols[i] for i in found.train[:400])
    assert shown.startswith('The "assert" statement\n')
    part = found.test[:400].tobytes()
    assert part not in found.train.tobytes()


def test_every_fifth_topic_is_held_out_and_the_fingerprint_sees_a_change():
    ten = {name: f"{name * 3}\n" for name in "abcdefghij"}
    made = topics.of(ten, "3.0")
    words = ["".join(made.symbols[i] for i in part).split() for part in (made.train, made.test)]
    assert words == [[3 * c for c in "abdefgij"], ["ccc", "hhh"]]
    other = topics.of({**ten, "a": "aab"}, "3.0")
    assert made.fingerprint != other.fingerprint
    assert made.fingerprint == topics.of(ten, "4.0").fingerprint


# -- the protocol ----------------------------------------------------------------------------------


def test_a_later_schedule_changes_no_hash_and_nothing_but_the_schedule():
    (first,) = next(protocol_cells().groups())
    for schedule in LATER:
        (later,) = next(text.later_cells(schedule).groups())
        assert later.protocol == LATER_HASHES[schedule] != first.protocol
        assert later.schedules == (schedule,)
        same = {name: getattr(first, name) for name in ("schedules", "protocol", "most_seconds")}
        assert replace(later, **same) == first
        assert len(text.later_cells(schedule)) == 3
    with pytest.raises(ValueError, match="schedule must be one of llama3, longrope, got 'yarn'"):
        text.later_cells("yarn")


@pytest.fixture
def short_search(monkeypatch):
    few = {"population": 4, "rounds": 1, "parents": 2, "mutations": 1, "crossings": 1}
    for name, value in few.items():
        monkeypatch.setitem(LATER["longrope"]["search"], name, value)


@pytest.mark.usefixtures("short_search")
def test_longrope_stores_the_divisors_that_it_found():
    (found,) = text.train([tiny(schedules=("longrope",))])
    divisors = np.array(found["divisors"])
    assert divisors.shape == (tiny().d_model // tiny().n_heads // 2,)
    assert (np.diff(divisors) >= 0).all()
    assert 1 <= divisors[0] <= divisors[-1] <= 1.25 * max(tiny().contexts) / tiny().trained
    assert set(found["loss"]) == set(found["tuned_loss"]) == {"as trained", "longrope"}


@pytest.mark.usefixtures("short_search")
def test_divisors_are_searched_on_the_text_that_is_handed_over():
    cell = tiny(schedules=("longrope",))
    net = text.model(cell)
    one, again = (
        text.search(cell, net, topics.read_topics().train, Clock(600.0)) for _ in range(2)
    )
    assert one == again
    with pytest.raises(TrainingError, match="unfinished"):
        text.search(cell, net, topics.read_topics().train, Clock(0.0))


def test_cells_name_python_and_text_and_give_their_keys_back():
    cells = [cell for group in protocol_cells().groups() for cell in group]
    assert len(cells) == len(protocol_cells()) == 9
    assert {cell.dataset_source for cell in cells} == {topics.read_topics().fingerprint}
    stored = json.loads(json.dumps(cells[0].stored()))
    assert stored["dataset_options"]["python"] == topics.read_topics().python
    assert TextSettings(**stored).key == cells[0].key
    assert [c.schedules != () for c in cells[:3]] == [True, False, False]
    assert len(protocol_cells(["alibi"], 2)) == 2
    for arguments in ((["t5"],), (None, 4)):
        with pytest.raises(ValueError, match="must be"):
            protocol_cells(*arguments)


def test_schedules_stretch_to_the_longest_context_and_leave_the_weights():
    cell = tiny(schedules=(*PROTOCOL["schedules"], *LATER))
    plain = text.model(cell)
    divisors = np.linspace(1, 4, cell.d_model // cell.n_heads // 2)
    for schedule in cell.schedules:
        scaled = text.model(cell, schedule, divisors)
        scaled.load_state_dict(plain.state_dict())
        stretching = scaled.position.stretching
        assert stretching.scaling == schedule
        if schedule in ("dynamic_ntk", "longrope"):
            short = torch.zeros(1, 16, dtype=torch.long)
            torch.testing.assert_close(scaled(short), plain(short))
        else:
            assert stretching.factor == 4
        assert not np.allclose(stretching.at(64), plain.position.omega)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"contexts": ()}, "contexts must hold at least one length"),
        ({"contexts": (7,)}, "contexts must be an integer of at least 8, got 7"),
        ({"n_windows": 0}, "n_windows must be an integer of at least 1, got 0"),
        ({"tuning_rate": 0}, "tuning_rate must be a finite number above 0, got 0"),
    ],
)
def test_bad_settings_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        tiny(**changes)


# -- reading ---------------------------------------------------------------------------------------


class LooksBack(torch.nn.Module):
    """Is sure that the character `back` places before the next one comes again, if it sees it."""

    def __init__(self, back, n_symbols):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.back, self.n_symbols = back, n_symbols

    def forward(self, tokens):
        logits = torch.zeros(*tokens.shape, self.n_symbols)
        if tokens.shape[1] >= self.back:
            seen = tokens[:, : tokens.shape[1] - self.back + 1]
            one_hot = torch.nn.functional.one_hot(seen, self.n_symbols)
            logits[:, self.back - 1 :] = 50.0 * one_hot
        return logits


def test_a_context_is_worth_what_it_brings():
    """In a text of period 40, a model that looks back 40 places is blind in shorter contexts."""
    period = np.random.default_rng(0).integers(5, size=40)
    found = text.read_losses(
        tiny(contexts=(16, 48, 64)), LooksBack(40, 5), np.tile(period, 30), LONG
    )
    assert found["16"] == pytest.approx(math.log(5))
    assert found["48"] == pytest.approx(0, abs=1e-6)
    assert found["64"] == pytest.approx(0, abs=1e-6)


def test_every_context_predicts_the_same_characters():
    cell, letters = tiny(), np.arange(500) % 7
    whole = text.windows(cell, letters)
    assert whole.shape == (20, 65)
    assert whole[0].tolist() == letters[:65].tolist()
    assert whole[-1].tolist() == letters[-65:].tolist()
    with pytest.raises(ValueError, match="text must have more than 64 characters, got 64"):
        text.windows(cell, letters[:64])


def test_a_short_training_has_all_losses_and_can_be_repeated_even_with_dropout():
    cell = tiny(schedules=("linear", "yarn"), dropout=0.5)
    before = torch.random.get_rng_state()
    one, same = (text.train([cell])[0] for _ in range(2))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert one["train_loss"] == same["train_loss"]
    for kind in ("loss", "tuned_loss"):
        assert list(one[kind]) == ["as trained", "linear", "yarn"]
        assert all(set(found) == {"16", "64"} for found in one[kind].values())
        assert one[kind] == same[kind]
    assert one["loss"] != one["tuned_loss"]
    assert one["steps"] == 6
    assert list(text.train([tiny("none")])[0]["loss"]) == ["as trained"]


@pytest.mark.usefixtures("short_search")
def test_the_command_writes_records_and_goes_on(call, monkeypatch, tmp_path):
    changes = {k: v for k, v in TINY.items() if k in PROTOCOL}
    changes |= {
        "settings": {
            **PROTOCOL["settings"],
            **{k: TINY[k] for k in TINY if k in PROTOCOL["settings"]},
        }
    }
    changes |= {"tuning": {"steps": 2, "batch_size": 2, "learning_rate": 1e-3}}
    for name, value in changes.items():
        monkeypatch.setitem(PROTOCOL, name, value)
    monkeypatch.setattr(local, "LocalEngine", lambda _: local.SerialEngine())
    code, out, _ = call("--seeds", 1, "--out", "text.jsonl", "--device", "cpu")
    assert code == 0
    assert "3 cells trained, 0 of them failed or unfinished; 0 were there, 0 are left" in out
    records = list(Store(tmp_path / "text.jsonl"))
    assert [r["encoding"] for r in records] == ["rotary", "none", "alibi", "rotary", "rotary"]
    assert [r["protocol"] for r in records] == [HASH] * 3 + [*LATER_HASHES.values()]
    assert all(r["settings"]["dataset_options"]["python"] for r in records)
    code, out, _ = call("--seeds", 1, "--out", "text.jsonl")
    assert "0 cells trained, 0 of them failed or unfinished; 3 were there" in out
    assert "0 cells trained, 0 of them failed or unfinished; 1 were there" in out


def test_stored_settings_give_their_keys_back():
    for one in results.load_records("text"):
        assert TextSettings(**one["settings"]).key == one["key"]
