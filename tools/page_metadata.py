"""Sphinx extension: what makes the book be found, and its links look like what they lead to.

Every page has a title, a description, one canonical address, a picture for those who share it, and
a line on its version. The site has a map of its pages, the same as a list in Markdown for language
models, and a page for addresses that are not there. Addresses follow `repository.url`.

A description is what a page says first, a picture is made of its first figure (`cards.py`); where
that would tell a stranger too little, `book/shared.yml` has other ones. The first page has the
book's emblem, and a page without figures has the picture of the first page.
"""

import datetime
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from itertools import groupby
from os.path import relpath
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

import cards
import repository
import site_search
from edition import FIGURE
from posenc import __version__
from posenc_book.figures import emblem

logger = logging.getLogger(__name__)

ROOT = repository.ROOT
SHARED = ROOT / "book" / "shared.yml"
LOST = "404"
CARDS = "_cards"
SHORTEST, LONGEST = 50, 160  # letters of a description that is shown whole
SENTENCE_ENDS = re.compile(r"(?<=[.!?…])”?\s+")
LEFT_OUT = (nodes.math, nodes.raw, nodes.footnote_reference)
RELATIVE = re.compile(r'\b(href|src|action|data-content_root)="(?!/|#|[a-z]+:)(?:\./)?')
LICENCE = "The text and figures of this book are under CC BY 4.0, its code under MIT."


@cache
def address() -> str:
    """Return where the site is published, with a slash at the end."""
    return repository.pages(repository.address())


def folder() -> str:
    """Return where the site lies on its server, such as "/name/"."""
    return "/" + address().split("/", 3)[3]


# --- descriptions


@cache
def chosen() -> dict[str, dict]:
    """Return what somebody chose for pages: their descriptions, and the numbers of figures."""
    return yaml.safe_load(SHARED.read_text(encoding="utf-8"))


def describe(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the description of a page that has been read."""
    page = app.env.docname
    app.env.note_dependency(str(SHARED))
    own = chosen()["descriptions"].get(page.removeprefix("book/"))
    app.env.metadata[page]["description"] = own or beginning(doctree)


def beginning(doctree: nodes.document) -> str:
    """Return the first sentences of a page's prose, as many as a description may have."""
    text = ""
    for paragraph in paragraphs(doctree):
        for sentence in sentences(paragraph):
            longer = f"{text} {sentence}".strip()
            if len(longer) > LONGEST:
                return text if len(text) >= SHORTEST else shortened(longer)
            text = longer
        if len(text) >= SHORTEST:
            break
    return text


def paragraphs(doctree: nodes.document) -> Iterator[str]:
    """Yield the paragraphs that stand for themselves."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            yield plain(paragraph)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return SENTENCE_ENDS.split(text)


def plain(node: nodes.Node) -> str:
    """Return what a node says, without formulas, markup and references to the literature."""
    if isinstance(node, LEFT_OUT) or (
        isinstance(node, pending_xref) and node.get("refdomain") == "cite"
    ):
        return ""
    if not node.children:
        return node.astext()
    text = "".join(plain(child) for child in node.children)
    return re.sub(r"\s+([.,;:])", r"\1", re.sub(r"\s+", " ", text)).strip()


def shortened(text: str) -> str:
    """Return a text cut at a word."""
    return f"{text[: LONGEST - 1].rsplit(' ', 1)[0].rstrip(',;:–')}…"


def check(app: Sphinx, env: BuildEnvironment) -> None:  # noqa: ARG001
    """Warn of a description that is too short, too long, or that of another page."""
    told = {page: env.metadata[page]["description"] for page in sorted(env.found_docs)}
    times = Counter(told.values())
    for page, text in told.items():
        if times[text] > 1 or not SHORTEST <= len(text) <= LONGEST:
            logger.warning(
                "book/shared.yml: %s needs a description of its own, %s to %s letters; it has %r",
                *(page, SHORTEST, LONGEST, text),
            )


# --- versions


def dates(root: Path = ROOT) -> dict[str, str]:
    """Return when each file was changed last, as git knows it; nothing where git does not."""
    if git(root, "rev-parse", "--is-shallow-repository") != "false\n":
        return {}
    found: dict[str, str] = {}
    for commit in git(root, "log", "--format=%x00%cs", "--name-only").split("\0")[1:]:
        day, *names = filter(None, commit.splitlines())
        for name in names:
            found.setdefault(name, day)
    for name in git(root, "diff", "--name-only", "HEAD").splitlines():
        found.pop(name, None)
    return found


def git(root: Path, *arguments: str) -> str:
    """Return what git says, or nothing where it cannot."""
    try:
        run = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return run.stdout


def changed(app: Sphinx, env: BuildEnvironment) -> list[str]:  # noqa: ARG001
    """Name the pages whose day of change is another one now."""
    known, before = dates(), getattr(env, "posenc_changed", {})
    env.posenc_changed = {page: last_change(env, page, known) for page in env.found_docs}
    return [page for page, day in env.posenc_changed.items() if before.get(page) != day]


def last_change(env: BuildEnvironment, page: str, known: dict[str, str]) -> str:
    """Return the day on which a page's file, or another that it is made from, changed last."""
    if source(env, page) not in known:
        return ""
    made_from = {relpath(ROOT / name, ROOT) for name in env.dependencies[page]}
    made_from -= {relpath(SHARED, ROOT)}
    return max(known.get(name, "") for name in (source(env, page), *made_from))


def source(env: BuildEnvironment, page: str) -> str:
    """Return the file of a page in the repository."""
    return Path(env.doc2path(page, base=False)).as_posix()


def version(env: BuildEnvironment, page: str) -> str:
    """Return the line on a page's version, with a link to its earlier ones."""
    history = f"{repository.address()}/commits/{repository.branch()}/{source(env, page)}"
    day = env.posenc_changed[page]
    if not day:
        return f'Version {__version__}. <a href="{history}">Changes of this page</a>.'
    when = datetime.date.fromisoformat(day)
    said = f'<time datetime="{day}">{when.day} {when:%B %Y}</time>'
    return f'Version {__version__}. This page last changed on <a href="{history}">{said}</a>.'


# --- what stands in a page


def head(
    app: Sphinx,
    page: str,
    template: str,  # noqa: ARG001
    context: dict,
    doctree: nodes.document | None,
) -> None:
    """Give a page its title, what others tell of it, and the line on its version."""
    book = app.config.html_title or app.config.project
    title = re.sub(r"<[^>]+>", "", context.get("title", book))
    above = re.sub(r"<[^>]+>", "", context["parents"][-1]["title"]) if in_reference(page) else ""
    context["headline"] = " – ".join(dict.fromkeys(part for part in (title, above, book) if part))
    if doctree is None:
        context["metatags"] = '<meta name="robots" content="noindex">\n'
        context["pageurl"] = ""
        return
    env = app.env
    plain_title = env.titles[page].astext()
    shown = make_card(app, page, book, doctree)
    context["metatags"] += tags(page, plain_title, book, env.metadata[page]["description"], shown)
    context["theme_extra_footer"] += f'<p class="posenc-version">{version(env, page)}</p>'


def in_reference(page: str) -> bool:
    """Say whether a page's title, such as "Attention", needs that of the page above it."""
    return page.startswith("book/api/")


def tags(page: str, title: str, book: str, description: str, card: str) -> str:
    """Return the tags that search engines and previews of links read."""
    picture = f"{address()}{CARDS}/{card}.png"
    named = {
        "description": description,
        "twitter:card": "summary_large_image",
        "twitter:title": title,
        "twitter:description": description,
        "twitter:image": picture,
    }
    properties = {
        "og:type": "article",
        "og:site_name": book,
        "og:title": title,
        "og:description": description,
        "og:url": repository.published(page),
        "og:image": picture,
        "og:image:width": cards.SIZE[0],
        "og:image:height": cards.SIZE[1],
        "og:image:alt": f"A title and a figure from {book}",
    }
    lines = [("name", *one) for one in named.items()]
    lines += [("property", *one) for one in properties.items()]
    return "".join(
        f'<meta {kind}="{name}" content="{escape(str(said))}">\n' for kind, name, said in lines
    )


def make_card(app: Sphinx, page: str, book: str, doctree: nodes.document) -> str:
    """Write the card of a page, and return the page whose card it has."""
    first = app.config.root_doc
    figures = [emblem.svg(color=cards.BLUE)] if page == first else list(all_figures(app, doctree))
    if not figures:
        return first
    number = chosen()["figures"].get(page.removeprefix("book/"), 1)
    title, _, words = app.env.titles[page].astext().partition(": ")
    if page == first:
        book, words = "", " ".join(sentences(next(paragraphs(doctree)))[:2])
    path = Path(app.outdir, CARDS, f"{page}.png")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(cards.card(title, words, book, figures[number - 1]))
    return page


def all_figures(app: Sphinx, doctree: nodes.document) -> Iterator[bytes | str]:
    """Yield the pictures of a page, and the drawings of its figures that answer."""
    kept = {name: Path(app.srcdir, place) for place, name in app.builder.images.items()}
    for node in doctree.findall():
        if isinstance(node, nodes.image) and node["uri"].endswith(".png"):
            yield kept[Path(node["uri"]).name].read_bytes()
        if isinstance(node, nodes.raw) and (found := FIGURE.search(node.astext())):
            yield found[2]


# --- what stands beside the pages


def lost(app: Sphinx) -> Iterable[tuple[str, dict, str]]:  # noqa: ARG001
    """Make the page for addresses that are not there."""
    yield LOST, {"title": "This page is not here"}, "404.html"


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the maps of the site, and what only publishing needs."""
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    pages = {toc["root"]: "Start", **site_search.parts(toc)}
    (out / "sitemap.xml").write_text(sitemap(app.env, pages), encoding="utf-8")
    (out / "llms.txt").write_text(listed(app, pages), encoding="utf-8")
    (out / "robots.txt").write_text(
        f"User-agent: *\nAllow: /\n\nSitemap: {address()}sitemap.xml\n", encoding="utf-8"
    )
    from_the_root(out / f"{LOST}.html")
    front_door(app, out / "index.html")
    keep = {out / CARDS / f"{page}.png" for page in pages}
    for path in (out / CARDS).rglob("*.png"):
        if path not in keep:
            path.unlink()


def sitemap(env: BuildEnvironment, pages: Iterable[str]) -> str:
    """Return the map of the site."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines += ['<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">']
    for page in pages:
        day = env.posenc_changed[page]
        changed_on = f"<lastmod>{day}</lastmod>" * bool(day)
        lines.append(f"<url><loc>{repository.published(page)}</loc>{changed_on}</url>")
    return "\n".join([*lines, "</urlset>", ""])


def listed(app: Sphinx, captions: dict[str, str]) -> str:
    """Return the list of pages with their descriptions, in the form of llmstxt.org."""
    env, first = app.env, app.config.root_doc
    lines = [f"# {app.config.html_title}", "", f"> {env.metadata[first]['description']}", ""]
    lines += [f"{LICENCE} Its sources: {repository.address()}"]
    for caption, pages in groupby(captions, captions.get):
        lines += ["", f"## {caption}", ""]
        for page in pages:
            told = env.metadata[page]["description"]
            lines.append(f"- [{env.titles[page].astext()}]({repository.published(page)}): {told}")
    return "\n".join([*lines, ""])


def from_the_root(path: Path) -> None:
    """Let a page that is sent for addresses of any depth name what it needs from the root."""
    text = path.read_text(encoding="utf-8")
    path.write_text(RELATIVE.sub(rf'\1="{folder()}', text), encoding="utf-8")


def front_door(app: Sphinx, path: Path) -> None:
    """Let the address that people share, which only leads on, say what the first page says."""
    first, book = app.config.root_doc, app.config.html_title
    told = tags(first, book, book, app.env.metadata[first]["description"], first)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("</head>", f"{told}</head>"), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Describe what is read, finish what is written, and list it all."""
    app.config.html_baseurl = address()
    app.connect("doctree-read", describe, priority=900)
    app.connect("env-updated", check)
    app.connect("env-updated", changed)
    app.connect("html-page-context", head, priority=900)
    app.connect("html-collect-pages", lost)
    app.connect("build-finished", write, priority=950)  # after scripts have left their pages
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": 1}
