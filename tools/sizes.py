"""How large each part of the project is, beside how large it may be.

    python tools/sizes.py            # measured, and the bound of `sizes.toml`
    python tools/sizes.py --lower    # bounds come down to what is measured
    python tools/sizes.py --came "one more encoding"   # bounds rise for it; nothing went

Numbers may fall by themselves. To raise one takes an entry in `sizes.toml` that says by how much,
what came, and what went for it.
"""

import argparse
import ast
import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from posenc_book.read import imports
from repository import ROOT

TABLE = ROOT / "tools" / "sizes.toml"
CODE = {".py", ".js"}
PAGE = ROOT / "book" / "choosing.ipynb"
BUILD = "from flit_core import buildapi; buildapi.build_wheel({!r})"
COUNT = "import sys; print(sum(m.split('.')[0] in ('posenc', 'posenc_book') for m in sys.modules))"


def table() -> dict[str, dict]:
    """Return the entries of the table by their names."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def bound(entry: dict) -> int:
    """Return how large a part may be: where it began, and every raise that is accounted for."""
    return entry["began"] + sum(one["by"] for one in entry.get("raised", []))


def lines(entry: dict) -> int:
    """Return the lines of code of a part."""
    of_part = files(entry["paths"]) - files(entry.get("without", []))
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in of_part)


def files(patterns: list[str]) -> set[Path]:
    """Return the files of code that patterns name, or that lie in the folders they name."""
    found = [place for pattern in patterns for place in ROOT.glob(pattern)]
    within = [
        path for place in found for path in ([place] if place.is_file() else place.rglob("*"))
    ]
    return {path for path in within if path.suffix in CODE}


def wheel() -> int:
    """Return the bytes that the library has once it is installed."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", BUILD.format(folder)]
        subprocess.run(command, cwd=ROOT / "src", check=True, capture_output=True)
        (made,) = Path(folder).glob("*.whl")
        listed = subprocess.check_output([sys.executable, "-m", "zipfile", "-l", made], text=True)
    return sum(int(line.split()[-1]) for line in listed.splitlines()[1:])


def behind_choosing() -> int:
    """Return how many modules of ours the imports of the page *Choosing* bring."""
    tree = ast.parse(imports.code_of(PAGE))
    asked = [
        ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    code = "\n".join([*asked, COUNT])
    return int(subprocess.check_output([sys.executable, "-c", code], text=True))


MEASURES = {"bytes of the library": wheel, "modules behind Choosing": behind_choosing}


def measured() -> dict[str, int]:
    """Return the size of every part by its name in the table."""
    return {n: MEASURES[n]() if n in MEASURES else lines(entry) for n, entry in table().items()}


def lower(found: dict[str, int]) -> None:
    """Write what is measured in place of the bounds that are above it."""
    text = TABLE.read_text(encoding="utf-8")
    for name, entry in table().items():
        down = bound(entry) - found[name]
        if down > 0:
            begin = text.index(f'["{name}"]')
            old = f"began = {entry['began']}"
            new = f"began = {entry['began'] - down}"
            text = text[:begin] + text[begin:].replace(old, new, 1)
    TABLE.write_text(text, encoding="utf-8")


def raise_for(found: dict[str, int], came: str) -> None:
    """Write for each part that is too large by how much it is, and what came."""
    text = TABLE.read_text(encoding="utf-8")
    for name, entry in table().items():
        up = found[name] - bound(entry)
        if up > 0:
            begin = text.index(f'["{name}"]')
            end = text.index("\n]\n", text.index("raised = [", begin))
            line = f'  {{ by = {up}, came = {json.dumps(came)}, went = "nothing" }},'
            text = f"{text[:end]}\n{line}{text[end:]}"
    TABLE.write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Print the table, or move its bounds; return 1 where something is too large."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lower", action="store_true", help="bounds come down to what is measured")
    parser.add_argument("--came", help="what came, for which bounds rise")
    options = parser.parse_args(arguments)
    found = measured()
    if options.lower:
        lower(found)
    if options.came:
        raise_for(found, options.came)
    bounds = {name: bound(entry) for name, entry in table().items()}
    for name, size in found.items():
        print(f"{size:>9,} of {bounds[name]:>9,}  {name}")
    return int(any(found[name] > bounds[name] for name in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
