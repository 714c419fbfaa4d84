"""Do the other encodings help, and are they better than the ten?

The library has five encodings beside the ten of the first tier, and those that came later. Each is
a family of its own: gains over none are judged as in the main comparison, and so are differences
from the mean of the ten in the same resample. That rule stands in `results/protocol.md` since
before a result was read.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from posenc_book.read.classification import edition, edition2
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.edition2 import TOKENS, Accuracies, Gain

FAMILIES = {"others": protocols.OTHERS, "later": protocols.LATER}
"""The five other encodings of the library, and those that came after the protocol was frozen."""
TEN = protocols.ENCODINGS[1:]
MEAN = "mean of ten"


def load_family(family: str, model: str, *, every: bool = False) -> Accuracies | None:
    """Return none, the ten and a family on the sets that have all of them; None without any.

    Parameters
    ----------
    family : str
        A name of `FAMILIES`.
    model : str
        "patch" or "time_series".
    every : bool
        Whether to take in data sets that came after the edition.

    Returns
    -------
    Accuracies or None

    Raises
    ------
    KeyError
        If there is no such family.
    ValueError
        If the edition names a data set that is not whole.

    Examples
    --------
    >>> grid = load_family("others", "patch")  # None as long as the edition has none
    >>> grid is None or grid.encodings[-5:] == protocols.OTHERS
    True
    """
    names = (*protocols.ENCODINGS, *FAMILIES[family])
    if not edition.has_whole(model, encodings=names, every=every):
        return None
    return edition2.load_grid(model, encodings=names, every=every)


def over_none(grid: Accuracies, family: str) -> list[Gain]:
    """Return what each encoding of a family adds to none, over the units that are learned."""
    return edition2.gains(_learned(grid, family))


def answers(
    family: str, models: Sequence[str] = tuple(TOKENS), *, every: bool = False
) -> dict[str, tuple[NDArray[np.float64], list[Gain]]]:
    """Return each encoding's gain over none on every unit, with its verdict, by tokens.

    Parameters
    ----------
    family : str
        A name of `FAMILIES`.
    models : sequence of str
    every : bool
        Whether to take in data sets that came after the edition.

    Returns
    -------
    dict of (array of shape (n_encodings, n_units), list of Gain)
        Gains in points, and verdicts in the same order; models without a whole set are left out.

    Examples
    --------
    >>> answers("others", models=())
    {}
    """
    grids = {model: load_family(family, model, every=every) for model in models}
    return {
        TOKENS[model]: edition2.judged(_learned(grid, family))
        for model, grid in grids.items()
        if grid is not None
    }


def over_ten(grid: Accuracies, family: str) -> list[Gain]:
    """Return how far each encoding of a family is ahead of the mean of the ten."""
    own = _learned(grid, family)
    mean = grid.units().only(own.datasets).compare(TEN).scores.mean(1, keepdims=True)
    scores = np.concatenate([mean, own.compare(FAMILIES[family]).scores], axis=1)
    names = (MEAN, *FAMILIES[family])
    return edition2.gains(Accuracies(grid.model, own.datasets, names, scores, own.largest_class))


def of_ten(grid: Accuracies, family: str) -> list[Gain]:
    """Return what the ten add to none, over the same units as `over_none`.

    Parameters
    ----------
    grid : Accuracies
        Of data sets, as `load_family` returns it.
    family : str

    Returns
    -------
    list of Gain
        The largest mean gain first; p-values by Holm over the ten.

    Examples
    --------
    >>> names = ("none", *TEN, *protocols.OTHERS)
    >>> scores = np.full((3, len(names), 5), 0.7) + 0.01 * np.arange(3)[:, None, None]
    >>> scores[:, 0] -= 0.1
    >>> sets, floor = ("Libras", "NATOPS", "Plane"), np.full((3, 5), 0.4)
    >>> grid = Accuracies("patch", sets, names, scores, floor)
    >>> len(of_ten(grid, "others")), round(of_ten(grid, "others")[0].effect.mean, 2)
    (10, 0.1)
    """
    units = grid.units().only(_learned(grid, family).datasets)
    return edition2.gains(units.compare(("none", *TEN)))


def over(grid: Accuracies, family: str, encoding: str, other: str) -> Gain:
    """Return how far one encoding is ahead of another, by no correction for asking several.

    Parameters
    ----------
    grid : Accuracies
        Of data sets, as `load_family` returns it.
    family : str
        The comparison is over the same units as `over_none`.
    encoding, other : str
        Two of the grid's encodings.

    Returns
    -------
    Gain

    Raises
    ------
    ValueError
        If the grid lacks one of them.

    Examples
    --------
    >>> names = ("none", *TEN, *protocols.OTHERS)
    >>> scores = np.full((3, len(names), 5), 0.7) + 0.01 * np.arange(3)[:, None, None]
    >>> scores[:, names.index("t5")] -= 0.1
    >>> sets, floor = ("Libras", "NATOPS", "Plane"), np.full((3, 5), 0.4)
    >>> grid = Accuracies("patch", sets, names, scores, floor)
    >>> round(over(grid, "others", "alibi", "t5").effect.mean, 2)
    0.1
    """
    lacking = {encoding, other} - {*grid.encodings}
    if lacking:
        known = ", ".join(grid.encodings)
        raise ValueError(f"encoding and other must be among {known}, got {min(lacking)!r}")
    units = grid.units().only(_learned(grid, family).datasets)
    return edition2.gains(units.compare((other, encoding)))[0]


def _learned(grid: Accuracies, family: str) -> Accuracies:
    """Return none and the family on the units on which they learn something."""
    return edition2.learned(grid.compare(("none", *FAMILIES[family])))


def family_rows(family: str, models: Sequence[str] = tuple(TOKENS), *, every: bool = False) -> dict:
    """Return a row an encoding: gains over none and over the ten in points, with verdicts.

    Parameters
    ----------
    family : str
        A name of `FAMILIES`.
    models : sequence of str
    every : bool
        Whether to take in data sets that came after the edition.

    Returns
    -------
    dict of dict of str
        By encoding, then by the heading of a column; empty where nothing is whole.

    Examples
    --------
    >>> family_rows("others", models=())
    {}
    """
    found: dict[str, dict[str, str]] = {}
    for model in models:
        grid = load_family(family, model, every=every)
        if grid is None:
            continue
        for one in over_none(grid, family):
            row = found.setdefault(one.encoding, {})
            row[f"{TOKENS[model]}, over none ({one.n_units})"] = _gain_text(one)
        for one in over_ten(grid, family):
            found[one.encoding][f"{TOKENS[model]}, over the ten"] = _gain_text(one)
    return found


def _gain_text(one: Gain) -> str:
    return f"{edition2.points_text(one.effect)}, {edition2.verdict_text(one)}"
