"""Each experiment says where all of it is, and it is there."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(p.parent for p in (ROOT / "src/posenc_book/read").glob("*/__init__.py"))


@pytest.mark.parametrize("folder", FOLDERS, ids=[p.name for p in FOLDERS])
def test_what_an_experiment_names_is_there(folder):
    told = import_module(f"posenc_book.read.{folder.name}").__doc__
    assert re.findall(r"^(trained by|stored in|read by) ", told, re.M) == [
        "trained by",
        "stored in",
        "read by",
    ]
    for path in re.findall(r"\b(?:results|book|experiments)/[\w./*-]*\w", told):
        assert [*ROOT.glob(path)], path
    for name in re.findall(r"`(\w+)`", told):
        assert (folder / f"{name}.py").is_file() or (folder / name).is_dir(), name
    for name in re.findall(r"`(posenc\.[\w.]+)`", told):
        import_module(name)
