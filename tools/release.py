"""Make and test all files of a release, and let notebooks and links ask for its tag.

    python tools/release.py --make 0.3.0            # all files of a release, in _build/release
    python tools/release.py --make --dry-run        # wheels and checks alone, and no tag
    python tools/release.py --try clean/bin/python  # README's lines, by a Python with the wheel
    python tools/release.py its-name                # the main branch has another name

A release is made in a copy of the last commit. There the version and its date are written, then the
tag in place of the main branch, so that a notebook of a release gets the package of that release,
however old it is when somebody opens it. Only when every file has been made and checked does this
repository get the two commits: the first on its branch, the second beside it, under the tag.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from datetime import date
from pathlib import Path

import chromium
import repository
import vendored
import wheels
from notebooks_branch import git
from repository import ROOT

OUT = ROOT / "_build" / "release"
NAME = "positional-encoding-book"
BACKENDS = {"src": "flit_core.buildapi", ".": "setuptools.build_meta"}
MOST = 1_000_000  # bytes of the library's wheel
STEPS = (
    "tools/build.py",
    "tools/slides.py",
    "tools/book_pdf.py",
    "-m pytest -q -p no:nbval tests/site/test_pdf.py",
    "tools/site_zip.py",
)
LINES = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", re.M | re.S)


# --- what is written into files


def version_of(root: Path = ROOT) -> str:
    """Return the version that pyproject.toml has."""
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]


def stamp(new: str, root: Path = ROOT) -> list[Path]:
    """Write a tag or a branch wherever the present one stands; return the files changed."""
    version = version_of(root)
    if not re.fullmatch(r"\w[\w./-]*", new, re.ASCII):
        raise ValueError(f"name must be that of a tag or branch, got {new!r}")
    if re.match(r"v?\d", new) and new != f"v{version}":
        raise ValueError(
            f"tag must be v{version}, since pyproject.toml has version {version}, got {new!r}"
        )
    config = root / "_config.yml"
    old, slug = repository.branch(config), repository.slug(repository.address(config))
    places = (f"{slug}/blob/%s/", f"{slug}/tree/%s/", f"{slug}/%s/", f"{slug}/%s?", f"{slug}@%s")
    swaps = {place % old: place % new for place in (*places, "\n  branch: %s\n")}
    return repository.replace(swaps, root)


def dated(changelog: str, version: str, day: str) -> str:
    """Return the changelog with a version in place of Unreleased, and numbers without names."""
    head, *sections = re.split(r"^(?=## )", changelog, flags=re.M)
    for place, section in enumerate(sections):
        if not section.startswith("## Unreleased"):
            break
        title = "### Before that" if place else f"## {version} ({day})"
        sections[place] = section.replace("## Unreleased", title, 1)
    return re.sub(r"</?data\b[^>]*>", "", head + "".join(sections))


def section(changelog: str, version: str) -> str:
    """Return what the changelog says about a version, with its heading."""
    found = re.search(rf"^## {re.escape(version)} .*?(?=^## |\Z)", changelog, re.M | re.S)
    if not found:
        raise ValueError(f"CHANGELOG.md must begin with a section Unreleased or {version}")
    return found[0]


def write_version(version: str, root: Path) -> None:
    """Write a version, and the day of its section or today, wherever they stand."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version, re.ASCII):
        raise ValueError(f"version must be three numbers such as 0.3.0, got {version!r}")
    path = root / "CHANGELOG.md"
    text = dated(path.read_text(encoding="utf-8"), version, date.today().isoformat())
    path.write_text(text, encoding="utf-8")
    day = re.search(r"\(([\d-]+)\)", section(text, version))[1]
    for name, line, new in (
        ("pyproject.toml", r'^version = ".*"', f'version = "{version}"'),
        ("pyproject.toml", r'"posenc==\S+\*"', f'"posenc=={version.rpartition(".")[0]}.*"'),
        ("src/posenc/__init__.py", r'^__version__ = ".*"', f'__version__ = "{version}"'),
        (
            "CITATION.cff",
            r"^version: .*(\ndate-released: .*)?",
            f'version: {version}\ndate-released: "{day}"',
        ),
    ):
        text, n_found = re.subn(line, new, (root / name).read_text(encoding="utf-8"), flags=re.M)
        if n_found != 1:
            raise ValueError(f"{name} must have one line like {new}, it has {n_found}")
        (root / name).write_text(text, encoding="utf-8")


# --- what is made


def make_distributions(root: Path, out: Path, **variables: str) -> None:
    """Make the wheel and the source archive of the library and of the book's code."""
    how = {"env": os.environ | variables, "capture_output": True, "text": True}
    for folder, backend in BACKENDS.items():
        for kind in ("wheel", "sdist"):
            code = f"import {backend} as b; b.build_{kind}({str(out)!r})"
            command = [sys.executable, "-W", "ignore", "-c", code]
            run = subprocess.run(command, cwd=root / folder, check=False, **how)
            if run.returncode:
                raise ValueError(f"no {kind} of {root / folder}:\n{run.stderr[-2000:]}")


def check_distributions(out: Path, version: str) -> None:
    """Raise a ValueError where a distribution is missing, or the library's wheel is too large."""
    library = f"posenc-{version}-py3-none-any.whl"
    wanted = {library, f"posenc_book-{version}-py3-none-any.whl"}
    wanted |= {f"{package}-{version}.tar.gz" for package in ("posenc", "posenc_book")}
    made = {path.name for path in out.iterdir()}
    if made != wanted:
        raise ValueError(f"the distributions must be {sorted(wanted)}, got {sorted(made)}")
    if (size := (out / library).stat().st_size) >= MOST:
        raise ValueError(f"{library} must be below {MOST:,} bytes, it has {size:,}")


def make_book(copy: Path, out: Path, name: str) -> None:
    """Make PDF, decks, notebooks and the archive of the site in a copy of the repository."""
    vendored.ARCHIVES.mkdir(exist_ok=True)
    (copy / vendored.ARCHIVES.name).symlink_to(vendored.ARCHIVES)
    wheel = wheels.make("HEAD", copy / "_build" / "wheels", copy)
    ours = {"PYTHONPATH": str(copy / "src"), "EDITION_WHEEL": wheel, "POSENC_REQUIRE_SITE": "1"}
    for step in STEPS:
        command = [sys.executable, *step.split()]
        subprocess.run(command, cwd=copy, check=True, env=os.environ | ours)
    built = copy / "_build"
    shutil.copy(built / "pdf" / f"{NAME}.pdf", out / f"{name}.pdf")
    shutil.copy(built / f"{NAME}.zip", out / f"{name}-site.zip")
    for folder in ("slides", "notebooks"):
        shutil.make_archive(str(out / f"{name}-{folder}"), "zip", built, folder)


def write_sums(out: Path) -> None:
    """Write the SHA-256 of every file, as `sha256sum --check` reads them."""
    digests = {path.name: hashlib.sha256(path.read_bytes()) for path in sorted(out.iterdir())}
    lines = [f"{digest.hexdigest()}  {name}\n" for name, digest in digests.items()]
    (out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def lines(page: Path = ROOT / "README.md") -> list[tuple[str, str]]:
    """Return each block of Python that a page shows, with what it prints."""
    return LINES.findall(page.read_text(encoding="utf-8"))


def try_lines(python: str, **variables: str) -> None:
    """Run README's lines in an empty folder; raise a ValueError where they print something else."""
    [(code, printed)] = lines()
    with tempfile.TemporaryDirectory() as empty:
        command = [os.path.abspath(python), "-c", code]
        how = {"cwd": empty, "env": os.environ | variables, "capture_output": True, "text": True}
        run = subprocess.run(command, check=False, **how)
    if run.stdout != printed:
        raise ValueError(f"README's lines must print\n{printed}got\n{run.stdout}{run.stderr}")


# --- all of it


def commit(message: str, copy: Path) -> str:
    """Commit what has changed, if anything has; return the last commit."""
    git("add", "--all", root=copy)
    if git("status", "--porcelain", root=copy):
        name, mail = (git("log", "-1", f"--format=%{kind}", root=copy) for kind in ("cn", "ce"))
        who = ("-c", f"user.name={name}", "-c", f"user.email={mail}")
        git(*who, "commit", "--quiet", "--no-gpg-sign", "-m", message, root=copy)
    return git("rev-parse", "HEAD", root=copy)


def check_whole(root: Path) -> None:
    """Raise a ValueError where a whole release cannot be made, before minutes have gone by."""
    if changed := git("status", "--porcelain", "--untracked-files=no", root=root):
        raise ValueError(f"commit these changes first, or put them aside:\n{changed}")
    if chromium.chromium() is None:
        raise ValueError(
            "the PDF needs a browser: install Chromium or name one in the variable CHROMIUM; "
            "make release DRY=1 makes the wheels alone"
        )
    if reason := vendored.missing():
        raise ValueError(f"PDF and slides cannot be made, as {reason}")


def make(version: str, dry: bool, root: Path = ROOT, out: Path = OUT) -> None:
    """Make and check the files of a release in a folder, then take its commits and its tag."""
    if not dry:
        check_whole(root)
    with tempfile.TemporaryDirectory() as place:
        copy, made = Path(place, "copy"), Path(place, "made")
        made.mkdir()
        git("clone", "--quiet", str(root), str(copy), root=root)
        write_version(version, copy)
        ours = commit(f"Version {version}", copy)
        stamp(f"v{version}", copy)
        tagged = commit(f"Notebooks and links of {version} ask for its tag", copy)
        if not dry:
            check_tag(f"v{version}", tagged, root)
        when = git("log", "-1", "--format=%ct", root=copy)
        make_distributions(copy, made, SOURCE_DATE_EPOCH=when)
        check_distributions(made, version)
        changes = section((copy / "CHANGELOG.md").read_text(encoding="utf-8"), version)
        (made / "CHANGES.md").write_text(changes, encoding="utf-8")
        name = f"{NAME}-{version}"
        tar = ("--format=tar.gz", f"--prefix={name}/", f"--output={made / name}.tar.gz")
        git("archive", *tar, "HEAD", root=copy)
        if not dry:
            try_lines(sys.executable, PYTHONPATH=str(made / f"posenc-{version}-py3-none-any.whl"))
            make_book(copy, made, name)
        write_sums(made)
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(made, out)
        if not dry:
            take(f"v{version}", ours, tagged, copy, root)


def check_tag(tag: str, tagged: str, root: Path) -> None:
    """Raise a ValueError where another commit has the tag."""
    if git("tag", "--list", tag, root=root) and git("rev-list", "-n1", tag, root=root) != tagged:
        raise ValueError(
            f"{tag} is a release already: make its files again after `git checkout {tag}`, "
            "or take the next version, as in `make release VERSION=0.3.0`"
        )


def take(tag: str, ours: str, tagged: str, copy: Path, root: Path) -> None:
    """Take a release's commits from the copy: the first on this branch, the second as the tag."""
    if git("tag", "--list", tag, root=root):
        return
    git("fetch", "--quiet", "--no-tags", str(copy), "HEAD", root=root)
    git("merge", "--quiet", "--ff-only", ours, root=root)
    git("tag", tag, tagged, root=root)


def main() -> None:
    """Make a release, try README's lines or write a name; say in one line what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", help="tag or branch that notebooks and links ask for")
    told = "make a release: this version, or the present one"
    parser.add_argument("--make", nargs="?", const=version_of(), metavar="VERSION", help=told)
    parser.add_argument("--dry-run", action="store_true", help="wheels and checks alone")
    parser.add_argument("--try", dest="python", metavar="PYTHON", help="run README's lines by it")
    options = parser.parse_args()
    try:
        if options.make:
            make(options.make, options.dry_run)
            print_summary(options.make, options.dry_run)
        elif options.python:
            try_lines(options.python)
        elif options.name:
            for path in stamp(options.name):
                print(path.relative_to(ROOT))
        else:
            parser.error("say what to do: --make, --try or the name of a branch")
    except (ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"{error}")


def print_summary(version: str, dry: bool) -> None:
    """Print what has been made and what comes next."""
    for path in sorted(OUT.iterdir()):
        print(f"{path.stat().st_size:12,} bytes  {path.relative_to(ROOT)}")
    if dry:
        print("A dry run: no PDF, decks, notebooks or site, and README's lines were not run.")
    else:
        branch = git("branch", "--show-current") or "HEAD"
        print(f"Publish it by: git push --atomic origin {branch} v{version}")


if __name__ == "__main__":
    main()
