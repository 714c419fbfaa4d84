"""Two sets of results of our own, beside each other."""

import numpy as np
import pandas as pd

from posenc.audit.survey.levels import levels
from posenc.audit.survey.ours import cells
from posenc.study import exact
from posenc.study.tables import Scores


def carried_over(
    first: Scores, second: Scores, datasets: list[str], names: tuple[str, str]
) -> pd.DataFrame:
    """Return levels and spreads of two sets of results, and how alike both rate the encodings.

    The correlation of the means is limited by the luck of the seeds in both. Results that agree
    but for that luck would give the root of the product of both shares that encodings have in the
    variance of the means, on average; 0 if no such share is seen.
    """
    return pd.DataFrame.from_dict(
        {d: _carried_over(first, second, d, names) for d in datasets}, orient="index"
    ).rename_axis("data set", axis="columns")


def _carried_over(
    first: Scores, second: Scores, dataset: str, names: tuple[str, str]
) -> dict[str, str]:
    tables = [cells(one, dataset, first.encodings) for one in (first, second)]
    means = [table.mean(axis=1) for table in tables]
    found = [exact.components(table) for table in tables]
    shares = [e**2 / max(m.var(ddof=1), 1e-12) for (_, e), m in zip(found, means, strict=True)]
    r = float("nan") if min(map(np.ptp, means)) == 0 else np.corrcoef(means)[0, 1]
    row = {}
    for name, mean, (seeds, encodings) in zip(names, means, found, strict=True):
        row[f"accuracy, {name}"] = f"{100 * mean.mean():.1f}"
        row[f"encodings / seeds, {name}"] = f"{100 * encodings:.1f} / {100 * seeds:.1f}"
    return row | {"correlation": f"{r:+.2f}", "if they agreed": f"{np.sqrt(np.prod(shares)):.2f}"}


def differences(first: Scores, second: Scores) -> pd.DataFrame:
    """Return the means of the first minus those of the second, in points, encodings by sets."""
    names = [e for e in first.encodings if e in second.encodings]
    sets = [d for d in first.datasets if d in second.datasets]
    a, b = (levels(one).loc[names, sets] for one in (first, second))
    return (a - b).round(1)
