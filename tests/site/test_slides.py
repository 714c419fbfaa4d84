"""The decks for teaching: each slide fits its box in a real browser, and nothing in them needs the
network. What stands in the decks is tested in `test_decks.py`."""

import os

import pytest
from browsing import PATIENCE
from bs4 import BeautifulSoup
from sitefiles import ROOT, without

import decks

FOLDER = ROOT / "_build" / "slides"
SIZE = {"width": 1280, "height": 720}
SMALLEST = 20  # pixels of type on 1280, in tables and captions
# What leaves the box of its slide, on every slide, and the type that is too small.
OUTSIDE = """(smallest) => {
  const found = [];
  document.querySelectorAll(".slides > section").forEach((slide, place) => {
    slide.style.setProperty("display", "flex", "important");
    const box = slide.getBoundingClientRect(), body = slide.querySelector(".body");
    const scale = box.width / 1280;
    const say = (what, element) => found.push(
      `${place + 1} ${what}: ${element.outerHTML.replace(/\\s+/g, " ").slice(0, 90)}`);
    if (body.scrollHeight > body.clientHeight + 1) say("too long", body);
    if (body.scrollWidth > body.clientWidth + 1) say("too wide", body);
    for (const one of slide.querySelectorAll(":not(aside, aside *, script, option, svg *)")) {
      if (one.closest("mjx-assistive-mml")) continue;
      if (getComputedStyle(one).visibility === "hidden") continue;
      const { width, height, left, right, top, bottom } = one.getBoundingClientRect();
      if (!width || !height) continue;
      if (left < box.left - 1 || right > box.right + 1 || top < box.top - 1 ||
          bottom > box.bottom + 1) { say("outside", one); break; }
      const words = [...one.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
      if (words && !one.closest("sup, sub, mjx-container") &&
          parseFloat(getComputedStyle(one).fontSize) < smallest) { say("small", one); break; }
    }
    slide.style.removeProperty("display");
  });
  return found;
}"""


def made() -> list[str]:
    """Return the decks that are there; `make test` makes them and requires them."""
    found = sorted(path.stem for path in FOLDER.glob("*.html") if path.stem != "index")
    if (left_out := FOLDER / "left-out.txt").is_file():
        without(left_out.read_text(encoding="utf-8"))
    if not found:
        message = "no slides: run `make slides` first"
        if os.environ.get("POSENC_REQUIRE_SITE") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return found


@pytest.fixture
def deck(browser, site):  # noqa: ARG001 - fails where a site is required and missing
    """Return a function that opens a chapter's slides with the network down."""
    context = browser.new_context(viewport=SIZE)
    context.set_default_timeout(PATIENCE)
    asked, said = [], []
    context.on("request", lambda request: asked.append(request.url))

    def opened(name):
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto((FOLDER / f"{name}.html").as_uri())
        page.wait_for_selector("html.ready", state="attached")
        page.asked, page.said = asked, said
        return page

    yield opened
    context.close()


@pytest.mark.slow
@pytest.mark.browser
def test_every_slide_for_teaching_fits_and_can_be_read_from_the_last_row(deck):
    wrong = {}
    for name in made():
        page = deck(name)
        if found := page.evaluate(OUTSIDE, SMALLEST):
            wrong[name] = found
        assert page.said == []
        page.close()
    assert wrong == {}


def test_every_deck_is_made_with_its_pictures(site):  # noqa: ARG001
    assert made() == [f"deck-{name}" for name in decks.names()]
    for name in made():
        soup = BeautifulSoup((FOLDER / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        assert soup.title.string.endswith(" – deck for teaching")
        assert all(one.select_one("aside.notes") for one in soup.select(".slides > section"))
        pictures = [picture["src"] for picture in soup.select(".slides img")]
        assert pictures
        assert all((FOLDER / picture).is_file() for picture in pictures)


@pytest.mark.browser
def test_slides_take_everything_from_their_own_folder(deck):
    page = deck(made()[0])
    home = FOLDER.as_uri()
    assert [url for url in page.asked if not url.startswith((home, "data:", "blob:"))] == []


@pytest.mark.browser
def test_a_figure_answers_on_its_slide(deck):
    page = deck("deck-rotations")
    live = page.locator("section.live")
    assert live.count() > 0
    place = page.evaluate(
        "[...document.querySelectorAll('.slides > section')].findIndex("
        "(slide) => slide.matches('.live'))"
    )
    page.evaluate("(place) => Reveal.slide(place)", place)
    slider = live.first.locator("input[type=range]").first
    live.first.locator("svg").evaluate("(svg) => { window.before = svg.innerHTML; }")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('section.live svg').innerHTML !== window.before")
    assert page.evaluate("Reveal.getIndices().h") == place  # the key moved the slider, not the talk


@pytest.mark.browser
def test_the_speakers_view_opens_and_shows_the_notes(deck):
    page = deck("deck-rotations")
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    notes = opened.value.locator(".speaker-controls-notes")
    notes.get_by_text("The whole deck takes about").wait_for()
    page.evaluate("Reveal.slide(1)")
    said = page.locator("section.present aside.notes p").nth(1).text_content().split(".")[0]
    notes.get_by_text(said).wait_for()
