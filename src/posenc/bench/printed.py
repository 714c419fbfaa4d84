"""The old name of `posenc.audit.printed`, passed on: both are one module."""

import sys

from posenc.audit import printed

sys.modules[__name__] = printed
