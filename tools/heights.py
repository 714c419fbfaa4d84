"""Print how tall each chapter's page of the built site is at 1280 px wide: a report, no limit.

Solutions and folded code are closed, as a reader finds them. Needs the site (`make book`) and
Chromium.
"""

import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "site"))

from browsing import DESKTOP, FLAGS, Opened, chromium  # noqa: E402


def height(page: Page) -> int:
    """Return the height of an opened page, once its pictures are there."""
    return page.evaluate(
        """async () => {
            const all = [...document.querySelectorAll('article img')];
            all.forEach(i => { i.loading = 'eager'; });
            await Promise.all(all.map(i => i.decode().catch(() => {})));
            return document.documentElement.scrollHeight;
        }"""
    )


def main() -> None:
    """Print one line a chapter."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        window = Opened(browser, ROOT / "_build" / "html", size=DESKTOP)
        for path in sorted((ROOT / "book").glob("*.ipynb")):
            print(f"{path.stem:27}{height(window.goto(f'book/{path.stem}')):7,} px")


if __name__ == "__main__":
    main()
