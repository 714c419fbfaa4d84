"""Fill named numbers into prose, and say which sentences are no longer true.

    python tools/fill.py                                # fill them in wherever they stand
    python tools/fill.py --check                        # write nothing, say what is stale
    python tools/fill.py book/benchmark.ipynb           # these files only

A number in prose wears the name of what it is, and reads well wherever a notebook is opened:

    It gains <data value="benchmark.more_with_steps">7.1</data> points more with steps.

`benchmark.more_with_steps` is the text that the function `more_with_steps` of
`src/posenc_book/quantities/benchmark.py` returns, and `costs.times.rotary` one of several that
`times` does. Whoever writes one leaves the middle empty. Words that data may prove wrong wear a
condition, `<data value="if:benchmark.dft_is_behind">...</data>`: its function says whether they
still hold. Nothing rewrites these words; where they hold no longer, they are named. A whole table
stands between the lines `<!-- data speed.one_token -->` and `<!-- /data -->`.
"""

import argparse
import json
import os
import re
import sys
from functools import cache
from importlib import import_module
from inspect import getmembers, isroutine
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import posenc_book.quantities
import quantities
from repository import ROOT, notebooks, texts

NAMED = re.compile(
    r'(?:<data value="(?P<if>if:)?|<!-- data )(?P<name>[^" ]*)(?:">| -->\n)'
    r"(?P<said>.*?)(?P<close></data>|<!-- /data -->)",
    re.DOTALL,
)
# of data and results, and of the repository itself
QUANTITIES = (posenc_book.quantities, quantities)


class FillError(ValueError):
    """A name that no function computes."""


class UnsaidError(ValueError):
    """What a name stands for cannot be computed from these results."""


def modules() -> list[str]:
    """Return the modules that compute quantities."""
    return sorted(name for package in QUANTITIES for name in _modules(package))


def _modules(package: ModuleType) -> list[str]:
    return [found.name for found in iter_modules(package.__path__) if found.name[0] != "_"]


@cache
def functions(module: str) -> dict[str, object]:
    """Return the functions of a module that compute what prose names, by their names."""
    package = next((package for package in QUANTITIES if module in _modules(package)), None)
    if package is None:
        return {}
    own = f"{package.__name__}.{module}"
    members = getmembers(import_module(own), isroutine)
    return {n: f for n, f in members if not n.startswith("_") and f.__module__ == own}


@cache
def computed(module: str, function: str) -> object:
    """Return what a function of a module returns."""
    try:
        return functions(module)[function]()
    except Exception as error:
        raise UnsaidError(f"{error or type(error).__name__}") from error


def value(name: str, *, condition: bool = False) -> str | bool:
    """Return the text that stands under a name, or whether a condition holds."""
    module, function, *key = [*name.split(".", 2), ""][:3]
    if function not in functions(module):
        raise FillError(f"{name}: quantities/{module}.py has no function {function!r}")
    found = computed(module, function)
    if isinstance(found, dict):
        if key[0] not in found:
            raise FillError(f"{name} must end with one of {', '.join(found)}")
        found = found[key[0]]
    if not isinstance(found, bool if condition else str):
        raise FillError(f"{name} must be {'true or false' if condition else 'text'}, got {found!r}")
    return found


def prose(path: Path) -> list[str]:
    """Return the pieces of prose of a file: the cells of a notebook, or the whole of another."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return [text]
    cells = json.loads(text)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def written(path: Path, pieces: list[str]) -> str:
    """Return the text of a file with other prose, in the order of `prose`."""
    if path.suffix != ".ipynb":
        return pieces[0]
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    for cell, piece in zip(cells, pieces, strict=True):
        cell["source"] = piece.splitlines(keepends=True)
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def filled(text: str, known=value) -> tuple[str, list[str]]:
    """Return a piece of prose with its numbers as they are now, and what a person has to see to.

    Messages say which numbers were stale, and which words hold no longer.
    """
    messages = []

    def fresh(found: re.Match) -> str:
        name, said = found["name"], found["said"]
        if "<data" in said:
            raise FillError(f"{name} must not hold another name, got {said!r}")
        try:
            now = known(name, condition=bool(found["if"]))
        except UnsaidError as error:
            messages.append(f"{name} holds no longer, rewrite {said!r}: {error}")
            return found[0]
        if now is False:
            messages.append(f"{name} holds no longer, rewrite {said!r}")
        elif now is not True and now != said:
            messages.append(f"{name} is {now!r}, not {said!r}")
        opened = found[0].removesuffix(said + found["close"])
        return found[0] if isinstance(now, bool) else f"{opened}{now}{found['close']}"

    return NAMED.sub(fresh, text), messages


def names(path: Path) -> set[str]:
    """Return the names that a file uses, conditions among them."""
    return {found["name"] for piece in prose(path) for found in NAMED.finditer(piece)}


def holders(root: Path = ROOT) -> list[Path]:
    """Return the files whose prose names something."""
    record = root / "src/posenc_book/guide/record.toml"  # first, as pages quote it
    pages = [record, *(root / f"{name}.md" for name in ("README", "ARCHITECTURE", "CHANGELOG"))]
    pages += [*texts(root / "book"), *(root / "paper").glob("*.md")]
    return [path for path in [*pages, *notebooks(root / "book")] if names(path)]


def renew(path: Path, *, check: bool = False) -> list[str]:
    """Fill a file, unless only checking, and return the messages, each with the file's name."""
    pieces = [filled(piece) for piece in prose(path)]
    if any(messages for _, messages in pieces) and not check:
        path.write_text(written(path, [text for text, _ in pieces]), encoding="utf-8")
    return [f"{path.name}: {message}" for _, messages in pieces for message in messages]


def main(arguments: list[str] | None = None) -> None:
    """Fill files, or check them; end with an error where something is left for a person to do."""
    parser = argparse.ArgumentParser(description="Fill named numbers into prose.")
    parser.add_argument("files", nargs="*", type=Path, help="by default all that name something")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    if os.environ.get("POSENC_RESULTS") and not options.check:
        sys.exit("POSENC_RESULTS names other results than the book's: add --check, or unset it")
    left = False
    for path in options.files or holders():
        try:
            messages = renew(path, check=options.check)
        except FillError as error:
            sys.exit(str(error))
        print(*messages, sep="\n", end="\n" * bool(messages), flush=True)
        left |= any(options.check or "holds no longer" in message for message in messages)
    sys.exit(left)


if __name__ == "__main__":
    main()
