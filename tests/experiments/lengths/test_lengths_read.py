"""The lab and the model of characters as pages read them."""

import math

import numpy as np
import pytest

from posenc_book.read.characters import plan as text_plan
from posenc_book.read.characters import read as text
from posenc_book.read.lengths import plan
from posenc_book.read.lengths import read as lab
from posenc_book.records import tables

LENGTHS = [str(n) for n in plan.PROTOCOL["tested"]]
NONE, SINE, ROTARY, *_, DRAWN = plan.FIRST


def metrics(score, refused=()):
    """Return scores that fall by a tenth with each length, from `score` on."""
    token = {n: score * 0.9**i for i, n in enumerate(LENGTHS) if n not in refused}
    exact = {n: value / 2 for n, value in token.items()}
    return {"token": token, "exact": exact, "refusals": dict.fromkeys(refused, "too long")}


def record(task, encoding, seed, score=1.0, error=None, refused=(), protocol=plan.HASH):
    """Return what readers ask of a line of results."""
    settings = {"encoding_source": "now", "random_positions": 512 * encoding.random}
    made = {
        "key": f"{task}, {encoding.label}, {seed}, {protocol}",
        "protocol": protocol,
        "dataset": task,
        "encoding": encoding.name,
        "seed": seed,
        "settings": settings,
    }
    return made | ({"error": error} if error else {"metrics": metrics(score, refused)})


@pytest.fixture
def stored():
    made = [record("copy", ROTARY, seed, score) for seed, score in enumerate((1.0, 0.8))]
    made += [record("copy", NONE, seed, 0.5) for seed in (0, 1, 2)]
    made += [record("copy", SINE, 0, 0.4), record("copy", DRAWN, 0, 0.6)]
    made += [record("parity", NONE, 0, 0.6), record("parity", ROTARY, 0, 0.5)]
    made.append(record("copy", ROTARY, 2, error="unfinished: 300 seconds were over after 9 steps"))
    made.append(record("copy", ROTARY, 3, error="ValueError: broken"))
    return made


def test_means_are_over_finished_seeds_with_lowest_and_highest(stored):
    found = lab.load_lab(stored)
    spread = found.spread("copy", "rotary", 30, "token")
    assert (spread.mean, spread.low, spread.high) == pytest.approx((0.81, 0.72, 0.9))
    assert spread.n == 2
    assert str(found.spread("copy", "rotary", 20)) == "45% (40 to 50)"
    assert str(found.spread("copy", "sinusoidal", 20)) == "20% (1 seed)"
    assert found.spread("addition", "rotary", 20) is None
    with pytest.raises(ValueError, match="score must be one of exact, token"):
        found.spread("copy", "rotary", 20, "loss")


def test_the_order_is_by_token_accuracy_beyond_the_trained_length(stored):
    found = lab.load_lab(stored)
    longer = [0.9 * 0.9**i for i in range(1, len(LENGTHS))]
    assert found.beyond("copy", "rotary") == pytest.approx(sum(longer) / len(longer))
    assert found.order("copy") == ["rotary", "sinusoidal, random places", "none", "sinusoidal"]
    assert found.tasks == ["copy", "parity"]
    assert found.learned("copy")
    assert not found.learned("parity")


def test_unfinished_and_missing_trainings_are_named(stored):
    found = lab.load_lab(stored)
    assert found.unfinished == ["copy, rotary, seed 2"]
    missing = found.missing(1)
    assert len(missing) == lab.planned(1) - len(stored)
    assert "copy, rotary, seed 4" in missing
    assert not {"copy, rotary, seed 0", "copy, rotary, seed 2", "copy, rotary, seed 3"} & {*missing}
    assert len(lab.load_lab([]).missing(4)) == lab.planned(4) == 1120


def test_a_tier_that_is_not_whole_is_left_out(monkeypatch):
    encodings = (ROTARY, NONE)
    tiers = {1: plan.Tier(("copy",), encodings, 1), 2: plan.Tier(("sort",), encodings, 1)}
    monkeypatch.setattr(plan, "TIERS", tiers)
    first = [record("copy", ROTARY, 0), record("copy", NONE, 0, error="it broke")]
    begun = [record("sort", ROTARY, 0)]
    found = lab.load_lab([*first, *begun]).whole()
    assert found.tasks == ["copy"]
    assert list(found.failed) == [("copy", "none", 0)]
    assert lab.load_lab([*first[:1], *begun]).whole().tasks == []
    ended = record("sort", NONE, 0)
    assert lab.load_lab([*first, *begun, ended]).whole().tasks == ["copy", "sort"]


def test_records_of_another_protocol_are_left_out(stored):
    found = lab.load_lab([record("copy", ROTARY, 0, protocol="another"), *stored[2:4]])
    assert list(found.runs) == [("copy", "none")]


def test_versions_of_an_encoding_are_not_mixed_but_one_that_failed_may_be_older(stored):
    failed, finished = record("copy", ROTARY, 4, error="no memory"), record("copy", ROTARY, 4)
    for older in (failed, finished):
        older["settings"]["encoding_source"] = "older"
    assert len(lab.load_lab([*stored, failed]).failed) == 3
    with pytest.raises(ValueError, match="several versions of rotary"):
        lab.load_lab([*stored, finished])


def test_a_length_that_is_refused_is_in_no_order():
    found = lab.load_lab([record("copy", ROTARY, 0, refused=("90", "100"))])
    assert found.spread("copy", "rotary", 100, "token") is None
    assert found.order("copy") == []


def test_places_without_one_task_are_by_the_others():
    scores = {("copy", ROTARY): (1.0, 0.92), ("copy", NONE): (0.95, 0.95)}
    scores |= {("sort", ROTARY): (0.4, 0.4), ("sort", NONE): (1.0, 1.0)}
    some = [record(*at, seed, one) for at, both in scores.items() for seed, one in enumerate(both)]
    found = lab.load_lab(some)
    rows = lab.places_rows(found)
    assert list(rows) == ["none", "rotary"]
    assert rows["rotary"] == {"all tasks": 2, "without copy": 2, "without sort": 1}
    assert lab.places(lab.of_seed(found, 1), ["copy"]) == {"none": 1, "rotary": 2}


def test_curves_hold_every_encoding_that_was_trained_and_the_farthest_first(stored):
    found = lab.curves(lab.load_lab(stored), ("copy", "parity"), (20, 30))
    assert list(found) == ["copy", "parity"]
    assert list(found["copy"])[:2] == list(found["parity"])[:2] == ["rotary", "none"]
    assert {*found["copy"]} == {"rotary", "none", "sinusoidal", "sinusoidal, random places"}
    assert found["copy"]["rotary"] == pytest.approx([0.9, 0.81])
    assert found["parity"]["none"] == pytest.approx([0.6, 0.54])
    assert all(map(math.isnan, found["parity"]["sinusoidal"]))
    alone = lab.curves(lab.load_lab(stored), ("parity",), (20, 30))["parity"]
    assert list(alone) == ["none", "rotary"]  # the farthest on this task


def test_a_rule_without_a_model_repeats_the_answer_before(monkeypatch):
    class Drawn:
        tokens = np.array([[5, 1, 1, 2, 2], [5, 3, 3, 3, 3]])
        answers = np.array([False, True, True, True, True])

    monkeypatch.setattr(lab.length_tasks, "draw", lambda *_, **__: Drawn)
    assert lab.repeated("copy") == pytest.approx((2 + 3) / 6)


def test_published_orders_stand_beside_ours_on_learned_tasks_and_common_seeds(stored):
    found = lab.compared(lab.load_lab(stored))
    assert len(found) == 10 + 3
    row = found["none ahead of rotary"]
    gain = 100 * (0.5 - 0.9) * sum(0.9**i for i in range(1, 9)) / 8
    assert row["ours does not"] == f"copy ({gain:+.0f})"
    assert row["ours agrees"] == "no task"
    assert found["none ahead of t5"]["ours does not"] == tables.NOT_RUN
    drawn = found["sinusoidal, random places ahead of sinusoidal"]
    assert drawn["source"] == "Ruoss et al. (2023)"
    assert drawn["ours agrees"].startswith("copy (+")
    assert "parity" not in str(found)


def test_a_published_order_within_the_ranges_of_seeds_stands_apart():
    def seeds(*shares):
        return {s: {"token": dict.fromkeys(LENGTHS, share)} for s, share in enumerate(shares)}

    runs = {("copy", "none"): seeds(0.95, 0.99), ("copy", "rotary"): seeds(0.91, 0.95)}
    row = lab.compared(lab.Lab(runs, failed={}))["none ahead of rotary"]
    assert row["seeds overlap"] == "copy (+4)"  # they meet in one value
    assert row["ours agrees"] == row["ours does not"] == "no task"
    runs["copy", "rotary"] = seeds(0.91, 0.94)
    row = lab.compared(lab.Lab(runs, failed={}))["none ahead of rotary"]
    assert row["ours agrees"].startswith("copy (+")
    assert row["seeds overlap"] == "no task"


def test_what_is_stored_is_of_the_protocol():
    assert lab.load_lab().runs
    assert text.load_losses().runs


# -- the model of characters -----------------------------------------------------------------------


def read(encoding, seed, base=2.0, error=None, schedules=None, protocol=text_plan.HASH):
    """Return what readers ask of a line of results."""
    planned = text_plan.PROTOCOL["schedules"] if encoding == "rotary" else ()
    read = ("as trained", *(planned if schedules is None else schedules))
    contexts = text_plan.PROTOCOL["contexts"]
    losses = {s: {str(c): base + i for c in contexts} for i, s in enumerate(read)}
    tuned = {s: {c: v - 1 for c, v in row.items()} for s, row in losses.items()}
    found = {"loss": losses, "tuned_loss": tuned}
    source = {"encoding_source": "now", "dataset_source": "help"}
    made = {
        "key": f"{encoding}, {seed}, {protocol}",
        "protocol": protocol,
        "dataset": "topics",
        "encoding": encoding,
        "seed": seed,
        "settings": {**source, "dataset_options": {"python": "3.13"}},
    }
    return made | ({"error": error} if error else {"metrics": found})


def test_losses_by_schedule_and_context():
    found = text.load_losses([read("rotary", 0, 2.0), read("rotary", 1, 2.5), read("alibi", 0)])
    rows = text.loss_rows(found, (64, 512))
    assert list(rows) == [
        "rotary", "rotary, linear", "rotary, ntk", "rotary, dynamic_ntk", "rotary, yarn",
        "rotary, llama3", "rotary, longrope", "none", "alibi",
    ]  # fmt: skip
    assert rows["rotary"]["512, as trained"] == "2.25 (2.00 to 2.50)"
    assert rows["rotary, linear"]["64, as trained"] == "3.25 (3.00 to 3.50)"
    assert rows["alibi"]["512, fine-tuned"] == "1.00"
    with pytest.raises(ValueError, match="kind must be one of as trained, fine-tuned"):
        found.loss("rotary", "linear", 64, "tuned")
    assert set(rows["none"].values()) == {"not run"}
    assert found.python == "3.13"
    assert text.load_losses([]).python == ""


def test_a_longer_input_may_be_cut_to_the_trained_length():
    found = text.load_losses()  # of the book's results
    rows, [(name, cut)] = text.loss_rows(found), text.truncated_rows(found).items()
    assert name == f"rotary, last {text_plan.PROTOCOL['trained']}"
    assert list(cut) == list(rows["rotary"])
    for kind in text.KINDS:
        assert cut[f"128, {kind}"] == cut[f"512, {kind}"] == rows["rotary"][f"128, {kind}"]


def test_a_later_schedule_is_read_from_trainings_of_its_own():
    later = {"schedules": ("llama3",), "protocol": text_plan.LATER_HASHES["llama3"]}
    found = text.load_losses([read("rotary", 0, 2.0), read("rotary", 0, 5.0, **later)])
    assert found.loss("rotary", "llama3", 512, "as trained") == [6.0]
    assert found.loss("rotary", "as trained", 512, "as trained") == [2.0]
    assert text.load_losses([read("rotary", 0)]).loss("rotary", "llama3", 64, "fine-tuned") == []
    failed = text.load_losses([read("rotary", 1, error="unfinished: 900 seconds", **later)])
    assert failed.unfinished == ["rotary for llama3, seed 1"]
    assert len(failed.missing) == text.PLANNED - 1


def test_curves_have_a_seed_a_row_and_a_context_a_column():
    losses = text.load_losses([read("rotary", 0, 2.0), read("rotary", 1, 2.5), read("alibi", 0)])
    found = text.curves(losses, (64, 512))
    assert list(found) == ["as trained", "fine-tuned"]
    assert list(found["as trained"]) == list(text.loss_rows(losses))
    assert found["as trained"]["rotary, linear"].tolist() == [[3, 3], [3.5, 3.5]]
    assert found["fine-tuned"]["alibi"].tolist() == [[1, 1]]
    assert found["as trained"]["none"].shape == (0, 2)
    assert text.curves(losses)["as trained"]["alibi"].shape == (1, 6)  # all of the protocol
    with pytest.raises(KeyError, match="100"):
        text.curves(losses, [100])


def test_missing_and_unfinished_readings_are_named():
    found = text.load_losses([read("rotary", 0), read("none", 0, error="unfinished: 900 seconds")])
    assert found.unfinished == ["none, seed 0"]
    assert len(found.missing) == text.PLANNED - 2 == 9 + 3 + 3 - 2
    assert "rotary, seed 1" in found.missing


def test_readings_of_two_versions_of_an_encoding_are_not_mixed():
    other = read("rotary", 1)
    other["settings"]["encoding_source"] = "another"
    with pytest.raises(ValueError, match="several versions of rotary"):
        text.load_losses([read("rotary", 0), other])


def test_texts_of_two_pythons_are_not_mixed():
    other = read("none", 1)
    other["settings"]["dataset_source"] = "another"
    found = text.load_losses([read("rotary", 0), read("alibi", 0), other])
    assert sorted(found.runs) == [("alibi", 0), ("rotary", 0)]
