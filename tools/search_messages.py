"""The error messages of the library: their words, and the entry of the reference that raises each.

They are read from the source, so a new one can be found the day it is written.
"""

import ast
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "posenc"
ROOMS = (
    *("attention", "encodings", "models", "register", "testing", "tables", "faithfulness"),
    *("frequencies.py", "rotation.py", "schedules.py", "fourier.py", "_checks.py"),
)
FEWEST = 4  # words of its own that a message needs to be known again


@dataclass(frozen=True)
class Message:
    """A message as it is raised, with an ellipsis where values stand, and by what."""

    text: str
    module: str  # such as "posenc.encodings.rotary"
    inside: tuple[str, ...]  # class and function that raise it, then what the module offers


def messages(package: Path = PACKAGE) -> list[Message]:
    """Return every message of the rooms of the library, in the order of files and lines."""
    found = [one for path in _sources(package) for one in _of_file(path, package)]
    return [one for one in found if len(one.text.replace("…", " ").split()) >= FEWEST]


def checksum(package: Path = PACKAGE) -> str:
    """Return a checksum of the files that the messages are read from."""
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in _sources(package))).hexdigest()


def _sources(package: Path) -> list[Path]:
    return [path for room in ROOMS for path in _files(package / room)]


def _files(room: Path) -> list[Path]:
    return sorted(room.rglob("*.py")) if room.suffix != ".py" else [room] * room.is_file()


def _of_file(path: Path, package: Path) -> Iterable[Message]:
    module = ".".join(path.relative_to(package.parent).with_suffix("").parts)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    offered = (one.name for one in tree.body if isinstance(one, (ast.ClassDef, ast.FunctionDef)))
    public = tuple(name for name in offered if not name.startswith("_"))
    for message in _walk(tree, module.removesuffix(".__init__"), ()):
        yield replace(message, inside=message.inside + public)


def _walk(node: ast.AST, module: str, inside: tuple[str, ...]) -> Iterable[Message]:
    if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
        inside = (*inside, node.name)
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
        text = re.sub("…+", "…", " ".join(_text(node.exc.args[0]).split()))
        yield Message(text, module, inside)
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr):  # none of them raises
            yield from _walk(child, module, inside)


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    return "…"
