"""Tests that share what is costly to make go to one process, all others to any."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from sharing import TOGETHER, together

ASKED = [
    "tests/site/test_pages.py::test_ids_are_unique[book/intro]",
    "tests/site/test_old_addresses.py::test_what_has_moved_is_there",
    "tests/site/test_browser.py::test_page[book/intro]",
    "tests/site/test_browser.py::test_page[book/rotary]",
]


def test_the_files_are_there():
    assert {path for path in TOGETHER if not Path(__file__).with_name(path).is_file()} == set()


def test_the_scheduler_asks_for_it(pytestconfig):
    xdist = pytest.importorskip("xdist")
    if not pytestconfig.pluginmanager.hasplugin("xdist"):
        pytest.skip("pytest-xdist is left out of this run")
    hook = pytestconfig.hook.pytest_xdist_make_scheduler
    asked = SimpleNamespace(getvalue=lambda _: "loadgroup", option=pytestconfig.option)
    found = next(
        made
        for plugin in hook.get_hookimpls()
        if plugin.plugin_name.endswith("tests/site/conftest.py")
        for made in [plugin.function(asked, None)]
    )
    assert isinstance(found, xdist.scheduler.LoadScopeScheduling)
    assert [found._split_scope(one) for one in ASKED] == [together(one) for one in ASKED]
    assert len({together(one) for one in ASKED}) == 3
    assert together(ASKED[0]) == together(ASKED[1])
