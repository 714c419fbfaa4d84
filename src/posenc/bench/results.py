"""The old name of `posenc.study.results`, passed on: both are one module."""

import sys

from posenc.study import results

sys.modules[__name__] = results
