"""The ledger as HTML: a sentence with the counts, a bar chart, a filter and a table."""

import json
import re
from collections import Counter
from functools import cache
from html import escape

import ledger
from posenc_book.audit.claims import LOOK
from posenc_book.audit.claims import words as claim_words
from posenc_book.audit.ledger import FOUR, place
from posenc_book.audit.outcomes import DEFINITIONS

BAR, GAP, LEFT, FULL = 13, 3, 34, 300  # bar height, gap, start of the bars, longest bar
OURS = "ours"
GROUPS = {**ledger.SOURCES, "N": "Modern encodings, forecasters", OURS: "Statements of ours"}
# what mathematics looks like in the ledger and on the site
DOLLARS = re.compile(r"\$([^$]+)\$")


@cache
def heading(chapter: str) -> str:
    """Return the title of a notebook."""
    notebook = json.loads((ledger.BOOK / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    return "".join(notebook["cells"][0]["source"]).splitlines()[0].removeprefix("# ")


def title(chapter: str) -> str:
    """Return the title of a notebook without what follows a colon, which two may share."""
    return heading(chapter).split(":")[0]


def chapter(claim: dict) -> str:
    """Return the name of the chapter that gives the verdict on a claim."""
    return claim["anchor"].split(".ipynb#")[0]


def group(claim: dict) -> str:
    """Return under what a claim is counted: its source, or the statements of ours."""
    return OURS if claim.get("ours") else claim["source"]


def counts(claims: list[dict]) -> dict[str, Counter]:
    """Return how often each verdict was given, for each source and for our own statements."""
    return {
        name: Counter(claim["verdict"] for claim in claims if group(claim) == name)
        for name in GROUPS
    }


def tally(claims: list[dict]) -> str:
    """Return the number of each verdict, in words."""
    total = Counter(claim["verdict"] for claim in claims)
    parts = [f"{total[verdict]} {verdict}" for verdict in LOOK]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def numbers(claims: list[dict]) -> str:
    """Return sentences with the numbers of claims of the sources and of our own statements.

    The four sources were read whole, of the other papers a few statements each: counted apart.
    """
    theirs = [claim for claim in claims if group(claim) in FOUR]
    later = [claim for claim in claims if group(claim) not in (*FOUR, OURS)]
    ours = [claim for claim in claims if claim.get("ours")]
    return (
        f"{len(theirs)} claims of the four sources: {tally(theirs)}. "
        f"{len(later)} statements of the papers behind the modern encodings and forecasters: "
        f"{tally(later)}. "
        f"Beside them {len(ours)} statements of ours, most of them on published code: "
        f"{tally(ours)}."
    )


def mathematics(html: str) -> str:
    """Return HTML in which what stands between dollar signs is shown as mathematics."""
    return DOLLARS.sub(r'<span class="math notranslate nohighlight">\\(\1\\)</span>', html)


def definitions() -> str:
    """Return the six verdicts and their meaning as a table."""
    rows = [
        f'<tr><th scope="row">{badge(verdict)}</th><td>{escape(meaning)}</td></tr>'
        for verdict, meaning in DEFINITIONS.items()
    ]
    heads = '<thead><tr><th scope="col">verdict</th><th scope="col">meaning</th></tr></thead>'
    return f'<table class="posenc-definitions">{heads}<tbody>{"".join(rows)}</tbody></table>'


def badge(verdict: str) -> str:
    """Return a verdict as a symbol and a word."""
    symbol, look = LOOK[verdict]
    inner = f'<span aria-hidden="true">{symbol}</span> {verdict}'
    return f'<span class="posenc-badge posenc-{look}">{inner}</span>'


def words(claim: dict) -> str:
    """Return the claim with its place, as the box above a verdict shows it."""
    return mathematics(claim_words(claim))


def card(claim: dict, name: str) -> str:
    """Return what a mark in prose shows to who points at it."""
    said = [claim["measured"], claim["condition"]]
    texts = "".join(f"<span>{escape(text.rstrip('.'))}.</span> " for text in said if text)
    inner = f"<span>{escape(claim['claim'])} <small>{escape(place(claim))}</small></span>"
    return (
        f'<span class="posenc-card" role="tooltip" id="{name}">'
        f"{badge(claim['verdict'])}{mathematics(inner + texts)}</span>"
    )


def finding(claim: dict) -> str:
    """Return how a reader finds the place in the source, and what was read where that differs."""
    ways = []
    if claim.get("ours"):
        ways.append("A statement of ours")
    elif "find" in claim:
        ways.append(f"Search for “{claim['find']}”")
    elif "found" in claim:
        ways.append(f"Look for the {claim['found']}")
    if "read" in claim:
        ways.append(f"Read {claim['read']}")
    return ". ".join(ways)


def bars(source: str, tally: Counter, top: int, longest: int) -> str:
    """Return the bars of a source as SVG, below its name."""
    parts = [f'<text x="0" y="{top + 12}" class="posenc-bars-title">{GROUPS[source]}</text>']
    for row, (verdict, (symbol, look)) in enumerate(LOOK.items()):
        y = top + 20 + row * (BAR + GAP)
        width, base = FULL * tally[verdict] / longest, y + 11
        parts += [
            f'<g class="posenc-{look}" fill="currentColor">',
            f'<text x="{LEFT - 8}" y="{base}" text-anchor="end">{symbol}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}"/></g>',
            f'<text x="{LEFT + width + 6:.1f}" y="{base}">{tally[verdict]}</text>',
        ]
    return "".join(parts)


def picture(claims: list[dict]) -> str:
    """Return the bar chart of verdicts by source as SVG with a text alternative."""
    tallies = counts(claims)
    longest = max(max(tally.values(), default=0) for tally in tallies.values()) or 1
    height = 28 + len(LOOK) * (BAR + GAP)
    groups = [bars(s, tally, i * height, longest) for i, (s, tally) in enumerate(tallies.items())]
    told = [
        f"{GROUPS[source]}: " + ", ".join(f"{tally[verdict]} {verdict}" for verdict in LOOK)
        for source, tally in tallies.items()
    ]
    legend = ", ".join(f"{symbol} {verdict}" for verdict, (symbol, _) in LOOK.items())
    return (
        '<figure class="posenc-bars">'
        f'<svg viewBox="0 0 370 {height * len(groups) - 10}" role="img" '
        f'aria-label="Bars, number of verdicts. {escape(". ".join(told))}.">'
        f"{''.join(groups)}</svg><figcaption>Verdicts by source: {legend}.</figcaption></figure>"
    )


def labelled(name: str, words: str, control: str) -> str:
    """Return a control with its label, tied together by an id."""
    return f'<p><label for="filter-{name}">{words}</label> {control}</p>'


def choice(name: str, words: str, options: dict[str, str]) -> str:
    """Return a labelled select element whose first option lets everything through."""
    listed = [f'<option value="{escape(k)}">{escape(v)}</option>' for k, v in options.items()]
    inner = '<option value="">all</option>' + "".join(listed)
    return labelled(name, words, f'<select id="filter-{name}" name="{name}">{inner}</select>')


def form(claims: list[dict], told: dict[str, set[str]]) -> str:
    """Return the controls of the filter, hidden until a script is there to serve them."""
    search = '<input type="search" id="filter-words" name="words" autocomplete="off">'
    names = {chapter(claim) for claim in claims}
    shared = {words for words, n in Counter(map(title, names)).items() if n > 1}
    named = {name: heading(name) if title(name) in shared else title(name) for name in names}
    titles = sorted((words, name) for name, words in named.items())
    return (
        '<form class="posenc-filter" aria-label="Filter the claims" hidden>'
        + labelled("words", "Words", search)
        + choice("source", "Source", GROUPS)
        + choice("verdict", "Verdict", {verdict: verdict for verdict in LOOK})
        + choice("chapter", "Chapter", {name: words for words, name in titles})
        + choice("told", "Told in", {name: title(name) for name in sorted(told, key=title)})
        + '<button type="reset">Show all</button>'
        '<p role="status"></p></form>'
    )


def row(claim: dict, address: str, told: dict[str, set[str]]) -> str:
    """Return a claim as a row of the table, with a link to the cell that tests it."""
    pages = " ".join(page for page, ids in told.items() if claim["id"] in ids)
    claim_id, name = claim["id"], title(chapter(claim))
    found = [words for words in (claim["measured"], claim["condition"]) if words]
    link = f'<a href="{address}" aria-label="{claim_id} in {escape(name)}">{escape(name)}</a>'
    return (
        f'<tr role="row" id="ledger-{claim_id}" data-source="{group(claim)}" '
        f'data-verdict="{claim["verdict"]}" data-chapter="{chapter(claim)}" data-told="{pages}">'
        f'<th role="rowheader" scope="row">{claim_id}</th>'
        f'<td role="cell">{mathematics(escape(claim["claim"]))} '
        f"<small>{escape(place(claim))}. {escape(finding(claim))}.</small></td>"
        f'<td role="cell">{badge(claim["verdict"])}'
        + "".join(f"<p>{mathematics(escape(words.rstrip('.')))}.</p>" for words in found)
        + f"<small>The cell is in {link}.</small></td></tr>"
    )


def table(claims: list[dict], addresses: list[str], told: dict[str, set[str]]) -> str:
    """Return all claims as a table; the roles keep it one where a small screen stacks its cells."""
    heads = "".join(
        f'<th role="columnheader" scope="col">{words}</th>'
        for words in ("No.", "Claim", "Verdict, and what was measured")
    )
    rows = "".join(row(c, address, told) for c, address in zip(claims, addresses, strict=True))
    return (
        '<table role="table" class="posenc-ledger" aria-label="The claims">'
        f'<thead role="rowgroup"><tr role="row">{heads}</tr></thead>'
        f'<tbody role="rowgroup">{rows}</tbody></table>'
    )
