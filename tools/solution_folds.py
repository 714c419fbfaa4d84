"""Sphinx extension: a solution is opened once, with the code that belongs to it.

In a notebook the folded cells of a solution stand below its text. On the site they would be folded
a second time, so here they move into the solution, and stand there unfolded.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import solution_node


def is_folded(node: nodes.Node) -> bool:
    """Say whether a node is a code cell that is folded as a whole."""
    return isinstance(node, nodes.container) and node.get("hide_mode") == "all"


def take_in(solution: nodes.Element) -> None:
    """Move the folded cells right behind a solution into its body."""
    parent, inside = solution.parent, solution[-1]
    after = parent.index(solution) + 1
    while after < len(parent) and is_folded(parent[after]):
        cell = parent.pop(after)
        del cell["hide_mode"]
        inside += cell


class OneFold(SphinxPostTransform):
    """Takes in the cells of every solution of a page."""

    default_priority = 150  # before myst_nb folds cells
    formats = ("html",)

    def run(self) -> None:
        """Change the page."""
        for solution in list(self.document.findall(solution_node)):
            take_in(solution)


def setup(app: Sphinx) -> dict[str, bool]:
    """Do so on every page."""
    app.add_post_transform(OneFold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
