"""What holds for all tests: properties are checked on the same examples each time, however long.

A machine that does other things, too, is no failure. POSENC_FUZZ draws new examples.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "patient",
    deadline=None,
    database=None,
    derandomize="POSENC_FUZZ" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("patient")
