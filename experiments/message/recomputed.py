"""The contrasts over data sets once more, from raw lines, by none of the book's own code.

python experiments/message/recomputed.py results/message
python experiments/message/recomputed.py results/message later.json results/message-later
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import stats

HERE = Path(__file__).parent
PLAN = json.loads((HERE / "plan.json").read_text())
MARGIN = PLAN["share of the room"] * np.mean([1 - one for one, _ in PLAN["sets"].values()])


def accuracies(folders: Sequence[Path]) -> dict[str, dict[tuple[str, int], float]]:
    """Return the accuracy of each arm's trainings, by data set and deal."""
    found: dict[str, dict[tuple[str, int], float]] = {}
    for folder in folders:
        for name in PLAN["sets"]:
            for line in (folder / f"{name}.jsonl").read_text().splitlines():
                one = json.loads(line)
                arm = json.dumps([one["encoding"], one["settings"]["encoding_options"]])
                cells = found.setdefault(arm, {})
                if (name, one["seed"]) in cells:
                    raise ValueError(f"two trainings of {arm} on {name}, deal {one['seed']}")
                if "error" in one:
                    raise ValueError(f"a training failed, and would count as a guess: {one['key']}")
                cells[name, one["seed"]] = one["metrics"]["accuracy"]
    return found


def contrasts(found: dict[str, dict], plan: dict) -> dict[str, tuple[float, ...] | None]:
    """Return of each contrast its mean, interval, and corrected p-values of 0 and of the margin.

    None of one that lacks a training, which counts with p = 1.
    """
    arms = {arm: json.dumps(pair) for arm, pair in (PLAN["arms"] | PLAN["partners"]).items()}
    arms |= {arm: json.dumps(pair) for arm, pair in plan["arms"].items()}
    cells = [[(s, r + 1) for r in range(PLAN["trainings"])] for s in PLAN["sets"]]
    rows = []
    for first, other, _ in plan["contrasts"]:
        some, others = (found.get(arms[one], {}) for one in (first, other))
        apart = [[some.get(c, np.nan) - others.get(c, np.nan) for c in row] for row in cells]
        rows.append(_over_sets(np.mean(apart, axis=1)))
    p_values = [_holm(np.nan_to_num([row[k] for row in rows], nan=1.0)) for k in (3, 4)]
    titles = [f"{first} - {other}" for first, other, _ in plan["contrasts"]]
    return {
        title: None if np.isnan(row[0]) else (*row[:3], *two)
        for title, row, *two in zip(titles, rows, *p_values, strict=True)
    }


def _over_sets(means: np.ndarray) -> tuple[float, ...]:
    """Return mean, interval, and the p-values of no difference and of one beyond the margin."""
    test = stats.ttest_1samp(means, 0)
    interval = test.confidence_interval(0.95)
    above = stats.ttest_1samp(means, -MARGIN, alternative="greater").pvalue
    below = stats.ttest_1samp(means, MARGIN, alternative="less").pvalue
    return means.mean(), interval.low, interval.high, test.pvalue, max(above, below)


def _holm(p_values: np.ndarray) -> np.ndarray:
    order = np.argsort(p_values)
    steps = np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1))
    return np.minimum(1, steps)[np.argsort(order)]


def main(folder: str, name: str = "plan.json", *more: str) -> None:
    """Print the contrasts of a plan."""
    plan = json.loads((HERE / name).read_text())
    found = contrasts(accuracies([Path(one) for one in (folder, *more)]), plan)
    for title, one in found.items():
        if one is None:
            print(f"{title}: trainings are missing")
            continue
        mean, low, high = (100 * number for number in one[:3])
        p_value, p_equal = one[3:]
        print(f"{title}: {mean:+.2f} [{low:+.2f}, {high:+.2f}] points; ", end="")
        print(f"p {p_value:.2g}, of equality {p_equal:.2g}")


if __name__ == "__main__":
    main(*sys.argv[1:])
