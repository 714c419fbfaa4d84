"""The old name of `posenc.audit.survey`, passed on: both are one module."""

import sys

from posenc.audit import survey

sys.modules[__name__] = survey
