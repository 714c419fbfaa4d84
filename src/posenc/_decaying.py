"""The old name of `posenc.audit.decaying`, passed on: both are one module."""

import sys

from posenc.audit import decaying

sys.modules[__name__] = decaying
