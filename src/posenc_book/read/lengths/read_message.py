"""The message turned, too, as pages read it: beside RoPE and no position, a task at a time."""

from collections.abc import Iterable

import numpy as np

from posenc_book.read.lengths import plan, read
from posenc_book.read.lengths import plan_message as message
from posenc_book.read.lengths.plan_message import PROTOCOL
from posenc_book.read.lengths.read import Lab
from posenc_book.statistics import answers
from posenc_book.statistics.answers import Answer, Family

NAME = message.ENCODING.label
BESIDE = tuple(PROTOCOL["beside"])
PAIRS = tuple((task, other) for task in PROTOCOL["tasks"] for other in BESIDE)


def load_message(records: Iterable[dict] | None = None) -> Lab:
    """Return the trainings of this protocol, and those of the first that stand beside them.

    Parameters
    ----------
    records : iterable of dict, optional
        By default those of `results/lab.jsonl`.

    Raises
    ------
    ValueError
        If the finished trainings are of several versions of an encoding or a task.

    Examples
    --------
    >>> load_message([]).runs
    {}
    """
    kept = read.stored() if records is None else list(records)
    ours, first = (read.of_protocol(kept, one) for one in (message.HASH, plan.HASH))
    beside = {pair: first.runs[pair] for pair in PAIRS if pair in first.runs}
    return Lab(ours.runs | beside, ours.failed)


def missing(found: Lab) -> list[str]:
    """Return the trainings of the protocol that are not finished, by name."""
    return [
        f"{task}, {NAME}, seed {seed}"
        for seed in range(PROTOCOL["seeds"])
        for task in PROTOCOL["tasks"]
        if seed not in found.runs.get((task, NAME), {})
    ]


def compared(found: Lab) -> dict[tuple[str, str], Answer]:
    """Return the answer for each task and each other, corrected together.

    Parameters
    ----------
    found : Lab

    Raises
    ------
    ValueError
        If a training is missing: what is planned is answered as a whole.
    """
    if lacking := missing(found):
        raise ValueError(
            f"found must hold all {PROTOCOL['seeds'] * len(PROTOCOL['tasks'])} trainings of the "
            f"protocol {message.HASH}, got none of {lacking[0]} and {len(lacking) - 1} more; train "
            "them with python -m experiments.lengths --message"
        )
    names = {pair: f"{pair[0]}, beside {pair[1]}" for pair in PAIRS}
    margin = PROTOCOL["compared"]["margin"]
    family = Family("the message turned", tuple(names.values()), margin)
    alone = {
        name: answers.of_runs(name, [differences(found, *pair)], margin)
        for pair, name in names.items()
    }
    told = family.answers(alone)
    return {pair: told[name] for pair, name in names.items()}


def differences(found: Lab, task: str, other: str) -> np.ndarray:
    """Return by how much each seed goes farther than the same seed of another encoding."""
    ours, theirs = (read.reached(found, task, name) for name in (NAME, other))
    return np.array([ours[seed] - theirs[seed] for seed in range(PROTOCOL["seeds"])])


def message_rows(found: Lab, words: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return a table: a row a task, with what each encoding reaches, and the answers beside.

    Parameters
    ----------
    found : Lab
    words : dict
        What the table calls `rove` and each other encoding.
    """
    told = compared(found)
    return {
        task: {words[name]: f"{found.beyond(task, name):.0%}" for name in (NAME, *BESIDE)}
        | {f"beside {words[other]}": verdict_text(told[task, other]) for other in BESIDE}
        for task in PROTOCOL["tasks"]
    }


def verdict_text(one: Answer) -> str:
    """Return an answer as a table has it: points, their interval, and the word."""
    mean, low, high = (100 * value for value in (one.effect.mean, one.effect.low, one.effect.high))
    return f"{mean:+.1f} ({low:+.1f} to {high:+.1f}), {one.answer}"
