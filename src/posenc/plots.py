"""The old name of `posenc.teaching.plots`, passed on: both are one module."""

import sys

from posenc.teaching import plots

sys.modules[__name__] = plots
