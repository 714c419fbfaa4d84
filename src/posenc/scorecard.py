"""The old name of `posenc.teaching.scorecard`, passed on: both are one module."""

import sys

from posenc.teaching import scorecard

sys.modules[__name__] = scorecard
