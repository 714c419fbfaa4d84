"""The repository's address: read it from _config.yml, and change it everywhere at once.

python tools/repository.py                                 # print the address
python tools/repository.py https://github.com/owner/name   # change it everywhere

What people paste is understood: with `.git` or a slash behind it, or as ssh has it. Where it is no
address of a repository on GitHub, one sentence says so and nothing is written.
"""

import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / "_config.yml"
HOST = "https://github.com/"
PASTED = re.compile(
    r"(?:(?:https?://)?(?:www\.)?github\.com/|(?:ssh://)?git@github\.com[:/])?"
    r"(?P<owner>[a-z\d](?:[a-z\d-]*[a-z\d])?)/(?P<name>[\w.-]+?)(?:\.git)?/*",
    re.ASCII | re.IGNORECASE,
)
HOLDERS = (
    "README.md",
    "src/posenc/README.md",
    "CITATION.cff",
    ".zenodo.json",
    "LICENSE-text",
    "pyproject.toml",
    ".github/*.md",
    "book/*.md",
    "book/*.ipynb",
    "book/audit/*.md",
    "book/*/*.ipynb",
    "src/posenc_book/audit/ledger.json",
    "_config.yml",
)


def notebooks(book: Path = ROOT / "book") -> list[Path]:
    """Return the notebooks of the book, the Audit and the atlas, in the order of their paths."""
    return sorted(
        path for folder in ("", "audit/", "atlas/") for path in book.glob(f"{folder}*.ipynb")
    )


def texts(book: Path = ROOT / "book") -> list[Path]:
    """Return the pages in Markdown of the book, of the Audit, the reference and the editions."""
    folders = ("", "audit/", "api/", "editions/")
    return sorted(path for folder in folders for path in book.glob(f"{folder}*.md"))


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


def understood(pasted: str) -> str:
    """Return the address of the repository that a pasted text names."""
    match = PASTED.fullmatch(pasted.strip())
    if not match or not match["name"].strip(".") or match["name"].lower().endswith(".git"):
        raise ValueError(
            "address must be that of a repository on GitHub, such as "
            f"{HOST}owner/name, got {pasted!r}"
        )
    return f"{HOST}{match['owner']}/{match['name']}"


def slug(url: str) -> str:
    """Return the `owner/name` of an address, which Colab and Binder links are made of."""
    if (plain := understood(url)) != url:
        raise ValueError(f"address must be written {plain}, got {url!r}")
    return url.removeprefix(HOST)


def published(page: str) -> str:
    """Return the address of a page of the site, such as "book/rotary"."""
    return f"{pages(address())}{page}.html"


def pages(url: str) -> str:
    """Return the address at which GitHub Pages publishes the repository's site.

    A repository `owner.github.io` has it at the top: https://owner.github.io/.
    """
    owner, name = slug(url).split("/")
    site = f"{owner.lower()}.github.io"
    return f"https://{site}/" if name.lower() == site else f"https://{site}/{name}/"


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


def change(pasted: str, root: Path = ROOT) -> list[Path]:
    """Write the new address into every file that holds the old one; return the files changed."""
    old, new = address(root / "_config.yml"), understood(pasted)
    return replace({pages(old): pages(new), slug(old): slug(new)}, root)


def replace(swaps: dict[str, str], root: Path = ROOT) -> list[Path]:
    """Write other words for some that stand in the files of `HOLDERS`; return the files changed.

    All at once, so that a new one is not taken for an old one; and an old one is a whole, not the
    beginning or end of another name.
    """
    texts = {}
    for path in sorted({path for pattern in HOLDERS for path in root.glob(pattern)}):
        text = before = path.read_text(encoding="utf-8")
        for place, was in enumerate(swaps):
            whole = rf"(?<![\w.-]{re.escape(was)})" * was[0].isalnum()
            whole += r"(?![\w-])" * was[-1].isalnum()
            text = re.sub(re.escape(was) + whole, f"\0{place}\0", text)
        for place, becomes in enumerate(swaps.values()):
            text = text.replace(f"\0{place}\0", becomes)
        if text != before:
            texts[path] = text
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return list(texts)


def main(pasted: str = "") -> None:
    """Print the address, or change it and print the files that hold it."""
    if not pasted:
        print(address())
        return
    try:
        changed = change(pasted)
    except ValueError as error:
        sys.exit(str(error))
    for path in changed:
        print(path.relative_to(ROOT))
    print('What has to be switched on there: .github/CONTRIBUTING.md, "Move the repository"')


if __name__ == "__main__":
    main(*sys.argv[1:2])
