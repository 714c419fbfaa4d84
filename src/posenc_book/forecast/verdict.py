"""The table of a file of one's own, and whether its blocks can decide.

An encoding's effect is the logarithm of its error over that of none, with the same reader, block
and seed. Blocks follow one another in time, and each has models of its own; seeds of a block are
averaged, and Student's t is taken over blocks (Ibragimov and Müller 2010, t-statistic based
correlation and heterogeneity robust inference).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc_book.forecast.cells import NONE, Plan
from posenc_book.statistics import equality
from posenc_book.statistics.answers import AHEAD, BEHIND, EQUAL, UNDECIDED, word
from posenc_book.statistics.friedman import holm
from posenc_book.statistics.power import Design, estimated_design, power, with_sets
from posenc_book.statistics.summary import Interval, t_interval

LEAST_POWER = 0.8
FEWEST = 5  # blocks that may decide anything
MOST_BLOCKS = 500
N_RUNS = 2000
LEAST_ERROR = 1e-6  # stands in for none at all
Errors = Mapping[tuple[str, str], NDArray[np.float64]]
"""From models and encodings to errors, (n_blocks, n_seeds)."""


@dataclass(frozen=True)
class Effect:
    """What an encoding changes, with one reader.

    Parameters
    ----------
    reader, encoding : str
    differences : array of shape (n_blocks, n_seeds)
        Logarithms of its error over that of none.
    interval : Interval
        Over blocks, in logarithms.
    p_value, p_equal : float
        Of a difference, and of one beyond the margin; by Holm over the encodings of the reader.
    margin : float
        Logarithm that counts as no difference: 0.03 is about three per cent of the error.
    """

    reader: str
    encoding: str
    differences: NDArray[np.float64]
    interval: Interval
    p_value: float
    p_equal: float
    margin: float

    @property
    def answer(self) -> str:
        """One of `answers.WORDS`, ahead with smaller errors; "undecided" with too few blocks."""
        enough = self.interval.n >= FEWEST
        return word(-self.interval.mean, self.p_value, self.p_equal) if enough else UNDECIDED


def errors(plan: Plan, records: Mapping[str, dict], rates: Mapping[str, dict]) -> Errors:
    """Return the errors of every place that has finished on all blocks with all seeds."""
    found = {}
    for place in plan.places:
        rate = plan.rate(*place, rates)
        if rate is None:
            continue
        blocks = range(plan.layout.n_blocks)
        keys = [[cell.key for cell in plan.seeded(*place, block, rate)] for block in blocks]
        good = all(k in records and "error" not in records[k] for row in keys for k in row)
        if good:
            found[place] = np.array([[records[k]["metrics"]["mase"] for k in row] for row in keys])
    return found


def effects(plan: Plan, known: Errors, margin: float) -> list[Effect]:
    """Return what each encoding changes, reader by reader."""
    found = []
    for reader in plan.readers:
        if (reader, NONE) not in known:
            continue
        none = _log(known[reader, NONE])
        names = [e for e in plan.encodings if (reader, e) in known]
        differences = [_log(known[reader, e]) - none for e in names]
        found += _judged(reader, names, differences, margin)
    return found


def _judged(
    reader: str, names: Sequence[str], differences: Sequence[NDArray], margin: float
) -> list[Effect]:
    if not names:
        return []
    means = [some.mean(1) for some in differences]
    different = holm([equality.resampled_p(m, 0.0) for m in means])
    equal = holm([equality.tost(m, margin).p_value for m in means])
    return [
        Effect(reader, name, some, t_interval(mean), float(p), float(q), margin)
        for name, some, mean, p, q in zip(names, differences, means, different, equal, strict=True)
    ]


def table(plan: Plan, known: Errors, found: Sequence[Effect]) -> str:
    """Return the table in Markdown: errors, and changes against none with their intervals."""
    of = {(one.reader, one.encoding): one for one in found}
    rows = [["forecaster", "encoding", "MASE", "against none", "95 % interval", "answer"]]
    none = known.get((plan.readers[0], NONE))
    for model, encoding in sorted(known, key=lambda place: place[0] not in plan.readers):
        error = known[model, encoding]
        one = of.get((model, encoding))
        rival = model not in plan.readers
        cells = ["", "", ""]
        if one is not None:
            cells = [*_change(one.interval), one.answer]
        elif rival and none is not None:
            change = t_interval(_log(error).mean(1) - _log(none).mean(1))
            cells = [*_change(change), "baseline"]
        shown = "" if rival else encoding
        rows.append([model.replace("_", " "), shown, f"{error.mean():.3f}", *cells])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
             for row in rows]  # fmt: skip
    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _log(error: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log(np.maximum(error, LEAST_ERROR))


def _change(interval: Interval) -> tuple[str, str]:
    mean, low, high = (100 * math.expm1(x) for x in (interval.mean, interval.low, interval.high))
    return f"{mean:+.1f} %", f"[{low:+.1f}, {high:+.1f}]"


def verdict_sentences(plan: Plan, known: Errors, found: Sequence[Effect]) -> list[str]:
    """Return sentences: what the blocks can decide, what they would need, and what else counts."""
    told = []
    for reader in plan.readers:
        mine = [one for one in found if one.reader == reader]
        if mine:
            told.append(_decided(plan, reader, mine))
            told += _needed(plan, [one for one in mine if one.answer == UNDECIDED], len(mine))
    return told + _rivals(plan, known)


def _decided(plan: Plan, reader: str, found: Sequence[Effect]) -> str:
    name, n = plan.layout.stem, plan.layout.n_blocks
    where = f" with {reader}" * (len(plan.readers) > 1)
    if n < FEWEST:
        return f"{name} cannot decide{where}: {n} blocks are too few, take at least {FEWEST}."
    told = []
    for answer, words in (
        (AHEAD, "smaller errors than none"),
        (BEHIND, "larger errors than none"),
        (EQUAL, f"errors within {100 * found[0].margin:g} % of those of none"),
    ):
        if some := [one.encoding for one in found if one.answer == answer]:
            told.append(f"{_listed(some)} {'has' if len(some) == 1 else 'have'} {words}")
    left = [one.encoding for one in found if one.answer == UNDECIDED]
    if not told:
        return f"{name} cannot decide{where} whether {_listed(left, 'or')} is of use."
    if left:
        told.append(f"of {_listed(left)} it cannot tell")
    return f"{name} decides{' in part' * bool(left)}{where}: {'; '.join(told)}."


def _needed(plan: Plan, left: Sequence[Effect], n_tests: int) -> list[str]:
    """Return how many blocks would decide what is open, if there is anything open."""
    if not left or plan.layout.n_blocks < FEWEST:
        return []
    layout = plan.layout
    n, margin = layout.n_blocks, left[0].margin
    needed = max(blocks_needed(one, n_tests) for one in left)
    goal = f"To tell a difference of {100 * margin:g} % from none four times of five"
    if math.isinf(needed):
        return [f"{goal}, more than {MOST_BLOCKS:,} blocks like these would be needed: these data "
                "cannot be asked for so little; name a larger --margin.",
                *_seeds_first(left)]  # fmt: skip
    if needed <= n:
        return [f"Blocks like these would show a difference of {100 * margin:g} % four times of "
                "five, and its absence as often; here they show neither."]  # fmt: skip
    more = (int(needed) - n) * layout.length
    series = math.ceil(len(layout.names) * needed / n)
    return [
        f"{goal}, about {needed:.0f} blocks like these {n} would be needed: {more:,} more steps, "
        f"or about {series:,} series in place of {len(layout.names):,} if they go their own ways. "
        "(--blocks alone makes blocks shorter, not more to learn from.)",
        *_seeds_first(left),
    ]


def _seeds_first(left: Sequence[Effect]) -> list[str]:
    """Return a sentence where seeds scatter so much that more of them are the cheaper remedy."""
    stays = "more --seeds are the cheaper remedy, and what is trained stays."
    if left[0].differences.shape[1] == 1:
        return [f"With one seed its luck is part of the scatter: {stays}"]
    shares = []
    for one in left:
        found = estimated_design(one.differences)
        of_seeds = found.within**2 / found.n_resamples
        shares.append(of_seeds / (found.between**2 + of_seeds))
    return [f"Most of the scatter is that of seeds: {stays}"] if np.mean(shares) > 0.5 else []


def blocks_needed(one: Effect, n_tests: int) -> float:
    """Return how many blocks show a difference of the margin, and its absence, 4 times of 5."""
    means = one.differences.mean(1)
    if not np.ptp(means):
        return float(len(means))
    design = Design(len(means), 1, float(means.std(ddof=1)), 0.0)  # seeds' scatter is in it
    options = {"n_tests": n_tests, "n_runs": N_RUNS}

    def decides(n: int) -> bool:
        there = with_sets(design, n)
        shown = power(one.margin, there, test="t", **options)
        absent = power(0.0, there, test="equivalence", margin=one.margin, **options)
        return min(shown.value, absent.value) >= LEAST_POWER

    low, high = 2, FEWEST
    while not decides(high):
        if high >= MOST_BLOCKS:
            return math.inf
        low, high = high, min(MOST_BLOCKS, 2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decides(middle) else (middle, high)
    return float(high)


def _rivals(plan: Plan, known: Errors) -> list[str]:
    """Return a sentence where a baseline has smaller errors than all transformers."""
    mean = {place: float(error.mean()) for place, error in known.items()}
    ours = [place for place in mean if place[0] in plan.readers]
    rivals = [place for place in mean if place[0] not in plan.readers]
    if not ours or not rivals:
        return []
    best, rival = min(ours, key=lambda p: mean[p]), min(rivals, key=lambda p: mean[p])
    if mean[rival] >= mean[best]:
        return []
    name = rival[0].replace("_", " ")
    return [
        f"But {name} has a smaller error ({mean[rival]:.3f}) than every transformer here "
        f"({mean[best]:.3f} at best): positions are not what these forecasts lack most."
    ]


def _listed(names: Sequence[str], word: str = "and") -> str:
    return f" {word} ".join(filter(None, (", ".join(names[:-1]), names[-1])))
