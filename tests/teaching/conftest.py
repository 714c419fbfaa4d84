"""Figures that are drawn, collected instead of shown."""

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from posenc_book.teaching import plots

mpl.use("Agg")


class Drawn(list):
    """Pairs of a figure and its words (name, caption, alt text), also by the figure's name."""

    def __getitem__(self, key: Any) -> tuple[Figure, dict[str, str]]:
        if isinstance(key, str):
            return next(one for one in self if one[1]["name"] == key)
        return super().__getitem__(key)


def colours_end_too_early(figure: Figure) -> list[str]:
    """Return the titles of maps in which the largest values, or the smallest, look all alike."""
    images = [(ax, image) for ax in figure.axes for image in ax.images]
    return [
        ax.get_title("left")
        for ax, image in images
        if image.norm.vmin > np.nanmin(image.get_array()) + 1e-9
        or image.norm.vmax < np.nanmax(image.get_array()) - 1e-9
    ]


@pytest.fixture
def drawn(monkeypatch) -> Iterator[Drawn]:
    """Return the figures that were shown, in their order and by name."""
    shown = Drawn()
    monkeypatch.setattr(plots, "show", lambda figure, **words: shown.append((figure, words)))
    yield shown
    for figure, words in shown:
        assert colours_end_too_early(figure) == [], words["name"]
    plt.close("all")
