"""The book is found: what pages tell search engines and previews of links, and lost addresses."""

import functools
import http.server
import os
import re
import subprocess
import threading
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from accessibility import COLOURS, axe_finds_nothing
from browsing import DESKTOP, PATIENCE, PHONE
from parsing import by_class, by_name, parsed
from PIL import Image
from sitefiles import toc_files

import cards
import content_policy
import page_metadata
import redirects

BOOK = "The Positional Encoding Book"
LEADS_ON = {"index", *redirects.PAGES}
NO_CONTENT = {"search", "404"}
every_page = pytest.mark.parametrize("page", toc_files())


def tag(site: Path, page: str, name: str) -> str:
    """Return what a tag of a page's head says, which must stand there once."""
    tags = by_name(site / f"{page}.html")["meta"]
    (said,) = [one["content"] for one in tags if name in (one.get("name"), one.get("property"))]
    return said


def canonical(site: Path, page: str) -> str:
    (link,) = parsed(site / f"{page}.html").find_all("link", rel="canonical")
    return link["href"]


# --- what the built pages say


def test_every_page_has_one_title_and_one_heading_and_shares_no_title(site):
    titles = {}
    for path in content_policy.pages(site):
        page = path.relative_to(site).with_suffix("").as_posix()
        (title,) = by_name(path)["title"]
        assert len(by_name(path)["h1"]) == 1, page
        assert title.get_text().count(BOOK) == (page not in LEADS_ON - {"index"}), page
        titles[page] = title.get_text()
    times = Counter(title for page, title in titles.items() if page not in LEADS_ON)
    assert times.most_common(1)[0][1] == 1, times.most_common(3)


def test_every_description_is_its_own_and_can_be_shown_whole(site):
    told = {page: tag(site, page, "description") for page in toc_files()}
    assert len(set(told.values())) == len(told)
    for page, text in told.items():
        assert page_metadata.SHORTEST <= len(text) <= page_metadata.LONGEST, page
        assert not re.search(r"[<>*`{}\\$✓]|\[|, ?,|\s{2}", text), (page, text)


@every_page
def test_a_shared_link_says_what_the_page_says(site, page):
    said = tag(site, page, "og:title")
    assert said == tag(site, page, "twitter:title")
    assert by_name(site / f"{page}.html")["title"][0].get_text().endswith(BOOK)
    assert said in by_name(site / f"{page}.html")["title"][0].get_text()
    for kind in ("og:description", "twitter:description"):
        assert tag(site, page, kind) == tag(site, page, "description")
    assert tag(site, page, "og:url") == canonical(site, page)
    assert tag(site, page, "og:site_name") == BOOK
    assert tag(site, page, "twitter:card") == "summary_large_image"


@every_page
def test_a_page_with_figures_has_a_card_of_its_own(site, page):
    address = tag(site, page, "og:image")
    assert address == tag(site, page, "twitter:image")
    figures = parsed(site / f"{page}.html").select(
        "article img[src*=_images], figure.explorable svg"
    )
    named = page if figures else toc_files()[0]
    assert address == f"{page_metadata.address()}_cards/{named}.png"
    with Image.open(site / address.removeprefix(page_metadata.address())) as card:
        assert (card.format, card.size) == ("PNG", (1200, 630))
    assert [int(tag(site, page, f"og:image:{side}")) for side in ("width", "height")] == [1200, 630]


def test_no_two_cards_are_alike_and_none_is_left_over(site):
    kept = {path: path.read_bytes() for path in site.glob("_cards/**/*.png")}
    assert len(set(kept.values())) == len(kept) > 30
    used = {
        tag(site, page, "og:image").removeprefix(page_metadata.address()) for page in toc_files()
    }
    assert {path.relative_to(site).as_posix() for path in kept} == used


def test_maps_list_exactly_the_pages_of_the_site_by_their_canonical_addresses(site):
    tree = ElementTree.parse(site / "sitemap.xml")
    mapped = [one.text for one in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert mapped == [canonical(site, page) for page in toc_files()]
    assert mapped == [f"{page_metadata.address()}{page}.html" for page in toc_files()]
    text = (site / "llms.txt").read_text("utf-8")
    listed = re.findall(r"^- \[(.+)\]\((\S+)\): (.+)$", text, re.MULTILINE)
    kinds = ("og:title", "og:url", "description")
    assert listed == [tuple(tag(site, page, kind) for kind in kinds) for page in toc_files()]
    assert text.startswith(f"# {BOOK}\n\n> {tag(site, toc_files()[0], 'description')}\n\n")
    there = {p.relative_to(site).with_suffix("").as_posix() for p in content_policy.pages(site)}
    assert there - set(toc_files()) == LEADS_ON | NO_CONTENT


def test_robots_are_shown_the_map_and_kept_from_pages_without_content(site):
    robots = (site / "robots.txt").read_text(encoding="utf-8")
    assert f"Sitemap: {page_metadata.address()}sitemap.xml" in robots.splitlines()
    for page in NO_CONTENT:
        assert tag(site, page, "robots") == "noindex"
        assert parsed(site / f"{page}.html").find("link", rel="canonical") is None


def test_pages_that_lead_on_name_where_they_lead(site):
    first = toc_files()[0]
    assert canonical(site, "index") == canonical(site, first)
    for kind in ("description", "og:title", "og:image", "og:url"):
        assert tag(site, "index", kind) == tag(site, first, kind)
    assert canonical(site, "book/api/study") == canonical(site, "book/api/experiments")


@every_page
def test_a_page_says_its_version_and_when_it_changed(site, page):
    (line,) = by_class(site / f"{page}.html")["posenc-version"]
    assert line.get_text().startswith(f"Version {page_metadata.__version__}.")
    assert line.a["href"].endswith(tuple(f"/{page}{kind}" for kind in (".ipynb", ".md")))
    if line.time:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", line.time["datetime"])


# --- lost addresses


class Served(http.server.SimpleHTTPRequestHandler):
    """Serves the site as its host does: in a folder, with the page for lost addresses."""

    def translate_path(self, path):
        inside = path.removeprefix(page_metadata.folder())
        return super().translate_path(f"/{inside}" if inside != path else "/none")

    def send_error(self, code, *_):
        content = Path(self.directory, "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def served(site):
    handler = functools.partial(Served, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{page_metadata.folder()}"
        server.shutdown()


@pytest.fixture(params=[DESKTOP, PHONE], ids=["desktop", "phone"])
def lost(browser, request):
    page = browser.new_page(viewport=request.param)
    page.set_default_timeout(PATIENCE)
    yield page
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize(
    ("address", "asked", "found"),
    [
        ("old/chapters/v1/rotary-embeddings.html", "rotary embeddings", "book/rotary.html"),
        ("book/alibi%20bias/index.html", "alibi bias", "book/atlas/distances.html"),
    ],
)
def test_a_lost_address_is_searched_for(lost, served, address, asked, found):
    failed = []
    lost.on("response", lambda answer: failed.append(answer.url) if answer.status > 399 else None)
    lost.goto(f"{served}{address}")
    lost.locator("#search-results a").first.wait_for()
    assert lost.locator("main input[name=q]").input_value() == asked
    links = lost.locator("#search-results a").evaluate_all("all => all.map(one => one.href)")
    assert any(link.startswith(f"{served}{found}") for link in links)
    assert failed == [f"{served}{address}"]
    lost.locator("main [data-lost] a").click()
    lost.wait_for_url(f"{served}{toc_files()[0]}.html")


@pytest.mark.browser
@pytest.mark.parametrize("address", ["index/index.html", "%E4/%25"])
def test_an_address_without_words_asks_nothing(lost, served, address):
    lost.goto(f"{served}{address}")
    assert lost.locator("main input[name=q]").input_value() == ""
    assert lost.locator("h1:visible").inner_text() == "This page is not here"


@pytest.mark.browser
def test_the_page_for_lost_addresses_can_be_used_by_all(lost, served):
    lost.goto(f"{served}deep/down/rope.html")
    lost.locator("#search-results a").first.wait_for()
    axe_finds_nothing(lost, COLOURS)


# --- how they are made


def test_git_knows_when_a_file_changed(tmp_path):
    def git(*arguments: str, day: str = "2026-05-04") -> None:
        when = {f"GIT_{who}_DATE": f"{day}T12:00:00Z" for who in ("AUTHOR", "COMMITTER")}
        who = ("-c", "user.name=A", "-c", "user.email=a@b.c")
        subprocess.run(
            ["git", "-C", tmp_path, *who, *arguments],
            check=True,
            env={**os.environ, **when},
        )

    assert page_metadata.dates(tmp_path) == {}
    git("init", "--quiet")
    for name, day in (("a.md", "2026-05-04"), ("b c.md", "2026-05-05"), ("d.md", "2026-05-06")):
        (tmp_path / name).write_text(name)
        git("add", name)
        git("commit", "--quiet", "--message", name, day=day)
    (tmp_path / "d.md").write_text("changed since")
    assert page_metadata.dates(tmp_path) == {"a.md": "2026-05-04", "b c.md": "2026-05-05"}
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth=1", tmp_path.as_uri(), shallow], check=True)
    assert page_metadata.dates(shallow) == {}


DRAWING = '<svg viewBox="0 0 300 100"><path class="line" d="M10 10h200v60h-200z"/></svg>'


def test_a_card_is_made_once_and_changes_with_its_figure(tmp_path, monkeypatch):
    monkeypatch.setattr(cards, "MADE", tmp_path)
    one = cards.card("Title", "words", "Book", DRAWING)
    made = list(tmp_path.iterdir())
    assert cards.card("Title", "words", "Book", DRAWING) == one
    assert list(tmp_path.iterdir()) == made
    assert cards.card("Title", "words", "Book", DRAWING.replace("200", "150")) != one
    assert cards.card("Another", "words", "Book", DRAWING) != one


@pytest.mark.parametrize("size", [(10, 900), (900, 10), (1, 1), (800, 600)])
def test_a_figure_of_any_shape_stays_within_its_card(size):
    content = cards.drawn(
        "A title of several words " * 3, "more " * 9, "Book", Image.new("RGB", size, "red")
    )
    with Image.open(cards.io.BytesIO(content)) as card:
        edge = card.convert("RGB").crop((1200 - 50, 0, 1200, 630))
        assert all(low >= 250 for low, _ in edge.getextrema())
