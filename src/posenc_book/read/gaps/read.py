"""What true times are worth to a model, from trainings to the end on series that lost steps.

The trainings are those of `python -m experiments.gaps`, read whole or not at all. With the
clock "times" the steps that are left stand where they were recorded and a mask covers the gaps;
with "indices" they are moved together and counted. The values are the same.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.read import results
from posenc_book.read.gaps import protocol as gaps
from posenc_book.records import tables
from posenc_book.statistics import friedman
from posenc_book.statistics import summary as statistics

FILE = "gaps"
GROUPS = {"no encoding": (gaps.CONTROL,), **gaps.GROUPS}


@dataclass(frozen=True)
class Worth:
    """What times are worth to a group of encodings, in points of accuracy.

    Parameters
    ----------
    by_set : dict of data set to array of shape (n_seeds,)
        Accuracy with times minus accuracy with indices, the mean of the group.
    """

    by_set: dict[str, NDArray[np.float64]]

    @property
    def units(self) -> list[float]:
        """The means over seeds of independent sets; those that share series are one.

        Rounded as the test rounds, so that what ties is 0.
        """
        means = {dataset: float(seeds.mean()) for dataset, seeds in self.by_set.items()}
        shared = [means.pop(dataset) for dataset in gaps.SHARED]
        return np.round([*means.values(), np.mean(shared)], friedman.DECIMALS).tolist()

    @property
    def mean(self) -> float:
        """The mean over the units."""
        return float(np.mean(self.units))

    def test(self) -> friedman.SignedRank:
        """Return the test of the protocol, without the correction for the other group."""
        return friedman.wilcoxon(self.units)


def worth(group: str) -> Worth:
    """Return what times are worth to a group of encodings.

    Raises
    ------
    ValueError
        If there is no such group, or a training is missing.
    """
    _checks.choice("group", group, GROUPS)
    return Worth(
        {
            dataset: np.mean([_gains(dataset, name) for name in GROUPS[group]], axis=0)
            for dataset in gaps.PROTOCOL["datasets"]
        }
    )


def p_values() -> dict[str, float]:
    """Return the p-values of the groups that know times, adjusted for one another by Holm."""
    adjusted = statistics.holm([worth(group).test().p_value for group in gaps.GROUPS])
    return dict(zip(gaps.GROUPS, adjusted.tolist(), strict=True))


def answer() -> dict[str, dict[str, str]]:
    """Return the mean worth over independent sets by group, and what the test of it says."""
    adjusted = p_values()
    return {group: _tested(worth(group), adjusted.get(group)) for group in GROUPS}


def _tested(one: Worth, p_value: float | None) -> dict[str, str]:
    units = np.array(one.units)
    return {
        "mean (points)": f"{one.mean:+.1f}",
        "ahead with times": f"{(units > 0).sum()} of {units.size}",
        "p after Holm": "not tested" if p_value is None else f"{p_value:.3f}",
    }


def accuracy(encoding: str, clock: str) -> dict[str, float]:
    """Return the mean accuracy of an encoding under a clock, in per cent by data set."""
    _checks.choice("encoding", encoding, gaps.PROTOCOL["encodings"])
    _checks.choice("clock", clock, gaps.PROTOCOL["clocks"])
    sets = gaps.PROTOCOL["datasets"]
    return {dataset: float(np.mean(_seeds(dataset, encoding, clock))) for dataset in sets}


def _gains(dataset: str, encoding: str) -> NDArray[np.float64]:
    """Return accuracy with times minus accuracy with indices by seed, in points."""
    return np.subtract(_seeds(dataset, encoding, "times"), _seeds(dataset, encoding, "indices"))


def _seeds(dataset: str, encoding: str, clock: str) -> list[float]:
    n_seeds = int(gaps.PROTOCOL["seeds"])
    return [_accuracies()[dataset, encoding, clock, seed] for seed in range(n_seeds)]


@cache
def _accuracies() -> dict[tuple[str, str, str, int], float]:
    """Return (data set, encoding, clock, seed) -> accuracy in per cent, of the whole protocol."""
    kept = [
        r for r in tables.finished(results.load_records(FILE)) if r.get("protocol") == gaps.HASH
    ]
    tables.check_one_version(kept)
    found = {}
    for r in kept:
        clock = r["settings"]["dataset_options"]["clock"]
        place = r["dataset"], r["encoding"], clock, r["seed"]
        found[place] = 100 * r["metrics"]["accuracy"]
    n_seeds = int(gaps.PROTOCOL["seeds"])
    planned = [(*place, seed) for place in gaps.places() for seed in range(n_seeds)]
    missing = [place for place in planned if place not in found]
    if missing:
        dataset, encoding, clock, seed = missing[0]
        raise ValueError(
            f"results must hold every training with gaps, but {len(missing)} are missing, such as "
            f"{dataset}, {encoding}, {clock}, seed {seed}: run python -m experiments.gaps"
        )
    return found
