"""The explorables by name; each module is imported when its figure is asked for."""

from collections.abc import Callable
from functools import partial
from importlib import import_module

from posenc import _checks
from posenc_book.explorables.base import Explorable


def _own(module: str, kind: str) -> Explorable:
    return getattr(import_module(f"{__package__}.{module}"), kind)()


_FIGURES: dict[str, Callable[[], Explorable]] = {
    "two-sentences": partial(_own, "two_sentences", "TwoSentences"),
    "shuffle": partial(_own, "shuffle", "Shuffle"),
    "drowning": partial(_own, "drowning", "Drowning"),
    "clocks": partial(_own, "clocks", "Clocks"),
    "digits-bits-waves": partial(_own, "digits_bits_waves", "DigitsBitsWaves"),
    "wave-bank": partial(_own, "wave_bank", "WaveBank"),
    "clock-hands": partial(_own, "clock_hands", "ClockHands"),
    "density": partial(_own, "density", "Density"),
    "noise": partial(_own, "noise", "Noise"),
    "doors": partial(_own, "doors", "Doors"),
    "two-hands": partial(_own, "two_hands", "TwoHands"),
    "ruler": partial(_own, "ruler", "Ruler"),
    "roses": partial(_own, "roses", "Roses"),
    "pulled": partial(_own, "pulled", "Pulled"),
    "rope-schedules": partial(_own, "rope_schedules", "RopeSchedules"),
    "two-patches": partial(_own, "two_patches", "TwoPatches"),
    "learned-hands": partial(_own, "learned_hands", "LearnedHands"),
    "released-models": partial(_own, "released_models", "ReleasedModels"),
    "at-birth": partial(_own, "at_birth", "AtBirth"),
    "patches": partial(_own, "patches", "Patches"),
    "drawers": partial(_own, "drawers", "Drawers"),
}


def register(name: str, figure: Callable[[], Explorable]) -> None:
    """Make a figure of another room, or of a reader's own, known by name."""
    _FIGURES[name] = figure


def names() -> list[str]:
    """Return the names of all explorables that are known."""
    return list(_FIGURES)


def make(name: str) -> Explorable:
    """Return an explorable."""
    _checks.choice("name", name, _FIGURES)
    return _FIGURES[name]()
