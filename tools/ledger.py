"""Gather the verdicts that the notebooks store into the ledger, book/claims.yml.

    python tools/ledger.py                      # write them into the file and all made from it
    python tools/ledger.py --check              # say what is missing or out of date
    python tools/ledger.py --sources FOLDER     # are the words of `find` in the sources' texts?

Written by hand are id, source, place, claim, and how a reader finds the place: `find`, at most
six consecutive words as printed; or `found`, what stands there instead of words; or `ours: true`
where the statement is not the source's but ours. A row of "N", which are many papers, also says by
`read` what was read: the text, code or a summary; only who had the text before them can say what
to search for. The other four fields are copied from the output
of the one cell that ends with `claim(...)` or `untestable(...)` for this id. From the ledger are
made the copy that travels with the package, the marks in prose, and the outputs of
`posenc_book.audit.claims.show`.
"""

import argparse
import json
import re
import reprlib
import sys
from copy import deepcopy
from functools import lru_cache
from pathlib import Path

import yaml

import sources
import verdict_marks
from posenc_book.audit.claims import MIME
from posenc_book.audit.ledger import SOURCES
from repository import ROOT, address, notebooks, pages

BOOK = ROOT / "book"
LEDGER = BOOK / "claims.yml"
COPY = ROOT / "src" / "posenc_book" / "audit" / "ledger.json"
WRITTEN = ("id", "source", "place", "claim")
FINDING = ("find", "found", "ours")  # one of them at least, before the claim
NEEDS = "needs"  # of rows that are not testable here
NOT_TRAINED = (  # what no training of ours brings
    "the source",
    "a measure",
    "the literature",
    "an encoding",
    "a model",
    "data",
    "large models",
)
READ = "read"  # for papers that did not all lie before us
RECORDED = ("verdict", "measured", "condition", "anchor")
MOST_WORDS = 6
FOUND = ("formula", "table", "figure", "code")  # what a reader looks for where words do not help
PARTLY_READ = "N"  # the source whose rows say what was read
KINDS_OF_READING = (FROM_TEXT := "from the text", "from code", "from a summary")
FORM = re.compile(f"[{''.join(SOURCES)}][1-9][0-9]{{0,8}}")
HEAD = """\
# What four sources claim and something can decide, some claims of later papers (N), and for each
# the verdict of the cell that tests it. Write id, source, place, find (or found, or ours) and claim
# by hand, for N what was read as well; `make ledger` fills in the rest from the notebooks.
"""


class LedgerError(ValueError):
    """Something in the ledger or in the notebooks that a person has to put right."""


def order(claim_id: str) -> tuple[int, int]:
    """Return the sorting key of an id: by source, then by number."""
    return list(SOURCES).index(claim_id[0]), int(claim_id[1:])


def verdicts(notebook: dict) -> list[dict]:
    """Return the verdicts in a notebook's outputs, in the order of its cells."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return [output["data"][MIME] for output in outputs if MIME in output.get("data", {})]


def records(book: Path = BOOK) -> dict[str, dict]:
    """Return what the notebooks in a folder recorded of each claim, by its id."""
    found: dict[str, dict] = {}
    for path in notebooks(book):
        name = path.relative_to(book).as_posix()
        for verdict in verdicts(json.loads(path.read_text(encoding="utf-8"))):
            claim_id, anchor = verdict["id"], f"{name}#claim-{verdict['id']}"
            if claim_id in found:
                first = found[claim_id]["anchor"].split("#")[0]
                raise LedgerError(
                    f"claim {claim_id} has two verdicts, in {first} and in {name}: "
                    "remove one of the cells, or give one of them another id"
                )
            found[claim_id] = {**{key: verdict[key] for key in RECORDED[:3]}, "anchor": anchor}
    return found


def shown(value: object) -> str:
    """Return a value as a message shows it: in short, as YAML can hold endless ones."""
    return reprlib.repr(value)


def check_text(entry: object, place: str) -> dict:
    """Return a claim of the file, or raise LedgerError saying which field is wrong."""
    if not isinstance(entry, dict):
        raise LedgerError(f"{place} must have the fields {', '.join(WRITTEN)}, got {shown(entry)}")
    for field in WRITTEN:
        value = entry.get(field)
        if not isinstance(value, str) or not value.strip():
            raise LedgerError(f"{place} must have a text as {field}, got {shown(value)}")
    if not FORM.fullmatch(entry["id"]):
        raise LedgerError(f"{place}: id must look like B6, got {entry['id']!r}")
    if entry["source"] != entry["id"][0]:
        raise LedgerError(f"{place}: source must be {entry['id'][0]!r}, got {entry['source']!r}")
    allowed = {
        *WRITTEN,
        *FINDING,
        *RECORDED,
        NEEDS,
        *([READ] if entry["source"] == PARTLY_READ else []),
    }
    if unknown := sorted({*map(str, entry)} - allowed):
        raise LedgerError(f"{place} must have no field {unknown[0]!r}")
    if entry["source"] == PARTLY_READ:
        check_reading(entry, place)
    else:
        check_finding(entry, place)
    return entry


def check_reading(entry: dict, place: str) -> None:
    """Raise LedgerError unless a row says what was read, and words to find only if the text."""
    read = entry.get(READ)
    if not isinstance(read, str) or not read.startswith(KINDS_OF_READING):
        raise LedgerError(
            f"{place}: read must begin with one of {', '.join(KINDS_OF_READING)}, got {shown(read)}"
        )
    if read.startswith(FROM_TEXT) or entry.get("ours"):
        check_finding(entry, place)
    elif given := [field for field in FINDING if field in entry]:
        raise LedgerError(f"{place} must have no {given[0]}, as it was read {read}")


def check_finding(entry: dict, place: str) -> None:
    """Raise LedgerError unless a reader is told how to find the claim, in exactly one way."""
    given = [field for field in FINDING if field in entry]
    if len(given) != 1:
        raise LedgerError(f"{place} must have one of {', '.join(FINDING)}, got {given}")
    value = entry[given[0]]
    if given[0] == "ours" and value is not True:
        raise LedgerError(f"{place}: ours must be true or left out, got {shown(value)}")
    if given[0] == "found" and value not in FOUND:
        raise LedgerError(f"{place}: found must be one of {', '.join(FOUND)}, got {shown(value)}")
    if given[0] == "find" and not (
        isinstance(value, str) and 1 <= len(value.split()) <= MOST_WORDS
    ):
        raise LedgerError(f"{place}: find must have 1 to {MOST_WORDS} words, got {shown(value)}")


def check_needs(entry: dict) -> None:
    """Raise LedgerError unless a row that is not testable says what it needs, and no other does."""
    needs, untestable = entry.get(NEEDS), entry.get("verdict") == "not testable here"
    named = needs in NOT_TRAINED or (
        isinstance(needs, dict) and {"results"} <= needs.keys() <= {"results", "beyond", "fields"}
    )
    if untestable != (NEEDS in entry) or (untestable and not named):
        raise LedgerError(
            f"claim {entry['id']}, {entry.get('verdict')}: a row that is not testable here, and no "
            f"other, must say as {NEEDS} what would decide it, {', '.join(NOT_TRAINED)} or "
            f"trainings by results, fields and beyond, got {shown(needs)}"
        )


def sets_stored(needs: dict, results: Path = ROOT / "results") -> int:
    """Return on how many data sets the trainings that a row needs are stored.

    `results` is a pattern for files, `fields` what a record or its settings hold, one value or a
    list of them. A file that holds no trainings counts as one set.
    """
    wanted = {k: v if isinstance(v, list) else [v] for k, v in needs.get("fields", {}).items()}
    found = set()
    for path in sorted(results.glob(needs["results"])):
        if path.suffix != ".jsonl":
            found.add(path.name)
        elif not path.name.startswith("tuning-"):
            for line in path.read_text(encoding="utf-8").splitlines():
                record = json.loads(line)
                known = record["settings"] | record
                if all(known.get(key) in values for key, values in wanted.items()):
                    found.add(record["dataset"])
    return len(found)


def stored_since(claims: list[dict]) -> list[str]:
    """Return the ids of rows for which other trainings are stored than when they were judged."""
    rows = [row for row in claims if isinstance(row.get(NEEDS), dict)]
    return [row["id"] for row in rows if sets_stored(row[NEEDS]) != row[NEEDS].get("beyond", 0)]


def has_id(entry: object) -> bool:
    """Say whether an entry names itself."""
    return isinstance(entry, dict) and bool(entry.get("id"))


@lru_cache(maxsize=1)
def _loaded(text: str) -> object:
    return yaml.safe_load(text)


def read(path: Path = LEDGER) -> list[dict]:
    """Return the claims of a ledger file in the file's order."""
    try:
        entries = deepcopy(_loaded(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise LedgerError(f"{path.name} is not YAML: {error}") from error
    if not isinstance(entries, list):
        raise LedgerError(f"{path.name} must be a list of claims, got {type(entries).__name__}")
    claims = []
    for number, entry in enumerate(entries, 1):
        named = reprlib.repr(entry["id"]).strip("'") if has_id(entry) else None
        claims.append(check_text(entry, f"{path.name}, claim {named or f'number {number}'}"))
    ids = [claim["id"] for claim in claims]
    if twice := sorted({i for i in ids if ids.count(i) > 1}, key=order):
        raise LedgerError(f"{path.name} must hold each claim once, {twice[0]} stands there twice")
    return claims


def merge(claims: list[dict], found: dict[str, dict]) -> list[dict]:
    """Return the claims in order, with their recorded fields; empty where there is no record."""
    known = {claim["id"] for claim in claims}
    if unknown := sorted(found.keys() - known):
        chapter = found[unknown[0]]["anchor"].split("#")[0]
        raise LedgerError(
            f"{chapter} gives a verdict on claim {unknown[0]}, which has no text yet: add its id, "
            f"source, place, find and claim to {LEDGER.name}"
        )
    empty = dict.fromkeys(RECORDED, "")
    by_hand = (*WRITTEN[:-1], READ, *FINDING, WRITTEN[-1], NEEDS)
    return [
        {field: claim[field] for field in by_hand if field in claim} | found.get(claim["id"], empty)
        for claim in sorted(claims, key=lambda claim: order(claim["id"]))
    ]


def without_verdict(claims: list[dict]) -> list[str]:
    """Return the ids of claims on which no cell gives a verdict."""
    return [claim["id"] for claim in claims if not claim.get("verdict")]


def text(claims: list[dict]) -> str:
    """Return the ledger file's text: the same claims give the same bytes."""
    entries = [
        yaml.safe_dump([claim], sort_keys=False, allow_unicode=True, width=96) for claim in claims
    ]
    return HEAD + "\n" + "\n".join(entries)


def copy(claims: list[dict]) -> str:
    """Return the text of the copy that travels with the package."""
    content = {"book": pages(address()), "claims": claims}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def write(claims: list[dict], *, check: bool) -> list[Path]:
    """Return the files that do not follow the ledger, and mend them unless only checking."""
    wanted = {LEDGER: text(claims), COPY: copy(claims)}
    wanted |= verdict_marks.renewed(claims, pages(address()), BOOK)
    stale = [p for p, t in wanted.items() if not p.exists() or p.read_text(encoding="utf-8") != t]
    if not check:
        for path in stale:
            path.write_text(wanted[path], encoding="utf-8")
    return stale


def main(arguments: list[str] | None = None) -> None:
    """Write the ledger, or check it; end with an error where a verdict is missing."""
    parser = argparse.ArgumentParser(description="Gather the notebooks' verdicts in the ledger.")
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--sources", type=Path, metavar="FOLDER", help="where the sources lie")
    options = parser.parse_args(arguments)
    try:
        claims = merge(read(), records())
        for claim in claims:
            check_needs(claim)
        stale = write(claims, check=options.check)
        absent = sources.not_found(claims, options.sources) if options.sources else []
    except (LedgerError, verdict_marks.MarkError, sources.SourceError) as error:
        sys.exit(str(error))
    if options.check and stale:
        names = ", ".join(path.relative_to(ROOT).as_posix() for path in stale)
        sys.exit(f"out of date: {names}; run `make ledger`")
    if missing := without_verdict(claims):
        sys.exit(f"no cell gives a verdict on {', '.join(missing)}")
    if absent:
        sys.exit("not in the source: " + "; ".join(f"{i} {words!r}" for i, words in absent))
    print(f"{LEDGER.relative_to(ROOT)}: {len(claims)} claims, each with a verdict")


if __name__ == "__main__":
    main()
