"""Tuned trainings, stage by stage: three trials, a fourth, then the cells themselves."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from posenc.bench import tuning
from posenc.bench.driver import Cells, Summary
from posenc.bench.settings import Settings
from posenc.bench.store import Store, unique

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

    Examples
    --------
    >>> files = Files(Path("tuning.jsonl"), Path("run.jsonl"))
    >>> files.results.name
    'run.jsonl'
    """

    trials: Path
    results: Path


def beside(out: Path) -> Files:
    """Return the files of a results file that is named by hand: its trials stand beside it.

    Parameters
    ----------
    out : pathlib.Path
        The results file.

    Returns
    -------
    Files

    Examples
    --------
    >>> beside(Path("mine.jsonl")).trials.name
    'mine-tuning.jsonl'
    """
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

    Parameters
    ----------
    groups : sequence of sequences of Settings
    files : Files
        Where trials and results are stored.
    train : callable
        Trains what a results file lacks of some cells, and returns what it did.
    begin : callable, optional
        Is told the name of each stage before it begins, and how many cells it lacks: there is no
        fourth trial where the first three have all failed.

    Returns
    -------
    iterator of (str, Summary)
        Name of each stage, and what it did.

    Raises
    ------
    ValueError
        If an encoding is unknown, or a file holds what is no record.

    Examples
    --------
    >>> import tempfile
    >>> from posenc.bench import records
    >>> def fail(cells, store):
    ...     for cell in sum(cells.groups(), []):
    ...         store.append(records.failed(cell, "no memory", device="cpu", seconds=0.0))
    ...     return Summary(len(cells), failed=len(cells))
    >>> cells = [Settings("rotary", "patch", "Libras", seed) for seed in (0, 1)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stages = run([cells], beside(Path(folder) / "mine.jsonl"), fail)
    ...     [(stage, done.failed) for stage, done in stages]
    [('tuning, first trials', 3), ('tuning, last trial', 0), ('training', 2)]
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
    """Return the groups with the learning rates and scales that their trials chose.

    Parameters
    ----------
    groups : sequence of sequences of Settings
    trials : pathlib.Path
        File of the trials; without one the groups stay as they are.

    Returns
    -------
    list of list of Settings

    Raises
    ------
    ValueError
        If an encoding is unknown, or the file holds what is no record.

    Examples
    --------
    >>> cells = [Settings("rotary", "patch", "Libras", seed) for seed in (0, 1)]
    >>> final([cells], Path("nowhere.jsonl")) == [cells]
    True
    """
    records = finished(trials)
    chosen = [tuning.tuned(group[0], records) for group in groups]
    return [
        [cell.tuned_as(best) if best else cell for cell in group]
        for group, best in zip(groups, chosen, strict=True)
    ]


def finished(path: Path) -> dict[str, dict]:
    """Return the finished records of a file by their keys; none if there is no file.

    Parameters
    ----------
    path : pathlib.Path
        A results file.

    Returns
    -------
    dict of str to dict

    Raises
    ------
    ValueError
        If the file holds what is no record.

    Examples
    --------
    >>> finished(Path("nowhere.jsonl"))
    {}
    """
    records = unique(iter(Store(path))) if path.is_file() else []
    return {record["key"]: record for record in records if "error" not in record}
