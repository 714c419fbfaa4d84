"""Every address of the first edition leads somewhere: page, section, figure, theorem, exercise."""

import json
from pathlib import Path

import pytest
from docutils.nodes import make_id
from parsing import by_id
from sitefiles import ROOT, SITE

import redirects
from posenc_book.atlas import cards

# Read from the site of the first edition; its page on published code stands in the Audit now.
FIRST = json.loads(Path(__file__).with_name("first_edition.json").read_text(encoding="utf-8"))
# Anchors that came after it and have moved since.
LATER = {
    # what three pages had between them
    "asked-again": [
        *("asked-again-with-equal-definitions", "behind-what-we-found"),
        *("other-norms-sizes-and-encodings", "question-by-question", "promising-seen-afterwards"),
        *("windows-split-in-two-ways", "fig-windows-splits", "fig-third-edition", "fig-choice"),
        *("what-was-unequal", "could-the-data-show-either-answer", "new-sets-split-in-half"),
        *("do-the-two-winners-win-again", "should-validation-pick", "shaw-s-encoding-whole"),
        *("two-encodings-at-once", "does-a-convolution-need-an-encoding", "t-pe-taken-apart"),
        *("equal-on-average", "encodings-of-today", "four-layers", "four-sentences-of-papers"),
        *("what-was-trained", "the-frozen-verdicts", "fig-answers", "what-the-gain-depends-on"),
        *("gain-by-number-of-tokens", "fig-gains-by-tokens", "every-gain-in-numbers"),
        *("fig-gains-with-steps", "fig-gains-with-patches", "gain-by-length-of-training"),
        *("fig-gains-by-length", "beside-the-verdicts", "which-ranks-differ"),
        *("fig-critical-differences", "each-set-beside-its-rivals", "fig-levels-with-steps"),
        *("fig-levels-with-patches", "steps-and-patches-side-by-side", "what-it-costs"),
        *("how-long-a-training-takes", "another-norm-another-size", "fig-changed-gains"),
        *("five-more-of-the-library", "fig-other-five", "fig-later-encodings", "what-is-lacking"),
    ],
    # the survey's tables and versions had pages of their own
    "audit/survey-results": [
        *("survey-results-and-conclusions", "the-survey-s-tables-ours-beside-theirs"),
        *("tables-1-and-2-what-the-methods-are", "table-3-the-data"),
        *("tables-4-and-5-accuracies", "why-do-the-levels-differ", "lsst-a-matter-of-scale"),
        "melbournepedestrian-models-that-cannot-tell-the-time",
        "the-other-paper-table-1-of-the-dft-encoding",
        *("the-survey-has-moved-on", "what-we-saw", "what-others-say", "row-by-row"),
        *("look-for-yourself", "the-other-papers"),
    ],
    "benchmark": [
        "fig-answers",
        "fig-gains-with-patches",
        "fig-gains-with-steps",
        "promising-seen-afterwards",
        "what-the-gain-depends-on",
    ],
    "beyond-training-length": ["all-the-schedules", "ex-exact-offset", "fig-schedule-family"],
    "choosing": ["images-text-speed-few-data", "short-and-long-series"],
    "part-quizzes": ["from-index-to-wave", "the-mathematics-of-faithfulness", "what-we-found"],
    "relative-and-hybrid": [
        *("after-the-softmax", "codes-that-agree-on-average"),
        "hybrids-places-or-content-beside-it",
        *(f"equation-eq-{name}" for name in ("erpe", "spe", "spe-kernels", "tupe", "tpe-kernel")),
    ],
    "running-benchmarks": ["what-the-book-asks-of-itself", "your-own-data-set"],
    "time-and-space": ["fig-beside-control"],
    "forecasting": ["a-fifth-door"],
    # before that chapter had four parts
    "todays-models": [
        *("fig-strips", "let-some-hands-stand-still", "a-trick-that-fails-for-whatever-turns"),
        *("equation-eq-absorb", "equation-eq-absorb-turned", "equation-eq-reordered-rows"),
        *("one-row-of-clocks-for-text-pictures-and-film", "fig-dealt-pairs"),
        *("a-place-that-nobody-stands-on", "build-one-whose-layers-disagree"),
        *("a-trap-the-number-that-nobody-wrote", "a-trap-the-clock-that-nobody-moved"),
        *("give-it-away", "ex-places-of-picture", "ex-cache-of-windows", "ex-narrow-window"),
        "ex-converted-twice",
    ],
    # when all cards stood on one page, each under the name that people use and that in the code
    "atlas": [
        *("the-cards", "who-sees-whom", "fig-who-sees-whom", "five-wishes"),
        *(one.anchor for one in cards().values()),
        *(make_id(f"{one.title} {one.name}") for one in cards().values()),
        *(one.anchor.replace("card-", "fig-atlas-", 1) for one in cards().values()),
    ],
}
KNOWN = {page: [*FIRST.get(page, []), *LATER.get(page, [])] for page in {**FIRST, **LATER}}


def anchors(page: str) -> set[str]:
    return set(by_id(SITE / "book" / f"{page}.html"))


@pytest.mark.parametrize("page", KNOWN)
def test_every_anchor_of_earlier_editions_leads_somewhere(site, page):
    assert site == SITE
    here, led = anchors(page), redirects.anchors().get(f"book/{page}", {})
    assert [one for one in KNOWN[page] if one not in here and one not in led] == []
    assert [one for one in led if one in here] == [], "it stands on its page"


def test_what_has_moved_is_there(site):
    gone = []
    for old in redirects.anchors().values():
        for address in old.values():
            page, anchor = address.split(".html#")
            if anchor not in anchors(page.removeprefix("book/")):
                gone.append(address)
    assert gone == []
    text = (site / "_static" / "anchors-where.js").read_text(encoding="utf-8")
    told = json.loads(text.removeprefix("window.posencMoved = ").rstrip().rstrip(";"))
    assert told == redirects.anchors()


def test_the_list_names_what_earlier_editions_had():
    assert len(FIRST) > 15
    for page, old in redirects.anchors().items():
        assert set(old) <= set(KNOWN[page.removeprefix("book/")]), page
    for page in (target.split("#")[0] for target in redirects.PAGES.values()):
        assert any((ROOT / f"{page}{kind}").is_file() for kind in (".ipynb", ".md")), page


@pytest.mark.browser
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("atlas.html#card-rotary", "atlas/turned.html#card-rotary"),
        ("oscillations.html#summary", "oscillations.html#take-away"),
        ("published-code.html#one-run-each", "audit/published-code.html#s35-"),
        ("found-details.html#fig-windows-splits", "anomaly-windows.html#fig-windows-splits"),
        ("survey-tables.html#table-3-the-data", "audit/survey-results.html#table-3-"),
    ],
)
def test_a_browser_follows(opened, old, new):
    page, anchor = old.split("#")
    opened.page.goto((opened.site / "book" / page).as_uri() + f"#{anchor}", wait_until="commit")
    opened.page.wait_for_url(f"**/book/{new}*", wait_until="commit")


@pytest.mark.browser
@pytest.mark.parametrize("anchor", ["%", "constructor", "toString", "claim-Z9"])
def test_an_anchor_that_is_none_leads_nowhere(opened, anchor):
    """Not to what every object of a script has, and to no error where it cannot be decoded."""
    address = (opened.site / "book" / "rotations.html").as_uri() + f"#{anchor}"
    opened.page.goto(address)
    opened.page.wait_for_load_state("networkidle")
    assert opened.page.url == address
    assert opened.messages == []
