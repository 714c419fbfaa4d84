"""Draw the rooms of the package and who uses whom, from the code, for README.

    python tools/architecture.py        # writes .github/architecture.svg

A room is a package of `src/posenc`; what `import posenc` brings is one room, the mathematics. A
line leads from a room down to the rooms that import it. What follows from two lines (models use
attention because encodings do) is not drawn, nor are the exceptions that pyproject.toml lists.
"""

import ast
import textwrap
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from html import escape
from pathlib import Path

from repository import ROOT

SOURCE = ROOT / "src"
PICTURE = ROOT / ".github" / "architecture.svg"
MATHEMATICS = "mathematics"

WIDTH, BOX, ROW, GAP = 760, 236, 104, 42  # of the picture, a box and what lies between, in px
LINE = 33  # characters in a line of a box
STYLE = """
  .ground { fill: #ffffff } .box { fill: #f2f5f9; stroke: #1b2a49 }
  .torch .box { fill: #e3eef6 } .edge { fill: none; stroke: #1b2a49; stroke-width: 1.5 }
  .tip { fill: #1b2a49 } text { fill: #1b2a49; font: 13px sans-serif }
  .name { font: bold 16px monospace } .tag { font: 12px monospace; text-anchor: end }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1420 } .box { fill: #1c2636; stroke: #c9d4e3 }
    .torch .box { fill: #17344a } .edge { stroke: #c9d4e3 } .tip, text { fill: #e6edf5 }
  }
"""


@dataclass(frozen=True)
class Room:
    """A part of the package."""

    name: str
    says: str  # what it holds, in a sentence or a list
    torch: bool  # whether one of its modules imports torch
    uses: frozenset[str]  # the rooms that it imports


def modules(source: Path = SOURCE) -> dict[str, Path]:
    """Return the file of every module, by its dotted name."""
    found = {}
    for path in sorted(source.glob("posenc/**/*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imports(path: Path) -> Iterator[str]:
    """Yield what a file imports, "a.b" for `from a import b`, also inside functions.

    What stands under `if TYPE_CHECKING:` is no import, as it does not run.
    """
    yield from imported_by(path.read_text(encoding="utf-8"))


def imported_by(code: str) -> Iterator[str]:
    """Yield what a piece of code imports."""
    for node in _statements(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements that run, at any depth; what they compute holds no import."""
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        inner: Iterable[ast.AST] = node.orelse
    else:
        inner = ast.iter_child_nodes(node)
    for child in inner:
        if isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)):
            yield child
            yield from _statements(child)


def rooms(source: Path = SOURCE, allowed: frozenset[tuple[str, str]] = frozenset()) -> list[Room]:
    """Return the rooms, each after those that it uses.

    Imports that are `allowed`, (importing module, imported module), are left out.
    """
    files = modules(source)
    imported = {name: list(imports(path)) for name, path in files.items()}
    basis = [name.removeprefix("posenc.") for name in imported["posenc"]]
    basis = [name for name in basis if not name.startswith("_")]
    by_room: dict[str, list[str]] = {}
    for name in files:
        if name not in ("posenc", "posenc.__main__"):  # the command is no room
            by_room.setdefault(_room(name, basis), []).append(name)
    found = {}
    for room, names in by_room.items():
        wanted = {(n, _module(i, files)) for n in names for i in imported[n]}
        used = {_room(i, basis) for n, i in wanted if i and (n, i) not in allowed}
        says = ", ".join(basis) if room == MATHEMATICS else _docstring(files[f"posenc.{room}"])
        torch = any(i.split(".")[0] == "torch" for n in names for i in imported[n])
        found[room] = Room(room, says, torch, frozenset(used - {room}))
    order = TopologicalSorter({name: sorted(room.uses) for name, room in found.items()})
    return [found[name] for name in order.static_order()]


def _docstring(path: Path) -> str:
    """Return the first sentence of a file's docstring, without the full stop."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).partition(". ")[0].removesuffix(".")


def _module(name: str, files: dict[str, Path]) -> str | None:
    """Return the module that an imported name is, or is of; None if it is not the package's."""
    while name and name not in files:
        name = name.rpartition(".")[0]
    return name if name != "posenc" else None


def _room(module: str, basis: list[str]) -> str:
    part = module.split(".")[1]
    beside = ("_checks", "_extras", "_files", "_wall")
    return MATHEMATICS if part in basis or part in beside else part


def exceptions() -> frozenset[tuple[str, str]]:
    """Return the imports that the contract in pyproject.toml lets pass."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    lines = [line for c in settings["contracts"] for line in c.get("ignore_imports", [])]
    return frozenset(tuple(line.split(" -> ")) for line in lines)


def direct(found: list[Room]) -> list[tuple[str, str]]:
    """Return (used, user) for every room and those below it, without what follows from others."""
    uses = {room.name: room.uses for room in found}

    def reach(name: str) -> frozenset[str]:
        return uses[name].union(*(reach(other) for other in uses[name]))

    return [
        (used, name)
        for name in uses
        for used in sorted(uses[name])
        if not any(used in reach(other) for other in uses[name] - {used})
    ]


def places(found: list[Room]) -> dict[str, tuple[float, int]]:
    """Return where each room stands: its middle from the left in px, and its row."""
    row: dict[str, int] = {}
    for room in found:
        row[room.name] = 1 + max((row[name] for name in room.uses), default=-1)
    where: dict[str, tuple[float, int]] = {}
    lines = direct(found)
    for n in range(1 + max(row.values())):
        above = {r: [where[a][0] for a, b in lines if b == r] for r in row if row[r] == n}
        middle = {r: sum(x) / len(x) if x else WIDTH / 2 for r, x in above.items()}
        ordered = sorted(middle, key=lambda r: (middle[r], r))
        for i, name in enumerate(ordered):
            x = WIDTH * (2 * i + 1) / (2 * len(ordered)) if len(ordered) > 1 else middle[name]
            where[name] = (x, n)
    return where


def draw(found: list[Room]) -> str:
    """Return the picture as SVG, with a title and a description for those who cannot see it."""
    where, lines = places(found), direct(found)
    height = GAP + (1 + max(y for _, y in where.values())) * (ROW + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-labelledby="title desc">',
        '<title id="title">The rooms of posenc, each above those that use it</title>',
        f'<desc id="desc">{escape(describe(found))}</desc>',
        f"<style>{STYLE}</style>",
        '<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path class="tip" d="M0 0L8 4L0 8Z"/></marker>',
        f'<rect class="ground" width="{WIDTH}" height="{height}" rx="8"/>',
        *(_edge(where[a], where[b]) for a, b in lines),
        *(_box(room, *where[room.name]) for room in found),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def describe(found: list[Room]) -> str:
    """Return the picture in words."""
    users: dict[str, list[str]] = {}
    for used, name in direct(found):
        users.setdefault(name, []).append(used)
    return " ".join(
        f"{room.name} ({room.says}) uses {' and '.join(users[room.name])}."
        if room.name in users
        else f"{room.name} ({room.says}) uses no other room."
        for room in found
    )


def _top(row: int) -> int:
    return GAP + row * (ROW + GAP)


def _edge(used: tuple[float, int], user: tuple[float, int]) -> str:
    (x0, row0), (x1, row1) = used, user
    y0, y1 = _top(row0) + ROW, _top(row1)
    start, end = y1 - GAP, y1 - 10  # straight down past the rows between, then to the side
    bend = (start + end) / 2
    return (
        f'<path class="edge" marker-end="url(#tip)" d="M{x0:g} {y0}V{start}'
        f'C{x0:g} {bend:g} {x1:g} {bend:g} {x1:g} {end}V{y1}"/>'
    )


def _box(room: Room, x: float, row: int) -> str:
    left, top = x - BOX / 2, _top(row)
    kind, tag = ("torch", "torch") if room.torch else ("plain", "no torch")
    said = "".join(
        f'<text x="{left + 12:g}" y="{top + 46 + 18 * i}">{escape(line)}</text>'
        for i, line in enumerate(textwrap.wrap(room.says, LINE))
    )
    return (
        f'<g class="{kind}"><rect class="box" x="{left:g}" y="{top}" width="{BOX}" height="{ROW}" '
        f'rx="6"/><text class="name" x="{left + 12:g}" y="{top + 24}">{room.name}</text>'
        f'<text class="tag" x="{left + BOX - 12:g}" y="{top + 23}">{tag}</text>{said}</g>'
    )


def picture() -> str:
    """Return the picture of the package as it is."""
    return draw(rooms(allowed=exceptions()))


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print(f"written: {PICTURE.relative_to(ROOT)}")
