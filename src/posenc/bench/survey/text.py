"""Tables in text: what was run, what is missing, and our scores beside the survey's."""

from collections.abc import Iterable, Iterator, Sequence

from posenc import data
from posenc.bench import printed
from posenc.bench.survey.ours import N_SEEDS, PAIRS, common, theirs, whole
from posenc.bench.tables import Scores


def coverage(collected: Sequence[Scores]) -> Iterator[str]:
    """Yield a table in text: every data set of the survey and every stand-in, and how far it is."""
    absent = data.recorded()["absent"]
    yield f"{'set':27}{'steps':>5}  " + "".join(f"{s.model:16}" for s in collected) + "role"
    for name, entry in data.registry.ENTRIES.items():
        if entry.role in ("survey", "stand-in"):
            steps = "" if name in absent else data.recorded_facts(name).length
            role = "the survey's" if entry.role == "survey" else entry.notes[0].split("; ", 1)[1]
            states = "".join(f"{_state(scores, name, name in absent):16}" for scores in collected)
            yield f"{name:27}{steps:>5}  {states}{role}"


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


def beside(scores: Scores) -> Iterator[str]:
    """Yield a table in text: printed accuracies and our mean and deviation, in per cent."""
    names = [name if column == "SPE" else column for column, name in PAIRS]
    yield f"{'':21}" + "".join(f"{name:>12}" for name in names)
    for d in common(scores):
        (table,) = 100 * theirs(scores.model, [d])
        row = [table[printed.COLUMNS.index(column)] for column, _ in PAIRS]
        yield f"{d:21}" + "     ".join(f"{value:7.1f}" for value in row)
        ours = [100 * scores.cells[d, name] for _, name in PAIRS]
        yield f"{'  here':21}" + "".join(f"{c.mean():7.1f} ±{c.std(ddof=1):3.1f}" for c in ours)


def _state(scores: Scores, name: str, absent: bool) -> str:
    if name in whole(scores).datasets:
        return "complete"
    done = sum(len(seeds) for (d, _), seeds in scores.cells.items() if d == name)
    if done:
        return f"{done} of {N_SEEDS * len(scores.encodings)} cells"
    return "absent" if absent else "not run"
