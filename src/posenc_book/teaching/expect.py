"""What the checks of exercises ask of an answer, of whatever form it comes.

Each function takes an answer and says in an `AssertionError` what is wrong with it, in words that
begin with `what`: the case that was tried.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def array(answer: Any, shape: tuple[int, ...] | None, what: str) -> NDArray[np.float64]:
    """Return an answer as an array of finite floats, of a shape where one is asked for.

    Lists, tuples, tensors and arrays of any kind of number are answers.

    Raises
    ------
    AssertionError
        Where nothing was returned, or no such numbers.
    """
    assert answer is not None, f"{what}: nothing came back; does your function end in `return`?"
    try:
        numbers = np.asarray(_plain(answer), dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise AssertionError(f"{what}: numbers are asked for, got {_short(answer)}") from None
    asked = f"an array of shape {shape}" if shape else "a single number"
    fits = shape is None or numbers.shape == shape
    assert fits, f"{what}: {asked} is asked for, got shape {numbers.shape}"
    assert np.isfinite(numbers).all(), f"{what}: infinite or no numbers (nan) are among the answer"
    return numbers


def number(answer: Any, what: str) -> float:
    """Return an answer as a float, be it in a list or array of one."""
    numbers = array(answer, None, what)
    assert numbers.size == 1, f"{what}: a single number is asked for, got shape {numbers.shape}"
    return float(numbers.item())


def whole(answer: Any, what: str) -> int:
    """Return an answer that is a whole number."""
    value = number(answer, what)
    assert value == round(value), f"{what}: a whole number is asked for, got {value:.6g}"
    return round(value)


def truth(answer: Any, what: str) -> bool:
    """Return an answer that is true or false, of Python, NumPy or PyTorch, or 0 or 1."""
    value = number(answer, f"{what} (True or False)")
    assert value in (0, 1), f"{what}: True or False is asked for, got {value:.6g}"
    return bool(value)


def same(answer: Any, right: ArrayLike, what: str, atol: float = 1e-8) -> None:
    """Compare an answer with what is right, entry by entry."""
    wanted = np.asarray(right, dtype=float)
    got = array(answer, wanted.shape, what) if wanted.ndim else np.asarray(number(answer, what))
    off = ~np.isclose(got, wanted, atol=atol)
    if off.any():
        entry = tuple(np.argwhere(off)[0].tolist()) if wanted.ndim else ()
        where = f"entry {entry[0] if len(entry) == 1 else entry} of the answer " if entry else ""
        raise AssertionError(
            f"{what}: {where}should be {wanted[entry]:.6g}, and is {got[entry]:.6g}"
        )


def _plain(answer: Any) -> Any:
    """Return an answer with its tensors as arrays, which NumPy takes even from a list."""
    if isinstance(answer, (list, tuple)):
        return [_plain(part) for part in answer]
    return answer.detach().double().numpy() if hasattr(answer, "detach") else answer


def _short(answer: Any) -> str:
    text = " ".join(repr(answer).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
