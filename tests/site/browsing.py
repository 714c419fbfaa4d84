"""A page of the built site in a real browser, with the network down."""

from pathlib import Path

from playwright.sync_api import Browser, Page, Request

from chromium import FLAGS as FLAGS  # who opens pages looks for both here
from chromium import chromium as chromium

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 800}
SMALLEST = {"width": 320, "height": 640}
PATIENCE = 180_000  # milliseconds for what takes one or two on an idle machine
# Leaves a page laid out, and what it holds visible to whoever asks, but paints nothing.
CLEAR = """{
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("html { opacity: 0 }");
  document.adoptedStyleSheets.push(sheet);
}"""


class Opened:
    """A page of the built site, opened from its file, and what it did on the way.

    Where no colour is asked for, `painted=False` saves a seventh of the work.
    """

    def __init__(
        self,
        browser: Browser,
        site: Path,
        *,
        size: dict,
        theme: str = "light",
        painted: bool = True,
    ) -> None:
        self.site, self.size = site, size
        self.refused: list[str] = []
        self.messages: list[str] = []
        self.context = browser.new_context(viewport=size, color_scheme=theme, offline=True)
        self.context.set_default_timeout(PATIENCE)
        if not painted:
            self.context.add_init_script(CLEAR)
        self.context.on("request", self._note)
        self.page: Page = self.context.new_page()
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("requestfailed", lambda request: self.messages.append(request.url))

    def _note(self, request: Request) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.refused.append(request.url)

    def _listen(self, message) -> None:
        if message.type in ("error", "warning"):
            self.messages.append(message.text)

    def begin(self) -> None:
        """Leave the page and forget what it did; the window is as large as before."""
        self.page.goto("about:blank")
        self.page.set_viewport_size(self.size)
        self.refused.clear()
        self.messages.clear()

    def goto(self, name: str, asked: str = "") -> Page:
        """Open a page, asked for something, and wait until its equations are typeset.

        It goes at once to what has the focus: to glide there takes as long as all that is asked.
        """
        self.page.goto((self.site / f"{name}.html").as_uri() + asked)
        self.page.evaluate(
            """async () => {
                document.documentElement.style.scrollBehavior = 'auto';
                if (window.MathJax?.startup) await window.MathJax.startup.promise;
                await document.fonts.ready;
            }"""
        )
        return self.page


def paint(page: Page) -> None:
    page.evaluate("document.adoptedStyleSheets = []")


def darken(page: Page) -> None:
    switch(page, "dark")


def switch(page: Page, theme: str) -> None:
    """Switch the theme by the page's own button, and end what fades from one to another."""
    for _ in range(3):
        if page.locator("html").get_attribute("data-theme") == theme:
            break
        page.locator("button.theme-switch-button").first.dispatch_event("click")
    assert page.locator("html").get_attribute("data-theme") == theme
    page.evaluate(
        """() => document.getAnimations().forEach((one) => {
            if (one.effect.getComputedTiming().endTime < Infinity) one.finish();
        })"""
    )
