"""The old name of `posenc.study.report`, passed on: both are one module."""

import sys

from posenc.study import report

sys.modules[__name__] = report
