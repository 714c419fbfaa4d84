"""Look up what six libraries and ours have for positions, and store it in results/libraries.json.

    python -m peers.has --checkouts FOLDER

The names stand in `has.toml`. One that is gone is an error: the library has changed, and the page
that shows the table with it. That a cell is empty is only what we found, so nothing proves it.
"""

import argparse
import ast
import inspect
import json
import os
import re
import sys
import tomllib
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from peers.references import CHECKOUTS, Missing, folder, version

HERE = Path(__file__).parent
OUT = HERE.parent / "results" / "libraries.json"
LIBRARIES = (
    "transformers", "x-transformers", "rotary-embedding-torch", "torchtune", "timm",
    "positional-encodings",
)  # fmt: skip
NAMED = re.compile(r"(?P<place>[\w./]+)(:(?P<name>[\w.]+))?(\((?P<argument>\w+)\))?")


def rows() -> list[dict[str, str]]:
    """Return what is looked up: "what", and the name in each library that has it."""
    return tomllib.loads((HERE / "has.toml").read_text(encoding="utf-8"))["row"]


def look_up(library: str, where: str) -> None:
    """Raise a ValueError where a library has no such name, or it takes no such argument."""
    found = NAMED.fullmatch(where)
    if not found:
        raise ValueError(f"{where!r} should be like module:Name or module:Name(argument)")
    place, name, argument = found["place"], found["name"], found["argument"]
    if library in CHECKOUTS:
        _in_file(folder(library) / place, name)
    elif place.endswith(".py"):  # a module that this environment cannot import
        package, _, file = place.partition("/")
        if not (Path(find_spec(package).origin).parent / file).is_file():
            raise ValueError(f"{library} has no {place}")
    else:
        _in_module(place, name, argument)


def _in_file(path: Path, name: str) -> None:
    defined = {getattr(node, "name", "") for node in ast.parse(path.read_text("utf-8")).body}
    if name not in defined:
        raise ValueError(f"{path.name} defines no {name}")


def _in_module(place: str, name: str, argument: str | None) -> None:
    found = import_module(place)
    for part in name.split("."):
        found = getattr(found, part)
    if argument and argument not in inspect.signature(found).parameters:
        mro = [inspect.signature(one).parameters for one in getattr(found, "__mro__", ())[:-1]]
        if not any(argument in parameters for parameters in mro):
            raise ValueError(f"{place}:{name} takes no {argument}")


def faults(table: list[dict[str, str]]) -> list[str]:
    """Return a sentence for each name that is not there."""
    bad = []
    for row in table:
        for library in ("posenc", *LIBRARIES):
            try:
                if library in row:
                    look_up(library, row[library])
            except (ValueError, ImportError, AttributeError, OSError) as error:
                bad.append(f"{row['what']}, {library}: {type(error).__name__}: {error}")
    return bad


def main(arguments: list[str] | None = None) -> int:
    """Return 0 if every name is there, and store the table then."""
    parser = argparse.ArgumentParser(prog="python -m peers.has", description=__doc__)
    parser.add_argument("--checkouts", type=Path, help="folder with torchtune")
    parser.add_argument("--out", type=Path, default=OUT, help="file of what was found")
    options = parser.parse_args(arguments)
    if options.checkouts:
        os.environ["POSENC_CHECKOUTS"] = str(options.checkouts.resolve())
    table = rows()
    try:
        versions = {name: version(name) for name in LIBRARIES}
    except Missing as reason:
        print(f"names stay as stored, since all six are needed: {reason}")
        return 0
    if bad := faults(table):
        print("\n".join(bad))
        return 1
    day = datetime.now(UTC).date().isoformat()
    text = json.dumps({"date": day, "versions": versions, "rows": table}, indent=1)
    options.out.write_text(text + "\n", encoding="utf-8")
    print(f"{sum(len(row) - 1 for row in table)} names in {len(table)} rows, all there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
