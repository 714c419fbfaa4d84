"""The notebooks that Colab, Binder and downloads open: they read as the pages do."""

import json
import re
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import mistune
import pytest
from lxml import html
from sitefiles import ROOT, SITE, notebook_paths
from test_student_edition import WITH_SOLUTIONS, secrets

import edition
import notebooks_branch
import repository
import wheels
from notebook_edition import check

EDITION = SITE.parent / "notebooks"
ADDRESS = repository.pages(repository.address()).rstrip("/")
NAMES = [path.relative_to(ROOT).as_posix() for path in notebook_paths()]
TITLE = re.compile(r"^#@title [^\n]*\n")


@pytest.fixture(scope="module")
def cells(site) -> dict[str, list[dict]]:  # noqa: ARG001 - built with the site
    """Name of a notebook of the edition, and its cells, their sources joined."""
    read = {}
    for path in sorted(EDITION.rglob("*.ipynb")):
        found = json.loads(path.read_text(encoding="utf-8"))["cells"]
        name = path.relative_to(EDITION).as_posix()
        read[name] = [cell | {"source": "".join(cell["source"])} for cell in found]
    return read


def test_it_holds_every_page_the_chapters_without_solutions_and_the_assignments(cells):
    own = {f"without-solutions/{path.relative_to(ROOT).as_posix()}" for path in WITH_SOLUTIONS}
    assigned = {f"assignments/{p.name}" for p in edition.ASSIGNMENTS.glob("*.ipynb")}
    assert len(assigned) >= 9
    assert set(cells) == {*NAMES, *own, *assigned}


def test_nothing_is_raw_open_or_dead(site):
    assert list(check.faults(EDITION, site, ADDRESS)) == []


def test_the_check_finds_what_the_sources_have(site):
    """Which no viewer renders: so it is no check that cannot fail."""
    found = Counter(
        fault.split(": ")[1].split()[0] for fault in check.faults(ROOT / "book", site, ADDRESS)
    )
    assert min(found[kind] for kind in ("raw", "a", "code", "output")) > 100


@pytest.mark.parametrize("name", NAMES)
def test_code_and_outputs_are_those_of_the_source(cells, name):
    source = json.loads((ROOT / name).read_text(encoding="utf-8"))["cells"]
    kept = {cell["id"]: cell for cell in cells[name] if cell["cell_type"] == "code"}
    code = [cell for cell in source if cell["cell_type"] == "code"]
    assert [cell["id"] for cell in code] == [one for one in kept if re.fullmatch(r"cell-\d+", one)]
    for cell in code[1:]:  # the first is the set-up cell
        assert TITLE.sub("", kept[cell["id"]]["source"]) == "".join(cell["source"])
        assert kept[cell["id"]]["outputs"] == cell["outputs"]


OF_SCRIPTS = ("script", "style", "form", "code", "figcaption")
OF_CODE = ("cell_output", "cell_input", "highlight", "math", "headerlink", "posenc-run")
OF_CODE += ("posenc-cite",)


def numbers(tree) -> Counter:
    """Return the numbers of a text, apart from code, formulas, outputs and what scripts show."""
    marked = "|".join(f'.//*[contains(concat(" ", @class, " "), " {one} ")]' for one in OF_CODE)
    hovering = './/*[@role="tooltip"]'
    for node in tree.xpath("|".join([*(f".//{tag}" for tag in OF_SCRIPTS), marked, hovering])):
        if node.getparent() is not None:
            node.drop_tree()
    return Counter(re.findall(r"\d[\d.,–]*\d|\d", tree.text_content()))


FORMULA = re.compile(r"(```.*?```|`[^`]+`)|\$\$.*?\$\$|(?<!\\)\$[^$]+?(?<!\\)\$", re.DOTALL)
ADDED = re.compile(r"-(?:ex-|caption)|^still-|^quiz-")  # what the page says elsewhere or otherwise


@pytest.mark.parametrize("name", NAMES)
def test_every_number_is_that_of_the_page(site, cells, name):
    page = html.parse(str(site / name.replace(".ipynb", ".html"))).getroot().find(".//article")
    for quiz in page.xpath('.//section[@id="check-yourself"]'):
        quiz.drop_tree()
    told = {c["id"]: c["source"] for c in cells[name] if c["cell_type"] == "markdown"}
    texts = [text for place, text in told.items() if not ADDED.search(place)]
    plain = "\n\n".join(texts).replace(edition.MARKS, "")
    plain = FORMULA.sub(lambda found: found[1] or "", plain)
    render = mistune.create_markdown(escape=False, plugins=["table"])
    shown = numbers(html.fromstring(f"<div>{render(plain)}</div>"))
    assert numbers(page) - shown == Counter()
    # a link within a page becomes the number of what it leads to
    kinds = "Exercise|Theorem|Corollary|Fig\\.|Definition|Proposition"
    led = re.findall(rf"\((?:{kinds}) [\d.]+\)", "".join(told.values()))
    assert (shown - numbers(page)).total() <= len(led)


@pytest.mark.parametrize("path", WITH_SOLUTIONS, ids=lambda path: path.stem)
def test_a_chapter_for_a_class_holds_no_sentence_of_a_solution(cells, path):
    name = path.relative_to(ROOT).as_posix()
    shown = "\n".join(cell["source"] for cell in cells[f"without-solutions/{name}"])
    assert [line for line in secrets(path) if line in shown] == []
    assert "Solution to" not in shown
    whole = "\n".join(cell["source"] for cell in cells[name])
    n_exercises = path.read_text(encoding="utf-8").count("{exercise}")
    for text in (shown, whole):  # an exercise is followed by a place for an answer
        assert len(re.findall(r"^> \*\*Exercise ", text, re.M)) == n_exercises
        assert len(re.findall(r"^[#*] ?Exercise [\d.]+: yours\.", text, re.M)) == n_exercises


def test_the_place_for_an_answer_names_the_check_of_its_exercise(cells):
    code = [c["source"] for c in cells["book/order-blindness.ipynb"] if c["cell_type"] == "code"]
    (yours,) = [text for text in code if text.startswith("# Exercise 1.1: yours.")]
    place = code.index(yours)
    assert yours.endswith("\n# check_is_equivariant(is_equivariant)")
    assert code[place - 1].startswith("#@title Check of Exercise 1.1\n")
    assert "def check_is_equivariant(is_equivariant):" in code[place - 1]
    assert code[place + 1].startswith("#@title Solution to Exercise 1.1: code")


def test_a_figure_that_answers_says_what_to_do_and_has_a_picture(cells):
    figures = 0
    for name in NAMES:
        for before, cell in zip(cells[name], cells[name][1:], strict=False):
            if 'class="explorable"' in json.dumps(cell.get("outputs", "")).replace("\\", ""):
                figures += 1
                assert "Run the cell below" in before["source"]
                assert "](data:image/png;base64,iVBOR" in before["source"]
    assert figures > 20


def test_a_quiz_hides_its_answers(cells):
    named = [cell for cell in cells["book/rotary.ipynb"] if cell["id"].startswith("quiz-")]
    quiz = "\n".join(cell["source"] for cell in named)
    assert len(re.findall(r"^\*\*\d\.\*\*", quiz, re.M)) == 5
    outside = re.sub(r"<details>.*?</details>", "", quiz, flags=re.S)
    assert "Right." in quiz
    assert "Right." not in outside


def test_what_a_page_offers_for_download_is_the_edition(site):
    for name in NAMES:
        assert (site / "_sources" / name).read_bytes() == (EDITION / name).read_bytes()


# -- the wheel and the branch


def test_the_set_up_cell_is_pinned_where_a_wheel_is_named(monkeypatch):
    cell = {"cell_type": "code", "source": "old", "metadata": {"tags": ["setup"]}, "outputs": []}
    monkeypatch.setenv("EDITION_WHEEL", "12ab/posenc-9-py3-none-any.whl")
    edition._fold(cell)
    assert '"12ab/posenc-9-py3-none-any.whl"' in cell["source"]
    assert f"{wheels.address()}" in cell["source"]
    compile(cell["source"].replace("%pip", "pip = '").replace("{WHEEL}\n", "'\n"), "set-up", "exec")


def test_wheels_of_tags_and_of_the_newest_commits_are_kept():
    listed = [{"commit": str(place), "wheel": f"{place}.whl"} for place in range(30)]
    kept = notebooks_branch.chosen(listed, {"29", "3"}, n=4)
    assert [one["commit"] for one in kept] == ["0", "1", "2", "3", "4", "29"]


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A repository with one commit, a remote, and wheels that are made in no time."""
    root, remote = tmp_path / "here", tmp_path / "there.git"
    git = notebooks_branch.git
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    for key, value in {"name": "A", "email": "a@b.c", "useConfigOnly": "true"}.items():
        git("config", f"user.{key}", value, root=root)
    built = tmp_path / "built"
    (built / "book").mkdir(parents=True)
    (built / "book" / "one.ipynb").write_text("{}")

    def make(commit, folder, _root):
        path = tmp_path / f"posenc-{commit[:7]}.whl"
        path.write_text(commit)
        return wheels.store(path, folder)

    monkeypatch.setattr(notebooks_branch.wheels, "make", make)
    return SimpleNamespace(root=root, remote=remote, built=built, out=tmp_path / "out")


def publish(small, message: str) -> dict[str, str]:
    git = notebooks_branch.git
    git("commit", "-q", "--allow-empty", "-m", message, root=small.root)
    out = notebooks_branch.gather(small.root, small.built, small.out, str(small.remote))
    made = notebooks_branch.commit(out, small.root)
    git("push", "-q", "--force", str(small.remote), f"{made}:refs/heads/notebooks", root=small.root)
    names = git("ls-tree", "-r", "--name-only", "notebooks", root=small.remote).split("\n")
    return {name: git("show", f"notebooks:{name}", root=small.remote) for name in names}


def test_the_branch_is_one_commit_that_keeps_the_wheels_of_before(small):
    first = publish(small, "first")
    notebooks_branch.git("tag", "v1", root=small.root)
    second = publish(small, "second")
    assert {"README.md", "book/one.ipynb", "wheels/newest.txt"} <= set(second)
    old, new = first["wheels/newest.txt"], second["wheels/newest.txt"]
    assert old != new
    assert {f"wheels/{old}", f"wheels/{new}"} <= set(second)
    count = notebooks_branch.git("rev-list", "--count", "notebooks", root=small.remote)
    assert count == "1"
    assert notebooks_branch.git("status", "--porcelain", root=small.root) == ""


def test_a_tag_whose_wheel_was_never_made_gets_one(small):
    git = notebooks_branch.git
    git("commit", "-q", "--allow-empty", "-m", "tagged", root=small.root)
    git("tag", "v0", root=small.root)
    tagged = git("rev-parse", "HEAD", root=small.root)
    files = publish(small, "later")
    assert any(tagged[:7] in name for name in files)
    assert json.loads(files["wheels/kept.json"])[0]["commit"] != tagged


# -- another book


PAGE = """\
# The first

(here)=
## A *section*

See {ref}`there <there>`, {doc}`second`, {eq}`eq-e`, {prf:ref}`thm-one`, [this](here).

:::{margin}
A note beside it.
:::

- a list

  ```{note}
  Within $\\alpha$.
  ```

```{math}
:label: eq-e
e^{i\\pi} = -1
```

:::{prf:theorem} One
:label: thm-one
All is one.
:::

```{exercise} Try
:label: ex-try
Do it.
```

```{solution} ex-try
:class: dropdown
Done.
```"""
OTHER = """\
# The second

(there)=
## There

Back to [](first.ipynb), and [away](first.ipynb#a-section)."""
CONFIG = """\
title: A small book
repository: {url: https://github.com/someone/small, branch: trunk}
launch_buttons: {colab_url: "https://colab.research.google.com", binderhub_url: "https://mybinder.org"}
execute: {execute_notebooks: "off"}
parse: {myst_enable_extensions: [colon_fence, dollarmath]}
sphinx:
  extra_extensions: [sphinx_proof, sphinx_exercise, notebook_edition]
  config: {myst_heading_anchors: 2}
"""


def build_small(folder, page: str = PAGE) -> subprocess.CompletedProcess:
    (folder / "_config.yml").write_text(CONFIG)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: first\nchapters:\n  - file: second\n")
    code = {"cell_type": "code", "id": "b", "metadata": {"tags": ["hide-cell"]}, "source": "1"}
    code |= {"outputs": [], "execution_count": 1}
    for name, text in {"first": page, "second": OTHER}.items():
        cells = [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": text}, code]
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        notebook = {"nbformat": 4, "nbformat_minor": 5, "cells": cells}
        (folder / f"{name}.ipynb").write_text(
            json.dumps(notebook | {"metadata": {"kernelspec": kernel}})
        )
    run = "import sys; sys.path.append(sys.argv.pop(1)); from jupyter_book.cli.main import main; "
    run += "main()"
    command = [sys.executable, "-c", run, str(ROOT / "tools"), "build", str(folder), "-W", "-q"]
    return subprocess.run(command, capture_output=True, text=True)


def test_another_book_needs_one_line(tmp_path):
    done = build_small(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    made, site = tmp_path / "_build" / "notebooks", tmp_path / "_build" / "html"
    assert list(check.faults(made, site, "https://someone.github.io/small")) == []
    first = json.loads((made / "first.ipynb").read_text())["cells"]
    text = "\n".join("".join(cell["source"]) for cell in first)
    there = "[there](https://someone.github.io/small/second.html#there)"
    assert f"{there}, [The second](second.ipynb)" in text
    assert "(1), Theorem 1, this.\n\nA note beside it.\n" in text
    assert "- a list\n\n  > **Note**\n  >\n  > Within $\\alpha$." in text
    assert "e^{i\\pi} = -1 \\tag{1}" in text
    assert "> **Theorem 1 (One)**\n>\n> All is one." in text
    assert "# Exercise 1: yours.\n<details>\n<summary><b>Solution to Exercise 1 (Try)</b>" in text
    assert text.endswith("#@title Solution to Exercise 1: code\n1")
    away = "[away](https://someone.github.io/small/first.html#a-section)"
    assert f"[The first](first.ipynb), and {away}" in (made / "second.ipynb").read_text()
    page = (site / "first.html").read_text()
    assert "colab.research.google.com/github/someone/small/blob/notebooks/first.ipynb" in page
    assert "mybinder.org/v2/gh/someone/small/trunk?urlpath=git-pull%3Frepo%3D" in page


def test_an_unknown_directive_or_role_fails_the_build(tmp_path):
    wrong = PAGE.replace("```{note}", "```{topic} x").replace("{eq}`eq-e`", "{rfc}`1`")
    done = build_small(tmp_path, wrong)
    assert done.returncode != 0
    assert "first: unknown directive {topic}" in done.stdout + done.stderr
    assert "first: unknown role {rfc}" in done.stdout + done.stderr
