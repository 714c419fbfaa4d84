"""A download that fails skips tests, but not in the workflows, which should reach everything."""

import pytest
import yaml
from fetching import without
from sitefiles import ROOT


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
