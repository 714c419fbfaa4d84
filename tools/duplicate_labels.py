"""Sphinx extension: a label that two pages use is a warning, although two processes read them.

Each process warns of labels that it has met twice itself.
"""

from collections.abc import Iterable

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

logger = logging.getLogger(__name__)


def labels(env: BuildEnvironment) -> Iterable[tuple[str, str]]:
    """Yield each label with its page: of sections and figures, theorems and exercises."""
    for name, (docname, *_) in env.domaindata["std"]["anonlabels"].items():
        yield name, docname
    for registry in ("proof_list", "sphinx_exercise_registry"):
        for name, entry in getattr(env, registry, {}).items():
            yield name, entry["docname"]


def begin(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:  # noqa: ARG001
    """Forget the labels of the last build."""
    env.posenc_labels = {}


def merge(app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment) -> None:  # noqa: ARG001
    """Compare what a process has read with what the ones before it have read."""
    found = {name: docname for name, docname in labels(other) if docname in docnames}
    for name in sorted(found.keys() & env.posenc_labels.keys()):
        first, second = env.posenc_labels[name], found[name]
        logger.warning("duplicate label %s, other instance in %s", name, first, location=second)
    env.posenc_labels.update(found)


def setup(app: Sphinx) -> dict[str, bool]:
    """Compare whenever a process hands over what it has read."""
    app.connect("env-before-read-docs", begin)
    app.connect("env-merge-info", merge)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
