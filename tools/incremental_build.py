"""Sphinx extension: a build that makes only what changed gives what a clean one would give.

Sphinx itself reads a page again when its file is newer. Here three things are added. A page is read
again whenever its content differs, however old its file is. All pages are written again when
something changed that other pages show: a title, a number, an anchor, a citation, the ledger, a
style sheet or a script, whose checksums stand in every page. So a link that leads nowhere any more
is a warning, hence an error, on a page that nobody touched. And pictures and downloads that no page
shows any more go. What changes how pages are made lets `tools/build.py` begin anew.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinxcontrib.bibtex.domain import BibtexDomain

import ledger

FORMAT = BibtexDomain.env_updated
FOLLOWED: dict[str, Callable[[], object]] = {}
"""By page, what it shows of the notebooks of others: it is read again when this changes."""
NEVER_THE_SAME = re.compile(r" at 0x[0-9a-f]+")  # where an object lay in memory


def digest(parts: Iterable[object]) -> str:
    """Return one checksum of what the parts look like, in their order."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(NEVER_THE_SAME.sub("", repr(part)).encode() + b"\0")
    return whole.hexdigest()


def of_file(path: Path) -> str:
    """Return the checksum of a file's content, empty where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def source(env: BuildEnvironment, docname: str) -> str:
    """Return the checksum of a page's source."""
    return of_file(Path(env.doc2path(docname)))


def offered(env: BuildEnvironment) -> str:
    """Return a checksum of all that one page may show or ask of another."""
    std, mathematics = env.domaindata["std"], env.domaindata["math"]["objects"]
    return digest(
        [
            sorted((name, title.astext()) for name, title in env.titles.items()),
            sorted(env.toctree_includes.items()),
            sorted(env.toc_secnumbers.items()),
            sorted((name, sorted(found.items())) for name, found in env.toc_fignumbers.items()),
            *(sorted(std[kind].items()) for kind in ("labels", "anonlabels", "objects", "terms")),
            sorted(mathematics.items()),
            sorted((name, sorted(slugs(env, name))) for name in env.metadata),
            sorted(registered(env)),
            sorted(cited(env)),
        ]
    )


def slugs(env: BuildEnvironment, docname: str) -> Iterable[tuple[str, ...]]:
    """Yield the anchors of a page's headings, without the lines where they stand."""
    for name, (_, *target) in env.metadata[docname].get("myst_slugs", {}).items():
        yield (name, *map(str, target))


def registered(env: BuildEnvironment) -> Iterable[tuple[str, str]]:
    """Yield the theorems and exercises with their pages."""
    for registry in ("proof_list", "sphinx_exercise_registry"):
        for name, entry in getattr(env, registry, {}).items():
            title = entry.get("title") or entry.get("node")
            yield name, f"{entry.get('docname')} {title.astext() if title is not None else ''}"


def cited(env: BuildEnvironment) -> Iterable[tuple[str, str]]:
    """Yield what each page cites: the bibliography lists it, and leads back."""
    for reference in env.domaindata.get("cite", {}).get("citation_refs", []):
        for target in reference.targets:
            yield reference.docname, target.key


def format_references(domain: BibtexDomain) -> list[str]:
    """Format what is cited, unless the last build did: references.bib lets one begin anew."""
    if to_format(domain) != getattr(domain.env, "posenc_formatted", None):
        FORMAT(domain)
    domain.env.posenc_formatted = to_format(domain)  # the places are known now
    return []


def to_format(domain: BibtexDomain) -> str:
    """Return a checksum of what is cited, and of where the lists of references have it."""
    lists = [(key, book.citation_nodes) for key, book in domain.bibliographies.items()]
    places = [(key, name, node["ids"]) for key, found in lists for name, node in found.items()]
    return digest([places, sorted(cited(domain.env), key=lambda one: one[0])])  # in pages' order


def shared(app: Sphinx) -> str:
    """Return a checksum of the files that stand behind every page."""
    folders = [Path(app.confdir or app.srcdir) / name for name in app.config.html_static_path]
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    return digest((path.name, of_file(path)) for path in [*files, ledger.LEDGER])


def changed_content(
    app: Sphinx,  # noqa: ARG001
    env: BuildEnvironment,
    added: set[str],
    changed: set[str],
    removed: set[str],
) -> list[str]:
    """Name the pages whose content differs although their files are old, and who follows others."""
    known = getattr(env, "posenc_sources", {})
    here = env.found_docs - added - changed - removed
    differ = {name for name in here if known.get(name) != source(env, name)}
    if not (differ or added or changed or removed):
        return []
    before = getattr(env, "posenc_followed", {})
    env.posenc_followed = {
        name: digest([shown()]) for name, shown in FOLLOWED.items() if name in env.found_docs
    }
    told = {name for name, seen in env.posenc_followed.items() if before.get(name) != seen}
    return sorted(differ | told & here)


def written_again(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name all pages if one of them shows what another one changed."""
    env.posenc_sources = {name: source(env, name) for name in env.found_docs}
    now = (offered(env), shared(app))
    before, env.posenc_offered = getattr(env, "posenc_offered", None), now
    return sorted(env.found_docs) if now != before else []


def lighten(app: Sphinx, doctree: nodes.document) -> None:  # noqa: ARG001
    """Keep copies of a page's exercises: what stands in the page holds on to all of it."""
    for entry in getattr(app.env, "sphinx_exercise_registry", {}).values():
        if entry["docname"] == app.env.docname:
            entry["node"] = entry["node"].deepcopy()
            for node in entry["node"].findall():
                node._document = None


def tidy(app: Sphinx, exception: Exception | None) -> None:
    """Remove pages, pictures and downloads that are no part of the site any more."""
    if exception is not None or app.builder.format != "html":
        return
    out, env = Path(app.outdir), app.env
    keep = {out / "_images" / name for _, name in env.images.values()}
    keep |= {out / "_downloads" / name for _, name in env.dlfiles.values()}
    for path in [*out.glob("_images/*"), *out.glob("_downloads/*/*")]:
        if path not in keep:
            path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Look before pages are read, after they are read, and when all is written."""
    BibtexDomain.env_updated = format_references
    app.connect("doctree-read", lighten, priority=900)
    app.connect("env-get-outdated", changed_content)
    app.connect("env-get-updated", written_again, priority=900)  # after those who number
    app.connect("build-finished", tidy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
