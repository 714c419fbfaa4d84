"""The form of one line of results: one finished or failed training."""

import platform
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from posenc.bench.settings import Settings

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
    """Return the record of a finished training.

    Parameters
    ----------
    settings : Settings
    metrics : mapping
        Test scores and costs, JSON values.
    device : str
        Where it ran, such as "cpu".
    seconds : float
        Wall time of this training; seeds trained together share theirs equally.
    """
    record = {name: getattr(settings, name) for name in _NAMES}
    record |= {"metrics": dict(metrics), "settings": settings.stored(), "versions": versions()}
    record |= {"device": device, "seconds": round(seconds, 4)}
    return record | {name: getattr(settings, name) for name in LATER}


def failed(settings: Settings, error: str, *, device: str, seconds: float) -> dict:
    """Return the record of a failed training: no metrics, and the reason in `error`."""
    return finished(settings, {}, device=device, seconds=seconds) | {"error": error}


def check(record: object) -> dict:
    """Return `record`, or raise ValueError that says what it lacks or holds wrongly."""
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
    return record


_SAID = {str: "a text", int: "an integer", dict: "an object", (int, float): "a number"}
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
