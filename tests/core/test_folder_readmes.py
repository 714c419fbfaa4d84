"""The README of each folder of code has a line for each file, as the files say it now."""

import subprocess

import pytest

import folder_readmes
from folder_readmes import ROOT


@pytest.fixture
def small(tmp_path):
    """A repository with one folder of code and its README, as the command makes it."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    folder = tmp_path / "peers"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""Whom we compare with. And why."""\n')
    (folder / "waves.py").write_text('"""Waves of\nothers (Idé et al. 2024) | ours. More."""\n')
    (folder / "draw.js").write_text("// Draws <x> the waves.\n")
    (folder / "plan.json").write_text("{}")
    (folder / "README.md").write_text(
        "# `peers`\n\n<!-- files -->\n| `*.json` | Plans |\n<!-- /files -->\n"
    )
    write(tmp_path)
    return tmp_path


def write(root):
    for path, text in folder_readmes.old(root).items():
        path.write_text(text)


def test_no_readme_is_old():
    old = [str(path.relative_to(ROOT)) for path in folder_readmes.old()]
    assert old == [], "run `python tools/folder_readmes.py`"


def test_each_house_and_each_of_its_folders_has_one():
    names = [name for name in folder_readmes.files() if name.endswith((".py", ".js"))]
    folders = {name.rpartition("/")[0] for name in names if name.startswith(folder_readmes.TOPS)}
    without = {one for one in folders if not (ROOT / one / "README.md").is_file()}
    assert {one.rpartition("/")[2] for one in without} <= {"tests"}
    assert len(folders) > 50


def test_a_file_that_comes_goes_or_says_otherwise_makes_its_readme_old(small):
    (small / "peers/waves.py").write_text('"""Tides."""\n')
    assert "| Tides |" in folder_readmes.old(small)[small / "peers/README.md"]
    write(small)
    (small / "peers/draw.js").unlink()
    assert "draw.js" not in folder_readmes.old(small)[small / "peers/README.md"]


def test_what_people_wrote_around_the_table_stays(small):
    path = small / "peers/README.md"
    path.write_text(
        path.read_text().replace("# `peers`\n", "# Peers\n\nBy hand.\n") + "\nThe end.\n"
    )
    write(small)
    text = path.read_text()
    assert text.startswith("# Peers\n\nBy hand.\n\n<!-- files -->\n\n| file ")
    assert text.endswith("<!-- /files -->\n\nThe end.\n")


def test_a_file_that_says_nothing_of_itself_needs_a_line_by_hand(small):
    (small / "peers/odd.txt").write_text("1 2 3")
    with pytest.raises(ValueError, match=r"^peers/README\.md must say what odd\.txt holds: "):
        folder_readmes.old(small)


def test_a_module_without_a_docstring_is_asked_for_one(small):
    (small / "peers/odd.py").write_text("x = 1\n")
    with pytest.raises(ValueError, match=r"odd\.py"):
        folder_readmes.old(small)
