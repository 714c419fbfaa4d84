"""All explorable figures: those of `posenc.teaching.explorables`, and those that read results."""

from posenc.experiments.classification.explorable import Benchmark
from posenc.experiments.classification.one_more_split import OneMoreSplit
from posenc.experiments.classification.trained_again import Luck
from posenc.experiments.range_probe.explorable import Kernels
from posenc.guide.chooser import Chooser
from posenc.teaching.explorables import make, names, register, show

register("kernels", Kernels)
register("benchmark", Benchmark)
register("luck", Luck)
register("one-more-split", OneMoreSplit)
register("chooser", Chooser)

__all__ = ["make", "names", "show"]
