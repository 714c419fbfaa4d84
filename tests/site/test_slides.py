"""The slides, those for reading and those for teaching: each fits its box in a real browser, and
nothing in them needs the network. What stands in the decks is tested in `test_decks.py`."""

import copy
import os
import re

import pytest
from browsing import PATIENCE
from bs4 import BeautifulSoup, CData, NavigableString, Tag
from fetching import without
from sitefiles import ROOT

import built_site
import decks
import sentences
import slide_rules

FOLDER = ROOT / "_build" / "slides"
SIZE = {"width": 1280, "height": 720}
SMALLEST, SMALLEST_TAUGHT = 16, 20  # pixels of type on 1280, in tables and captions
# What leaves the box of its slide, on every slide, and the type that is too small.
OUTSIDE = """(smallest) => {
  const found = [];
  document.querySelectorAll(".slides > section").forEach((slide, place) => {
    slide.style.setProperty("display", "flex", "important");
    const box = slide.getBoundingClientRect(), body = slide.querySelector(".body");
    const scale = box.width / 1280;
    const say = (what, element) => found.push(
      `${place + 1} ${what}: ${element.outerHTML.replace(/\\s+/g, " ").slice(0, 90)}`);
    for (const answer of body.querySelectorAll("input[type=radio]")) {
      answer.checked = true;  // says why it is right or wrong, which takes room
      if (body.scrollHeight > body.clientHeight + 1) say("too long when answered", body);
      answer.checked = false;
    }
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
    """Return the reading slides that are there; `make test` makes them and requires them."""
    return [name for name in _there() if not name.startswith("deck-")]


def made_decks() -> list[str]:
    """Return the decks for teaching that are there."""
    return [name for name in _there() if name.startswith("deck-")]


def _there() -> list[str]:
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
def test_every_slide_fits_and_its_type_is_large_enough(deck):
    wrong = {}
    for name in made():
        page = deck(name)
        if found := page.evaluate(OUTSIDE, SMALLEST):
            wrong[name] = found
        assert page.said == []
        page.close()
    assert wrong == {}


@pytest.mark.slow
@pytest.mark.browser
def test_every_slide_for_teaching_fits_and_can_be_read_from_the_last_row(deck):
    wrong = {}
    for name in made_decks():
        page = deck(name)
        if found := page.evaluate(OUTSIDE, SMALLEST_TAUGHT):
            wrong[name] = found
        assert page.said == []
        page.close()
    assert wrong == {}


def test_every_deck_is_made_with_its_pictures(site):  # noqa: ARG001
    assert made_decks() == [f"deck-{name}" for name in decks.names()]
    for name in made_decks():
        soup = BeautifulSoup((FOLDER / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        assert soup.title.string.endswith(" – deck for teaching")
        assert all(one.select_one("aside.notes") for one in soup.select(".slides > section"))
        pictures = [picture["src"] for picture in soup.select(".slides img")]
        assert pictures
        assert all((FOLDER / picture).is_file() for picture in pictures)


@pytest.mark.browser
def test_slides_take_everything_from_their_own_folder(deck):
    page = deck(made()[0])
    deck(made_decks()[0])
    home = FOLDER.as_uri()
    assert [url for url in page.asked if not url.startswith((home, "data:", "blob:"))] == []


@pytest.mark.browser
def test_a_figure_answers_on_its_slide(deck):
    page = deck("rotations")
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
    page = deck("rotations")
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    notes = opened.value.locator(".speaker-controls-notes")
    notes.get_by_text("Time: about").wait_for()
    place = page.evaluate(
        "[...document.querySelectorAll('.slides > section')].findIndex("
        "(slide) => slide.matches('.question'))"
    )
    page.evaluate("(place) => Reveal.slide(place)", place)
    answer = page.locator("section.present aside.notes").text_content().split(".")[0]
    notes.get_by_text(answer).wait_for()


def test_a_slide_of_prose_holds_sentences_and_nothing_else(site):  # noqa: ARG001
    for name in made():
        soup = BeautifulSoup((FOLDER / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        for slide in soup.select("section.prose"):
            said = slide.select(".body li") or slide.select(".body p")
            assert said, name
            assert all(one.get_text(strip=True) for one in said), name
            assert not slide.select(".body :is(li li, .admonition-title)"), name


WITHOUT_WORDS = re.compile(r"[:(,]\s*[.,;)]|\S \s*[.,;](?=\s|$)")


def test_slides_leave_out_nothing_that_a_sentence_needs(site):  # noqa: ARG001
    """No paragraph loses all its words, and none ends after a colon or a space."""
    import slides

    for page in slides.chapters():
        chapter = copy.copy(built_site.article(page))
        blocks = [b for b in chapter.find_all(["p", "li", "figcaption"]) if b.get_text(strip=True)]
        before = [len(WITHOUT_WORDS.findall(_told(block))) for block in blocks]
        slide_rules._prepare(chapter)
        for block, some in zip(blocks, before, strict=True):
            if chapter in block.parents:
                told = _told(block)
                assert told.strip(), f"{page}: a paragraph has no words left"
                assert len(WITHOUT_WORDS.findall(told)) <= some, f"{page}: {told}"


def _told(block):
    """Return what a reader sees of a paragraph: a mark's card is no part of it."""
    return "".join(_seen(block))


def _seen(element):
    for child in element.children:
        if not isinstance(child, Tag):
            yield child if type(child) in (NavigableString, CData) else ""
        elif not {"posenc-card", "headerlink"} & {*child.get("class", [])}:
            yield from _seen(child)


def test_most_slides_have_something_to_say_in_their_notes(site):  # noqa: ARG001
    """Of the slides between the first and the exercises; a theorem may stand for itself."""
    spoken = {}
    for name in made():
        soup = BeautifulSoup((FOLDER / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        found = soup.select(".slides > section:not(.exercise, .take-away)")
        spoken[name] = sum(1 for one in found if one.select_one("aside.notes")) / len(found)
        assert "Time:" in found[0].select_one("aside.notes").get_text(), name
    assert {name: share for name, share in spoken.items() if share < 2 / 3} == {}


def test_every_chapter_has_its_slides_and_no_solution_stands_on_them(site):  # noqa: ARG001
    import slides

    assert set(made()) == {page.rpartition("/")[2] for page in slides.chapters()}
    for name in made():
        text = (FOLDER / f"{name}.html").read_text(encoding="utf-8")
        assert "Solution to" not in text
        kinds = re.findall(r'<section class="([a-z-]+)">', text)
        assert kinds[0] == "front"
        assert "take-away" in kinds


def test_the_contents_list_only_what_is_there(monkeypatch, tmp_path):
    import built_site
    import slides

    monkeypatch.setattr(slides, "TARGET", tmp_path)
    monkeypatch.setattr(built_site, "title", str.upper)
    for name in ("rotary", "deck-rotations"):
        (tmp_path / f"{name}.html").write_text("made")
    slides.write_contents(["book/rotations", "book/rotary", "book/audit/survey"])
    taught, read = (tmp_path / "index.html").read_text("utf-8").split("<h2>Reading slides</h2>")
    assert re.findall(r'<li><a href="([^"]+)">', taught) == ["deck-rotations.html"]
    assert re.findall(r'<li><a href="([^"]+)">', read) == ["rotary.html"]


def test_an_unknown_chapter_is_named(monkeypatch):
    import slides

    monkeypatch.setattr(slides, "chapters", lambda: ["book/rotary", "book/rotations"])
    assert slides.chosen("") == ["book/rotary", "book/rotations"]
    assert slides.chosen("rotations") == ["book/rotations"]
    with pytest.raises(ValueError, match=r"of \['rotary', 'rotations'\], got \['rotery'\]"):
        slides.chosen("rotary,rotery")


# --- the rule, without a site


def paragraph(html):
    return BeautifulSoup(f"<p>{html}</p>", "html.parser").p


def test_sentences_keep_marks_and_end_where_they_end():
    text = (
        "It turns <em>queries</em> by 0.5 rad (Su et al. 2021, e.g. Fig. 3). Why? Because <b>x</b>."
    )
    assert sentences.sentences(paragraph(text)) == [
        "It turns <em>queries</em> by 0.5 rad (Su et al. 2021, e.g. Fig. 3).",
        "Why?",
        "Because <b>x</b>.",
    ]
    labelled = "<strong>Predict, then check.</strong> How many? Think."
    assert sentences.opening(paragraph(labelled), 0) == (
        "<strong>Predict, then check.</strong> How many?"
    )


CHAPTER = """<section><h1><span class="section-number">5. </span>Turn</h1><p>What is a turn? An
angle.</p><p><strong>You need</strong> sines. <strong>Time:</strong> 5 minutes.</p>
<section id="how"><h2><span class="section-number">5.1. </span>How</h2>
<p>Here is something. A turn keeps lengths:</p><div class="math">x</div>
<div class="cell"><div class="cell_input"><pre>import numpy</pre></div></div>
<div class="cell"><div class="cell_input"><pre>{code}</pre></div></div>
<div class="cell tag_no-slide"><div class="cell_input"><pre>def left_out():</pre></div></div>
</section><section id="exercises"><h2>Exercises</h2><div class="exercise admonition">
<p class="admonition-title">Exercise 1</p><section id="exercise-content"><p>Do it.</p></section>
</div><div class="solution admonition"><p>Secret.</p></div></section>
<section id="take-away"><h2>Take-away</h2><div class="admonition"><p class="admonition-title">In</p>
<p>One is 1. Two is 2.</p></div><p><strong>Next:</strong> more</p></section></section>"""


def kinds(code):
    chapter = BeautifulSoup(CHAPTER.format(code=code), "html.parser").section
    found = slide_rules.slides(chapter)
    assert "Secret" not in "".join(slide.html() for slide in found)
    return [(slide.kind, slide.title) for slide in found]


def test_the_rule_makes_one_slide_of_each_step():
    steps = [("front", ""), ("equation", "How"), ("code", "How"), ("exercise", "Exercise 1")]
    assert kinds("def turn(x):\n    return x") == [*steps, ("take-away", "Take-away")]
    assert ("code", "How") not in kinds("x = 1")  # defines and asserts nothing


def test_the_first_slide_tells_its_speaker_what_is_needed_and_for_how_long():
    chapter = BeautifulSoup(CHAPTER.format(code="x = 1"), "html.parser").section
    front = slide_rules.slides(chapter)[0]
    assert "Time:" in "".join(front.notes)
    assert "Time:" not in "".join(front.body)


def test_a_long_cell_goes_on_over_slides_or_is_left_out():
    functions = "\n\n\n".join(f"def f{i}():\n" + "    x = 1\n" * 8 for i in range(2)).strip("\n")
    assert kinds(functions).count(("code", "How")) == 2
    whole = "def f():\n" + "    x = 1\n" * 20
    assert ("code", "How") not in kinds(whole)
