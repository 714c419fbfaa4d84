"""The message turned, as pages read it: paired by seed, beside RoPE and no position."""

import numpy as np
import pytest
from scipy import stats

from posenc_book.read.lengths import plan, plan_message, read_message
from posenc_book.read.lengths.plan import Encoding
from posenc_book.statistics import friedman

LONGER = [n for n in plan.PROTOCOL["tested"] if n > plan.PROTOCOL["trained"]]
ROTARY, NONE = Encoding("rotary"), Encoding("none")
SEEDS = range(plan_message.PROTOCOL["seeds"])
LEVEL = {"copy": 0.8, "reverse": 0.5, "sort": 0.3, "flip_flop": 0.5}  # RoPE has 0.5
NOISE = dict(zip(SEEDS, np.random.default_rng(3).normal(0, 0.02, len(SEEDS)), strict=True))


def record(task, encoding, seed, share, protocol):
    """Return what readers ask of a line of results."""
    token = {str(n): share for n in LONGER} | {"20": 1.0}
    return {
        "key": f"{task}, {encoding.name}, {seed}, {protocol}",
        "protocol": protocol,
        "dataset": task,
        "encoding": encoding.name,
        "seed": seed,
        "settings": {"encoding_source": "now"},
        "metrics": {"token": token},
    }


def stored():
    """Return all trainings: a seed shifts the message and the others alike, but for a little."""
    made = []
    for seed in SEEDS:
        shift = 0.03 * seed
        for task, level in LEVEL.items():
            ours = level + shift + NOISE[seed]
            made.append(record(task, plan_message.ENCODING, seed, ours, plan_message.HASH))
            made += [record(task, one, seed, 0.5 + shift, plan.HASH) for one in (ROTARY, NONE)]
    return made


def test_answers_are_paired_by_seed_and_corrected_together():
    found = read_message.load_message(stored())
    told = read_message.compared(found)
    rope = {task: told[task, "rotary"].answer for task in LEVEL}
    assert rope == {"copy": "ahead", "reverse": "equal", "sort": "behind", "flip_flop": "equal"}
    noise = np.array([*NOISE.values()])
    low, high = stats.ttest_1samp(0.3 + noise, 0).confidence_interval()
    effect = told["copy", "rotary"].effect
    assert (effect.mean, effect.low, effect.high) == pytest.approx((0.3 + noise.mean(), low, high))
    half = np.array([stats.ttest_1samp(noise - side * 0.05, 0).pvalue / 2 for side in (-1, 1)])
    alone = [half.max()] * 4 + [1.0] * 4  # two tasks beside two others; elsewhere no equality
    assert told["reverse", "none"].p_equal == pytest.approx(friedman.holm(alone)[0])


def test_seeds_that_differ_much_leave_it_undecided():
    wide = [one for one in stored() if one["encoding"] != "rove"]
    for task in LEVEL:
        shares = (0.3 if seed % 2 else 0.8 for seed in SEEDS)
        wide += [
            record(task, plan_message.ENCODING, seed, share, plan_message.HASH)
            for seed, share in zip(SEEDS, shares, strict=True)
        ]
    told = read_message.compared(read_message.load_message(wide))
    assert {one.answer for one in told.values()} == {"undecided"}


def test_a_part_of_the_trainings_gives_no_answer():
    part = [one for one in stored() if (one["encoding"], one["seed"]) != ("rove", 7)]
    found = read_message.load_message(part)
    assert read_message.missing(found) == [f"{task}, rove, seed 7" for task in LEVEL]
    with pytest.raises(ValueError, match="got none of copy, rove, seed 7 and 3 more"):
        read_message.compared(found)


def test_another_protocol_does_not_count():
    changed = [one | {"protocol": "0" * 12} for one in stored()]
    assert read_message.load_message(changed).runs == {}
