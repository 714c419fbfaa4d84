"""All explorable figures: those of `posenc.teaching.explorables`, and those that read results."""

from posenc.study.explorables.benchmark import Benchmark
from posenc.study.explorables.chooser import Chooser
from posenc.study.explorables.kernels import Kernels
from posenc.teaching.explorables import make, names, register, show

register("kernels", Kernels)
register("benchmark", Benchmark)
register("chooser", Chooser)

__all__ = ["make", "names", "show"]
