"""What people would try first, as pages read it: only whole seeds, the farthest first."""

import pytest

from posenc_book.read.lengths import plan, read_repairs
from posenc_book.read.lengths import plan_repairs as repairs

*_, NONE = repairs.ROWS


def record(task, row, seed, share, error=None):
    """Return what readers ask of a line of results."""
    lengths = map(str, repairs.PROTOCOL["tested"])
    token = dict(zip(lengths, (share, share - 0.2, share - 0.4), strict=True))
    read = {name: {"token": token} for name in (repairs.AS_TRAINED, *row.readings)}
    settings = {"encoding": row.encoding, "encoding_options": dict(row.options)}
    made = {
        "key": f"{task}, {row.label}, {seed}",
        "protocol": repairs.HASH,
        "dataset": task,
        "encoding": row.encoding,
        "seed": seed,
        "settings": settings | {"without": list(row.without), "encoding_source": "now"},
    }
    return made | ({"error": error} if error else {"metrics": {"readings": read}})


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
    first = [one | {"protocol": plan.HASH} for one in everything(0)]
    assert read_repairs.load_tried(first).seeds == ()


def test_what_the_book_stores_has_every_row_of_whole_seeds():
    found = read_repairs.load_tried()
    assert found.seeds
    for task, row in repairs.places():
        for name in (row.label, *(f"{row.label}: {one}" for one in row.readings)):
            assert set(found.shares[task, name]) == set(found.seeds)
