"""Class definitions of somebody else's repository, found by their syntax tree; nothing is run.

A notebook or a module is read as text. What comes back is each class on its own, with the imports
and the definitions of the same file that it uses, so that it can be run apart from everything
else that the file does. `checkout.py` runs it.
"""

import ast
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BROKEN = "unreadable"


@dataclass(frozen=True)
class Definition:
    """A class of a repository.

    Attributes
    ----------
    name : str
    source : str
        The class, from its syntax tree: without comments.
    needs : tuple of str
        Classes and functions of the same file that it uses, in the order of the file.
    imports : tuple of str
        The import statements of the file, wherever they stand: a notebook's cells have all run
        before the class is used.
    place : str
        File and, in a notebook, the number of the cell.
    """

    name: str
    source: str
    needs: tuple[str, ...]
    imports: tuple[str, ...]
    place: str

    @property
    def digest(self) -> str:
        """Return what is the same for two definitions exactly if they and their needs are."""
        return hashlib.sha256("\n".join([*self.needs, self.source]).encode()).hexdigest()[:12]


def in_folder(folder: Path) -> tuple[list[Definition], list[str]]:
    """Return the classes of all notebooks and modules in a folder, and places without syntax."""
    found, broken = [], []
    for path in files(folder):
        for place, node in statements(path, path.relative_to(folder).as_posix()):
            if node is None:
                broken.append(place)
        found += in_file(path, path.relative_to(folder).as_posix())
    return found, broken


def files(folder: Path) -> list[Path]:
    """Return the notebooks and modules of a folder, sorted, those of hidden folders left out."""
    paths = [*folder.rglob("*.ipynb"), *folder.rglob("*.py")]
    inside = (path for path in paths if path.is_file() and not path.is_symlink())
    return sorted(p for p in inside if not any(q[0] == "." for q in p.relative_to(folder).parts))


def in_file(path: Path, name: str) -> list[Definition]:
    """Return the classes of one file, each with what it needs from above it."""
    body = list(statements(path, name))
    imports = tuple(ast.unparse(n) for _, n in body if isinstance(n, ast.Import | ast.ImportFrom))
    known: dict[str, ast.stmt] = {}
    found = []
    for place, node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            known.pop(node.name, None)  # a later definition stands later in the order, too
            known[node.name] = node
        if isinstance(node, ast.ClassDef):
            needs = tuple(ast.unparse(known[used]) for used in needed(node, known))
            found.append(Definition(node.name, ast.unparse(node), needs, imports, place))
    return found


def needed(node: ast.stmt, known: dict[str, ast.stmt]) -> list[str]:
    """Return the names of known definitions that a statement uses, directly or through others."""
    used, waiting = set(), [node]
    while waiting:
        names = {n.id for n in ast.walk(waiting.pop()) if isinstance(n, ast.Name)}
        new = {name for name in names & known.keys() if known[name] is not node} - used
        used |= new
        waiting += [known[name] for name in new]
    return [name for name in known if name in used]


def statements(path: Path, name: str) -> Iterator[tuple[str, ast.stmt | None]]:
    """Yield place and statement of a file's top level; None for a part that cannot be parsed."""
    for place, text in parts(path, name):
        try:
            body = ast.parse(without_magics(text)).body
        except (SyntaxError, ValueError, RecursionError):
            yield place, None
        else:
            yield from ((place, node) for node in body)


def parts(path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield place and text of a module, or of the code cells of a notebook."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".py":
        yield name, text
        return
    try:
        cells = json.loads(text)["cells"]
    except (json.JSONDecodeError, KeyError, TypeError):
        yield f"{name}, {BROKEN}", "("  # no notebook: reported with the other broken parts
        return
    for number, cell in enumerate(cells):
        if cell.get("cell_type") == "code":
            yield f"{name}, cell {number}", "".join(cell.get("source", ""))


def without_magics(text: str) -> str:
    """Return a cell's text without the lines that only a notebook understands."""
    lines = text.split("\n")
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)


def named(folder: Path, keyword: str) -> dict[str, int]:
    """Return how often the calls of a folder's files give each text for a keyword argument."""
    found: Counter[object] = Counter()
    for path in files(folder):
        for _, node in statements(path, path.name):
            calls = (n for n in ast.walk(node) if isinstance(n, ast.Call)) if node else ()
            given = (k.value for call in calls for k in call.keywords if k.arg == keyword)
            found.update(v.value for v in given if isinstance(v, ast.Constant))
    return {str(value): count for value, count in sorted(found.items(), key=lambda f: str(f[0]))}
