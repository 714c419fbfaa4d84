"""Two surveys of variable stars, whose readings carry real times, minutes to months apart.

`asas_stars`: kinds of variable stars in the All Sky Automated Survey (Richards et al. 2012).
`rr_lyrae`: RR Lyrae stars of two types in SDSS Stripe 82 (Sesar et al. 2010), in five bands, each
read at its own moments. Either file is a table of one reading a line, times in days.

No split is given, so each deal draws one, and with it the readings that a star keeps.
"""

import math
import os
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.data import checksums
from posenc_book.data.dataset import Dataset, stack
from posenc_book.data.errors import FileFormatError, MissingDataError
from posenc_book.data.fingerprints import of_parts
from posenc_book.data.formats import text
from posenc_book.data.protocols import split_validation

FOLDER = "irregular"
CLOCKS = ("numbers", "times", "since")
NO_READING = 90.0  # what a survey writes for a magnitude or an error that it does not have: 99.99


@dataclass(frozen=True)
class Survey:
    """The bands of a survey, the sum of its file, and where its readings come from."""

    bands: tuple[str, ...]
    sha256: str
    source: str


SURVEYS = {
    "asas_stars": Survey(
        ("V",),
        "59281db5b1f4c663d4c68222f7b2f1ef30ef80e8cefb69b3b82e5f3d0ed951f3",
        "the folder asas_training of github.com/cesium-ml/cesium-data at commit 2ad85e77b6c1",
    ),
    "rr_lyrae": Survey(
        ("u", "g", "r", "i", "z"),
        "3838b0eab91b8884954c79c890f57c2d8371c34d1d0095bf7fdd5b8dea95f58f",
        "the folder datasets/S82_RRLyr of github.com/astroML/astroML-data at commit 869ca2829415",
    ),
}


@dataclass(frozen=True, eq=False)
class Star:
    """The readings of one star.

    Parameters
    ----------
    kind : str
    readings : array of shape (n, 3)
        Time in days, number of the band, magnitude; in the order of time.
    """

    kind: str
    readings: NDArray[np.float64]


@cache
def load_stars(name: str) -> list[Star]:
    """Return the stars of a survey from $POSENC_DATA, after a look at the sum of their file.

    Raises
    ------
    MissingDataError
        If the file is not there; the message says where it comes from and where to put it.
    FileFormatError
        If it is another file than the one that this book knows.
    """
    survey = SURVEYS[_checks.choice("name", name, SURVEYS)]
    root = os.environ.get("POSENC_DATA", "")
    path = Path(root, FOLDER, f"{name}.csv.gz")
    if not root or not path.is_file():
        raise MissingDataError(
            f"{path.name} is not there: put it into the folder {FOLDER} of the folder that the "
            f"variable POSENC_DATA names (now {root or 'not set'!r}). It holds a line for each "
            f"reading, with the columns {', '.join(_columns(survey))}, gathered from "
            f"{survey.source}; its SHA-256 is {survey.sha256}"
        )
    found = checksums.sha256(path)
    if found != survey.sha256:
        problem = f"this must be the file with the SHA-256 {survey.sha256}, got one with {found}"
        raise FileFormatError(path, None, problem)
    return read_stars(path, survey)


def read_stars(path: Path, survey: Survey) -> list[Star]:
    """Return the stars of a table, without readings that the survey does not have."""
    columns, found = _columns(survey), dict[str, _Rows]()
    rows = text.table(path, ",")[1]
    line, head = next(rows, (1, []))
    if head != columns:
        problem = f"the columns must be {', '.join(columns)}, got {', '.join(head)!r:.80}"
        raise FileFormatError(path, line, problem)
    for line, fields in rows:
        _add(found, fields, survey, path, line)
    if not found or not all(one.rows for one in found.values()):
        raise FileFormatError(path, None, "each star must have a reading, and there must be stars")
    return [Star(one.kind, np.array(one.rows)) for one in found.values()]


@dataclass
class _Rows:
    """A star while its lines are read."""

    kind: str
    rows: list[tuple[float, int, float]]
    last: float = -math.inf


def _columns(survey: Survey) -> list[str]:
    return ["series", "time", *["band"] * (len(survey.bands) > 1), "magnitude", "error", "label"]


def _add(found: dict[str, _Rows], fields: list[str], survey: Survey, path: Path, line: int) -> None:
    """Add a reading to its star, or raise FileFormatError."""
    columns = _columns(survey)
    try:
        one = dict(zip(columns, fields, strict=True))
        time, magnitude, error = (float(one[name]) for name in ("time", "magnitude", "error"))
        band = survey.bands.index(one.get("band", survey.bands[0]))
    except ValueError:
        wanted = f"{', '.join(columns)} (bands: {', '.join(survey.bands)})"
        got = ",".join(fields)
        raise FileFormatError(path, line, f"expected {wanted}, got {got!r:.80}") from None
    star = found.setdefault(one["series"], _Rows(one["label"], []))
    if star.kind != one["label"] or not time >= star.last:
        problem = f"the star {one['series']} must have one label, and times that rise"
        raise FileFormatError(path, line, problem)
    star.last = time
    if max(magnitude, error) < NO_READING:
        star.rows.append((time, band, magnitude))


def deal(
    name: str,
    r: int,
    *,
    clock: str,
    unit: float = 1.0,
    readings: int,
    least: int,
    test: float,
    without: str = "",
) -> tuple[Dataset, Dataset]:
    """Return a training and a test part of a survey, both with all kinds in their proportions.

    Parameters
    ----------
    name : str
        A name of `SURVEYS`.
    r : int
        Draws the parts, and which readings a star keeps: the same for all clocks.
    clock : {"numbers", "times", "since"}
        Whether readings are counted, stand at their times, or are counted with one channel more,
        log(1 + time since the reading before).
    unit : float
        Days that last as long as one step.
    readings, least : int
        Most readings of a star, and fewest stars of a kind that stays.
    test : float
        Share of the test part.
    without : str
        A kind that is left out.
    """
    _checks.choice("clock", clock, CLOCKS)
    _checks.positive("unit", unit)
    stars, survey = load_stars(name), SURVEYS[name]
    counts = Counter(star.kind for star in stars)
    kinds = tuple(sorted(kind for kind, n in counts.items() if n >= least and kind != without))
    kept = [
        drawn(star, readings, np.random.default_rng([r, number]))
        for number, star in enumerate(stars)
        if star.kind in kinds
    ]
    times = [(one[:, 0] - one[0, 0]) / unit for one in kept]
    channels = [_brightness(one, len(survey.bands)) for one in kept]
    if clock == "since":
        since = [np.log1p(np.diff(one, prepend=0.0)) for one in times]
        channels = [np.column_stack(pair) for pair in zip(channels, since, strict=True)]
    y = np.array([kinds.index(star.kind) for star in stars if star.kind in kinds])
    said = f"deal {r}, {readings} readings of each star at random, from {survey.source}"
    at = times if clock == "times" else ()
    made = stack(channels, y, kinds, name, said, length=readings, times=at)
    return split_validation(made, test, r)


def drawn(star: Star, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return at most `n` readings (n, 3) of a star, in their order."""
    n_all = len(star.readings)
    return star.readings[np.sort(rng.choice(n_all, min(n, n_all), replace=False))]


def _brightness(kept: NDArray[np.float64], n_bands: int) -> NDArray[np.float64]:
    """Return magnitudes from the star's own median in each band, and which band it was."""
    band, magnitude = kept[:, 1].astype(int), kept[:, 2].copy()
    for one in np.unique(band):
        magnitude[band == one] -= np.median(magnitude[band == one])
    which = np.eye(n_bands)[band] if n_bands > 1 else np.empty((len(band), 0))
    return np.column_stack([magnitude, which])


@cache
def fingerprint(name: str, **options) -> str:
    """Return 16 hexadecimal digits of the first deal of a survey, with options of `deal`."""
    return of_parts(deal(name, 1, **options))
