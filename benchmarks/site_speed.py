"""The built site in Chromium: bytes of a page, its first drawing, a key of the search, a letter.

Run `python benchmarks/site_speed.py` on an idle machine, after `make site`. Bytes are what a server
would send that packs text by gzip; the search is also asked of an index of twice the text; a letter
is one more for the model that lives in a page, behind 255.
"""

import functools
import gzip
import http.server
import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlsplit

from aim_limits import DRAWN, KEY, LETTER, LOADED
from playwright.sync_api import Browser, sync_playwright
from timing import markdown

from posenc_book.explorables import bundle, living, living_model

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "_build" / "html"
sys.path[:0] = [str(ROOT / "tests" / "site"), str(ROOT / "tools")]

from browsing import DESKTOP, FLAGS, chromium  # noqa: E402

import site_search  # noqa: E402

TEXT = (".html", ".js", ".css", ".svg", ".json", ".txt", ".xml")
TIMES = 5
PACKED = re.compile(r"([A-Z]*[a-z])(\d?)")
KEYS = """(questions) => {
  const times = [];
  for (const question of questions) {
    for (let n = 1; n <= question.length; n++) {
      const start = performance.now();
      posencSearch.find(question.slice(0, n));
      times.push(performance.now() - start);
    }
  }
  return times;
}"""
LETTERS = """([name, ids]) => Array.from({ length: 30 }, (_, n) => {
  const read = (given) => engine.read(name, given, 1, 0);
  read([...ids.slice(0, 254), n]);
  const start = performance.now();
  read([...ids.slice(0, 254), n, ids[255]]);
  return performance.now() - start;
})"""


def main() -> None:
    with opened() as browser:
        rows = [
            [page, f"{size / 1000:,.0f} kB", f"{drawn:.0f} ms"]
            for page, (size, drawn) in loads(browser).items()
        ]
        print(markdown(["page", "loads", "first drawing"], rows), end="\n\n")
        keys = {n: f"{key(browser, n):.1f} ms" for n in (1, 2)}
        print(
            markdown(["a key of the search", "95 of 100"], [[f"{n} ×", k] for n, k in keys.items()])
        )
        print(f"\na letter: {letter(browser):.1f} ms")


@contextmanager
def opened() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


def loads(browser: Browser) -> dict[str, tuple[int, float]]:
    """Return page -> bytes on the wire and milliseconds until its first drawing."""
    handler = functools.partial(_Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/book/"
        found = {page: _load(browser, f"{address}{page}.html") for page in LOADED}
        server.shutdown()
    return found


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def _load(browser: Browser, address: str) -> tuple[int, float]:
    sizes, drawn = [], []
    for _ in range(TIMES):
        context = browser.new_context(viewport=DESKTOP)  # nothing is kept of the last time
        page, asked = context.new_page(), set()
        page.on("response", lambda response, asked=asked: asked.add(urlsplit(response.url).path))
        page.goto(address, wait_until="networkidle")
        sizes.append(sum(_size(SITE / path.lstrip("/")) for path in asked))
        drawn.append(
            page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        )
        context.close()
    return max(sizes), median(drawn)


@functools.cache
def _size(path: Path) -> int:
    content = path.read_bytes() if path.is_file() else b""
    return len(gzip.compress(content, 6)) if path.suffix in TEXT else len(content)


def key(browser: Browser, times: int) -> float:
    """Return the milliseconds of a key, 95 of 100, on an index of as many times the text."""
    told = (SITE / "_static" / site_search.INDEX).read_text(encoding="utf-8")
    index = json.loads(told[told.index("(") + 1 : told.rindex(")")])
    page = browser.new_page()
    page.add_script_tag(path=str(ROOT / "book" / "_assets" / "search.js"))
    page.evaluate("(index) => posencSearch.load(index)", doubled(index) if times == 2 else index)
    questions = [phrase for phrases in index["asked"].values() for phrase in phrases][:100]
    page.evaluate(KEYS, questions[:5])  # the engine compiles
    found = page.evaluate(KEYS, questions)
    page.close()
    return quantiles(found, n=20)[-1]


def doubled(index: dict) -> dict:
    """Return an index in which every section stands a second time, behind all others."""
    n = sum(map(len, index["sections"]))
    words = index["words"].split(" ")
    twice = [one if i % 2 == 0 else _again(one, n) for i, one in enumerate(words)]
    again = [page | {"path": f"{page['path']}-again"} for page in index["pages"]]
    asked = {str(int(where) + n): told for where, told in index["asked"].items()}
    return index | {
        "pages": index["pages"] + again,
        "sections": index["sections"] * 2,
        "asked": index["asked"] | asked,
        "words": " ".join(twice),
    }


def _again(packed: str, n: int) -> str:
    """Return a word's sections with the same ones `n` further on, packed as `site_search` does."""
    steps = [(_number(step), times) for step, times in PACKED.findall(packed)]
    first, last = steps[0][0], sum(step for step, _ in steps)
    _, *rest = PACKED.finditer(packed)
    tail = packed[rest[0].start() :] if rest else ""
    return f"{packed}{site_search._short(n + first - last)}{steps[0][1]}{tail}"


def _number(step: str) -> int:
    return functools.reduce(lambda high, letter: 26 * high + ord(letter) - 97, step.lower(), 0)


def letter(browser: Browser) -> float:
    """Return the milliseconds of the 256th letter, 95 of 100, of the slowest living model."""
    page = browser.new_page()
    page.add_script_tag(content=bundle.script("living-engine.js"))
    page.evaluate("() => { window.engine = posencLivingEngine(); posencLiving = engine.hold; }")
    ids = living.numbers(living_model.PASSAGE).tolist()
    slowest = 0.0
    for name in living_model.POSITIONS:
        page.add_script_tag(content=bundle.script(f"living-{name}.js"))
        page.evaluate(LETTERS, [name, ids])  # the engine compiles
        slowest = max(slowest, quantiles(page.evaluate(LETTERS, [name, ids]), n=20)[-1])
    page.close()
    return slowest


def measured() -> dict[str, float]:
    """Return each in units of its aim."""
    with opened() as browser:
        found = loads(browser)
        return {
            "loaded": max(size / LOADED[page] for page, (size, _) in found.items()),
            "drawn": max(drawn for _, drawn in found.values()) / DRAWN,
            "key": key(browser, 2) / KEY,
            "letter": letter(browser) / LETTER,
        }


if __name__ == "__main__":
    main()
