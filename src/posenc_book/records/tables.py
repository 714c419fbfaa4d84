"""Score tables from records: which cells there are, and one mean over seeds for each."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.records import settings, store
from posenc_book.statistics.summary import Interval, interval

# Settings in which cells of one table may differ: they are what the table compares, or what
# follows from seed and encoding.
COMPARED = (
    "encoding",
    "encoding_options",
    "encoding_source",
    "model",
    "dataset",
    "dataset_options",
    "dataset_source",
    "seed",
    "split_seed",
    "resample",
)
# Settings that tuning has chosen for each encoding.
CHOSEN = ("learning_rate", "scale")
# Below this many training steps a reader of scores is warned.
FEW_STEPS = 200

NOT_RUN = "not run"  # what a table shows where no training is stored


@dataclass(frozen=True)
class Scores:
    """Scores of one model: every encoding on every data set, over seeds.

    Parameters
    ----------
    model, metric : str
    datasets, encodings : tuple of str
        Rows and columns, by name; "none" comes first.
    cells : mapping
        (dataset, encoding) to the array of scores over seeds, in the order of the seeds.
    """

    model: str
    metric: str
    datasets: tuple[str, ...]
    encodings: tuple[str, ...]
    cells: Mapping[tuple[str, str], NDArray[np.float64]]

    def mean(self) -> NDArray[np.float64]:
        """Return the means over seeds, (n_datasets, n_encodings); NaN where no cell finished."""
        return np.array([[self._mean(d, e) for e in self.encodings] for d in self.datasets])

    def interval(self, dataset: str, encoding: str) -> Interval | None:
        """Return mean and bootstrap interval of a cell, or None where none finished."""
        scores = self.cells.get((dataset, encoding))
        return None if scores is None else interval(scores)

    def complete(self) -> "Scores":
        """Return the part that tests may use: data sets on which every encoding finished."""
        kept = [d for d in self.datasets if all((d, e) in self.cells for e in self.encodings)]
        return Scores(self.model, self.metric, tuple(kept), self.encodings, self.cells)

    def _mean(self, dataset: str, encoding: str) -> float:
        scores = self.cells.get((dataset, encoding))
        return np.nan if scores is None else float(scores.mean())


def scores(records: Iterable[dict], model: str, metric: str = "accuracy") -> Scores:
    """Collect the scores of one model from finished records.

    Parameters
    ----------
    records : iterable of dict
        Lines of a results file; failed and duplicate ones are left out.
    model : str
        "patch" or "time_series".
    metric : str
        A key of the records' metrics.

    Returns
    -------
    Scores

    Raises
    ------
    ValueError
        If no record fits, or the records mix settings that must be equal in a comparison, versions
        of one encoding or data set, or seeds of one split and resamples.

    Examples
    --------
    >>> from posenc_book.read import results
    >>> found = scores(results.load_records("published-control"), "patch")
    >>> found.encodings[:3], len(found.cells["RacketSports", "rotary"])
    (('none', 'alibi', 'conv_spe'), 5)
    """
    done = [r for r in finished(records) if r["model"] == model]
    rows = [r for r in done if metric in r["metrics"]]
    if done and not rows:
        known = {name for r in done for name, v in r["metrics"].items() if isinstance(v, float)}
        _checks.choice("metric", metric, sorted(known))
    if not rows:
        raise ValueError(f"no finished record has model {model!r} and metric {metric!r}")
    check_equal_settings(rows)
    check_one_version(rows)
    cells: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    for row in rows:
        place, seed = (label(row, "dataset"), label(row, "encoding")), row["seed"]
        if seed in cells[place]:
            raise ValueError(
                f"records hold two training runs of {place[1]} on {place[0]} with seed {seed}: "
                "seeds of one split and resamples do not mix; take those of one split with "
                "--where split_seed=0, or write the two kinds into files of their own"
            )
        cells[place][seed] = row["metrics"][metric]
    ordered = {k: np.array([v[s] for s in sorted(v)]) for k, v in cells.items()}
    datasets, encodings = (sorted(set(names), key=_order) for names in zip(*cells, strict=True))
    return Scores(model, metric, tuple(datasets), tuple(encodings), ordered)


def finished(records: Iterable[dict]) -> list[dict]:
    """Return the finished records, one per key."""
    return [r for r in store.unique(iter(records)) if "error" not in r]


def latest(records: Iterable[dict]) -> list[dict]:
    """Return the records without those of earlier versions of an encoding or a data set.

    The version of the last record of each counts as the latest.
    """
    records = list(records)
    for kind in ("encoding", "dataset"):
        source = {label(r, kind): _source(r, kind) for r in records}
        records = [r for r in records if _source(r, kind) == source[label(r, kind)]]
    return records


def check_one_version(records: Sequence[dict]) -> None:
    """Raise ValueError if records hold several versions of an encoding or a data set."""
    for kind in ("encoding", "dataset"):
        sources: dict[str, str] = {}
        for record in records:
            name, source = label(record, kind), _source(record, kind)
            if sources.setdefault(name, source) != source:
                raise ValueError(
                    f"records hold several versions of {name}; tables.latest keeps the last"
                )


def _source(record: dict, kind: str) -> str:
    return record["settings"].get(f"{kind}_source", "")


def most_steps(records: Iterable[dict]) -> dict[str, int]:
    """Return the most training steps that a finished cell had, by data set."""
    steps: dict[str, int] = {}
    for r in finished(records):
        name = label(r, "dataset")
        steps[name] = max(steps.get(name, 0), r["metrics"].get("steps", 0))
    return steps


def short_trainings(records: Iterable[dict]) -> str:
    """Return a sentence on the data sets with fewer than FEW_STEPS training steps, or ""."""
    few = {d: n for d, n in most_steps(records).items() if 0 < n < FEW_STEPS}
    if not few:
        return ""
    listed = ", ".join(f"{name} ({n})" for name, n in few.items())
    return (
        f"Trained for fewer than {FEW_STEPS} steps: {listed}. In so few steps a score says how "
        "soon an encoding is of use rather than how much; more --epochs and --patience help."
    )


def label(record: dict, kind: str) -> str:
    """Return the name of an encoding or data set with its options."""
    options = record["settings"].get(f"{kind}_options")
    if not options:
        return record[kind]
    return ":".join([record[kind], *(f"{k}={v}" for k, v in sorted(options.items()))])


def _order(name: str) -> tuple[bool, str]:
    return name != "none", name.lower()


def check_equal_settings(rows: list[dict]) -> None:
    """Raise ValueError if records that are to be compared were trained differently."""
    values: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        for name, value in settings.complete(row["settings"]).items():
            free = name in COMPARED or (name in CHOSEN and row["settings"].get("tuned"))
            if not free:
                values[name][str(value)] += 1
    mixed = sorted(name for name, found in values.items() if len(found) > 1)
    if mixed:
        name = mixed[0]
        most, n = values[name].most_common(1)[0]
        raise ValueError(
            f"the records differ in {', '.join(mixed)}: compare like with like. {n} of "
            f"{len(rows)} have {name}={most}; take only those with --where '{name}={most}', or "
            f"train the others anew with {_option(name, most)}"
        )


def _option(name: str, value: str) -> str:
    """Return the option of a run that gives a setting, as one would type it."""
    if name == "tuned":
        return "--tune" if value else "no --tune"
    return f"--{name.replace('_', '-')} {value}"
