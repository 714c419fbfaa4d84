"""Figures that answer when touched: in the site without a network, in Jupyter, and in Colab.

A chapter shows one by a line:

    from posenc_book import explorables

    explorables.show("clock-hands")

Each figure is a class of a module of its own, see `base.Explorable`, with a script beside it in
`scripts/` that redraws it. `names()` lists them. Those that read results are in
`posenc_book.guide.explorables`, which knows all of them.
"""

from posenc_book.explorables.base import Explorable
from posenc_book.explorables.registry import make, names, register
from posenc_book.explorables.show import show

__all__ = ["Explorable", "make", "names", "register", "show"]
