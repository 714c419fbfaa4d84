"""One address, one list of pages, one list of pins: what stands in two places must agree."""

import re
import shutil
import tomllib

import pytest
import yaml
from sitefiles import ROOT, toc_files

import repository
import vendor_mathjax

ADDRESS = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# What points at the repository or its pages, apart from other people's repositories.
LINK = re.compile(r"(?:github\.com|/gh)/([\w.-]+/[\w.-]+?)(?:\.git)?(?=[/@\s\"')>}#?]|$)")
OWN = ("README.md", "CITATION.cff", "LICENSE-text", ".github/CONTRIBUTING.md")


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def pins() -> dict[str, str]:
    """Return name -> version of requirements.txt."""
    lines = [line.split("#")[0].strip() for line in read("requirements.txt").splitlines()]
    found = [re.fullmatch(r"([\w.-]+)==([\w.]+)", line) for line in lines if line]
    assert all(found), f"every line must be name==version, got {lines}"
    return {normal(match[1]): match[2] for match in found}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_tool_reads_the_address_that_the_configuration_holds():
    assert repository.address() == ADDRESS


def test_citation_names_the_address():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["repository-code"] == ADDRESS
    assert citation["url"] == repository.pages(ADDRESS)
    assert citation["version"] == PROJECT["version"]


def test_package_names_the_address():
    assert PROJECT["urls"]["Repository"] == ADDRESS
    assert PROJECT["urls"]["Book"] == repository.pages(ADDRESS)


@pytest.mark.parametrize("path", ["README.md", "CITATION.cff", ".github/CONTRIBUTING.md"])
def test_a_file_that_must_name_the_address_does(path):
    assert ADDRESS in read(path)


@pytest.mark.parametrize("path", OWN)
def test_no_file_names_another_repository(path):
    others = {"your-name/your-fork"}  # the example of how to change it
    assert set(LINK.findall(read(path))) <= {repository.slug(ADDRESS)} | others


def test_one_command_changes_the_address_everywhere(tmp_path):
    written = ("__pycache__", ".*_cache", ".hypothesis", "_build")  # by tests, at any moment
    left_out = shutil.ignore_patterns(*written, ".git", ".venv*", "mathjax", "results")
    copy = tmp_path / "copy"
    shutil.copytree(ROOT, copy, ignore=left_out)
    new = "https://github.com/someone-else/another.book"
    changed = {path.relative_to(copy).as_posix() for path in repository.change(new, copy)}
    assert repository.address(copy / "_config.yml") == new
    assert {"_config.yml", "README.md", "CITATION.cff", "pyproject.toml"} <= changed
    assert "src/posenc/audit/ledger.json" in changed  # claims that are shown link by it
    notebooks = {p.relative_to(ROOT).as_posix() for p in repository.notebooks()}
    assert notebooks <= changed
    old = repository.slug(ADDRESS), repository.pages(ADDRESS)
    held = [p for p in changed for one in old if one in (copy / p).read_text()]
    assert held == []
    repository.change(ADDRESS, copy)
    for path in changed:
        assert (copy / path).read_text() == read(path), path


@pytest.mark.parametrize("wrong", ["github.com/a/b", "https://github.com/a", "https://x.org/a/b"])
def test_an_address_of_another_form_is_refused(wrong):
    with pytest.raises(ValueError, match=re.escape(repr(wrong))):
        repository.slug(wrong)


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
    assert names - {"posenc"} <= pins().keys()


def test_package_asks_for_lower_bounds_only():
    """A pin here would replace what a notebook service has installed."""
    for requirement in PROJECT["dependencies"]:
        assert re.fullmatch(r"[\w-]+>=[\d.]+", requirement), requirement


def test_mathjax_is_as_listed():
    assert vendor_mathjax.differences() == []


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")))
def test_workflows_run_targets_that_exist(path):
    targets = set(re.findall(r"^([a-z-]+):", read("Makefile"), re.M))
    workflow = yaml.safe_load(path.read_text())
    steps = [step for job in workflow["jobs"].values() for step in job.get("steps", [])]
    called = re.findall(r"\bmake ([a-z-]+)", "\n".join(step.get("run", "") for step in steps))
    assert set(called) <= targets


def test_what_make_test_leaves_out_is_listed_with_its_reason_and_runs_every_week():
    mark = re.compile(r"pytest\.mark\.slow\b")
    marked = {
        path.name
        for folder in ("tests", "course/tests")
        for path in (ROOT / folder).rglob("test_*.py")
        if mark.search(path.read_text(encoding="utf-8"))
    }
    table = (
        read(".github/CONTRIBUTING.md").split("left out of `make test`:")[1].split("And these")[0]
    )
    assert set(re.findall(r"^\| `(test_\w+\.py)`: ", table, re.M)) == marked
    weekly = yaml.safe_load(read(".github/workflows/weekly.yml"))
    steps = [step.get("run", "") for job in weekly["jobs"].values() for step in job["steps"]]
    assert {"make test-all", "make student", "make pdf"} <= set(steps)
