"""The survey's Tables 4 and 5 as printed, to compute with: what it measured, not what we did.

Source: Irani and Metsis (2025), arXiv 2502.12370v1. One number per cell is printed, without a
spread; whether it is one run or a mean of several is not said. The facts of Table 3 stand in
`posenc_book.data.registry`.
"""

from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book import _stored
from posenc_book.data.registry import ENTRIES, Printed
from posenc_book.records.tables import Scores

_STORED = _stored.read(files(__package__).joinpath("printed.toml"))
COLUMNS: tuple[str, ...] = tuple(_STORED["columns"])

# Two of our encodings could be meant by SPE: the text describes ConvSPE, the tables say "SPE".
OURS: dict[str, tuple[str, ...]] = {
    "Fixed": ("sinusoidal",),
    "Learnable": ("learnable",),
    "Relative": ("relative",),
    "tAPE": ("tape",),
    "eRPE": ("erpe",),
    "T-PE": ("tpe",),
    "SPE": ("sine_spe", "conv_spe"),
    "TUPE": ("tupe",),
}

DATASETS = tuple(name for name, entry in ENTRIES.items() if entry.printed is not None)

TABLES = {"time_series": 4, "patch": 5}

TYPES: dict[str, str] = _STORED["types"]

EEG = ("Sleep", "FaceDetection", "SelfRegulationSCP1")  # as section 5.3.1 lists them
SENSORS = ("ElectricDevices", "RoomOccupancy")  # as section 5.3.2 lists them


@dataclass(frozen=True)
class Quoted:
    """An accuracy that the survey's text quotes in per cent, with the cell that it names.

    Parameters
    ----------
    section : str
        Of the survey.
    dataset, method : str
        Row and column of its Table 4.
    percent : float
        As quoted.

    Source: Irani and Metsis (2025), sections 5.3.1 and 5.3.2.
    """

    section: str
    dataset: str
    method: str
    percent: float


QUOTED = tuple(Quoted(*row) for row in _STORED["quoted"])

# What "advanced methods" may mean; "best" is the best method of each set.
READINGS: dict[str, tuple[str, ...]] = {
    "SPE": ("SPE",),
    "TUPE": ("TUPE",),
    "T-PE": ("T-PE",),
    "mean of three": ("SPE", "TUPE", "T-PE"),
    "best": COLUMNS,
}

# Section 5.2: gains over fixed encoding in per cent, by length in steps (over, up to).
GAINS = {(100, np.inf): (5, 6), (49, 100): (3, 4), (0, 49): (2, 3)}
LARGEST_LONG_GAIN = 5.8  # section 6.1, per cent, beyond 100 steps

# Not from the paper: one identical cell of its published code, stored with three outputs, on
# RacketSports (imics-lab/positional-encoding-benchmark at 12b718b).
RERUNS = (0.766, 0.688, 0.719)


def facts(dataset: str) -> Printed:
    """Return the row of Table 3: sizes, length, classes, channels.

    Parameters
    ----------
    dataset : str
        One of DATASETS.

    Returns
    -------
    posenc_book.data.registry.Printed

    Raises
    ------
    ValueError
        If the survey does not have the set.

    Source: Irani and Metsis (2025), Table 3.

    Examples
    --------
    >>> facts("LSST").n_classes, facts("LSST").length
    (14, 36)
    """
    found = ENTRIES[_checks.choice("dataset", dataset, DATASETS)].printed
    assert found is not None  # those of DATASETS are the printed ones
    return found


def column(fact: str) -> NDArray[np.int64]:
    """Return one column of Table 3 in the order of DATASETS, shape (11,).

    Parameters
    ----------
    fact : str
        "train", "test", "length" (steps), "n_classes" or "n_channels".

    Returns
    -------
    int array of shape (11,)

    Raises
    ------
    ValueError
        If `fact` is none of these.

    Source: Irani and Metsis (2025), Table 3.

    Examples
    --------
    >>> column("n_classes").tolist()
    [5, 7, 2, 10, 2, 14, 4, 2, 9, 4, 8]
    """
    _checks.choice("fact", fact, Printed.__dataclass_fields__)
    return np.array([getattr(facts(name), fact) for name in DATASETS])


def accuracy(model: str) -> NDArray[np.float64]:
    """Return the accuracies of Table 4 ("time_series") or 5 ("patch").

    Parameters
    ----------
    model : str
        "time_series" or "patch".

    Returns
    -------
    array of shape (11, 8), shares of 1; rows as DATASETS, columns as COLUMNS.

    Raises
    ------
    ValueError
        If `model` is neither.

    Source: Irani and Metsis (2025), Tables 4 and 5.

    Examples
    --------
    >>> table = accuracy("patch")
    >>> table.shape, float(table[DATASETS.index("Sleep"), COLUMNS.index("TUPE")])
    ((11, 8), 0.879)
    """
    rows = _STORED[_checks.choice("model", model, TABLES)]["accuracy"]
    return np.array([rows[name] for name in DATASETS])


def average_ranks(model: str) -> NDArray[np.float64]:
    """Return the average ranks printed under Table 4 or 5.

    Parameters
    ----------
    model : str
        "time_series" or "patch".

    Returns
    -------
    array of shape (8,), in the order of COLUMNS; 1 is best.

    Raises
    ------
    ValueError
        If `model` is neither.

    Source: Irani and Metsis (2025), Tables 4 and 5, last rows.

    Examples
    --------
    >>> dict(zip(COLUMNS, average_ranks("patch").tolist(), strict=True))["SPE"]
    2.09
    """
    return np.array(_STORED[_checks.choice("model", model, TABLES)]["average_ranks"])


def printed_gains(model: str, *, relative: bool = False) -> dict[str, NDArray[np.float64]]:
    """Return the gain over Fixed on every set, for each way to read "advanced methods".

    Parameters
    ----------
    model : str
        "time_series" or "patch".
    relative : bool
        Whether in per cent of Fixed's accuracy; else in percentage points.

    Returns
    -------
    dict of str to array of shape (11,)
        By the names of READINGS.

    Raises
    ------
    ValueError
        If `model` is neither.

    Examples
    --------
    >>> found = printed_gains("time_series")
    >>> sorted(found)
    ['SPE', 'T-PE', 'TUPE', 'best', 'mean of three']
    >>> round(float(found["SPE"].mean()), 2)
    5.61
    """
    table = accuracy(model)
    fixed = table[:, COLUMNS.index("Fixed")]
    found = {}
    for name, methods in READINGS.items():
        chosen = table[:, [COLUMNS.index(method) for method in methods]]
        reached = chosen.max(axis=1) if name == "best" else chosen.mean(axis=1)
        found[name] = 100 * (reached - fixed) / (fixed if relative else 1)
    return found


def in_classes(values: NDArray[np.float64]) -> list[float]:
    """Return the means of 11 values over the length classes of section 5.2, the longest first.

    Source: Irani and Metsis (2025), section 5.2.
    """
    length = column("length")
    return [float(values[(low < length) & (length <= high)].mean()) for low, high in GAINS]


def fits(gain: NDArray[np.float64]) -> list[bool]:
    """Return whether the mean gain of each length class lies in the band of section 5.2.

    Source: Irani and Metsis (2025), section 5.2.
    """
    bands = zip(in_classes(gain), GAINS.values(), strict=True)
    return [low <= value <= high for value, (low, high) in bands]


def printed_scores(model: str) -> Scores:
    """Return Table 4 or 5 in the form of our own scores, one number for each cell.

    Parameters
    ----------
    model : str
        "time_series" or "patch".

    Returns
    -------
    posenc_book.records.tables.Scores

    Raises
    ------
    ValueError
        If `model` is neither.

    Source: Irani and Metsis (2025), Tables 4 and 5.

    Examples
    --------
    >>> found = printed_scores("patch")
    >>> found.mean().shape, found.cells["Sleep", "TUPE"].tolist()
    ((11, 8), [0.879])
    """
    table = accuracy(model)
    cells = {
        (dataset, method): table[i, j : j + 1]
        for i, dataset in enumerate(DATASETS)
        for j, method in enumerate(COLUMNS)
    }
    return Scores(model, "accuracy", DATASETS, COLUMNS, cells)
