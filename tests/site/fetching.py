"""What becomes of a test whose archive of others cannot be had."""

import os
from typing import NoReturn

import pytest


def without(reason: str) -> NoReturn:
    """Skip the test, or fail it on a machine that should reach everything."""
    if os.environ.get("POSENC_REQUIRE_DOWNLOADS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
