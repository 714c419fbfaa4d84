"""What people would try first, as pages read it: task by row by length, over whole seeds."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from posenc_book.read.lengths import plan_repairs as plan
from posenc_book.read.lengths.plan_repairs import AS_TRAINED, PROTOCOL
from posenc_book.read.lengths.read import Spread, stored
from posenc_book.records import store, tables

LONGER = [n for n in PROTOCOL["tested"] if n > PROTOCOL["trained"]]


@dataclass(frozen=True)
class Tried:
    """What is stored of this protocol.

    Parameters
    ----------
    shares : dict of (task, row) to a dict from seed to a dict from length to a share
        Right answer tokens. Rows are labels, with a reading behind a colon, "rotary: cut".
    seeds : tuple of int
        Those of which every training is there.
    """

    shares: dict[tuple[str, str], dict[int, dict[str, float]]]
    seeds: tuple[int, ...]

    def rows(self, task: str) -> list[str]:
        """Return the rows of a task, the farthest first."""
        names = [row for name, row in self.shares if name == task]
        return sorted(names, key=lambda row: -self.beyond(task, row).mean)

    def at(self, task: str, row: str, length: int) -> Spread:
        """Return the share of right answer tokens at a length, over seeds."""
        return _spread([one[str(length)] for one in self.shares[task, row].values()])

    def beyond(self, task: str, row: str) -> Spread:
        """Return the mean share over the lengths above the trained one, over seeds."""
        seeds = self.shares[task, row].values()
        return _spread([float(np.mean([one[str(n)] for n in LONGER])) for one in seeds])


def _spread(found: list[float]) -> Spread:
    return Spread(float(np.mean(found)), min(found), max(found), len(found))


def load_tried(records: Iterable[dict] | None = None) -> Tried:
    """Return what is stored of the protocol: the seeds of which every training is finished.

    Parameters
    ----------
    records : iterable of dict, optional
        By default those of `results/lab.jsonl`.

    Raises
    ------
    ValueError
        If the finished trainings are of several versions of an encoding or a task.

    Examples
    --------
    >>> load_tried([]).seeds
    ()
    """
    if records is None:
        records = stored()
    kept = [r for r in store.unique(iter(records)) if r.get("protocol") == plan.HASH]
    finished = [r for r in kept if "error" not in r]
    tables.check_one_version(finished)
    by_cell = {(r["seed"], r["dataset"], _label(r["settings"])): r["metrics"] for r in finished}
    asked = [(task, row.label) for task, row in plan.places()]
    seeds = range(PROTOCOL["seeds"])
    whole = [seed for seed in seeds if all((seed, *one) in by_cell for one in asked)]
    shares: dict = defaultdict(dict)
    for seed in whole:
        for task, label in asked:
            for reading, scores in by_cell[seed, task, label]["readings"].items():
                shares[task, _name(label, reading)][seed] = scores["token"]
    return Tried(dict(shares), tuple(whole))


def _label(settings: dict) -> str:
    """Return the label of the row of a record."""
    made = (settings["encoding"], settings["encoding_options"], [*settings["without"]])
    return next(
        row.label for row in plan.ROWS if made == (row.encoding, dict(row.options), [*row.without])
    )


def _name(label: str, reading: str) -> str:
    return label if reading == AS_TRAINED else f"{label}: {reading}"


def tried_rows(tried: Tried, task: str, words: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return a table of one task, the farthest first: a column for each length.

    Parameters
    ----------
    tried : Tried
    task : str
    words : dict
        What a table calls each row; rows without a name are left out.
    """
    return {
        words[row]: {f"length {n}": str(tried.at(task, row, n)) for n in PROTOCOL["tested"]}
        for row in tried.rows(task)
        if row in words
    }
