"""How long something took, never less than nothing: a clock may be set back."""

import time


def now() -> float:
    """Return the moment that `since` counts from.

    Returns
    -------
    float
        In seconds.

    Examples
    --------
    >>> now() <= now()
    True
    """
    return time.perf_counter()


def since(start: float) -> float:
    """Return how long ago a moment was.

    Parameters
    ----------
    start : float
        As `now` returned it.

    Returns
    -------
    float
        In seconds; 0 where the clock stands before `start`.

    Examples
    --------
    >>> since(now() + 3600)
    0.0
    """
    return max(0.0, time.perf_counter() - start)
