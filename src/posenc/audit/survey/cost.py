"""What each encoding costs."""

from collections.abc import Iterable

import numpy as np

from posenc.study.cost import cost_ratios
from posenc.study.tables import Scores


def relative_cost(records: Iterable[dict], scores: Scores, metric: str) -> dict[str, float]:
    """Return the median of `cost_ratios` over the data sets; NaN where there is none."""
    found = cost_ratios(records, scores, metric)
    return {e: float(np.median(values)) if values.size else np.nan for e, values in found.items()}
