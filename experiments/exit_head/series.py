"""The 24 series, read, checked and cut by one rule, and which of them files leave out."""

import os
from functools import cache
from pathlib import Path

from posenc_book.data.checksums import sha256
from posenc_book.data.errors import FileFormatError, MissingDataError
from posenc_book.forecast import units
from posenc_book.forecast.grid import frequency, on_grid
from posenc_book.forecast.table import Form, read_tracks
from posenc_book.forecast.units import Series, Shape, Unit, naive_error
from posenc_book.forecast.windows import cut
from posenc_book.read.exit_head import PLAN

FOLDER: str = PLAN["folder"]


def path_of(name: str) -> Path:
    """Return where a series is; raise a DataError if it is missing or another than the plan's."""
    _, expected, address = PLAN["series"][name]
    root = os.environ.get("POSENC_DATA", "")
    path = Path(root, FOLDER, f"{name}.csv.gz")
    if not (root and path.is_file()):
        raise MissingDataError(
            f"{path.name} is not there: put it into the folder {FOLDER} of the folder that the "
            f"variable POSENC_DATA names (now {root or 'not set'!r}); it has two columns, time and "
            f"value, and was made from {address}"
        )
    if (found := sha256(path)) != expected:
        why = f"its sha256 is {found}, and the plan's is {expected}; it was made from {address}"
        raise FileFormatError(path, None, why)
    return path


def shape(season: int) -> Shape:
    """Return how a series is looked at: twelve patches, and a season ahead."""
    patch = max(8, season // 12)
    return Shape(season, 12 * patch, min(season, 6 * patch), patch)


@cache
def unit(name: str) -> Unit:
    """Return a series on regular steps, 70, 10 and 20 per cent to learn from, choose and test."""
    every, path = frequency(PLAN["series"][name][0]), path_of(name)
    [values] = on_grid(path, read_tracks(path, Form("time", ("value",))), every).values
    n = len(values)
    one = Series(values, int(0.7 * n), n - int(0.2 * n), n)
    units.GIVEN[name] = Unit(name, shape(every.season), [one], None, 0)
    return units.GIVEN[name]


def windows(name: str) -> dict[str, int]:
    """Return how many windows each part of a series has; none where it does not fit its steps."""
    path_of(name)
    try:
        one = unit(name)
    except FileFormatError:  # more than half of the steps have no row
        return {}
    if not naive_error(one.series[0], one.shape):  # it repeats itself
        return {}
    return {part: len(some) for part, some in vars(cut(one)).items()}


def fits(found: dict[str, int]) -> bool:
    """Return whether a series has windows enough to be learned."""
    return all(found.get(part, 0) >= least for part, least in PLAN["least windows"].items())
