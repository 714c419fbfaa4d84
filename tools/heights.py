"""Print how tall each chapter's page of the built site is at 1280 px wide, beside its budget.

Solutions and folded code are closed, as a reader finds them. `--check` fails where a page is taller
than its budget. Needs the site (`make book`) and Chromium.
"""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "site"))

from browsing import DESKTOP, FLAGS, Opened, chromium  # noqa: E402

import shape  # noqa: E402

MOST = 15_000  # pictures as large as they were drawn, so not to be saved on
BUDGET = {
    "choosing": 6_000,  # a guide: the reader has ten minutes
}
# Pages that are looked up, not read through, are as long as what they list.
FREE = {**shape.UNTIMED, "datasets": "reference: a table of all sets"}


def chapters() -> list[str]:
    """Return the names of the chapters that have a budget."""
    return sorted(p.stem for p in (ROOT / "book").glob("*.ipynb") if p.stem not in FREE)


def budget(name: str) -> int:
    """Return the height in pixels that a chapter may have."""
    return BUDGET.get(name, MOST)


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


def measure(site: Path, names: Iterable[str]) -> dict[str, int]:
    """Return the heights of chapters of a built site."""
    found = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        for name in names:
            window = Opened(browser, site, size=DESKTOP)
            found[name] = height(window.goto(f"book/{name}"))
            window.context.close()
        browser.close()
    return found


def main() -> int:
    """Print the heights; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail where a page is too tall")
    options = parser.parse_args()
    found = measure(ROOT / "_build" / "html", chapters())
    over = {name: tall - budget(name) for name, tall in found.items() if tall > budget(name)}
    for name, tall in found.items():
        print(f"{name:27}{tall:7,} px{f'  over by {over[name]:,}' if name in over else ''}")
    return int(options.check and bool(over))


if __name__ == "__main__":
    sys.exit(main())
