"""Types and certain ranges of the metrics and settings that a record holds.

Names that are not listed here, such as scores by length or settings of the text model, may hold
anything: what reads them knows them.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from posenc._checks import MOST
from posenc_book.records.settings import Settings


class Rule(NamedTuple):
    """What a value must be.

    Parameters
    ----------
    said : str
        In words, for the message.
    fits : callable
        Whether a JSON value is that.
    """

    said: str
    fits: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    """Return whether a value is a finite number that a float can hold, and no bool."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max  # False for NaN, too


def _is_count(value: Any, least: int = 0) -> bool:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return is_integer and least <= value <= MOST


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _list_of(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _or_null(rule: Rule) -> Rule:
    return Rule(f"{rule.said} or null", lambda value: value is None or rule.fits(value))


TEXT = Rule("a text", lambda value: isinstance(value, str))
OBJECT = Rule("an object", lambda value: isinstance(value, dict))
NUMBER = Rule("a finite number", _is_number)
NOT_NEGATIVE = Rule("a finite number of at least 0", lambda value: _is_number(value) and value >= 0)
POSITIVE = Rule("a finite number above 0", lambda value: _is_number(value) and value > 0)
SHARE = Rule("a number from 0 to 1", _is_share)
BELOW_1 = Rule("a number from 0 to below 1", lambda value: _is_share(value) and value < 1)
COUNT = Rule("an integer of at least 0, below 2**63", _is_count)
FROM_1 = Rule("an integer of at least 1, below 2**63", lambda value: _is_count(value, 1))

COLD_PEAK, WARM_PEAK = "peak_memory", "warm_peak_memory"
"""Peak memory of a training, in bytes: measured without a warm-up until 2026-11-26, so that the
first training of a process paid for PyTorch's start, and with one since. Only the latter is shown.
"""

METRICS: dict[str, Rule] = {
    **dict.fromkeys(("accuracy", "balanced_accuracy", "macro_f1"), SHARE),
    **dict.fromkeys(("precision", "recall", "f1", "validation_accuracy"), SHARE),
    **dict.fromkeys(("parameters", "steps", "epochs", "seeds_together"), COUNT),
    **dict.fromkeys(("best_epoch", "best_step", "n_train", "n_test"), COUNT),
    **dict.fromkeys((COLD_PEAK, WARM_PEAK), _or_null(COUNT)),
    "seconds_per_step": NOT_NEGATIVE,
    "validation_loss": _or_null(NUMBER),
    "train_loss": Rule("a list of finite numbers", _list_of(_is_number)),
    "validation_curve": Rule("a list of numbers from 0 to 1", _list_of(_is_share)),
}

_OF_TYPE: dict[object, Rule] = {str: TEXT, int: COUNT, float: NUMBER}
SETTINGS: dict[str, Rule] = {
    **{item.name: _OF_TYPE.get(item.type, OBJECT) for item in fields(Settings)},
    **dict.fromkeys(("d_model", "n_heads", "n_layers", "d_ff", "patch", "epochs"), FROM_1),
    **dict.fromkeys(("batch_size", "patience", "patience_steps", "check_every"), FROM_1),
    **dict.fromkeys(("dropout", "validation", "warmup"), BELOW_1),
    "learning_rate": POSITIVE,
    "weight_decay": NOT_NEGATIVE,
}


def check(place: str, values: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Raise ValueError if one of several values is not what its rule asks for."""
    for name, value in values.items():
        rule = rules.get(name)
        if rule is not None and not rule.fits(value):
            raise ValueError(f"{place}.{name} must be {rule.said}, got {value!r:.40}")
