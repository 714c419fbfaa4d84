"""Sphinx extension: shows the ledger, book/claims.yml, on the site's pages.

`{ledger-numbers}` is a sentence with the counts, `{ledger-definitions}` what the six verdicts mean,
`{ledger-picture}` a bar for each source and verdict, `{ledger-table}` a row for each claim behind a
filter, and the role {claim}`B6` a link to the cell that gives the verdict on B6. Every verdict in
the Audit gets the words of its claim above it, a verdict that a chapter shows again gets a link to
its cell, and a mark in prose gets a card. All are made from the file when the site is built.
`{sentence-numbers}`, `{sentence-kinds}` and `{sentences} B` show book/sentences.yml, every sentence
of the sources beside its rows.

Verdicts have moved: old anchors are led on to where they stand now.
"""

import json
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

import ledger
import ledger_html
import source_html
import source_rows
import verdict_marks
from incremental_build import FOLLOWED
from posenc_book.audit.claims import LOOK, Shown

logger = logging.getLogger(__name__)

BOX = re.compile(r'<div class="posenc-claim[^>]* id="claim-(\w+)">')
SHOWN = re.compile(r'<div class="posenc-claim posenc-shown[^>]* data-claim="(\w+)">')
CHECKED = re.compile(r'<data value="checked\.told\.([\w-]+)">')  # the last line of a chapter
ANCHOR = re.compile(r"(?:.*[/#])?claim-([A-Z]\d+)")


class claim_mark(nodes.inline):  # docutils names nodes so
    """A mark in prose, until it is known on which page it stands."""


def decided() -> list[dict]:
    """Return the claims that have a verdict; a test fails as long as there are others."""
    return _decided(ledger.LEDGER.stat().st_mtime_ns)


@cache
def _decided(time: int) -> list[dict]:  # noqa: ARG001
    """Read the file once for each state of it: reading takes a quarter of a second."""
    return [claim for claim in ledger.read() if claim.get("verdict")]


def page(claim: dict) -> str:
    """Return the page that gives a claim's verdict."""
    return f"{ledger.BOOK.name}/{ledger_html.chapter(claim)}"


def address(environment: BuildEnvironment, claim: dict, docname: str) -> str:
    """Return the link from a page to the cell that gives a claim's verdict."""
    here = environment.app.builder.get_relative_uri(docname, page(claim))
    return f"{here}#{claim['anchor'].split('#')[1]}"


def expect_mathematics(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Have pages load what renders mathematics where Sphinx sees none, as it stands in HTML."""
    if any('class="math ' in node.astext() for node in doctree.findall(nodes.raw)):
        app.env.get_domain("math").data["has_equations"][docname] = True


class LedgerDirective(SphinxDirective):
    """What the directives share: they follow the ledger file and return HTML."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(ledger.LEDGER))
        return [nodes.raw("", self.html(decided()), format="html")]

    def html(self, claims: list[dict]) -> str:
        raise NotImplementedError


class Numbers(LedgerDirective):
    """Show the counts as sentences."""

    def html(self, claims: list[dict]) -> str:
        return f"<p>{ledger_html.numbers(claims)}</p>"


class Definitions(LedgerDirective):
    """Show the verdicts and what they mean."""

    def html(self, claims: list[dict]) -> str:  # noqa: ARG002
        return ledger_html.definitions()


class Picture(LedgerDirective):
    """Show the counts as bars."""

    def html(self, claims: list[dict]) -> str:
        return ledger_html.picture(claims)


class Table(LedgerDirective):
    """Show the filter and the claims."""

    def html(self, claims: list[dict]) -> str:
        addresses = [address(self.env, claim, self.env.docname) for claim in claims]
        told = verdict_marks.marked_claims_by_page(ledger.BOOK)
        return ledger_html.form(claims, told) + ledger_html.table(claims, addresses, told)


def marked() -> list[tuple[str, list[str]]]:
    """Return the pages that mark claims, with these, in an order that stays."""
    found = verdict_marks.marked_claims_by_page(ledger.BOOK)
    return [(page, sorted(ids)) for page, ids in found.items()]


class SentenceDirective(SphinxDirective):
    """What is shown of the sources' sentences follows their file and the ledger's."""

    def run(self) -> list[nodes.Node]:
        for path in (ledger.LEDGER, source_rows.FILE):
            self.env.note_dependency(str(path))
        return [nodes.raw("", self.html(source_rows.read()), format="html")]

    def html(self, entries: dict[str, list[dict]]) -> str:
        raise NotImplementedError


class SentenceNumbers(SentenceDirective):
    """Show how many sentences have a row."""

    def html(self, entries: dict[str, list[dict]]) -> str:
        return source_html.numbers(entries)


class SentenceKinds(SentenceDirective):
    """Show the kinds of sentences that need no row."""

    def html(self, entries: dict[str, list[dict]]) -> str:
        return source_html.kinds(entries)


class Sentences(SentenceDirective):
    """Show the sentences of the source that is named."""

    required_arguments = 1

    def html(self, entries: dict[str, list[dict]]) -> str:
        source = self.arguments[0]
        claims = [claim for claim in decided() if claim["source"] == source]
        by_id = {claim["id"]: claim for claim in claims}

        def to(claim_id: str) -> str:
            """Return a link to a row's cell; a row without a verdict is named only."""
            claim = by_id.get(claim_id)
            here = self.env.docname
            return link(claim, address(self.env, claim, here)) if claim else claim_id

        return source_html.listed(entries[source], claims, to)


class ClaimRole(SphinxRole):
    """Link to the cell that gives the verdict on a claim."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        self.env.note_dependency(str(ledger.LEDGER))
        claim = next((c for c in decided() if c["id"] == self.text), None)
        if claim is None:
            logger.warning("no verdict on claim %r", self.text, location=self.get_location())
            return [nodes.Text(self.text)], []
        html_link = link(claim, address(self.env, claim, self.env.docname))
        return [nodes.raw("", html_link, format="html")], []


def link(claim: dict, target: str, attributes: str = "") -> str:
    """Return a link with a verdict's symbol and id."""
    symbol, look = LOOK[claim["verdict"]]
    return (
        f'<a class="posenc-link posenc-{look}" href="{target}"{attributes} '
        f'aria-label="{claim["id"]}, {claim["verdict"]}">'
        f'<span aria-hidden="true">{symbol}</span> {claim["id"]}</a>'
    )


def find_marks(app: Sphinx, doctree: nodes.document) -> None:
    """Take marks out of the hands of Sphinx, which knows no anchors in a cell's output."""
    for node in list(doctree.findall(addnodes.pending_xref)):
        target = node.get("reftargetid") or node.get("reftarget") or ""
        if found := ANCHOR.fullmatch(target):
            app.env.note_dependency(str(ledger.LEDGER))
            words = node.astext()
            own = "" if not words or found[1] in words else words  # a sentence leads there
            node.replace_self(claim_mark("", "", claim=found[1], words=own))


def show_marks(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Show each mark as a link with a card; quietly in a chapter that ends by counting them."""
    by_id = {claim["id"]: claim for claim in decided()}
    look = "posenc-mark posenc-quiet" if lead_to_what_was_checked(doctree) else "posenc-mark"
    for number, node in enumerate(list(doctree.findall(claim_mark)), 1):
        claim = by_id.get(node["claim"])
        if claim is None:
            logger.warning("no verdict on claim %r", node["claim"], location=docname)
            continue
        name = f"card-{claim['id']}-{number}"
        target = address(app.env, claim, docname)
        if node.get("words"):
            place = nodes.reference("", node["words"], refuri=target, internal=True)
            node.replace_self(place)
            continue
        shown = link(claim, target, f' aria-describedby="{name}"') + ledger_html.card(claim, name)
        node.replace_self(nodes.raw("", f'<span class="{look}">{shown}</span>', format="html"))


def lead_to_what_was_checked(doctree: nodes.document) -> bool:
    """Let the last line of a chapter lead to its own rows of the ledger; say if there is one."""
    found = False
    for node in doctree.findall(nodes.raw):
        if line := CHECKED.match(node.astext()):
            found, link = True, node.parent
            while link is not None and not isinstance(link, nodes.reference):
                link = link.parent
            if link is not None:
                link["refuri"] += f"?told={line[1]}"
    return found


def show_claims(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the words of the claim into the box of each verdict; lead from others to their cell."""
    by_id = {claim["id"]: claim for claim in decided()}
    for node in list(doctree.findall(nodes.raw)):
        box = node.astext()
        if (found := BOX.match(box)) and found[1] in by_id:
            words = ledger_html.words(by_id[found[1]])
            box = found[0] + words + ledger_html.mathematics(box[found.end() :])
        elif (found := SHOWN.match(box)) and found[1] in by_id:
            claim = by_id[found[1]]
            box = ledger_html.mathematics(Shown(claim, "").html(address(app.env, claim, docname)))
        else:
            continue
        node.replace_self(nodes.raw("", box, format="html"))


def lead_on(app: Sphinx, exception: Exception | None) -> None:
    """Write where each verdict stands now, for old anchors."""
    if exception is None and app.builder.format == "html":
        where = {claim["id"]: f"{page(claim)}.html" for claim in decided()}
        text = f"window.posencClaims = {json.dumps(where)};\n"
        target = Path(app.outdir) / "_static" / "claims-where.js"
        target.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict:
    """Register the directives, the role, and what is shown with each verdict."""
    app.add_node(claim_mark)
    app.connect("doctree-read", find_marks)
    app.connect("doctree-resolved", show_claims)
    app.connect("doctree-resolved", show_marks)
    app.connect("doctree-resolved", expect_mathematics)  # the last of the three
    app.connect("build-finished", lead_on)
    FOLLOWED["book/claims"] = marked
    app.add_directive("ledger-numbers", Numbers)
    app.add_directive("ledger-definitions", Definitions)
    app.add_directive("ledger-picture", Picture)
    app.add_directive("ledger-table", Table)
    app.add_directive("sentence-numbers", SentenceNumbers)
    app.add_directive("sentence-kinds", SentenceKinds)
    app.add_directive("sentences", Sentences)
    app.add_role("claim", ClaimRole())
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
