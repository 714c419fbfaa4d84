"""Draw the two houses of `src`, their rooms and who uses whom, from the code, for README.

    python tools/architecture.py        # writes .github/architecture.svg

A room is a package of `src/posenc` or `src/posenc_book`; what `import posenc` brings is one room,
the mathematics. A line leads from a room down to the rooms of its house that import it. What
follows from two lines (models use attention because encodings do) is not drawn.
"""

import ast
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from graphlib import TopologicalSorter
from html import escape
from pathlib import Path

from repository import ROOT

SOURCE = ROOT / "src"
PICTURE = ROOT / ".github" / "architecture.svg"
MATHEMATICS = "mathematics"
SAYS = {
    "posenc": "posenc, the library: it knows nothing of the rest",
    "posenc_book": "posenc_book, the book's code: it stands on the library",
}

WIDTH, BOX, ROW, GAP = 760, 236, 104, 42  # of the picture, a box and what lies between, in px
HEAD = 34  # a house's name above its rooms
LINE = 33  # characters in a line of a box
STYLE = """
  .ground { fill: #ffffff } .box { fill: #f2f5f9; stroke: #1b2a49 }
  .torch .box { fill: #e3eef6 } .edge { fill: none; stroke: #1b2a49; stroke-width: 1.5 }
  .tip { fill: #1b2a49 } text { fill: #1b2a49; font: 13px sans-serif }
  .name, .house { font: bold 16px monospace } .tag { font: 12px monospace; text-anchor: end }
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


def modules(source: Path = SOURCE, house: str = "posenc") -> dict[str, Path]:
    """Return the file of every module of a house, by its dotted name."""
    found = {}
    for path in sorted(source.glob(f"{house}/**/*.py")):
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


def rooms(source: Path = SOURCE, house: str = "posenc") -> list[Room]:
    """Return the rooms of a house, each after those that it uses."""
    files = modules(source, house)
    imported = {name: list(imports(path)) for name, path in files.items()}
    basis = [name.removeprefix(f"{house}.") for name in imported[house] if house == "posenc"]
    basis = [name for name in basis if not name.startswith("_")]
    by_room: dict[str, list[str]] = {}
    for name in files:
        if room := _room(name, basis):
            by_room.setdefault(room, []).append(name)
    found = {}
    for room, names in by_room.items():
        wanted = {_module(i, files) for n in names for i in imported[n]} - {house}
        used = {_room(i, basis) for i in wanted if i} - {""}
        says = ", ".join(basis) if room == MATHEMATICS else _docstring(files[f"{house}.{room}"])
        torch = any(i.split(".")[0] == "torch" for n in names for i in imported[n])
        found[room] = Room(room, says, torch, frozenset(used - {room}))
    order = TopologicalSorter({name: sorted(room.uses) for name, room in found.items()})
    return [found[name] for name in order.static_order()]


def _docstring(path: Path) -> str:
    """Return the first sentence of a file's docstring, without the full stop."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).partition(". ")[0].removesuffix(".")


def _module(name: str, files: dict[str, Path]) -> str | None:
    """Return the module that an imported name is, or is of; None if it is not the house's."""
    while name and name not in files:
        name = name.rpartition(".")[0]
    return name or None


def _room(module: str, basis: list[str]) -> str:
    """Return the room of a module; "" for what is beside the rooms: commands and small helpers."""
    part = module.partition(".")[2].partition(".")[0]
    if part in basis:
        return MATHEMATICS
    return "" if part.startswith("_") or part == "command_line" else part


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


def draw(houses: dict[str, list[Room]]) -> str:
    """Return the picture as SVG, with a title and a description for those who cannot see it."""
    drawn, height = [], 0
    for name, found in houses.items():
        tall = HEAD + GAP + (1 + max(y for _, y in places(found).values())) * (ROW + GAP)
        drawn.append(f'<g transform="translate(0 {height})">{_house(name, found)}</g>')
        height += tall
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-labelledby="title desc">',
        '<title id="title">The library and the book\'s code on it, each room above those that use '
        "it</title>",
        f'<desc id="desc">{escape(" ".join(map(describe, houses.values())))}</desc>',
        f"<style>{STYLE}</style>",
        '<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path class="tip" d="M0 0L8 4L0 8Z"/></marker>',
        f'<rect class="ground" width="{WIDTH}" height="{height}" rx="8"/>',
        *drawn,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _house(name: str, found: list[Room]) -> str:
    where, lines = places(found), direct(found)
    edges = [_edge(where[a], where[b]) for a, b in lines]
    boxes = [_box(room, *where[room.name]) for room in found]
    head = f'<text class="house" x="{GAP // 2}" y="{HEAD}">{escape(SAYS[name])}</text>'
    return "\n".join([head, *edges, *boxes])


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
    return HEAD + GAP // 2 + row * (ROW + GAP)


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


def houses() -> dict[str, list[Room]]:
    """Return the rooms of both houses as they are."""
    return {name: rooms(house=name) for name in SAYS}


if __name__ == "__main__":
    PICTURE.write_text(draw(houses()), encoding="utf-8")
    print(f"written: {PICTURE.relative_to(ROOT)}")
