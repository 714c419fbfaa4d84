"""The cells of the message: each setting tried on three deals, the best trained on four."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from experiments.edition3 import train as third
from posenc_book import data
from posenc_book.bench import build
from posenc_book.read.edition3 import plan as of_the_edition
from posenc_book.read.message import PARTS, PLAN, PROFILE
from posenc_book.records.records import worth
from posenc_book.records.settings import Settings
from posenc_book.records.store import Store


def cells(dataset: str, which: str = "arms") -> list[Settings]:
    """Return a training of each arm of a part, before its rate is chosen."""
    arms, protocol = PARTS[which]
    bare = replace(third.cell(dataset, "none"), profile=PROFILE, protocol=protocol)
    of_each = [(name, o, build.encoding_fingerprint(name)) for name, o in arms.values()]
    return [replace(bare, encoding=n, encoding_options=o, encoding_source=f) for n, o, f in of_each]


def stages(dataset: str, places: list[Settings], folder: Path) -> Iterator[third.Stage]:
    """Yield four trials of a cell on each deal, the fifth, and then what the best one trains."""
    trials, trained = (Store(folder / f"{kind}{dataset}.jsonl") for kind in ("tuning-", ""))
    yield "trials", [some for one in places for some in first_trials(one)], trials
    known = third.by_key(trials)
    last = [last_trials(one, known) for one in places]
    yield "last trials", [some for some in last if some], trials
    known = third.by_key(trials)
    best = [tuned(one, known) for one in places]
    yield "training", [third.trainings(one, PLAN["trainings"]) for one in best if one], trained


def first_trials(one: Settings) -> list[list[Settings]]:
    """Return the trials of four rates, each on all deals."""
    return [_on_deals(one, learning_rate=rate) for rate in of_the_edition.RATES]


def last_trials(one: Settings, known: Mapping[str, dict]) -> list[Settings]:
    """Return the fifth setting on all deals; none if a trial is missing, or no rate has worked."""
    rates = [some[0].learning_rate for some in _ranked(first_trials(one), known) or ()]
    return _on_deals(one, **third.fifth(one.encoding, rates)) if rates else []


def tuned(one: Settings, known: Mapping[str, dict]) -> Settings | None:
    """Return the cell as the setting with the best mean over the deals has it.

    None if a trial is missing. Where all have failed it is trained all the same, and fails there.
    """
    last = last_trials(one, known)
    ranked = _ranked([*first_trials(one), *([last] if last else [])], known)
    if ranked is None:
        return None
    if not ranked:
        rate = third.TUNING["if all fail"]
        return replace(one, learning_rate=rate, tuned="all trials failed")
    best = ranked[0][0]
    told = f"5 trials of {best.steps} steps on {len(ranked[0])} deals"
    return replace(one, learning_rate=best.learning_rate, scale=best.scale, tuned=told)


def _on_deals(one: Settings, **changes: object) -> list[Settings]:
    """Return a setting's trials, on deals of their own also where the editions tried none."""
    trials = [third.trial(one, deal, **changes) for deal in PLAN["trial deals"]]
    only = data.official_only(one.dataset)
    return trials if only else [replace(trial, resample=trial.seed) for trial in trials]


def _ranked(tried: list[list[Settings]], known: Mapping[str, dict]) -> list[list[Settings]] | None:
    """Return the settings that failed on no deal, the best mean first; None if one is missing."""

    def mean(some: list[Settings]) -> tuple[float, ...]:
        return tuple(map(fmean, zip(*(worth(known[one.key]) for one in some), strict=True)))

    if not all(trial.key in known for some in tried for trial in some):
        return None
    good = [some for some in tried if not any("error" in known[one.key] for one in some)]
    return sorted(good, key=mean, reverse=True)
