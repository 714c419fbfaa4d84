"""Fixtures of everything that trains."""

from trainings import call, cell, command, one_thread, own_cache, run, stand_in

__all__ = ["call", "cell", "command", "one_thread", "own_cache", "run", "stand_in"]
