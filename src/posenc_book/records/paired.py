"""What each encoding gains over `none` on one data set: pairs of trainings on the same split.

Two trainings with one seed see the same series, so their difference is free of what the split does
to both. Resamples share series, so that their differences go together; intervals and tests allow
for that by the rule of Nadeau and Bengio (2003). That rule is made for test parts that are not the
larger part; where they are, it takes a half, or it would see no difference at all on the many sets
with few series to train on. A test simulates what level that keeps.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from posenc_book.data.errors import DataError
from posenc_book.data.units import share_of_test
from posenc_book.records import tables
from posenc_book.records.settings import complete
from posenc_book.statistics import equality, friedman
from posenc_book.statistics.answers import AHEAD, BEHIND, EQUAL, LARGEST_SHARE, UNDECIDED, word

BASELINE = "none"
MARGIN = 0.01  # as the protocol of the benchmark has it
TIMES, NUMBERS = ":clock=times", ":clock=indices"  # behind the name of a set that keeps times
FEWEST = 5  # pairs, as many as the protocol has resamples
MANY = 6  # names in a sentence

EXPLAINED = (
    "Each difference is that of two training runs with one seed on one split. In brackets: 95 % "
    "intervals by Student's t, wider where resamples share series (Nadeau and Bengio). Whether a "
    "set decides is judged with Holm's correction for the number of encodings, so one interval "
    "without 0 need not be enough."
)


@dataclass(frozen=True)
class PairedGain:
    """What an encoding gains over `none` on a data set, in the unit of the metric.

    Parameters
    ----------
    dataset, encoding : str
    differences : tuple of float
        One for each seed that both have, in the order of the seeds.
    low, high : float
        The 95 % interval; NaN where there are fewer than two differences.
    p_value : float
        That there is no difference, by the corrected resampled t-test, adjusted by Holm over the
        encodings of the set.
    p_equal : float
        That it is beyond a point of accuracy, by two one-sided t-tests, adjusted likewise; 1 for
        another metric.
    """

    dataset: str
    encoding: str
    differences: tuple[float, ...]
    low: float
    high: float
    p_value: float
    p_equal: float

    @property
    def mean(self) -> float:
        """The mean difference."""
        return float(np.mean(self.differences))

    @property
    def answer(self) -> str:
        """One of `answers.WORDS`; always "undecided" with fewer than five pairs."""
        enough = len(self.differences) >= FEWEST
        return word(self.mean, self.p_value, self.p_equal) if enough else UNDECIDED

    def __str__(self) -> str:
        if len(self.differences) < 2:
            return f"{self.mean:+z.3f}"
        return f"{self.mean:+z.3f} [{self.low:+z.3f}, {self.high:+z.3f}]"


def paired_gains(records: Iterable[dict], model: str, metric: str = "accuracy") -> list[PairedGain]:
    """Return the gain over `none` of each encoding on each data set, paired by seed and split.

    Source: Nadeau and Bengio (2003), Inference for the generalization error, section 3.
    """
    records = list(records)
    scores, rows = tables.scores(records, model, metric), _rows(records, model, metric)
    found = []
    for dataset in scores.datasets:
        none = rows[dataset, BASELINE]
        pairs = {name: _pairs(rows[dataset, name], none, metric) for name in scores.encodings}
        compared = {name: some for name, some in pairs.items() if name != BASELINE and some}
        if compared:
            share = _test_share(list(none.values()))
            found += _judged(dataset, compared, share, in_points=metric.endswith("accuracy"))
    return found


def times_gains(records: Iterable[dict], model: str, metric: str = "accuracy") -> list[PairedGain]:
    """Return what each encoding gains by the times of a set's steps over counting them."""
    rows = _rows(records, model, metric)
    pairs: dict[str, dict[str, list[float]]] = defaultdict(dict)
    for dataset, encoding in sorted(rows):
        name = dataset.removesuffix(TIMES)
        counted = rows.get((name + NUMBERS, encoding), {})
        apart = name != dataset and encoding != BASELINE
        if apart and (some := _pairs(rows[dataset, encoding], counted, metric)):
            pairs[name][encoding] = some
    found = []
    for name, compared in pairs.items():
        share = _test_share(list(rows[name + TIMES, next(iter(compared))].values()))
        found += _judged(name, compared, share, in_points=metric.endswith("accuracy"))
    return found


def _rows(
    records: Iterable[dict], model: str, metric: str
) -> dict[tuple[str, str], dict[tuple, dict]]:
    """Return the finished records of a model by data set and encoding, and by split."""
    rows: dict[tuple[str, str], dict[tuple, dict]] = defaultdict(dict)
    for r in tables.finished(records):
        if r["model"] == model and metric in r["metrics"]:
            place = tables.label(r, "dataset"), tables.label(r, "encoding")
            rows[place][_split(r)] = r
    return rows


def verdict_sentence(found: Sequence[PairedGain], than: str = f"`{BASELINE}`") -> str:
    """Return one sentence on what the pairs of a data set can decide."""
    dataset, n = found[0].dataset, max(len(one.differences) for one in found)
    if n < FEWEST:
        runs = f"{n} pair{'s' * (n > 1)} of training runs {'are' if n > 1 else 'is'} too few"
        return f"{dataset} cannot decide: {runs}, take {FEWEST} with `--profile protocol`."
    named = defaultdict(list)
    for one in found:
        named[one.answer].append(f"`{one.encoding}`")
    told = []
    for answer, side in ((AHEAD, "above"), (BEHIND, "below")):
        if some := named[answer]:
            told.append(f"{_listed(some, 'and')} {_are(some)} {side} {than}")
    if some := named[EQUAL]:
        told.append(f"{_listed(some, 'and')} {_are(some)} within {MARGIN:g} of {than}")
    if not told:
        which = _listed(named[UNDECIDED], "or")
        return (
            f"{dataset} cannot decide whether {which} is above or below {than}: more resamples "
            "or more series are needed."
        )
    if some := named[UNDECIDED]:
        told.append(f"of {_listed(some, 'and')} it cannot tell")
    return f"{dataset} decides{' in part' * bool(named['open'])}: {'; '.join(told)}."


def section(records: Iterable[dict], model: str, metric: str = "accuracy") -> list[str]:
    """Return paragraphs of Markdown: gains over `none`, and what each data set can decide."""
    records = list(records)
    found = paired_gains(records, model, metric)
    if not found:
        alone = {tables.label(r, "encoding") for r in records if r["model"] == model} == {BASELINE}
        without = "Without training runs of `none` on the same splits no gain over it can be shown."
        return [] if alone else [without]
    mine = [r for r in records if r["model"] == model]
    over = _compared(found, f"gain in {metric} over none", f"`{BASELINE}`")
    if on_times := times_gains(records, model, metric):
        over += _compared(on_times, f"gain in {metric} of times over numbers", "itself on numbers")
    return [over[0], EXPLAINED, *over[1:], *_one_split(mine), *_cut(mine)]


def _compared(found: Sequence[PairedGain], title: str, than: str) -> list[str]:
    """Return a table of gains, and a list of what each data set can decide."""
    encodings = list(dict.fromkeys(one.encoding for one in found))
    by_set: dict[str, dict[str, PairedGain]] = defaultdict(dict)
    for one in found:
        by_set[one.dataset][one.encoding] = one
    head = [title, *encodings]
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---", *["---:"] * len(encodings)])]
    for dataset, of in by_set.items():
        cells = [str(of[name]) if name in of else "–" for name in encodings]
        lines.append("| " + " | ".join([dataset, *cells]) + " |")
    decided = "\n".join(f"- {verdict_sentence(list(of.values()), than)}" for of in by_set.values())
    return ["\n".join(lines), decided]


def _split(record: dict) -> tuple[int, int, int]:
    settings = complete(record["settings"])
    return record["seed"], settings.get("split_seed", 0), settings["resample"]


def _pairs(rows: dict[tuple, dict], none: dict[tuple, dict], metric: str) -> list[float]:
    both = sorted(rows.keys() & none.keys())
    return [rows[at]["metrics"][metric] - none[at]["metrics"][metric] for at in both]


def _judged(
    dataset: str, pairs: dict[str, list[float]], share: float, *, in_points: bool
) -> list[PairedGain]:
    """Return the gains of the encodings of one set, corrected for their number."""
    judged = {name: some for name, some in pairs.items() if len(some) > 1}
    found = dict.fromkeys(pairs, (np.nan, np.nan, 1.0, 1.0))
    if judged:
        differ = friedman.holm([equality.resampled_p(some, share) for some in judged.values()])
        tests = [equality.tost(some, MARGIN, test_share=share) for some in judged.values()]
        alike = friedman.holm([test.p_value for test in tests])
        for (name, some), p_value, p_equal in zip(judged.items(), differ, alike, strict=True):
            of = equality.correlated_t(some, MARGIN, test_share=share)
            equal = float(p_equal) if in_points else 1.0
            found[name] = of.low, of.high, float(p_value), equal
    return [PairedGain(dataset, name, tuple(pairs[name]), *of) for name, of in found.items()]


def _test_share(records: Sequence[dict]) -> float:
    """Return the share of the test part, at most a half, which resamples go together by."""
    if len({complete(r["settings"])["resample"] for r in records}) < 2:
        return 0.0
    counts = [(r["metrics"].get("n_train"), r["metrics"].get("n_test")) for r in records]
    if None not in counts[0]:
        n_train, n_test = counts[0]
        return min(LARGEST_SHARE, n_test / (n_train + n_test))
    try:
        return min(LARGEST_SHARE, share_of_test(records[0]["dataset"]))
    except DataError:
        return LARGEST_SHARE


def _one_split(records: Sequence[dict]) -> list[str]:
    """Return a warning where seeds share one split."""
    several: dict[str, set] = defaultdict(set)
    for r in records:
        several[tables.label(r, "dataset")].add(_split(r)[1:])
    names = sorted(name for name, splits in several.items() if len(splits) == 1)
    if not names:
        return []
    return [f"Of {', '.join(names)} all training runs share one split: another may say otherwise."]


def _cut(records: Sequence[dict]) -> list[str]:
    """Return a warning where training runs were ended by their limit, not by validation."""
    n = sum(map(_reached_its_limit, records))
    if not n:
        return []
    return [
        f"{n} of {len(records)} training runs ended at the most steps or epochs that they were "
        "given, and not since validation had stopped improving: longer ones may gain more or less."
    ]


def _reached_its_limit(record: dict) -> bool:
    settings, metrics = complete(record["settings"]), record["metrics"]
    counted = "steps" if settings["steps"] else "epochs"
    return metrics.get(counted, 0) >= settings.get(counted, np.inf)


def _listed(names: Sequence[str], link: str) -> str:
    """Return names as a sentence lists them, and their number where they are many."""
    if len(names) > MANY:
        return f"{len(names)} encodings" if link == "and" else f"any of {len(names)} encodings"
    *most, last = names
    return f"{', '.join(most)} {link} {last}" if most else last


def _are(names: Sequence[str]) -> str:
    return "are" if len(names) > 1 else "is"
