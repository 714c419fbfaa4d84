"""The length-generalisation lab as pages read it: task by encoding by length, and what is missing.

The runs are those of `python -m posenc.bench lab`; `results/lengths-protocol.md` is written by

    python -m posenc.study.lab
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posenc import _checks
from posenc.bench import lab as bench
from posenc.bench import language, probes, store
from posenc.bench import text as characters
from posenc.bench.lab import PROTOCOL
from posenc.data import length_tasks
from posenc.study import results

PAGE = "lengths-protocol.md"
SCORES = ("exact", "token")
LONGER = [n for n in PROTOCOL["tested"] if n > PROTOCOL["trained"]]
NOT_RUN = "not run"


@dataclass(frozen=True)
class Spread:
    """Mean, lowest and highest of the seeds of one cell of a table.

    Parameters
    ----------
    mean, low, high : float
        Each from 0 to 1.
    n : int
        Seeds.

    Examples
    --------
    >>> print(Spread(0.82, 0.75, 0.9, n=5))
    82% (75 to 90)
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

    Examples
    --------
    >>> seeds = {seed: {"token": {"20": share}} for seed, share in enumerate((0.96, 1.0))}
    >>> lab = Lab({("copy", "rotary"): seeds}, failed={})
    >>> print(lab.spread("copy", "rotary", 20, "token"))
    98% (96 to 100)
    >>> lab.learned("copy")
    True
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
        known = [one.label for one in bench.FIRST + bench.MORE]
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
        return any(one is not None and one.mean >= PROTOCOL["learned"] for one in spreads)

    def order(self, task: str) -> list[str]:
        """Return the encodings of a task, best first, as the protocol orders them."""
        worth = {name: self.beyond(task, name) for name in self.encodings(task)}
        return sorted((n for n in worth if not np.isnan(worth[n])), key=lambda n: -worth[n])

    @property
    def unfinished(self) -> list[str]:
        """The trainings whose time was over, by name."""
        return [
            f"{task}, {encoding}, seed {seed}"
            for (task, encoding, seed), why in self.failed.items()
            if why.startswith(language.UNFINISHED)
        ]

    def missing(self, tier: int) -> list[str]:
        """Return the trainings of a tier that are neither finished nor failed, by name."""
        return [
            f"{task}, {encoding}, seed {seed}"
            for task, encoding, seed in _cells(tier)
            if seed not in self.runs.get((task, encoding), {})
            and (task, encoding, seed) not in self.failed
        ]

    def whole(self) -> "Lab":
        """Return the lab without trainings that belong to no tier of which all is trained."""
        tiers = (tier for tier in bench.TIERS if not self.missing(tier))
        kept = {cell for tier in tiers for cell in _cells(tier)}
        runs = {
            key: {seed: found for seed, found in seeds.items() if (*key, seed) in kept}
            for key, seeds in self.runs.items()
        }
        failed = {cell: why for cell, why in self.failed.items() if cell in kept}
        return Lab({key: seeds for key, seeds in runs.items() if seeds}, failed)


def _cells(tier: int) -> list[tuple[str, str, int]]:
    """Return the task, encoding and seed of each training of a tier."""
    return [
        (cell.dataset, language.label(cell.encoding, cell.random_positions), cell.seed)
        for group in bench.tier_cells(tier).groups()
        for cell in group
    ]


def planned(tier: int) -> int:
    """Return the number of trainings of a tier.

    Parameters
    ----------
    tier : int
        1, 2 or 3.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there is no such tier.

    Examples
    --------
    >>> planned(1)  # 3 tasks, 8 encodings, 5 seeds
    120
    """
    return len(bench.tier_cells(tier))


def tiers() -> dict[str, dict[str, object]]:
    """Return what each tier plans: its tasks, encodings, seeds, and how many trainings they are.

    Returns
    -------
    dict of dict
        By the tier's number as text, with the columns of a table.

    Examples
    --------
    >>> tiers()["1"]["tasks"], tiers()["1"]["trainings"]
    ('copy, parity, addition', 120)
    """
    return {
        str(number): {
            "tasks": ", ".join(tier.tasks),
            "encodings": len(tier.encodings),
            "seeds": tier.seeds,
            "trainings": planned(number),
        }
        for number, tier in bench.TIERS.items()
    }


def load(records: Iterable[dict] | None = None) -> Lab:
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
        If there is no folder of results, or a line of the file is no record.

    Examples
    --------
    >>> load().missing(tier=1)  # the book has trained the first tier
    []
    """
    if records is None:
        path = results.folder() / "lab.jsonl"
        return load(store.Store(path) if path.is_file() else []).whole()
    runs, failed = defaultdict(dict), {}
    for record in store.unique(iter(records)):
        if record.get("protocol") != bench.HASH:
            continue
        task, encoding, seed = record["dataset"], language.label_of(record), record["seed"]
        if "error" in record:
            failed[task, encoding, seed] = record["error"]
        else:
            runs[task, encoding][seed] = record["metrics"]
    return Lab(dict(runs), failed)


def rows(
    lab: Lab, task: str, lengths: Sequence[int], score: str = "exact"
) -> dict[str, dict[str, str]]:
    """Return a table of one task: a row an encoding, best first, and a column a length.

    Encodings of the first tier without a finished training stand last, and say so.

    Parameters
    ----------
    lab : Lab
    task : str
    lengths : sequence of int
        Symbols of a test sequence, of those of the protocol.
    score : "exact" or "token"

    Returns
    -------
    dict of dict of str
        By encoding, then by the heading of a column.

    Raises
    ------
    ValueError
        If `score` is unknown.

    Examples
    --------
    >>> scores = {"exact": {"20": 0.9, "100": 0.05}, "token": {"20": 1.0, "100": 0.4}}
    >>> lab = Lab({("copy", "rotary"): {0: scores}}, failed={})
    >>> found = rows(lab, "copy", [20, 100])
    >>> found["rotary"]
    {'length 20': '90% (1 seed)', 'length 100': '5% (1 seed)'}
    >>> found["alibi"]
    {'length 20': 'not run', 'length 100': 'not run'}
    """
    ranked = lab.order(task)
    ranked += [name for name in lab.encodings(task) if name not in ranked]
    waiting = [one.label for one in bench.FIRST if one.label not in ranked]
    found = {}
    for name in ranked + waiting:
        empty = NOT_RUN if name in waiting else "refuses"
        spreads = {n: lab.spread(task, name, n, score) for n in lengths}
        found[name] = {f"length {n}": str(one or empty) for n, one in spreads.items()}
    return found


def farthest(lab: Lab) -> dict[str, dict[str, str]]:
    """Return how far each encoding travels: a row an encoding, a column a task that is learned.

    A cell has the token accuracy above the trained length, and of its seeds the lowest and highest.
    Rows are sorted by the mean over the tasks, so that what is farthest on most stands first.

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
    tasks = [task for task in lab.tasks if lab.learned(task)]
    known = lab.encodings(tasks[0]) if tasks else []
    names = [name for name in known if all(name in lab.order(task) for task in tasks)]
    names.sort(key=lambda name: -np.mean([lab.beyond(task, name) for task in tasks]))
    return {name: {task: str(_beyond(lab, task, name)) for task in tasks} for name in names}


def _beyond(lab: Lab, task: str, encoding: str) -> Spread:
    """Return the mean token accuracy above the trained length of each seed, as a spread."""
    seeds = lab.runs[task, encoding].values()
    means = [np.mean([metrics["token"][str(n)] for n in LONGER]) for metrics in seeds]
    return Spread(float(np.mean(means)), min(means), max(means), len(means))


def curves(
    lab: Lab, tasks: Sequence[str], lengths: Sequence[int]
) -> dict[str, dict[str, list[float]]]:
    """Return the mean token accuracy of tasks and the first tier's encodings at each length.

    What has no finished training, or refuses, is NaN.

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
    >>> lab = Lab({("copy", "rotary"): {0: {"token": {"20": 1.0, "100": 0.4}}}}, failed={})
    >>> found = curves(lab, ["copy"], [20, 100])["copy"]
    >>> found["rotary"], found["alibi"]
    ([1.0, 0.4], [nan, nan])
    """
    return {
        task: {
            one.label: [
                np.nan if spread is None else spread.mean
                for spread in (lab.spread(task, one.label, n, "token") for n in lengths)
            ]
            for one in bench.FIRST
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

    Examples
    --------
    >>> PUBLISHED[0]
    Published(source='Kazemnejad et al. (2023)', ahead='none', behind='t5')
    """

    source: str
    ahead: str
    behind: str


_RANDOM = tuple(one for one in bench.FIRST + bench.MORE if one.random)
PUBLISHED = (
    *(
        Published("Kazemnejad et al. (2023)", "none", other)
        for other in ("t5", "alibi", "rotary", "sinusoidal")
    ),
    *(Published("Ruoss et al. (2023)", one.label, one.name) for one in _RANDOM),
)
"""What the abstracts say: no encoding ahead of the four others; random places ahead of counted."""


def compared(lab: Lab) -> dict[str, dict[str, str]]:
    """Return our order beside each published one: on which tasks we see it, and on which not.

    Seeds that finished with both encodings count, by the mean token accuracy at longer sequences,
    on tasks that some encoding has learned.

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
        ahead, behind = [], []
        for task in filter(lab.learned, PROTOCOL["tasks"]):
            gain = _gain(lab, task, one)
            if not np.isnan(gain):
                (ahead if gain > 0 else behind).append(f"{task} ({100 * gain:+.0f})")
        empty = "no task" if ahead or behind else NOT_RUN
        found[f"{one.ahead} ahead of {one.behind}"] = {
            "source": one.source,
            "ours agrees": ", ".join(ahead) or empty,
            "ours does not": ", ".join(behind) or empty,
        }
    return found


def _gain(lab: Lab, task: str, one: Published) -> float:
    """Return how much more is right beyond the trained length, over the seeds that both have."""
    pair = [lab.runs.get((task, name), {}) for name in (one.ahead, one.behind)]
    both = pair[0].keys() & pair[1].keys()
    means = [
        Lab({(task, "x"): {seed: runs[seed] for seed in both}}, {}).beyond(task, "x")
        for runs in pair
    ]
    return means[0] - means[1]


def text() -> str:
    """Return the three protocols for people, in Markdown.

    Returns
    -------
    str
        The page `results/lengths-protocol.md`, a test compares.

    Examples
    --------
    >>> print(text().splitlines()[0])
    # The protocols of the trainings beyond a length
    """
    return "\n".join([_HEAD, _lab(), _characters(), _probe()])


_HEAD = """\
# The protocols of the trainings beyond a length

Three experiments on distances and on inputs longer than in training, each with a hash that stands \
in its records as `protocol`. This page is made from the code by `python -m posenc.study.lab`, and \
a test compares.
"""


def _lab() -> str:
    settings = PROTOCOL["settings"]
    tasks = "\n".join(
        f"- `{name}`: {length_tasks.task(name).source} As in "
        f"`{length_tasks.draw(name, n=1, length=5, seed=9).words(0)}`."
        for name in PROTOCOL["tasks"]
    )
    tiers = "\n".join(f"- **Tier {number}**: {_tier(number)}" for number in bench.TIERS)
    tested = ", ".join(map(str, PROTOCOL["tested"]))
    warm = round(settings["warmup"] * settings["steps"])
    return f"""\
## The length-generalisation lab: `{bench.HASH}`

It was frozen before a training of the protocol was run. Sizes, steps and the learning rate come \
from a pilot of a few trainings with seed 1000, which is none of the protocol's: they were chosen \
so that `rotary` copies 20 letters and a training with its tests takes about two minutes of one \
core. The pilot printed longer lengths, too; nothing was chosen by them.

**Question.** What a model has learned from sequences of up to {PROTOCOL["trained"]} symbols, does \
it still do with more?

**Tasks.** A sequence is read from left to right, and its last part is to be predicted, each token \
from those before it. Examples have length 5.

{tasks}

**Lengths.** A training batch has one length, drawn evenly from 1 (or the task's least) to \
{PROTOCOL["trained"]}, as in Ruoss et al. (2023). Tests have {PROTOCOL["n_test"]} sequences of \
each of the lengths {tested}, the same for every model.

**Model.** `posenc.models.LanguageModel`: {settings["n_layers"]} layers, width \
{settings["d_model"]}, {settings["n_heads"]} heads, feed-forward {settings["d_ff"]}, no dropout.

**Encodings.** First {_names(bench.FIRST)}; then {_names(bench.MORE)}. Options are the library's \
own, but FIRE's threshold starts at {dict(bench.FIRST[6].options)["threshold"]:g} places, a \
quarter of the longest training input; the 512 of its authors would lie beyond every test. \
Where it says *random places*, tokens stand in training and in tests at sorted places drawn from \
0 to {PROTOCOL["random_positions"] - 1}, one draw a batch (Ruoss et al. 2023). Tables are made \
large enough for the longest test, so that `learnable` does not refuse: its later rows are \
untrained.

**Course.** AdamW, weight decay {settings["weight_decay"]:g}, {settings["batch_size"]} sequences a \
step, {settings["steps"]:,} steps, a linear rise over the first {warm} and a cosine to 0 from \
{settings["learning_rate"]:g}, the same for every encoding. Nothing is chosen by a validation \
part: the last weights count. No encoding is tuned, so one that wants another rate is at a \
disadvantage.

**Limit.** {settings["most_seconds"]:g} seconds of the processor's time for a training with its \
tests. What is not done by then is stored as *unfinished*, named in every table, and left out of \
means.

**Scores.** *Exact*: {PROTOCOL["scores"]["exact"]}. *Token*: {PROTOCOL["scores"]["token"]}. \
Encodings are ordered {PROTOCOL["order"]}. An order is compared with a published one only on \
tasks that some encoding has *learned*: mean token accuracy of at least {PROTOCOL["learned"]:g} at \
length {PROTOCOL["trained"]}. What the small model has not learned says nothing on longer inputs.

**Tiers**, each complete in itself:

{tiers}

```console
$ python -m posenc.bench lab --tier 1
```
"""


def _probe() -> str:
    protocol = probes.PROTOCOL
    settings, task = protocol["settings"], protocol["task"]
    distances = ", ".join(map(str, protocol["distances"]))
    tested = " and ".join(map(str, protocol["tested"][1:]))
    warm = round(settings["warmup"] * settings["steps"])
    return f"""\
## The range probe: `{probes.HASH}`

The batch size and the fewest steps come from a pilot of a few trainings with seed 1000, chosen by \
validation so that small DFT rows find the task at distance 1; test parts were printed, too, and \
nothing was chosen by them.

**Question.** At which distances does a model find the relation of two positions, with rows of \
which size, and what does it do on longer series and at later places?

**Task.** The synthetic `range_probe`: two pulses, {distances} steps apart on a ring of \
{task["length"]}, and the class says which came first; {task["n"]:,} series for training and \
validation, noise {task["noise"]:g}.

**Encodings.** At every distance {_variants(probes.SIZED)}, where *unit* means rows of norm 1 and \
*loud* of norm sqrt(d_model / 2); at distance {protocol["others_at"]} besides \
{_variants(probes.OTHERS)}.

**Model and course.** `posenc.models.TimeSeriesTransformer`: {settings["n_layers"]} layers, width \
{settings["d_model"]}, {settings["n_heads"]} heads, feed-forward {settings["d_ff"]}, no dropout; \
AdamW, weight decay {settings["weight_decay"]:g}, {settings["batch_size"]} series a step, a linear \
rise over the first {warm} steps and then the constant rate {settings["learning_rate"]:g}, the \
same for every encoding: none is tuned. Of each training part {settings["validation"]:.0%} is held \
out and looked at every {settings["check_every"]} steps. Training ends when for \
{settings["patience_steps"]} steps neither the validation accuracy has risen nor the loss has \
fallen by one per cent; not before {settings["least_steps"]:,} steps unless all of the validation \
part is right, as a long plateau comes before the task is found; and at {settings["steps"]:,} at \
the latest. The weights with the best validation count.

**Seeds.** {protocol["seeds"]}, each with series, split and initial weights of its own, the same \
for every encoding.

**Scores.** A training *found* the task if its validation accuracy is at least \
{protocol["found"]:g}. Accuracy on the test part; and for {tested} steps on {protocol["n_test"]:,} \
series each, which are *longer*, or as long as in training and at the end of a longer frame whose \
other steps are masked, *later*. An encoding that cannot be built there refuses, and says why.

```console
$ python -m posenc.bench probes
```
"""


def _variants(variants: Sequence[probes.Variant]) -> str:
    return ", ".join(f"`{one.label.removeprefix('posenc.audit.')}`" for one in variants)


def _characters() -> str:
    protocol = characters.PROTOCOL
    settings, tuning = protocol["settings"], protocol["tuning"]
    contexts = ", ".join(map(str, protocol["contexts"]))
    longest = max(protocol["contexts"])
    return f"""\
## The model of characters: `{characters.HASH}`

**Question.** A model has read {protocol["trained"]} characters at a time. Does it predict better, \
or worse, when it is handed {longest}?

**Text.** The help topics of `pydoc`, which every Python carries (`posenc.data.topics`), cut into \
characters; every fifth topic is the test part. The text belongs to the version of Python, which \
stands in each record beside a fingerprint of the text. Records of another text are not mixed in.

**Model and course.** `posenc.models.LanguageModel`: {settings["n_layers"]} layers, width \
{settings["d_model"]}, {settings["n_heads"]} heads, feed-forward {settings["d_ff"]}; AdamW, weight \
decay {settings["weight_decay"]:g}, {settings["batch_size"]} sequences of {protocol["trained"]} \
characters a step, {settings["steps"]:,} steps, a linear rise over the first \
{round(settings["warmup"] * settings["steps"])} and a cosine to 0 from \
{settings["learning_rate"]:g}; {protocol["seeds"]} seeds. Encodings: \
{", ".join(f"`{name}`" for name in protocol["encodings"])}.

**Reading.** At {protocol["n_windows"]} places of the test part the same {protocol["asked"]} \
characters are predicted from inputs of {contexts} characters that end with them, and their mean \
cross-entropy in nats is noted: only the context differs. Rotary encoding is read as trained, and \
with {", ".join(f"`{name}`" for name in protocol["schedules"])} in place of its frequencies, for a \
factor of {longest / protocol["trained"]:g}.

**Fine-tuning.** Each of these, and the two other encodings, is then trained on for \
{tuning["steps"]} steps with {tuning["batch_size"]} sequences of {longest} characters at a \
constant rate of {tuning["learning_rate"]:g}, and read again.

**Limit.** {settings["most_seconds"]:g} seconds of the processor's time for a training with all \
its readings; beyond it, the cell is *unfinished*.

```console
$ python -m posenc.bench text
```
"""


def _tier(number: int) -> str:
    tier = bench.TIERS[number]
    tasks = ", ".join(f"`{name}`" for name in tier.tasks)
    n = len(bench.tier_cells(number))
    return f"{tasks}; {len(tier.encodings)} encodings, {tier.seeds} seeds: {n} trainings."


def _names(encodings: Iterable[bench.Encoding]) -> str:
    return ", ".join(f"`{one.name}`" + " at random places" * one.random for one in encodings)


def _main() -> int:
    """Write the page, and say where."""
    path = Path(results.folder()) / PAGE
    path.write_text(text(), encoding="utf-8")
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(_main())
