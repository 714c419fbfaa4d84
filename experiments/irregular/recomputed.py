"""The contrasts of irregular time once more, from raw lines, by none of the book's own code.

python experiments/irregular/recomputed.py results/irregular
"""

import json
import sys
from pathlib import Path

import numpy as np
from scipy import stats

PLAN = json.loads(Path(__file__).with_name("plan.json").read_text())
DEALS = range(1, PLAN["deals"] + 1)


def accuracies(folder: Path) -> dict[str, np.ndarray]:
    """Return the accuracies (2 surveys, 5 deals) of each arm."""
    known = {tuple(pair): arm for arm, pair in PLAN["arms"].items()}
    found = {}
    for survey, told in PLAN["surveys"].items():
        for line in (folder / f"{survey}.jsonl").read_text().splitlines():
            one = json.loads(line)
            arm = known[one["encoding"], one["settings"]["dataset_options"]["clock"]]
            guess = told["commonest"] / told["stars"]
            cell = arm, survey, one["seed"]
            if cell in found:
                raise ValueError(f"two trainings of {cell}")
            found[cell] = guess if "error" in one else one["metrics"]["accuracy"]
    return {
        arm: np.array([[found[arm, survey, r] for r in DEALS] for survey in PLAN["surveys"]])
        for arm in PLAN["arms"]
    }


def contrasts(scores: dict[str, np.ndarray]) -> dict[str, tuple[float, float, float, float, float]]:
    """Return of each contrast its mean, interval, and corrected p-values of 0 and of the margin."""
    rows = []
    for first, other, _ in PLAN["contrasts"]:
        apart = scores[first] - scores[other]
        n, r = apart.shape
        shared = PLAN["stars"]["test"] / (1 - PLAN["stars"]["test"])
        error = np.sqrt(apart.var(axis=1, ddof=1).mean() * (1 / r + shared) / n)
        mean, t = apart.mean(), stats.t(n * (r - 1))
        half = t.isf(0.025) * error
        p_equal = t.sf((PLAN["margin"] - abs(mean)) / error)
        rows.append((mean, mean - half, mean + half, 2 * t.sf(abs(mean) / error), p_equal))
    effects, p_values = np.array(rows)[:, :3], np.array(rows)[:, 3:]
    titles = [f"{first} - {other}" for first, other, _ in PLAN["contrasts"]]
    corrected = np.column_stack([_holm(column) for column in p_values.T])
    return dict(zip(titles, map(tuple, np.hstack([effects, corrected]).tolist()), strict=True))


def _holm(p_values: np.ndarray) -> np.ndarray:
    order = np.argsort(p_values)
    steps = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    return np.minimum(1, steps)[np.argsort(order)]


if __name__ == "__main__":
    for title, (mean, low, high, p_value, p_equal) in contrasts(
        accuracies(Path(sys.argv[1]))
    ).items():
        print(f"{title}: {100 * mean:+.2f} [{100 * low:+.2f}, {100 * high:+.2f}] points; ", end="")
        print(f"p {p_value:.2g}, of equality {p_equal:.2g}")
