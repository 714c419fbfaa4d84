"""What was run, and what is missing."""

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from posenc import data
from posenc.audit.survey.ours import N_SEEDS, whole
from posenc.study.tables import Scores


def coverage(collected: Sequence[Scores]) -> pd.DataFrame:
    """Return every data set of the survey and every stand-in, and how far each model is on it."""
    absent = data.recorded()["absent"]
    rows = {}
    for name, entry in data.registry.ENTRIES.items():
        if entry.role in ("survey", "stand-in"):
            steps = "–" if name in absent else data.recorded_facts(name).length
            states = {s.model: _state(s, name, name in absent) for s in collected}
            rows[name] = {"role": entry.role, "steps": steps, **states}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("data set", axis="columns")


def stand_ins() -> dict[str, str]:
    """Return the name of every stand-in and what it stands in for."""
    entries = data.registry.ENTRIES.items()
    return {name: e.notes[0].split("; ", 1)[1] for name, e in entries if e.role == "stand-in"}


def gaps(records: Iterable[dict], collected: Sequence[Scores]) -> Iterator[str]:
    """Yield a line for every failed cell, and for every set that was begun and is not complete."""
    for r in records:
        if "error" in r:
            place = f"{r['model']}, {r['dataset']}, {r['encoding']}, seed {r['seed']}"
            yield f"failed: {place}: {r['error']}"
    for scores in collected:
        for d in sorted(set(scores.datasets) - set(whole(scores).datasets)):
            n = {e: len(scores.cells.get((d, e), ())) for e in scores.encodings}
            lacking = ", ".join(e for e in n if n[e] < N_SEEDS)
            yield f"not complete: {scores.model}, {d}: {lacking}"


def _state(scores: Scores, name: str, absent: bool) -> str:
    if name in whole(scores).datasets:
        return "complete"
    done = sum(len(seeds) for (d, _), seeds in scores.cells.items() if d == name)
    if done:
        return f"{done} of {N_SEEDS * len(scores.encodings)} cells"
    return "absent" if absent else "not run"
