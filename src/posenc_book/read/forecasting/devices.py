"""Do a GPU and a processor train alike? Some trainings were made on both.

The protocol's entry says what counts: if the mean logarithm of the ratio of their errors has an
interval within `LIMIT`, seeds from both may stand side by side.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from posenc_book.read import results
from posenc_book.read.forecasting.complete import FILES
from posenc_book.read.forecasting.effects import per_cent
from posenc_book.statistics.summary import Interval, t_interval
from posenc_book.teaching.table import Table

AGAIN = "forecasting-devices"
LIMIT = 0.005  # of the logarithm of two errors: a sixth of the margin

Ratios = Mapping[tuple[str, str], NDArray[np.float64]]  # by reader and unit, (n_trainings,)


def load_ratios() -> Ratios:
    """Return the ratios of the stored trainings, none if none was made twice; see `ratios`."""
    if not (results.folder() / AGAIN).is_dir():
        return {}
    return ratios(results.load_records(FILES), results.load_records(f"{AGAIN}/*"))


def ratios(first: Iterable[dict], again: Iterable[dict]) -> Ratios:
    """Return the logarithm of the processor's test error over the GPU's, by reader and unit.

    Parameters
    ----------
    first, again : iterable of dict
        Records of what a GPU trained, among others, and of what a processor trained again.

    Raises ValueError if a training of the latter was not made on a GPU before.
    """
    by_key = {record["key"]: record for record in first}
    found: dict[tuple[str, str], list[float]] = {}
    for record in again:
        other = by_key.get(record["key"])
        if other is None or not other["device"].startswith("cuda"):
            raise ValueError(f"{record['key']} must have been trained on a GPU before")
        errors = [one["metrics"]["mase"] for one in (record, other)]
        place = (record["model"], record["dataset"])
        found.setdefault(place, []).append(float(np.log(errors[0] / errors[1])))
    return {place: np.array(values) for place, values in found.items()}


def interval(found: Ratios) -> Interval:
    """Return the mean over all trainings and its 95 % interval by Student's t, in logarithms."""
    return t_interval(np.concatenate(list(found.values())))


def alike(found: Ratios) -> bool:
    """Return whether seeds from both kinds of devices may stand side by side."""
    one = interval(found)
    return max(-one.low, one.high) <= LIMIT


def devices_table(found: Ratios) -> Table:
    """Return by how much the errors differ, a row for each reader and unit."""
    rows = {f"{reader} on {unit}": _row(values) for (reader, unit), values in found.items()}
    rows["all"] = _row(np.concatenate(list(found.values())))
    caption = "Test error on a processor over that on a GPU, same training: change in per cent."
    return Table(rows, head="trained twice", caption=caption)


def _row(values: NDArray[np.float64]) -> dict[str, str]:
    one = t_interval(values)
    return {
        "trainings": str(one.n),
        "mean": f"{per_cent(one.mean):+z.2f}",
        "95 % interval": f"[{per_cent(one.low):+z.2f}, {per_cent(one.high):+z.2f}]",
        "scatter": f"{100 * values.std(ddof=1):.2f}",
    }


def agreement_text(found: Ratios) -> str:
    """Return a sentence on what follows, by the rule that was written down before."""
    one = interval(found)
    told = f"{per_cent(one.mean):+z.2f} % [{per_cent(one.low):+z.2f}, {per_cent(one.high):+z.2f}]"
    rule = f"the limit of {100 * LIMIT:g} %"
    if alike(found):
        return f"Processor over GPU: {told}, within {rule}, so their seeds may stand side by side."
    return (
        f"Processor over GPU: {told}, not within {rule}, so a unit with one reader needs one kind."
    )
