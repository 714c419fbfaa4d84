"""Sphinx extension: every page says what it may load, and carries no script in its own text.

The policy stands in each page, so it holds on any server and for pages opened from a folder; there
`'self'` means little to some browsers, so `file:` is named as well. The theme and its extensions
write scripts into pages; each moves into a file of `_static/inline/`, named by its checksum, and
the page links it at the same place. What a button does is written as a word for `book.js`. Styles
may stand in pages: MathJax writes them as it typesets, and tables carry their own.

What a page has no use for, it does not load: the theme's script that draws icons, 1.5 MB, as they
come from a font; and MathJax where no formula stands, which Sphinx links from every page above one.
"""

import hashlib
import html
import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

POLICY = {
    "default-src": "'none'",
    "script-src": "'self' file:",
    "style-src": "'self' file: 'unsafe-inline'",
    "img-src": "'self' file: data:",
    "font-src": "'self' file: data:",
    "connect-src": "'self'",  # the search shows words around what it finds
    "form-action": "'self' file:",
    "base-uri": "'none'",
}
# A page whose code runs starts a worker of this site, and that answers for what it loads itself.
RUNS = re.compile(r'<div class="posenc-run"')
WORKER = "'self'"
# A model that lives in a page works in a worker made of its own text: none comes from a folder.
LIVES = re.compile(r'<figure[^>]* data-name="living-model"')
OWN_WORKER = "blob:"
META = '<meta http-equiv="Content-Security-Policy" content="{}" />'
CHARSET = re.compile(r'<meta charset="utf-8" ?/?>')
ICONS = re.compile(r'<script src="[^"]*_static/scripts/fontawesome\.js[^"]*"></script>')
FORMULA = 'class="math'
MATHJAX = re.compile(
    r"<script[^>]*>window\.MathJax = [^<]*</script>|<script[^>]*_static/mathjax/[^>]*></script>"
)
SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<code>.*?)</script>", re.DOTALL)
DATA = re.compile(r'type="application/(?:ld\+)?json"')
PAGE_NAME = re.compile(r"DOCUMENTATION_OPTIONS\.pagename = '([^']*)';")
ASK_NAME = "DOCUMENTATION_OPTIONS.pagename = document.currentScript.dataset.page;"
LINK = re.compile(r"<script[^>]* src=[^>]*></script>")
EARLY = re.compile(r"_static/(?:storage|book)\.js|data-cfasync")  # theme, and marks shown or hidden
SETTINGS = re.compile(r"_static/(?:documentation_options\.js|inline/)")
HANDLER = re.compile(r'(?P<before><[a-z]+\b[^<>]*?)\son(?P<event>[a-z]+)="(?P<code>[^"]*)"')
DOES = {"toggleFullScreen()": "full-screen", "window.print()": "print"}
NEW_WINDOW = re.compile(r'<a\b[^<>]*\btarget="_blank"[^<>]*>')
DONE = '_static/storage.js"></script>'  # what nobody else links
LINKED = re.compile(r'src="[^"]*_static/inline/([0-9a-f]+\.js)"')


class Page:
    """A page on its way to one that holds no scripts.

    `root` is the way from the page to the folder of the site, such as "../".
    """

    def __init__(self, text: str, root: str = "") -> None:
        self.root = root
        self.scripts: dict[str, str] = {}
        self.unknown: list[str] = []
        text = SCRIPT.sub(self._link, without_unused(text))
        text = HANDLER.sub(self._word, text)
        text = NEW_WINDOW.sub(_without_opener, text)
        if "Content-Security-Policy" not in text:
            text = with_policy(self._with_storage(with_scripts_later(text)))
        self.text = text

    def _link(self, found: re.Match) -> str:
        attributes, code = found["attributes"], found["code"].strip()
        if "src=" in attributes or DATA.search(attributes):
            return found[0]
        if named := PAGE_NAME.fullmatch(code):
            attributes += f' data-page="{html.escape(named[1])}"'
            code = ASK_NAME
        name = f"{hashlib.sha256(code.encode()).hexdigest()[:16]}.js"
        self.scripts[name] = f"{code}\n"
        return f'<script{attributes} src="{self.root}_static/inline/{name}"></script>'

    def _with_storage(self, text: str) -> str:
        """Link what stands in for a storage that is refused, before any script that asks for it."""
        link = f'<script src="{self.root}_static/storage.js"></script>'
        return CHARSET.sub(lambda found: f"{found[0]}\n    {link}", text, count=1)

    def _word(self, found: re.Match) -> str:
        if found["event"] != "click" or found["code"] not in DOES:
            self.unknown.append(f'on{found["event"]}="{found["code"]}"')
            return found[0]
        return f'{found["before"]} data-does="{DOES[found["code"]]}"'


def without_unused(text: str) -> str:
    """Return a page without the scripts that it has no use for."""
    text = ICONS.sub("", text)
    return text if FORMULA in text else MATHJAX.sub("", text)


def with_scripts_later(text: str) -> str:
    """Return a page whose scripts run when all of it is there: settings first, others as before."""
    head, end, body = text.partition("</head>")
    links = [link for link in LINK.findall(head) if not EARLY.search(link)]
    if not (end and links):
        return text
    before, after = head.split(links[0], 1)
    for link in links[1:]:
        after = after.replace(link, "", 1)
    links.sort(key=lambda link: (" defer" in link, not SETTINGS.search(link)))
    later = "\n    ".join(
        link if " defer" in link else link.replace("<script", "<script defer", 1) for link in links
    )
    return before + later + after + end + body


def with_policy(text: str) -> str:
    """Return a page with the policy, before anything that it speaks of."""
    workers = [WORKER] * bool(RUNS.search(text)) + [OWN_WORKER] * bool(LIVES.search(text))
    rules = POLICY | ({"worker-src": " ".join(workers)} if workers else {})
    policy = "; ".join(f"{name} {allowed}" for name, allowed in rules.items())
    return CHARSET.sub(lambda found: f"{found[0]}\n    {META.format(policy)}", text, count=1)


def _without_opener(found: re.Match) -> str:
    tag = found[0]
    if "noopener" in tag:
        return tag
    if ' rel="' in tag:
        return tag.replace(' rel="', ' rel="noopener ', 1)
    return f'{tag[:-1]} rel="noopener">'


def pages(site: Path) -> list[Path]:
    """Return the pages of a site; what stands in `_static` are parts of themes."""
    return sorted(p for p in site.rglob("*.html") if "_static" not in p.relative_to(site).parts)


def move_scripts(site: Path) -> list[str]:
    """Rewrite the pages of a site that need it; return what could not be moved."""
    folder = site / "_static" / "inline"
    folder.mkdir(parents=True, exist_ok=True)
    linked, unknown = set(), []
    for path in pages(site):
        text = path.read_text(encoding="utf-8")
        if DONE in text:  # by an earlier build
            linked |= set(LINKED.findall(text))
            continue
        place = path.relative_to(site).as_posix()
        page = Page(text, "../" * place.count("/"))
        unknown += [f"{place}: {handler}" for handler in page.unknown]
        for name, code in page.scripts.items():
            (folder / name).write_text(code, encoding="utf-8")
        if page.text != text:
            path.write_text(page.text, encoding="utf-8")
        linked |= set(LINKED.findall(page.text))
    for path in folder.iterdir():
        if path.name not in linked:
            path.unlink()
    return unknown


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Look at all pages once they are written."""
    if exception is None and app.builder.format == "html":
        for line in move_scripts(Path(app.outdir)):
            logger.warning("a handler that the page may not carry: %s", line)


def setup(app: Sphinx) -> dict[str, bool]:
    """Come after those who write pages of their own."""
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
