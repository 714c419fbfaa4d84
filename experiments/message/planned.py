"""Which sets the message is asked on, what can be shown there, what it costs: by stored lines.

python -m experiments.message.planned

Sets are chosen by the sinusoid's validation and the size of the test part, never by seconds or
scores. Power takes stored scores for the spread over sets alone.
"""

import sys
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import product
from statistics import fmean, median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc._wall import behind
from posenc_book.data import recorded_facts
from posenc_book.data.units import unit_of
from posenc_book.read import tuning_luck
from posenc_book.read.classification import edition
from posenc_book.read.edition3 import plan as third
from posenc_book.read.edition3 import reading
from posenc_book.read.message import MARGIN, PLAN, SETS, TITLES, answered
from posenc_book.records import cases
from posenc_book.statistics.answers import NEW_SETS, WORDS

EFFECT, SPREAD = 0.023, 0.032  # what is to be found, as the question was asked
N_RUNS = 2000
STAND_INS = {"erpe, before": "erpe", "values": "relative", "keys": "relative", "message": "rotary"}


class Stored(NamedTuple):
    """What the choice may know: the sinusoid's mean validation, and series in the test part."""

    validation: float
    test: int


def choose(stored: Mapping[str, Stored]) -> dict[str, Stored]:
    """Return the sets with room and the largest test parts, one for each independent unit."""
    rule = PLAN["choice of sets"]
    with_room = [name for name, one in stored.items() if one.validation < rule["below"]]
    chosen: dict[str, str] = {}
    for name in sorted(with_room, key=lambda name: (-stored[name].test, name)):
        chosen.setdefault(unit_of(name), name)
    return {name: stored[name] for name in list(chosen.values())[: rule["sets"]]}


def of_the_sinusoid() -> dict[str, Stored]:
    """Return what is stored of the sinusoid where five trainings of eRPE are stored, too."""
    return {
        name: Stored(
            round(fmean(r["metrics"]["validation_accuracy"] for r in some["sinusoidal"]), 4),
            cases.n_test(some["sinusoidal"][0], by_name=True) or 0,
        )
        for name, some in trainings().items()
        if min(len(some["sinusoidal"]), len(some["erpe"])) == 5
    }


@cache
def trainings() -> dict[str, dict[str, list[dict]]]:
    """Return stored trainings by set and encoding: of the second edition, and of new sets."""
    found: dict[str, dict[str, list[dict]]] = defaultdict(lambda: defaultdict(list))
    for one in edition.plain(edition.load_edition(), third.MODEL):
        found[one["dataset"]][one["encoding"]].append(one)
    for one in reading.load_trainings():
        plain = one["model"] == third.MODEL and not one["settings"]["encoding_options"]
        if plain and one["dataset"] in third.COUNTED and "error" not in one:
            found[one["dataset"]][one["encoding"]].append(one)
    return found


def leads() -> NDArray[np.float64]:
    """Return what eRPE is ahead of the sinusoid in stored lines, a mean for each set."""

    def means(name: str) -> list[float]:
        return [fmean(r["metrics"]["accuracy"] for r in trainings()[d][name]) for d in SETS]

    return np.subtract(means("erpe"), means("sinusoidal"))


def power(effect: float, spread: float, n_tests: int) -> dict[str, float]:
    """Return how often each word is said of a true difference, which is one of several tested.

    Stored leads are drawn with replacement, at that spread over sets around that effect; of the
    other tests nothing is shown, so that Holm's correction is at its hardest.
    """
    apart = leads() - leads().mean()
    draws = np.random.default_rng(0).choice(apart / apart.std(ddof=1), (N_RUNS, len(SETS)))
    title, *_ = titles = TITLES[:n_tests]
    words = [
        answered({title: np.stack([one, one], 1)}, 0.0, 0.0, titles)[NEW_SETS][title].answer
        for one in effect + spread * draws
    ]
    return {word: words.count(word) / N_RUNS for word in WORDS}


def cost(arms: Collection[str]) -> tuple[int, int, float, float]:
    """Return trials, trainings, core-hours on sets timed on a processor, and at most on others."""
    n, n_trials = PLAN["trainings"], (len(third.RATES) + 1) * len(PLAN["trial deals"])
    lengths, hours = {name: recorded_facts(name).length for name in SETS}, [0.0, 0.0]
    for arm in arms:
        some = {name: _like(arm, name) for name in SETS}
        timed = [name for name in SETS if some[name][0]["device"] == "cpu"]
        for name, length in lengths.items():
            away = {d: (d != name, abs(lengths[d] - length)) for d in timed}
            near = min(away, key=away.__getitem__)
            a_step = median(r["seconds"] / r["metrics"]["steps"] for r in some[near])
            a_step *= (length / lengths[near]) ** 2  # as attention grows; the rest grows less
            steps = n * fmean(r["metrics"]["steps"] for r in some[name])
            steps += n_trials * third.TRAINING["tuning"]["steps"]
            hours[name not in timed] += a_step * steps / 3600
    cells = len(SETS) * len(arms)
    return cells * n_trials, cells * n, *hours


def _like(arm: str, dataset: str) -> list[dict]:
    """Return stored trainings that take about as long as an arm's; where none are, all others."""
    of_set = trainings()[dataset]
    return of_set[STAND_INS.get(arm, arm)] or [r for some in of_set.values() for r in some]


def main(_: Sequence[str] = ()) -> int:
    """Print the choice, the power and the cost."""
    for name, one in choose(of_the_sinusoid()).items():
        print(f"{name}: validation {100 * one.validation:.1f} %, {one.test:,} in the test part")
    found = 100 * leads()
    print(f"eRPE's stored lead on them: {found.mean():.2f}, spread {found.std(ddof=1):.2f}")
    luck = tuning_luck.component(tuning_luck.scores())
    print(f"luck, {luck.n_cells} cells: {luck.points:.2f}; margin {100 * MARGIN:.2f}; points")
    for spread, n_tests in product((SPREAD, found.std(ddof=1) / 100), (1, len(TITLES))):
        for effect in (0.0, EFFECT, found.mean() / 100):
            words = power(effect, spread, n_tests)
            print(f"spread {100 * spread:.1f}, {n_tests} tests, effect {100 * effect:.1f}:", words)
    for title in ("arms", "partners"):
        trials, trained, timed, scaled = cost(PLAN[title])
        print(f"{title}: {trials + trained:,} ({trials:,} of them trials), {timed:.0f} core-hours")
        print(f"and at most {scaled:.0f} on sets that are timed on a GPU alone")
    return 0


if __name__ == "__main__":
    sys.exit(behind(main))
