"""`make` mends an environment that cannot be used, makes it anew, or says what to do."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sitefiles import ROOT

import environment

ASIDE = "It is made anew; the old one is now .venv-old1, which you may remove."


@pytest.fixture
def made(tmp_path) -> Path:
    """An environment in which a stamp says that something is installed, but without pip."""
    folder = tmp_path / "my book" / ".venv"
    folder.parent.mkdir()
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (folder / ".book-installed").touch()
    return folder


@pytest.fixture
def sound(made) -> Path:
    """An environment that looks as if pip were there."""
    [packages] = made.glob("lib/python*/site-packages")
    (packages / "pip" / "_internal").mkdir(parents=True)
    for name in ("pip", "pip/_internal"):
        (packages / name / "__init__.py").touch()
    return made


def run(folder: Path) -> tuple[str, str]:
    """Return what `make` is told, and what a reader is told."""
    command = [sys.executable, ROOT / "tools" / "environment.py", ".venv", ".venv-peers"]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=True)
    return done.stdout.strip(), done.stderr.strip()


def test_a_sound_environment_and_none_are_left_as_they_are(sound, tmp_path):
    assert run(sound) == ("", "")
    assert (sound / ".book-installed").is_file()
    (tmp_path / ".venv").mkdir()  # a folder that `python -m venv` will fill
    assert run(tmp_path / ".venv") == ("", "")


@pytest.fixture
def ensurepip(tmp_path, monkeypatch):
    """Return a function that says what ensurepip does; the real one takes seconds."""

    def does(code: str) -> None:
        (tmp_path / "ensurepip.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    return does


def test_pip_is_added_where_it_alone_is_missing(made, ensurepip):
    ensurepip(
        "import pathlib, sysconfig\n"
        "pip = pathlib.Path(sysconfig.get_path('purelib'), 'pip', '_internal')\n"
        "pip.mkdir(parents=True); (pip / '__init__.py').touch()\n"
    )
    told, said = run(made)
    assert told == ""
    assert said == f".venv: {environment.NO_PIP}. Pip was added."
    assert (made / ".book-installed").is_file()
    assert run(made) == ("", "")


def _without_python(folder: Path) -> None:
    for path in (folder / "bin").glob("python*"):
        path.unlink()
        path.symlink_to("/usr/bin/no-such-python")


def _of_another_python(folder: Path) -> None:
    settings = (folder / "pyvenv.cfg").read_text()
    settings = re.sub(r"^version = .*$", "version = 3.10.2", settings, flags=re.MULTILINE)
    (folder / "pyvenv.cfg").write_text(settings)


def _of_an_old_python(folder: Path) -> None:
    _of_another_python(folder)
    (folder / "bin" / "python").unlink()
    (folder / "bin" / "python").write_text("#!/bin/sh\necho 3 10\necho pip\n")
    (folder / "bin" / "python").chmod(0o755)


now = ".".join(map(str, sys.version_info[:2]))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_without_python, "its Python does not run"),
        (_of_another_python, f"it was made for Python 3.10, and that is now {now}"),
        (_of_an_old_python, "its Python is 3.10, and 3.11 or newer is needed"),
    ],
)
def test_what_cannot_be_mended_goes_and_its_stamps_with_it(sound, spoil, why):
    spoil(sound)
    (sound / "notes.txt").write_text("mine")
    told, said = run(sound)
    assert (told, said) == ("", f".venv could not be used: {why}. {ASIDE}")
    assert not sound.exists()
    assert (sound.with_name(".venv-old1") / "notes.txt").read_text() == "mine"


def test_an_environment_that_was_moved_goes(sound):
    there = sound.parent.with_name("elsewhere")
    sound.parent.rename(there)
    told, said = run(there / ".venv")
    assert told == ""
    assert f"it was made as {sound}, and moved or copied" in said
    assert not (there / ".venv").exists()


def test_a_link_is_left_alone_and_the_way_out_is_said(sound, tmp_path):
    link = tmp_path / ".venv"
    link.symlink_to(sound)
    assert run(link) == ("", "")
    _without_python(sound)
    told, said = run(link)
    assert told == ".venv cannot be used: its Python does not run. Remove it, then run make again"
    assert said == ""
    assert (sound / ".book-installed").is_file()


def test_ensurepip_that_fails_is_no_end(made, ensurepip):
    """Debian's Python has none until python3-venv is installed, and then venv says so."""
    ensurepip("raise SystemExit(1)")
    told, said = run(made)
    assert told == ""
    assert said == f".venv could not be used: {environment.NO_PIP}. {ASIDE}"
    assert not made.exists()


def test_distclean_leaves_nothing_that_was_made_or_fetched(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    ignored = (ROOT / ".gitignore").read_text().split()
    of_others = {"checkouts/", ".ipynb_checkpoints/", "*.jsonl.claims"}
    inside = {"dist/": ("dist", "course/dist"), "__pycache__/": ("src/posenc/__pycache__",)}
    inside["*.egg-info/"] = ("src/posenc.egg-info",)
    for pattern in {*ignored} - of_others:
        for name in inside.get(pattern, (pattern,)):
            (tmp_path / name).mkdir(parents=True)
    subprocess.run(["make", "distclean"], cwd=tmp_path, check=True, capture_output=True)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")}
    assert left == {"Makefile", "book", "book/_assets", "course", "src", "src/posenc"}
