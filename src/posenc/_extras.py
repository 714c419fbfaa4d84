"""What a missing package is called here: `import torch` fails with the extra that brings it.

Python asks finders in turn; these stand last, so they are asked only for what nobody has found,
and they speak only where a module of ours asks. Packages that probe for each other see nothing.
"""

import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from types import FrameType, ModuleType

CPU = (
    "; on Linux, --extra-index-url https://download.pytorch.org/whl/cpu takes the small build "
    "without CUDA"
)
Wanted = Callable[[str, list[str]], str]
"""Returns what to install for a package that modules ask for, the nearest first, or ""."""


class Hint(MetaPathFinder):
    """Raise `ModuleNotFoundError` with what to install, where a module of ours asks."""

    def __init__(self, ours: tuple[str, ...], wanted: Wanted) -> None:
        self.ours, self.wanted = ours, wanted

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - the protocol's names
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> None:
        asking = _asking(self.ours)
        if asking and (found := self.wanted(fullname, asking)):
            message = f"{asking[0]} needs {fullname}: pip install {found}"
            raise ModuleNotFoundError(message, name=fullname)


def _wanted(package: str, _: list[str]) -> str:
    return f"'posenc[torch]'{CPU}" if package == "torch" else ""


def _asking(ours: tuple[str, ...]) -> list[str]:
    """Return the modules of ours on whose behalf an import runs, the nearest first.

    Nothing where the import statement is somebody else's, or where `find_spec` only asks.
    """
    names = [_name(frame) for frame, _ in traceback.walk_stack(sys._getframe(2))]
    machinery = ("importlib._bootstrap", "importlib._bootstrap_external", "importlib")
    callers = [name for name in names if name not in machinery]
    asks = bool(callers) and callers[0].startswith(ours)
    return [name for name in callers if name.startswith(ours)] if asks else []


def _name(frame: FrameType) -> str:
    name = frame.f_globals.get("__name__", "")
    spec = frame.f_globals.get("__spec__")
    return spec.name if name == "__main__" and spec else name  # python -m posenc.testing


def install(hint: Hint) -> None:
    """Put a hint behind all finders that find, before the hints that are there, once."""
    hints = [finder for finder in sys.meta_path if isinstance(finder, Hint)]
    if hint.ours not in [there.ours for there in hints]:
        sys.meta_path.insert(len(sys.meta_path) - len(hints), hint)


LIBRARY = Hint(("posenc.",), _wanted)
