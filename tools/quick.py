"""Jupyter Book with what makes it quick: `tools/build.py` runs this with Jupyter Book's arguments.

The pages are the same, byte for byte.
"""

import gc
import importlib.metadata
import os
from functools import cache, partial

import importlib_metadata
import sphinx_multitoc_numbering
import yaml
from sphinx.application import Sphinx
from sphinx_proof.domain import ProofDomain


def cores() -> int:
    """Return how many processes may read and write pages."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def number_pages(app: Sphinx, setup=sphinx_multitoc_numbering.setup) -> dict[str, bool]:
    """Say of an extension what it leaves open: it numbers when all pages are read."""
    return {**(setup(app) or {}), "parallel_read_safe": True, "parallel_write_safe": True}


def quicken() -> None:
    """Spare what a build would do again and again."""
    gc.disable()  # it went through the trees of all pages and found nothing
    yaml.SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same one, written in C
    for module in (importlib.metadata, importlib_metadata):
        module.entry_points = cache(module.entry_points)  # nothing is installed meanwhile


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
