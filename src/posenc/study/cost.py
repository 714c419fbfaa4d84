"""What a training step with an encoding costs, beside one without."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from posenc.study import tables
from posenc.study.tables import Scores


def cost_ratios(
    records: Iterable[dict], scores: Scores, metric: str
) -> dict[str, NDArray[np.float64]]:
    """Return each encoding's cost relative to "none", one ratio a data set.

    The smallest value over seeds is taken, as other work on a machine only ever adds time. Only
    runs on the same kind of device and with the same number of seeds trained together are compared;
    the array is empty where there is no such pair.

    Parameters
    ----------
    records : iterable of dict
    scores : Scores
        Names the model, the data sets and the encodings.
    metric : str
        "seconds_per_step", "parameters" or another number of the records.
    """
    least: dict[tuple, float] = {}
    for r in tables.finished(records):
        if r["model"] == scores.model and r["dataset"] in scores.datasets:
            kind = (r["dataset"], r["device"], r["metrics"]["seeds_together"])
            key = (r["encoding"], kind)
            least[key] = min(least.get(key, np.inf), r["metrics"][metric])
    ratios: dict[str, list[float]] = {e: [] for e in scores.encodings}
    for (encoding, kind), value in least.items():
        if ("none", kind) in least:
            ratios[encoding].append(value / least["none", kind])
    return {e: np.array(values) for e, values in ratios.items()}
