"""The explorables by name; each module is imported when its figure is asked for."""

from importlib import import_module

from posenc import _checks
from posenc.teaching.explorables.base import Explorable

_FIGURES = {
    "clock-hands": "ClockHands",
}


def names() -> list[str]:
    """Return the names of all explorables."""
    return list(_FIGURES)


def make(name: str) -> Explorable:
    """Return an explorable.

    Raises
    ------
    ValueError
        If there is none of that name.
    """
    _checks.choice("name", name, _FIGURES)
    module = import_module(f"{__package__}.{name.replace('-', '_')}")
    return getattr(module, _FIGURES[name])()
