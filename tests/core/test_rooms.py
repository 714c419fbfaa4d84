"""Each room imports only what stands above it, and README's picture shows the rooms as they are."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import architecture

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def walk_the_ladder(source):
    """Run import-linter on a folder that holds both houses."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache", "--config", str(ROOT / "pyproject.toml")],
        cwd=source,
        env={"PYTHONPATH": f"{source}{os.pathsep}{ROOT}", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture(scope="module")
def houses():
    return architecture.houses()


@pytest.fixture(scope="module")
def rooms(houses):
    return [room for found in houses.values() for room in found]


def test_each_room_imports_only_what_stands_above_it():
    run = walk_the_ladder(ROOT / "src")
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("posenc/tables/waves.py", "import posenc.attention"),
        ("posenc/attention/layer.py", "def f():\n    from posenc.encodings import names"),
        ("posenc_book/bench/train.py", "from posenc_book.read import results"),
        ("posenc_book/read/results.py", "def f():\n    from posenc_book.bench import grid"),
        ("posenc_book/read/results.py", "import torch"),
        ("posenc_book/read/results.py", "from posenc.encodings import names"),
        ("posenc_book/guide/measured.py", "from experiments.gaps import train"),
        ("posenc/cellar.py", "import posenc.tables"),
        ("posenc/models/layer.py", "def f():\n    from posenc_book import data"),
        ("posenc/frequencies.py", "from posenc_book import _files"),
        ("posenc/attention/kernels.py", "from posenc.attention.fast import blocks"),
        ("posenc/attention/core.py", "from posenc.attention.fast import blocked_attention"),
    ],
)
def test_a_step_up_the_ladder_is_found(file, line, tmp_path):
    for house in ("posenc", "posenc_book"):
        shutil.copytree(ROOT / "src" / house, tmp_path / house)
    shutil.copytree(ROOT / "experiments", tmp_path / "experiments")
    with (tmp_path / file).open("a") as code:
        code.write(f"\n{line}\n")
    run = walk_the_ladder(tmp_path)
    module = file.removesuffix(".py").replace("/", ".")
    assert run.returncode == 1, run.stdout + run.stderr
    assert module in run.stdout


def test_the_picture_is_of_these_packages(houses):
    assert architecture.PICTURE.read_text() == architecture.draw(houses), (
        "run `python tools/architecture.py`"
    )


def test_the_picture_shows_every_room_with_a_title_and_in_words(rooms):
    picture = ElementTree.fromstring(architecture.PICTURE.read_text())
    shown = {text.text for text in picture.iter(f"{SVG}text") if text.get("class") == "name"}
    folders = {path.parent.name for path in (ROOT / "src").glob("*/*/__init__.py")}
    assert shown == {room.name for room in rooms}
    assert shown == folders - {"faithfulness", "tables"} | {"mathematics"}
    assert picture.find(f"{SVG}title").text
    assert all(f"{name} (" in picture.find(f"{SVG}desc").text for name in shown)


def test_readme_shows_the_picture_and_names_every_room_to_those_who_cannot_see_it(rooms):
    alt = re.search(r"!\[(.+)\]\(\S+/architecture\.svg\)", (ROOT / "README.md").read_text())
    for room in rooms:
        assert re.search(rf"\b{room.name}\b", alt[1]), room.name


def test_what_is_said_fits_into_its_box(rooms):
    for room in rooms:
        assert room.says
        assert len(architecture.textwrap.wrap(room.says, architecture.LINE)) <= 3, room.says
