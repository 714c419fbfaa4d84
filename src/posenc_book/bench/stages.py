"""Tuned trainings, stage by stage: three trials, a fourth, then the cells themselves."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from posenc_book.bench import tuning
from posenc_book.bench.driver import Cells, Summary
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store, unique

Run = Callable[[Cells, Store], Summary]
"""Trains what a results file lacks of some cells."""

Begin = Callable[[str, int], None]
"""Is told the name of a stage before it begins, and how many of its cells there are not."""


@dataclass(frozen=True)
class Files:
    """Where trials and results are stored.

    Parameters
    ----------
    trials, results : pathlib.Path
        Files of JSON lines.
    """

    trials: Path
    results: Path


def beside(out: Path) -> Files:
    """Return the files of a results file that is named by hand: its trials stand beside it."""
    return Files(out.with_name(f"{out.stem}-tuning{out.suffix}"), out)


def run(
    groups: Sequence[Sequence[Settings]],
    files: Files,
    train: Run,
    begin: Begin | None = None,
) -> Iterator[tuple[str, Summary]]:
    """Tune each group of cells and train it, and yield what each stage was and did.

    A group holds the resamples or seeds of one encoding, model and data set. Groups whose trials
    have all failed are trained as they are, so that the failure is recorded. A group goes on only
    if all its trials have ended, since another run may be at one of them: what waits is counted,
    and running the stages once more takes it up.
    """
    begin = begin or (lambda *_: None)
    trials = Store(files.trials)
    first = [tuning.first_trials(group[0]) for group in groups]
    begin("tuning, first trials", 0)
    yield "tuning, first trials", train(tuning.Cells([[t] for of in first for t in of]), trials)
    begun = _ended(groups, first, trials)
    records = finished(files.trials)
    found = [tuning.last_trial(group[0], records) for group in begun]
    last = [[trial] if trial else [] for trial in found]
    begin("tuning, last trial", found.count(None))
    done = train(tuning.Cells([some for some in last if some]), trials)
    yield "tuning, last trial", replace(done, waiting=len(groups) - len(begun))
    ready = _ended(begun, last, trials)
    begin("training", 0)
    done = train(tuning.Cells(final(ready, files.trials)), Store(files.results))
    yield "training", replace(done, waiting=sum(map(len, groups)) - sum(map(len, ready)))


def _ended(
    groups: Sequence[Sequence[Settings]], trials: Sequence[Sequence[Settings]], store: Store
) -> list[Sequence[Settings]]:
    """Return the groups all of whose trials are stored, finished or failed."""
    known = {record["key"] for record in store}
    return [
        group
        for group, some in zip(groups, trials, strict=True)
        if all(trial.key in known for trial in some)
    ]


def final(groups: Sequence[Sequence[Settings]], trials: Path) -> list[list[Settings]]:
    """Return the groups with the learning rates and scales that their trials chose."""
    records = finished(trials)
    chosen = [tuning.tuned(group[0], records) for group in groups]
    return [
        [cell.tuned_as(best) if best else cell for cell in group]
        for group, best in zip(groups, chosen, strict=True)
    ]


def finished(path: Path) -> dict[str, dict]:
    """Return the finished records of a file by their keys; none if there is no file."""
    records = unique(iter(Store(path))) if path.is_file() else []
    return {record["key"]: record for record in records if "error" not in record}
