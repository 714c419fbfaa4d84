"""The old name of `posenc.study.exact`, passed on: both are one module."""

import sys

from posenc.study import exact

sys.modules[__name__] = exact
