"""Packages that were the library's and are the book's code now: their old names lead there.

Each use warns, for one minor version; then the names go.
"""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import CodeType, ModuleType

HOME, GONE_IN = "posenc_book", "0.3"
MOVED = {
    "posenc.audit": f"{HOME}.audit",
    "posenc.bench.__main__": f"{HOME}.command_line",
    "posenc.bench": f"{HOME}.bench",
    "posenc.data": f"{HOME}.data",
    "posenc.experiments.forecasting.reading": f"{HOME}.read.forecasting",
    "posenc.experiments": f"{HOME}.read",
    "posenc.guide": f"{HOME}.guide",
    "posenc.statistics": f"{HOME}.statistics",
    "posenc.teaching.atlas": f"{HOME}.atlas",
    "posenc.teaching.explorables": f"{HOME}.explorables",
    "posenc.teaching.figures": f"{HOME}.figures",
    "posenc.teaching": f"{HOME}.teaching",
    "posenc.testing.gallery": f"{HOME}.teaching.gallery",
}


class _Moved(MetaPathFinder):
    """Find a module of `MOVED` under its old name."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - the protocol's names
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        old = next((o for o in MOVED if f"{fullname}.".startswith(f"{o}.")), None)
        if old is None:
            return None
        new = MOVED[old] + fullname.removeprefix(old)
        if find_spec(HOME) is None:
            raise ModuleNotFoundError(
                f"{fullname} is now {new}, of the book's code: pip install posenc-book",
                name=fullname,
            )
        found = find_spec(new)
        if found is None:
            return None
        warnings.warn(
            f"{fullname} is now {new}; the old name goes in posenc {GONE_IN}",
            DeprecationWarning,
            stacklevel=2,
        )
        return ModuleSpec(
            fullname, _Elsewhere(found), is_package=bool(found.submodule_search_locations)
        )


class _Elsewhere(Loader):
    """Give the module that stands under another name."""

    def __init__(self, found: ModuleSpec) -> None:
        self._found = found

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002
        return import_module(self._found.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._found  # the machinery has put the old name's there

    def get_code(self, fullname: str) -> CodeType | None:  # noqa: ARG002 - for `python -m`
        code = getattr(self._found.loader, "get_code", None)
        return code(self._found.name) if code else None


def install() -> None:
    """Let the old names be found, once."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Moved())  # before the folder of a package that has moved is seen
