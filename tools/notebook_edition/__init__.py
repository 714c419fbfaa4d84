"""Sphinx extension: the notebooks of a Jupyter Book as they read well where no MyST is known.

Colab, JupyterLab, VS Code and GitHub show a directive as raw text. When the site is built, each of
its notebooks is written once more, in CommonMark, with the numbers, citations and addresses of the
built pages; buttons and downloads of the pages lead there. Code and outputs stay as they are.

One line of `_config.yml` switches it on; README.md beside this file says what can be set.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from notebook_edition.buttons import lead_to_edition, site_address
from notebook_edition.cells import Cells
from notebook_edition.inline import Inline
from notebook_edition.links import Links
from notebook_edition.markdown import Directive, Text
from notebook_edition.site import Site

__all__ = ["Directive", "Edition", "Text", "setup"]


class Edition:
    """All notebooks of a book, rewritten from its sources and its built pages."""

    def __init__(self, app: Sphinx):
        self.app, self.env = app, app.env
        names = sorted(app.env.found_docs)
        self.site = Site(Path(app.outdir), names, site_address(app.config))
        paths = {name: Path(app.env.doc2path(name)) for name in names}
        self.sources = {
            name: path.read_text(encoding="utf-8")
            for name, path in paths.items()
            if path.suffix == ".ipynb"
        }
        self.notebooks = frozenset(self.sources)
        self.with_solutions = frozenset(n for n, one in self.sources.items() if "{solution" in one)
        tex = getattr(app.config, "mathjax3_config", None) or {}
        macros = tex.get("tex", {}).get("macros", {})
        self.macros = {name: means for name, means in macros.items() if isinstance(means, str)}
        config = getattr(app.env, "myst_config", None) or MdParserConfig()
        self.parser = create_md_parser(config, RendererHTML)
        self.parser.core.ruler.enableOnly(["normalize", "block"])  # what stands in a line is ours
        self.parser.parse = cache(self.parser.parse)  # most is said with and without solutions
        self.faults: list[str] = []

    def notebook(self, docname: str, *, solutions: bool = True) -> dict[str, Any]:
        """Return one notebook of the edition, with or without the solutions of its exercises."""
        found = json.loads(self.sources[docname])
        self.app.emit("notebook-edition", docname, found)
        among = self.notebooks if solutions else self.with_solutions
        rewrite = self._text(docname, among, solutions)
        for place, cell in enumerate(found["cells"]):
            cell.setdefault("id", f"cell-{place}")
        found["cells"] = list(Cells(rewrite)(found["cells"]))
        self._head(found, docname, solutions)
        self.faults += [f"{docname}: {fault}" for fault in rewrite.inline.faults]
        for cell in found["cells"]:
            cell["source"] = "".join(cell["source"]).splitlines(keepends=True)
        found["metadata"]["colab"] = {"provenance": [], "toc_visible": True}
        return found

    def _text(self, docname: str, notebooks: frozenset[str], solutions: bool) -> Text:
        faults: list[str] = []
        links = Links(self.site, docname, notebooks)
        cited = Citations(self.site, self.env, docname, faults)
        inline = Inline(links, cited, self.macros, faults)
        own = self.app.config.notebook_edition_directives
        return Text(self.parser, inline, own, solutions)

    def _head(self, notebook: dict, docname: str, solutions: bool) -> None:
        """Say below the title what this is; a page with solutions is not for a class."""
        root = self.site.address(self.app.config.root_doc)
        told = [f"A chapter of [{self.app.config.html_title}]({root}), to run."]
        if solutions:
            told.append(f"[The same page to read]({self.site.address(docname)}).")
        told += ["Run the first code cell first.", notebook["metadata"].pop("note", "")]
        note = f"*{' '.join(filter(None, told))}*"
        for cell in notebook["cells"][:1]:
            head, _, rest = cell["source"].partition("\n")
            cell["source"] = f"{head}\n\n{note}\n{rest}".rstrip("\n")


class Citations:
    """The citations of one page, as the site prints them."""

    def __init__(self, site: Site, env: Any, docname: str, faults: list[str]):
        self.faults = faults
        self.texts: dict[tuple, list[str]] = {}
        for ref in env.domaindata.get("cite", {}).get("citation_refs", []):
            text = site.pages[docname].citations.get(ref.citation_ref_id)
            if ref.docname == docname and text:
                keys = tuple(target.key for target in ref.targets)
                self.texts.setdefault((keys, not text.startswith("(")), []).append(text)

    def __call__(self, keys: tuple[str, ...], in_sentence: bool) -> str:
        """Return the text of a citation."""
        if (keys, in_sentence) not in self.texts:
            self.faults.append(f"the site has no citation of {', '.join(keys)}")
            return ", ".join(keys)
        return self.texts[keys, in_sentence][0]


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the edition beside the site, and in place of the sources that the site offers."""
    if exception or app.builder.name != "html":
        return
    edition, config = Edition(app), app.config
    folder = Path(app.outdir).parent / config.notebook_edition_folder
    written = {
        f"{name}.ipynb": edition.notebook(name, solutions=config.notebook_edition_solutions)
        for name in sorted(edition.notebooks)
    }
    if below := config.notebook_edition_without_solutions:
        for name in sorted(edition.with_solutions):
            written[f"{below}/{name}.ipynb"] = edition.notebook(name, solutions=False)
    if edition.faults:
        raise ExtensionError("\n".join(["notebook edition:", *dict.fromkeys(edition.faults)]))
    for name, notebook in written.items():
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        _store(folder / name, text)
        if name.removesuffix(".ipynb") in edition.notebooks and app.config.html_copy_source:
            _store(Path(app.outdir) / "_sources" / name, text)
    for path in folder.rglob("*.ipynb"):
        if path.relative_to(folder).as_posix() not in written:
            path.unlink()
    app.emit("notebook-edition-written", folder)


def _store(path: Path, text: str) -> None:
    """Write a file unless it holds this text already."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the edition when the site is built, and let its buttons lead there."""
    app.add_config_value("notebook_edition_branch", "notebooks", "html")
    app.add_config_value("notebook_edition_folder", "notebooks", "")
    app.add_config_value("notebook_edition_solutions", True, "")
    app.add_config_value("notebook_edition_without_solutions", "", "")
    app.add_config_value("notebook_edition_directives", {}, "")
    app.add_event("notebook-edition")  # (app, docname, notebook): change a source before it is read
    app.add_event("notebook-edition-written")  # (app, folder): add what else belongs there
    app.connect("html-page-context", lead_to_edition, priority=900)
    app.connect("build-finished", write, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
