"""The form of one line of results: one finished or failed training."""

import json
import math
import platform
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from posenc_book import _files
from posenc_book.records import cases, values
from posenc_book.records.settings import Settings, complete, key

# Fields of every record, in their order, and the types of their values.
FIELDS: dict[str, type | tuple[type, ...]] = {
    "key": str,
    "encoding": str,
    "model": str,
    "dataset": str,
    "seed": int,
    "profile": str,
    "metrics": dict,
    "settings": dict,
    "versions": dict,
    "device": str,
    "seconds": (int, float),
}
# Fields that records have since the second edition.
LATER: dict[str, type] = {"resample": int, "protocol": str}
_NAMES = ("key", "encoding", "model", "dataset", "seed", "profile")


def finished(settings: Settings, metrics: Mapping, *, device: str, seconds: float) -> dict:
    """Return the record of a finished training."""
    record = {name: getattr(settings, name) for name in _NAMES}
    record |= {"metrics": dict(metrics), "settings": settings.stored(), "versions": versions()}
    record |= {"device": device, "seconds": round(seconds, 4)}
    return record | {name: getattr(settings, name) for name in LATER}


def failed(settings: Settings, error: str, *, device: str, seconds: float) -> dict:
    """Return the record of a failed training: no metrics, and the reason in `error`."""
    return finished(settings, {}, device=device, seconds=seconds) | {"error": error}


def worth(record: Mapping[str, Any]) -> tuple[float, float]:
    """Return what validation compares by: its accuracy, then its loss, the lower the better."""
    metrics = record["metrics"]
    loss = metrics["validation_loss"]
    return metrics["validation_accuracy"], -math.inf if loss is None else -loss


def check(record: object) -> dict:
    """Return a record, after looking for what it lacks or holds wrongly."""
    if not isinstance(record, dict):
        raise ValueError(f"a record must be a JSON object, got {type(record).__name__}")
    missing = [name for name in FIELDS if name not in record]
    if missing:
        raise ValueError(f"a record must have the field(s) {', '.join(missing)}")
    for name, kind in {**FIELDS, **LATER}.items():
        value = record.get(name)
        if name in record and (not isinstance(value, kind) or isinstance(value, bool)):
            raise ValueError(f"{name} must be {_SAID[kind]}, got {value!r:.40}")
    if not _KEY.fullmatch(record["key"]):
        raise ValueError(f"key must be 32 hexadecimal digits, got {record['key']!r:.40}")
    for name, rule in _RULES.items():
        if name in record and not rule.fits(record[name]):
            raise ValueError(f"{name} must be {rule.said}, got {record[name]!r:.40}")
    values.check("metrics", record["metrics"], values.METRICS)
    values.check("settings", record["settings"], values.SETTINGS)
    values.check("versions", record["versions"], dict.fromkeys(record["versions"], values.TEXT))
    cases.check(record)
    _check_agreement(record)
    return record


def line(record: object) -> str:
    """Return a record as a line of results."""
    text = json.dumps(check(record), allow_nan=False, separators=(",", ":")) + "\n"
    if len(text) > _files.most("bytes of a record"):
        raise ValueError(f"a record has {_files.beyond('bytes of a record')}")
    return text


def _check_agreement(record: dict) -> None:
    """Raise ValueError if a name or the key is not what the settings of a record say."""
    there = complete(record["settings"])
    for name in (*_NAMES, *LATER):
        if name in record and name in there and record[name] != there[name]:
            raise ValueError(
                f"{name} must be {there[name]!r:.40} as in settings, got {record[name]!r:.40}"
            )
    hashed = key(record["settings"])
    if record["key"] != hashed:
        raise ValueError(f"key must be the hash {hashed} of settings, got {record['key']!r}")


_SAID = {str: "a text", int: "an integer", dict: "an object", (int, float): "a number"}
_RULES = {
    **dict.fromkeys(("seed", "resample"), values.COUNT),
    "seconds": values.NOT_NEGATIVE,
    "error": values.TEXT,
}
_KEY = re.compile("[0-9a-f]{32}")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that decide a result."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for name in ("posenc", "numpy", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
