"""The built site, as a fixture."""

import os
from pathlib import Path

import pytest
from sitefiles import SITE


@pytest.fixture(scope="session")
def site() -> Path:
    """Return the folder of the built site; `make test` builds it and does not let it be missing."""
    if not (SITE / "index.html").is_file():
        message = "no built site: run `make book` first"
        if os.environ.get("POSENC_REQUIRE_SITE") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return SITE
