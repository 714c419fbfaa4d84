"""What each encoding costs."""

from collections.abc import Iterable

import numpy as np

from posenc.bench import tables
from posenc.bench.tables import Scores


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
