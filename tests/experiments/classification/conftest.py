"""What tests of one file read from the stored results, they read once."""

import functools

import pytest

from posenc_book.read.classification import edition2, found


@pytest.fixture(scope="module")
def read_once():
    """Keep grids, answers and models while the tests of a file run, none of which changes them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edition2, "load_grid", functools.cache(edition2.load_grid))
        for name in ("answers", "depends", "levels"):
            patch.setattr(found, name, functools.cache(getattr(found, name)))
        yield
