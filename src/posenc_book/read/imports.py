"""What notebooks import of this project, by their code alone: nothing is run."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import posenc
import posenc_book
from posenc_book import _files

HOUSES = {house.__name__: Path(house.__path__[0]) for house in (posenc, posenc_book)}


def readers(book: Path, reader: str) -> list[str]:
    """Return the notebooks of a folder that import a module, directly or not, by name.

    A notebook may be named whose page does not change: who imports a module may not call it.
    """
    return [
        path.relative_to(book).with_suffix("").as_posix()
        for path in sorted(book.rglob("*.ipynb"))
        if reader in _reached(code_of(path))
    ]


def code_of(path: Path) -> str:
    """Return the code of a notebook, with nothing in place of commands to the shell."""
    cells = json.loads(_files.text(path))["cells"]
    code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    return re.sub(r"^(\s*)[%!].*", r"\1pass", code, flags=re.MULTILINE)


def _imported(code: str) -> Iterator[str]:
    """Yield the modules of this package that a piece of code imports, wherever it does."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if _source(name))


def _source(module: str) -> Path | None:
    """Return the file of a module of this package; None where the name is something else."""
    house, *rooms = module.split(".")
    if house not in HOUSES:
        return None
    path = HOUSES[house].joinpath(*rooms)
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


@cache
def _reached(code: str) -> set[str]:
    """Return the modules that a notebook's code imports, directly or not."""
    reached, left = set(), set(_imported(code))
    while left:
        reached |= left
        left = {name for module in left for name in _needed(module)} - reached
    return reached


@cache
def _needed(module: str) -> frozenset[str]:
    path = _source(module)
    return frozenset() if path is None else frozenset(_imported(_files.text(path)))
