"""Figures that are drawn, collected instead of shown."""

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

from posenc.teaching import plots

mpl.use("Agg")


class Drawn(list):
    """Pairs of a figure and its words (name, caption, alt text), also by the figure's name."""

    def __getitem__(self, key: Any) -> tuple[Figure, dict[str, str]]:
        if isinstance(key, str):
            return next(one for one in self if one[1]["name"] == key)
        return super().__getitem__(key)


@pytest.fixture
def drawn(monkeypatch) -> Iterator[Drawn]:
    """Return the figures that were shown, in their order and by name."""
    shown = Drawn()
    monkeypatch.setattr(plots, "show", lambda figure, **words: shown.append((figure, words)))
    yield shown
    plt.close("all")
