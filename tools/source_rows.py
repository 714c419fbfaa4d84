"""Say of every sentence of the four sources which rows of the ledger are about it, or why none is.

    python tools/source_rows.py FOLDER            # renew book/sentences.yml from the sources' texts
    python tools/source_rows.py FOLDER --check    # say what is missing or out of date

The file holds of each sentence its place, its first few words, and either `rows`, the ids of the
rows that are about it, or `kind`, why it needs none. Rows whose `find` stands in a sentence are
written there by this tool; other rows that a sentence belongs to, and the kinds, are written by
hand and kept. The page book/sentences.md is made from the file when the site is built.
"""

import argparse
import re
import sys
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path

import yaml

import ledger
import source_text
import sources
from posenc_book.audit.ledger import FOUR

FILE = ledger.BOOK / "sentences.yml"
KINDS = {
    "heading": "the title of a section, a figure or a table",
    "announcement": "says what the text does, did or will do",
    "citation": "reports what others wrote or built",
    "definition": "fixes what a word or a sign means, or describes a task",
    "opinion": "values, wishes, asks, supposes or gives a motive",
    "hardware": "names machines and versions",
    "courtesy": "thanks, greets or asks a favour",
}
HEAD = """\
# Every sentence of the four sources: where it stands (section, paragraph.sentence), its first
# words, and the rows of the ledger that are about it or the kind of sentence that needs none.
# Written by tools/source_rows.py; rows that are about a sentence without standing in it, and kinds,
# are judged by hand and kept.
"""


class SentenceError(ValueError):
    """Something about the sentences that a person has to put right."""


def read(path: Path = FILE) -> dict[str, list[dict]]:
    """Return the entries of the file, by source."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def found(texts: list[str], claims: list[dict]) -> list[list[str]]:
    """Return for each sentence of a source the ids of the rows whose `find` begins in it."""
    bare = [sources.bare(text) for text in texts]
    starts = [0, *accumulate(map(len, bare))]
    whole = "".join(bare)
    rows: list[list[str]] = [[] for _ in texts]
    for claim in claims:
        if "find" in claim:
            for match in re.finditer(re.escape(sources.bare(claim["find"])), whole):
                ids = rows[bisect_right(starts, match.start()) - 1]
                ids += [] if claim["id"] in ids else [claim["id"]]
    return rows


def entry(sentence: source_text.Sentence, rows: list[str], before: dict) -> dict:
    """Return a sentence's entry: the rows found in it, and what was judged by hand before."""
    kept = {"at": sentence.at, "words": sentence.words}
    if before and before["words"] != sentence.words:
        raise SentenceError(
            f"{FILE.name} has {before['words']!r} at {sentence.at}, the text {sentence.words!r}: "
            "read what is judged there again"
        )
    if all_rows := sorted({*rows, *before.get("rows", [])}, key=ledger.order):
        return kept | {"rows": all_rows}
    return kept | {key: before[key] for key in ("kind",) if key in before}


def renewed(before: dict[str, list[dict]], folder: Path, claims: list[dict]) -> dict:
    """Return the entries as the texts and the ledger make them, with what was judged by hand."""
    after = {}
    for source in FOUR:
        cut = source_text.sentences(folder, source)
        rows = found([s.text for s in cut], [c for c in claims if c["source"] == source])
        judged = {one["at"]: one for one in before.get(source, [])}
        if lost := judged.keys() - {s.at for s in cut}:
            raise SentenceError(f"{FILE.name}: the text of {source} has no sentence {min(lost)}")
        pairs = zip(cut, rows, strict=True)
        after[source] = [entry(s, ids, judged.get(s.at, {})) for s, ids in pairs]
    return after


def unjudged(entries: dict[str, list[dict]]) -> list[str]:
    """Return the places of the sentences that have neither a row nor a known kind."""
    return [
        f"{source} {one['at']} ({one['words']})"
        for source, ones in entries.items()
        for one in ones
        if not one.get("rows") and one.get("kind") not in KINDS
    ]


def unknown(entries: dict[str, list[dict]], claims: list[dict]) -> list[str]:
    """Return the ids that the entries name and the ledger does not hold."""
    named = {i for ones in entries.values() for one in ones for i in one.get("rows", [])}
    return sorted(named - {claim["id"] for claim in claims}, key=ledger.order)


def text(entries: dict[str, list[dict]]) -> str:
    """Return the file's text: the same entries give the same bytes."""
    lines = []
    for source, ones in entries.items():
        lines.append(f"\n{source}:")
        for one in ones:
            flow = yaml.safe_dump(
                one, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6
            )
            lines.append(f"- {flow.strip()}")
    return HEAD + "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Renew the file, or check it; end with an error where a sentence is not judged."""
    parser = argparse.ArgumentParser(description="Gather the sources' sentences and their rows.")
    parser.add_argument("folder", type=Path, help="where the sources' texts lie")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    try:
        claims = ledger.read()
        entries = renewed(read() if FILE.exists() else {}, options.folder, claims)
    except (SentenceError, ledger.LedgerError, sources.SourceError) as error:
        sys.exit(str(error))
    if options.check and text(entries) != FILE.read_text(encoding="utf-8"):
        sys.exit(f"out of date: {FILE.name}; run `python tools/source_rows.py FOLDER`")
    if not options.check:
        FILE.write_text(text(entries), encoding="utf-8")
    if missing := unjudged(entries):
        sys.exit("neither a row nor a kind: " + "; ".join(missing))
    if rows := unknown(entries, claims):
        sys.exit(f"the ledger holds no rows {', '.join(rows)}")
    print(f"{FILE.name}: {sum(map(len, entries.values()))} sentences, each with a row or a kind")


if __name__ == "__main__":
    main()
