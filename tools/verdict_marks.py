"""Marks of verdicts in prose, and verdicts that a chapter shows again: both follow the ledger.

A mark is plain Markdown, so it reads well wherever a notebook is opened:

    <sup>[✓ B12](audit/first-principles.ipynb#claim-B12 "confirmed: ...")</sup>

Who writes one needs the id only, `<sup>[B12]()</sup>`; `make ledger` fills in symbol, address and
title, and keeps them true. The same run renews the outputs of `posenc_book.audit.claims.show`.

While it teaches, a chapter keeps its marks out of the way: where its end says how many statements
were checked, with a number that `tools/quantities/checked.py` fills in, the site shows
marks only to readers who ask for them.
"""

import json
import posixpath
import re
from pathlib import Path

from posenc_book.audit.claims import LOOK, SHOWN_MIME, Shown
from posenc_book.audit.ledger import place
from repository import notebooks, texts

MARK = re.compile(
    r"<sup>\[(?:[^\s\[\]]+ )?(?P<id>[A-Z][1-9][0-9]*)\]"
    r'\((?P<path>[^()\s"#]*)(?:#[^()\s"]*)?(?: *"[^"]*")?\)</sup>'
)


class MarkError(ValueError):
    """A mark or a shown verdict for which the ledger has no row."""


def title(row: dict) -> str:
    """Return what a mark's tooltip says, without characters that Markdown would take up."""
    said = f"{row['verdict']}: {row['claim']} ({place(row)})"
    return re.sub(r"\s+", " ", said.translate(str.maketrans({'"': "'", "|": "/", "$": None})))


def mark(row: dict, folder: str = "") -> str:
    """Return the mark of a claim for a page in a folder below book/."""
    symbol, _ = LOOK[row["verdict"]]
    page, anchor = row["anchor"].split("#")
    path = posixpath.relpath(page, folder or ".")
    return f'<sup>[{symbol} {row["id"]}]({path}#{anchor} "{title(row)}")</sup>'


def with_marks(text: str, rows: dict[str, dict], folder: str, page: str) -> str:
    """Return a text in which every mark says what the ledger says."""

    def fresh(found: re.Match) -> str:
        row = rows.get(found["id"])
        if row is None or not row["verdict"]:
            raise MarkError(f"{page} marks claim {found['id']}, on which there is no verdict")
        return mark(row, folder)

    return MARK.sub(fresh, text)


def marked_claims(notebook: dict) -> set[str]:
    """Return the ids of the claims that a notebook marks, or whose verdicts it shows again."""
    cells = notebook["cells"]
    outputs = (output for cell in cells for output in cell.get("outputs", []))
    shown = (output.get("data", {}).get(SHOWN_MIME) for output in outputs)
    prose = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    marked = (found["id"] for text in prose for found in MARK.finditer(text))
    return {*marked, *(one["id"] for one in shown if one)}


def marked_claims_by_page(book: Path) -> dict[str, set[str]]:
    """Return what `told` finds for each notebook beside the Audit that has any, by its page."""
    paths = sorted([*book.glob("*.ipynb"), *book.glob("atlas/*.ipynb")])
    pages = {path.relative_to(book).with_suffix("").as_posix(): path for path in paths}
    found = {
        name: marked_claims(json.loads(path.read_text("utf-8"))) for name, path in pages.items()
    }
    return {name: ids for name, ids in found.items() if ids}


def lines(text: str) -> list[str]:
    """Return a text as notebooks store it."""
    return text.splitlines(keepends=True)


def stored_bundle(row: dict, address: str) -> dict:
    """Return the output of `show` for a row, in the form in which notebooks store it."""
    bundle = Shown(row, address)._repr_mimebundle_()
    kinds = {k: lines(v) if isinstance(v, str) else v for k, v in bundle.items()}
    return dict(sorted(kinds.items()))


def renew_notebook(notebook: dict, rows: dict[str, dict], address: str, path: Path, folder: str):
    """Bring the marks and the shown verdicts of a notebook up to date, in place."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = lines(with_marks("".join(cell["source"]), rows, folder, path.name))
        for output in cell.get("outputs", []):
            if shown := output.get("data", {}).get(SHOWN_MIME):
                if not rows.get(shown["id"], {}).get("verdict"):
                    raise MarkError(f"{path.name} shows claim {shown['id']} without a verdict")
                output["data"] = stored_bundle(rows[shown["id"]], address)


def renewed(claims: list[dict], address: str, book: Path) -> dict[Path, str]:
    """Return the text of each page that holds a mark or a shown verdict, brought up to date."""
    rows = {row["id"]: row for row in claims}
    found = {}
    for path in texts(book):
        folder = path.parent.relative_to(book).as_posix()
        text = path.read_text(encoding="utf-8")
        if MARK.search(text):
            found[path] = with_marks(text, rows, folder, path.name)
    for path in notebooks(book):
        folder = path.parent.relative_to(book).as_posix()
        text = path.read_text(encoding="utf-8")
        if "<sup>[" in text or SHOWN_MIME in text:
            notebook = json.loads(text)
            renew_notebook(notebook, rows, address, path, folder)
            found[path] = json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=False) + "\n"
    return found
