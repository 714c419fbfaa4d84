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
    if shape == () and array.size == 1:  # [5] for 5
        array = array.reshape(())
    if shape is not None:
        assert array.shape == shape, f"expected shape {shape}, got {array.shape}"
    assert np.isfinite(array).all(), "the result holds NaN or infinity"
    return array


def close(value: Any, expected: Any, rtol: float = 1e-6, atol: float = 1e-8) -> None:
    """Raise `AssertionError` where a value is not, within tolerance, the expected one."""
    expected = np.asarray(expected, dtype=float)
    found = numbers(value, expected.shape)
    assert np.allclose(found, expected, rtol=rtol, atol=atol), "the numbers differ"


SINGLE = float(np.finfo(np.float32).eps)
ROOM = 4  # times what rounding the arguments moves the right answer: a formula rounds a few times
MOST_ROOM = 2e-3  # of the largest number of the answer; beyond that rounding is no excuse


def like(reference: Callable, rtol: float = 1e-6, atol: float = 1e-8) -> Callable[..., None]:
    """Accept what a reference gives for the same arguments, computed in single precision too.

    How far single precision carries a right formula depends on the case: the sine of 2,000 radians
    is known to 1e-4 only. So the arguments are rounded as it would round them, and what that moves
    the reference is allowed. Whole numbers must be right.
    """

    def accept(value: Any, *case: Any) -> None:
        expected = reference(*case)
        if not _has_fractions(expected):
            return alike(value, expected, 0, 1e-6)
        try:
            return alike(value, expected, rtol, atol)
        except AssertionError:
            pass
        room = _moved_by_rounding(reference, case, expected)
        return alike(value, expected, max(rtol, 10 * SINGLE), atol, room)

    return accept


def alike(
    value: Any, expected: Any, rtol: float, atol: float, room: tuple[float, ...] = (0.0,)
) -> None:
    """Compare a value with one array, or with each of several."""
    if not isinstance(expected, tuple):
        return close(value, expected, rtol, atol + room[0])
    assert isinstance(value, (list, np.ndarray)) and len(value) == len(expected), (
        f"{len(expected)} results were expected"
    )
    room = room if len(room) == len(expected) else (0.0,) * len(expected)
    for found, part, more in zip(value, expected, room, strict=True):
        close(found, part, rtol, atol + more)
    return None


def _has_fractions(expected: Any) -> bool:
    parts = expected if isinstance(expected, tuple) else (expected,)
    return any(np.asarray(part).dtype.kind == "f" for part in parts)


def _moved_by_rounding(reference: Callable, case: tuple, expected: Any) -> tuple[float, ...]:
    """Return how far each array may lie from the expected one."""
    moved, several = [], isinstance(expected, tuple)
    for way in (0.0, -np.inf, np.inf):
        found = reference(*(_rounded(value, way) for value in case))
        pairs = zip(found, expected, strict=True) if several else [(found, expected)]
        moved.append([float(np.abs(np.subtract(*pair)).max()) for pair in pairs])
    most = [float(np.abs(part).max()) for part in (expected if several else (expected,))]
    return tuple(
        min(ROOM * far, MOST_ROOM * size)
        for far, size in zip(np.max(moved, axis=0), most, strict=True)
    )


def _rounded(value: Any, way: float) -> Any:
    """Return a value whose fractions are rounded to single precision: to the nearest, down or up.

    What single precision holds stays as it is, so a constant channel of 0.5, say, stays constant.
    """
    if isinstance(value, list):
        return [_rounded(part, way) for part in value]
    if isinstance(value, float):
        return float(_rounded(np.array(value), way))
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    nearest = value.astype(np.float32)
    other_side = (nearest > value) if way < 0 else (nearest < value)
    next_one = np.nextafter(nearest, np.float32(way))
    return np.where(other_side & (way != 0), next_one, nearest).astype(float)
