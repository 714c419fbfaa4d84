"""The sentences of the sources as HTML: what kinds there are, and each sentence beside its rows."""

from collections import Counter
from collections.abc import Callable
from html import escape

import source_rows
import source_text
from posenc_book.audit.ledger import SOURCES

Link = Callable[[str], str]  # from the id of a row to a link with its verdict's mark


def numbers(entries: dict[str, list[dict]]) -> str:
    """Return a sentence with the counts over all sources, and a table of them by source."""
    everything = [one for ones in entries.values() for one in ones]
    rows = "".join(
        f'<tr><th scope="row">{escape(SOURCES[source])}</th>{_cells(ones)}</tr>'
        for source, ones in entries.items()
    )
    heads = "".join(f'<th scope="col">{words}</th>' for words in ("source", "a row", "none needed"))
    return (
        f"<p>{coverage_text(everything)}</p>"
        f'<table class="posenc-definitions"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _cells(entries: list[dict]) -> str:
    """Return how many sentences have a row and how many need none, as cells."""
    with_row = sum("rows" in one for one in entries)
    return f"<td>{with_row}</td><td>{len(entries) - with_row}</td>"


def coverage_text(entries: list[dict]) -> str:
    """Return in words how many sentences have a row."""
    with_row = sum("rows" in one for one in entries)
    return (
        f"Of {len(entries)} sentences and headings {with_row} have a row in the ledger, and "
        f"{len(entries) - with_row} need none."
    )


def kinds(entries: dict[str, list[dict]]) -> str:
    """Return the kinds of sentences that need no row, with their numbers, as a table."""
    counted = Counter(one.get("kind") for ones in entries.values() for one in ones)
    rows = "".join(
        f'<tr><th scope="row">{kind}</th><td>{meaning}</td><td>{counted[kind]}</td></tr>'
        for kind, meaning in source_rows.KINDS.items()
    )
    heads = "".join(
        f'<th scope="col">{words}</th>' for words in ("kind", "such a sentence", "here")
    )
    return (
        f'<table class="posenc-definitions"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def listed(entries: list[dict], claims: list[dict], link: Link) -> str:
    """Return the sentences of one source, folded by section, and the rows outside sentences."""
    sections: dict[str, list[dict]] = {}
    for one in entries:
        sections.setdefault(one["at"].rsplit(", ", 1)[0], []).append(one)
    folded = "".join(_section(name, ones, link) for name, ones in sections.items())
    named = {claim_id for one in entries for claim_id in one.get("rows", [])}
    other = [link(claim["id"]) for claim in claims if claim["id"] not in named]
    beside = f"<p>Rows beside no sentence, about formulas, tables or code: {', '.join(other)}.</p>"
    return f"<p>{coverage_text(entries)}</p>{folded}{beside if other else ''}"


def _section(name: str, entries: list[dict], link: Link) -> str:
    """Return the sentences of a section as a table that opens below its name."""
    title = f"Section {name}" if name[0].isdigit() else name[0].upper() + name[1:]
    with_row = sum("rows" in one for one in entries)
    words = "sentence" if len(entries) == 1 else "sentences"
    heads = "".join(
        f'<th scope="col">{words}</th>' for words in ("Place", "Begins", "Row, or why none")
    )
    rows = "".join(_row(one, link) for one in entries)
    return (
        f'<details class="posenc-sentences"><summary>{escape(title)}: '
        f"{len(entries)} {words}, {with_row} with a row</summary>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></details>"
    )


def _row(entry: dict, link: Link) -> str:
    """Return a sentence as a row: its place, its first words, and its rows or its kind."""
    place = entry["at"].rsplit(", ", 1)[1]
    said = " ".join(map(link, entry["rows"])) if "rows" in entry else entry["kind"]
    words = entry["words"]
    whole = words.endswith((".", "?", "!")) and not source_text.SHORT.search(words)
    begins = escape(words) + ("" if whole else " …")
    return f'<tr><th scope="row">{place}</th><td>{begins}</td><td>{said}</td></tr>'
