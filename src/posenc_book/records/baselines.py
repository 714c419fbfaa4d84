"""Lines of what a set gives without a transformer, as `posenc bench baselines` writes them."""

import json
import os
from pathlib import Path

from posenc_book import _files
from posenc_book.records import cases, values

FIELDS = (
    "dataset",
    "fingerprint",
    "baseline",
    "resample",
    "n_train",
    "n_test",
    "metrics",
    "settings",
    "versions",
    "seconds",
)


def read_baselines(path: str | os.PathLike) -> list[dict]:
    """Return the records of a file."""
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"out must be a file such as results/baselines.jsonl, got folder {path}")
    if not path.exists():
        return []
    return [_parse(path, number, line) for number, line in _files.records(path)]


def _parse(path: Path, number: int, line: bytes) -> dict:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}, line {number}: not JSON ({error}); remove that line") from error
    missing = [one for one in FIELDS if not isinstance(record, dict) or one not in record]
    if missing:
        raise ValueError(
            f"{path}, line {number}: not a record of a baseline, it lacks {', '.join(missing)}"
        )
    try:
        _check_score(record)
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: {error}") from error
    if not line.endswith(b"\n"):
        raise ValueError(f"{path}, line {number}: ends without a newline; add it")
    return record


def _check_score(record: dict) -> None:
    """Raise ValueError if the accuracy is no count of the test series."""
    n, scores = record["n_test"], record["metrics"]
    for name, value, rule in (("n_test", n, values.FROM_1), ("metrics", scores, values.OBJECT)):
        if not rule.fits(value):
            raise ValueError(f"{name} must be {rule.said}, got {value!r:.40}")
    values.check("metrics", scores, values.METRICS)
    if "accuracy" in scores:
        cases.check_count("metrics.accuracy", scores["accuracy"], n)
