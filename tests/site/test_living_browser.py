"""The model that lives in a page, in a real browser: it says what PyTorch says."""

import numpy as np
import pytest
import torch
from browsing import DESKTOP, Opened

from posenc_book.explorables import bundle, living, living_model

pytestmark = pytest.mark.browser

PAGE = "book/living-model"
IDS = living.numbers(living_model.PASSAGE).tolist()
SETTINGS = [
    *((name, 1, 0) for name in living_model.POSITIONS),
    *((name, 3.5, 120) for name in living_model.POSITIONS),
    ("sinusoid", 1, 500),
    ("rope", 8, 500),
]  # fmt: skip


@pytest.fixture(scope="module")
def engine(browser):
    """A page that has the engine with all weights, and nothing else."""
    page = browser.new_page()
    page.add_script_tag(content=bundle.script("living-engine.js"))
    page.evaluate("() => { window.engine = posencLivingEngine(); posencLiving = engine.hold; }")
    for name in living_model.POSITIONS:
        page.add_script_tag(content=bundle.script(f"living-{name}.js"))
    yield page
    page.close()


@pytest.mark.parametrize(("name", "slower", "start"), SETTINGS)
def test_it_says_what_pytorch_says(engine, name, slower, start):
    given = engine.evaluate(
        "(all) => engine.scores(...all).map((row) => [...row])", [name, IDS, slower, start]
    )
    with torch.no_grad():
        expected = living.load(name, slower, start)(torch.tensor([IDS]))[0]
    np.testing.assert_allclose(given, expected, atol=1e-4)


def test_what_is_kept_gives_what_a_fresh_reading_does(engine):
    read = "(all) => { const { nats } = engine.read(...all); return nats; }"
    whole = engine.evaluate(read, ["message", IDS, 2, 40])
    engine.evaluate(read, ["message", [*IDS[:100], 3, 4], 2, 40])
    assert engine.evaluate(read, ["message", IDS, 2, 40]) == whole
    model = living.load("message", 2, 40)
    np.testing.assert_allclose(whole, living.surprises(model, living_model.PASSAGE), atol=1e-4)


def test_a_head_looks_where_pytorch_looks(engine):
    model, seen = living.load("rope"), []
    for layer in model.layers:
        weights = layer.attention.weights
        layer.attention.weights = lambda *x, own=weights: seen.append(own(*x)) or seen[-1]
    with torch.no_grad():
        model(torch.tensor([IDS]))
    engine.evaluate("(all) => engine.read(...all)", ["rope", IDS, 1, 0])
    for layer, head, t in ((0, 0, 10), (0, 3, 255), (1, 2, 100)):
        given = engine.evaluate("(all) => engine.look(...all)", [t, layer, head])
        np.testing.assert_allclose(given, seen[layer][0, head, t, : t + 1], atol=1e-4)


def test_the_same_seed_writes_the_same_letters(engine):
    write = "(all) => engine.write(...all)"
    first, again, other = (
        engine.evaluate(write, ["rope", IDS[:60], 1, 0, 40, seed]) for seed in (1, 1, 2)
    )
    assert first == again != other
    assert len(first) == 40
    model = living.load("rope")
    cold = engine.evaluate(write, ["rope", IDS[:20], 1, 0, 9, 1, 1e-3])
    assert cold == model.write(torch.tensor([IDS[:20]]), 9, temperature=1e-6)[0, 20:].tolist()


def test_more_than_it_has_room_for_is_refused(engine):
    said = engine.evaluate(
        "(ids) => { try { engine.scores('rope', ids, 1, 0); } catch (e) { return e.message; } }",
        [1] * 321,
    )
    assert said == "ids must be at most 320, got 321"


def read(page) -> str:
    """Return what the figure says, once it has read what its controls ask for."""
    page.wait_for_timeout(100)
    page.locator(".explorable[data-name=living-model]:not([aria-busy])").wait_for()
    return page.locator(".explorable[data-name=living-model] .explorable-summary").inner_text()


def test_it_says_what_python_says_and_loads_only_what_is_asked_for(opened):
    page, figure = opened.goto(PAGE), living_model.LivingModel()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    assert read(page) == figure.summary(figure.first())
    assert asked == []
    states = [
        {"positions": "rope", "slower": "4"},
        {"positions": "sinusoid", "start": "500"},
        {"positions": "message", "slower": "2", "length": "128"},
        {"positions": "alibi", "text": "Who helped Bob?\nAlice did, 3 times."},
    ]
    for state in states:
        for key, value in (figure.first() | state).items():
            page.locator(f'[data-key="{key}"]').evaluate(
                "(input, value) => { input.value = value;"
                " input.dispatchEvent(new Event('input', { bubbles: true })); }",
                str(value),
            )
        assert read(page) == figure.summary(figure.first() | state), state
    scripts = [name for name in asked if name.startswith("living")]
    assert scripts == ["living-engine.js", *(f"living-{s['positions']}.js" for s in states)]
    assert len(page.workers) == 1
    assert opened.refused == opened.messages == []


def test_it_works_by_keyboard(opened):
    page = opened.goto(PAGE)
    root = page.locator(".explorable[data-name=living-model]")
    first = read(page)
    root.get_by_label("Clocks slowed by").focus()
    page.keyboard.press("ArrowRight")
    assert read(page).startswith("RoPE, clocks slowed by 1.5: letters")
    root.get_by_role("button", name="Write 40 letters").press("Enter")
    assert " It writes: “" in read(page)
    root.get_by_role("button", name="Reset").press("Enter")
    assert read(page) == first
    root.locator("summary").press("Enter")
    root.get_by_label("Look from letter").focus()
    page.keyboard.press("End")
    assert "Letter 256, “n”, hears most of " in read(page)
    root.get_by_label("Your own text").fill("to be or not to be, that is the q")
    said = read(page)
    assert said.startswith("RoPE: letters 1–33: ")
    assert "“u” (" in said
    nats = living.surprises(living.load("rope"), "to be or not to be, that is the q")
    assert root.locator("[data-part=rows]").inner_text() == living_model.rows(nats)


def test_dragging_over_the_letters_looks_into_a_head(opened):
    page = opened.goto(PAGE)
    box = page.locator(".explorable[data-name=living-model] svg").bounding_box()
    scale = box["width"] / 360
    page.mouse.move(box["x"] + 20 * scale, box["y"] + 40 * scale)
    page.mouse.down()
    page.mouse.move(box["x"] + 64 * scale, box["y"] + 40 * scale)  # the sixth of the first row
    assert "Letter 6, “d”, hears most of " in read(page)
    page.mouse.up()


def test_a_browser_without_workers_computes_in_the_page(browser, site):
    window = Opened(browser, site, size=DESKTOP, painted=False)
    window.context.add_init_script("delete window.Worker")
    page = window.goto(PAGE)
    page.get_by_role("button", name="Slow the clocks four times").click()
    state = living_model.LivingModel().first() | {"slower": 4}
    assert read(page) == living_model.LivingModel().summary(state)
    assert page.workers == []
    window.context.close()


def test_what_cannot_be_loaded_is_said(opened):
    page = opened.goto(PAGE)
    page.evaluate(
        """() => {
          document.head.append = (script) => {
            script.src += ".gone";
            document.head.appendChild(script);
          };
        }"""
    )
    page.get_by_role("button", name="Slow the clocks four times").click()
    assert read(page).startswith("A part of this page could not be loaded.")
    page.evaluate("delete document.head.append")
    page.get_by_role("button", name="Write 40 letters").click()
    assert "It writes" in read(page)


def test_without_scripts_it_is_a_still_with_its_numbers(scriptless, site):
    scriptless.goto((site / f"{PAGE}.html").as_uri())
    figure = living_model.LivingModel()
    shown = scriptless.locator(".explorable[data-name=living-model] .explorable-summary")
    assert shown.inner_text() == figure.summary(figure.first())
    assert not scriptless.get_by_label("Clocks slowed by").is_visible()
