"""A page of the built site in a real browser, with the network down."""

import os
import shutil
from pathlib import Path

from playwright.sync_api import Browser, Page, Route

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 800}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# Messages on the console that are no fault of the page: (part of the message, reason).
KNOWN_MESSAGES: list[tuple[str, str]] = []


def chromium() -> str | None:
    """Return the path of a Chromium browser, or None."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, ["chromium", "chromium-browser"])), None)


class Opened:
    """A page of the built site, opened from its file, and what it did on the way."""

    def __init__(self, browser: Browser, site: Path, *, size: dict, theme: str = "light") -> None:
        self.site = site
        self.refused: list[str] = []
        self.messages: list[str] = []
        self.context = browser.new_context(viewport=size, color_scheme=theme)
        self.context.set_default_timeout(30_000)
        self.context.route("**/*", self._local_only)
        self.page: Page = self.context.new_page()
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("requestfailed", lambda request: self.messages.append(request.url))

    def _local_only(self, route: Route) -> None:
        if route.request.url.startswith(("file:", "data:", "blob:")):
            route.continue_()
        else:
            self.refused.append(route.request.url)
            route.abort()

    def _listen(self, message) -> None:
        if message.type in ("error", "warning") and not any(
            part in message.text for part, _ in KNOWN_MESSAGES
        ):
            self.messages.append(message.text)

    def goto(self, name: str) -> Page:
        """Open a page and wait until its equations are typeset."""
        self.page.goto((self.site / f"{name}.html").as_uri())
        self.page.wait_for_load_state("load")
        self.page.evaluate(
            """async () => {
                if (window.MathJax?.startup) await window.MathJax.startup.promise;
                await document.fonts.ready;
            }"""
        )
        return self.page
