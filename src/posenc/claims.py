"""The old name of `posenc.audit.claims`, passed on: both are one module."""

import sys

from posenc.audit import claims

sys.modules[__name__] = claims
