"""All explorable figures: those of `posenc.teaching.explorables`, and those that read results."""

from posenc.study.explorables.chooser import Chooser
from posenc.teaching.explorables import make, names, register, show

register("chooser", Chooser)

__all__ = ["make", "names", "show"]
