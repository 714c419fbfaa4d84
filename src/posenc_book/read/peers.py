"""posenc beside other people's code: the table that `make peers` stores, read for the book.

Both sides get the same random weights and tokens. What is stored is the largest absolute
difference of their outputs, and of the gradients by all weights and tokens, in float32 and
float64, with the version or commit of the reference and the date.
"""

import json
from typing import TYPE_CHECKING, Any

from posenc_book import _files
from posenc_book.read import results
from posenc_book.teaching.table import Table

if TYPE_CHECKING:
    import pandas as pd

EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52}
ROUNDING = 64
"""Roundings of the largest number of a result by which two ways to compute it may differ."""

STANDARD_ERRORS = 6.0
"""Limit of differences that are counted in standard errors of a sample."""

UNITS = {
    "absolute": "absolute difference, in the units of the quantity itself",
    "standard errors": "standard errors of the reference's sample",
}

CAPTION = (
    "Largest absolute difference between posenc and other people's code, on the same random "
    "weights and tokens. A reference that has float32 inside computes something in it whatever "
    "is asked, and its float64 columns show that rounding."
)
EXACTNESS = "Largest distance of outputs in float32 from posenc's result in float64."
SAMPLED = (
    "How far the sample covariance of the reference's random codes is from posenc's kernel: the "
    "largest of all entries."
)
EXPLAINED = "Where posenc and other people's code differ by more than rounding, and why."
KEY = ["encoding", "reference", "version"]


def load_comparisons() -> dict[str, Any]:
    """Return the stored table as it is: `comparisons`, `skipped`, `not_compared`, `repositories`.

    Returns
    -------
    dict
        As `results/peers.json` holds it.

    Raises
    ------
    ValueError
        If the folder of results has no `peers.json`.

    Examples
    --------
    >>> sorted(load_comparisons())
    ['comparisons', 'not_compared', 'repositories', 'skipped']
    """
    path = results.folder() / "peers.json"
    if not path.is_file():
        raise ValueError(
            f"the folder of results must hold peers.json, which {results.folder()} does not; "
            "`make peers` writes it"
        )
    return json.loads(_files.text(path))


def tolerance(dtype: str, size: float, precision: str = "own", unit: str = "absolute") -> float:
    """Return the difference that rounding allows."""
    if dtype not in EPSILON or precision not in ("own", "float32") or unit not in UNITS:
        raise ValueError(
            f"dtype must be one of {', '.join(EPSILON)}, precision 'own' or 'float32' and unit "
            f"one of {', '.join(UNITS)}; got {dtype!r}, {precision!r}, {unit!r}"
        )
    if unit == "standard errors":
        return STANDARD_ERRORS
    return ROUNDING * EPSILON["float32" if precision == "float32" else dtype] * size


def measured_differences() -> "pd.DataFrame":
    """Return every measurement, one row per comparison, quantity and dtype.

    `difference`, `size` (largest number of the reference), `tolerance` and, in float32,
    `posenc_error` and `reference_error` (distances from posenc's result in float64) are in the
    row's `unit`.
    """
    import pandas as pd

    rows = []
    for one in load_comparisons()["comparisons"]:
        about = {name: value for name, value in one.items() if name != "measured"}
        rows += [about | row for row in one["measured"]]
    return _described(pd.DataFrame(rows), CAPTION)


def comparison_table() -> "pd.DataFrame":
    """Return one row per encoding and reference: the largest differences of all its parts.

    `attrs` holds `caption` and `units`. Comparisons that rounding does not explain are in
    `explained`, those of samples in `sampled`.

    Returns
    -------
    DataFrame
        Indexed by encoding and reference.

    Raises
    ------
    ValueError
        If the folder of results has no `peers.json`.

    Examples
    --------
    >>> comparison_table().columns[1:5].tolist()
    ['output, float32', 'output, float64', 'gradient, float32', 'gradient, float64']
    """
    found = _expected(measured_differences())
    found["column"] = found["quantity"] + ", " + found["dtype"]
    wide = found.pivot_table("difference", KEY, "column", aggfunc="max", sort=False)
    wide = wide[[f"{q}, {dtype}" for q in ("output", "gradient") for dtype in EPSILON]]
    inside = found["precision"].eq("float32").groupby([found[name] for name in KEY]).any()
    wide["float32 inside"] = inside.map({True: "yes", False: ""})
    return _described(wide.reset_index("version").rename_axis(columns=None), CAPTION)


def exactness() -> "pd.DataFrame":
    """Return how far outputs in float32 are from posenc's in float64, largest of all parts.

    Returns
    -------
    DataFrame
        Indexed by encoding and reference, with `posenc_error` and `reference_error`.

    Raises
    ------
    ValueError
        If the folder of results has no `peers.json`.

    Examples
    --------
    >>> bool(exactness()["posenc_error"].max() < 1e-4)
    True
    """
    found = _expected(measured_differences())
    found = found[(found["dtype"] == "float32") & (found["quantity"] == "output")]
    errors = found.groupby(KEY[:2], sort=False)[["posenc_error", "reference_error"]].max()
    return _described(errors, EXACTNESS)


def sampled() -> "pd.DataFrame":
    """Return the comparisons of random codes, in standard errors, one row each.

    Returns
    -------
    DataFrame

    Raises
    ------
    ValueError
        If the folder of results has no `peers.json`.

    Examples
    --------
    >>> sorted(set(sampled()["encoding"]))
    ['conv_spe', 'sine_spe']
    >>> bool((sampled()["difference"] < STANDARD_ERRORS).all())
    True
    """
    found = measured_differences()
    found = found[(found["unit"] == "standard errors") & (found["dtype"] == "float64")]
    columns = ["encoding", "reference", "part", "note", "entries", "difference", "version"]
    return _described(found[columns].reset_index(drop=True), SAMPLED, "standard errors")


def explained() -> "pd.DataFrame":
    """Return the outputs that differ by more than rounding, in float32, each with the reason."""
    found = measured_differences()
    found = found[(found["explanation"] != "") & (found["quantity"] == "output")]
    columns = ["encoding", "reference", "part", "difference", "size", "explanation", "version"]
    found = found[found["dtype"] == "float32"][columns]
    return _described(found.reset_index(drop=True), EXPLAINED)


def _expected(found: "pd.DataFrame") -> "pd.DataFrame":
    """Return the comparisons that are expected to agree."""
    return found[(found["explanation"] == "") & (found["unit"] == "absolute")].copy()


def _described(found: "pd.DataFrame", caption: str, unit: str = "absolute") -> "pd.DataFrame":
    found.attrs = {"caption": caption, "units": UNITS[unit]}
    return found


def shown(found: "pd.DataFrame") -> Table:
    """Return one of the tables for a page: numbers with one digit, versions shortened.

    Parameters
    ----------
    found : DataFrame
        What `comparison_table`, `exactness`, `sampled` or `explained` returns.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If `found` has no row.

    Examples
    --------
    >>> shown(exactness()).columns
    ['encoding', 'reference', 'error of posenc', 'error of reference']
    """
    rows = {}
    flat = found.reset_index(drop=found.index.names == [None])
    for number, row in enumerate(flat.to_dict("records"), 1):
        rows[number] = {_words(name): _short(name, value) for name, value in row.items()}
    return Table(rows, head="no.", caption=found.attrs["caption"], wide=True)


def reasons() -> str:
    """Return the differences that rounding does not explain as a list in Markdown.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the folder of results has no `peers.json`.

    Examples
    --------
    >>> reasons().startswith("- **sinusoidal** and Whisper sinusoids of transformers differ by ")
    True
    """
    rows = explained().to_dict("records")
    return "\n".join(
        f"- **{one['encoding']}** and {one['part']} of {one['reference']} differ by "
        f"{one['difference']:.0e} where outputs reach {one['size']:.0e}. {one['explanation']}"
        for one in rows
    )


def _words(column: str) -> str:
    owner = column.removesuffix("_error")
    return column if owner == column else f"error of {owner}"


def _short(column: str, value: object) -> str:
    """Return an entry in few letters."""
    if isinstance(value, float):
        return "–" if value != value else f"{value:.0e}"
    return str(value)[:12] if column == "version" else str(value)
