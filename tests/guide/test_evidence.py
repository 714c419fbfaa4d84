"""What pages show beside the decision record are the stored results."""

import numpy as np

from posenc_book.atlas import called
from posenc_book.figures import choosing as figures
from posenc_book.guide import evidence, measured
from posenc_book.guide.evidence import reach, stretch
from posenc_book.read.lengths import read as lab
from posenc_book.read.range_probe import longer as lengths


def test_that_rotary_leads_on_no_task_is_counted():
    found = lab.load_lab()
    first = [found.order(task)[0] for task in found.tasks if found.learned(task)]
    assert "rotary" not in first
    assert len(set(first)) > 1
    assert list(reach().leaders.values()) == first


def test_the_schedule_is_what_keeps_the_model_of_characters_working():
    one = stretch()
    far = one.far
    assert one.nats["rotary", far, "as trained"] > one.nats["none", far, "as trained"]
    assert one.nats["yarn", far, "as trained"] < one.nats["alibi", far, "as trained"]
    assert one.nats["yarn", far, "fine-tuned"] < one.nats["rotary", far, "fine-tuned"]


def test_a_mark_says_how_many_trainings_learned_the_task_where_not_all_did():
    runs, found = lengths.load_longer(), measured.measured()
    shown = [n for n, one in found.items() if np.isfinite([one.cost, one.longer]).all()]
    for name, label in zip(shown, evidence.cost_and_reach(), strict=True):
        learned, every = len(runs.good(name)), len(runs.runs[name])
        assert label.startswith(called(name))
        assert label.endswith(f" ({learned} of {every})") == (learned < every)


def test_an_attention_layer_over_twice_the_tokens_does_more_than_twice_the_work():
    assert 2 < evidence._products(256) / evidence._products(128) < 4


def test_marks_that_would_cover_each_other_share_a_name():
    found = {"a": (1.0, 0.5), "b": (1.01, 0.51), "c": (1.01, 0.9)}
    assert figures.merged(found) == {"c": (1.01, 0.9), "b, a": (1.01, 0.51)}


def test_bars_of_mended_models_are_the_stored_losses_and_the_cut_text_is_the_shortest():
    one, bars = stretch(), evidence.mended()
    assert (
        bars["RoPE as trained"] == max(bars.values()) == one.nats["rotary", one.far, "as trained"]
    )
    assert list(bars.values()) == sorted(bars.values(), reverse=True)
    assert bars[f"RoPE, the last {one.short} only"] == one.nats["rotary", one.short, "as trained"]
