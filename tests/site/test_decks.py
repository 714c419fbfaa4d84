"""The decks for teaching: their form, and that each number on a slide is one of its chapter's."""

import ast
import re
from functools import cache

import nbformat
import pytest
import quoting
from sitefiles import ROOT

import decks

TAUGHT_MOST = ["order-blindness", "raw-indices", "oscillations"]
TAUGHT_MOST += ["rotations", "four-doors", "rotary"]
WORDS = 75  # on a slide, without code and tables
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\|(.+)\|$", re.MULTILINE)
CHOICE = re.compile(r"^- \*\*([A-D])\*\* ", re.MULTILINE)
every_deck = pytest.mark.parametrize("name", TAUGHT_MOST)


@cache
def deck(name: str) -> list[decks.Slide]:
    return decks.read(decks.FOLDER / f"{name}.md")


@cache
def chapter(name: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the numbers of a chapter's outputs and code, and the lines that its outputs print."""
    notebook = nbformat.read(ROOT / "book" / f"{name}.ipynb", as_version=4)
    numbers = set().union(*(one.shown | one.code for one in quoting.sections(notebook)))
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    texts = [text for o in outputs for text in quoting.readable(o)]
    return frozenset(numbers), tuple(line.strip() for text in texts for line in text.splitlines())


def said(slide: decks.Slide) -> list[str]:
    """Return all that a slide shows and what its speaker says, without its code and its tables."""
    shown = ROW.sub("", FENCE.sub("", slide.text))
    return [slide.heading, shown, slide.notes, *slide.picture[:1]]


def unfounded(slide: decks.Slide, name: str) -> list[str]:
    """Return what a slide quotes that its chapter neither prints nor has in its code."""
    numbers, lines = chapter(name)
    found = [number for text in said(slide) for number in quoting.quoted(text) - numbers]
    for language, text in FENCE.findall(slide.text):
        if language == "python":
            found += quoting.numbers(text) - numbers
        else:
            found += [line for line in text.splitlines() if line.strip() not in lines]
    for row in ROW.findall(slide.text):
        cells = [cell.strip() for cell in row.split("|")]
        if any(re.fullmatch(r"[✓✗]|[\d.,]+%?( of \d+)?", cell) for cell in cells[1:]):
            pattern = "(?<!\\S)" + ".*".join(rf"(?<!\d){re.escape(cell)}(?!\d)" for cell in cells)
            found += [] if any(re.search(pattern, line) for line in lines) else [row]
    return found


def test_the_chapters_taught_most_have_a_deck():
    assert decks.names() == sorted(TAUGHT_MOST)


@every_deck
def test_a_deck_is_short_and_opens_with_a_question(name):
    slides = deck(name)
    assert len(slides) <= decks.MOST
    assert slides[0].kind == "front"
    assert slides[0].heading.endswith("?")
    assert [slide.kind for slide in slides].count("front") == 1
    assert slides[-1].heading == "At home"
    assert 30 <= sum(slide.minutes for slide in slides) <= 50


@every_deck
def test_each_slide_has_few_words_and_its_speaker_something_to_say(name):
    for slide in deck(name):
        shown = " ".join([slide.heading, *said(slide)[1:2], *slide.picture[:1]])
        assert len(shown.split()) <= WORDS, slide.heading
        assert len(slide.notes.split()) >= 20, slide.heading


@every_deck
def test_one_live_question_is_answered_on_the_next_slide(name):
    slides = deck(name)
    asked = [place for place, slide in enumerate(slides) if slide.kind == "predict"]
    assert len(asked) == 1
    assert "?" in slides[asked[0]].heading + slides[asked[0]].text
    choices, answer = CHOICE.findall(slides[asked[0]].text), slides[asked[0] + 1]
    assert choices == list("ABCD")[: len(choices)]
    assert len(choices) >= 3
    assert answer.kind == "answer"
    assert answer.heading.removeprefix("Answer: ")[0] in choices
    assert [slide.kind for slide in slides].count("answer") == 1


@every_deck
def test_every_figure_is_one_of_the_chapter(name):
    shown = [slide.picture for slide in deck(name) if slide.picture]
    there = {"figure": decks.figures(name), "explorable": decks.explorables(name)}
    assert [p for p in shown if p[2] not in there[p[1]]] == []
    assert {kind for _, kind, _ in shown} == {"figure", "explorable"}
    for _, kind, wanted in shown:
        if kind == "figure":
            png, alt = decks.figures(name)[wanted]
            assert png.startswith(b"\x89PNG")
            assert alt


@every_deck
def test_every_number_is_one_of_the_chapter(name):
    wrong = {slide.heading: found for slide in deck(name) if (found := unfounded(slide, name))}
    assert wrong == {}


@every_deck
def test_code_on_a_slide_is_python(name):
    blocks = [block for slide in deck(name) for block in FENCE.findall(slide.text)]
    assert {kind for kind, _ in blocks} <= {"python", "text"}
    for text in (text for kind, text in blocks if kind == "python"):
        ast.parse(text)


def slide(shown: str, notes: str = "Say it.") -> decks.Slide:
    return decks._slide(f"## A\n{shown}\n\nNote (3 min): {notes}\n", "a.md, slide 1")


@pytest.mark.parametrize(
    ("shown", "notes", "found"),
    [
        ("It is right in 59% of cases.", "", ["59 %"]),
        ("It is right in 58% of cases.", "In 59% of cases.", ["59 %"]),
        ("```text\nwho: 59%\n```", "", ["who: 59%"]),
        ("```python\nx = 77_777\n```", "", ["77777"]),
        ("| sinusoid | 100% | 55% | 18% |", "", []),
        ("| sinusoid | 100% | 18% | 55% |", "", [" sinusoid | 100% | 18% | 55% "]),
    ],
)  # fmt: skip
def test_a_number_of_no_cell_is_found(shown, notes, found):
    assert unfounded(slide(shown, notes or "Say it."), "rotary") == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("## A\nNo note.\n", "deck.md, slide 1 must end with one note"),
        ("## A\n## B\n\nNote (3 min): B\n", "got 2 and 0"),
        ("## A\n![](figure:a)\n![](figure:b)\n\nNote (3 min): B\n", "got 1 and 2"),
    ],
)
def test_what_is_no_deck_is_named(tmp_path, text, message):
    (tmp_path / "deck.md").write_text(text, encoding="utf-8")
    with pytest.raises(decks.DeckError, match=message):
        decks.read(tmp_path / "deck.md")


def test_a_deck_becomes_sections_with_formulas_code_and_notes():
    code = "```python\ndef f(x):\n    return x\n```\n\nIt is $x < 2$."
    html = decks.html("rotary", [slide(code, "Ask **why**.")])
    assert html.startswith('<section class="prose"><h2>A</h2><div class="body">')
    assert '<pre style="--columns: 12"><span class="k">def</span>' in html
    assert r'<span class="math inline notranslate nohighlight">\(x &lt; 2\)</span>' in html
    assert "takes about 3 min" in html
    assert "<strong>why</strong>" in html
    assert html.endswith("</aside></section>")
