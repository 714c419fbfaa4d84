"""One results file a unit, which the driver of trainings sees as one store."""

from collections.abc import Sequence
from pathlib import Path

from posenc_book.records.store import Store, unique


class UnitStores:
    """Results files of several units in one folder.

    Parameters
    ----------
    folder : pathlib.Path
    kind : {"", "tuning-"}
        Trainings, or the trials that chose their learning rates.
    units : sequence of str
    """

    def __init__(self, folder: Path, kind: str, units: Sequence[str]) -> None:
        self.path = folder / f"{kind}all.jsonl"  # names the lock, is never written
        self._of = {unit: Store(folder / f"{kind}{unit}.jsonl") for unit in units}

    def refresh(self) -> None:
        """Read what was added to any of the files."""
        for store in self._of.values():
            store.refresh()

    def finished(self, key: str) -> bool:
        """Return whether a cell has finished, in whichever file."""
        return any(store.finished(key) for store in self._of.values())

    def failed(self, key: str) -> bool:
        """Return whether a cell has failed and has not finished since."""
        return any(store.failed(key) for store in self._of.values())

    def append(self, record: dict) -> None:
        """Write a record into the file of its unit."""
        self._of[record["dataset"]].append(record)

    def records(self) -> dict[str, dict]:
        """Return all records by their keys, of those that failed the last one."""
        every = (record for store in self._of.values() for record in store)
        return {record["key"]: record for record in unique(every)}
