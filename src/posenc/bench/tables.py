"""The old name of `posenc.study.tables`, passed on: both are one module."""

import sys

from posenc.study import tables

sys.modules[__name__] = tables
