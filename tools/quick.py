"""Jupyter Book with what makes it quick: `tools/build.py` runs this with Jupyter Book's arguments.

The pages are the same, byte for byte.
"""

import gc
import importlib.metadata
import os
import re
from collections.abc import Callable, Iterator
from functools import cache, partial

import importlib_metadata
import sphinx_multitoc_numbering
import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxSmartQuotes
from sphinx_proof.domain import ProofDomain

FIND = nodes.Node.findall
TOKENS = SphinxSmartQuotes.get_tokens
TYPED = re.compile(r"[\"'`\\&]|--|\.\.|\. \.")  # all that smart quotes change


def cores() -> int:
    """Return how many processes may read and write pages."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def number_pages(app: Sphinx, setup=sphinx_multitoc_numbering.setup) -> dict[str, bool]:
    """Say of an extension what it leaves open: it numbers when all pages are read."""
    return {**(setup(app) or {}), "parallel_read_safe": True, "parallel_write_safe": True}


def find(
    node: nodes.Node,
    condition: type | Callable[[nodes.Node], bool] | None = None,
    include_self: bool = True,
    descend: bool = True,
    siblings: bool = False,
    ascend: bool = False,
) -> Iterator[nodes.Node]:
    """Yield what `Node.findall` yields; that one calls itself for each node within a node."""
    if siblings or ascend or not descend:
        return FIND(node, condition, include_self, descend, siblings, ascend)
    if condition is None or isinstance(condition, type):
        return _of_class(node, condition or nodes.Node, include_self)
    return _that(node, condition, include_self)


def _of_class(node: nodes.Node, wanted: type, include_self: bool) -> Iterator[nodes.Node]:
    if include_self and isinstance(node, wanted):
        yield node
    open_nodes = [iter(node.children)]
    while open_nodes:
        for child in open_nodes[-1]:
            if isinstance(child, wanted):
                yield child
            if child.children:
                open_nodes.append(iter(child.children))
                break
        else:
            open_nodes.pop()


def _that(node: nodes.Node, wanted: Callable, include_self: bool) -> Iterator[nodes.Node]:
    if include_self and wanted(node):
        yield node
    for child in node.children:
        yield from (found for found in _of_class(child, nodes.Node, True) if wanted(found))


def tokens(quotes: SphinxSmartQuotes, texts: list[nodes.Text]) -> Iterator[tuple[str, str]]:
    """Yield texts to set quotes and dashes in; those that have none go by like code."""
    for kind, text in TOKENS(quotes, texts):
        yield kind if TYPED.search(text) else "literal", text


def quicken() -> None:
    """Spare what a build would do again and again."""
    gc.disable()  # it went through the trees of all pages and found nothing
    yaml.SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same one, written in C
    for module in (importlib.metadata, importlib_metadata):
        module.entry_points = cache(module.entry_points)  # nothing is installed meanwhile
    nodes.Node.findall = find
    SphinxSmartQuotes.get_tokens = tokens


def main() -> None:
    """Run Jupyter Book's command line on all cores."""
    import jupyter_book.cli.main
    import jupyter_book.sphinx as book

    sphinx_multitoc_numbering.setup = number_pages
    ProofDomain.merge_domaindata = lambda *_: None  # which keeps all it knows elsewhere
    book.build_sphinx = partial(book.build_sphinx, jobs=cores())
    jupyter_book.cli.main.main()


if __name__ == "__main__":
    quicken()
    main()
