"""Contestants of a benchmark take turns, and a settled one is timed behind an untimed call."""

import sys

import pytest
from sitefiles import ROOT


@pytest.fixture
def timing(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    sys.modules.pop("timing", None)
    import timing

    yield timing
    sys.modules.pop("timing", None)


@pytest.mark.parametrize(("settled", "calls"), [(False, 4), (True, 8)])
def test_every_contestant_runs_once_a_round_and_twice_if_settled(timing, settled, calls):
    seen = []
    contestants = {name: lambda name=name: seen.append(name) for name in "ab"}
    seconds = timing.interleaved(contestants, rounds=3, settled=settled)
    assert {name: len(times) for name, times in seconds.items()} == {"a": 3, "b": 3}
    assert seen.count("a") == seen.count("b") == calls  # one round warms up
