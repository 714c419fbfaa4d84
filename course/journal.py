"""What lies in a folder of submissions, and the marks on disk as soon as they are given.

Each submission has a page, which may be passed on, and a record, from which marking goes on where
it was stopped. Both are written whole or not at all, and the table is written anew each time.
"""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from course import grades

DEEPEST = 2  # in the folder, or one level below
IGNORED = {"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini"}
ARCHIVES = {".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar"}


def found(folder: Path, out: Path) -> list[tuple[Path, str]]:
    """Return the things in a folder in order, each with why it cannot be marked, or ""."""
    things: list[tuple[Path, str]] = []
    others: list[tuple[Path, str]] = []

    def closed(error: OSError) -> None:
        if Path(error.filename) == folder:
            raise error
        things.append((Path(error.filename), f"this folder cannot be opened ({error.strerror})"))

    for place, folders, files in os.walk(folder, onerror=closed):
        here = Path(place)
        folders[:] = [
            name for name in folders if not _ignored(name) and (here / name).resolve() != out
        ]
        for name in [n for n in folders if (here / n).is_symlink()] + files:
            if _ignored(name):
                continue
            why, beside = _why_not(here / name, folder)
            (others if beside else things).append((here / name, why))
    # a folder with a notebook may hold other files as well
    full = {_top(path, folder) for path, _ in things}
    things += [(path, why) for path, why in others if _top(path, folder) not in full]
    full |= {_top(path, folder) for path, _ in things}
    things += [(path, "there is nothing in this folder") for path in _bare(folder, out, full)]
    return sorted(things)


def _ignored(name: str) -> bool:
    hidden = name.startswith(".") and not name.endswith(".ipynb")
    return hidden or name.startswith(("._", "~$")) or name in IGNORED


def _why_not(path: Path, folder: Path) -> tuple[str, bool]:
    """Return why a thing cannot be marked, and whether it may lie beside a notebook."""
    if path.is_symlink():
        return "a link is not followed; put the notebook itself in its place", False
    if path.suffix.lower() in ARCHIVES:
        return "this is an archive; unpack it into a folder of its own", False
    if path.suffix == ".ipynb":
        deep = len(path.relative_to(folder).parts) > DEEPEST
        return f"it lies too deep; move it into {_top(path, folder)}" if deep else "", False
    if path.suffix.lower() == ".ipynb":
        return f"rename it to {path.stem}.ipynb, in small letters", False
    return "this is no notebook; ask for the file that ends in .ipynb", True


def _top(path: Path, folder: Path) -> str:
    """Return the folder of a student, or the name of a file that lies beside these folders."""
    return path.relative_to(folder).parts[0]


def _bare(folder: Path, out: Path, full: set[str]) -> list[Path]:
    return [
        path
        for path in folder.iterdir()
        if path.is_dir() and path.name not in full and not _ignored(path.name)
        and path.resolve() != out
    ]  # fmt: skip


def page_name(path: str) -> str:
    """Return the name of a page, another one for each path.

    Where letters had to be replaced or left out, a dot and a digest of the path tell it apart.
    """
    text = re.sub(r"\.ipynb$", "", path)
    plain = re.sub(r"[^\w-]+", "_", text)
    if text.replace("/", "_") == plain and "_" not in text and text != path and len(plain) <= 50:
        return plain
    return f"{plain[:50]}.{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}"


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    descriptor, name = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)  # of temporary files it is 0o600
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


class Journal:
    """The folder of marks: `marks.csv`, a page for each submission, and their records.

    Parameters
    ----------
    out
        Where the marks go; it is made where it is missing.
    folder
        The submissions. One folder of marks belongs to one folder of submissions.

    Raises
    ------
    ValueError
        Where nothing can be written there, or the marks of another folder lie there.
    """

    def __init__(self, out: Path, folder: Path) -> None:
        self.out, self.records, self.table = out, out / "journal", out / "marks.csv"
        owner, ours = self.records / "folder.txt", repr(str(folder.resolve()))
        try:
            self.records.mkdir(parents=True, exist_ok=True)
            belongs = owner.read_text(encoding="utf-8") if owner.is_file() else ours
            write(owner, belongs)
            self._keep_edited()
        except OSError as error:
            why = error.strerror
            raise ValueError(f"marks cannot be written to {out} ({why}); see --out") from None
        if belongs != ours:
            raise ValueError(f"{out} holds the marks of {belongs}; name another folder with --out")

    def _keep_edited(self) -> None:
        """Move a table that somebody has edited aside, for it will be written anew."""
        self._read_hand()
        written = self.records / "table.txt"
        self.ours = written.read_text().split() if written.is_file() else []
        if self.table.is_file() and _digest(self.table.read_bytes()) not in self.ours:
            number = 1
            while (kept := self.out / f"marks-edited-{number}.csv").exists():
                number += 1
            self.table.rename(kept)
            self.said += f"Your table is kept as {kept.name}{self.carried}."

    def _read_hand(self) -> None:
        """Read what the teacher has written into the table, and remember it beside the records."""
        place = self.records / "hand.json"
        self.hand: dict[str, dict[str, str]] = {}
        self.said, self.carried = "", "; its points by hand stand in the new one too"
        if place.is_file():
            self.hand = json.loads(place.read_text(encoding="utf-8"))
        if not self.table.is_file():
            return
        try:
            self.hand |= grades.by_hand(self.table)
        except ValueError as error:
            self.carried = f", and its points by hand are not carried over: {error}"
        write(place, json.dumps(self.hand, indent=1))

    def recall(self, page: str, key: str) -> dict | None:
        """Return what was recorded for a page, where it was made from the same things."""
        try:
            record = json.loads((self.records / f"{page}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        same = record.get("key") == key and (self.out / f"{page}.md").is_file()
        return record["mark"] if same else None

    def keep(self, page: str, text: str, key: str, mark: dict) -> None:
        """Write a page and its record; without a key it will be marked again."""
        write(self.out / f"{page}.md", text)
        if key:
            write(self.records / f"{page}.json", json.dumps({"key": key, "mark": mark}, indent=1))

    def tabulate(self, text: str) -> None:
        """Write the table."""
        self.ours = [*self.ours[-1:], _digest(text.encode())]
        write(self.records / "table.txt", " ".join(self.ours))
        write(self.out / grades.KEPT, text)
        write(self.table, text)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def key_of(data: bytes, name: str, seed: str, files: Iterable[Path]) -> str:
    """Return a digest of all that a mark depends on: submission, seed and the marker's code."""
    parts = [data, name.encode(errors="replace"), seed.encode(), *(f.read_bytes() for f in files)]
    return _digest(b"".join(_digest(part).encode() for part in parts))
