"""The old name of `posenc.study.statistics`, passed on: both are one module."""

import sys

from posenc.study import statistics

sys.modules[__name__] = statistics
