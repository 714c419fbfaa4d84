"""All explorable figures: those of `posenc_book.explorables`, and those that read results."""

from posenc_book.explorables import make, names, register, show
from posenc_book.guide.chooser import Chooser
from posenc_book.read.classification.explorable import Benchmark
from posenc_book.read.classification.one_more_split import OneMoreSplit
from posenc_book.read.classification.trained_again import Luck
from posenc_book.read.range_probe.explorable import Kernels

register("kernels", Kernels)
register("benchmark", Benchmark)
register("luck", Luck)
register("one-more-split", OneMoreSplit)
register("chooser", Chooser)

__all__ = ["make", "names", "show"]
