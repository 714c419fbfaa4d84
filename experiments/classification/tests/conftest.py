"""Fixtures: the command of this experiment, one thread, and a cache of the tests' own."""

import pytest
import trainings
from trainings import call, one_thread, own_cache, stand_in

from experiments.classification.__main__ import main

__all__ = ["call", "one_thread", "own_cache", "stand_in"]


@pytest.fixture(autouse=True)
def command_of_the_experiment(monkeypatch):
    """Let `call` run the command of this experiment."""
    monkeypatch.setattr(trainings, "main", main)
