"""Every page in a real browser, with the network down."""

import functools
import gzip
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from accessibility import COLOURS, axe_finds_nothing, colours_can_be_read
from browsing import DESKTOP, PHONE, SMALLEST, paint, switch
from playwright.sync_api import Page
from sitefiles import ROOT, toc_files

import ledger
import ledger_html
import quizzes
from posenc_book.teaching import plots

pytestmark = pytest.mark.browser

CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex='0']"
# Of every kind of page one is asked for all controls. Header, table of contents and footer are made
# by one template, so of all others the article is asked.
WHOLE = ("book/intro", "book/order-blindness", "book/audit/survey", "book/api/data")
# Where readers look something up, verdicts stand open; a page of the atlas is asked further down.
LOOKED_UP = ("book/audit/survey",)
LONGEST = "book/glossary"  # nothing but links, 1,600 of them
# What most people open: in kB that a server sends, half of what the lightest of them took before.
OPENED_MOST = ("intro", "choosing", "rotary", "benchmark", "todays-models")
MOST_KB = 635
TEXT = {".html", ".css", ".js", ".svg"}  # which servers compress


def source(name: str) -> str:
    paths = [ROOT / f"{name}{ending}" for ending in (".ipynb", ".md")]
    return next(path for path in paths if path.is_file()).read_text(encoding="utf-8")


# What axe looks at in `make test`, at the end of a visit: each kind of control once. What it faults
# comes with templates, style sheets and scripts, and hardly ever with words.
LOOKED_AT = ("book/intro", "book/order-blindness", "book/claims", "book/choosing")
LOOKED_AT += ("book/part-quizzes",)


# `make test` visits the chapters; of all other pages some of each kind stand for the rest.
CHAPTERS = [f"book/{path.stem}" for path in quizzes.FOLDER.glob("*.yml")]
OFTEN = {*CHAPTERS, *WHOLE, *LOOKED_AT, LONGEST}
slow = pytest.mark.slow


@pytest.mark.parametrize(
    "page_name", [n if n in OFTEN else pytest.param(n, marks=slow) for n in toc_files()]
)
def test_page(visited, page_name):
    """What words, formulas and figures can spoil, in one visit: to open a page takes longest."""
    page = visited.goto(page_name)
    assert page.locator("html").get_attribute("data-theme") == "light"
    equations_are_typeset(page)
    figures_are_drawn(page)
    figures_keep_their_proportions(page)
    figures_are_as_large_as_drawn(page)
    keyboard_reaches_every_control(page, "body" if page_name in WHOLE else "article")
    if "{solution}" in source(page_name):
        keyboard_opens_every_solution(page)
    assert visited.refused == [], "a request left the machine"
    assert visited.messages == [], "the console is not silent"
    if page_name in LOOKED_UP:
        marks_need_no_switch(page)
    for size in (PHONE, SMALLEST):
        resize(page, size)
        nothing_scrolls_sideways(page)
        code_goes_on_below(page)
    if page_name in LOOKED_AT:
        resize(page, DESKTOP)
        everybody_can_use_and_read_it(page)


def everybody_can_use_and_read_it(page: Page) -> None:
    """Ask axe; the window has then forgotten which theme was chosen, and the page is in pieces."""
    paint(page)
    axe_finds_nothing(page, but=COLOURS)
    colours_can_be_read(page)
    page.evaluate("localStorage.clear()")


@pytest.mark.slow
@pytest.mark.parametrize("page_name", [name for name in toc_files() if name not in LOOKED_AT])
def test_everybody_can_use_and_read_it(opened, page_name):
    page = opened.goto(page_name)
    if "{solution}" in source(page_name):
        keyboard_opens_every_solution(page)
    everybody_can_use_and_read_it(page)


# Pages whose scripts measure what they find are opened on a phone, too, not only made narrow; so
# is the ledger further down.
@pytest.mark.parametrize("page_name", ["book/explorables", "book/atlas/turned"])
def test_a_page_opened_on_a_phone_has_no_sideways_scroll(opened, page_name):
    nothing_scrolls_sideways(opened.goto(page_name))


def picture(alt: str, style: str, size: str) -> str:
    svg = f"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' {size}/>"
    return f'<div class="cell_output"><img src="{svg}" alt="{alt}" style="{style}"></div>'


def test_a_visit_finds_what_is_planted(opened):
    page = opened.goto("book/api")
    reach = functools.partial(keyboard_reaches_every_control, inside="article")
    trap = "<textarea id='trap'>Nobody leaves</textarea>"
    spring = "document.getElementById('trap').onkeydown = e => e.preventDefault();"
    axe = functools.partial(axe_finds_nothing, but=COLOURS)
    line = f"<div class='highlight'><pre style='white-space: pre'>{999 * 'x'}</pre></div>"
    squashed = picture("Squashed", "width: 90px; height: 50px", "width='9' height='9'")
    contain = "max-height: 500px; object-fit: contain"
    shrunk = picture("Shrunk", contain, "width='500' height='900'")
    for html, script, asked, named in [
        ("<button tabindex='-1'>Nobody comes here</button>", "", reach, "Nobody comes here"),
        (trap, spring, reach, "Nobody leaves"),
        ("<img src='https://example.org/a.png' alt='far'>", "", figures_are_drawn, "example.org"),
        (squashed, "", figures_keep_their_proportions, "Squashed"),
        (shrunk, "", figures_are_as_large_as_drawn, "Shrunk"),
        ("<button></button>", "", axe, "button-name"),
        ("<div style='width: 1600px'>Wide</div>", "", nothing_scrolls_sideways, "0, 1280"),
        (line, "", code_goes_on_below, "xxx"),
    ]:
        plant(page, html)
        page.evaluate(f"() => {{ {script} }}")
        page.evaluate("Promise.allSettled([...document.images].map((one) => one.decode()))")
        with pytest.raises(AssertionError, match=named):
            asked(page)
    assert opened.refused or opened.messages
    plant(page, "")
    nothing_scrolls_sideways(page)
    code_goes_on_below(page)


@pytest.mark.parametrize("size", [SMALLEST, DESKTOP])
def test_code_is_copied_with_the_lines_that_it_was_written_in(opened, size):
    page = opened.goto("book/four-doors")
    resize(page, size)
    page.evaluate(
        """document.addEventListener('copy', () => {
            window.copied = document.activeElement.value ?? String(getSelection());
        }, true)"""
    )
    cell = page.locator("div.cell_input", has_text="class Transformer").first
    written = cell.locator("pre").text_content().strip()
    assert max(map(len, written.splitlines())) > 80
    cell.hover()
    cell.locator("button.copybtn").click()
    assert page.evaluate("copied.trim()") == written
    cell.locator("pre").evaluate("pre => getSelection().selectAllChildren(pre)")
    assert page.evaluate("String(getSelection()).trim()") == written


LINKED = "<p>Words around <a href='#' style='color: #bbb; text-decoration: none'>one</a></p>"


@pytest.mark.parametrize(
    ("html", "rule"),
    [
        ("<p><b style='color: #222'>Dark words</b></p>", "color-contrast"),
        ("<p><b style='color: #eee'>Light words</b></p>", "color-contrast"),
        (LINKED, "link-in-text-block"),
    ],
)
def test_colours_that_cannot_be_read_are_found(opened, html, rule):
    """In one theme or in both, at the end of a page with much text that can be read."""
    page = opened.goto("book/api/models")
    plant(page, html)
    page.evaluate("document.querySelector('article').append(document.getElementById('planted'))")
    with pytest.raises(AssertionError, match=rule):
        colours_can_be_read(page)


def plant(page: Page, html: str) -> None:
    page.evaluate(
        """html => {
            document.getElementById('planted')?.remove();
            const box = document.createElement('div');
            box.id = 'planted';
            box.innerHTML = html;
            document.querySelector('article').prepend(box);
        }""",
        html,
    )


def resize(page: Page, size: dict) -> None:
    """Make the window as wide as a phone's or a desk's, and wait until all is laid out anew."""
    page.set_viewport_size(size)
    page.wait_for_function(f"innerWidth === {size['width']}")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def nothing_scrolls_sideways(page: Page) -> None:
    """Nor does it when all that is folded is open; it is folded again afterwards."""
    folded = page.locator("details:not([open])").element_handles()
    page.evaluate("all => all.forEach(d => { d.open = true; })", folded)
    page.evaluate("window.scrollTo(10000, 0)")
    wide = page.evaluate("[window.scrollX, document.documentElement.scrollWidth]")
    assert wide == [0, page.viewport_size["width"]]
    page.evaluate("all => all.forEach(d => { d.open = false; })", folded)


def code_goes_on_below(page: Page) -> None:
    """On a phone no line of code that is seen is wider than its box; what it prints may be."""
    wide = page.evaluate(
        """() => [...document.querySelectorAll('article div.highlight pre:not(.cell_output *)')]
            .filter(pre => pre.scrollWidth > pre.clientWidth).map(pre => pre.textContent)"""
    )
    assert wide == []


def equations_are_typeset(page: Page) -> None:
    written = page.locator("article .math, article mjx-container").count()
    typeset = page.locator("article mjx-container").count()
    assert (typeset > 0) == (written > 0)
    raw = page.evaluate(
        r"""() => [...document.querySelectorAll('article .math')]
            .filter(e => !e.querySelector('mjx-container')).map(e => e.textContent)"""
    )
    assert raw == []
    assert page.locator("mjx-merror, [data-mjx-error], mjx-mtext[style*='red']").count() == 0


def figures_are_drawn(page: Page) -> None:
    empty = page.evaluate(
        """async () => {
            const all = [...document.querySelectorAll('article img')];
            all.forEach(i => { i.loading = 'eager'; });
            await Promise.all(all.map(i => i.decode().catch(() => {})));
            return all.filter(i => i.naturalWidth === 0).map(i => i.src);
        }"""
    )
    assert empty == []


def figures_keep_their_proportions(page: Page) -> None:
    squashed = page.evaluate(
        """() => [...document.querySelectorAll('article img')]
            .filter(i => i.width && i.naturalWidth)
            .filter(i => getComputedStyle(i).objectFit === 'fill')
            .filter(i => Math.abs(i.width / i.height * i.naturalHeight / i.naturalWidth - 1) > 0.03)
            .map(i => `${i.alt.slice(0, 60)}: ${i.width} x ${i.height}`)"""
    )
    assert squashed == []


def figures_are_as_large_as_drawn(page: Page) -> None:
    """Figures of 100 pixels an inch, or of the whole column where that is narrower."""
    shrunk = page.evaluate(
        """scale => [...document.querySelectorAll('article .cell_output img')]
            .filter(i => i.naturalWidth)
            .map(i => ({ i, box: i.closest('.cell_output').clientWidth,
                shown: Math.min(i.width / i.naturalWidth, i.height / i.naturalHeight) }))
            .filter(({ i, box, shown }) =>
                shown < Math.min(0.85 * scale, 0.95 * box / i.naturalWidth))
            .map(({ i, shown }) => `${i.alt.slice(0, 60)}: at ${Math.round(100 * shown / scale)} %`)
        """,
        100 / plots.DPI,
    )
    assert shrunk == []


MARK_CONTROLS = """([selector, inside]) => {
    const shown = e => e.checkVisibility({visibilityProperty: true})
        && !e.closest('dialog:not([open])') && !e.disabled;
    // Tab leads to one radio button of a group, arrows to the others
    const first = e => e.type !== 'radio'
        || document.querySelector(`input[name="${e.name}"]`) === e;
    document.querySelectorAll('[data-control]').forEach(e => delete e.dataset.control);
    const part = document.querySelector(inside);
    const all = [...part.querySelectorAll(selector)].filter(shown).filter(first);
    all.forEach((e, i) => { e.dataset.control = i; });
    return all.map(e => e.outerHTML.slice(0, 120));
}"""
"""Numbers the visible controls in a part of the page, and returns how each begins."""


LEADS_ON = """number => {
    const on = !window.left || document.activeElement === document.body || Boolean(
        window.left.compareDocumentPosition(document.activeElement)
        & Node.DOCUMENT_POSITION_FOLLOWING);
    window.left = document.querySelector(`[data-control="${number}"]`);
    window.left?.focus({ preventScroll: true });
    return on;
}"""
"""Says whether Tab has left the control that had the focus, and gives it to the next one."""


def keyboard_reaches_every_control(page: Page, inside: str) -> None:
    """Ask each control of a part of the page whether Tab stops there, and press it on some.

    That is on one of each kind, from which it has to lead on: what holds the focus is a script.
    """
    begin = page.evaluate(MARK_CONTROLS, [CONTROLS, inside])
    passed_by, kinds = page.evaluate(
        """() => {
            const passedBy = [], kinds = {};
            window.left = null;
            for (const e of document.querySelectorAll('[data-control]')) {
                const number = Number(e.dataset.control);
                e.focus({ preventScroll: true });
                if (e.tabIndex !== 0 || document.activeElement !== e) passedBy.push(number);
                const kind = [e.tagName, e.type, e.className, e.parentElement.className].join();
                kinds[kind] = number;
            }
            return [passedBy, Object.values(kinds)];
        }"""
    )
    assert [begin[i] for i in passed_by] == []
    left = None
    for number in [*kinds, None]:
        on = page.evaluate(LEADS_ON, number)  # from the one before
        assert on, begin[left]
        if number is not None:
            page.keyboard.press("Tab")
        left = number


OPEN_SOLUTIONS = """next => {
    const all = [...document.querySelectorAll(".admonition.solution.dropdown")];
    all[next]?.querySelector("button, summary").focus();
    const seen = (one) => one.checkVisibility({ visibilityProperty: true })
        && one.getBoundingClientRect().height > 0;
    const open = all.map((one) => seen(one.querySelector("section")));
    const n = open.indexOf(false);
    return open.includes(true, n < 0 ? open.length : n) ? -1 : n < 0 ? open.length : n;
}"""
"""Gives the focus to one solution's button, and says how many are open: the first ones, or -1."""


def keyboard_opens_every_solution(page: Page) -> None:
    n = page.locator(".admonition.solution.dropdown").count()
    assert n > 0
    for i in range(n):
        assert page.evaluate(OPEN_SOLUTIONS, i) == i
        page.keyboard.press("Enter")
        page.wait_for_function(f"({OPEN_SOLUTIONS})() === {i + 1}")


def test_keyboard_opens_search_and_finds_a_word(opened):
    page = opened.goto(toc_files()[0])
    page.keyboard.press("Control+k")
    page.keyboard.type("permutation")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html*")
    page.locator("#search-results ul.search li a").first.wait_for()
    assert page.locator("#search-results ul.search li a").count() > 0
    assert opened.refused == []


def test_keyboard_switches_the_theme(opened):
    page = opened.goto(toc_files()[0])
    mode = page.locator("html")
    switch = page.locator("button.theme-switch-button:visible").first
    seen = set()
    for _ in range(3):
        switch.focus()
        page.keyboard.press("Enter")
        seen.add(mode.get_attribute("data-theme"))
    assert seen == {"light", "dark"}


def test_the_theme_switches_where_the_browser_remembers_nothing(opened):
    """As with cookies blocked: to ask for a storage is an error already."""
    opened.page.add_init_script(
        """for (const name of ['localStorage', 'sessionStorage']) {
            const get = () => { throw new DOMException('Access is denied', 'SecurityError'); };
            Object.defineProperty(window, name, { get, configurable: true });
        }"""
    )
    page = opened.goto(toc_files()[0])
    assert page.locator("html").get_attribute("data-theme") == "light"
    for theme in ("dark", "light"):
        switch(page, theme)
    assert opened.messages == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_read_well_in_both_themes(opened, theme):
    """A white picture on a dark page is turned round; on a light page it is left alone."""
    name = next(n for n in toc_files() if "image/png" in source(n))
    page = opened.goto(name)
    filters = page.eval_on_selector_all(
        "article div.cell_output img", "all => all.map(i => getComputedStyle(i).filter)"
    )
    assert filters
    assert all(("invert" in f) == (theme == "dark") for f in filters)


ROWS = "table.posenc-ledger tbody tr:visible"
claims = functools.cache(ledger.read)


def expected(**wanted: str) -> list[str]:
    rows = [{**c, "source": ledger_html.group(c)} for c in claims()]
    return [c["id"] for c in rows if wanted.items() <= c.items()]


def shown(page: Page) -> list[str]:
    """Return the ids of the visible rows, once the reader was told their number."""
    ids = page.eval_on_selector_all(
        "table.posenc-ledger tbody tr",
        """rows => rows.filter(row => row.checkVisibility({visibilityProperty: true}))
            .map(row => row.querySelector('th').innerText)""",
    )
    told = page.locator(".posenc-filter [role=status]").inner_text()
    assert told == f"{len(ids)} of {len(claims())} claims shown"
    return ids


def test_a_visit_to_the_ledger(opened):
    """Rows, verdicts and marks, asked of one page: it is the longest of all."""
    page = opened.goto("book/claims", "?verdict=refuted&source=S")
    source, verdict = (page.get_by_label(name, exact=True) for name in ("Source", "Verdict"))
    assert shown(page) == expected(verdict="refuted", source="S")
    assert verdict.input_value() == "refuted"
    page.get_by_role("button", name="Show all").click()
    told = page.locator(".posenc-filter [role=status]")
    told.filter(has_text=f"{len(claims())} of ").wait_for()
    assert shown(page) == expected()
    badges = page.locator(".posenc-definitions .posenc-badge").all_inner_texts()
    assert len({badge[0] for badge in badges}) == len(set(badges)) == 6  # without their colours
    marks_need_no_switch(page)
    source.select_option("Faithful encoding")
    assert shown(page) == expected(source="F")
    verdict.select_option("refuted")
    assert shown(page) == expected(source="F", verdict="refuted")
    page.get_by_label("Chapter", exact=True).select_option("audit/faithful-encoding")
    in_chapter = [c["id"] for c in claims() if c["anchor"].startswith("audit/faithful-encoding.")]
    assert shown(page) == [i for i in expected(verdict="refuted", source="F") if i in in_chapter]
    page.get_by_role("button", name="Show all").click()
    page.locator("#ledger-F12 a").click()
    page.wait_for_url("**/audit/faithful-encoding.html#claim-F12", wait_until="commit")
    assert "F12" in page.locator("#claim-F12").inner_text()


def marks_need_no_switch(page: Page) -> None:
    assert page.get_by_role("switch", name="Audit marks").count() == 0
    marks = page.locator("article p .posenc-mark, article li .posenc-mark")
    assert all(mark.evaluate("e => getComputedStyle(e).display !== 'none'") for mark in marks.all())


def test_ledger_fits_a_phone_and_finds_words_by_keyboard(opened):
    page = opened.goto("book/claims")
    assert shown(page) == expected()
    nothing_scrolls_sideways(page)
    page.evaluate("window.scrollTo(0, 0)")
    page.get_by_label("Words").focus()
    page.keyboard.type("HARMONIC precision")
    assert "F18" in shown(page)
    assert len(shown(page)) < 5
    page.keyboard.type(" nosuchword")
    assert shown(page) == []


def test_ledger_citations_and_old_pages_need_no_scripts(scriptless, site):
    page, book = scriptless, (site / "book").as_uri()
    page.goto(f"{book}/claims.html")
    assert page.locator(f"{ROWS} th").all_inner_texts() == expected()
    assert not page.locator("form.posenc-filter").is_visible()
    page.goto(f"{book}/rotary.html")
    page.locator(".posenc-cite summary").click()
    assert "@incollection" in page.locator(".posenc-cite pre").inner_text()
    page.goto(f"{book}/published-code.html")
    page.wait_for_url("**/audit/published-code.html")


MARKED = "book/raw-indices"


def marked(opened):
    page = opened.goto(MARKED)
    page.get_by_role("switch", name="Audit marks").click()
    page.locator(".posenc-mark").first.wait_for(state="visible")
    return page


def test_marks_of_a_chapter_are_hidden_until_a_key_shows_them(opened):
    page = opened.goto("book/choosing")
    button = page.get_by_role("switch", name="Audit marks")
    marks = page.locator(".posenc-mark:not(.admonition.dropdown *)")  # those in no folded note
    seen = marks.locator("visible=true")
    assert marks.count() > 5
    assert seen.count() == 0
    assert button.get_attribute("aria-checked") == "false"
    button.press("Space")
    assert button.get_attribute("aria-checked") == "true"
    assert seen.count() == marks.count()
    opened.goto(MARKED)  # what was chosen holds for every page
    assert seen.count() == marks.count() > 5
    button.press("Enter")
    assert seen.count() == 0
    opened.goto("book/choosing")
    assert seen.count() == 0
    assert opened.messages == []
    button.press("Space")
    for theme in ("dark", "light"):
        switch(page, theme)
        axe_finds_nothing(page, within=".posenc-mark, [role=switch]")


def test_where_readers_look_something_up_marks_need_no_switch(visited):
    marks_need_no_switch(visited.goto("book/atlas/turned"))


def test_the_last_line_of_a_chapter_leads_to_its_own_statements(opened):
    page = opened.goto("book/order-blindness")
    line = page.locator("article a", has_text="statements,")
    n = int(line.inner_text().split()[0])
    line.click()
    page.wait_for_url("**/claims.html?told=order-blindness")
    assert len(shown(page)) == n


def test_a_mark_shows_its_row_on_hover_and_on_focus_and_opens_its_cell(opened):
    page = marked(opened)
    mark = page.locator(".posenc-mark").first
    card = mark.locator("[role=tooltip]")
    assert not card.is_visible()
    mark.locator("a").hover()
    card.wait_for(state="visible")
    card.hover()  # who points at the card can read it
    assert card.is_visible()
    page.mouse.move(0, 0)
    card.wait_for(state="hidden")
    mark.locator("a").focus()
    card.wait_for(state="visible")
    page.keyboard.press("Escape")
    card.wait_for(state="hidden")
    page.locator(".posenc-mark a").last.focus()
    mark.locator("a").focus()
    card.wait_for(state="visible")
    page.keyboard.press("Escape")
    page.locator('.posenc-mark a[href$="#claim-B6"]').click()
    page.wait_for_url("**/audit/first-principles.html#claim-B6", wait_until="commit")


def test_a_card_stays_on_the_screen_of_a_phone(opened):
    page = marked(opened)
    width = page.evaluate("document.documentElement.clientWidth")
    for mark in page.locator(".posenc-mark").all():
        mark.locator("a").focus()
        box = mark.locator("[role=tooltip]").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_quiz_answers_are_explained_when_chosen_by_key_or_click(opened):
    page = opened.goto("book/rotations")
    questions = page.locator(".posenc-quiz fieldset")
    assert questions.count() == 5
    for i in range(5):
        question = questions.nth(i)
        assert not question.is_visible()
        page.locator(".posenc-quiz summary").nth(i).focus()
        page.keyboard.press("Enter")
        assert question.locator(".posenc-why:visible").count() == 0
        question.locator("input").first.focus()
        page.keyboard.press("Space")
        for _ in range(2):
            shown = question.locator(".posenc-why:visible")
            assert shown.count() == 1
            said = question.locator("[role=status]").text_content()
            assert said == shown.text_content()
            page.keyboard.press("ArrowDown")
    assert page.locator(".posenc-quiz .posenc-why.right").count() == 5


def test_a_citation_is_copied_by_its_button(opened):
    page = opened.goto("book/rotary")
    page.locator(".posenc-cite summary").focus()
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name="Copy").and_(page.locator(".posenc-cite button"))
    button.focus()
    page.keyboard.press("Enter")
    page.evaluate("document.body.append(document.createElement('textarea'))")
    pasted = page.locator("body > textarea")
    pasted.press("Control+V")
    assert pasted.input_value().strip() == page.locator(".posenc-cite pre").inner_text().strip()
    assert pasted.input_value().startswith("@incollection{")
    page.emulate_media(media="print")
    assert not page.locator(".posenc-cite").is_visible()


def test_a_page_runs_no_script_that_it_carries(opened):
    page = opened.goto(toc_files()[0])
    ran = page.evaluate(
        """() => {
            const script = document.createElement('script');
            script.textContent = 'window.ran = true';
            document.head.append(script);
            return window.ran === true;
        }"""
    )
    assert not ran
    assert any("Content Security Policy" in message for message in opened.messages)


def test_the_buttons_of_the_theme_do_what_they_say(opened):
    page = opened.goto(toc_files()[1])
    page.evaluate(
        """() => {
            window.did = [];
            window.print = () => window.did.push('print');
            window.toggleFullScreen = () => window.did.push('full screen');
        }"""
    )
    for word in ("print", "full-screen"):
        page.locator(f"[data-does='{word}']").first.dispatch_event("click")
    assert page.evaluate("window.did") == ["print", "full screen"]
    assert opened.messages == []


@pytest.mark.parametrize("name", OPENED_MOST)
def test_a_visit_loads_little_and_no_font_of_the_theme(opened, name):
    loaded: set[str] = set()
    opened.page.on("request", lambda request: loaded.add(urlsplit(request.url).path))
    opened.goto(f"book/{name}")
    paths = [Path(unquote(path)) for path in loaded]
    assert not [path for path in paths if "fontawesome" in path.as_posix()]
    sizes = [len(gzip.compress(p.read_bytes(), 6)) for p in paths if p.suffix in TEXT]
    sizes += [path.stat().st_size for path in paths if path.suffix not in TEXT]
    assert 100 < sum(sizes) / 1000 < MOST_KB
