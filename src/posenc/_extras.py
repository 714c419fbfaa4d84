"""What a missing package is called here: `import torch` fails with the extra that brings it.

Python asks finders in turn; this one stands last, so it is asked only for what nobody has found,
and it speaks only where a module of posenc asks. Packages that probe for each other see nothing.
"""

import sys
import traceback
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import FrameType, ModuleType

EXTRAS = {
    "torch": "torch",
    "matplotlib": "plots",
    "sympy": "plots",
    "IPython": "plots",
    "aeon": "data",
    "pooch": "data",
    "requests": "data",  # comes with pooch
    "sklearn": "data",
    "tqdm": "data",
    "pandas": "bench",
    "distributed": "cluster",
    "bs4": "slides",  # what tools make of the built site
    "pikepdf": "pdf",
    "playwright": "pdf",
    "pypdf": "pdf",
}
# rooms that need all that `bench` brings
WHOLE = ("posenc.bench", "posenc.experiments", "posenc.guide", "posenc.audit")
CPU = (
    "; on Linux, --extra-index-url https://download.pytorch.org/whl/cpu takes the small build "
    "without CUDA"
)


class _Hint(MetaPathFinder):
    """Raise `ModuleNotFoundError` with the extra's name for a missing package of `EXTRAS`."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - the protocol's names
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> None:
        if fullname in EXTRAS and (asking := _asking()):
            room = next((name for name in asking if name.startswith(WHOLE)), asking[0])
            message = f"{asking[0]} needs {fullname}: pip install {wanted(fullname, room)}"
            raise ModuleNotFoundError(message, name=fullname)


def wanted(package: str, room: str = "") -> str:
    """Return what to install for a package that a module asks for, as typed in a shell."""
    extra = EXTRAS[package]
    if extra in ("torch", "plots", "data") and room.startswith(WHOLE):
        extra = "bench"
    return f"'posenc[{extra}]'" + (CPU if extra in ("torch", "bench", "cluster") else "")


def _asking() -> list[str]:
    """Return the modules of posenc on whose behalf an import runs, the nearest first.

    Nothing where the import statement is somebody else's, or where `find_spec` only asks.
    """
    names = [_name(frame) for frame, _ in traceback.walk_stack(sys._getframe(2))]
    machinery = ("importlib._bootstrap", "importlib._bootstrap_external", "importlib")
    callers = [name for name in names if name not in machinery]
    asks = bool(callers) and callers[0].startswith("posenc.")
    return [name for name in callers if name.startswith("posenc.")] if asks else []


def _name(frame: FrameType) -> str:
    name = frame.f_globals.get("__name__", "")
    spec = frame.f_globals.get("__spec__")
    return spec.name if name == "__main__" and spec else name  # python -m posenc.bench


def install() -> None:
    """Put the hint behind all finders, once."""
    if not any(isinstance(finder, _Hint) for finder in sys.meta_path):
        sys.meta_path.append(_Hint())
