"""Explorable figures: milliseconds of a redraw, frames a second, and weight.

Run `python benchmarks/explorables.py` (`--quick` for fewer redraws) on an idle machine. Chromium
draws without a screen on two cores. A redraw is what a moved control costs until the layout stands:
the figure's script, its summary, style and layout. Frames are counted while every frame redraws
with other settings, painting included.
"""

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles

from aim_limits import FIGURE_LIMIT, FRAME, RUNTIME_LIMIT
from playwright.sync_api import Browser, sync_playwright
from timing import markdown

from posenc_book.explorables import bundle
from posenc_book.guide import explorables

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "site"), str(ROOT / "tools")]

from browsing import FLAGS, chromium  # noqa: E402

SIZE = {"width": 1280, "height": 900}

SET_UP = """() => {
  const root = document.querySelector("figure.explorable");
  const { data } = JSON.parse(root.querySelector("script").textContent);
  const parts = {};
  for (const part of root.querySelectorAll("[data-part]")) parts[part.dataset.part] = part;
  const set = (part, said) => {
    for (const [name, value] of Object.entries(said)) part.setAttribute(name, value);
  };
  const inputs = [...root.querySelectorAll("[data-key]")];
  const any = (n) => Math.floor(Math.random() * n);
  const drawn = (input) => {
    if (input.tagName === "SELECT") return input.options[any(input.options.length)].value;
    if (input.parentElement.dataset.words) {
      return [...input.value].sort(() => Math.random() - 0.5).join("");
    }
    if (input.type === "hidden") return any(2) ? "on" : "off";
    const [low, high, step] = [input.min, input.max, input.step].map(Number);
    return low + step * any(Math.floor((high - low) / step) + 1);
  };
  const view = { root, set, part: (name) => parts[name] };
  const figure = posencExplorables.known[root.dataset.name];
  const summary = root.querySelector(".explorable-summary");
  window.redrawOnce = () => {
    for (const input of inputs) input.value = drawn(input);
    const state = Object.fromEntries(inputs.map((input) => [
      input.dataset.key, input.type === "range" ? Number(input.value) : input.value]));
    const start = performance.now();
    summary.textContent = figure.redraw(view, state, data);
    root.getBoundingClientRect();
    return performance.now() - start;
  };
}"""

REDRAWS = "(n) => Array.from({ length: n }, () => redrawOnce())"

FRAMES = """(n) => new Promise((done) => {
  let [count, start] = [0, 0];
  const next = (now) => {
    if (!start) start = now;
    if (count++ === n) return done((1000 * n) / (now - start));
    redrawOnce();
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})"""


def page_of(name: str) -> str:
    """Return a page with one figure."""
    scripts = "".join(
        f"<script>{bundle.script(one)}</script>" for one in ("explorables.js", f"{name}.js")
    )
    style = f"<style>{bundle.script('explorables.css')}</style>"
    html = explorables.make(name).html()
    return f"<!doctype html><meta charset='utf-8'>{style}<body>{html}{scripts}</body>"


def measure(browser: Browser, folder: Path, name: str, n: int) -> tuple[list[float], float]:
    """Return the milliseconds of n redraws after as many to warm up, and frames a second."""
    path = folder / f"{name}.html"
    path.write_text(page_of(name), encoding="utf-8")
    page = browser.new_page(viewport=SIZE)
    page.goto(path.as_uri())
    page.evaluate(SET_UP)
    page.evaluate(REDRAWS, n)
    times = page.evaluate(REDRAWS, n)
    rate = page.evaluate(FRAMES, n // 4)
    page.close()
    return times, rate


def row(name: str, times: list[float], rate: float) -> list[str]:
    """Return a figure's line of the table."""
    slow = quantiles(times, n=20)[-1]
    weight = len(explorables.make(name).html().encode()) + len(bundle.script(f"{name}.js").encode())
    holds = "yes" if slow <= FRAME and weight <= FIGURE_LIMIT else "no"
    return [
        name,
        f"{median(times):.2f}",
        f"{slow:.2f}",
        f"{rate:.0f}",
        f"{weight / 1000:.1f}",
        holds,
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer redraws")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these figures")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    n = 200 if options.quick else 1000
    rows = []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        for name in options.only or explorables.names():
            rows.append(row(name, *measure(browser, Path(folder), name, n)))
        version = browser.version
        browser.close()
    runtime = len(bundle.script("explorables.js").encode()) / 1000
    print("## Explorable figures\n")
    print(f"{platform.machine()}, two cores, Chromium {version} without a screen, {n} redraws.")
    print(f"A frame has {FRAME:.1f} ms. The runtime weighs {runtime:.1f} KB, where")
    print(f"{RUNTIME_LIMIT / 1000:g} are allowed, a figure beyond it {FIGURE_LIMIT / 1000:g}.\n")
    head = ["figure", "ms, median", "ms, 95 %", "frames a second", "KB", "within limits"]
    print(markdown(head, rows))


if __name__ == "__main__":
    main()
