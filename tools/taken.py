"""What readers take with them: put it beside the built site, and list the figures on its page.

    python tools/taken.py       # after `make book`: figures, decks, PDF and archive, 15 minutes

As a Sphinx extension it brings the directive `{figures}`: a table of all figures with links. They
lead to the published site, where the Site workflow puts the files, so no page is heavier for them
and a copy of the site on a memory stick does not carry them.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import figures
import repository
from incremental_build import FOLLOWED
from repository import ROOT

BUILT = ROOT / "_build"
FOLDER = "taken"
STEPS = ("figures", "slides", "book_pdf", "site_zip")
NAME = "positional-encoding-book"
MADE = {f"pdf/{NAME}.pdf": f"{NAME}.pdf", f"{NAME}.zip": f"{NAME}.zip", "slides": "slides"}
"""What lies in _build, and its name in the folder on the site; the figures lie there by theirs."""


def address(file: str) -> str:
    """Return where a file is published."""
    return repository.pages(repository.address()) + f"{FOLDER}/{file}"


def rows() -> list[str]:
    """Return a table of all figures in Markdown, in the order of the pages."""
    lines = ["| figure | of the page | what it shows | |", "|:--|:--|:--|:--|"]
    of_page = {p.relative_to(ROOT / "book").as_posix(): f for p, f in figures.of_pages().items()}
    for page, found in of_page.items():
        for name, caption in found.items():
            links = " ".join(
                f"[{file.rpartition('.')[2].upper()}]({address(file)})"
                for file in figures.files(name)
            )
            said = first_sentence(caption)
            lines.append(f"| {{numref}}`{name}` | [](/book/{page}) | {said} | {links} |")
    return lines


def first_sentence(caption: str) -> str:
    """Return a caption up to its first full stop, as a table holds it."""
    return caption.replace("|", "\\|").replace("\n", " ").partition(". ")[0].rstrip(".") + "."


class Figures(SphinxDirective):
    """All figures of the book, with links to their files."""

    def run(self) -> list[nodes.Node]:
        holder = nodes.Element()
        lines = StringList(rows(), source="figures")
        self.state.nested_parse(lines, self.content_offset, holder)
        return holder.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("figures", Figures)
    FOLLOWED["book/taken"] = rows
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def gather(built: Path = BUILT) -> list[str]:
    """Put what was made beside the site; return what should be there and is not."""
    target = built / "html" / FOLDER
    target.mkdir(exist_ok=True)
    for source, name in MADE.items():
        if (built / source).is_dir():
            shutil.copytree(built / source, target / name, dirs_exist_ok=True)
        elif (built / source).is_file():
            shutil.copy(built / source, target / name)
    for path in (built / "figures").glob("fig-*"):
        shutil.copy(path, target)
    every = [name for found in figures.of_pages().values() for name in found]
    gone = [name for name in MADE.values() if not (target / name).exists()]
    return gone + figures.missing(every, target)


def main() -> None:
    """Make everything and put it beside the site; end with an error where something is missing."""
    if not (BUILT / "html" / "index.html").is_file():
        sys.exit("there is no site to put it beside: run `make book` first")
    for step in STEPS:
        subprocess.run([sys.executable, f"tools/{step}.py"], cwd=ROOT, check=True)
    if gone := gather():
        sys.exit(f"not made: {', '.join(gone)}")
    print(f"All of it lies in {BUILT / 'html' / FOLDER}")


if __name__ == "__main__":
    main()
