"""An accuracy is a count: how many series were scored, and whether a record's accuracy fits them.

Of the book's own sets `posenc_book.data.recorded` knows the size of the test part, of generated
ones the options say it. Where neither does, nothing is checked.
"""

from collections.abc import Mapping

from posenc_book.data import recorded
from posenc_book.records.settings import complete
from posenc_book.records.values import FROM_1

_GENERATED = ("range_probe",)  # their option `n` is the size of each part
_ROUNDING = 1e-12  # of a quotient of two counts that is stored with all its digits


def n_test(record: Mapping, *, by_name: bool = False) -> int | None:
    """Return on how many test series a training was scored, or None where that is unknown."""
    if "n_test" in record["metrics"]:
        return record["metrics"]["n_test"]
    settings = complete(record["settings"])
    source, options = settings["dataset_source"], settings.get("dataset_options") or {}
    if record["dataset"] in _GENERATED:
        n = options.get("n")
        return n if FROM_1.fits(n) else None
    stored = recorded()["sets"].get(record["dataset"])
    if stored is None or not (
        source == stored["fingerprint"] or (by_name and (options or not source))
    ):
        return None
    most = settings.get("max_cases", 0)
    return min(stored["test"], most) if most else stored["test"]


def check(record: Mapping, *, by_name: bool = False) -> None:
    """Raise ValueError if the accuracy of a record is no count of the series it was scored on."""
    accuracy, n = record["metrics"].get("accuracy"), n_test(record)
    if n is None and by_name:
        n = n_test(record, by_name=True)
    if accuracy is not None and n:
        check_count("metrics.accuracy", accuracy, n)


def check_count(name: str, accuracy: float, n: int) -> None:
    """Raise ValueError if an accuracy is no count of n series."""
    right = round(accuracy * n)
    if abs(accuracy - right / n) > _ROUNDING:
        raise ValueError(
            f"{name} must be a multiple of 1/{n}, got {accuracy}: {right} of {n} right is "
            f"{right / n}"
        )
