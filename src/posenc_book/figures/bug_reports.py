"""The figure of the page on public bug reports."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from posenc_book.teaching import plots


def where(told: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> None:
    """Show where programs believe that new words stand, and where these stand.

    Parameters
    ----------
    told : mapping from a program to two arrays of shape (n,)
        The places of n words, and those that the program takes for them.
    """
    figure, axes = plots.new(2, 2, height=4.4, width=5.4, sharex=True, sharey=True)
    for ax, (title, (right, wrong)) in zip(axes.flat, told.items(), strict=True):
        right = np.asarray(right, float)
        word = np.arange(len(right))
        anew = np.flatnonzero(np.diff(right) < 0) + 1
        gaps = [np.insert(values.astype(float), anew, np.nan) for values in (word, right)]
        ax.plot(*gaps, "-", color="0.6", linewidth=4, label="where it stands")
        ax.plot(word, wrong, "o", color=plots.COLORS[1], markersize=4, label="where it is taken to")
        ax.set_title(title, fontsize=9)
        ax.set(xticks=range(0, len(right), 3), yticks=range(0, 13, 3))
    for ax in axes[-1]:
        ax.set_xlabel("word")
    for ax in axes[:, 0]:
        ax.set_ylabel("place")
    axes[0, 0].legend(loc="upper left", fontsize=8)
    plots.show(
        figure,
        name="fig-bug-reports",
        caption="Ten words, one after the other, and the place that four programs take for each. "
        "Grey is right.",
        alt="Four panels of place against word. A table kept by length puts all words at place 0. "
        "A full window stands still at place 4. Three pads in front put every word three places "
        "too far. Where two documents follow each other, the count goes on.",
    )
