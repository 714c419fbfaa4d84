"""What has changed since a training was stored: the code of its encoding, or its series.

Both have a fingerprint in the settings, `encoding_source` and `dataset_source`, and a training
with another one is another cell. Here they are told apart, and said.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

SOURCES = {"encoding": "encoding_source", "dataset": "dataset_source"}
# What tuning chooses anew for a cell that has changed.
CHOSEN = ("learning_rate", "scale", "tuned")


class Change(NamedTuple):
    """What is not as it was for one training; "" for what is.

    Parameters
    ----------
    encoding, dataset : str
        Their names.
    """

    encoding: str = ""
    dataset: str = ""


def superseded(records: Iterable[dict]) -> set[str]:
    """Return keys of trainings after which one was stored that is alike but for fingerprints."""
    keys, last = set(), {}
    for record in records:
        keys.add(record["key"])
        last[_rest(record["settings"])] = record["key"]
    return keys - set(last.values())


def change_sentences(
    changes: Iterable[Change], one: str, several: str, end: tuple[str, str]
) -> list[str]:
    """Return a sentence for each kind of change, with how many trainings it is and of what."""
    kinds: dict[tuple[bool, bool], list[Change]] = defaultdict(list)
    for change in filter(any, changes):
        kinds[bool(change.encoding), bool(change.dataset)].append(change)
    sentences = []
    for some in kinds.values():
        code = _listed("with earlier code of the encoding", (c.encoding for c in some))
        series = _listed("on earlier series of the data set", (c.dataset for c in some))
        counted = f"{len(some)} {one if len(some) == 1 else several}"
        words = [counted, *filter(None, [code, series]), end[len(some) > 1]]
        sentences.append(" ".join(words) + ".")
    return sentences


def _listed(kind: str, names: Iterable[str]) -> str:
    names = sorted({name for name in names if name}, key=str.lower)
    if len(names) < 2:
        return " ".join([kind, *names]) if names else ""
    return f"{kind}s {', '.join(names[:-1])} and {names[-1]}"


class Stored:
    """Stored trainings by everything but the fingerprints of their encodings and series.

    Parameters
    ----------
    records : iterable of dict
        In the order in which they were stored; failed ones count, too.
    """

    def __init__(self, records: Iterable[dict]) -> None:
        self._known: dict[str, list[tuple[object, ...]]] = defaultdict(list)
        for record in records:
            self._known[_rest(record["settings"])].append(_sources(record["settings"]))

    def change(self, settings: Mapping[str, Any], encoding: str, dataset: str) -> Change:
        """Return what has changed between a cell and the last stored training that is alike."""
        now, known = _sources(settings), self._known.get(_rest(settings), [])
        if not known or now in known:
            return Change()
        pairs = zip((encoding, dataset), now, known[-1], strict=True)
        return Change(*(name * (a != b) for name, a, b in pairs))


def _sources(settings: Mapping[str, Any]) -> tuple[object, ...]:
    return tuple(settings.get(name, "") for name in SOURCES.values())


def _rest(settings: Mapping[str, Any]) -> str:
    """Return all settings as a text, but for the fingerprints and what tuning has chosen."""
    left_out = {*SOURCES.values(), *(CHOSEN if settings.get("tuned") else ())}
    kept = {name: value for name, value in settings.items() if name not in left_out}
    return json.dumps(kept, sort_keys=True)
