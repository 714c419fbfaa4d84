"""The old name of `posenc.study.figures`, passed on: both are one module."""

import sys

from posenc.study import figures

sys.modules[__name__] = figures
