"""Fixtures of everything that trains."""

from trainings import one_thread, own_cache

__all__ = ["one_thread", "own_cache"]
