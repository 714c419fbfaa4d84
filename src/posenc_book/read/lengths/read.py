"""The length-generalisation lab as pages read it: task by encoding by length, and what is missing.

The runs are those of `python -m experiments.lengths`; `results/small-protocols.md` has their
protocol.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from posenc import _checks
from posenc_book.data import tasks as length_tasks
from posenc_book.read import results
from posenc_book.read.lengths import plan
from posenc_book.read.lengths.plan import PROTOCOL
from posenc_book.records import labels, store, tables

SCORES = ("exact", "token")
LONGER = [n for n in PROTOCOL["tested"] if n > PROTOCOL["trained"]]
DIGITS = 6  # to which shares are compared: they were stored in single precision


@dataclass(frozen=True)
class Spread:
    """Mean, lowest and highest of the seeds of one cell of a table.

    Parameters
    ----------
    mean, low, high : float
        Each from 0 to 1.
    n : int
        Seeds.
    """

    mean: float
    low: float
    high: float
    n: int

    def __str__(self) -> str:
        if self.n == 1:
            return f"{self.mean:.0%} (1 seed)"
        return f"{self.mean:.0%} ({100 * self.low:.0f} to {100 * self.high:.0f})"


@dataclass(frozen=True)
class Lab:
    """What a results file holds of the lab's protocol.

    Parameters
    ----------
    runs : dict of (task, encoding) to a dict from seed to metrics
        Finished trainings, with encodings by their labels, such as "rotary, random places".
    failed : dict of (task, encoding, seed) to a reason
        Unfinished trainings among them: their reason begins with "unfinished".
    """

    runs: dict[tuple[str, str], dict[int, dict]]
    failed: dict[tuple[str, str, int], str]

    @property
    def tasks(self) -> list[str]:
        """The tasks with a finished training, in the order of the protocol."""
        there = {task for task, _ in self.runs}
        return [task for task in PROTOCOL["tasks"] if task in there]

    def encodings(self, task: str) -> list[str]:
        """Return the encodings with a finished training on a task, in the protocol's order."""
        known = [one.label for one in plan.ENCODINGS]
        return [label for label in known if (task, label) in self.runs]

    def spread(self, task: str, encoding: str, length: int, score: str = "exact") -> Spread | None:
        """Return the scores over seeds, or None where no seed finished or all refuse."""
        _checks.choice("score", score, SCORES)
        seeds = self.runs.get((task, encoding), {}).values()
        found = [m[score][str(length)] for m in seeds if str(length) in m[score]]
        return Spread(float(np.mean(found)), min(found), max(found), len(found)) if found else None

    def beyond(self, task: str, encoding: str) -> float:
        """Return the mean token accuracy above the trained length; NaN where nothing finished."""
        spreads = [self.spread(task, encoding, length, "token") for length in LONGER]
        return float(np.mean([np.nan if one is None else one.mean for one in spreads]))

    def learned(self, task: str) -> bool:
        """Return whether some encoding has learned a task at the trained length."""
        length = PROTOCOL["trained"]
        spreads = [self.spread(task, name, length, "token") for name in self.encodings(task)]
        return any(
            one is not None and round(one.mean, DIGITS) >= PROTOCOL["learned"] for one in spreads
        )

    def order(self, task: str) -> list[str]:
        """Return the encodings of a task, best first, as the protocol orders them."""
        worth = {name: self.beyond(task, name) for name in self.encodings(task)}
        return sorted(
            (n for n in worth if not np.isnan(worth[n])), key=lambda n: -round(worth[n], DIGITS)
        )

    @property
    def unfinished(self) -> list[str]:
        """The trainings whose time was over, by name."""
        return [
            f"{task}, {encoding}, seed {seed}"
            for (task, encoding, seed), why in self.failed.items()
            if why.startswith(labels.UNFINISHED)
        ]

    def missing(self, tier: int) -> list[str]:
        """Return the trainings of a tier that are neither finished nor failed, by name."""
        return [
            f"{task}, {encoding}, seed {seed}"
            for task, encoding, seed in plan.trainings(tier)
            if seed not in self.runs.get((task, encoding), {})
            and (task, encoding, seed) not in self.failed
        ]

    def whole(self) -> "Lab":
        """Return the lab without trainings that belong to no tier of which all is trained."""
        tiers = (tier for tier in plan.TIERS if not self.missing(tier))
        kept = {cell for tier in tiers for cell in plan.trainings(tier)}
        runs = {
            key: {seed: found for seed, found in seeds.items() if (*key, seed) in kept}
            for key, seeds in self.runs.items()
        }
        failed = {cell: why for cell, why in self.failed.items() if cell in kept}
        return Lab({key: seeds for key, seeds in runs.items() if seeds}, failed)


def planned(tier: int) -> int:
    """Return the number of trainings of a tier."""
    return len(plan.trainings(tier))


def tiers() -> dict[str, dict[str, Any]]:
    """Return what each tier plans: its tasks, encodings, seeds, and how many trainings they are."""
    return {
        str(number): {
            "tasks": ", ".join(tier.tasks),
            "encodings": len(tier.encodings),
            "seeds": tier.seeds,
            "training runs": planned(number),
        }
        for number, tier in plan.TIERS.items()
    }


def load_lab(records: Iterable[dict] | None = None) -> Lab:
    """Return what is stored of the present protocol.

    Records of another protocol are left out, and no file is an empty lab.

    Parameters
    ----------
    records : iterable of dict, optional
        By default those of the file `results/lab.jsonl`, as far as their tiers are whole: a tier
        that is still being trained changes no page.

    Returns
    -------
    Lab

    Raises
    ------
    ValueError
        If there is no folder of results, a line of the file is no record, or the finished ones
        are of several versions of an encoding or a task.

    Examples
    --------
    >>> load_lab().missing(tier=1)  # the book has trained the first tier
    []
    """
    if records is None:
        return load_lab(stored()).whole()
    return of_protocol(records, plan.HASH)


def stored() -> list[dict]:
    """Return all lines of the lab, of whichever protocol."""
    return list(results.read_records(results.folder() / "lab.jsonl"))


def of_protocol(records: Iterable[dict], protocol: str) -> Lab:
    """Return what records hold of a protocol, by its hash."""
    runs, failed = defaultdict(dict), {}
    kept = [r for r in store.unique(iter(records)) if r.get("protocol") == protocol]
    tables.check_one_version([r for r in kept if "error" not in r])
    for record in kept:
        task, encoding, seed = record["dataset"], labels.label_of(record), record["seed"]
        if "error" in record:
            failed[task, encoding, seed] = record["error"]
        else:
            runs[task, encoding][seed] = record["metrics"]
    return Lab(dict(runs), failed)


def farthest(lab: Lab) -> dict[str, dict[str, str]]:
    """Return how far each encoding travels: a row an encoding, a column a task that is learned.

    A cell has the token accuracy above the trained length, and of its seeds the lowest and highest.
    Rows are sorted by the mean over the tasks, so that what is farthest on most stands first; those
    without a task stand last and say so.

    Parameters
    ----------
    lab : Lab

    Returns
    -------
    dict of dict of str
        By encoding, then by task.

    Examples
    --------
    >>> lengths = [str(n) for n in PROTOCOL["tested"]]
    >>> seeds = {s: {"token": dict.fromkeys(lengths, 0.9 + s / 10)} for s in (0, 1)}
    >>> farthest(Lab({("copy", "rotary"): seeds}, failed={}))
    {'rotary': {'copy': '95% (90 to 100)'}}
    """
    found = _ranked(lab, [task for task in lab.tasks if lab.learned(task)])
    return {
        name: {task: str(one or tables.NOT_RUN) for task, one in spreads.items()}
        for name, spreads in found.items()
    }


def places(lab: Lab, tasks: Sequence[str]) -> dict[str, int]:
    """Return the place of each encoding by its mean over some tasks, the farthest first.

    Examples
    --------
    >>> lengths = [str(n) for n in PROTOCOL["tested"]]
    >>> good, poor = ({0: {"token": dict.fromkeys(lengths, share)}} for share in (0.95, 0.6))
    >>> places(Lab({("copy", "rotary"): poor, ("copy", "none"): good}, failed={}), ["copy"])
    {'none': 1, 'rotary': 2}
    """
    return {name: place for place, name in enumerate(_ranked(lab, tasks), 1)}


def places_rows(lab: Lab) -> dict[str, dict[str, int]]:
    """Return each encoding's place over all learned tasks, and without each of them."""
    learned = [task for task in lab.tasks if lab.learned(task)]
    found = {"all tasks": places(lab, learned)}
    for left_out in learned:
        found[f"without {left_out}"] = places(lab, [one for one in learned if one != left_out])
    return {name: {head: of[name] for head, of in found.items()} for name in found["all tasks"]}


def of_seed(lab: Lab, seed: int) -> Lab:
    """Return the lab with one seed of each cell that has it."""
    return Lab({cell: {seed: of[seed]} for cell, of in lab.runs.items() if seed in of}, {})


def _ranked(lab: Lab, tasks: Sequence[str]) -> dict[str, dict[str, Spread | None]]:
    """Return by encoding and task how far each one travels, the farthest on average first."""
    names = dict.fromkeys(name for task in tasks for name in lab.encodings(task))
    found = {name: {task: _beyond(lab, task, name) for task in tasks} for name in names}
    worth = {n: np.mean([one.mean if one else -np.inf for one in found[n].values()]) for n in found}
    return {
        name: found[name] for name in sorted(found, key=lambda name: -np.round(worth[name], DIGITS))
    }


def _beyond(lab: Lab, task: str, encoding: str) -> Spread | None:
    """Return the mean token accuracy above the trained length of the seeds that took them all."""
    means = [*reached(lab, task, encoding).values()]
    return Spread(float(np.mean(means)), min(means), max(means), len(means)) if means else None


def reached(lab: Lab, task: str, encoding: str) -> dict[int, float]:
    """Return seed -> its mean token accuracy above the trained length, if it took them all."""
    seeds = {seed: of["token"] for seed, of in lab.runs.get((task, encoding), {}).items()}
    whole = {seed: one for seed, one in seeds.items() if all(str(n) in one for n in LONGER)}
    return {seed: float(np.mean([one[str(n)] for n in LONGER])) for seed, one in whole.items()}


def repeated(task: str) -> float:
    """Return how many longer answers a rule without a model gets: repeat the answer before.

    Parameters
    ----------
    task : str
        A name of the protocol's tasks.

    Returns
    -------
    float
        Share of right answer tokens in the tests above the trained length, the mean over lengths.
        First answers, before which there is none, are left out.

    Raises
    ------
    ValueError
        If there is no such task.

    Examples
    --------
    >>> repeated("sort") > 0.8 > 0.1 > repeated("copy")
    True
    """
    return float(np.mean([_repeated(task, length) for length in LONGER]))


def _repeated(task: str, length: int) -> float:
    drawn = length_tasks.draw(task, n=PROTOCOL["n_test"], length=length, split="test")
    asked = np.broadcast_to(drawn.answers, drawn.tokens.shape)
    answers = [row[chosen] for row, chosen in zip(drawn.tokens, asked, strict=True)]
    right = sum(int((one[1:] == one[:-1]).sum()) for one in answers)
    return right / sum(len(one) - 1 for one in answers)


def curves(
    lab: Lab, tasks: Sequence[str], lengths: Sequence[int]
) -> dict[str, dict[str, list[float]]]:
    """Return the mean token accuracy of tasks and encodings at each length, the farthest first.

    Encodings stand in the order of `farthest`. What has no finished training, or refuses, is NaN.

    Parameters
    ----------
    lab : Lab
    tasks : sequence of str
    lengths : sequence of int
        Symbols of a test sequence, of those of the protocol.

    Returns
    -------
    dict of dict of list
        By task, then by encoding: a share for each length.

    Examples
    --------
    >>> short, far = {"token": {"20": 1.0, "100": 0.4}}, {"token": {"20": 1.0, "100": 0.9}}
    >>> lab = Lab({("copy", "rotary"): {0: short}, ("copy", "alibi"): {0: far}}, failed={})
    >>> curves(lab, ["copy", "sort"], [20, 100])["copy"]["rotary"]
    [1.0, 0.4]
    """
    return {
        task: {
            name: [
                np.nan if spread is None else spread.mean
                for spread in (lab.spread(task, name, n, "token") for n in lengths)
            ]
            for name in _ranked(lab, tasks)
        }
        for task in tasks
    }


@dataclass(frozen=True)
class Published:
    """An order that a paper states: one encoding travels farther than another.

    Parameters
    ----------
    source : str
        Authors and year.
    ahead, behind : str
        Encodings by their labels.
    """

    source: str
    ahead: str
    behind: str


_RANDOM = tuple(one for one in plan.ENCODINGS if one.random)
_KAZEMNEJAD = ("none", "t5", "alibi", "rotary", "sinusoidal")
PUBLISHED = (
    *(Published("Kazemnejad et al. (2023)", *pair) for pair in combinations(_KAZEMNEJAD, 2)),
    *(Published("Ruoss et al. (2023)", one.label, one.name) for one in _RANDOM),
)
"""Every pair of the order of Kazemnejad et al., by their mean reciprocal rank over ten tasks (their
section 4 and Figure 1, read in a summary by sections); random places ahead of counted, which is
what the abstract of Ruoss et al. says."""


def compared(lab: Lab) -> dict[str, dict[str, str]]:
    """Return our order beside each published one: on which tasks we see it, and on which not.

    Seeds that finished with both encodings count, by the mean token accuracy at longer sequences,
    on tasks that some encoding has learned. Where the lowest seed of the better one is not above
    the highest of the other, the task stands apart: seeds overlap.

    Parameters
    ----------
    lab : Lab

    Returns
    -------
    dict of dict of str
        By the published order. Numbers are points of token accuracy by which "ahead" is ahead.

    Examples
    --------
    >>> lengths = [str(n) for n in PROTOCOL["tested"]]
    >>> good, poor = ({0: {"token": dict.fromkeys(lengths, share)}} for share in (0.95, 0.6))
    >>> lab = Lab({("copy", "rotary"): good, ("copy", "none"): poor}, failed={})
    >>> compared(lab)["none ahead of rotary"]["ours does not"]
    'copy (-35)'
    """
    found = {}
    for one in PUBLISHED:
        ahead, behind, between = [], [], []
        for task in filter(lab.learned, PROTOCOL["tasks"]):
            if pair := _pair(lab, task, one):
                first, second = pair
                apart = first.low > second.high or second.low > first.high
                gain = first.mean - second.mean
                side = between if not apart else ahead if gain > 0 else behind
                side.append(f"{task} ({100 * gain:+.0f})")
        empty = "no task" if ahead or behind or between else tables.NOT_RUN
        found[f"{one.ahead} ahead of {one.behind}"] = {
            "source": one.source,
            "ours agrees": ", ".join(ahead) or empty,
            "ours does not": ", ".join(behind) or empty,
            "seeds overlap": ", ".join(between) or empty,
        }
    return found


def _pair(lab: Lab, task: str, one: Published) -> tuple[Spread, Spread] | None:
    """Return how far both encodings travel, over the seeds that both have; None without any."""
    runs = [lab.runs.get((task, name), {}) for name in (one.ahead, one.behind)]
    both = runs[0].keys() & runs[1].keys()
    first, second = (
        _beyond(Lab({(task, "x"): {seed: seeds[seed] for seed in both}}, {}), task, "x")
        for seeds in runs
    )
    return (first, second) if first and second else None
