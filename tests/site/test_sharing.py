"""Tests that share what is costly go to one process, and downloads that fail skip some or fail."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from sharing import TOGETHER, together
from sitefiles import ROOT, without

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


def test_what_cannot_be_had_skips_or_fails(monkeypatch):
    monkeypatch.delenv("POSENC_REQUIRE_DOWNLOADS", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no answer"):
        without("no answer")
    monkeypatch.setenv("POSENC_REQUIRE_DOWNLOADS", "1")
    with pytest.raises(pytest.fail.Exception, match="no answer"):
        without("no answer")


@pytest.mark.parametrize(("name", "job"), [("ci", "test"), ("weekly", "pinned")])
def test_workflows_that_test_the_site_leave_nothing_out(name, job):
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
    required = {"POSENC_REQUIRE_BROWSER", "POSENC_REQUIRE_DOWNLOADS", "POSENC_REQUIRE_SANDBOX"}
    assert required <= yaml.safe_load(text)["jobs"][job]["env"].keys()
