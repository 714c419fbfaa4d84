"""The survey's eight columns, with the names of our encodings."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc.audit import printed


def theirs(model: str, datasets: Iterable[str]) -> NDArray[np.float64]:
    """Return the printed accuracies of some data sets, (n_datasets, 8)."""
    return printed.accuracy(model)[[printed.DATASETS.index(d) for d in datasets]]


def columns(spe: str) -> list[str]:
    """Return our encodings for the survey's eight columns, with `spe` for SPE.

    Raises
    ------
    ValueError
        If `spe` is none of the candidates.
    """
    _checks.choice("spe", spe, printed.OURS["SPE"])
    return [spe if column == "SPE" else names[0] for column, names in printed.OURS.items()]
