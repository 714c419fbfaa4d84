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
# Of every kind of page one is walked through with Tab from its first control to its last. Header,
# table of contents and footer are made by one template, so of all others the article is asked.
WALKED = (
    "book/intro",
    "book/order-blindness",
    "book/audit/survey",
    "book/api/data",
)
# Where readers look something up, verdicts stand open; a page of the atlas is asked further down.
LOOKED_UP = ("book/audit/survey",)
# Nothing but links, 1,600 of them: each is asked, and once a week walked to.
LONGEST = "book/glossary"
# What most people open: in kB that a server sends, half of what the lightest of them took before.
OPENED_MOST = ("intro", "choosing", "rotary", "benchmark", "todays-models")
MOST_KB = 635
TEXT = {".html", ".css", ".js", ".svg"}  # which servers compress


def source(name: str) -> str:
    """Return the text of a page's source."""
    paths = [ROOT / f"{name}{ending}" for ending in (".ipynb", ".md")]
    return next(path for path in paths if path.is_file()).read_text(encoding="utf-8")


both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


# What axe looks at in `make test`, at the end of a visit: each kind of control once. What it faults
# comes with templates, style sheets and scripts, and hardly ever with words.
LOOKED_AT = (
    "book/intro",
    "book/order-blindness",
    "book/claims",
    "book/choosing",
    "book/part-quizzes",
)


def weekly(names: tuple[str, ...], *, but: tuple[str, ...]) -> list:
    """Return pages of which `make test` visits some only."""
    return [n if n in but else pytest.param(n, marks=pytest.mark.slow) for n in names]


# `make test` visits the chapters; of all other pages some of each kind stand for the rest.
CHAPTERS = [f"book/{path.stem}" for path in quizzes.FOLDER.glob("*.yml")]
VISITED = weekly(toc_files(), but=(*CHAPTERS, *WALKED, *LOOKED_AT, LONGEST))


@pytest.mark.parametrize("page_name", VISITED)
def test_page(visited, page_name):
    """What words, formulas and figures can spoil, in one visit: to open a page takes longest."""
    page = visited.goto(page_name)
    assert page.locator("html").get_attribute("data-theme") == "light"
    equations_are_typeset(page)
    figures_are_drawn(page)
    figures_keep_their_proportions(page)
    figures_are_as_large_as_drawn(page)
    keyboard_reaches_every_control(page, "article")
    if page_name in WALKED:
        keyboard_walks_through_every_control(page, "body")
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
def test_the_keyboard_walks_through_the_longest_page(visited):
    keyboard_walks_through_every_control(visited.goto(LONGEST), "body")


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


def test_a_visit_finds_what_is_planted(opened):
    page = opened.goto("book/api")
    plant(page, "<button tabindex='-1'>Nobody comes here</button>")
    for where in ("body", "article"):
        for reaches in (keyboard_reaches_every_control, keyboard_walks_through_every_control):
            with pytest.raises(AssertionError, match="Nobody comes here"):
                reaches(page, where)
    plant(page, "<textarea id='trap'>Nobody leaves</textarea>")
    page.evaluate("() => { document.getElementById('trap').onkeydown = e => e.preventDefault(); }")
    with pytest.raises(AssertionError, match="Nobody leaves"):
        keyboard_reaches_every_control(page, "article")
    plant(page, "<img src='https://example.org/a.png' alt='from afar'>")
    with pytest.raises(AssertionError):
        figures_are_drawn(page)
    assert opened.refused or opened.messages
    drawn = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"
    plant(page, f'<img src="{drawn}" alt="Squashed" style="width: 90px; height: 50px">')
    page.locator("article img[alt=Squashed]").evaluate("i => i.decode()")
    with pytest.raises(AssertionError, match="Squashed"):
        figures_keep_their_proportions(page)
    tall = drawn.replace("'9' h", "'500' h").replace("height='9'", "height='900'")
    shrunk = f'<img src="{tall}" alt="Shrunk" style="max-height: 500px; object-fit: contain">'
    plant(page, f"<div class='cell_output'>{shrunk}</div>")
    page.locator("article img[alt=Shrunk]").evaluate("i => i.decode()")
    with pytest.raises(AssertionError, match="Shrunk"):
        figures_are_as_large_as_drawn(page)
    plant(page, "<button></button>")
    with pytest.raises(AssertionError, match="button-name"):
        axe_finds_nothing(page, but=COLOURS)
    plant(page, "<div style='width: 600px'>Wide</div>")
    resize(page, PHONE)
    with pytest.raises(AssertionError):
        nothing_scrolls_sideways(page)
    plant(page, "<div class='highlight'><pre style='white-space: pre'>" + 99 * "x" + "</pre></div>")
    with pytest.raises(AssertionError, match="xxx"):
        code_goes_on_below(page)
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


@pytest.mark.parametrize(
    ("html", "rule"),
    [
        ("<p><b style='color: #222'>Dark words</b></p>", "color-contrast"),
        ("<p><b style='color: #eee'>Light words</b></p>", "color-contrast"),
        ("<pre><span style='background: #777; color: #888'>x = 1</span></pre>", "color-contrast"),
        (
            "<p>Words around <a href='#' style='color: #bbb; text-decoration: none'>one</a></p>",
            "link-in-text-block",
        ),
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
    """Put a piece of HTML at the top of the article, in place of the one before."""
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


def keyboard_walks_through_every_control(page: Page, inside: str) -> None:
    """Press Tab, from the first control of a part of the page on, until each of them had focus."""
    visible = page.evaluate(MARK_CONTROLS, [CONTROLS, inside])
    page.evaluate(
        """inside => {
            const part = document.querySelector(inside);
            if (!window.reached) document.addEventListener('focusin', e => {
                window.reached.add(e.target.dataset.control);
                window.round ||= e.target === window.first;  // each had its turn
                window.first ??= e.target;
            });
            window.reached = new Set();
            part.tabIndex = -1;  // the place where Tab sets out from
            part.focus({ preventScroll: true });
            part.removeAttribute('tabindex');
            window.first = null;
            window.round = false;
        }""",
        inside,
    )
    reached: set[int] = set()
    round_ended = False
    for number in range(3 * len(visible) + 100):
        page.keyboard.down("Tab")  # as one who holds the key: to let it go each time takes as long
        if number % 20 == 0 or number > len(visible):  # asking takes as long as pressing
            found, round_ended = page.evaluate(
                "[[...window.reached].filter(n => n !== undefined).map(Number), window.round]"
            )
            reached = set(found)
        if len(reached) == len(visible) or round_ended:
            break
    page.keyboard.up("Tab")
    assert [visible[i] for i in range(len(visible)) if i not in reached] == []


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


@both_themes
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
    """Return the ids of the claims whose fields are as wanted."""
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
    its_address_has_filtered(page)
    show_all(page)
    six_verdicts_differ_without_colour(page)
    marks_need_no_switch(page)
    every_control_filters(page)
    a_link_opens_the_cell(page)


def every_control_filters(page: Page) -> None:
    assert shown(page) == expected()
    page.get_by_label("Source", exact=True).select_option("Faithful encoding")
    assert shown(page) == expected(source="F")
    page.get_by_label("Verdict", exact=True).select_option("refuted")
    assert shown(page) == expected(source="F", verdict="refuted")
    name = "audit/faithful-encoding"
    page.get_by_label("Chapter", exact=True).select_option(name)
    in_chapter = [i for i in expected(source="F") if f"{name}.ipynb#claim-{i}" in anchors()]
    assert in_chapter
    assert shown(page) == [i for i in in_chapter if i in expected(verdict="refuted")]
    show_all(page)


def its_address_has_filtered(page: Page) -> None:
    assert shown(page) == expected(verdict="refuted", source="S")
    assert page.get_by_label("Verdict", exact=True).input_value() == "refuted"


def show_all(page: Page) -> None:
    page.get_by_role("button", name="Show all").click()
    told = page.locator(".posenc-filter [role=status]")
    told.filter(has_text=f"{len(claims())} of ").wait_for()
    assert shown(page) == expected()


def anchors() -> set[str]:
    return {claim["anchor"] for claim in claims()}


def a_link_opens_the_cell(page: Page) -> None:
    page.locator("#ledger-F12 a").click()
    page.wait_for_url("**/audit/faithful-encoding.html#claim-F12", wait_until="commit")
    assert "F12" in page.locator("#claim-F12").inner_text()


def six_verdicts_differ_without_colour(page: Page) -> None:
    """Each has its own symbol and word, so colour only repeats what they say."""
    badges = page.locator(".posenc-definitions .posenc-badge").all_inner_texts()
    assert len({badge[0] for badge in badges}) == len(set(badges)) == 6


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


def test_ledger_reads_without_scripts(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "book" / "claims.html").as_uri())
    assert page.locator(f"{ROWS} th").all_inner_texts() == expected()
    assert not page.locator("form.posenc-filter").is_visible()
    context.close()


MARKED = "book/raw-indices"


def marked(opened):
    """Open a chapter and show its marks by the switch in the header."""
    page = opened.goto(MARKED)
    page.get_by_role("switch", name="Audit marks").click()
    page.locator(".posenc-mark").first.wait_for(state="visible")
    return page


def test_marks_of_a_chapter_are_hidden_until_a_key_shows_them(opened):
    one, other = "book/choosing", MARKED
    page = opened.goto(one)
    button = page.get_by_role("switch", name="Audit marks")
    marks = page.locator(".posenc-mark:not(.admonition.dropdown *)")  # those in no folded note
    assert marks.count() > 5
    for theme in ("light", "dark"):
        switch(page, theme)
        assert marks.locator("visible=true").count() == 0
        assert button.get_attribute("aria-checked") == "false"
        button.press("Space")
        assert button.get_attribute("aria-checked") == "true"
        assert marks.locator("visible=true").count() == marks.count()
        button.press("Space")
    button.press("Space")
    opened.goto(other)  # what was chosen holds for every page
    assert marks.locator("visible=true").count() == marks.count() > 5
    button.press("Enter")
    assert marks.locator("visible=true").count() == 0
    opened.goto(one)
    assert marks.locator("visible=true").count() == 0
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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("oscillations.html#claim-B12", "audit/first-principles.html#claim-B12"),
        ("published-code.html#claim-S21", "audit/published-code.html#claim-S21"),
        ("published-code.html", "audit/published-code.html"),
    ],
)
def test_old_addresses_lead_to_the_audit(opened, site, old, new):
    opened.page.goto((site / "book").as_uri() + f"/{old}", wait_until="commit")
    opened.page.wait_for_url(f"**/{new}", wait_until="commit")


def test_an_old_page_leads_on_without_scripts(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "book" / "published-code.html").as_uri())
    page.wait_for_url("**/audit/published-code.html")
    context.close()


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


def test_a_citation_opens_without_scripts(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "book" / "editions" / "3.html").as_uri())
    assert page.locator(".posenc-cite pre").is_visible()
    page.goto((site / "book" / "rotary.html").as_uri())
    page.locator(".posenc-cite summary").click()
    assert "@incollection" in page.locator(".posenc-cite pre").inner_text()
    context.close()


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
