"""Write into the README of each folder of code a line for each file, taken from the files.

    python tools/folder_readmes.py            # write what is old
    python tools/folder_readmes.py --check    # only say what is old

A file's line is the first sentence of its docstring, or of the comment that it begins with, and a
folder's that of its `__init__.py`. So a bad line is mended in the file. What can say nothing of
itself, such as JSON, keeps the line that README has; for a new one the command asks, `plan.json` or
`*.toml` for all.

The table stands between `<!-- files -->` and `<!-- /files -->`. All else in a README is written by
people. Where there is no README, the command begins one.
"""

import ast
import re
import sys
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from repository import ROOT, files

TOPS = ("src/posenc", "src/posenc_book", "experiments", "peers", "benchmarks", "course")
TOPS += ("tools", "tests")
TABLE = re.compile(r"<!-- files -->\n(.*?)<!-- /files -->\n", re.DOTALL)
ROW = re.compile(r"^\| (`.+?`|\[`.+?) \| (.+) \|$", re.MULTILINE)
COMMENT = re.compile(r"^(?:#|//) (?:title: )?(\w.*(?:\n(?:#|//) .*)*)", re.MULTILINE)
SENTENCE = re.compile(r".*?(?<!et al)[.?!](?= |$)|.+")
UNLISTED = {"README.md", "__init__.py", "py.typed", "LICENSE"}


def folders(names: list[str]) -> list[str]:
    """Return the folders of code, each with a README of its own; `tests` of one belong to it."""
    code = {PurePosixPath(name).parent for name in names if name.endswith((".py", ".js"))}
    found = {str(folder) for folder in code if str(folder).startswith(TOPS)}
    found |= {str(PurePosixPath(folder).parent) for folder in found} & {*TOPS}
    return sorted(one for one in found if one in TOPS or PurePosixPath(one).name != "tests")


def sentence(path: Path) -> str:
    """Return what a file says of itself, in a sentence; "" where it says nothing."""
    text = path.read_text(encoding="utf-8") if path.suffix in {".py", ".js"} else ""
    said = ast.get_docstring(ast.parse(text)) if path.suffix == ".py" else ""
    if not said and (comment := COMMENT.match(text.removeprefix("# ---\n"))):
        said = re.sub(r"\n(#|//)", "", comment[1])
    flowing = " ".join((said or "").partition("\n\n")[0].split())
    found = SENTENCE.match(flowing)
    return (
        re.sub(r"<(?=\w)", r"\\<", found[0].removesuffix(".")).replace("|", "\\|") if found else ""
    )


def listed(folder: str, names: list[str]) -> list[str]:
    """Return what stands in a folder: its files and those of its tests, then folders within it."""
    inside = [name.removeprefix(f"{folder}/") for name in names if name.startswith(f"{folder}/")]
    own = [one for one in inside if "/" not in one.removeprefix("tests/" * (folder != "tests"))]
    within = {one.split("/")[0] + "/" for one in inside if one not in own}
    return [one for one in own if PurePosixPath(one).name not in UNLISTED] + sorted(within)


def table(folder: str, before: str, names: list[str], root: Path = ROOT) -> str:
    """Return the table of a folder; lines of what cannot speak are those of the table before."""
    by_hand = {tuple(re.findall(r"`(.+?)`", cell)): line for cell, line in ROW.findall(before)}
    rows: dict[str, str] = {}
    for one in listed(folder, names):
        path = root / folder / one
        line = sentence(path / "__init__.py" if (path / "__init__.py").is_file() else path)
        if line:
            rows[f"[`{one}`]({one})"] = line
            continue
        shown = next((known for known in by_hand if any(fnmatch(one, k) for k in known)), None)
        if shown is None:
            raise ValueError(f"{folder}/README.md must say what {one} holds: | `{one}` | ... |")
        cell = ", ".join(f"`{name}`" for name in shown)
        rows[f"[{cell}]({one})" if shown == (one,) else cell] = by_hand[shown]
    head = "| file | holds |\n|---|---|\n"
    return head + "".join(f"| {cell} | {line} |\n" for cell, line in rows.items())


def readme(folder: str, names: list[str], root: Path = ROOT) -> str:
    """Return the README of a folder as it should be."""
    path, init = root / folder / "README.md", root / folder / "__init__.py"
    title = folder.removeprefix("src/")
    says = sentence(init) if init.is_file() else ""
    text = path.read_text(encoding="utf-8") if path.is_file() else f"# `{title}`\n"
    if not TABLE.search(text):
        text += "\n<!-- files -->\n<!-- /files -->\n"
    begun = text.startswith(f"# `{title}`\n\n<!-- files -->") and says  # nothing by hand above
    rows = table(folder, TABLE.search(text)[1], names, root)
    inside = f"{says}{'' if says[-1] in '?!' else '.'}\n\n{rows}" if begun else f"\n{rows}"
    return TABLE.sub(lambda _: f"<!-- files -->\n{inside}\n<!-- /files -->\n", text)


def old(root: Path = ROOT) -> dict[Path, str]:
    """Return the READMEs that are not as they should be, with what should stand in them."""
    names = [name for name in files(root) if (root / name).is_file()]
    wanted = {root / one / "README.md": readme(one, names, root) for one in folders(names)}
    return {
        path: text
        for path, text in wanted.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    }


def main(arguments: list[str]) -> int:
    """Write the READMEs that are old, or name them; return 1 where some had to be named."""
    try:
        found = old()
    except ValueError as error:
        sys.exit(str(error))
    for path, text in found.items():
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
    return int(bool(found) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
