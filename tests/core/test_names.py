"""Old names stay importable, and what was stored under them stays valid."""

import ast
import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Each old name is a file of one line of code that puts the new module in its place.
MOVED = {
    "posenc._decaying": "posenc.audit.decaying",
    "posenc.bench.audit": "posenc.study.exact",
    "posenc.bench.figures": "posenc.study.figures",
    "posenc.bench.printed": "posenc.audit.printed",
    "posenc.bench.report": "posenc.study.report",
    "posenc.bench.results": "posenc.study.results",
    "posenc.bench.statistics": "posenc.study.statistics",
    "posenc.bench.survey": "posenc.audit.survey",
    "posenc.bench.tables": "posenc.study.tables",
    "posenc.claims": "posenc.audit.claims",
    "posenc.plots": "posenc.teaching.plots",
    "posenc.published": "posenc.audit.published",
    "posenc.scorecard": "posenc.teaching.scorecard",
    "posenc.scorecard_torch": "posenc.teaching.scorecard_torch",
}
# Chapters may use the two short names that a reader types most; the text of the module that
# stored results refer to is left as it is, to the byte.
SHORT = {"posenc.claims", "posenc.plots"}
AS_IT_IS = ROOT / "src/posenc/audit/published.py"


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_is_the_new_module(old):
    assert importlib.import_module(old) is importlib.import_module(MOVED[old])


def test_every_module_that_passes_on_is_listed():
    text = "sys.modules[__name__] ="
    found = {path for path in (ROOT / "src").rglob("*.py") if text in path.read_text()}
    assert found == {(ROOT / "src" / name.replace(".", "/")).with_suffix(".py") for name in MOVED}


def imported(source: str) -> set[str]:
    """Return the modules that a piece of code may import, "a.b" for `from a import b` too."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def test_imports_of_a_piece_of_code():
    assert imported("import a.b\nfrom c import d as e") == {"a.b", "c", "c.d"}


@pytest.mark.parametrize("folder", ["src", "tests", "tools", "benchmarks", "peers"])
def test_our_own_code_uses_the_new_names(folder):
    files = {path: imported(path.read_text()) for path in (ROOT / folder).rglob("*.py")}
    files.pop(AS_IT_IS, None)
    assert {str(path): names & MOVED.keys() for path, names in files.items()} == {
        str(path): set() for path in files
    }


@pytest.mark.parametrize("path", sorted((ROOT / "book").rglob("*.ipynb")), ids=lambda p: p.stem)
def test_chapters_use_the_new_names(path):
    cells = json.loads(path.read_text())["cells"]
    for cell in cells:
        lines = cell["source"] if cell["cell_type"] == "code" else []
        code = "".join(line for line in lines if not line.lstrip().startswith("%"))
        if "setup" not in cell["metadata"].get("tags", []):  # its block is a magic alone
            assert not imported(code) & (MOVED.keys() - SHORT)
