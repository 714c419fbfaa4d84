"""The ledger as HTML: a sentence with the counts, a bar chart, a filter and a table."""

import json
from collections import Counter
from functools import cache
from html import escape

import ledger
from posenc.audit.claims import LOOK

BAR, GAP, LEFT, FULL = 13, 3, 34, 300  # bar height, gap, start of the bars, longest bar


@cache
def title(chapter: str) -> str:
    """Return the title of a notebook without what follows a colon."""
    notebook = json.loads((ledger.BOOK / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    heading = "".join(notebook["cells"][0]["source"]).splitlines()[0]
    return heading.removeprefix("# ").split(":")[0]


def chapter(claim: dict) -> str:
    """Return the name of the chapter that gives the verdict on a claim."""
    return claim["anchor"].split(".ipynb#")[0]


def counts(claims: list[dict]) -> dict[str, Counter]:
    """Return how often each verdict was given, for each source."""
    return {
        source: Counter(claim["verdict"] for claim in claims if claim["source"] == source)
        for source in ledger.SOURCES
    }


def numbers(claims: list[dict]) -> str:
    """Return a sentence with the number of claims and of each verdict."""
    total = Counter(claim["verdict"] for claim in claims)
    parts = [f"{total[verdict]} {verdict}" for verdict in LOOK]
    return f"{len(claims)} claims: {', '.join(parts[:-1])} and {parts[-1]}."


def badge(verdict: str) -> str:
    """Return a verdict as a symbol and a word."""
    symbol, look = LOOK[verdict]
    inner = f'<span aria-hidden="true">{symbol}</span> {verdict}'
    return f'<span class="posenc-badge posenc-{look}">{inner}</span>'


def words(claim: dict) -> str:
    """Return the claim as a quotation with its source."""
    source = f"{ledger.SOURCES[claim['source']]}, {claim['place']}"
    return f'<p class="posenc-words">{escape(claim["claim"])} <small>{escape(source)}</small></p>'


def bars(source: str, tally: Counter, top: int, longest: int) -> str:
    """Return the four bars of a source as SVG, below its name."""
    parts = [
        f'<text x="0" y="{top + 12}" class="posenc-bars-title">{ledger.SOURCES[source]}</text>'
    ]
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
    height = 28 + 4 * (BAR + GAP)
    groups = [bars(s, tally, i * height, longest) for i, (s, tally) in enumerate(tallies.items())]
    told = [
        f"{ledger.SOURCES[source]}: " + ", ".join(f"{tally[verdict]} {verdict}" for verdict in LOOK)
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


def form(claims: list[dict]) -> str:
    """Return the controls of the filter, hidden until a script is there to serve them."""
    search = '<input type="search" id="filter-words" name="words" autocomplete="off">'
    titles = {name: title(name) for name in {chapter(claim) for claim in claims}}
    return (
        '<form class="posenc-filter" aria-label="Filter the claims" hidden>'
        + labelled("words", "Words", search)
        + choice("source", "Source", ledger.SOURCES)
        + choice("verdict", "Verdict", {verdict: verdict for verdict in LOOK})
        + choice("chapter", "Chapter", dict(sorted(titles.items(), key=lambda item: item[1])))
        + '<button type="reset">Show all</button>'
        '<p role="status"></p></form>'
    )


def row(claim: dict, address: str) -> str:
    """Return a claim as a row of the table, with a link to the cell that tests it."""
    claim_id, name = claim["id"], title(chapter(claim))
    source = f"{ledger.SOURCES[claim['source']]}, {claim['place']}"
    found = [words for words in (claim["measured"], claim["condition"]) if words]
    link = f'<a href="{address}" aria-label="{claim_id} in {escape(name)}">{escape(name)}</a>'
    return (
        f'<tr role="row" id="ledger-{claim_id}" data-source="{claim["source"]}" '
        f'data-verdict="{claim["verdict"]}" data-chapter="{chapter(claim)}">'
        f'<th role="rowheader" scope="row">{claim_id}</th>'
        f'<td role="cell">{escape(claim["claim"])} <small>{escape(source)}</small></td>'
        f'<td role="cell">{badge(claim["verdict"])}'
        + "".join(f"<p>{escape(words.rstrip('.'))}.</p>" for words in found)
        + f"<small>The cell is in {link}.</small></td></tr>"
    )


def table(claims: list[dict], addresses: list[str]) -> str:
    """Return all claims as a table; the roles keep it one where a small screen stacks its cells."""
    heads = "".join(
        f'<th role="columnheader" scope="col">{words}</th>'
        for words in ("No.", "Claim", "Verdict, and what was measured")
    )
    rows = "".join(row(c, address) for c, address in zip(claims, addresses, strict=True))
    return (
        '<table role="table" class="posenc-ledger" aria-label="The claims">'
        f'<thead role="rowgroup"><tr role="row">{heads}</tr></thead>'
        f'<tbody role="rowgroup">{rows}</tbody></table>'
    )
