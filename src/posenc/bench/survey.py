"""Our scores put beside the survey's: in its columns, against its ranks, with what is missing.

`posenc.bench.printed` holds what the survey printed; this module reads our results in that form.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from posenc import _checks, data
from posenc.bench import audit, printed, statistics, tables
from posenc.bench.tables import Scores

N_SEEDS = 5
# The survey's columns with our encodings, in order; SPE stands twice, once for each candidate.
PAIRS = [(column, name) for column, names in printed.OURS.items() for name in names]


def whole(scores: Scores, n_seeds: int = N_SEEDS) -> Scores:
    """Return the data sets on which every encoding has finished with at least `n_seeds` seeds."""

    def enough(dataset: str) -> bool:
        return all(len(scores.cells.get((dataset, e), ())) >= n_seeds for e in scores.encodings)

    kept = tuple(d for d in scores.datasets if enough(d))
    return Scores(scores.model, scores.metric, kept, scores.encodings, scores.cells)


def cells(
    scores: Scores, dataset: str, encodings: Sequence[str] | None = None
) -> NDArray[np.float64]:
    """Return the scores on one data set, (n_encodings, n_seeds); all encodings by default."""
    return np.array([scores.cells[dataset, e] for e in encodings or scores.encodings])


def common(scores: Scores) -> list[str]:
    """Return the survey's data sets that the scores have, in the survey's order."""
    return [d for d in printed.DATASETS if d in scores.datasets]


def theirs(model: str, datasets: Iterable[str]) -> NDArray[np.float64]:
    """Return the printed accuracies of some data sets, (n_datasets, 8)."""
    return printed.accuracy(model)[[printed.DATASETS.index(d) for d in datasets]]


def columns(spe: str) -> list[str]:
    """Return our encodings for the survey's eight columns, with `spe` for SPE.

    Raises
    ------
    ValueError
        If `spe` is none of the candidates.
    """
    _checks.choice("spe", spe, printed.OURS["SPE"])
    return [spe if column == "SPE" else names[0] for column, names in printed.OURS.items()]


def in_columns(
    scores: Scores, spe: str, datasets: Iterable[str] | None = None, reduce: Callable = np.mean
) -> NDArray[np.float64]:
    """Return our scores in the survey's columns, reduced over seeds, (n_datasets, 8)."""
    datasets = scores.datasets if datasets is None else datasets
    return np.array([reduce(cells(scores, d, columns(spe)), axis=1) for d in datasets])


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau of our average ranks with the printed ones, and our places of two methods."""

    tau: float
    p_value: float
    spe: float
    tupe: float

    @property
    def repeats(self) -> bool:
        """Whether tau is significant and SPE and TUPE are among the first three."""
        return self.tau > 0 and self.p_value < 0.05 and max(self.spe, self.tupe) <= 3

    def __str__(self) -> str:
        return (
            f"tau {self.tau:+.2f} (p {self.p_value:.2f}), SPE in place {self.spe:g} and TUPE in "
            f"place {self.tupe:g} of 8"
        )


def agreement(scores: Scores, spe: str, datasets: Iterable[str] | None = None) -> Agreement:
    """Rank the survey's methods by our scores and compare with the ranks of its accuracies."""
    ranks = statistics.average_ranks(in_columns(scores, spe, datasets))
    test = stats.kendalltau(ranks, _printed_ranks(scores.model))
    places = dict(zip(printed.COLUMNS, stats.rankdata(ranks), strict=True))
    return Agreement(
        float(test.statistic), float(test.pvalue), float(places["SPE"]), float(places["TUPE"])
    )


def first_three(scores: Scores, spe: str) -> str:
    """Return the survey's three best methods by our scores, such as "TUPE, T-PE, SPE"."""
    means = statistics.average_ranks(in_columns(scores, spe))
    return ", ".join(printed.COLUMNS[i] for i in np.argsort(means, kind="stable")[:3])


def redrawn_tau(scores: Scores, spe: str, n_draws: int = 400) -> tuple[float, float]:
    """Return the middle 95 % of tau when the seeds of every cell are drawn with replacement."""
    found = np.array([cells(scores, d, columns(spe)) for d in scores.datasets])
    draws = np.random.default_rng(0).integers(found.shape[2], size=(n_draws, *found.shape))
    ranks = [
        statistics.average_ranks(np.take_along_axis(found, draw, axis=2).mean(axis=2))
        for draw in draws
    ]
    taus = [stats.kendalltau(one, _printed_ranks(scores.model)).statistic for one in ranks]
    low, high = np.quantile(taus, [0.025, 0.975])
    return float(low), float(high)


def redrawn_concordance(scores: Scores, n_draws: int = 2000) -> NDArray[np.float64]:
    """Return Kendall's W of the printed accuracies of common sets, run again with our seed spread.

    Every draw adds normal noise to the printed table, with the standard deviation between our
    seeds on that data set.
    """
    datasets = common(scores)
    table = theirs(scores.model, datasets)
    sigma = np.array([audit.components(cells(scores, d))[0] for d in datasets])
    noise = np.random.default_rng(0).normal(size=(n_draws, *table.shape)) * sigma[:, None]
    return np.array([audit.concordance(table + one) for one in noise])


def regularity(scores: Scores, spe: str = "sine_spe") -> dict[str, NDArray[np.float64]]:
    """Return Kendall's W of four kinds of tables of the common sets and the eight methods.

    Returns
    -------
    dict
        "printed" (1), "printed, run again" (one per draw of `redrawn_concordance`),
        "here, one seed" (one per seed) and "here, means" (1).
    """
    found = np.array([cells(scores, d, columns(spe)) for d in common(scores)])
    return {
        "printed": np.array([audit.concordance(theirs(scores.model, common(scores)))]),
        "printed, run again": redrawn_concordance(scores),
        "here, one seed": np.array(
            [audit.concordance(found[:, :, seed]) for seed in range(found.shape[2])]
        ),
        "here, means": np.array([audit.concordance(found.mean(axis=2))]),
    }


def largest_class(dataset: str) -> float:
    """Return the accuracy of always naming the largest class of the test part."""
    counts = [test for _, test in data.recorded_facts(dataset).class_counts.values()]
    return max(counts) / sum(counts)


def rank_again(first: Scores, second: Scores) -> str:
    """Return a sentence on how alike two sets of results rank the encodings that both have."""
    sets = [d for d in whole(first).datasets if d in whole(second).datasets]
    names = [e for e in first.encodings if e in second.encodings]
    if not sets or len(names) < 2:
        return f"{first.model}: no data set and two encodings in common"
    means = [[cells(one, d, names).mean(axis=1) for d in sets] for one in (first, second)]
    test = stats.kendalltau(*(statistics.average_ranks(table) for table in means))
    levels = " and ".join(f"{np.mean(table):.3f}" for table in means)
    return (
        f"{first.model}, {', '.join(sets)}: tau {test.statistic:+.2f} (p {test.pvalue:.2f}), mean "
        f"accuracy {levels}"
    )


def differences(first: Scores, second: Scores) -> Iterator[str]:
    """Yield a line per encoding of the first: its mean minus that of the second, in points."""
    for e in first.encodings:
        shared = [d for d in second.datasets if (d, e) in first.cells and (d, e) in second.cells]
        points = [100 * (first.cells[d, e].mean() - second.cells[d, e].mean()) for d in shared]
        listed = ", ".join(f"{d} {value:+.1f}" for d, value in zip(shared, points, strict=True))
        yield f"{first.model}, {e}: {listed or 'nothing in common'}"


def gain_pairs(scores: Scores) -> NDArray[np.float64]:
    """Return one row per common set and method: printed gain, our gain, its error, the set's index.

    Gains are over Fixed and over sinusoidal, in points; the error is the standard error over seeds.
    """
    rows = []
    for d in common(scores):
        (table,) = 100 * theirs(scores.model, [d])
        fixed = 100 * scores.cells[d, "sinusoidal"]
        for column, name in PAIRS[1:]:
            mine = 100 * scores.cells[d, name]
            error = np.sqrt(mine.var(ddof=1) / mine.size + fixed.var(ddof=1) / fixed.size)
            gain = table[printed.COLUMNS.index(column)] - table[0]
            rows.append((gain, mine.mean() - fixed.mean(), error, printed.DATASETS.index(d)))
    return np.array(rows)


def advanced_gain(
    scores: Scores, *, reduce: Callable = np.mean, relative: bool = False
) -> NDArray[np.float64]:
    """Return the mean gain of TUPE and SPE over sinusoidal on every data set, (n_datasets,).

    SPE is the mean of both candidates. In points, or in per cent of sinusoidal if `relative`.
    """
    reached = {e: [reduce(scores.cells[d, e]) for d in scores.datasets] for e in scores.encodings}
    sine, conv, tupe, fixed = (
        np.array(reached[e]) for e in ("sine_spe", "conv_spe", "tupe", "sinusoidal")
    )
    return 100 * ((sine + conv) / 2 + tupe - 2 * fixed) / 2 / (fixed if relative else 1)


def facts(scores: Scores, name: str) -> NDArray[np.int64]:
    """Return "length", "n_channels", "n_classes" or another count of every data set."""
    return np.array([getattr(data.recorded_facts(d), name) for d in scores.datasets])


@dataclass(frozen=True)
class Trend:
    """A statistic of the gains from means over seeds, its p-value, and that from medians."""

    value: float
    p_value: float
    by_medians: float

    @property
    def holds(self) -> bool:
        """Whether both statistics are positive and the first is significant."""
        return min(self.value, self.by_medians) > 0 and self.p_value < 0.05

    def __str__(self) -> str:
        return f"{self.value:+.2f} (p {self.p_value:.2f}), by medians {self.by_medians:+.2f}"


def trends(scores: Scores) -> dict[str, Trend]:
    """Return how the gain of TUPE and SPE goes with three properties of the data sets.

    Returns
    -------
    dict
        "length" and "channels": Spearman's correlation. "two classes": relative gain on sets with
        two classes minus that on the others, in per cent.
    """
    found = {}
    for name, fact in (("length", "length"), ("channels", "n_channels")):
        (rho, p), (other, _) = (
            audit.spearman(advanced_gain(scores, reduce=f), facts(scores, fact))
            for f in (np.mean, np.median)
        )
        found[name] = Trend(rho, p, other)
    two = facts(scores, "n_classes") == 2
    (value, p), (other, _) = (
        audit.group_test(advanced_gain(scores, reduce=f, relative=True), two)
        for f in (np.mean, np.median)
    )
    return found | {"two classes": Trend(value, p, other)}


@dataclass(frozen=True)
class Spread:
    """Spread of the scores on one data set: standard deviations, and a test of the encodings."""

    seeds: float
    encodings: float
    p_value: float


def spreads(scores: Scores) -> dict[str, Spread]:
    """Return the spread between seeds and between encodings on every data set.

    The p-value is that of Kruskal and Wallis for equal distributions of all encodings, with
    Holm's correction over the data sets.
    """
    found = {d: cells(scores, d) for d in scores.datasets}
    p_values = statistics.holm([_kruskal(table) for table in found.values()])
    return {
        d: Spread(*audit.components(table), float(p))
        for (d, table), p in zip(found.items(), p_values, strict=True)
    }


def relative_cost(records: Iterable[dict], scores: Scores, metric: str) -> dict[str, float]:
    """Return each encoding's cost relative to "none": medians over seeds, then over data sets.

    Only runs on the same kind of device and with the same number of seeds trained together are
    compared; NaN where there is no such pair.

    Parameters
    ----------
    records : iterable of dict
    scores : Scores
        Names the model, the data sets and the encodings.
    metric : str
        "seconds_per_step", "parameters" or another number of the records.
    """
    found: dict[tuple, list[float]] = {}
    for r in tables.finished(records):
        if r["model"] == scores.model and r["dataset"] in scores.datasets:
            kind = (r["dataset"], r["device"], r["metrics"]["seeds_together"])
            found.setdefault((r["encoding"], kind), []).append(r["metrics"][metric])
    each = {key: float(np.median(values)) for key, values in found.items()}
    ratios: dict[str, list[float]] = {e: [] for e in scores.encodings}
    for (encoding, kind), value in each.items():
        if ("none", kind) in each:
            ratios[encoding].append(value / each["none", kind])
    return {e: float(np.median(values)) if values else np.nan for e, values in ratios.items()}


def coverage(collected: Sequence[Scores]) -> Iterator[str]:
    """Yield a table in text: every data set of the survey and every stand-in, and how far it is."""
    absent = data.recorded()["absent"]
    yield f"{'set':27}{'steps':>5}  " + "".join(f"{s.model:16}" for s in collected) + "role"
    for name, entry in data.registry.ENTRIES.items():
        if entry.role in ("survey", "stand-in"):
            steps = "" if name in absent else data.recorded_facts(name).length
            role = "the survey's" if entry.role == "survey" else entry.notes[0].split("; ", 1)[1]
            states = "".join(f"{_state(scores, name, name in absent):16}" for scores in collected)
            yield f"{name:27}{steps:>5}  {states}{role}"


def gaps(records: Iterable[dict], collected: Sequence[Scores]) -> Iterator[str]:
    """Yield a line for every failed cell, and for every set that was begun and is not complete."""
    for r in records:
        if "error" in r:
            place = f"{r['model']}, {r['dataset']}, {r['encoding']}, seed {r['seed']}"
            yield f"failed: {place}: {r['error']}"
    for scores in collected:
        for d in sorted(set(scores.datasets) - set(whole(scores).datasets)):
            n = {e: len(scores.cells.get((d, e), ())) for e in scores.encodings}
            lacking = ", ".join(e for e in n if n[e] < N_SEEDS)
            yield f"not complete: {scores.model}, {d}: {lacking}"


def beside(scores: Scores) -> Iterator[str]:
    """Yield a table in text: printed accuracies and our mean and deviation, in per cent."""
    names = [name if column == "SPE" else column for column, name in PAIRS]
    yield f"{'':21}" + "".join(f"{name:>12}" for name in names)
    for d in common(scores):
        (table,) = 100 * theirs(scores.model, [d])
        row = [table[printed.COLUMNS.index(column)] for column, _ in PAIRS]
        yield f"{d:21}" + "     ".join(f"{value:7.1f}" for value in row)
        ours = [100 * scores.cells[d, name] for _, name in PAIRS]
        yield f"{'  here':21}" + "".join(f"{c.mean():7.1f} ±{c.std(ddof=1):3.1f}" for c in ours)


def against(
    scores: Scores, control: str, *, rope: float = 0.01
) -> dict[str, statistics.Comparison]:
    """Return the comparison of every other encoding with `control`, best average rank first.

    Differences up to `rope` count as practically equal.
    """
    means = dict(zip(scores.encodings, scores.mean().T, strict=True))
    _checks.choice("control", control, means)
    others = [e for e in ranked(scores) if e != control]
    return {e: statistics.compare(means[e], means[control], rope=rope) for e in others}


def ranked(scores: Scores) -> list[str]:
    """Return the encodings by average rank, the best first."""
    means = statistics.average_ranks(scores.mean())
    return [scores.encodings[i] for i in np.argsort(means, kind="stable")]


def duels(
    scores: Scores, controls: Sequence[str] = ("none", "sinusoidal"), *, rope: float = 0.01
) -> Iterator[str]:
    """Yield a table in text: every encoding against each control.

    Points of difference, sets won/tied/lost, rank-biserial correlation, and the probabilities of
    better/equal/worse.
    """
    found = [against(scores, control, rope=rope) for control in controls]
    yield f"{scores.model:21}" + "".join(f"{'against ' + c:38}" for c in controls).rstrip()
    for e in ranked(scores):
        yield f"{e:21}{''.join(f'{_duel(one.get(e)):38}' for one in found)}".rstrip()


def _duel(c: statistics.Comparison | None) -> str:
    if c is None:
        return ""
    won = f"{c.wins}/{c.ties}/{c.losses}"
    chances = f"{c.better:.2f}/{c.equal:.2f}/{c.worse:.2f}"
    return f"{100 * c.difference:+5.1f} {won:>8} {c.rank_biserial:+.2f}  {chances}"


def _state(scores: Scores, name: str, absent: bool) -> str:
    if name in whole(scores).datasets:
        return "complete"
    done = sum(len(seeds) for (d, _), seeds in scores.cells.items() if d == name)
    if done:
        return f"{done} of {N_SEEDS * len(scores.encodings)} cells"
    return "absent" if absent else "not run"


def _kruskal(table: NDArray) -> float:
    """Return the p-value of Kruskal and Wallis; 1 where all numbers are equal."""
    return 1.0 if np.ptp(table) == 0 else float(stats.kruskal(*table).pvalue)


def _printed_ranks(model: str) -> NDArray[np.float64]:
    return statistics.average_ranks(printed.accuracy(model))
