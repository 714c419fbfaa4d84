"""Trainings on anomaly windows and on the range probe, for the Audit.

Encodings are compared at two sizes of their rows: "large" means norm sqrt(d_model / 2), "small"
means norm 1. The original papers add large sinusoids and small DFT rows.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc_book import data
from posenc_book.read import results
from posenc_book.read.range_probe import protocol as probes
from posenc_book.read.range_probe import read as probe
from posenc_book.records import tables as score_tables
from posenc_book.statistics import summary as statistics

SINES, DFT = "sinusoidal, large", "DFT, small"
VARIANTS = {  # label -> (encoding, scale) in the stored records
    "none": ("none", "paper"),
    SINES: ("sinusoidal", "paper"),
    "sinusoidal, small": ("sinusoidal", "unit"),
    "DFT, large": ("dft", "loud"),
    DFT: ("dft", "paper"),
    "one-hot, large": (probes.ONE_HOT, "loud"),
}
# some lines of windows name a class
MADE_LOUD = {"posenc.audit.matched:LoudDFT": VARIANTS["DFT, large"]}
SETS = ("SMD", "MSL")
DISTANCES = probes.DISTANCES
MOST_WINDOWS = 1000  # of each part
SENSORS = {  # instruments on bodies, in a room and on a rover
    *("ArticularyWordRecognition", "BasicMotions", "EMGGestures", "Epilepsy", "FingerMovements"),
    *("MSL", "NATOPS", "RacketSports", "RoomOccupancy", "UWaveGestureLibrary"),
}


@dataclass(frozen=True)
class Runs:
    """Metrics by encoding, scale, place (a set, or a distance of the probe), model and seed."""

    cells: dict[tuple, dict[int, dict]]

    def scores(
        self, variant: str, place: str | int, metric: str, model: str = "time_series"
    ) -> dict[int, float]:
        """Return a metric by seed; empty where nothing is stored."""
        found = self.cells.get((*VARIANTS[variant], place, model), {})
        return {seed: metrics[metric] for seed, metrics in sorted(found.items())}

    def mean(self, variant: str, place: str | int, metric: str) -> float:
        """Return the mean over seeds."""
        return float(np.mean(list(self.scores(variant, place, metric).values())))

    def differences(
        self, first: str, second: str, place: str | int, metric: str, model: str = "time_series"
    ) -> NDArray[np.float64]:
        """Return first minus second for each seed that both have."""
        a, b = (self.scores(variant, place, metric, model) for variant in (first, second))
        return np.array([a[seed] - b[seed] for seed in sorted(a.keys() & b.keys())])

    def paired(self, *arguments: Any, **options: Any) -> statistics.Interval:
        """Return the mean difference over paired seeds with Student's interval."""
        return statistics.t_interval(self.differences(*arguments, **options))

    def found(self, variant: str, distance: int) -> str:
        """Return how many trainings on the probe found the task, such as "4 of 10"."""
        steps = self.steps_to_find(variant, distance)
        return f"{np.isfinite(steps).sum()} of {len(steps)}"

    def steps_to_find(self, variant: str, distance: int) -> NDArray[np.float64]:
        """Return the steps until each training on the probe found the task; infinity if never."""
        return np.array(list(self.scores(variant, distance, "steps_to_find").values()))

    def times_as_many(self, slow: tuple[str, int], fast: tuple[str, int]) -> statistics.Interval:
        """Return how many times as many steps one place took to be found as another.

        A place is a variant and a distance. The mean is geometric, over the seeds that found both,
        and the interval is Student's of their logarithms.
        """
        first, second = (self.steps_to_find(*place) for place in (slow, fast))
        both = np.isfinite(first) & np.isfinite(second)
        logs = statistics.t_interval(np.log2(first[both] / second[both]))
        mean, low, high = np.exp2([logs.mean, logs.low, logs.high])
        return statistics.Interval(mean, low, high, logs.n)


def load_runs(*patterns: str) -> Runs:
    """Return the finished trainings of stored results, such as "windows-SMD" or "windows-*"."""
    cells: dict[tuple, dict[int, dict]] = defaultdict(dict)
    for pattern in patterns:
        for r in score_tables.finished(results.load_records(pattern)):
            sized = MADE_LOUD.get(r["encoding"], (r["encoding"], r["settings"]["scale"]))
            cells[(*sized, r["dataset"], r["model"])][r["seed"]] = r["metrics"]
    return Runs(dict(cells))


def on_probe() -> Runs:
    """Return the trainings to the end on the range probe; places are distances.

    "steps_to_find" joins the metrics: the step at which a training first had the task.
    """
    cells: dict[tuple, dict[int, dict]] = defaultdict(dict)
    for r in probe.records():
        if not r["settings"]["encoding_options"]:
            key = (r["encoding"], r["settings"]["scale"], probe.distance(r), r["model"])
            steps = {"steps_to_find": probe.steps_to_find(r["metrics"])}
            cells[key][r["seed"]] = r["metrics"] | steps
    return Runs(dict(cells))


def anomalies() -> Runs:
    """Return the trainings on windows of SMD, MSL and the synthetic lift."""
    stored = [f"windows{kind}-{name}" for name in SETS for kind in ("", "-norms")]
    return load_runs(*stored, "windows-elevator")


def at_random() -> Runs:
    """Return the trainings on windows that were dealt out at random, places "SMD" and "MSL"."""
    cells = load_runs("windows-random").cells
    return Runs(
        {(e, s, place.removesuffix("-random"), m): c for (e, s, place, m), c in cells.items()}
    )


def splits() -> dict[tuple[str, str], dict[str, list[float]]]:
    """Return balanced accuracies by (set, split), then by method: one value a seed.

    The splits are "whole groups", by channel or by time, and "at random". The methods are a random
    forest on statistics of each window, which are blind to order, and a transformer with and
    without an encoding.
    """
    forests = data.recorded()["leakage"]["scores"]
    stored = {"whole groups": (anomalies(), "protocol"), "at random": (at_random(), "random")}
    return {
        (name, split): {
            "random forest": forests[name][key],
            **{
                label: list(runs.scores(label, name, "balanced_accuracy").values())
                for label in ("none", SINES, DFT)
            },
        }
        for name in SETS
        for split, (runs, key) in stored.items()
    }


def split_means() -> dict[str, dict[str, str]]:
    """Return the means over seeds of `splits`: rows of a table, such as "SMD, at random"."""
    return {
        ", ".join(key): {method: f"{np.mean(scores):.2f}" for method, scores in by_method.items()}
        for key, by_method in splits().items()
    }


def anomalous(name: str) -> NDArray[np.bool_]:
    """Return which windows of a set's test part are anomalous, thinned as they were used."""
    normal, faulty = (counts[1] for counts in data.recorded_facts(name).class_counts.values())
    total = normal + faulty
    rows = np.linspace(0, total - 1, min(total, MOST_WINDOWS)).round()  # sorted by class
    return rows >= normal


def flag_all(name: str) -> float:
    """Return the F1 of flagging every window: with a share p anomalous, 2p / (1 + p)."""
    share = float(np.mean(anomalous(name)))
    return 2 * share / (1 + share)
