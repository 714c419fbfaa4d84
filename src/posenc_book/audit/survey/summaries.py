"""The survey's Tables 1 and 2 as printed: what kind each method is, what it learns, how cost grows.

Source: Irani and Metsis (2025), arXiv 2502.12370v1, section 2.3. Methods have the names of
`posenc.encodings`. Table 2's caption names the space too; the table has no column for it.
"""

from posenc import _checks

# technique, injection, learnable or fixed
TABLE_1 = {
    "sinusoidal": ("Absolute", "additive", "Fixed"),
    "learnable": ("Absolute", "additive", "Learnable"),
    "relative": ("Relative", "matrices", "Fixed"),
    "tape": ("Absolute", "additive", "Fixed"),
    "erpe": ("Relative", "matrices", "Learnable"),
    "tupe": ("Rel+Abs", "matrices", "Learnable"),
    "conv_spe": ("Relative", "matrices", "Learnable"),
    "tpe": ("Rel+Abs", "combined", "Learnable+Fixed"),
}

TABLE_2_COLUMNS = ("parameters", "time")

TABLE_2 = {
    "sinusoidal": ("0", "O(Ld)"),
    "learnable": ("Ld", "O(Ld)"),
    "relative": ("2(2L − 1)dl", "O(L²d)"),
    "tape": ("Ld", "O(Ld)"),
    "erpe": ("(L² + L)l", "O(L²d)"),
    "tupe": ("2dl", "O(Ld + d²)"),
    "conv_spe": ("3Kdh + dl", "O(LKR)"),
    "tpe": ("2d²l/h + (2L + 2l)d", "O(L²d)"),
}

# The power of the length L in the printed time complexity.
POWER_OF_LENGTH = {
    "sinusoidal": 1,
    "learnable": 1,
    "relative": 2,
    "tape": 1,
    "erpe": 2,
    "tupe": 1,
    "conv_spe": 1,
    "tpe": 2,
}


def parameters(length: int, width: int, heads: int, layers: int, taps: int) -> dict[str, int]:
    """Return what the formulas of Table 2 give for the number of parameters.

    Parameters
    ----------
    length, width, heads, layers, taps : int
        The survey's L, d, h, l and K. `heads` must divide `width`.

    Raises
    ------
    ValueError
        If a number is not positive, or `heads` does not divide `width`.
    """
    sizes = {"length": length, "width": width, "layers": layers, "taps": taps}
    for name, value in sizes.items():
        _checks.count(name, value, minimum=1)
    _checks.divisor("heads", heads, "width", width)
    return {
        "sinusoidal": 0,
        "learnable": length * width,
        "relative": 2 * (2 * length - 1) * width * layers,
        "tape": length * width,
        "erpe": (length**2 + length) * layers,
        "tupe": 2 * width * layers,
        "conv_spe": 3 * taps * width * heads + width * layers,
        "tpe": 2 * width**2 * layers // heads + (2 * length + 2 * layers) * width,
    }
