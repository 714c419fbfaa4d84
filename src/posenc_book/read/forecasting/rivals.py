"""In how many units is a reader ahead of simpler forecasters?

A reader is taken with the encoding that its validation chooses on each unit, so that no test error
has a say in it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from posenc_book import _files
from posenc_book.read import results
from posenc_book.read.forecasting import plan
from posenc_book.read.forecasting.complete import Stored, Way
from posenc_book.read.forecasting.plan import COUNTED, LINEAR, NONE, READERS

FILE = "forecasting/baselines.json"
STORED_RIVALS = ("seasonal_naive", "theta", "boosted_trees")


@dataclass(frozen=True)
class Standing:
    """A reader beside a rival.

    Parameters
    ----------
    reader, rival : str
    whole : tuple of str
        Units on which all that is compared is trained.
    ratios : mapping of str to float
        The reader's error over the rival's, by unit; empty as long as a unit is not whole.
    """

    reader: str
    rival: str
    whole: tuple[str, ...]
    ratios: Mapping[str, float]

    @property
    def behind(self) -> tuple[str, ...]:
        """Units in which the reader has no smaller error than the rival."""
        return tuple(unit for unit, ratio in self.ratios.items() if ratio >= 1)

    def __str__(self) -> str:
        if len(self.whole) < len(COUNTED):
            return f"not whole: {len(self.whole)} of {len(COUNTED)} units"
        return f"{len(self.ratios) - len(self.behind)} of {len(self.ratios)}"


def load_rivals() -> dict[str, dict[str, float]]:
    """Return the MASE of the forecasters that are not trained with the readers, by unit and name.

    Raises ValueError if the file is missing.
    """
    path = results.folder() / FILE
    if not path.is_file():
        raise ValueError(f"{path} is missing: run python -m experiments.forecasting.baselines")
    stored = json.loads(_files.text(path))
    return {
        unit: {name: float(of[name]["mase"]) for name in STORED_RIVALS}
        for unit, of in stored.items()
        if unit in COUNTED
    }


def standings(stored: Stored, rivals: Mapping[str, Mapping[str, float]]) -> list[Standing]:
    """Return how each reader stands beside each rival, over the units that count.

    Parameters
    ----------
    stored : Stored
    rivals : mapping of units to mappings of names to MASE
        As `load_rivals` returns them; linear maps of the same windows are in `stored`.
    """
    return [
        _standing(stored, reader, rival, rivals)
        for reader in READERS
        for rival in (*LINEAR, *STORED_RIVALS)
    ]


def _standing(
    stored: Stored, reader: str, rival: str, rivals: Mapping[str, Mapping[str, float]]
) -> Standing:
    ways = [Way(reader, name) for name in plan.ENCODINGS]
    linear = [Way(rival, NONE)] if rival in LINEAR else []
    whole = stored.whole([*ways, *linear], COUNTED)
    if len(whole) < len(COUNTED):
        return Standing(reader, rival, whole, {})
    errors = {
        unit: stored.mean_score(linear[0], unit) if linear else rivals[unit][rival]
        for unit in whole
    }
    ratios = {
        unit: stored.mean_score(best(stored, reader, unit), unit) / errors[unit] for unit in whole
    }
    return Standing(reader, rival, whole, ratios)


def best(stored: Stored, reader: str, unit: str) -> Way:
    """Return the way whose validation error is smallest on a unit, by the mean over seeds.

    Raises ValueError if an encoding is not whole there, or the unit is kept apart.
    """
    ways = [Way(reader, name) for name in plan.ENCODINGS]
    return min(ways, key=lambda way: stored.mean_score(way, unit, "validation_mase"))
