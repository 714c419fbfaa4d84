"""A build of what changed gives what a clean one gives; a build that failed begins anew.

Two builds at once wait for each other, and two builds of the same files give the same files.
"""

import fcntl
import io
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from sitefiles import ROOT
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

import build
import incremental_build
from build_lock import alone

CONFIG = """\
extensions = ["incremental_build"]
html_theme = "basic"
html_static_path = ["assets"]
html_css_files = ["look.css"]
"""
INDEX = "Start\n=====\n\n.. toctree::\n\n   asks\n   answers\n"
ASKS = "Asks\n====\n\nSee :ref:`target`.\n"
PICTURE = ".. image:: dot.svg\n   :alt: A dot.\n"
ANSWERS = f".. _target:\n\nFirst title\n===========\n\nProse.\n\n{PICTURE}"
DOT = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'


class Book:
    """A small book in a folder, with its builds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "assets").mkdir()
        self.write("conf.py", CONFIG)
        self.write("index.rst", INDEX)
        self.write("asks.rst", ASKS)
        self.write("answers.rst", ANSWERS)
        self.write("dot.svg", DOT)
        self.write("assets/look.css", "p { color: red }")

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def edit(self, name: str, old: str, new: str) -> None:
        """Change a source so that Sphinx sees a newer file."""
        path = self.folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        later = path.stat().st_mtime + 5
        os.utime(path, (later, later))

    def build(self, parallel: int = 1) -> str:
        """Build, and return the warnings."""
        said = io.StringIO()
        out = self.folder / "out"
        with patch_docutils(), docutils_namespace():
            app = Sphinx(
                self.folder, self.folder, out, out / "trees", "html", status=None, warning=said,
                parallel=parallel,
            )  # fmt: skip
            app.build()
        return said.getvalue()

    def page(self, name: str) -> str:
        return (self.folder / "out" / f"{name}.html").read_text()

    def written(self, name: str) -> int:
        return (self.folder / "out" / f"{name}.html").stat().st_mtime_ns


@pytest.fixture
def book(tmp_path) -> Book:
    made = Book(tmp_path)
    assert made.build() == ""
    return made


def test_a_page_that_did_not_change_is_left_as_it_is(book):
    before = book.written("asks"), book.written("answers")
    book.edit("answers.rst", "Prose.", "More prose.")
    book.build()
    assert "More prose." in book.page("answers")
    assert book.written("asks") == before[0]
    assert book.written("answers") > before[1]


def test_a_page_shows_the_new_title_of_another(book):
    assert "First title" in book.page("asks")
    book.edit("answers.rst", "First title", "Other title")
    assert book.build() == ""
    assert "Other title" in book.page("asks")


def test_a_link_that_leads_nowhere_any_more_is_said_of_the_page_that_nobody_touched(book):
    book.edit("answers.rst", ".. _target:\n\n", "")
    said = book.build()
    assert "asks.rst" in said
    assert "undefined label" in said


def test_a_file_with_an_old_date_and_new_content_is_read(book):
    path = book.folder / "answers.rst"
    book.edit("answers.rst", "Prose.", "Other prose.")
    os.utime(path, (1, 1))
    book.build()
    assert "Other prose." in book.page("answers")


def test_who_follows_other_pages_is_read_again_when_what_it_shows_of_them_changed(
    book, monkeypatch
):
    shown = ["first"]
    monkeypatch.setitem(incremental_build.FOLLOWED, "asks", lambda: shown)
    book.edit("answers.rst", "Prose.", "More prose.")
    book.build()
    before = book.written("asks")
    book.edit("answers.rst", "More prose.", "Other prose.")
    book.build()
    assert book.written("asks") == before
    shown.append("second")
    book.edit("answers.rst", "Other prose.", "Prose.")
    book.build()
    assert book.written("asks") > before


def test_a_changed_style_sheet_reaches_every_page(book):
    before = book.page("asks")
    book.write("assets/look.css", "p { color: blue }")
    book.build()
    assert book.page("asks") != before
    assert "blue" in (book.folder / "out" / "_static" / "look.css").read_text()


def test_a_picture_that_no_page_shows_goes(book):
    assert (book.folder / "out" / "_images" / "dot.svg").is_file()
    book.edit("answers.rst", PICTURE, "")
    book.build()
    assert not (book.folder / "out" / "_images" / "dot.svg").exists()


# --- several pages at a time


@pytest.mark.parametrize("processes", [1, 2])
def test_a_label_that_two_pages_use_is_said_however_many_read_them(book, processes):
    book.write(
        "conf.py",
        CONFIG.replace('["incremental_build"]', '["incremental_build", "duplicate_labels"]'),
    )
    names = [f"page{number}" for number in range(6)]
    listed = "".join(f"   {name}\n" for name in names)
    book.write("index.rst", f"{INDEX}{listed}")
    for number, name in enumerate(names):
        book.write(f"{name}.rst", f".. _same{number % 5}:\n\nTitle {name}\n==========\n")
    said = book.build(parallel=processes)
    assert [line for line in said.splitlines() if "duplicate label same0" in line] != []
    assert "same1" not in said


# --- when a build begins anew

WRITE = "from pathlib import Path; p = Path('_build/html/n'); p.parent.mkdir(0o777, True, True)"
COUNT = ("-c", f"{WRITE}; p.write_text((p.read_text() if p.is_file() else '') + 'x')")
FAIL = ("-c", "import sys; sys.exit(3)")


@pytest.fixture
def repository(tmp_path) -> Path:
    for name in ("_config.yml", "_toc.yml", "tools/quizzes.py", "book/references.bib"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("first")
    assert build.build(tmp_path, command=COUNT) == 0
    return tmp_path


def count(root: Path) -> int:
    """Return how many builds there were since the last one that began anew."""
    return len((root / "_build" / "html" / "n").read_text())


def counted(root: Path, **options) -> int:
    build.build(root, command=COUNT, **options)
    return count(root)


@pytest.mark.parametrize(
    "name", ["_config.yml", "_toc.yml", "tools/quizzes.py", "tools/new.py", "book/references.bib"]
)
def test_what_changes_every_page_lets_a_build_begin_anew(repository, name):
    (repository / name).write_text("second")
    assert counted(repository) == 1


@pytest.mark.parametrize("name", ["course/quizzes/rotary.yml", "book/_assets/mathjax/part.js"])
def test_a_file_that_comes_or_goes_lets_a_build_begin_anew_and_a_changed_one_does_not(
    repository, name
):
    path = repository / name
    path.parent.mkdir(parents=True)
    path.write_text("first")
    assert counted(repository) == 1
    path.write_text("second")
    assert counted(repository) == 2
    path.unlink()
    assert counted(repository) == 1


def test_a_build_begins_anew_where_it_is_clean_of_another_edition_or_has_failed(
    repository, monkeypatch
):
    assert counted(repository) == 2
    assert counted(repository, clean=True) == 1
    monkeypatch.setenv("EDITION", "student")
    assert counted(repository) == 1
    assert build.build(repository, command=FAIL) == 3
    assert counted(repository) == 1


def test_the_student_edition_has_a_folder_and_a_stamp_of_its_own(repository):
    command = (*COUNT[:1], COUNT[1].replace("_build/html", "_build/student/_build/html"))
    for _ in range(2):
        assert build.build(repository, "_build/student/_build", command=command) == 0
    assert (repository / "_build" / "student" / "_build" / "html" / "n").read_text() == "xx"
    assert count(repository) == 1


# --- two builds at once

HOLD = """
import sys
from pathlib import Path
import build

WAIT = "import pathlib, time\\npathlib.Path('began').touch()"
WAIT += "\\nwhile not pathlib.Path('end').exists(): time.sleep(0.02)"
build.build(Path(sys.argv[1]), command=("-c", WAIT))
"""


def free(root: Path) -> bool:
    """Return whether no build runs in a folder."""
    folder = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(folder)
    return True


def until(comes, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not comes():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_second_build_waits_for_the_first_and_says_so(repository, capfd):
    with alone(repository):
        second = threading.Thread(target=build.build, args=(repository,), kwargs={"command": COUNT})
        second.start()
        until(lambda: "Waiting for its end" in capfd.readouterr().err)
        assert count(repository) == 1
    second.join()
    assert count(repository) == 2
    assert capfd.readouterr().err == ""


def test_a_killed_build_blocks_no_other_and_what_it_left_running_is_waited_for(repository):
    command = [sys.executable, "-c", HOLD, str(repository)]
    first = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT / "tools")})
    until((repository / "began").exists)
    first.kill()
    first.wait()
    assert not free(repository)  # what writes the pages still runs
    (repository / "end").touch()
    until(lambda: free(repository))
    assert build.build(repository, command=COUNT) == 0


# --- one build, one result


@pytest.mark.slow
def test_two_builds_of_the_same_files_give_the_same_site(tmp_path):
    """In two folders, with two orders of sets."""
    made = ["__pycache__", ".*_cache", ".hypothesis", "_build", "dist"]
    made += [".vendored", ".git", ".venv*", "*.egg-info"]
    sites = []
    for seed in ("1", "2"):
        copy = tmp_path / seed / "book"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*made))
        own = {"PYTHONHASHSEED": seed, "PYTHONPATH": str(copy / "src")}
        command = [sys.executable, "tools/build.py"]
        run = subprocess.run(
            command, cwd=copy, env=os.environ | own, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        files = (path for path in (copy / "_build" / "html").rglob("*") if path.is_file())
        sites.append({p.relative_to(copy).as_posix(): p.read_bytes() for p in files})
    assert sites[0].keys() == sites[1].keys()
    assert [name for name in sites[0] if sites[0][name] != sites[1][name]] == []
    assert len(sites[0]) > 300
