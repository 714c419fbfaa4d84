"""What is said of a run before its first cell ends."""

import pytest
import torch

from posenc_book.bench import estimate
from posenc_book.records.settings import Settings, profile

DATA = {"dataset_options": {"length": 12, "n": 48, "distance": 3}}


@pytest.fixture
def estimated(monkeypatch):
    """Return the estimate for one training whose timed steps take so long."""

    def seconds(*steps):
        times = iter(steps)
        monkeypatch.setattr(estimate.stopwatch, "since", lambda _: next(times))
        cell = Settings("none", "time_series", "range_probe", **profile("smoke"), **DATA)
        found = estimate._seconds(cell, torch.device("cpu"))
        return found, len([*times])

    return seconds


def test_a_step_that_was_held_up_does_not_count(estimated):
    quiet, _ = estimated(*[0.01] * estimate.STEPS)
    held_up, _ = estimated(0.5, *[0.01] * estimate.STEPS)
    assert held_up == quiet > 0


def test_of_slow_steps_one_is_enough(estimated):
    slow, left = estimated(estimate.SECONDS, *[0.01] * 9)
    assert left == 9
    assert slow == pytest.approx(estimated(*[0.01] * 9)[0] * estimate.SECONDS / 0.01)


def test_steps_are_timed_as_workers_take_them(monkeypatch):
    before, seen = torch.get_num_threads(), []
    monkeypatch.setattr(estimate, "_seconds", lambda *_: seen.append(torch.get_num_threads()) or 6)
    cell = Settings("none", "time_series", "range_probe", **profile("smoke"), **DATA)
    assert estimate.at_most([[cell, cell]], 4, "cpu") == 3
    assert seen == [1]
    assert torch.get_num_threads() == before
