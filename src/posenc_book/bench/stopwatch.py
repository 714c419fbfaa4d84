"""How long something took, never less than nothing: a clock may be set back."""

import time


def now() -> float:
    """Return the moment that `since` counts from."""
    return time.perf_counter()


def since(start: float) -> float:
    """Return how long ago a moment was."""
    return max(0.0, time.perf_counter() - start)
