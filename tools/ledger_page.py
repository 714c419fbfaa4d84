"""Sphinx extension: shows the ledger, book/claims.yml, on the site's pages.

`{ledger-numbers}` is a sentence with the counts, `{ledger-picture}` a bar for each source and
verdict, `{ledger-table}` a row for each claim behind a filter, and the role {claim}`B6` a link to
the cell that gives the verdict on B6. Every verdict in a chapter gets the words of its claim above
it. All are made from the file when the site is built.
"""

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

import ledger
import ledger_html
from posenc.audit.claims import LOOK

logger = logging.getLogger(__name__)


def decided() -> list[dict]:
    """Return the claims that have a verdict; a test fails as long as there are others."""
    return [claim for claim in ledger.read() if claim.get("verdict")]


def address(environment: BuildEnvironment, claim: dict) -> str:
    """Return the link from the current page to the cell that gives a claim's verdict."""
    page = f"{ledger.BOOK.name}/{ledger_html.chapter(claim)}"
    here = environment.app.builder.get_relative_uri(environment.docname, page)
    return f"{here}#{claim['anchor'].split('#')[1]}"


class LedgerDirective(SphinxDirective):
    """What the three directives share: they follow the ledger file and return HTML."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(ledger.LEDGER))
        return [nodes.raw("", self.html(decided()), format="html")]

    def html(self, claims: list[dict]) -> str:
        raise NotImplementedError


class Numbers(LedgerDirective):
    """Show the counts as a sentence."""

    def html(self, claims: list[dict]) -> str:
        return f"<p>{ledger_html.numbers(claims)}</p>"


class Picture(LedgerDirective):
    """Show the counts as bars."""

    def html(self, claims: list[dict]) -> str:
        return ledger_html.picture(claims)


class Table(LedgerDirective):
    """Show the filter and the claims."""

    def html(self, claims: list[dict]) -> str:
        addresses = [address(self.env, claim) for claim in claims]
        return ledger_html.form(claims) + ledger_html.table(claims, addresses)


class ClaimRole(SphinxRole):
    """Link to the cell that gives the verdict on a claim."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        self.env.note_dependency(str(ledger.LEDGER))
        claim = next((c for c in decided() if c["id"] == self.text), None)
        if claim is None:
            logger.warning("no verdict on claim %r", self.text, location=self.get_location())
            return [nodes.Text(self.text)], []
        symbol, look = LOOK[claim["verdict"]]
        html = (
            f'<a class="posenc-link posenc-{look}" href="{address(self.env, claim)}" '
            f'aria-label="{claim["id"]}, {claim["verdict"]}">'
            f'<span aria-hidden="true">{symbol}</span> {claim["id"]}</a>'
        )
        return [nodes.raw("", html, format="html")], []


def show_claims(app: Sphinx, doctree: nodes.document, docname: str) -> None:  # noqa: ARG001
    """Put the words of the claim into the box of each verdict."""
    by_id = {claim["id"]: claim for claim in decided()}
    for node in list(doctree.findall(nodes.raw)):
        found = re.match(r'<div class="posenc-claim[^>]* id="claim-(\w+)">', node.astext())
        if found and found[1] in by_id:
            words = ledger_html.words(by_id[found[1]])
            html = found[0] + words + node.astext()[found.end() :]
            node.replace_self(nodes.raw("", html, format="html"))


def setup(app: Sphinx) -> dict:
    """Register the directives, the role, and what is shown with each verdict."""
    app.connect("doctree-resolved", show_claims)
    app.add_directive("ledger-numbers", Numbers)
    app.add_directive("ledger-picture", Picture)
    app.add_directive("ledger-table", Table)
    app.add_role("claim", ClaimRole())
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
