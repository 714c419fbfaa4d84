"""What a screen reader says of a chapter: names, and descriptions that stay true."""

import pytest

pytestmark = pytest.mark.browser

BY_NAME = "links => Object.groupBy(links, (a) => a.ariaLabel ?? a.textContent.trim())"
LEAD_APART = f"""links => Object.entries(({BY_NAME})(links.filter((a) => a.textContent.trim())))
  .filter(([_, same]) => new Set(same.map((a) => a.href)).size > 1).map(([name]) => name)"""


def test_a_chapter_says_what_its_parts_are(opened):
    page = opened.goto("book/rotary")
    article = page.locator("article")
    hint = article.get_by_role("button", name="Unfold Hint 1", exact=True).first
    hint.press("Enter")
    assert article.get_by_role("button", name="Fold Hint 1", exact=True).count() == 1
    assert page.get_by_label("Toggle hidden content").count() == 0
    assert article.get_by_role("group", name="Code", exact=True).count() > 5
    assert article.get_by_role("group", name="Output", exact=True).count() > 5
    exercise = article.get_by_role("heading", name="Exercise 8.1 (", level=3)
    assert exercise.count() == 1
    assert page.get_by_role("heading").first.text_content().startswith("8. RoPE")
    assert article.locator("a:not(.headerlink)").evaluate_all(LEAD_APART) == []


def test_a_figure_that_has_changed_is_not_described_as_it_was(opened):
    page = opened.goto("book/rotary")
    figure = page.locator("figure.explorable").first
    first = figure.get_by_role("img").get_attribute("aria-label")
    figure.get_by_role("slider").first.press("ArrowRight")
    said = figure.locator(".explorable-summary")
    figure.get_by_role("img", name=first, exact=True).wait_for(state="detached")
    assert figure.get_by_role("img").get_attribute("aria-label") == said.text_content()
    figure.get_by_role("button", name="Reset").click()
    figure.get_by_role("img", name=first, exact=True).wait_for()
    assert figure.get_by_role("status").count() == 0  # the sliders say their numbers themselves
