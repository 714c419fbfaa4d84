"""The message is planned: its sets, its arms, and its tuning on several deals."""

import os
from copy import deepcopy
from dataclasses import replace

import pytest
import torch

from experiments.message import __main__ as command
from experiments.message import planned, train
from experiments.message.arms import Before, ShawValues
from posenc import attention, encodings
from posenc_book.bench import local
from posenc_book.read.message import CONTRASTS, HASH, LATER, LATER_HASH, PARTS, PLAN
from posenc_book.records import records
from posenc_book.records.store import Store

needs_sets = pytest.mark.skipif(not os.environ.get("POSENC_DATA"), reason="needs the sets")
SIZES = 8, 2, 7


def test_both_plans_are_frozen():
    assert (HASH, LATER["after"], LATER_HASH) == ("d7803f8422dc", HASH, "5d08ad5004bf")


def test_stored_lines_choose_the_sets_and_scores_and_seconds_nothing(monkeypatch):
    chosen, other = planned.choose(planned.of_the_sinusoid()), deepcopy(planned.trainings())
    assert [(name, [*one]) for name, one in chosen.items()] == [*PLAN["sets"].items()]
    for i, one in enumerate(one for some in other.values() for of in some.values() for one in of):
        one["metrics"]["accuracy"], one["seconds"] = (i % 97) / 97, float(i % 89)
    monkeypatch.setattr(planned, "trainings", lambda: other)
    assert planned.choose(planned.of_the_sinusoid()) == chosen


def test_little_room_and_a_smaller_relative_leave_a_set_out():
    stored = {"CBF": (0.95, 900), "WordSynonyms": (0.6, 638), "FiftyWords": (0.6, 455)}
    some = {name: planned.Stored(*one) for name, one in stored.items()}
    some["Libras"] = planned.Stored(0.949, 900)
    assert list(planned.choose(some)) == ["Libras", "WordSynonyms"]


def test_the_numbers_of_erpe_are_added_to_the_scores():
    before, x = Before(*SIZES), torch.randn(3, 7, 8)
    layer = attention.SelfAttention(8, 2, before)
    plain = attention.SelfAttention(8, 2, encodings.get("none")(*SIZES))
    plain.load_state_dict({k: v for k, v in layer.state_dict().items() if "erpe" not in k})
    with torch.no_grad():
        before.erpe.values.zero_()
        torch.testing.assert_close(layer(x), plain(x))
        before.erpe.values[:, 6 + 2] = 1e4  # so that each looks two steps ahead, and there alone
        two_ahead = torch.cat([plain(x[:, i + 2 : i + 3]) for i in range(5)], 1)
        torch.testing.assert_close(layer(x)[:, :5], two_ahead)


def test_shaws_values_are_those_of_shaw_whose_keys_are_zero():
    x, alone = torch.randn(3, 7, 8), ShawValues(*SIZES)
    options = {"max_distance": None, "values": True, "per_head": True}
    whole = encodings.get("relative")(*SIZES, **options)
    ours, theirs = (attention.SelfAttention(8, 2, one) for one in (alone, whole))
    theirs.load_state_dict(ours.state_dict(), strict=False)
    torch.nn.init.zeros_(whole.keys)
    torch.testing.assert_close(ours(x), theirs(x))
    assert [name for name, _ in alone.named_parameters()] == ["values"]
    alone.reset_parameters()


def test_each_contrast_is_planned_and_counted():
    named = PLAN["arms"] | PLAN["partners"]
    assert {name for pair in CONTRASTS.values() for name in pair} == {*named} - {"none"}
    assert planned.cost(PLAN["arms"])[:2] == (1800, 480)


@needs_sets
def test_from_zero_erpe_is_none_at_the_start_and_else_as_planned():
    [one] = train.cells("RacketSports", "later")
    [planned_one] = [c for c in train.cells("RacketSports") if c.encoding == "erpe"]
    zero = {"encoding_options": {"std": 0.0}, "protocol": LATER_HASH}
    assert one == replace(planned_one, **zero)
    position = encodings.get("erpe")(*SIZES, **one.encoding_options)
    assert not position.values.any()


@needs_sets
def test_a_setting_is_worth_its_mean_over_the_deals():
    [one] = [c for c in train.cells("RacketSports") if c.encoding == "erpe"]
    tried, deals = train.first_trials(one), PLAN["trial deals"]
    assert [(t.seed, t.split_seed, t.resample) for t in tried[0]] == [(d, d, d) for d in deals]
    known = stored(tried, [(0.9, 0.9, 0.1), (0.7,) * 3, (0.6,) * 3, (0.95,) * 3])
    failed = tried[3][2]
    known[failed.key] = records.failed(failed, "no memory", device="cpu", seconds=1.0)
    last = train.last_trials(one, known)
    between = (tried[0][0].learning_rate * tried[1][0].learning_rate) ** 0.5
    assert [t.learning_rate for t in last] == pytest.approx([between] * 3, rel=0.01)
    assert train.tuned(one, known) is None
    best = train.tuned(one, known | stored([last], [(0.5, 0.5, 0.5)]))
    assert best.learning_rate == tried[1][0].learning_rate
    assert best.tuned == "5 trials of 500 steps on 3 deals"


@needs_sets
def test_what_fails_everywhere_is_trained_so_that_it_is_told():
    one = train.cells("RacketSports")[0]
    tried = [trial for some in train.first_trials(one) for trial in some]
    known = {t.key: records.failed(t, "no memory", device="cpu", seconds=1.0) for t in tried}
    assert train.tuned(one, known).tuned == "all trials failed"


def stored(tried, worths):
    found = {}
    for some, by_deal in zip(tried, worths, strict=True):
        for t, worth in zip(some, by_deal, strict=True):
            metrics = {"accuracy": 0.0, "validation_accuracy": worth, "validation_loss": 1.0}
            found[t.key] = records.finished(t, metrics, device="cpu", seconds=1.0)
    return found


@needs_sets
def test_a_tiny_plan_goes_on_where_it_was(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(local, "LocalEngine", lambda _: local.SerialEngine())
    arms = {name: PLAN["arms"][name] for name in ("erpe, before", "values", "message")}
    monkeypatch.setitem(PARTS, "arms", (arms, HASH))
    for name, tiny in {"trial deals": [2001, 2002], "trainings": 2}.items():
        monkeypatch.setitem(PLAN, name, tiny)
    told = ["--sets", "RacketSports", "--rehearse", "2", "--device", "cpu", "--out", str(tmp_path)]
    assert command.main([*told, "--seconds", "1e-9"]) == 0
    assert "the same command goes on from here" in capsys.readouterr().out
    assert command.main(told) == 0
    files = [tmp_path / f"{kind}RacketSports.jsonl" for kind in ("tuning-", "")]
    assert [len([*Store(path)]) for path in files] == [3 * 5 * 2, 3 * 2]
    assert not any("error" in one for path in files for one in Store(path))
    assert {one["resample"] for one in Store(files[0])} == {2001, 2002}
    before = [path.stat().st_mtime_ns for path in files]
    assert command.main(told) == 0
    assert [path.stat().st_mtime_ns for path in files] == before
