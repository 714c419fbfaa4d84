"""The repository's address: read it from _config.yml, and change it everywhere at once.

python tools/repository.py                                 # print the address
python tools/repository.py https://github.com/owner/name   # change it everywhere
"""

import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / "_config.yml"
FORM = re.compile(r"https://github\.com/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)")
HOLDERS = (
    "README.md",
    "CITATION.cff",
    "LICENSE-text",
    "pyproject.toml",
    ".github/CONTRIBUTING.md",
    "book/*.md",
    "book/*.ipynb",
    "book/audit/*.md",
    "book/audit/*.ipynb",
    "src/posenc/audit/ledger.json",
    "_config.yml",
)


def notebooks(book: Path = ROOT / "book") -> list[Path]:
    """Return the notebooks of the book and of the Audit, in the order of their paths."""
    return sorted([*book.glob("*.ipynb"), *book.glob("audit/*.ipynb")])


def texts(book: Path = ROOT / "book") -> list[Path]:
    """Return the pages in Markdown of the book, of the Audit and of the reference."""
    return sorted([*book.glob("*.md"), *book.glob("audit/*.md"), *book.glob("api/*.md")])


def address(config: Path = CONFIG) -> str:
    """Return the address that `repository.url` in _config.yml holds."""
    found = re.search(r"^repository:\n(?:[ ]+.*\n)*?[ ]+url: (\S+)$", config.read_text(), re.M)
    if not found:
        raise ValueError(f"{config.name}: no line `url: https://...` under `repository:`")
    return found[1]


def branch(config: Path = CONFIG) -> str:
    """Return the branch that `repository.branch` in _config.yml holds."""
    found = re.search(r"^repository:\n(?:[ ]+.*\n)*?[ ]+branch: (\S+)$", config.read_text(), re.M)
    if not found:
        raise ValueError(f"{config.name}: no line `branch: ...` under `repository:`")
    return found[1]


def slug(url: str) -> str:
    """Return the `owner/name` of an address, which Colab and Binder links are made of."""
    match = FORM.fullmatch(url)
    if not match:
        raise ValueError(f"address must look like https://github.com/owner/name, got {url!r}")
    return f"{match['owner']}/{match['name']}"


def pages(url: str) -> str:
    """Return the address at which GitHub Pages publishes the repository's site."""
    owner, name = slug(url).split("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def files(root: Path = ROOT) -> list[str]:
    """Return the names of all files that git tracks or would take, in their order."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others"]
    listed = subprocess.run([*command, "--exclude-standard"], capture_output=True, check=True)
    return sorted(name for name in listed.stdout.decode().split("\0") if name)


def copy_to(folder: Path, root: Path = ROOT) -> list[str]:
    """Copy the repository as it stands, without what git ignores; return the names of its files."""
    copied = []
    for name in files(root):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # deleted, or of a test that runs at the same moment
            shutil.copy2(root / name, folder / name)
            copied.append(name)
    return copied


def change(new: str, root: Path = ROOT) -> list[Path]:
    """Write the new address into every file that holds the old one; return the files changed."""
    old = address(root / "_config.yml")
    swaps = {pages(old): pages(new), slug(old): slug(new)}
    changed = []
    for path in sorted({path for pattern in HOLDERS for path in root.glob(pattern)}):
        text = before = path.read_text()
        for was, becomes in swaps.items():
            text = re.sub(re.escape(was) + r"(?![\w-])" * was[-1].isalnum(), becomes, text)
        if text != before:
            path.write_text(text)
            changed.append(path)
    return changed


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(address())
    else:
        for changed_file in change(sys.argv[1].rstrip("/")):
            print(changed_file.relative_to(ROOT))
