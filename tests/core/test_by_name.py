"""No module is found by its name alone: those that no import statement names stand in one list.

A renamed module would otherwise be missed only where its name is looked up, and a forgotten one
would stay for ever.
"""

from importlib.util import find_spec
from pathlib import Path

import architecture
from posenc_book.read import imports

ROOT = Path(__file__).parents[2]
LISTED = (ROOT / "tests" / "core" / "by_name.txt").read_text(encoding="utf-8").split()
WHO_IMPORT = ("src", "tools", "course", "peers", "benchmarks", "experiments")


def modules():
    files = (ROOT / "src").rglob("*.py")
    names = (".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in files)
    return {name.removesuffix(".__init__") for name in names}


def imported():
    """Yield every dotted name that some import statement of code or notebooks names."""
    for folder in WHO_IMPORT:
        for path in (ROOT / folder).rglob("*.py"):
            yield from architecture.imports(path)
    for path in (ROOT / "book").rglob("*.ipynb"):
        yield from architecture.imported_by(imports.code_of(path))


def test_modules_that_nothing_imports_are_those_of_the_list():
    named = {name for one in imported() for name in (one, one.rpartition(".")[0])}
    parents = {".".join(name.split(".")[:n]) for name in named for n in range(1, 9)}
    assert sorted(modules() - parents) == LISTED


def test_every_module_of_the_list_is_there():
    assert [name for name in LISTED if find_spec(name) is None] == []
