"""Code that runs in the page: every cell of every page with the button, in a real browser.

Python comes from a folder that the test serves on this machine, under another address than the
site, as from a distribution; the network is down. Where the folder cannot be had, all is skipped
with the reason, or fails where POSENC_REQUIRE_DOWNLOADS is 1.
"""

import functools
import http.server
import json
import threading
from urllib.parse import urlsplit

import nbformat
import pytest
import yaml
from accessibility import COLOURS, axe_finds_nothing
from browsing import DESKTOP, PATIENCE, PHONE, darken
from sitefiles import ROOT, without

import pyodide_folder
import run_page

pytestmark = pytest.mark.browser

PAGES = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]["run_pages"]
FIRST = "book/order-blindness"
SECONDS = 300_000  # milliseconds that a busy machine may take for a page's cells
RESTS = ".posenc-run:is([data-state=ready], [data-state=stopped])"
STATUS = ".posenc-run > [role=status]"
MOST_BEFORE = 6_000  # bytes of script, style and button before the click


class Served(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; `fault` says what is wrong with it: a status, or "bytes"."""

    fault: str | int = ""
    instead: dict[str, str] = {}  # noqa: RUF012 - one for all

    def do_GET(self):
        kept = urlsplit(self.path).path
        if kept.endswith(".json") and "/run/pages/" in kept:
            plan = json.loads((run_page.Path(self.translate_path(kept))).read_text())
            return self._answer(json.dumps({**plan, **self.instead}).encode())
        if self.fault == "bytes" and kept.endswith(".mjs"):
            return self._answer(b"postMessage({ kind: 'ready' })")
        if isinstance(self.fault, int):
            return self.send_error(self.fault)
        return super().do_GET()

    def _answer(self, content):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def end_headers(self):
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, *_):
        pass


def serve(folder):
    handler = type("Handler", (Served,), {})
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(handler, directory=str(folder))
    )
    server.handler = handler
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture(scope="session")
def python_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pyodide")
    if reason := pyodide_folder.missing(folder):
        without(f"no Python for the browser: {reason}")
    return folder


@pytest.fixture(scope="session")
def servers(site, python_folder):
    book, python = serve(site), serve(python_folder)
    book.handler.instead = {"source": f"http://127.0.0.1:{python.server_port}/"}
    yield book, python
    for server in (book, python):
        server.shutdown()
        server.server_close()


@pytest.fixture
def window(browser, servers):
    """A window of a browser that knows this machine only, and what it asked for."""
    context = browser.new_context(viewport=DESKTOP)
    context.asked, context.refused, context.messages = [], [], []

    def route(request):
        url = request.request.url
        here = url.startswith(("http://127.0.0.1:", "blob:", "data:"))
        (context.asked if here else context.refused).append(url)
        request.continue_() if here else request.abort()

    context.route("**/*", route)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: context.messages.append(str(error)))
    page.address = f"http://127.0.0.1:{servers[0].server_port}"
    yield page
    assert context.refused == [], "a request left the machine"
    assert context.messages == []
    context.close()


def rest(page):
    """Wait until Python has started, or a cell has run, or either has failed."""
    page.wait_for_selector(RESTS, timeout=SECONDS)


def click(page, name):
    page.goto(f"{page.address}/{name}.html")
    page.get_by_role("button", name="Run the code here").click()
    rest(page)


def run_all(page):
    page.get_by_role("button", name="Run all").click()
    rest(page)


def outputs(page):
    return page.evaluate("posencRun.cells.map(c => [c.number, c.ran, c.outputs || []])")


def text_of(found):
    """Return what outputs say: prints, and all that is text of what is shown."""
    said = []
    for output in found:
        data = {k: v for k, v in output.get("data", {}).items() if k.startswith("text/")}
        if output["output_type"] == "stream":
            said.append((output["name"], output["text"]))
        elif data:
            said.append(("data", data))
    return said


def stored(page_name):
    cells = nbformat.read(ROOT / f"{page_name}.ipynb", as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    return [c.outputs for c in code if "remove-cell" not in c.metadata.get("tags", [])]


def test_the_folder_holds_what_pages_are_told_to_expect(python_folder):
    assert pyodide_folder.described(python_folder) == pyodide_folder.pins()


@pytest.mark.slow
@pytest.mark.parametrize("name", [page for page in PAGES if page != FIRST])
def test_every_cell_runs_and_gives_the_stored_output(window, name):
    click(window, name)
    every_output_is_the_stored_one(window, name)
    needs_what_it_loads(window, name)


def every_output_is_the_stored_one(page, name):
    run_all(page)
    assert page.locator(STATUS).inner_text() == "Ready."
    found, expected = outputs(page), stored(name)
    assert len(found) == len(expected)
    for (number, ran, given), wanted in zip(found, expected, strict=True):
        assert ran, number
        assert text_of(given) == text_of(wanted), number
        pictures = [o for o in given if "image/png" in o.get("data", {})]
        assert len(pictures) == sum("image/png" in o.get("data", {}) for o in wanted), number
    same = page.evaluate("posencRun.cells.filter(c => !c.same).map(c => c.number)")
    assert same == []
    images = page.locator("article div.cell_output figure img")
    assert images.count() > 0
    for image in images.all():
        assert image.get_attribute("src").startswith("data:image/png")
        assert len(image.get_attribute("alt")) > 20


def needs_what_it_loads(page, name):
    """Ask Python itself, in a cell of one's own, which of the page's packages it has imported."""
    code, number = a_cell_of_ones_own(page)
    code.fill("import sys\nprint(*sorted(sys.modules))")
    code.press("Control+Enter")
    rest(page)
    _, ran, (printed,) = outputs(page)[number - 1]
    assert ran
    assert set(PAGES[name]) <= set(printed["text"].split())


def a_cell_of_ones_own(page):
    """Add a cell below the first that is shown with its code; return it and its number."""
    above = page.locator("div.posenc-run-cell textarea:visible").first
    number = int(above.get_attribute("aria-label").split()[-1])
    page.get_by_role("button", name=f"New cell below cell {number}", exact=True).click()
    return page.get_by_label(f"Code of cell {number + 1}", exact=True), number + 1


def test_the_first_page_runs_and_gives_the_stored_output(window):
    page = window
    page.goto(f"{page.address}/{FIRST}.html")
    nothing_is_loaded_before_the_click(page)
    page.get_by_role("button", name="Run the code here").click()
    rest(page)
    every_output_is_the_stored_one(page, FIRST)
    needs_what_it_loads(page, FIRST)
    an_error_is_told(page)


@pytest.mark.slow
def test_a_visit(window):
    """One page from the first look to the last: what is asked of the button and of the cells."""
    page = window
    click(page, FIRST)
    run_all(page)
    axe_finds_nothing(page)
    darken(page)
    axe_finds_nothing(page, COLOURS)
    a_phone_has_no_sideways_scroll(page)
    the_keyboard_edits_and_runs(page)
    an_error_is_told(page)
    an_endless_cell_can_be_stopped(page)
    a_stopped_page_starts_anew(page)


def nothing_is_loaded_before_the_click(page):
    before = [urlsplit(url).path for url in page.context.asked if "/run/" in url]
    assert sorted(path.rpartition("/")[2] for path in before) == ["run.css", "run.js"]
    bar = page.locator(".posenc-run")
    folder = ROOT / "book" / "_assets" / "run"
    files = sum((folder / name).stat().st_size for name in ("run.css", "run.js"))
    assert files + len(bar.evaluate("bar => bar.outerHTML")) <= MOST_BEFORE
    height = bar.bounding_box()["height"]
    bar.evaluate("bar => bar.classList.remove('is-live')")
    assert bar.bounding_box()["height"] == height, "it takes its room before its script is there"
    bar.evaluate("bar => bar.classList.add('is-live')")


def a_phone_has_no_sideways_scroll(page):
    page.set_viewport_size(PHONE)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.evaluate("window.scrollTo(10000, 0)")
    assert page.evaluate("[window.scrollX, document.documentElement.scrollWidth]") == [0, 375]
    page.set_viewport_size(DESKTOP)


def the_keyboard_edits_and_runs(page):
    code, number = a_cell_of_ones_own(page)
    code.press_sequentially("for i in range(3):\nprint(i * 7)")
    assert code.input_value() == "for i in range(3):\n    print(i * 7)"
    code.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "BUTTON", "Tab leaves the cell"
    page.keyboard.press("Enter")
    rest(page)
    assert [output["text"] for output in outputs(page)[number - 1][2]] == ["0\n7\n14\n"]


def an_error_is_told(page):
    changed = page.locator(".posenc-run-cell textarea").nth(1)
    kept = changed.input_value()
    changed.fill(f"{kept}\nnobody_knows")
    changed.press("Control+Enter")
    rest(page)
    assert page.get_by_text("NameError: name 'nobody_knows' is not defined").is_visible()
    assert "Cell 2 failed" in page.locator(STATUS).inner_text()
    page.get_by_role("button", name="Undo changes in cell 2").click()
    assert changed.input_value() == kept


def an_endless_cell_can_be_stopped(page):
    own = page.locator(".posenc-run-cell textarea").nth(1)
    own.fill("while True:\n    pass")
    own.press("Control+Enter")
    page.get_by_role("button", name="Stop cell 2").click()
    page.wait_for_selector(".posenc-run[data-state=stopped]")
    assert "starts Python anew" in page.locator(STATUS).inner_text()


def a_stopped_page_starts_anew(page):
    """Python is a fresh one, so the cells above run first, and what they gave is there again."""
    page.get_by_role("button", name="Undo changes in cell 2").click()
    page.get_by_role("button", name="Run cell 2", exact=True).click()
    rest(page)
    assert page.locator(STATUS).inner_text() == "Ready."
    assert [ran for _, ran, _ in outputs(page)][:3] == [True, True, False]


@pytest.mark.parametrize(
    ("fault", "words"),
    [(404, "it answered 404"), ("bytes", "its SHA-256 differs"), ("down", "Is there a network")],
)
def test_what_goes_wrong_on_the_way_is_said(window, servers, monkeypatch, fault, words):
    book, python = servers
    monkeypatch.setattr(python.handler, "fault", fault)
    if fault == "down":
        monkeypatch.setattr(book.handler, "instead", {"source": "http://127.0.0.1:9/"})
    click(window, FIRST)
    told = window.locator(STATUS).inner_text()
    assert words in told
    assert window.locator(".posenc-run").get_attribute("data-state") == "stopped"


def test_from_a_folder_it_says_what_to_do(opened):
    page = opened.goto(FIRST)
    page.get_by_role("button", name="Run the code here").click()
    assert "make serve" in page.locator(".posenc-run [role=status]").inner_text()
    assert opened.refused == []
    assert opened.messages == []
