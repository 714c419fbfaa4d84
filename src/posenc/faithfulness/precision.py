"""Rounding to the floating-point formats of training and inference, bfloat16 included."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import _checks

# Binary formats: bits of the significand (with the hidden one), least and largest exponent.
_FORMATS = {
    "float64": (53, -1022, 1023),
    "float32": (24, -126, 127),
    "bfloat16": (8, -126, 127),
    "float16": (11, -14, 15),
}


def round_to(table: ArrayLike, precision: str) -> NDArray[np.float64]:
    """Return the table rounded to a floating-point format, to nearest, ties to even.

    Parameters
    ----------
    table : array of any shape
    precision : {"float64", "float32", "bfloat16", "float16"}

    Returns
    -------
    float64 array of the same shape, whose values the format holds exactly.

    Raises
    ------
    ValueError
        If the table is not finite, a value overflows the format, or the format is unknown.

    Examples
    --------
    >>> round_to([[256.0], [257.0]], "bfloat16").tolist()
    [[256.0], [256.0]]
    """
    _checks.choice("precision", precision, _FORMATS)
    values = _checks.finite_array("table", table, ndim=None).astype(np.float64, copy=False)
    bits, least, largest = _FORMATS[precision]
    # frexp's significand lies in [1/2, 1), so its exponent is one above that of the formats.
    exponents = np.maximum(np.frexp(values)[1], least + 1)
    rounded = np.ldexp(np.rint(np.ldexp(values, bits - exponents)), exponents - bits)
    limit = float(2 - 2.0 ** (1 - bits)) * 2.0**largest
    if np.any(np.abs(rounded) > limit):
        worst = np.abs(values).max()
        raise ValueError(f"table must fit into {precision}, at most {limit:.6g}, got {worst:.6g}")
    return rounded
