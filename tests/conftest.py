"""What holds for all tests: properties are checked on the same examples each time, however long,
and what draws random numbers without a seed of its own gets the same ones.

A machine that does other things, too, is no failure. POSENC_FUZZ draws new examples.

The source archive holds these tests and neither the book nor `.github`. There the files that speak
of them are left out, and the first lines of the report say so.
"""

import gc
import os
import random
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "patient",
    deadline=None,
    database=None,
    derandomize="POSENC_FUZZ" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("patient")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Modules and tests stay to the end: no garbage is looked for among them, then or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def seeds():
    """Begin every test at the same random numbers."""
    if "POSENC_FUZZ" in os.environ:
        return
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - the global generator is what is meant
    if "torch" in sys.modules:
        # `torch.manual_seed` would note, at every test, from where it was called
        sys.modules["torch"].default_generator.manual_seed(0)


@pytest.fixture(autouse=True)
def own_names():
    """Forget the names that a test, or an example, gave to encodings."""
    yield
    if "posenc.encodings" in sys.modules:
        sys.modules["posenc.encodings"]._OWN.clear()


ROOT = Path(__file__).resolve().parents[1]
WHOLE = (ROOT / "book").is_dir() and (ROOT / ".github").is_dir()
OF_THE_REPOSITORY = re.compile(
    r"""["'/]\.github["'/]|\bbook/|["']book["']|"""
    r"^import (?:api|architecture|folder_readmes|ledger|repository)\b",
    re.MULTILINE,
)


def needs_repository(path: Path) -> bool:
    """Return whether a file of tests speaks of what the source archive lacks."""
    ours = path.relative_to(ROOT / "tests").parts
    if ours[0] == "site" or path.suffix != ".py":
        return ours[0] == "site"
    return bool(OF_THE_REPOSITORY.search(path.read_text(encoding="utf-8")))


def pytest_ignore_collect(collection_path):
    if WHOLE or not collection_path.is_relative_to(ROOT / "tests"):
        return None
    wanted = collection_path.is_file() and collection_path.name.startswith("test_")
    return True if wanted and needs_repository(collection_path) else None


def pytest_report_header():
    if WHOLE:
        return None
    left = sorted(p.name for p in (ROOT / "tests").rglob("test_*.py") if needs_repository(p))
    return f"left out, as book/ and .github/ are not here: {', '.join(left)}"
