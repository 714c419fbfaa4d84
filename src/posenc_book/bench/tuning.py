"""Tuning with the same budget for every encoding: four short trials, chosen by validation.

The first three trials differ in the learning rate. The fourth depends on them. Encodings that are
added to the tokens try the other size of their rows at the best rate; all others try one more
rate, beyond the best if that lies at the edge, between the best two if not. The test part
chooses nothing.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from posenc_book.records.records import worth
from posenc_book.records.settings import Settings

PROFILE = "tuning"
RATES = (3e-4, 1e-3, 3e-3)
STEPS = 500

TUNED = f"{len(RATES) + 1} trials of {STEPS} steps"

# Norms as authors have them: near 1 for the DFT, small for a learned table, sqrt(d_model / 2) for
# sinusoids. Each tries the other one of 1 and sqrt(d_model / 2).
_OTHER_SCALE = {"dft": "loud", "learnable": "loud"}


@dataclass(frozen=True)
class Cells:
    """A grid that lists its groups of cells.

    Parameters
    ----------
    listed : sequence of sequences of Settings
        Groups that may be trained together.
    """

    listed: Sequence[Sequence[Settings]]

    def __len__(self) -> int:
        return sum(map(len, self.listed))

    def groups(self) -> Iterable[list[Settings]]:
        """Return the groups of cells that may be trained together."""
        return [list(group) for group in self.listed]


def first_trials(cell: Settings) -> list[Settings]:
    """Return the three trials of a cell: on its first resample, at three learning rates."""
    return [_trial(cell, learning_rate=rate) for rate in RATES]


def last_trial(cell: Settings, records: Mapping[str, dict]) -> Settings | None:
    """Return the fourth trial, or None if the first three have all failed."""
    ranked = sorted(_finished(first_trials(cell), records), key=_worth_of_pair, reverse=True)
    if not ranked:
        return None
    rates = [trial.learning_rate for trial, _ in ranked]
    if _is_added(cell):
        other = _OTHER_SCALE.get(cell.encoding, "unit")
        return _trial(cell, learning_rate=rates[0], scale=other)
    return _trial(cell, learning_rate=_next_rate(rates))


def tuned(cell: Settings, records: Mapping[str, dict]) -> Settings | None:
    """Return the cell with the learning rate and scale of its best trial; None without any.

    The best trial has the highest validation accuracy, and of equal ones the lowest loss.
    """
    last = last_trial(cell, records)
    if last is None:
        return None
    best, _ = max(_finished([*first_trials(cell), last], records), key=_worth_of_pair)
    return replace(cell, learning_rate=best.learning_rate, scale=best.scale, tuned=TUNED)


def _trial(cell: Settings, **changes: Any) -> Settings:
    first: dict[str, Any] = {"seed": 0, "split_seed": 0, "resample": 0, "profile": PROFILE}
    short: dict[str, Any] = {"steps": STEPS, "least_steps": STEPS, "patience_steps": STEPS}
    return replace(cell, **first, **short, **changes)


def _next_rate(rates: list[float]) -> float:
    """Return one more rate: beyond the best at the edge, else between it and the second best."""
    best = rates[0]
    if best == min(RATES):
        return _rounded(best**2 / sorted(RATES)[1])
    if best == max(RATES):
        return _rounded(best**2 / sorted(RATES)[-2])
    return _rounded(math.sqrt(best * rates[1])) if len(rates) > 1 else _rounded(best / 2)


def _rounded(rate: float) -> float:
    return float(f"{rate:.2g}")


def _is_added(cell: Settings) -> bool:
    import inspect

    from posenc_book.bench import build  # it imports torch, which `status` does without

    return "scale" in inspect.signature(build.find_class(cell.encoding)).parameters


def _finished(
    trials: Iterable[Settings], records: Mapping[str, dict]
) -> list[tuple[Settings, dict]]:
    found = [(trial, records.get(trial.key)) for trial in trials]
    return [(trial, record) for trial, record in found if record and "error" not in record]


def _worth_of_pair(pair: tuple[Settings, dict]) -> tuple[float, float]:
    return worth(pair[1])
