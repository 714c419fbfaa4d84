"""Which series files leave out, what stored lines say of the slope, and what can be shown of it.

python -m experiments.exit_head.planned
"""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from experiments.exit_head import series
from posenc._wall import behind
from posenc_book.read import results
from posenc_book.read.exit_head import FLAT, LEADS_FROM, NONE, OTHERS, PLAN, SERIES, fitted, line
from posenc_book.read.forecasting import plan as before
from posenc_book.read.forecasting.complete import FILES, Way, load_stored
from posenc_book.records.forecasts import TRIAL
from posenc_book.statistics.answers import LEVEL, WORDS, Family

N_RUNS = 500
SLOPES = (0.0, PLAN["margin"], PLAN["matters"])


def stored_leads() -> NDArray[np.float64]:
    """Return the leads of the units of before: by the validation of their trainings."""
    every: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in results.load_records(FILES):
        if one["profile"] != TRIAL and _plain(one) and "error" not in one:
            every[one["dataset"], one["model"]].append(one["metrics"]["validation_mase"])
    errors = {place: np.mean(some) for place, some in every.items()}
    return np.log([errors[unit, "linear"] / errors[unit, FLAT] for unit in before.COUNTED])


def _plain(record: Mapping[str, Any]) -> bool:
    settings = record["settings"]
    return record["encoding"] == NONE and not (settings["calendar"] or settings["shuffled"])


def stored_gains(encoding: str) -> NDArray[np.float64]:
    """Return what an encoding gained there on the test part, (n_units, n_seeds)."""
    stored = load_stored()

    def errors(name: str) -> NDArray[np.float64]:
        found = [stored.scores(Way(FLAT, name), unit) for unit in before.COUNTED]
        return np.log(np.array(found, float))

    return errors(NONE) - errors(encoding)


def power(
    lead: NDArray[np.float64],
    apart: NDArray[np.float64],
    slope: float,
    spread: float,
    growing: float,
) -> dict[str, float]:
    """Return how often each word is said of a slope, where the other encoding shows nothing.

    Beside them how often least squares with its usual errors would show one, at half the level.

    Leads are drawn from stored ones until enough series lead; what lies beside the line is drawn
    from what did, times `spread`, times as much more at a lead of 0.27 as `growing` says.
    """
    rng, n = np.random.default_rng(0), len(SERIES)
    words, usual = list[str](), 0
    family = Family("exit head", tuple(OTHERS), PLAN["margin"])
    while len(words) < N_RUNS:
        x = rng.choice(lead, n)
        if (x >= LEADS_FROM).sum() >= PLAN["fewest that lead"]:
            work = np.maximum(x, 0)
            wide = spread * (1 + growing * work / 0.27)
            gain = slope * work + wide * rng.choice(apart, n)
            found = family.answers({OTHERS[0]: line(OTHERS[0], x, gain[:, None]).slope})
            words.append(found[OTHERS[0]].answer)
            usual += stats.linregress(work, gain).pvalue <= LEVEL / len(OTHERS)
    return {word: words.count(word) / N_RUNS for word in WORDS} | {"usual": float(usual) / N_RUNS}


def main(_: Sequence[str] = ()) -> int:
    """Print the windows of each series, the slopes of before, and the power."""
    for name in PLAN["series"]:
        found = series.windows(name)
        out = ", left out" if name in PLAN["left out"] else ""
        print(f"{name}: {found or 'not on its steps'}{out}")
    lead = stored_leads()
    for encoding in OTHERS:
        gain = stored_gains(encoding)
        one = line(encoding, lead, gain)
        said = f"before, {encoding}: slope {one.slope.effect}, on the lead {one.on_lead:.3f}"
        print(f"{said}, without one {one.without_one}; {list(map(str, one.at.values()))}")
        x, y = np.maximum(lead, 0), gain.mean(1)
        apart = y - fitted(x, y, (1, 0))[0] - fitted(x, y, (0, 1))[0] * x
        for slope in SLOPES if encoding == OTHERS[0] else ():
            for spread, growing in ((1, 0), (2, 0), (1, 2)):
                words = power(lead, apart, slope, spread, growing)
                print(f"slope {slope}, spread times {spread}, growing {growing}: {words}")
    return 0


if __name__ == "__main__":
    sys.exit(behind(main))
