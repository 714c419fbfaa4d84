"""Sphinx extension: each edition of the results has a page of its own, whose address stays.

A page `book/editions/NAME.md` holds a few words. What the edition locks is put behind them when the
site is built, from its `edition.json` and from `results/lock.json`. Where a new edition takes its
place, the old one keeps its page, and its file, as `results/editions/NAME.json`.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from sphinx.application import Sphinx

import repository
from incremental_build import FOLLOWED
from posenc_book.read import imports
from repository import ROOT

RESULTS = ROOT / "results"
LIST = "book/editions"
PLACES = ("edition.json", "*/edition.json", "editions/*.json")
# By the folder of the scores: the module that reads them, and the pages that present them.
READ = {
    "": ("posenc_book.read.classification.edition", ("benchmark", "asked-again")),
    "edition-3": ("posenc_book.read.edition3.reading", ("asked-again",)),
    "forecasting": ("posenc_book.read.forecasting.complete", ("forecasting",)),
}
FACTS = """

## What is fixed

- **Made on** {date}.
- **Protocol**: training `{training}`, analysis `{analysis}`. \
[The rules]({repository}/blob/{commit}/{rules}) bear these hashes.
- **Digest of the edition**: `{digest}`. It is that of \
[{file}]({repository}/blob/{commit}/{file}), which locks every score.
- **Scores**: {n_lines:,} lines in {n_files} files, \
[as they stood at commit {commit}]({repository}/tree/{commit}/{folder}).

In a copy of the repository, `python -m posenc_book.read.digests` says whether the scores are \
still these.

## Who reads it

{read_by}

## Its files

Each file began with so many lines when the edition was made. A file may have grown since, but \
these lines stay. The digest is the first sixteen digits of their SHA-256.

:::{{admonition}} All {n_files} files
:class: dropdown

| file | lines | digest |
|--|--|--|
{rows}
:::
"""


@dataclass(frozen=True)
class Edition:
    """What is stored of an edition.

    `file` is its path below `results`, `lock` what `lock.json` says of this file.
    """

    file: str
    stored: dict
    lock: dict[str, str]

    @property
    def name(self) -> str:
        """Return its name, such as "2026-11j"."""
        return self.stored["name"]

    @property
    def page(self) -> str:
        """Return its page."""
        return f"{LIST}/{self.name}"

    @property
    def digest(self) -> str:
        """Return the digest of its file, without the number of lines."""
        return self.lock["digest"].rpartition(" ")[2]

    @property
    def folder(self) -> str:
        """Return the folder of its scores, below `results`."""
        return self.file.rpartition("/")[0].removeprefix("editions")

    @property
    def shown_by(self) -> tuple[str, ...]:
        """Return the pages that present it; none if another edition has taken its place."""
        return READ[self.folder][1] if self.file.endswith("edition.json") else ()

    def read_by(self) -> list[str]:
        """Return the other pages whose code imports what reads it, directly or not."""
        if not self.shown_by:
            return []
        found = imports.readers(ROOT / "book", READ[self.folder][0])
        return [page for page in found if page not in self.shown_by]


def editions() -> dict[str, Edition]:
    """Return the editions by their pages, in the order of their dates."""
    locks = json.loads((RESULTS / "lock.json").read_text(encoding="utf-8"))
    paths = [path for place in PLACES for path in sorted(RESULTS.glob(place))]
    names = [path.relative_to(RESULTS).as_posix() for path in paths]
    found = [
        Edition(name, json.loads(path.read_text(encoding="utf-8")), locks[name])
        for name, path in zip(names, paths, strict=True)
    ]
    return {one.page: one for one in sorted(found, key=lambda one: one.stored["date"])}


def facts(edition: Edition) -> str:
    """Return what stands on the page of an edition, behind its first words."""
    folder = "/".join(filter(None, ("results", edition.folder)))
    scores = [(f"{folder}/{name}.jsonl", told) for name, told in edition.stored["scores"].items()]
    split = [(file, *told.split(" lines, ")) for file, told in scores]
    return FACTS.format(
        **{name: edition.stored[name] for name in ("date", "training", "analysis")},
        **edition.lock,
        repository=repository.address(),
        file=f"{folder}/edition.json",  # at that commit, also where it was kept later
        folder=folder,
        rules=f"{folder}/protocol.md",
        n_files=len(split),
        n_lines=sum(int(n_lines) for _, n_lines, _ in split),
        read_by=_readers(edition),
        rows="\n".join(f"| {file} | {int(n):,} | `{digest}` |" for file, n, digest in split),
    )


def _readers(edition: Edition) -> str:
    """Return what is said of the pages that read an edition, with links to them."""
    if not edition.shown_by:
        return "Another edition has taken its place on the pages that presented it."
    said = f"Presented by {_links(edition.shown_by)}."
    others = edition.read_by()
    if others:
        said += f" The code of these pages imports what reads it, too:\n\n{_listed(others)}"
    return said


def _links(pages: Iterable[str], up: str = "../") -> str:
    return " and ".join(f"[]({up}{page}.ipynb)" for page in pages)


def _listed(pages: Iterable[str]) -> str:
    return "\n".join(f"- {_links([page])}" for page in pages)


def table() -> str:
    """Return the list of all editions."""
    rows = [
        f"| [](editions/{one.name}.md) | {one.stored['date']} | `{one.digest}` | "
        f"{_links(one.shown_by, '') or 'no page any more'} |"
        for one in editions().values()
    ]
    head = "| edition | made on | digest | presented by |\n|--|--|--|--|"
    return "\n".join(["", head, *rows, ""])


def tell(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put behind the words of a page what is stored of its edition, or the list of them."""
    if not docname.startswith(LIST):
        return
    for path in (ROOT / "src/posenc_book").rglob("*.py"):
        app.env.note_dependency(str(path))  # who reads an edition
    source[0] += table() if docname == LIST else facts(editions()[docname])


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page before it is read."""
    app.connect("source-read", tell)
    FOLLOWED.update({page: edition.read_by for page, edition in editions().items()})
    return {"parallel_read_safe": True, "parallel_write_safe": True}
