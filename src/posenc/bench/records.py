"""The form of one line of results: one finished or failed training."""

import json
import platform
import re
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from posenc import _files
from posenc.bench import cases, values
from posenc.bench.settings import Settings, complete, key

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
        What was trained.
    metrics : mapping
        Test scores and costs, JSON values.
    device : str
        Where it ran, such as "cpu".
    seconds : float
        Wall time of this training; seeds trained together share theirs equally.

    Returns
    -------
    dict
        With the fields of `FIELDS` and `LATER`, ready for `Store.append`.

    Examples
    --------
    >>> cell = Settings("rotary", "patch", "Libras")
    >>> record = finished(cell, {"accuracy": 0.8}, device="cpu", seconds=2.0)
    >>> record["encoding"], record["metrics"], record["key"] == cell.key
    ('rotary', {'accuracy': 0.8}, True)
    """
    record = {name: getattr(settings, name) for name in _NAMES}
    record |= {"metrics": dict(metrics), "settings": settings.stored(), "versions": versions()}
    record |= {"device": device, "seconds": round(seconds, 4)}
    return record | {name: getattr(settings, name) for name in LATER}


def failed(settings: Settings, error: str, *, device: str, seconds: float) -> dict:
    """Return the record of a failed training: no metrics, and the reason in `error`.

    Parameters
    ----------
    settings : Settings
        What was to be trained.
    error : str
        The reason, for readers.
    device : str
        Where it ran.
    seconds : float
        Wall time until it failed.

    Returns
    -------
    dict

    Examples
    --------
    >>> record = failed(Settings("dft", "patch", "Libras"), "too long", device="cpu", seconds=0.1)
    >>> record["error"], record["metrics"]
    ('too long', {})
    """
    return finished(settings, {}, device=device, seconds=seconds) | {"error": error}


def check(record: object) -> dict:
    """Return a record, after looking for what it lacks or holds wrongly.

    Parameters
    ----------
    record : object
        What a line of results holds.

    Returns
    -------
    dict
        The record itself.

    Raises
    ------
    ValueError
        If it is no mapping, lacks a field, a field has a value of another type, the accuracy is no
        count of the test series, or what stands beside the settings contradicts them.

    Examples
    --------
    >>> record = finished(Settings("none", "patch", "Libras"), {}, device="cpu", seconds=2.0)
    >>> try:
    ...     check(record | {"seed": "first"})
    ... except ValueError as error:
    ...     print(error)
    seed must be an integer, got 'first'
    >>> try:
    ...     check(record | {"dataset": "LSST"})
    ... except ValueError as error:
    ...     print(error)
    dataset must be 'Libras' as in settings, got 'LSST'
    """
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
    """Return a record as a line of results.

    Parameters
    ----------
    record : object
        As `finished` or `failed` makes it.

    Returns
    -------
    str
        JSON, with a newline at its end.

    Raises
    ------
    ValueError
        If it is no record, holds a number that is not finite, or is longer than what is read.
    TypeError
        If it holds something that JSON cannot.

    Examples
    --------
    >>> line(finished(Settings("none", "patch", "Libras"), {}, device="cpu", seconds=2.0))[:8]
    '{"key":"'
    """
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
    """Return the versions of Python and of the packages that decide a result.

    Returns
    -------
    dict of str to str
        Of packages those that are installed.

    Examples
    --------
    >>> [name for name in versions() if name != "torch"]
    ['python', 'platform', 'posenc', 'numpy']
    """
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for name in ("posenc", "numpy", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
