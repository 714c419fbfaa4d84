"""Which cells of a command have failed, in words, and how to try them again."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from posenc_book.bench import tuning
from posenc_book.records import changes
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store, unique

MOST = 10  # lines
AGAIN = "to try them again: the same command with --retry-failed; mended code needs no option"


def of(groups: Iterable[Sequence[Settings]], path: Path) -> list[dict]:
    """Return the records of failed cells of some groups; none where there is no such file."""
    keys = {cell.key for group in groups for cell in group}
    return [r for r in unique(iter(Store(path))) if r["key"] in keys and "error" in r]


def standing(records: Iterable[dict]) -> tuple[list[dict], int]:
    """Return the failed records whose cells were not trained again since, and how many were.

    A cell that has failed is often trained again with mended code or series, and is another cell
    then, as both have fingerprints.
    """
    records = list(records)
    over = changes.superseded(records)
    failed = [r for r in unique(iter(records)) if "error" in r]
    found = [r for r in failed if r["key"] not in over]
    return found, len(failed) - len(found)


def again(n_mended: int) -> str:
    """Return the end of a sentence on failed cells, "" without such that were trained again."""
    return f" ({n_mended} more before their code or series was changed)" if n_mended else ""


def summary_lines(found: Iterable[tuple[Path, list[dict]]]) -> list[str]:
    """Return lines that name failed cells of several files, and say how to try them again."""
    found = [(path, records) for path, records in found if records]
    if not found:
        return []
    kinds = Counter(_kind(r) for _, records in found for r in records)
    lines = [
        f"failed: {cells}, {n} {kind if n == 1 else kind + 's'}: {error}"
        for (cells, kind, error), n in kinds.items()
    ]
    files = dict.fromkeys(path for path, _ in found)
    status = [f"why they failed: posenc bench status {path}" for path in files]
    return [*_first(lines, "more of them"), *_first(status, "files more"), AGAIN]


def _first(lines: Sequence[str], what: str) -> list[str]:
    left = len(lines) - MOST
    return [*lines[:MOST], *([f"... and {left} {what}"] if left > 0 else [])]


def _kind(record: dict) -> tuple[str, str, str]:
    """Return what is counted together: the cell without its seed, trial or not, and the reason."""
    kind = "trial" if record["profile"] == tuning.PROFILE else "training run"
    cells = f"{record['encoding']} {record['model']} {record['dataset']}"
    return cells, kind, record["error"]
