"""What is trained in forecasting: the cells of the plan, in groups that are trained as stacks."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from posenc_book.bench import seeded
from posenc_book.bench.tuning import Cells
from posenc_book.forecast.readers import n_tokens
from posenc_book.forecast.units import load_unit
from posenc_book.read.forecasting import plan
from posenc_book.records.forecasts import ForecastSettings

STACKED = 500  # tokens of a series each, over all models of a stack: several stacks fill a GPU


def cell(unit: str, reader: str, encoding: str, **options: Any) -> ForecastSettings:
    """Return a cell of the plan, with the fingerprints of the code and the files that are here."""
    return plan.cell(
        unit,
        reader,
        encoding,
        encoding_source=seeded.encoding_source(encoding),
        dataset_source=unit_fingerprint(unit),
        **options,
    )


@cache
def unit_fingerprint(unit: str) -> str:
    """Return the hash of a unit's values and splits."""
    return load_unit(unit).fingerprint


def all_trials(chosen: Sequence[ForecastSettings], *, stacked: bool = False) -> Cells:
    """Return the trials of several places; see `grouped`."""
    return Cells(grouped([plan.trials(one) for one in chosen], stacked=stacked))


def all_seeds(
    chosen: Sequence[ForecastSettings], records: Mapping[str, dict], *, stacked: bool = False
) -> Cells:
    """Return the seeds of those places whose trials are there; see `grouped`."""
    found = [plan.tuned(one, records) for one in chosen]
    return Cells(grouped([plan.seeds(one) for one in found if one is not None], stacked=stacked))


def grouped(
    groups: Sequence[list[ForecastSettings]], *, stacked: bool
) -> list[list[ForecastSettings]]:
    """Return groups of cells whose models may be trained as one stack.

    They are those of one place or, if `stacked`, of all units of one shape, those with most tokens
    first, so that no long training is left for the end.
    """
    if not stacked:
        return list(groups)
    joined: dict[tuple, list[ForecastSettings]] = {}
    for group in groups:
        one = group[0]
        _, context, horizon, patch = plan.UNITS[one.dataset]
        alike = (context, horizon, patch, one.dataset == "air_quality")
        same = (one.model, one.encoding, one.calendar, one.shuffled, one.steps)
        joined.setdefault((*alike, *same), []).extend(group)
    parts = [part for group in joined.values() for part in _parted(group)]
    return sorted(parts, key=lambda part: -_tokens(part[0]))


def _parted(group: list[ForecastSettings]) -> list[list[ForecastSettings]]:
    """Return a group in parts of about one size, none of which holds more than `STACKED` tokens."""
    n_parts = -(-len(group) * _tokens(group[0]) // STACKED)
    size = -(-len(group) // n_parts)
    return [group[start : start + size] for start in range(0, len(group), size)]


def _tokens(one: ForecastSettings) -> int:
    _, context, _, patch = plan.UNITS[one.dataset]
    return n_tokens(one.model, context, patch)
