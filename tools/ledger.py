"""Gather the verdicts that the notebooks store into the ledger, book/claims.yml.

    python tools/ledger.py            # write them into the file
    python tools/ledger.py --check    # say what is missing or out of date, write nothing

Four fields of a claim are written by hand: id, source, place and claim. The other four are copied
from the output of the one cell that ends with `claim(...)` or `untestable(...)` for this id.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import yaml

from posenc.audit.claims import MIME
from repository import ROOT

BOOK = ROOT / "book"
LEDGER = BOOK / "claims.yml"
SOURCES = {
    "B": "First principles",
    "R": "Linear relationships",
    "F": "Faithful encoding",
    "S": "Survey",
}
WRITTEN = ("id", "source", "place", "claim")
RECORDED = ("verdict", "measured", "condition", "anchor")
FORM = re.compile(f"[{''.join(SOURCES)}][1-9][0-9]*")
HEAD = """\
# Every checkable claim of the four sources, and the verdict of the cell that tests it.
# Write id, source, place and claim by hand; `make ledger` fills in the rest from the notebooks.
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
    """Return what the notebooks in a folder recorded: {id: verdict, measured, condition, anchor}.

    Raises
    ------
    LedgerError
        If two cells give a verdict on the same claim.
    """
    found: dict[str, dict] = {}
    for path in sorted(book.glob("*.ipynb")):
        for verdict in verdicts(json.loads(path.read_text(encoding="utf-8"))):
            claim_id, anchor = verdict["id"], f"{path.name}#claim-{verdict['id']}"
            if claim_id in found:
                first = found[claim_id]["anchor"].split("#")[0]
                raise LedgerError(
                    f"claim {claim_id} has two verdicts, in {first} and in {path.name}: "
                    "remove one of the cells, or give one of them another id"
                )
            found[claim_id] = {**{key: verdict[key] for key in RECORDED[:3]}, "anchor": anchor}
    return found


def check_text(entry: object, place: str) -> dict:
    """Return a claim of the file, or raise LedgerError saying which field is wrong."""
    if not isinstance(entry, dict):
        raise LedgerError(f"{place} must have the fields {', '.join(WRITTEN)}, got {entry!r}")
    for field in WRITTEN:
        value = entry.get(field)
        if not isinstance(value, str) or not value.strip():
            raise LedgerError(f"{place} must have a text as {field}, got {value!r}")
    if not FORM.fullmatch(entry["id"]):
        raise LedgerError(f"{place}: id must look like B6, got {entry['id']!r}")
    if entry["source"] != entry["id"][0]:
        raise LedgerError(f"{place}: source must be {entry['id'][0]!r}, got {entry['source']!r}")
    if unknown := sorted(entry.keys() - {*WRITTEN, *RECORDED}):
        raise LedgerError(f"{place} must have no field {unknown[0]!r}")
    return entry


def read(path: Path = LEDGER) -> list[dict]:
    """Return the claims of a ledger file in the file's order.

    Raises
    ------
    LedgerError
        If the file is no list of claims, a text is missing, or an id stands there twice.
    """
    entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(entries, list):
        raise LedgerError(f"{path.name} must be a list of claims, got {type(entries).__name__}")
    claims = []
    for number, entry in enumerate(entries, 1):
        named = entry.get("id") if isinstance(entry, dict) else None
        claims.append(check_text(entry, f"{path.name}, claim {named or f'number {number}'}"))
    ids = [claim["id"] for claim in claims]
    if twice := sorted({i for i in ids if ids.count(i) > 1}, key=order):
        raise LedgerError(f"{path.name} must hold each claim once, {twice[0]} stands there twice")
    return claims


def merge(claims: list[dict], found: dict[str, dict]) -> list[dict]:
    """Return the claims in order, with their recorded fields; empty where there is no record.

    Raises
    ------
    LedgerError
        If a notebook gives a verdict on a claim that the ledger does not hold.
    """
    known = {claim["id"] for claim in claims}
    if unknown := sorted(found.keys() - known):
        chapter = found[unknown[0]]["anchor"].split("#")[0]
        raise LedgerError(
            f"{chapter} gives a verdict on claim {unknown[0]}, which has no text yet: add its id, "
            f"source, place and claim to {LEDGER.name}"
        )
    empty = dict.fromkeys(RECORDED, "")
    return [
        {field: claim[field] for field in WRITTEN} | found.get(claim["id"], empty)
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


def main(arguments: list[str] | None = None) -> None:
    """Write the ledger, or check it; end with an error where a verdict is missing."""
    parser = argparse.ArgumentParser(description="Gather the notebooks' verdicts in the ledger.")
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args(arguments).check
    try:
        claims = merge(read(), records())
    except LedgerError as error:
        sys.exit(str(error))
    if check and text(claims) != LEDGER.read_text(encoding="utf-8"):
        sys.exit(f"{LEDGER.name} is out of date: run `make ledger`")
    if not check:
        LEDGER.write_text(text(claims), encoding="utf-8")
    if missing := without_verdict(claims):
        sys.exit(f"no cell gives a verdict on {', '.join(missing)}")
    print(f"{LEDGER.relative_to(ROOT)}: {len(claims)} claims, each with a verdict")


if __name__ == "__main__":
    main()
