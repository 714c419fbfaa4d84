"""The edition: which data sets the pages read, frozen, so that a new training changes no page.

Trainings of the second edition come in for weeks. `results/edition.json` names the data sets that
were whole on a certain day, and `second.load_grid` reads these alone. It also locks the
scores (`posenc_book.read.digests`). The edition is moved by one command, which writes the digests
and lists the notebooks that have to be run again:

    python -m posenc_book.read.classification.edition            # named after this month
    python -m posenc_book.read.classification.edition 2027-01 --dry-run
"""

import argparse
import datetime
import fnmatch
import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path

from posenc._wall import behind
from posenc_book import _files
from posenc_book.read import digests, imports, results
from posenc_book.read.classification import protocol as protocols
from posenc_book.read.classification.analysis import HASH as ANALYSIS_HASH
from posenc_book.records import tables
from posenc_book.records.settings import complete

FILE, COMMAND = digests.FILE, digests.COMMAND
READER = __spec__.name  # what imports this, directly or not, may show an edition
_SETTINGS = protocols.TRAINING["settings"]
_CHANGED = [changes for models in protocols.VARIANTS.values() for changes in models.values()]
_PLAIN = {name: _SETTINGS[name] for changes in _CHANGED for name in changes}
_PLAIN |= {"input_statistics": ""}


@dataclass(frozen=True)
class Edition:
    """What the pages read.

    Attributes
    ----------
    name, date : str
        Such as "2026-11" and the day on which it was made, "2026-11-22".
    training, analysis : str
        Hashes of the protocol.
    sets : mapping of a kind of training to its data sets
        The kinds are those of `kind`, the data sets whole ones in the protocol's order.
    scores : mapping of a file to its digest
        What `posenc_book.read.digests` locks: of every file of results, how many lines it had,
        and a hash of them.
    """

    name: str
    date: str
    training: str
    analysis: str
    sets: Mapping[str, tuple[str, ...]]
    scores: Mapping[str, str] = field(default_factory=dict)

    def share(self, model: str) -> str:
        """Return how far the main comparison of a model has come, such as "2 of 19"."""
        there = {*self.sets.get(model, ())}
        sets = planned(model, there)
        return f"{len(there & {*sets})} of {len(sets)}"

    def named(self, label: str, there: Sequence[str]) -> tuple[str, ...]:
        """Return the data sets of a kind of training (see `kind`), all of which must be whole."""
        names = self.sets.get(label, ())
        lacking = [name for name in names if name not in there]
        if lacking:
            raise ValueError(
                f"edition {self.name} must hold whole data sets, but training runs of "
                f"{', '.join(lacking)} are lacking for {label}"
            )
        return names


def planned(model: str, there: Collection[str]) -> tuple[str, ...]:
    """Return the data sets that the main comparison plans: tier 1, and a later tier once begun."""
    first, second = (
        tuple(block.dataset for block in protocols.blocks(tier, model)) for tier in (1, 2)
    )
    return first + second if {*second} & {*there} else first


def kind(model: str, variant: str = "", encodings: Sequence[str] = protocols.ENCODINGS) -> str:
    """Return the name of a kind of training: its model, and what is not as in tier 1.

    Examples are "patch", "patch, large", "patch, others" with encodings of tier 3, and
    "patch, later" with those of its extension.
    """
    named = set(encodings)
    family = "later" if named & set(protocols.LATER) else "others"
    family = "" if named <= set(protocols.ENCODINGS) else family
    return ", ".join(filter(None, (model, variant, family)))


def read_edition() -> Edition | None:
    """Return the edition of the folder of results; None where it has none.

    Raises
    ------
    ValueError
        If it was made under another protocol.
    """
    path = results.folder() / FILE
    if not path.is_file():
        return None
    stored = json.loads(_files.text(path))
    sets = {name: tuple(found) for name, found in stored.pop("sets").items()}
    edition = Edition(**stored, sets=sets)
    made, now = (edition.training, edition.analysis), (protocols.HASH, ANALYSIS_HASH)
    if made != now:
        raise ValueError(f"{path} must be made under the protocol {now}, got {made}: run {COMMAND}")
    return edition


def edition_name() -> str:
    """Return what pages call that which they read, such as "edition 2026-11b"."""
    now = read_edition()
    return f"edition {now.name}" if now else "all whole sets"


def datasets(
    found: Mapping[tuple[str, str, int], Mapping],
    model: str,
    variant: str = "",
    encodings: Sequence[str] = protocols.ENCODINGS,
) -> tuple[str, ...]:
    """Return the data sets of the edition; all whole ones where the folder has no edition."""
    there, edition = whole(found, encodings), read_edition()
    if edition is None:
        return there
    return edition.named(kind(model, variant, encodings), there)


def load_edition(variant: str = "", *, locked: bool = True) -> list[dict]:
    """Return the folder's records of the models of tier 1, or of a variant; [] without any.

    `locked` as for `posenc_book.read.results.load_records`.
    """
    pattern = f"variant-{variant}-*" if variant else "second-*"
    there = fnmatch.filter(results.names(), pattern)
    return results.load_records(pattern, locked=locked) if there else []


def is_plain(record: Mapping) -> bool:
    """Return whether a training or a trial is one of tier 1's models: no variant and no control.

    The trials of all of them stand in one file a data set.
    """
    settings = complete(record["settings"])
    return all(settings[name] == value for name, value in _PLAIN.items())


def plain(records: Iterable[dict], model: str) -> list[dict]:
    """Return the finished trainings or trials of one model of tier 1, with its encodings."""
    return [
        record
        for record in tables.finished(records)
        if record["model"] == model
        and record.get("protocol") == protocols.HASH
        and record["encoding"] in protocols.ENCODINGS
        and is_plain(record)
    ]


def by_cell(records: Iterable[dict], model: str) -> dict[tuple[str, str, int], dict]:
    """Return the metrics of this protocol's finished cells by data set, encoding and resample.

    A cell that was trained untuned, as all its trials had failed, does not count.
    """
    kept = [
        r
        for r in tables.finished(records)
        if r["model"] == model
        and r.get("protocol") == protocols.HASH
        and complete(r["settings"])["tuned"]  # where all trials failed, rates are not its own
    ]
    tables.check_one_version(kept)
    found: dict[tuple[str, str, int], dict] = {}
    for r in kept:
        cell = r["dataset"], r["encoding"], r["seed"]
        if cell in found:
            raise ValueError(
                f"records must hold one training run of a cell, but two of {cell[1]} on {cell[0]} "
                f"with seed {cell[2]} differ in other settings; leave one of them out"
            )
        found[cell] = r["metrics"]
    return found


def whole(
    found: Mapping[tuple[str, str, int], Mapping], encodings: Sequence[str] = protocols.ENCODINGS
) -> tuple[str, ...]:
    """Return the data sets on which all encodings have all resamples, in the protocol's order."""
    n = int(protocols.TRAINING["resamples"])
    return tuple(
        name
        for name in protocols.DATASETS
        if all((name, e, r) in found for e, r in product(encodings, range(n)))
    )


def has_whole(
    model: str,
    variant: str = "",
    encodings: Sequence[str] = protocols.ENCODINGS,
    *,
    every: bool = False,
) -> bool:
    """Return whether a kind of training has a data set to be read."""
    now = read_edition()
    if now is not None and not every:
        return bool(now.sets.get(kind(model, variant, encodings)))
    return bool(whole(by_cell(load_edition(variant), model), encodings))


def controlled(plain: Mapping, richer: Mapping, variant: str) -> tuple[str, ...]:
    """Return the data sets on which none, an encoding and its control have all resamples."""
    encoded = whole(plain, (*protocols.BASELINE, protocols.CONTROLLED[variant]))
    controls = whole(richer, protocols.BASELINE)
    return tuple(name for name in encoded if name in controls)


def by_kind(tier: int) -> dict[str, list[protocols.Block]]:
    """Return what a tier plans, by the kind of training."""
    found: dict[str, list[protocols.Block]] = {}
    for block in protocols.blocks(tier):
        found.setdefault(kind(block.model, block.variant, block.encodings), []).append(block)
    return found


def entering(label: str, there: Collection[str]) -> tuple[str, ...]:
    """Return which of the whole data sets of a kind of training an edition takes.

    Those of the first tier come in one by one, and so do those that no tier plans. What a later
    tier plans comes in together, so that nobody looks at a part of an answer.
    """
    planned = {
        tier: {block.dataset for block in by_kind(tier).get(label, ())} for tier in protocols.TIERS
    }
    waiting = {
        name for tier, sets in planned.items() if tier > 1 and not sets <= {*there} for name in sets
    }
    return tuple(name for name in protocols.DATASETS if name in {*there} - waiting)


def make_edition(name: str, date: str) -> Edition:
    """Return the edition of what is whole now and may enter."""
    found_whole = {}
    for model in protocols.MODELS:
        found = by_cell(load_edition(locked=False), model)
        for family in ((), protocols.OTHERS, protocols.LATER):
            every = (*protocols.ENCODINGS, *family)
            found_whole[kind(model, encodings=every)] = whole(found, every)
    for variant, model in product(protocols.VARIANTS, protocols.MODELS):
        found = by_cell(load_edition(variant, locked=False), model)
        found_whole[kind(model, variant)] = whole(found, protocols.COMPARED[variant])
    for variant, model in product(protocols.CONTROLS, protocols.MODELS):
        plain, richer = (by_cell(load_edition(name, locked=False), model) for name in ("", variant))
        found_whole[kind(model, variant)] = controlled(plain, richer, variant)
    sets = {label: entering(label, there) for label, there in found_whole.items()}
    kept = {label: there for label, there in sets.items() if there}
    locked = digests.of_folder(results.folder())
    return Edition(name, date, protocols.HASH, ANALYSIS_HASH, kept, locked)


def write_edition(edition: Edition) -> Path:
    """Write an edition into the folder of results, and return its path."""
    path = results.folder() / FILE
    _files.replace(path, json.dumps(asdict(edition), indent=2) + "\n")
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Move the edition to what is whole now, and say which notebooks to run again."""
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    parser = argparse.ArgumentParser(prog=COMMAND, description=main.__doc__)
    parser.add_argument("name", nargs="?", default=today[:7], help=f"such as {today[:7]}")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    edition = make_edition(options.name, today)
    for label, found in edition.sets.items():
        print(f"{label}: {', '.join(found)}")
    if not options.dry_run:
        print(f"written: {write_edition(edition)}")
    book = results.folder().parent / "book"
    if book.is_dir():
        print(
            "run again, with python tools/notebooks.py --only:",
            ",".join(imports.readers(book, READER)),
        )
    else:
        print(f"no notebooks stand beside these results, at {book}: none has to be run again")
    return 0


if __name__ == "__main__":
    sys.exit(behind(main))
