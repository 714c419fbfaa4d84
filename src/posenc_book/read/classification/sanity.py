"""Is a data set worth a comparison of encodings? Scores without a transformer stand beside it."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import pandas as pd

from posenc_book.read.classification import edition2
from posenc_book.read.classification.baselines import load_baselines
from posenc_book.read.classification.edition2 import Accuracies
from posenc_book.statistics import counts

NAMES = {"largest_class": "largest class", "nearest": "1-NN", "minirocket": "MiniRocket"}


def sanity_table(grid: Accuracies, baselines: Iterable[dict] | None = None) -> pd.DataFrame:
    """Return accuracies in per cent, a row a data set.

    Columns: the three baselines, `none`, the best encoding with its name, and what keeps the set
    from deciding rankings (empty if nothing does). Each is a mean over resamples; the best of ten
    means is above the mean of the best, so it flatters. Means of equal counts are equal, and where
    several encodings share the highest, the first is named and the others are counted.
    """
    means = means_of(load_baselines() if baselines is None else baselines)
    rows = []
    for name, scores, decides in zip(
        grid.datasets, counts.mean(grid.scores), edition2.decides(grid), strict=True
    ):
        best = scores[1:].max()
        floor = {shown: means.get((name, key), np.nan) for key, shown in NAMES.items()}
        found = {"none": scores[0], "best": best}
        percents = {key: 100 * value for key, value in (floor | found).items()}
        tied = [e for e, score in zip(grid.encodings[1:], scores[1:], strict=True) if score == best]
        named = tied[0] + f" and {len(tied) - 1} more" * (len(tied) > 1)
        words = {"best encoding": named, "does not decide": decides.reason}
        rows.append({"data set": name, **percents, **words})
    return pd.DataFrame(rows).set_index("data set")


def means_of(baselines: Iterable[dict]) -> dict[tuple[str, str], float]:
    """Return the mean accuracy over resamples by data set and baseline."""
    found = defaultdict(list)
    for record in baselines:
        found[record["dataset"], record["baseline"]].append(record["metrics"]["accuracy"])
    return {key: float(counts.mean(values)) for key, values in found.items()}
