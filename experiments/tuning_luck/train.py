"""Thirty cells, tuned on five deals each, and what each choice trains."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from experiments.edition3 import train as third
from posenc_book.read import plans, results
from posenc_book.read.edition3 import plan as of_the_edition
from posenc_book.records.hashes import hashed
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store

PLAN = plans.load("tuning_luck")
HASH = hashed(PLAN)
SETS = of_the_edition.COUNTED
Stage = tuple[str, list[list[Settings]], Store]  # its title, its groups of cells, their file


def cells(dataset: str) -> list[Settings]:
    """Return a training of each encoding, before its rate is chosen."""
    return [replace(third.cell(dataset, name), protocol=HASH) for name in PLAN["encodings"]]


def stages(dataset: str, folder: Path) -> Iterator[Stage]:
    """Yield four trials of a cell on each deal, the fifth, and then what the best of them train."""
    trials, trained = (Store(folder / f"{kind}{dataset}.jsonl") for kind in ("tuning-", ""))
    places = [(one, deal) for one in cells(dataset) for deal in PLAN["trial deals"]]
    first = [[trial] for one, deal in places for trial in third.first_trials(one, deal)]
    yield "trials", first, trials
    known = third.by_key(trials)
    last = [third.last_trial(one, known, deal) for one, deal in places]
    yield "last trials", [[trial] for trial in last if trial], trials
    known = third.by_key(trials)
    best = [third.tuned(one, known, deal) for one, deal in places]
    stored = _of_the_edition(dataset)
    wanted = [third.trainings(one, PLAN["trainings"]) for one in _once(best)]
    new = [[one for one in some if as_stored(one) not in stored] for some in wanted]
    yield "training", new, trained


def as_stored(one: Settings) -> str:
    """Return the key under which the third edition would have stored a training."""
    return replace(one, protocol=of_the_edition.HASH).key


def _once(settings: Sequence[Settings | None]) -> list[Settings]:
    return list({one.key: one for one in settings if one is not None}.values())


def _of_the_edition(dataset: str) -> set[str]:
    path = results.folder() / "edition-3" / f"{dataset}.jsonl"
    return {record["key"] for record in results.read_records(path) if "error" not in record}
