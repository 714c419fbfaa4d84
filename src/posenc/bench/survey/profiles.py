"""Two sets of results of our own, beside each other."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from posenc.bench import audit, statistics
from posenc.bench.survey.ours import cells, whole
from posenc.bench.tables import Scores


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


def deviation_pairs(first: Scores, second: Scores, datasets: list[str]) -> NDArray[np.float64]:
    """Return how far each encoding lies from the mean of all, in two sets of results.

    Returns
    -------
    array of shape (n, 4): points in the second, points in the first, standard error of the
    latter over seeds, number of the data set in `datasets`.
    """
    rows = []
    for number, d in enumerate(datasets):
        x, y = (100 * cells(one, d, first.encodings) for one in (second, first))
        error = y.std(axis=1, ddof=1) / np.sqrt(y.shape[1])
        deviations = [means - means.mean() for means in (x.mean(axis=1), y.mean(axis=1))]
        rows.append(np.column_stack([*deviations, error, np.full(len(y), number)]))
    return np.concatenate(rows)


def carried_over(first: Scores, second: Scores, datasets: list[str]) -> Iterator[str]:
    """Yield a line per data set: levels, spreads, and how alike both rate the encodings.

    The correlation of the means is limited by the luck of the seeds in both. With the variances
    between encodings and seeds, the most that can be expected is the root of the product of both
    shares that encodings have in the variance of the means; 0 if no such share is seen.
    """
    for d in datasets:
        tables = [cells(one, d, first.encodings) for one in (first, second)]
        found = [audit.components(table) for table in tables]
        shares = [e**2 / max(e**2 + s**2 / tables[0].shape[1], 1e-12) for s, e in found]
        means = [table.mean(axis=1) for table in tables]
        r = float("nan") if min(map(np.ptp, means)) == 0 else np.corrcoef(means)[0, 1]
        yield (
            f"{first.model:12}{d:18} accuracy {means[0].mean():.2f} and {means[1].mean():.2f}; "
            f"encodings {100 * found[0][1]:.1f} and {100 * found[1][1]:.1f} points, seeds "
            f"{100 * found[0][0]:.1f} and {100 * found[1][0]:.1f}; correlation {r:+.2f}, at most "
            f"{np.sqrt(np.prod(shares)):.2f} expected"
        )


def differences(first: Scores, second: Scores) -> Iterator[str]:
    """Yield a line per encoding of the first: its mean minus that of the second, in points."""
    for e in first.encodings:
        shared = [d for d in second.datasets if (d, e) in first.cells and (d, e) in second.cells]
        points = [100 * (first.cells[d, e].mean() - second.cells[d, e].mean()) for d in shared]
        listed = ", ".join(f"{d} {value:+.1f}" for d, value in zip(shared, points, strict=True))
        yield f"{first.model}, {e}: {listed or 'nothing in common'}"
