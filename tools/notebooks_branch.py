"""Gather what stands on the branch `notebooks`, as one commit, and push it.

    python tools/notebooks_branch.py                 # into _build/branch
    python tools/notebooks_branch.py --push origin   # and to that branch of a remote

The branch holds the notebook edition that `make edition` has built, a README, and wheels: those of
the newest commits and of every tag, so that a notebook finds the package that it was made with.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import repository
import wheels
from repository import ROOT
from wheels import BRANCH, FOLDER, NEWEST

BUILT = ROOT / "_build" / "notebooks"
OUT = ROOT / "_build" / "branch"
KEPT = "kept.json"  # what the folder of wheels holds, newest first
N_KEPT = 10  # wheels of commits without a tag
README = """\
# The notebooks of the Positional Encoding Book

Made by the workflow *Site* from [the sources]({address}/tree/main/book) and the built site, and
replaced as a whole at each change: please don't edit here.
[Change a chapter]({address}/blob/main/.github/CONTRIBUTING.md#change-a-chapter) says where.

| folder | what it holds |
|---|---|
| `book/` | every page that runs, [from the first chapter on](book/order-blindness.ipynb) |
| `without-solutions/book/` | the pages with exercises once more, for a class |
| `assignments/` | assignments for students, and the capstone's notebooks |
| `wheels/` | the package as it was when each notebook was made, which its first cell fetches |

[Read the book]({site}), or open a notebook in Colab by the button on its page.
"""


def git(*arguments: str, root: Path = ROOT, **how) -> str:
    """Run git and return what it prints."""
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, **how
    ).stdout.strip()


def tags(root: Path = ROOT) -> dict[str, str]:
    """Return the commit of each tag."""
    names = git("tag", "--list", root=root).split()
    return {name: git("rev-list", "-n1", name, root=root) for name in names}


def before(root: Path, remote: str, folder: Path) -> list[dict[str, str]]:
    """Copy the wheels that the branch holds today into a folder; return their list."""
    where = ("-C", str(root))
    fetch = ["git", *where, "fetch", "--quiet", "--depth=1", remote, f"refs/heads/{BRANCH}"]
    if subprocess.run(fetch, stderr=subprocess.DEVNULL, check=False).returncode:
        return []  # the first time there is no such branch
    archive = subprocess.check_output(["git", *where, "archive", "FETCH_HEAD", FOLDER])
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return json.loads((folder / FOLDER / KEPT).read_text(encoding="utf-8"))


def chosen(listed: list[dict[str, str]], tagged: set[str], n: int = N_KEPT) -> list[dict[str, str]]:
    """Return which wheels stay: of every tag, and the newest of all others."""
    others = [one["commit"] for one in listed if one["commit"] not in tagged][:n]
    return [one for one in listed if one["commit"] in tagged | set(others)]


def gather_wheels(root: Path, out: Path, remote: str) -> None:
    """Fill the folder of wheels: this commit's, every tag's, and those of before that stay."""
    folder = out / FOLDER
    listed, commits = before(root, remote, out), set(tags(root).values())
    head = git("rev-parse", "HEAD", root=root)
    known = {one["commit"] for one in listed}
    made = [
        {"commit": one, "wheel": wheels.make(one, folder, root)} for one in commits - known - {head}
    ]
    made.append({"commit": head, "wheel": wheels.make(head, folder, root)})
    kept = chosen([made.pop(), *made, *(one for one in listed if one["commit"] != head)], commits)
    for path in folder.glob("*/*.whl"):
        if path.relative_to(folder).as_posix() not in {one["wheel"] for one in kept}:
            shutil.rmtree(path.parent)
    (folder / KEPT).write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    (folder / NEWEST).write_text(f"{kept[0]['wheel']}\n", encoding="utf-8")


def gather(root: Path = ROOT, built: Path = BUILT, out: Path = OUT, remote: str = "origin") -> Path:
    """Fill a folder with what the branch holds, and return it."""
    if not built.is_dir():
        raise FileNotFoundError(f"{built} is not there: run `make edition` first")
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(built, out)
    gather_wheels(root, out, remote)
    address = repository.address()
    text = README.format(address=address, site=repository.pages(address))
    (out / "README.md").write_text(text, encoding="utf-8")
    return out


def commit(folder: Path, root: Path = ROOT) -> str:
    """Return a commit without parents that holds a folder; no branch or work tree changes."""
    head = git("log", "-1", "--format=%h %s", root=root)
    with tempfile.TemporaryDirectory() as place:
        env = os.environ | {"GIT_INDEX_FILE": f"{place}/index"}
        git("--work-tree", str(folder), "add", "--all", "--force", ".", root=root, env=env)
        tree = git("write-tree", root=root, env=env)
    name, mail = (git("log", "-1", f"--format=%{kind}", root=root) for kind in ("cn", "ce"))
    env = os.environ | {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": mail}
    env |= {"GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": mail}
    return git("commit-tree", tree, "-m", f"Notebooks of {head}", root=root, env=env)


def main() -> None:
    """Gather the branch, and push it where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--push", metavar="REMOTE", help="name or address of a remote to push to")
    options = parser.parse_args()
    out = gather(remote=options.push or "origin")
    print(f"{len(list(out.rglob('*.ipynb')))} notebooks in {out.relative_to(ROOT)}")
    if options.push:
        git("push", "--quiet", "--force", options.push, f"{commit(out)}:refs/heads/{BRANCH}")


if __name__ == "__main__":
    main()
