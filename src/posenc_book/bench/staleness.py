"""Says before a run which stored trainings are trained anew, as code or series have changed."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from posenc_book.bench import tuning
from posenc_book.records import changes
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store


def staleness_lines(
    groups: Iterable[Sequence[Settings]],
    out: Path,
    *,
    label: Callable[[dict, str], str] = dict.__getitem__,
    tuned: bool = False,
) -> list[str]:
    """Return a sentence for each kind of change; none where there is no such file."""
    if not out.is_file():
        return []
    stored, found = changes.Stored(Store(out)), []
    for cell in (cell for group in groups for cell in group):
        settings = (replace(cell, tuned=tuning.TUNED) if tuned else cell).stored()
        record = {"encoding": cell.encoding, "dataset": cell.dataset, "settings": settings}
        names = (label(record, kind) for kind in changes.SOURCES)
        found.append(stored.change(settings, *names))
    counted, end = ("stored training run", "stored training runs"), "trained anew"
    return changes.change_sentences(found, *counted, (f"is {end}", f"are {end}"))
