"""One address, one list of pages, one list of pins: what stands in two places must agree."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml
from pybtex.database import parse_string
from sitefiles import ROOT, anchor, toc_files

import citing
import release
import repository
import results_editions

ADDRESS = repository.address()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# What points at the repository or its pages, apart from other people's repositories.
LINK = re.compile(r"(?:github\.com|/gh)/([\w.-]+/[\w.-]+?)(?:\.git)?(?=[/@\s\"')>}#?]|$)")
NAMING = ("README.md", "src/posenc/README.md", "CITATION.cff", "pyproject.toml")
NAMING += (".github/CONTRIBUTING.md", ".github/ADDING.md", ".github/SUPPORT.md")


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


TEXTS = sorted(path.relative_to(ROOT) for path in (*ROOT.glob("*.md"), *ROOT.glob(".github/*.md")))


@pytest.mark.parametrize("path", TEXTS, ids=str)
def test_links_from_file_to_file_lead_somewhere(path):
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", read(str(path)), flags=re.S)
    links = re.findall(r"\]\((?!\w+://)([^)#\s]*)(?:#([\w-]+))?\)", prose)
    for place, part in links:
        file = (ROOT / path.parent / place) if place else ROOT / path
        assert file.exists(), place
        headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.M) if part else []
        assert not part or part in map(anchor, headings), f"{place}#{part}"


def pins() -> dict[str, str]:
    lines = [line.split("#")[0].strip() for line in read("requirements.txt").splitlines()]
    found = [re.fullmatch(r"([\w.-]+)==([\w.]+)", line) for line in lines if line]
    assert all(found), f"every line must be name==version, got {lines}"
    return {normal(match[1]): match[2] for match in found}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_citation_and_package_name_the_address():
    known = citing.citation()
    assert known["repository-code"] == ADDRESS
    assert known["url"] == known["preferred-citation"]["url"] == repository.pages(ADDRESS)
    assert known["version"] == PROJECT["version"]
    assert PROJECT["urls"]["Repository"] == ADDRESS
    assert PROJECT["urls"]["Book"] == repository.pages(ADDRESS)


def test_a_version_has_its_day_once_it_is_released():
    """Sections of the changelog that are no release begin with "Unreleased"."""
    released = re.findall(rf"^## {re.escape(PROJECT['version'])}\b", read("CHANGELOG.md"), re.M)
    assert ("date-released" in citing.citation()) == bool(released)


def test_zenodo_is_told_what_the_citation_says():
    known, told = citing.citation(), json.loads(read(".zenodo.json"))
    creators = [
        {"name": one.get("name") or f"{one['family-names']}, {one['given-names']}"}
        | ({"orcid": one["orcid"].removeprefix("https://orcid.org/")} if "orcid" in one else {})
        for one in known["authors"]
    ]
    assert told["creators"] == creators
    assert (told["title"], told["description"]) == (known["title"], known["abstract"])
    assert (told["license"], told["keywords"]) == (known["license"], known["keywords"])
    assert told["upload_type"] == known["type"]
    assert known["preferred-citation"]["license"] in told["notes"]
    assert [one["identifier"] for one in told["related_identifiers"]] == [known["url"]]


@pytest.mark.parametrize(("released", "said"), [(False, "1.0, not released yet"), (True, "1.0")])
def test_persons_and_a_release_enter_the_entries(monkeypatch, released, said):
    persons = [{"family-names": "Łukasz", "given-names": "Ada"}, {"name": "The authors of it"}]
    day = {"date-released": "2027-01-02"} if released else {}
    known = citing.citation() | {"authors": persons, "version": "1.0"} | day
    monkeypatch.setattr(citing, "citation", lambda: known)
    entry = parse_string(citing.of_page("book/a/b-c", "Cats & dogs"), "bibtex").entries
    assert entry["positional-encoding-book-a-b-c"].fields["title"] == r"{Cats \& dogs}"
    assert entry["positional-encoding-book-a-b-c"].fields["note"].startswith(f"Version {said};")
    named = entry["positional-encoding-book-a-b-c"].persons["author"]
    assert [str(one) for one in named] == ["Łukasz, Ada", "{The authors of it}"]
    assert citing.names(persons) == ["Ada Łukasz", "The authors of it"]


def test_every_edition_of_results_has_a_page_and_keeps_it():
    pages = {path.with_suffix("") for path in (ROOT / "book" / "editions").glob("*.md")}
    assert {path.relative_to(ROOT).as_posix() for path in pages} == {
        *results_editions.editions()
    }, "a page without an edition has lost its file: CONTRIBUTING says how a new edition is made"


def test_an_edition_whose_place_was_taken_keeps_its_facts(monkeypatch, tmp_path):
    results = shutil.copytree(ROOT / "results" / "edition-3", tmp_path / "edition-3").parent
    (results / "editions").mkdir()
    shutil.copy(results / "edition-3" / "edition.json", results / "editions" / "old.json")
    lock = {"commit": "abcd", "digest": "41 lines, 1234"}
    locks = {"editions/old.json": lock, "edition-3/edition.json": lock}
    (results / "lock.json").write_text(json.dumps(locks))
    (results / "editions" / "old.json").write_text(
        (results / "edition-3" / "edition.json").read_text().replace('"3"', '"old"')
    )
    monkeypatch.setattr(results_editions, "RESULTS", results)
    kept = results_editions.editions()["book/editions/old"]
    assert kept.shown_by == ()
    assert "Another edition has taken its place" in results_editions.facts(kept)
    assert "/blob/abcd/results/edition.json" in results_editions.facts(kept)


@pytest.mark.parametrize("path", [*NAMING, "LICENSE-text", ".zenodo.json"])
def test_files_name_the_address_and_no_other_repository(path):
    assert ADDRESS in read(path) or path not in NAMING
    others = {"your-name/your-fork"}  # the example of how to change it
    assert set(LINK.findall(read(path))) <= {repository.slug(ADDRESS)} | others


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the repository; a test that changes it puts everything back."""
    written = ("__pycache__", ".*_cache", ".hypothesis", "_build")  # by tests, at any moment
    left_out = shutil.ignore_patterns(*written, ".git", ".ven*", "mathjax", "results", "dist")
    folder = tmp_path_factory.mktemp("copy") / "copy"
    return shutil.copytree(ROOT, folder, ignore=left_out)


def relative(paths, folder) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in paths}


@pytest.mark.parametrize("name", ["someone-else/another.book", "Ada/ada.github.io"])
def test_one_command_changes_the_address_everywhere(copy, name):
    new = f"https://github.com/{name}"
    changed = relative(repository.change(f"git@github.com:{name}.git", copy), copy)
    assert repository.address(copy / "_config.yml") == new
    assert {"_config.yml", "README.md", "CITATION.cff", "pyproject.toml"} <= changed
    assert "src/posenc_book/audit/ledger.json" in changed  # claims that are shown link by it
    assert relative(repository.notebooks(), ROOT) <= changed
    old = repository.slug(ADDRESS), repository.pages(ADDRESS)
    held = [p for p in changed for one in old if one in (copy / p).read_text()]
    assert held == []
    assert f"<{repository.pages(new)}>" in (copy / "README.md").read_text()
    repository.change(ADDRESS, copy)
    for path in changed:
        assert (copy / path).read_text() == read(path), path


@pytest.mark.parametrize(
    "pasted",
    [
        "https://github.com/ada/pe-book",
        "https://github.com/ada/pe-book.git/",
        "http://www.GitHub.com/ada/pe-book",
        "github.com/ada/pe-book",
        "git@github.com:ada/pe-book.git",
        "ssh://git@github.com/ada/pe-book.git",
        " ada/pe-book\n",
    ],
)
def test_what_people_paste_is_understood(pasted):
    assert repository.understood(pasted) == "https://github.com/ada/pe-book"


def test_a_repository_with_the_owners_site_has_it_at_the_top():
    assert repository.pages("https://github.com/Ada/ada.github.io") == "https://ada.github.io/"
    assert repository.pages("https://github.com/Ada/pe.book") == "https://ada.github.io/pe.book/"


@pytest.mark.parametrize(
    "wrong",
    [
        *("", "ada", "ada/", "ada/..", "ada/.git", "ada/pe book", "https://github.com//b"),
        "https://github.com/ada/pe-book/tree/main",
        "https://ada.github.io/pe-book/",
        "git@gitlab.com:ada/pe-book.git",
        "git@github.com.x.org:ada/pe-book.git",
    ],
)
def test_what_is_no_repository_on_github_is_refused(wrong):
    with pytest.raises(ValueError, match=f"^address must be .*, got {re.escape(repr(wrong))}$"):
        repository.understood(wrong)


def test_a_refused_address_changes_nothing_and_is_told_in_one_sentence(copy):
    wrong = "https://x.org/a/b"
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    command = [sys.executable, copy / "tools" / "repository.py", wrong]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stdout == ""
    assert len(run.stderr.splitlines()) == 1
    assert repr(wrong) in run.stderr
    assert [path for path, held in before.items() if path.read_bytes() != held] == []


def test_a_name_is_replaced_where_it_stands_alone(tmp_path):
    """All at once: what one replacement writes is no matter for the next."""
    (tmp_path / "README.md").write_text("a/b, a/b.git, (a/b) but ba/b, x-a/b, a/bc and a/b-c; c/d")
    assert repository.replace({"a/b": "c/d", "c/d": "e"}, tmp_path) == [tmp_path / "README.md"]
    told = (tmp_path / "README.md").read_text()
    assert told == "c/d, c/d.git, (c/d) but ba/b, x-a/b, a/bc and a/b-c; e"


# --- a release asks for itself

TAG = f"v{PROJECT['version']}"


def test_a_release_stamps_its_tag_and_the_main_branch_comes_back(copy):
    release.stamp("main", copy)  # also where these tests are those of a release
    before = {path: path.read_text() for path in of_copy(copy)}
    changed = relative(release.stamp(TAG, copy), copy)
    assert relative(repository.notebooks(), ROOT) | {"_config.yml", "README.md"} <= changed
    assert repository.branch(copy / "_config.yml") == TAG
    slug, source = repository.slug(ADDRESS), f"git+{ADDRESS}@{TAG}"
    for path in repository.notebooks(copy / "book"):
        assert f'SOURCE = \\"{source}\\"' in path.read_text()
    told = (copy / "README.md").read_text()
    assert f"colab.research.google.com/github/{slug}/blob/notebooks/book/" in told
    assert f"mybinder.org/v2/gh/{slug}/{TAG}?urlpath=" in told
    assert f'pip install "posenc[torch] @ {source}#subdirectory=src"' in told
    left = re.compile(rf"{slug}(?:/blob|/tree)?[/@]main\b")
    assert [path for path in of_copy(copy) if left.search(path.read_text())] == []
    assert relative(release.stamp("main", copy), copy) == changed
    assert {path: path.read_text() for path in of_copy(copy)} == before
    release.stamp(repository.branch(), copy)


def of_copy(copy):
    return sorted(path for pattern in repository.HOLDERS for path in copy.glob(pattern))


def test_only_a_release_asks_for_its_tag():
    """Whoever forgets to go back is told by the next change, which stands under Unreleased."""
    newest = re.search(r"^## ([^\s:]+)", read("CHANGELOG.md"), re.MULTILINE)[1]
    assert repository.branch() != TAG or newest == PROJECT["version"]


@pytest.mark.parametrize("wrong", ["v99.1", PROJECT["version"], ""])
def test_a_tag_of_another_version_is_refused(copy, wrong):
    with pytest.raises(ValueError, match=re.escape(repr(wrong))):
        release.stamp(wrong, copy)


CHANGES = """\
# Changelog

## Unreleased: two

Ten is <data value="ten">10</data>.

## Unreleased

## 0.1.0: one
"""


def test_the_changelog_gets_a_version_a_day_and_plain_numbers():
    told = release.dated(CHANGES, "0.2.0", "2026-12-01")
    wanted = "## 0.2.0 (2026-12-01): two\n\nTen is 10.\n\n### Before that\n\n"
    assert release.section(told, "0.2.0") == wanted
    assert release.dated(told, "0.2.0", "2027-01-01") == told
    assert told.endswith("\n## 0.1.0: one\n")
    with pytest.raises(ValueError, match=r"must begin with a section Unreleased or 0\.3\.0"):
        release.section(told, "0.3.0")


@pytest.mark.parametrize("wrong", ["v0.3.0", "0.3", "0.3.0rc1"])
def test_a_version_of_another_form_is_refused(copy, wrong):
    with pytest.raises(ValueError, match=f"must be three numbers .*{re.escape(repr(wrong))}"):
        release.write_version(wrong, copy)


def test_lines_of_readme_that_print_something_else_are_shown(monkeypatch):
    monkeypatch.setattr(release, "lines", lambda: [("print(1)", "2\n")])
    with pytest.raises(ValueError, match=r"^README's lines must print\n2\ngot\n1\n$"):
        release.try_lines(sys.executable)


def git(*arguments, root):
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    command = ["git", "-C", root, *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A repository of the files that a release writes; what takes long is not made of them."""
    root = tmp_path / "small"
    for name in (*VERSIONED, "README.md", "_config.yml", "book/rotary.ipynb"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "CHANGELOG.md").write_text(CHANGES)
    release.stamp("main", root)
    git("init", "--initial-branch=main", ".", root=root)
    git("add", "--all", root=root)
    git("commit", "--message=A chapter", root=root)
    for name in ("make_distributions", "check_distributions", "try_lines", "make_book"):
        monkeypatch.setattr(release, name, lambda *_, **__: None)
    monkeypatch.setattr(release.vendored, "missing", lambda: "")
    monkeypatch.setenv("CHROMIUM", "/a/browser")
    return root


VERSIONED = ("CHANGELOG.md", "pyproject.toml", "src/posenc/__init__.py", "CITATION.cff")


def test_a_release_gives_the_branch_its_version_and_the_tag_a_commit_beside_it(small, tmp_path):
    out = tmp_path / "out"
    release.make("9.8.7", dry=True, root=small, out=out)
    assert git("log", "--all", "--format=%s", root=small) == "A chapter"
    release.make("9.8.7", dry=False, root=small, out=out)
    assert git("log", "main", "--format=%s", root=small) == "Version 9.8.7\nA chapter"
    assert git("rev-parse", "v9.8.7~1", root=small) == git("rev-parse", "main", root=small)
    assert git("status", "--porcelain", root=small) == ""
    assert [name for name in VERSIONED if "9.8.7" not in (small / name).read_text()] == []
    assert '"posenc==9.8.*"' in (small / "pyproject.toml").read_text()
    assert repository.branch(small / "_config.yml") == "main"
    assert "\n  branch: v9.8.7\n" in git("show", "v9.8.7:_config.yml", root=small)
    sums = dict(
        reversed(line.split("  ")) for line in (out / "SHA256SUMS").read_text().splitlines()
    )
    assert sums.keys() == {"CHANGES.md", "positional-encoding-book-9.8.7.tar.gz"}
    for name, digest in sums.items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest


def test_a_tag_makes_its_release_again_and_no_other(small, tmp_path):
    release.make("9.8.7", dry=False, root=small, out=tmp_path / "out")
    git("commit", "--allow-empty", "--message=Another chapter", root=small)
    with pytest.raises(ValueError, match=r"^v9\.8\.7 is a release already"):
        release.make("9.8.7", dry=False, root=small, out=tmp_path / "out")
    git("checkout", "--quiet", "v9.8.7", root=small)
    release.make("9.8.7", dry=False, root=small, out=tmp_path / "out")
    assert git("rev-parse", "HEAD", root=small) == git("rev-parse", "v9.8.7", root=small)
    (small / "README.md").write_text("not committed")
    with pytest.raises(ValueError, match=r"^commit these changes first.*:\nM README\.md$"):
        release.make("9.8.7", dry=False, root=small, out=tmp_path / "out")


def test_what_a_whole_release_lacks_is_an_error_that_says_what_to_do(small, tmp_path, monkeypatch):
    monkeypatch.setattr(release.vendored, "missing", lambda: "reveal.js could not be fetched")
    with pytest.raises(ValueError, match=r"^PDF and slides cannot be made, as reveal\.js could"):
        release.make("9.8.7", dry=False, root=small, out=tmp_path / "out")
    monkeypatch.setattr(release.chromium, "chromium", lambda: None)
    with pytest.raises(ValueError, match=r"install Chromium or name one in the variable CHROMIUM"):
        release.make("9.8.7", dry=False, root=small, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_contents_list_every_page_once_and_nothing_else():
    listed = toc_files()
    book = ROOT / "book"
    found = [*repository.notebooks(book), *repository.texts(book)]
    present = {p.relative_to(ROOT).with_suffix("").as_posix() for p in found}
    assert len(listed) == len(set(listed))
    assert set(listed) == present


def test_every_requirement_of_the_package_is_pinned():
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    names = {normal(re.match(r"[\w.-]+", r)[0]) for group in groups for r in group}
    assert names - {"posenc", "posenc-book"} <= pins().keys()


def test_pre_commit_checks_style_with_the_pinned_ruff_and_types_as_make_does():
    repositories = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    found = {one["repo"].split("/")[-1]: one for one in repositories}
    assert found["ruff-pre-commit"]["rev"] == f"v{pins()['ruff']}"
    assert [hook["entry"] for hook in found["local"]["hooks"]] == [".venv/bin/mypy"]
    assert read("Makefile").count("\n\t$(BIN)/mypy\n") == 1


def test_mathjax_is_as_listed():
    folder = ROOT / "book" / "_assets" / "mathjax"
    found = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }
    lines = read("tools/mathjax.sha256").splitlines()
    assert found == {path: digest for digest, path in (line.split("  ") for line in lines)}


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")))
def test_workflows_run_one_at_a_time_targets_that_exist_and_versions_that_are_named(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["concurrency"]["group"]
    steps = [step for job in workflow["jobs"].values() for step in job.get("steps", [])]
    commands = "\n".join(step.get("run", "") for step in steps)
    targets = re.findall(r"^([a-z-]+):", read("Makefile"), re.M)
    assert {*re.findall(r"\bmake ([a-z-]+)", commands)} <= {*targets}
    # What is ours is named by its folder or its wheel; a file may name all versions or one.
    pinned = re.compile(r"--no-deps|==\S|-[cr] \S+\.txt| -e \"\.|dist/posenc")
    brought = [one for one in commands.splitlines() if "pip install" in one or "pipx run" in one]
    assert [one for one in brought if not pinned.search(one)] == []


def test_make_check_chooses_tests_that_are_there():
    """What is gone would be left out without a word where it is named after a minus or a `not`."""
    make = read("Makefile")
    folders = re.search(r"^QUICK := (.+)$", make, re.M)[1].split()
    later = re.search(r"^LATER := ((?:.*\\\n)+.*)$", make, re.M)[1].replace("\\", "").split()
    assert [path for path in folders + later if not (ROOT / path).exists()] == []
    left = re.search(r'^BRIEFLY := .* -k "not (.+)"$', make, re.M)[1].split(" and not ")
    tests = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "tests").rglob("test_*.py"))
    assert [part for part in left if not re.search(rf"def test_\w*{part}", tests)] == []


def test_what_make_test_leaves_out_is_listed_with_its_reason_and_runs_every_week():
    mark = re.compile(r"pytest\.mark\.slow\b")
    marked = {
        path.name
        for folder in ("tests", "course/tests")
        for path in (ROOT / folder).rglob("test_*.py")
        if mark.search(path.read_text(encoding="utf-8"))
    }
    table = read(".github/CONTRIBUTING.md").split("left out of `make test`:")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(test_\w+\.py)`: ", table, re.M)) == marked
    weekly = yaml.safe_load(read(".github/workflows/weekly.yml"))
    steps = [step.get("run", "") for job in weekly["jobs"].values() for step in job["steps"]]
    assert {"make test-all", "make student", "make pdf"} <= set(steps)


def test_how_it_was_made_is_a_draft_until_people_have_signed():
    """Whoever enters names takes the word away, and nobody else does."""
    authors = yaml.safe_load(read("CITATION.cff"))["authors"]
    signed = any("family-names" in author for author in authors)
    said = read("README.md").split("## How it was made")[1]
    assert signed is not ("draft" in said)


def test_the_command_ends_with_what_it_made_and_how_to_publish_it(tmp_path, monkeypatch, capsys):
    (tmp_path / "CHANGES.md").write_text("Changes\n")
    for name, one in {"OUT": tmp_path, "ROOT": tmp_path.parent, "make": lambda *_: None}.items():
        monkeypatch.setattr(release, name, one)
    monkeypatch.setattr(sys, "argv", ["release.py", "--make", "9.8.7"])
    release.main()
    told = capsys.readouterr().out.splitlines()
    assert told[0].split() == ["8", "bytes", f"{tmp_path.name}/CHANGES.md"]
    assert told[1].endswith(" v9.8.7")
