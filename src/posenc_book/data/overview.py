"""One table of the real data sets: what a user needs to know before choosing one."""

from typing import Any

from posenc_book.data.download import Source, Zenodo
from posenc_book.data.measure import recorded, recorded_facts
from posenc_book.data.registry import ENTRIES, Entry
from posenc_book.data.sets import anomaly, archive, emg, room, smd

# where sets come from that are not in the archives, and their licence where one is stated
_SOURCES = {
    "RoomOccupancy": "UCI 864",
    "EMGGestures": "UCI 481",
    "SMD": "OmniAnomaly, MIT",
    "MSL": "telemanom, BSD style",
}
_ABOUT_THE_SURVEY = "survey"  # a word of notes that compare a set with the survey's table


def overview() -> dict[str, dict[str, Any]]:
    """Return one row for each counted set, the archives' by length, then those cut into windows.

    Returns
    -------
    dict of a set's name to a dict with the keys steps, channels, classes, train, test, source and
    what is special; the counts are those recorded in the package, so that no set need be at hand.
    """
    cut = [entry for entry in ENTRIES.values() if entry.layout is not archive]
    whole = [entry for entry in ENTRIES.values() if entry.layout is archive]
    counted = recorded()["sets"]
    rows = [(entry, _row(entry)) for entry in (*whole, *cut) if entry.name in counted]
    rows.sort(key=lambda pair: (pair[0].layout is not archive, pair[1]["steps"]))
    return {entry.name: row for entry, row in rows}


def _row(entry: Entry) -> dict[str, Any]:
    facts = recorded_facts(entry.name)
    return {
        "steps": facts.length,
        "channels": facts.n_channels,
        "classes": facts.n_classes,
        "train": facts.train,
        "test": facts.test,
        "source": _SOURCES.get(entry.name) or _source(entry.sources[0]),
        "what is special": special(entry.name),
    }


def cuts() -> dict[str, dict[str, str]]:
    """Return how the sets that are recordings become series: window, group and test part."""
    anomalous = f"{anomaly.LENGTH} rows, anomalous if any row is"
    return {
        "RoomOccupancy": {
            "a window": f"{room.LENGTH} readings, 15 minutes",
            "a group": f"{room.BLOCK} readings, two hours",
            "test part": "one day, less the windows next to other days",
        },
        "EMGGestures": {
            "a window": f"{emg.LENGTH} rows of one gesture",
            "a group": "a subject",
            "test part": "every fifth subject",
        },
        "SMD": {
            "a window": anomalous,
            "a group": f"{smd.BLOCK:,} rows, no anomaly divided",
            "test part": "the last three tenths of each machine, one window left out between",
        },
        "MSL": {
            "a window": anomalous,
            "a group": "a channel",
            "test part": "every third channel",
        },
    }


def special(name: str) -> str:
    """Return what a user of a set must know, in a few words; empty where there is nothing.

    Twins in the official split, missing values, series shared with other sets, steps that are no
    times, and whether the official split may be dealt out anew.
    """
    entry = ENTRIES[name]
    how = getattr(entry.layout, "PROTOCOL", None)
    told = [note for note in entry.notes if note != how and _ABOUT_THE_SURVEY not in note]
    if entry.official_only:
        told = [note for note in told if note != entry.official_only]
        told.append(f"official split only: {entry.official_only}")
    if how:
        told.insert(0, "; ".join(["cut into windows", *_partial(name)]))
    return "; ".join(told)


def _partial(name: str) -> list[str]:
    """Return which part of the recordings was counted, where it is not all of them."""
    parts = recorded_facts(name).provenance.split("; ")
    present = [part.removesuffix(" present") for part in parts if part.endswith(" present")]
    numbers = [part.split(" of ") for part in present]
    return [f"counted: {a} of {b}" for a, b in numbers if a != b.split()[0]]


def _source(source: Source) -> str:
    """Return the place of an archive's set in few words."""
    first = source[0]
    return f"Zenodo {first.record}" if isinstance(first, Zenodo) else first.url.split("/")[2]
