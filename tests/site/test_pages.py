"""The built HTML, read without a browser."""

import json
import posixpath
import re
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml
from bs4 import BeautifulSoup
from parsing import by_class, by_id, by_name, elements, parsed, prose
from pybtex.database import Entry, parse_string
from pygments.token import STANDARD_TYPES
from sitefiles import ROOT, notebook_paths, toc_files

import book_pdf
import citing
import content_policy
import lean_code
import ledger
import picture
import program_states
import redirects
import repository
import results_editions
import wheels
from posenc_book.audit.claims import SHOWN_MIME
from posenc_book.read import digests

MOST_BYTES = 600_000  # of a page and its pictures, without the theme
HEAVY = {"book/asked-again": 900_000}  # the evidence of three pages, on one
# sphinx-exercise and sphinx-proof give one id to every box of a kind, or to its body.
REPEATED_IDS = re.compile(r"proof|[a-z]+-content")
# Directives and roles of MyST that the site should have turned into something.
MARKUP = re.compile(
    r":::|```|\{(?:eq|numref|ref|prf:ref|cite:?[tp]?|doc|term)\}|^\| .* \|", flags=re.MULTILINE
)
# Elements that make a browser load something by itself.
LOADED = dict.fromkeys(("script", "img", "iframe", "source", "video", "audio", "embed"), "src")
LOADED |= {"object": "data", "link": "href"}

NOTEBOOKS = [p.relative_to(ROOT / "book").with_suffix("").as_posix() for p in notebook_paths()]

every_page = pytest.mark.parametrize("page", toc_files())
every_notebook = pytest.mark.parametrize("name", NOTEBOOKS)


def remote(address: str) -> bool:
    return address.startswith("//") or urlsplit(address).scheme in ("http", "https", "ftp")


def article(site: Path, page: str) -> BeautifulSoup:
    return parsed(site / f"{page}.html").find("article")


def test_the_picture_of_readme_shows_this_site(site):  # noqa: ARG001 - fails where one is required
    assert picture.stored() == picture.shown(), "the picture is older: run `make picture`"


def test_no_page_loads_anything_from_the_network(site):
    loaded = []
    for path in site.rglob("*.html"):
        for tag, attribute in LOADED.items():
            for element in by_name(path)[tag]:
                if element.get("rel") not in (["canonical"], ["next"], ["prev"]):
                    address = element.get(attribute, "")
                    loaded += [address] * remote(address)
    assert loaded == []


def built(site: Path) -> list[Path]:
    """Return all pages; the front door, which only leads on, is not made by the theme."""
    return [path for path in content_policy.pages(site) if path != site / "index.html"]


def test_no_page_carries_a_script_or_a_handler(site):
    found = []
    for path in content_policy.pages(site):
        for element in elements(path):
            handlers = [name for name in element.attrs if name.startswith("on")]
            code = element.name == "script" and not element.has_attr("src")
            if handlers or (code and element.get("type") != "application/json"):
                found.append(f"{path.name}: {str(element)[:80]}")
            address = element.get("href") or element.get("src") or ""
            if address.lower().startswith("javascript:"):
                found.append(f"{path.name}: {address}")
    assert found == []


def test_every_page_says_what_it_may_load_before_it_loads_anything(site):
    for path in built(site):
        policy = parsed(path).find("meta", attrs={"http-equiv": "Content-Security-Policy"})
        rules = dict(rule.split(" ", 1) for rule in policy["content"].split("; "))
        assert rules["default-src"] == "'none'"
        assert "unsafe" not in rules["script-src"]
        assert not any(source.startswith("http") for source in policy["content"].split())
        assert policy.find_previous(("link", "script", "style", "img")) is None


def test_only_a_page_that_runs_its_code_may_start_a_worker(site):
    pages = yaml.safe_load((ROOT / "_config.yml").read_text())["sphinx"]["config"]["run_pages"]
    for path in built(site):
        policy = parsed(path).find("meta", attrs={"http-equiv": "Content-Security-Policy"})
        linked = {script.get("src", "").split("?")[0] for script in by_name(path)["script"]}
        runs = path.relative_to(site).with_suffix("").as_posix() in pages
        assert ("worker-src 'self'" in policy["content"]) == runs
        assert {one for one in linked if "_static/run/" in one} == (
            {"../_static/run/run.js"} if runs else set()
        )
        bars = [one for one in by_class(path)["posenc-run"] if one.find_parent("article")]
        assert any(one.find("button") for one in bars) == runs


@every_page
def test_internal_links_and_anchors_exist(site, page):
    broken = []
    for link in by_name(site / f"{page}.html")["a"]:
        if not link.has_attr("href"):
            continue
        target = urlsplit(link["href"])
        if target.scheme or target.netloc or link["href"] == "#":
            continue
        relative = posixpath.join(posixpath.dirname(page), unquote(target.path))
        path = site / (relative if target.path else f"{page}.html")
        anchor = unquote(target.fragment)
        if not path.is_file() or (anchor and anchor not in by_id(path)):
            broken.append(link["href"])
    assert broken == []


@pytest.mark.parametrize(
    ("page", "begins", "ends"),
    [("rotations", ["oscillations"], []), ("rotary", ["four-doors"], ["rotary"])],
)
def test_a_chapter_offers_the_program_to_begin_with_and_the_one_it_ends_with(
    site, page, begins, ends
):
    expected = [f"../program/{name}/program.py" for name in [*begins, *ends]]
    found = article(site, f"book/{page}").select("a[download]")
    assert [link["href"] for link in found] == expected
    assert [link for link in found if link.find_parent(class_="dropdown")] == found[: len(begins)]
    address = repository.pages(repository.address()).rstrip("/")
    notebook = (site.parent / "notebooks" / "book" / f"{page}.ipynb").read_text(encoding="utf-8")
    assert re.findall(r"\]\(([^)]*/program\.py)\)", notebook) == [
        f"{address}{one.removeprefix('..')}" for one in expected
    ]


def test_the_site_holds_every_state_of_the_program_and_nothing_else_there(site):
    held = {path.parent.name: path.read_text(encoding="utf-8") for path in site.glob("program/*/*")}
    assert held == program_states.states()


@every_page
def test_images_say_what_they_show_and_ids_are_unique(site, page):
    silent = [i["src"] for i in by_name(site / f"{page}.html")["img"] if not i.get("alt")]
    assert silent == []
    counts = Counter(e["id"] for e in elements(site / f"{page}.html") if e.has_attr("id"))
    twice = [name for name, n in counts.items() if n > 1 and not REPEATED_IDS.fullmatch(name)]
    assert twice == []


@every_page
def test_no_markup_is_left_unrendered(site, page):
    assert MARKUP.findall("".join(prose(article(site, page)))) == []


def test_marks_that_are_left_out_of_code_have_the_colour_of_plain_text(site):
    css = (site / "_static" / "pygments.css").read_text(encoding="utf-8")
    for theme in ("light", "dark"):
        start = f'html[data-theme="{theme}"] .highlight '
        plain = re.search(re.escape(start) + r"{[^}]*\bcolor: (#\w+)", css)[1]
        for kind in lean_code.PLAIN:
            mark = STANDARD_TYPES[kind]
            assert f"{start}.{mark} {{ color: {plain} }}" in css, (theme, mark)


def plain(text: str) -> str:
    return text.replace(r"\(", "").replace(r"\)", "")


def test_every_verdict_stands_below_the_words_of_its_claim(site):
    for claim in ledger.read():
        chapter, anchor = claim["anchor"].split(".ipynb#")
        box = by_id(site / "book" / f"{chapter}.html")[anchor]
        words, badge = box.find(class_="posenc-words"), box.find(class_="posenc-badge")
        said = plain(words.get_text()).removeprefix("A statement of ours. ")
        assert said.startswith(claim["claim"].replace("$", "")), claim["id"]
        assert claim["place"] in words.find("small").get_text()
        assert badge.find_previous(class_="posenc-words") is words


@every_page
def test_page_is_light(site, page):
    whole = (site / f"{page}.html").read_text(encoding="utf-8")
    text = re.search(r"<article\b.*</article>", whole, re.DOTALL)[0]
    shown = by_name(site / f"{page}.html")["img"]
    sources = {unquote(image["src"]) for image in shown if image.find_parent("article")}
    pictures = [(site / page).parent / source for source in sources if "_images" in source]
    assert len(text.encode()) + sum(p.stat().st_size for p in pictures) <= HEAVY.get(
        page, MOST_BYTES
    )


@every_page
def test_page_can_be_left_in_both_directions(site, page):
    pages = toc_files()
    place = pages.index(page)
    wanted = {"left-prev": pages[:place][-1:], "right-next": pages[place + 1 :][:1]}
    for name, neighbour in wanted.items():
        links = [a for a in by_class(site / f"{page}.html")[name] if a.name == "a"]
        found = [
            posixpath.normpath(posixpath.join(posixpath.dirname(page), link["href"]))
            for link in links
        ]
        assert found == [f"{p}.html" for p in neighbour]


@every_notebook
def test_launch_buttons_open_this_notebook(site, name):
    url = repository.address()
    slug = repository.slug(url)
    links = {a.get("href", "") for a in by_name(site / "book" / f"{name}.html")["a"]}
    colab = "https://colab.research.google.com/github"
    assert f"{colab}/{slug}/blob/{wheels.BRANCH}/book/{name}.ipynb" in links
    (binder,) = [link for link in links if "mybinder" in link]
    environment, _, content = binder.partition("?urlpath=")
    assert environment == f"https://mybinder.org/v2/gh/{slug}/{repository.branch()}"
    asked = parse_qs(unquote(content).removeprefix("git-pull?"))
    assert asked["repo"] == [url]
    assert asked["branch"] == [wheels.BRANCH]
    assert asked["urlpath"] == [f"lab/tree/{slug.split('/')[1]}/book/{name}.ipynb"]
    launching = [x for x in links if "mybinder" in x or "colab.research" in x]
    assert len(launching) == 2
    assert url in links


@every_notebook
def test_every_figure_is_numbered_and_captioned_and_no_set_up_cell_is_shown(site, name):
    assert "find_spec(" not in article(site, f"book/{name}").get_text()
    pictures = article(site, f"book/{name}").select("div.cell_output img")
    assert all(one.find_parent("figure") for one in pictures)
    for one in pictures:
        number = one.find_parent("figure").select_one("figcaption .caption-number")
        assert number.get_text().startswith("Fig. ")


def test_ledger_shows_every_claim_and_leads_to_its_cell(site):
    claims = [claim["id"] for claim in ledger.read()]
    rows = article(site, "book/claims").select("table.posenc-ledger tbody tr")
    assert [row.th.get_text() for row in rows] == claims
    for claim_id, row in zip(claims, rows, strict=True):
        page, anchor = row.a["href"].split("#")
        cell = by_id(site / "book" / page)[anchor]
        assert cell.select_one(".posenc-badge strong").get_text() == claim_id
        assert f"{claim_id} {row['data-verdict']} " in cell.get_text()


def test_pages_are_those_of_this_tree(site):
    built = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")}
    pages = {page for page in built if not page.startswith("_static/")}
    assert pages - {"index", "search", "404"} == {*toc_files(), *redirects.PAGES}


@pytest.mark.parametrize(("old", "new"), redirects.PAGES.items())
def test_an_old_address_leads_on(site, old, new):
    page = parsed(site / f"{old}.html")
    script = page.find("script")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(old), script["data-target"]))
    page_of, *section = new.split("#")
    assert target == "#".join([f"{page_of}.html", *section])
    assert (site / f"{page_of}.html").is_file()
    assert (site / posixpath.dirname(old) / script["src"]).resolve().is_file()
    assert page.a["href"] == script["data-target"]


def entries(site: Path, page: str) -> dict[str, Entry]:
    """Return the BibTeX entries of a page, which must be well formed, by their addresses."""
    boxes = by_class(site / f"{page}.html")["posenc-cite"]
    told = [pre.get_text() for box in boxes for pre in box.find_all("pre")]
    found = [one for text in told for one in parse_string(text, "bibtex").entries.values()]
    return {one.fields["url"]: one for one in found}


@every_page
def test_every_page_says_how_to_cite_it(site, page):
    path = site / f"{page}.html"
    own = repository.pages(repository.address()) + f"{page}.html"
    canonical = [one["href"] for one in by_name(path)["link"] if one.get("rel") == ["canonical"]]
    assert {*canonical} <= {own}
    entry = entries(site, page)[own]
    assert entry.persons["author"] == citing.persons(citing.citation()["authors"])
    heading = re.sub(r"^[\d.]+ |#$", "", article(site, page).h1.get_text())
    assert heading in entry.fields["title"] or page in results_editions.editions()
    assert "accessed on YYYY-MM-DD" in entry.fields["note"]
    assert entry.fields["year"].isdecimal()
    (box,) = by_class(path)["posenc-cite"]
    assert box.parent.name == "article"
    assert box.has_attr("open") == (page in results_editions.editions())


@pytest.mark.parametrize("page", results_editions.editions())
def test_the_page_of_an_edition_names_what_its_file_holds(site, page):
    edition = results_editions.editions()[page]
    stored = json.loads((ROOT / "results" / edition.file).read_text(encoding="utf-8"))
    text = article(site, page).get_text()
    assert digests.digest(ROOT / "results" / edition.file) in text
    assert page.endswith(f"/{stored['name']}")
    for shown in (page, *(f"book/{one}" for one in edition.shown_by)):
        (entry,) = [e for url, e in entries(site, shown).items() if url.endswith(f"{page}.html")]
        assert entry.fields["version"] == stored["name"]
        hashes = [stored[name] for name in ("date", "training", "analysis")]
        assert all(one in entry.fields["note"] for one in (*hashes, edition.digest))
    rows = [
        [cell.get_text() for cell in row.find_all("td")]
        for row in article(site, page).select("tbody tr")
    ]
    told = {file: f"{n.replace(',', '')} lines, {digest}" for file, n, digest in rows}
    folder = f"results/{edition.folder}".rstrip("/")
    assert told == {f"{folder}/{name}.jsonl": one for name, one in stored["scores"].items()}
    listed = article(site, "book/editions").select("tbody a")
    assert f"{page.removeprefix('book/')}.html" in [link["href"] for link in listed]


def test_old_anchors_of_claims_are_known_to_the_script(site):
    text = (site / "_static" / "claims-where.js").read_text(encoding="utf-8")
    where = json.loads(text.removeprefix("window.posencClaims = ").rstrip().rstrip(";"))
    assert where.keys() == {claim["id"] for claim in ledger.read()}
    for claim_id, page in where.items():
        assert f"claim-{claim_id}" in by_id(site / page)


def test_every_mark_leads_to_its_cell_and_has_a_card(site):
    rows, seen = {claim["id"]: claim for claim in ledger.read()}, 0
    for page in toc_files():
        for mark in by_class(site / f"{page}.html")["posenc-mark"]:
            claim_id, card = mark.a["href"].split("#claim-")[1], mark.find(role="tooltip")
            assert mark.a["aria-describedby"] == card["id"]
            assert rows[claim_id]["verdict"] in card.get_text()
            assert rows[claim_id]["claim"].replace("$", "") in plain(card.get_text())
            seen += 1
    assert seen > 100


def test_a_shown_verdict_leads_to_its_cell_and_takes_no_anchor(site):
    for path in notebook_paths():
        stored = path.read_text(encoding="utf-8").count(f'"{SHOWN_MIME}"')
        page = path.relative_to(ROOT).with_suffix("").as_posix()
        boxes = by_class(site / f"{page}.html")["posenc-shown"]
        assert len(boxes) == stored
        for box in boxes:
            assert not box.has_attr("id")
            assert box.a["href"].endswith(f"#claim-{box['data-claim']}")


def test_no_dollar_sign_of_a_verdict_is_left(site):
    for page in toc_files():
        classed = by_class(site / f"{page}.html")
        for name in ("posenc-claim", "posenc-ledger", "posenc-card"):
            assert not any("$" in box.get_text() for box in classed[name])


IN_A_SENTENCE = ["p", "li", "dt", "dd", "th", "td", "caption", "figcaption", "legend"]


def test_print_leaves_out_nothing_that_a_sentence_needs(site):
    """A heading's sign for its link, and what a mark shows to who points at it, are beside it."""
    cut, seen = {}, 0
    for page in (name for _, names in book_pdf.pages() for name in names):
        text = article(site, page)
        gone = text.select(book_pdf.GONE)
        places = {id(element) for element in gone}
        for element in gone:
            whole = any(id(parent) in places for parent in element.parents)
            beside = {"headerlink", "posenc-card"} & {*element.get("class", [])}
            if element.get_text(strip=True) and element.find_parent(IN_A_SENTENCE) and not whole:
                seen += 1
                if not beside:
                    cut.setdefault(page, []).append(element.find_parent(IN_A_SENTENCE).get_text())
    assert cut == {}
    assert seen > 100
