"""The form of one line of results: one finished or failed training."""

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from posenc.bench.settings import Settings

FIELDS = (
    "key",
    "encoding",
    "model",
    "dataset",
    "seed",
    "profile",
    "metrics",
    "settings",
    "versions",
    "device",
    "seconds",
)


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
    record = {name: getattr(settings, name) for name in FIELDS[:6]}
    record |= {"metrics": dict(metrics), "settings": settings.stored(), "versions": versions()}
    return record | {"device": device, "seconds": round(seconds, 4)}


def failed(settings: Settings, error: str, *, device: str, seconds: float) -> dict:
    """Return the record of a failed training: no metrics, and the reason in `error`."""
    return finished(settings, {}, device=device, seconds=seconds) | {"error": error}


def check(record: object) -> dict:
    """Return `record`, or raise ValueError that says what it lacks."""
    if not isinstance(record, dict):
        raise ValueError(f"a record must be a JSON object, got {type(record).__name__}")
    missing = [name for name in FIELDS if name not in record]
    if missing:
        raise ValueError(f"a record must have the field(s) {', '.join(missing)}")
    return record


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
