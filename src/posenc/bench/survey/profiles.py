"""Two sets of results of our own, beside each other."""

from collections.abc import Iterator

import numpy as np
from scipy import stats

from posenc.bench import statistics
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


def differences(first: Scores, second: Scores) -> Iterator[str]:
    """Yield a line per encoding of the first: its mean minus that of the second, in points."""
    for e in first.encodings:
        shared = [d for d in second.datasets if (d, e) in first.cells and (d, e) in second.cells]
        points = [100 * (first.cells[d, e].mean() - second.cells[d, e].mean()) for d in shared]
        listed = ", ".join(f"{d} {value:+.1f}" for d, value in zip(shared, points, strict=True))
        yield f"{first.model}, {e}: {listed or 'nothing in common'}"
