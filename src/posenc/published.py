"""The old name of `posenc.audit.published`, passed on: both are one module."""

import sys

from posenc.audit import published

sys.modules[__name__] = published
