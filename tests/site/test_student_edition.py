"""The student edition: no solution stands in a page, in the search or in a download."""

import os
import re
from html import unescape

import nbformat
import pytest
from course import chapters
from sitefiles import ROOT, notebook_paths

import student_edition

BUILT = ROOT / "_build" / "student" / "_build" / "html"
LEAST = 40  # letters that make a line its own
WITH_SOLUTIONS = [
    path for path in notebook_paths() if "{solution}" in path.read_text(encoding="utf-8")
]


def secrets(path) -> set[str]:
    """Return the lines of a notebook that stand in its solutions only."""
    cells = nbformat.read(path, as_version=4).cells
    inside, outside, below = [], [], False
    for cell in cells:
        if cell.cell_type == "markdown":
            found = [match[0] for match in chapters.SOLUTION.finditer(cell.source)]
            inside += found
            outside.append(chapters.SOLUTION.sub("", cell.source))
            below = bool(found)
        elif below and "hide-cell" in cell.metadata.get("tags", []):
            inside.append(cell.source)
        else:
            outside.append(cell.source)
    told = "\n".join(outside)
    lines = {line.strip() for text in inside for line in text.splitlines()}
    return {line for line in lines if len(line) >= LEAST and line not in told}


def test_chapters_have_solutions_to_leave_out():
    assert len(WITH_SOLUTIONS) > 10
    assert all(secrets(path) for path in WITH_SOLUTIONS)


@pytest.mark.parametrize("path", WITH_SOLUTIONS, ids=lambda path: path.stem)
def test_what_is_read_holds_no_solution(path):
    text = student_edition.stripped(path.read_text(encoding="utf-8"))
    left = nbformat.reads(text, as_version=4)
    told = "\n".join(cell.source for cell in left.cells)
    assert [line for line in secrets(path) if line in told] == []
    assert "{solution}" not in told
    cells = nbformat.read(path, as_version=4).cells
    exercises = sum(cell.source.count("{exercise}") for cell in cells)
    assert told.count("{exercise}") == exercises > 0
    checks = [cell.source for cell in cells if cell.source.startswith("def check_")]
    assert all(check in told for check in checks)


def test_a_page_without_solutions_stays_as_it_is():
    assert student_edition.stripped("# Title\n\nText.\n") == "# Title\n\nText.\n"
    text = ":::{solution} ex\nSecret.\n:::\n\nNext.\n"
    assert "Secret" not in student_edition.stripped(text)


@pytest.fixture(scope="module")
def built():
    if not (BUILT / "index.html").is_file():
        message = "no student edition: run `make student` first"
        if os.environ.get("POSENC_REQUIRE_SITE") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return BUILT


def plain(line: str) -> str:
    """Return the words of a line as a page shows them, or nothing where marks stand in it."""
    return "" if re.search(r"[`$*{}\\\[\]_\"'<>&]", line) else line


def test_the_built_pages_and_downloads_hold_no_solution(built):
    for path in WITH_SOLUTIONS:
        name = path.relative_to(ROOT).with_suffix("").as_posix()
        page = (built / f"{name}.html").read_text(encoding="utf-8").split("<article")[1]
        told = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", page)))
        lines = {line for line in secrets(path) if plain(line)}
        sentences = {one for line in lines for one in re.split(r"(?<=[.?!]) ", line)}
        sentences = {one for one in sentences if len(one) >= LEAST}
        outside = student_edition.stripped(path.read_text(encoding="utf-8"))
        assert [one for one in sentences if one in told and one not in outside] == []
        assert 'class="solution' not in page
        assert 'class="exercise' in page
        download = (built / "_sources" / f"{name}.ipynb").read_text(encoding="utf-8")
        told = "\n".join(cell.source for cell in nbformat.reads(download, as_version=4).cells)
        assert [line for line in secrets(path) if line in told] == []


def test_no_button_leads_to_the_full_notebook(built):
    for path in WITH_SOLUTIONS:
        name = path.relative_to(ROOT).with_suffix("").as_posix()
        text = (built / f"{name}.html").read_text(encoding="utf-8")
        assert "colab.research.google.com" not in text.split("<article")[0]
        assert "mybinder.org" not in text


def test_links_inside_the_student_edition_are_whole(built):
    broken = []
    for page in built.glob("book/*.html"):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r'href="((?!https?:|mailto:|#)[^"#]+\.(?:html|ipynb))', text):
            if not (page.parent / target).resolve().is_file():
                broken.append(f"{page.name}: {target}")
    assert broken == []
