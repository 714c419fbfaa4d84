"""Sphinx extension: an index of the book's sections, for a search that works from a folder.

Sphinx's own index knows which pages hold a word, and its scorer is told neither the section nor
what was typed; of 105 questions it had the right page among its first three for 38, and showed the
section for 6. So this one replaces it, and it reads the pages as they were built: what a reader
sees is what is found. `book/_assets/search.js` ranks, `search-box.js` shows, and `book/search.yml`
holds what people type for what we say.
"""

import hashlib
import json
import pickle
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import chain, groupby, takewhile
from os.path import relpath
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import search_messages
import search_sections
from search_sections import Section, words

logger = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parent.parent
WORDS = ROOT / "book" / "search.yml"
INDEX = "search-index.js"
BEGINNINGS = "search-beginnings.js"
BARE = 0.25  # what a heading without a text of its own is worth
LARGEST = 800  # kB that the index may have
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _worth_a_search(word: str) -> bool:
    """Say no to single letters, short numbers and the decimals of longer ones."""
    if word.isdecimal():
        return len(word) > 2 and word[0] != "0"
    return len(word) > 1


class Index:
    """What `search.js` loads, made from the sections of all pages and from book/search.yml."""

    def __init__(
        self,
        pages: dict[str, list[Section]],
        parts: dict[str, str],
        typed: dict,
        raised: Iterable[search_messages.Message] = (),
        ask: str = "",
    ) -> None:
        self.typed, self.raised, self.ask = typed, raised, ask
        self.little = frozenset(typed["little"].split())
        self.sections = [one for page in pages.values() for one in page]
        self.pages = list(pages)
        self.titles = {page: sections[0].title for page, sections in pages.items()}
        self.parts = parts
        self.places = {
            f"{one.page.removeprefix('book/')}#{anchor}": number
            for number, one in reversed(list(enumerate(self.sections)))
            for anchor in {one.anchor, *one.other}
        }

    def unknown(self) -> list[str]:
        """Return what book/search.yml names as page#anchor and is no section."""
        named = [*self.typed["asked"], *self.typed["messages"].values(), *self.typed["tables"]]
        return sorted({where for where in named if where not in self.places})

    def weight(self, section: Section) -> float:
        """Return what a hit in this section is worth beside one in a chapter."""
        where = f"{section.page.removeprefix('book/')}#{section.anchor}"
        weights = self.typed["weights"]
        page = max((key for key in weights if where.startswith(key)), key=len, default=None)
        aside = self.typed["aside"].get(section.title, 1 if section.prose else BARE)
        return (weights[page] if page else 1) * aside

    def text(self, section: Section) -> Counter[str]:
        """Return how often each word stands in a section; code counts once."""
        brief = self.is_named(section, "brief")
        told = Counter(words(section.beginning)) if brief else Counter(section.prose_words)
        if not brief and not self.is_named(section, "codeless"):
            told.update(section.code_words)
        return Counter(
            {w: n for w, n in told.items() if _worth_a_search(w) and w not in self.little}
        )

    def is_named(self, section: Section, how: str) -> bool:
        """Say whether a section's page is in a list of search.yml."""
        return section.page.removeprefix("book/").startswith(tuple(self.typed[how]))

    def postings(self) -> tuple[dict[str, str], list[int]]:
        """Return for each word its sections, packed, and for each section its length.

        A section is told by how many come between: to the base 26, its last digit in small letters.
        A number behind it says how often the section has the word.
        """
        where: dict[str, list[str]] = {}
        last: dict[str, int] = {}
        lengths = []
        for number, section in enumerate(self.sections):
            told = self.text(section)
            lengths.append(sum(told.values()))
            for word, times in told.items():
                step = _short(number - last.get(word, 0))
                last[word] = number
                where.setdefault(word, []).append(f"{step}{min(times, 9) if times > 1 else ''}")
        return {word: "".join(steps) for word, steps in sorted(where.items())}, lengths

    def messages(self) -> Iterable[tuple[str, int]]:
        """Yield each error message of the library with the section that answers it."""
        for message in self.raised:
            yield message.text, self.places[self.answer(message)]

    def answer(self, message: search_messages.Message) -> str:
        """Return where a message leads: as search.yml says, or to the entry of what raises it."""
        for part, where in self.typed["messages"].items():
            if part in message.text and where in self.places:
                return where
        for name in message.inside:
            for room in ("mathematics", "attention", "encodings", "models", "register", "testing"):
                if (where := f"api/{room}#{name.lower().replace('_', '-')}") in self.places:
                    return where
        room = message.module.split(".")[1]
        return next(w for w in (f"api/{room}#", "api/mathematics#") if w in self.places)

    def made(self) -> str:
        """Return the script that ranks need; how sections begin is in another one."""
        packed, lengths = self.postings()
        asked: dict[int, list[str]] = {}
        for where, phrases in self.typed["asked"].items():
            if where in self.places:
                asked.setdefault(self.places[where], []).extend(phrases)
        rows = [
            [one.title, round(100 * self.weight(one)), length, *_unlike(one.anchor, one.title)]
            for one, length in zip(self.sections, lengths, strict=True)
        ]
        content = {
            "pages": [
                {"path": page, "title": self.titles[page], "part": self.parts.get(page, "")}
                for page in self.pages
            ],
            "sections": [
                [row for row, one in zip(rows, self.sections, strict=True) if one.page == page]
                for page in self.pages
            ],
            "asked": asked,
            "little": self.typed["little"].split(),
            "same": self.typed["same"],
            "typed": [[typed, ours] for typed, ours in self.typed["typed"].items()],
            "absent": self.typed["absent"],
            "ask": self.ask,
            "negated": self.typed["negated"],
            "messages": list(self.messages()),
            "names": " ".join(sorted(self.names())),
            "words": " ".join(_shared(packed)),
        }
        return _script("load", content)

    def names(self) -> set[str]:
        """Return what the book writes with a capital inside, such as RoPE."""
        texts = [text for one in self.sections for text in (one.title, *one.prose)]
        texts += chain(*self.typed["asked"].values(), *self.typed["same"])
        return {name for text in texts for name in search_sections.names(text)}

    def beginnings(self) -> str:
        """Return the script with the first lines of all sections, wanted when hits are shown."""
        return _script("tell", [one.beginning for one in self.sections])


def _script(name: str, content: object) -> str:
    told = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return f"posencSearch.{name}({told});\n"


def _unlike(anchor: str, title: str) -> list[str]:
    """Return an anchor in a list; in none if it follows from the title."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return [] if anchor == re.sub(r"[^a-z0-9]+", "-", plain).strip("-") else [anchor]


def _short(number: int) -> str:
    """Return a number to the base 26, with its last digit in small letters."""
    shown = LETTERS[number % 26]
    while number := number // 26:
        shown = LETTERS[number % 26].upper() + shown
    return shown


def _shared(packed: dict[str, str]) -> Iterable[str]:
    """Yield words and sections in turn, a word without the letters that the last one began with."""
    last = ""
    for word, sections in packed.items():
        pairs = zip(word, last[:9], strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        yield f"{same}{word[same:]}"
        yield sections
        last = word


class IndexOfWords(SphinxDirective):
    """What sections are asked for, by the alphabet, with links to them."""

    def run(self) -> list[nodes.Node]:
        """Return a paragraph for each first letter."""
        self.env.note_dependency(str(WORDS))
        typed = yaml.safe_load(WORDS.read_text(encoding="utf-8"))["asked"]
        found: dict[str, list[tuple[str, str]]] = {}
        for where, phrases in typed.items():
            for phrase in phrases:
                found.setdefault(phrase.lower(), []).append((phrase, where))
        box = nodes.container(classes=[search_sections.INDEX])
        for letter, group in groupby(sorted(found), key=_letter):
            box += nodes.rubric("", letter)
            box += self._links([found[phrase] for phrase in group])
        return [box]

    def _links(self, group: list[list[tuple[str, str]]]) -> nodes.bullet_list:
        links = nodes.bullet_list()
        for places in group:
            line = nodes.paragraph()
            for number, (phrase, where) in enumerate(places, start=1):
                line += nodes.Text(", " if number > 1 else "")
                line += self._link(phrase if number == 1 else f"{phrase} ({number})", where)
            links += nodes.list_item("", line)
        return links

    def _link(self, said: str, where: str) -> nodes.reference:
        page, anchor = where.split("#")
        here = Path(self.env.docname).parent.as_posix()
        target = relpath(f"book/{page}.html", here) + f"#{anchor}" * bool(anchor)
        return nodes.reference("", said, refuri=target, internal=True)


def _letter(phrase: str) -> str:
    return phrase[0].upper() if phrase[0].isalpha() else "0-9"


def parts(toc: dict) -> dict[str, str]:
    """Return under which caption of the contents each page stands."""
    return {
        page["file"]: part["caption"]
        for part in toc["parts"]
        for chapter in part["chapters"]
        for page in (chapter, *chapter.get("sections", []))
    }


def read(
    out: Path, names: Iterable[str], tables: Iterable[str], kept: dict[str, tuple] | None = None
) -> dict[str, list[Section]]:
    """Return the sections of all pages of a built site; `tables` are told as page#anchor.

    What is `kept` of a page, the page and its sections, serves while the page is the same.
    """
    pages, kept = {}, {} if kept is None else kept
    for name in names:
        if (path := out / f"{name}.html").is_file():
            here = f"{name.removeprefix('book/')}#"
            rows = [one.removeprefix(here) for one in tables if one.startswith(here)]
            seen = hashlib.sha256(path.read_bytes()).digest(), rows
            if kept.get(name, ("",))[0] != seen:
                html = path.read_text(encoding="utf-8")
                kept[name] = seen, search_sections.sections(name, html, rows)
            pages[name] = kept[name][1]
    return {name: sections for name, sections in pages.items() if sections}


def gather(app: Sphinx, env: BuildEnvironment) -> None:  # noqa: ARG001
    """Keep the messages of the library, which are read anew where one of its files changed."""
    now = search_messages.checksum()
    if getattr(env, "posenc_messages", ("",))[0] != now:
        env.posenc_messages = now, search_messages.messages()


def settle(app: Sphinx) -> None:
    """Leave Sphinx's own index out, and find the page of the search here."""
    if app.builder.format == "html":
        app.builder.search = False


def page(app: Sphinx) -> Iterable[tuple[str, dict, str]]:  # noqa: ARG001
    """Make the page of the search."""
    yield "search", {"title": "Search"}, "search.html"


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the index when all pages are there."""
    if exception is None and app.builder.format == "html":
        toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
        places = parts(toc)
        typed = yaml.safe_load(WORDS.read_text(encoding="utf-8"))
        store = Path(app.doctreedir, "sections.pickle")
        kept = pickle.loads(store.read_bytes()) if store.is_file() else {}
        pages = read(Path(app.outdir), (toc["root"], *places), typed["tables"], kept)
        ask = app.config.html_theme_options["repository_url"]
        index = Index(pages, places, typed, app.env.posenc_messages[1], ask)
        for where in index.unknown():
            logger.warning("book/search.yml: %s is no section; a page is named as page#", where)
        for name, script in ((INDEX, index.made()), (BEGINNINGS, index.beginnings())):
            Path(app.outdir, "_static", name).write_text(script, encoding="utf-8")
        store.write_bytes(pickle.dumps(kept))


def setup(app: Sphinx) -> dict[str, bool]:
    """Read the pages when they are there."""
    # settings that name no folder of this machine are the same wherever the book is built
    app.config.templates_path.append(relpath(ROOT / "tools" / "templates", app.srcdir))
    app.add_directive("index-of-words", IndexOfWords)
    app.connect("builder-inited", settle)
    app.connect("env-updated", gather)
    app.connect("html-collect-pages", page)
    app.connect("build-finished", write, priority=960)  # pages stay as they are from here on
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": 1}
