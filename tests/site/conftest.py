"""The built site and a browser, as fixtures, and which tests run in one process."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import DESKTOP, FLAGS, PHONE, Opened, chromium
from playwright.sync_api import Browser, Page, sync_playwright
from sharing import together
from sitefiles import SITE


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Hand out what belongs together as one, and what takes longest first."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        _split_scope = staticmethod(together)

    return Together(config, log)


@pytest.fixture(scope="session")
def site() -> Path:
    """Return the folder of the built site; `make test` builds it and does not let it be missing."""
    if not (SITE / "index.html").is_file():
        message = "no built site: run `make book` first"
        if os.environ.get("POSENC_REQUIRE_SITE") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return SITE


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser; where there is none the tests are skipped, unless one is required."""
    path = chromium()
    if path is None:
        message = "no browser: install Chromium or name one in the variable CHROMIUM"
        if os.environ.get("POSENC_REQUIRE_BROWSER") == "1":
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def opened(browser, site, request) -> Iterator[Opened]:
    """A fresh window; the test's parameters choose theme and size."""
    named = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    size = PHONE if "phone" in request.node.name else DESKTOP
    window = Opened(browser, site, size=size, theme=named.get("theme", "light"))
    yield window
    window.context.close()


@pytest.fixture(scope="module")
def window(browser, site) -> Iterator[Opened]:
    """One window for many visits: to open it and to read the scripts anew takes longer."""
    one = Opened(browser, site, size=DESKTOP, painted=False)
    yield one
    one.context.close()


@pytest.fixture
def visited(window) -> Opened:
    """The window that visits share, for tests that leave nothing behind in it."""
    window.begin()
    return window


@pytest.fixture
def scriptless(browser) -> Iterator[Page]:
    """A page of a browser that runs no scripts."""
    context = browser.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()
