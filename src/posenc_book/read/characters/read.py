"""The model of characters as pages read it: loss by context, as trained and after a fine-tuning.

The runs are those of `python -m experiments.characters`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from posenc import _checks
from posenc_book.read import results
from posenc_book.read.characters import plan as bench
from posenc_book.records import labels, store, tables
from posenc_book.records.tables import NOT_RUN

_SCHEDULES = (*bench.PROTOCOL["schedules"], *bench.LATER)
NAMES = [
    (encoding, schedule)
    for encoding in bench.PROTOCOL["encodings"]
    for schedule in (bench.AS_TRAINED, *_SCHEDULES * (encoding == "rotary"))
]
"""Encoding and schedule of everything that is read."""
PLANNED = bench.PROTOCOL["seeds"] * (len(bench.PROTOCOL["encodings"]) + len(bench.LATER))
"""Trainings of the protocol, and of the schedules that came later."""
_CAME_LATER = {bench.LATER_HASHES[name]: name for name in bench.LATER}
KINDS = {"as trained": "loss", "fine-tuned": "tuned_loss"}


@dataclass(frozen=True)
class Losses:
    """What a results file holds of the protocol, on one text.

    Parameters
    ----------
    python : str
        The version of Python whose text it is; "" without any training.
    runs : dict of (encoding, seed) to metrics
        Mean losses in nats a character, by schedule and context.
    failed : dict of (encoding, seed) to a reason
        For a schedule that came later "rotary for llama3" stands in place of the encoding.
    later : dict of (schedule, seed) to metrics
        Of the trainings from which the schedules that came later are read.
    """

    python: str
    runs: dict[tuple[str, int], dict]
    failed: dict[tuple[str, int], str]
    later: dict[tuple[str, int], dict] = field(default_factory=dict)

    def loss(self, encoding: str, schedule: str, context: int, kind: str) -> list[float]:
        """Return the mean loss in nats of each finished seed, for a kind of `KINDS`."""
        name = KINDS[_checks.choice("kind", kind, KINDS)]
        runs = self.later if schedule in bench.LATER else self.runs
        wanted = schedule if schedule in bench.LATER else encoding
        seeds = [metrics for (one, _), metrics in sorted(runs.items()) if one == wanted]
        return [m[name][schedule][str(context)] for m in seeds]

    @property
    def missing(self) -> list[str]:
        """The trainings that are neither finished nor failed, by name."""
        seeds = range(bench.PROTOCOL["seeds"])
        named = [(name, seed) for seed in seeds for name in bench.PROTOCOL["encodings"]]
        named += [(_later(name), seed) for name in bench.LATER for seed in seeds]
        later = {(_later(name), seed) for name, seed in self.later}
        done = {*self.runs, *self.failed, *later}
        return [f"{name}, seed {seed}" for name, seed in named if (name, seed) not in done]

    @property
    def unfinished(self) -> list[str]:
        """The trainings whose time was over, by name."""
        return [
            f"{name}, seed {seed}"
            for (name, seed), why in self.failed.items()
            if why.startswith(labels.UNFINISHED)
        ]


def _later(schedule: str) -> str:
    return f"{bench.LATER[schedule]['encoding']} for {schedule}"


def load_losses(records: Iterable[dict] | None = None) -> Losses:
    """Return what is stored of the present protocol.

    Where records are of several texts, the one with most of them counts. No file has no trainings.

    Parameters
    ----------
    records : iterable of dict, optional
        By default those of the file `results/text.jsonl`.

    Returns
    -------
    Losses

    Raises
    ------
    ValueError
        If there is no folder of results, a line of the file is no record, or the finished ones
        are of several versions of an encoding.

    Examples
    --------
    >>> len(load_losses().runs)  # three encodings, three seeds
    9
    """
    if records is None:
        records = results.read_records(results.folder() / "text.jsonl")
    known = (bench.HASH, *_CAME_LATER)
    kept = [r for r in store.unique(iter(records)) if r.get("protocol") in known]
    texts = Counter(r["settings"]["dataset_source"] for r in kept)
    kept = [r for r in kept if r["settings"]["dataset_source"] == max(texts, key=texts.__getitem__)]
    tables.check_one_version([r for r in kept if "error" not in r])
    runs, failed, later, python = {}, {}, {}, ""
    for record in kept:
        python = record["settings"]["dataset_options"]["python"]
        schedule, seed = _CAME_LATER.get(record["protocol"]), record["seed"]
        name = _later(schedule) if schedule else record["encoding"]
        if "error" in record:
            failed[name, seed] = record["error"]
        elif schedule:
            later[schedule, seed] = record["metrics"]
        else:
            runs[name, seed] = record["metrics"]
    return Losses(python, runs, failed, later)


def loss_rows(losses: Losses, contexts: Sequence[int] = (128, 512)) -> dict[str, dict[str, str]]:
    """Return a table in nats a character: a row an encoding and schedule, contexts in the columns.

    First as trained, then after the short fine-tuning. What has no finished training says so.

    Parameters
    ----------
    losses : Losses
    contexts : sequence of int
        Of those of the protocol.

    Returns
    -------
    dict of dict of str
        By encoding and schedule, then by the heading of a column: the mean over seeds, and the
        lowest and highest.

    Raises
    ------
    KeyError
        If a context is none of those that were read.

    Examples
    --------
    >>> read = {"as trained": {"128": 1.25, "512": 1.5}}
    >>> losses = Losses("3.13", {("none", 0): {"loss": read, "tuned_loss": read}}, failed={})
    >>> loss_rows(losses, [512])["none"]
    {'512, as trained': '1.50', '512, fine-tuned': '1.50'}
    >>> loss_rows(losses, [512])["alibi"]
    {'512, as trained': 'not run', '512, fine-tuned': 'not run'}
    """
    return {
        _name(encoding, schedule): _row(losses, encoding, schedule, {c: c for c in contexts})
        for encoding, schedule in NAMES
    }


def truncated_rows(
    losses: Losses, contexts: Sequence[int] = (128, 512)
) -> dict[str, dict[str, str]]:
    """Return a row of `loss_rows`: RoPE, of a longer input only the last characters, as trained.

    The same characters are predicted at every context, from inputs that end with them, so to cut
    an input is to read a shorter one.

    Examples
    --------
    >>> read = {"as trained": {"128": 1.25, "512": 1.5}}
    >>> losses = Losses("3.13", {("rotary", 0): {"loss": read, "tuned_loss": read}}, failed={})
    >>> truncated_rows(losses, [512])
    {'rotary, last 128': {'512, as trained': '1.25', '512, fine-tuned': '1.25'}}
    """
    longest = bench.PROTOCOL["trained"]
    read = {context: min(context, longest) for context in contexts}
    return {f"rotary, last {longest}": _row(losses, "rotary", bench.AS_TRAINED, read)}


def _row(losses: Losses, encoding: str, schedule: str, read: Mapping[int, int]) -> dict[str, str]:
    """Return the cells of one row; `read` says for each context how many characters are read."""
    return {
        f"{context}, {kind}": _shown(losses.loss(encoding, schedule, length, kind))
        for kind in KINDS
        for context, length in read.items()
    }


def curves(
    losses: Losses, contexts: Sequence[int] = bench.PROTOCOL["contexts"]
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """Return the loss of each seed at each context: what `loss_rows` tells in words, and all of it.

    Parameters
    ----------
    losses : Losses
    contexts : sequence of int
        Of those of the protocol, and by default all of them.

    Returns
    -------
    dict of dict of array of shape (n_seeds, n_contexts)
        By kind, then by encoding and schedule: nats a character. What has no finished training
        has no seed.

    Raises
    ------
    KeyError
        If a context is none of those that were read.

    Examples
    --------
    >>> read = {"as trained": {"128": 1.25, "512": 1.5}}
    >>> losses = Losses("3.13", {("none", 0): {"loss": read, "tuned_loss": read}}, failed={})
    >>> found = curves(losses, [128, 512])["fine-tuned"]
    >>> found["none"].tolist(), found["alibi"].shape
    ([[1.25, 1.5]], (0, 2))
    """
    return {
        kind: {
            _name(encoding, schedule): np.array(
                [losses.loss(encoding, schedule, context, kind) for context in contexts]
            ).T
            for encoding, schedule in NAMES
        }
        for kind in KINDS
    }


def _name(encoding: str, schedule: str) -> str:
    return encoding if schedule == bench.AS_TRAINED else f"{encoding}, {schedule}"


def _shown(seeds: list[float]) -> str:
    if not seeds:
        return NOT_RUN
    if len(seeds) == 1:
        return f"{seeds[0]:.2f}"
    return f"{np.mean(seeds):.2f} ({min(seeds):.2f} to {max(seeds):.2f})"
