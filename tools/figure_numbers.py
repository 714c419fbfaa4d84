"""Sphinx extension: figures are numbered without reading the trees of all pages again.

At each build Sphinx walks through every node of the book for the few that have a number. Here an
outline of each page is kept: its sections, its contents, and what may be numbered.
"""

from collections.abc import Iterable
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains import Domain
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors.toctree import TocTreeCollector
from sphinx.util.nodes import clean_astext

ASSIGN = TocTreeCollector.assign_figure_numbers


def outline(env: BuildEnvironment, tree: nodes.Element) -> nodes.Element:
    """Return a node with what numbering looks at within a tree, in its order."""
    bare = nodes.Element()
    bare += list(_within(_numbering(env), tree))
    for node in bare.findall():
        node._document, node.rawsource = None, ""  # which hold the whole page
    return bare


def _numbering(env: BuildEnvironment) -> list[Domain]:
    """Return the domains that number something."""
    asked = Domain.get_enumerable_node_type  # which looks in `enumerable_nodes` and nowhere else
    every = env.domains.values()
    return [d for d in every if d.enumerable_nodes or type(d).get_enumerable_node_type != asked]


def _within(domains: list[Domain], tree: nodes.Element) -> Iterable[nodes.Node]:
    """Yield sections, contents and what may be numbered; what stands around counts for nothing."""
    for child in tree.children:
        if not isinstance(child, nodes.Element):
            continue  # text
        if isinstance(child, addnodes.toctree):
            yield child.copy()
        elif any(domain.get_enumerable_node_type(child) for domain in domains):
            bare = child.copy()
            bare += [*_told_by(child), *_within(domains, child)]
            yield bare
        else:
            yield from _within(domains, child)


def _told_by(node: nodes.Element) -> Iterable[nodes.Node]:
    """Yield what tells whether a node has a number: its title, and that it is code."""
    for child in node.children:
        if isinstance(child, nodes.caption | nodes.title):
            yield type(child)("", clean_astext(child))
        elif isinstance(child, nodes.literal_block):
            yield child.copy()


def assign(collector: TocTreeCollector, env: BuildEnvironment) -> list[str]:
    """Number all figures, from outlines of the pages that have not changed."""
    known, now = getattr(env, "posenc_outlines", {}), {}

    def outlined(docname: str) -> nodes.Element:
        read = Path(env.doctreedir, f"{docname}.doctree").stat().st_mtime_ns
        if known.get(docname, (0,))[0] != read:
            known[docname] = read, outline(env, BuildEnvironment.get_doctree(env, docname))
        now[docname] = known[docname]
        return now[docname][1]

    env.get_doctree = outlined
    try:
        return ASSIGN(collector, env)
    finally:
        del env.get_doctree
        env.posenc_outlines = now


def setup(app: Sphinx) -> dict[str, bool]:  # noqa: ARG001
    """Number so in this process."""
    TocTreeCollector.assign_figure_numbers = assign
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": 1}
