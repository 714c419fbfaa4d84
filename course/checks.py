"""Hidden checks: what they ask, what they accept, and how the secret seed draws their cases.

A check is a function of a random generator that yields the arguments of each case. Its cases are
drawn anew from the teacher's seed, and only what a submission returns for them is judged, here,
outside the sandbox. So there is no file of answers, and nothing in a submission's reach decides.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Check:
    """One hidden check: it is passed, and gives its points, if every case is."""

    question: str
    name: str
    about: str
    points: int
    calls: str
    draw: Callable[[np.random.Generator], Iterator]
    accept: Callable[..., None]

    def cases(self, seed: str, assignment: str) -> list[list]:
        """Return the arguments of each case, the same for every submission."""
        text = f"{seed}|{assignment}|{self.name}"
        rng = np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()))
        return [list(case) if isinstance(case, tuple) else [case] for case in self.draw(rng)]


@dataclass
class Checks:
    """The hidden checks of one assignment; its source fills it through `hidden`."""

    found: list[Check] = field(default_factory=list)
    question: str = ""

    def hidden(self, *, points: int, calls: str, accept: Callable[..., None]) -> Callable:
        """Make a check of the function that follows.

        Parameters
        ----------
        points
            What it gives.
        calls
            Name of the function of the submission that is called.
        accept
            Called with what came back and the case's arguments; raises `AssertionError` with a
            sentence for the student where that is wrong. `like(f)` compares with `f`.
        """

        def add(draw: Callable) -> Callable:
            about = " ".join((draw.__doc__ or "").split())
            self.found.append(
                Check(self.question, draw.__name__, about, points, calls, draw, accept)
            )
            return draw

        return add


def numbers(value: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Return a value as finite floats of a shape, or say what is wrong with it."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise AssertionError("numbers were expected") from None
    assert array.dtype.kind == "f", "numbers were expected"
    if shape is not None:
        assert array.shape == shape, f"expected shape {shape}, got {array.shape}"
    assert np.isfinite(array).all(), "the result holds NaN or infinity"
    return array


def close(value: Any, expected: Any, rtol: float = 1e-6, atol: float = 1e-8) -> None:
    """Raise `AssertionError` where a value is not, within tolerance, the expected one."""
    expected = np.asarray(expected, dtype=float)
    found = numbers(value, expected.shape)
    assert np.allclose(found, expected, rtol=rtol, atol=atol), "the numbers differ"


def like(reference: Callable, rtol: float = 1e-6, atol: float = 1e-8) -> Callable[..., None]:
    """Accept what a reference gives for the same arguments."""
    return lambda value, *case: close(value, reference(*case), rtol, atol)
