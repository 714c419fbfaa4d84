"""Explorable figures in a real browser: their numbers are the library's, all controls work."""

import math

import numpy as np
import pytest
from browsing import PHONE
from playwright.sync_api import Page

from posenc import frequencies, tables
from posenc.teaching import explorables

pytestmark = pytest.mark.browser

PAGES = {"clock-hands": "book/intro"}
"""Where a figure is tried; it may stand on more pages."""


def some_hands(rng):
    """Yield arguments of `hand` and what the library's table holds there."""
    for _ in range(50):
        position, base = int(rng.integers(0, 100)), float(rng.choice([100, 1000, 10_000]))
        d_model = int(2 * rng.integers(1, 33))
        pair = int(rng.integers(0, d_model // 2))
        row = tables.sinusoidal(position + 1, d_model, base)[position]
        yield [position, pair, d_model, base], row[2 * pair : 2 * pair + 2]


def some_frequencies(rng):
    """Yield arguments of `frequency` and the library's."""
    for _ in range(50):
        d_model, base = int(2 * rng.integers(1, 65)), float(rng.uniform(2, 1e6))
        pair = int(rng.integers(0, d_model // 2))
        yield [pair, d_model, base], frequencies.geometric(d_model, base)[pair]


REFERENCES = {
    ("clock-hands", "hand"): some_hands,
    ("clock-hands", "frequency"): some_frequencies,
}

every_figure = pytest.mark.parametrize("name", explorables.names())


def some_state(figure, rng):
    """Return a random state of a figure."""
    state = {}
    for control in figure.controls:
        if hasattr(control, "options"):
            state[control.key] = str(rng.choice(list(control.options)))
        else:
            n = math.floor((control.maximum - control.minimum) / control.step)
            value = control.minimum + control.step * int(rng.integers(0, n + 1))
            state[control.key] = round(value, 9)
    return state


def enter(page: Page, name: str, state: dict) -> str:
    """Set a figure's controls as a reader would leave them, and return its summary."""
    page.evaluate(
        """([name, state]) => {
          const root = document.querySelector(`.explorable[data-name="${name}"]`);
          for (const [key, value] of Object.entries(state)) {
            const input = root.querySelector(`[data-key="${key}"]`);
            input.value = value;
            input.dispatchEvent(new Event("input", { bubbles: true }));
          }
          return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        }""",
        [name, state],
    )
    return page.locator(f'.explorable[data-name="{name}"] .explorable-summary').inner_text()


@pytest.mark.parametrize(("name", "function"), REFERENCES)
def test_its_mathematics_is_the_librarys(opened, name, function):
    page = opened.goto(PAGES[name])
    for arguments, expected in REFERENCES[name, function](np.random.default_rng(0)):
        call = "([name, f, a]) => posencExplorables.known[name].functions[f](...a)"
        found = page.evaluate(call, [name, function, arguments])
        np.testing.assert_allclose(found, expected, atol=1e-6)


@every_figure
def test_it_says_what_python_says(opened, name):
    page, figure = opened.goto(PAGES[name]), explorables.make(name)
    rng = np.random.default_rng(1)
    for state in [figure.first(), *(some_state(figure, rng) for _ in range(25))]:
        assert enter(page, name, state) == figure.summary(state), state


@every_figure
def test_every_control_works_by_keyboard_and_reset_undoes_it(opened, name):
    page, figure = opened.goto(PAGES[name]), explorables.make(name)
    root = page.locator(f'.explorable[data-name="{name}"]')
    drawing = root.locator("svg")
    first = drawing.inner_html()
    for control in figure.controls:
        page.get_by_label(control.label, exact=True).focus()
        page.keyboard.press("ArrowRight" if not hasattr(control, "options") else "ArrowDown")
        page.wait_for_timeout(60)
        assert drawing.inner_html() != first, control.key
        root.get_by_role("button", name="Reset").press("Enter")
        page.wait_for_timeout(60)
        assert root.locator(".explorable-summary").inner_text() == figure.summary(figure.first())


@every_figure
def test_an_address_leads_to_a_setting(opened, name):
    page, figure = opened.goto(PAGES[name]), explorables.make(name)
    state = some_state(figure, np.random.default_rng(2))
    said = "&".join(f"{key}={value}" for key, value in state.items())
    page.goto(f"{page.url.split('#')[0]}#explorable-{name}?{said}")
    page.wait_for_timeout(100)
    shown = page.locator(f'.explorable[data-name="{name}"] .explorable-summary').inner_text()
    assert shown == figure.summary(state)


@every_figure
def test_nothing_moves_when_it_starts_or_redraws(opened, name):
    page, figure = opened.goto(PAGES[name]), explorables.make(name)
    for size in (None, PHONE):
        if size:
            page.set_viewport_size(size)
        root = page.locator(f'.explorable[data-name="{name}"]')
        drawing = root.locator("svg").bounding_box()
        for seed in range(5):
            enter(page, name, some_state(figure, np.random.default_rng(seed)))
            after = root.locator("svg").bounding_box()
            assert (after["width"], after["height"]) == (drawing["width"], drawing["height"])
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
