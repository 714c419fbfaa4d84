"""Schedules: how the frequencies of rotary encoding change for inputs longer than in training.

Each takes the angular frequencies of training, in radians per position, and returns slower ones.
They differ in which pairs they slow down, and by how much. What decides in most of them is how
often a pair turns within the length of training (`turns`): fast pairs turn hundreds of times and
have shown every angle, slow ones have shown a part of the circle only.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks


def turns(omega: ArrayLike, original_length: int) -> NDArray[np.float64]:
    """Return how often each pair turns within the length of training, `length / wavelength`.

    Parameters
    ----------
    omega : array of shape (n,)
        Angular frequencies in radians per position.
    original_length : int
        Tokens of a training sequence, at least 1.

    Returns
    -------
    array of shape (n,), without unit.

    Raises
    ------
    ValueError
        If `omega` is no finite array of one axis or `original_length` no integer of at least 1.

    Source: Peng et al. (2023), "YaRN", r(d) in section 3.2.

    Examples
    --------
    >>> turns([1.0, 0.001], 4096).round(1).tolist()
    [651.9, 0.7]
    """
    length = _checks.count("original_length", original_length, minimum=1)
    return length * _grid(omega) / (2 * np.pi)


def linear(omega: ArrayLike, factor: float) -> NDArray[np.float64]:
    """Return all frequencies divided by `factor`: position interpolation.

    Positions 0 to `factor * length` then meet the angles of 0 to `length`.

    Parameters
    ----------
    omega : array of shape (n,)
    factor : float
        How many times longer, at least 1.

    Returns
    -------
    array of shape (n,), radians per position.

    Raises
    ------
    ValueError
        If a frequency is not finite or `factor` is below 1.

    Source: Chen et al. (2023), "Extending Context Window ... via Positional Interpolation".

    Examples
    --------
    >>> linear([1.0, 0.1], 4).tolist()
    [0.25, 0.025]
    """
    return _grid(omega) / check_factor(factor)


def ntk(omega: ArrayLike, factor: float) -> NDArray[np.float64]:
    """Return frequencies of a base raised by `factor**(d / (d - 2))`.

    The fastest pair keeps its frequency, the slowest is divided by `factor`, and those between
    lie on a geometric grid as before.

    Parameters
    ----------
    omega : array of shape (n,)
        Two pairs at least.
    factor : float
        How many times longer, at least 1.

    Returns
    -------
    array of shape (n,), radians per position.

    Raises
    ------
    ValueError
        If `factor` is below 1 or `omega` has fewer than two frequencies, or they do not fall.

    Source: Peng et al. (2023), "YaRN", Definition 1 ("NTK-aware" interpolation).

    Examples
    --------
    >>> ntk([1.0, 0.1, 0.01], 4).round(4).tolist()
    [1.0, 0.05, 0.0025]
    """
    omega = _several(omega, "ntk")
    return omega * check_factor(factor) ** (-np.arange(omega.size) / (omega.size - 1))


def dynamic_ntk(
    omega: ArrayLike, factor: float, length: int, original_length: int
) -> NDArray[np.float64]:
    """Return `ntk` with a factor that grows with the input; up to the trained length, no change.

    Parameters
    ----------
    omega : array of shape (n,)
        Two pairs at least.
    factor : float
        At least 1. With 1, the base is raised by just what the input at hand is too long.
    length : int
        Tokens of this input.
    original_length : int
        Tokens of a training sequence.

    Returns
    -------
    array of shape (n,), radians per position.

    Raises
    ------
    ValueError
        If `factor` is below 1, a length is no positive integer, or `omega` does not fall.

    Source: Peng et al. (2023), "YaRN", section 3.3 ("Dynamic NTK"), with the factor that public
    implementations multiply the excess by: `1 + factor * (length / original_length - 1)`.

    Examples
    --------
    >>> dynamic_ntk([1.0, 0.1, 0.01], 1.0, 8192, 4096).round(4).tolist()
    [1.0, 0.0707, 0.005]
    """
    trained = _checks.count("original_length", original_length, minimum=1)
    excess = max(0.0, _checks.count("length", length) / trained - 1)
    return ntk(omega, 1 + check_factor(factor) * excess)


def by_parts(omega: ArrayLike, factor: float, kept: ArrayLike) -> NDArray[np.float64]:
    """Return a mixture: the share `kept` of each frequency, and the rest divided by `factor`.

    Parameters
    ----------
    omega : array of shape (n,)
    factor : float
        How many times longer, at least 1.
    kept : array of shape (n,)
        From 0 (interpolate as `linear` does) to 1 (leave as it is).

    Returns
    -------
    array of shape (n,), radians per position.

    Raises
    ------
    ValueError
        If a frequency is not finite, `factor` is below 1, or `kept` has another shape.

    Source: Peng et al. (2023), "YaRN", h(theta) in Definition 2.

    Examples
    --------
    >>> by_parts([1.0, 0.1], 4, [1.0, 0.0]).tolist()
    [1.0, 0.025]
    """
    kept = _checks.finite_array("kept", kept, ndim=None)
    if kept.shape not in ((), _grid(omega).shape):
        raise ValueError(f"kept must be one share or one for each of omega, got {kept.shape}")
    return (1 - kept) * linear(omega, factor) + kept * _grid(omega)


def yarn(
    omega: ArrayLike,
    factor: float,
    original_length: int,
    *,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    ramp: str = "pairs",
    truncate: bool = True,
) -> NDArray[np.float64]:
    """Return the frequencies of YaRN: fast pairs as they are, slow ones interpolated.

    Parameters
    ----------
    omega : array of shape (n,)
        A geometric grid of two pairs at least.
    factor : float
        How many times longer, at least 1.
    original_length : int
        Tokens of a training sequence.
    beta_fast, beta_slow : float
        Pairs with more turns than `beta_fast` in training stay, with fewer than `beta_slow` are
        interpolated; a ramp lies between. 0 < beta_slow <= beta_fast. A ramp over pairs begins at
        pair 0 at the earliest, so pair 0 stays. As in the authors' code it runs backwards where it
        would end before pair 0, which leaves all pairs as they are, and where it would begin
        behind number 2n - 1, which interpolates all, pair 0 too.
    ramp : {"pairs", "turns"}
        Whether the ramp is linear in the number of the pair, as in the authors' code and all
        implementations that follow it, or in its turns, as in the paper's formula.
    truncate : bool
        Whether a ramp over pairs begins and ends at whole numbers, as in the authors' code.

    Returns
    -------
    array of shape (n,), radians per position.

    Raises
    ------
    ValueError
        If `omega` does not fall, a number is out of its range, or the ends of the ramp are not in
        order.

    Source: Peng et al. (2023), "YaRN", Definition 2.

    Examples
    --------
    >>> yarn([1.0, 0.1, 0.01], 4, original_length=1024).round(5).tolist()
    [1.0, 0.075, 0.005]
    """
    omega = _several(omega, "yarn")
    slow, fast = _in_order("beta_slow", beta_slow, "beta_fast", beta_fast)
    if _checks.choice("ramp", ramp, ("pairs", "turns")) == "turns":
        return by_parts(omega, factor, _ramp(turns(omega, original_length), slow, fast))
    pairs_per_log = (omega.size - 1) / math.log(omega[0] / omega[-1])
    at = [
        math.log(turns(omega, original_length)[0] / beta) * pairs_per_log for beta in (fast, slow)
    ]
    if _checks.flag("truncate", truncate):
        at = [math.floor(at[0]), math.ceil(at[1])]
    first, last = max(at[0], 0), min(at[1], 2 * omega.size - 1)
    return by_parts(omega, factor, 1 - _ramp(np.arange(omega.size, dtype=np.float64), first, last))


def yarn_gain(factor: float) -> float:
    """Return what YaRN multiplies queries and keys by, 0.1 ln(factor) + 1.

    Scores grow by its square, which makes the softmax sharper again on long inputs.

    Parameters
    ----------
    factor : float
        How many times longer, at least 1.

    Returns
    -------
    float, at least 1.

    Raises
    ------
    ValueError
        If `factor` is below 1.

    Source: Peng et al. (2023), "YaRN", section 3.4, where it is sqrt(1 / t).

    Examples
    --------
    >>> round(yarn_gain(4), 4)
    1.1386
    """
    return 0.1 * math.log(check_factor(factor)) + 1


def llama3(
    omega: ArrayLike,
    factor: float,
    original_length: int,
    *,
    low_freq_factor: float = 1.0,
    high_freq_factor: float = 4.0,
) -> NDArray[np.float64]:
    """Return the frequencies of Llama 3.1.

    Pairs with more than `high_freq_factor` turns in training stay, with fewer than
    `low_freq_factor` are divided by `factor`, and a ramp over turns lies between. That is YaRN's
    formula with other numbers and without its gain.

    Parameters
    ----------
    omega : array of shape (n,)
    factor : float
        How many times longer, at least 1 (Llama 3.1: 8).
    original_length : int
        Tokens of a training sequence (Llama 3.1: 8,192).
    low_freq_factor, high_freq_factor : float
        Ends of the ramp in turns, 0 < low_freq_factor <= high_freq_factor. Where they are equal, as
        in Llama 4 Scout, pairs with fewer turns are divided and all others stay.

    Returns
    -------
    array of shape (n,), radians per position.

    Raises
    ------
    ValueError
        If a number is out of its range, or the ends of the ramp are not in order.

    Source: the configuration published with Llama 3.1 (Grattafiori et al. 2024).

    Examples
    --------
    >>> llama3([1.0, 0.1, 0.001], 4, original_length=1024).round(5).tolist()
    [1.0, 0.1, 0.00025]
    """
    low, high = _in_order("low_freq_factor", low_freq_factor, "high_freq_factor", high_freq_factor)
    turned = turns(omega, original_length)
    kept = _ramp(turned, low, high) if low < high else (turned >= low).astype(float)
    return by_parts(omega, factor, kept)


def longrope(
    omega: ArrayLike,
    length: int,
    original_length: int,
    *,
    short_factor: ArrayLike,
    long_factor: ArrayLike,
) -> NDArray[np.float64]:
    """Return every frequency divided by a number of its own, found by search for one model.

    Parameters
    ----------
    omega : array of shape (n,)
    length : int
        Tokens of this input.
    original_length : int
        Tokens of a training sequence.
    short_factor, long_factor : array of shape (n,)
        Divisors for inputs up to `original_length`, and for longer ones; above 0.

    Returns
    -------
    array of shape (n,), radians per position.

    Raises
    ------
    ValueError
        If a list has not one positive number for each pair, or a length is no integer.

    Source: Ding et al. (2024), "LongRoPE".

    Examples
    --------
    >>> longrope([1.0, 0.1], 8192, 4096, short_factor=[1, 1], long_factor=[1, 2]).tolist()
    [1.0, 0.05]
    """
    omega = _grid(omega)
    divisors = {}
    for name, value in {"short_factor": short_factor, "long_factor": long_factor}.items():
        divisors[name] = _checks.finite_array(name, value, ndim=1)
        if divisors[name].shape != omega.shape or (divisors[name] <= 0).any():
            raise ValueError(
                f"{name} must hold one number above 0 for each of {omega.size} pairs, "
                f"got {divisors[name].tolist()}"
            )
    trained = _checks.count("original_length", original_length, minimum=1)
    longer = _checks.count("length", length) > trained
    return omega / divisors["long_factor" if longer else "short_factor"]


def longrope_gain(factor: float, original_length: int) -> float:
    """Return what LongRoPE multiplies queries and keys by, sqrt(1 + ln factor / ln length).

    Parameters
    ----------
    factor : float
        How many times longer, at least 1.
    original_length : int
        Tokens of a training sequence, at least 2.

    Returns
    -------
    float, at least 1.

    Raises
    ------
    ValueError
        If `factor` is below 1 or `original_length` below 2.

    Source: the code published with Ding et al. (2024), "LongRoPE".

    Examples
    --------
    >>> round(longrope_gain(4, 4096), 4)
    1.0801
    """
    length = _checks.count("original_length", original_length, minimum=2)
    return math.sqrt(1 + math.log(check_factor(factor)) / math.log(length))


def check_factor(value: float) -> float:
    """Return `value` as a float, or raise ValueError unless it is a finite number >= 1.

    Parameters
    ----------
    value : float

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If it is less, or no number.

    Examples
    --------
    >>> check_factor(4)
    4.0
    """
    if _checks.positive("factor", value) < 1:
        raise ValueError(
            f"factor must be at least 1, how many times longer inputs are than in training, "
            f"got {value!r}"
        )
    return float(value)


def _grid(omega: ArrayLike) -> NDArray[np.float64]:
    return _checks.finite_array("omega", omega, ndim=1).astype(np.float64, copy=False)


def _several(omega: ArrayLike, schedule: str) -> NDArray[np.float64]:
    """Return frequencies, or raise ValueError unless they fall from the first to the last."""
    omega = _grid(omega)
    if omega.size < 2 or not (np.diff(omega) < 0).all() or omega[-1] <= 0:
        raise ValueError(
            f"omega must hold two or more falling frequencies above 0 for {schedule!r}, "
            f"got {omega.tolist()}"
        )
    return omega


def _in_order(low: str, at: float, high: str, end: float) -> tuple[float, float]:
    """Return the two ends of a ramp, or raise ValueError if the first is the larger."""
    at, end = _checks.positive(low, at), _checks.positive(high, end)
    if at > end:
        raise ValueError(f"{high} must be at least {low} = {at}, got {end}")
    return at, end


def _ramp(values: NDArray[np.floating], start: float, end: float) -> NDArray[np.float64]:
    """Return 0 up to `start`, 1 from `end` on and a straight line between; a step if equal."""
    return np.clip((values - start) / (end - start or 1e-3), 0, 1)
