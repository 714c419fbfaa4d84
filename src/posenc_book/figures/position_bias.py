"""The figure of the chapter on where attention looks at birth."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from posenc_book.teaching import plots

GROUP = 4  # tokens of a point


def influence_by_place(found: Mapping[str, Sequence[NDArray[np.float64]]]) -> None:
    """Show the influence of each place on the last token, beside the middle half of the text.

    Parameters
    ----------
    found : mapping from words to the influences of several models
        Each an array with a number for every token.
    """
    figure, ax = plots.new(height=2.9)
    told = []
    for words, models in found.items():
        rows = np.stack([_grouped(one) for one in models])
        places = GROUP * np.arange(rows.shape[1]) + GROUP / 2
        (line,) = ax.plot(places, rows.mean(0), label=words, marker="o", markersize=3)
        ax.fill_between(places, rows.min(0), rows.max(0), color=line.get_color(), alpha=0.2)
        first, last = rows.mean(0)[[0, -1]]
        told.append(f"{words}, {first:.1f} at the first {GROUP} tokens, {last:.1f} at the end")
    ax.axhline(1, color="0.5", linewidth=0.8)
    ax.set_yscale("log")
    ax.set(xlabel="place in the text", ylabel="influence, middle = 1")
    ax.legend(loc="upper center", fontsize=9)
    n = len(models[0])
    plots.show(
        figure,
        name="fig-influence-trained",
        caption="How much the state of the last token answers to a nudge at each place, at birth "
        f"and after training on two tasks: means of {len(models)} models, bands from the lowest to "
        f"the highest, {GROUP} tokens a point. The last of the {n} tokens is left out.",
        alt=f"Curves over the place, about 1 in the middle: {'; '.join(told)}.",
    )


def _grouped(one: NDArray[np.float64]) -> NDArray[np.float64]:
    one = one / one[len(one) // 4 : 3 * len(one) // 4].mean()
    return np.array(
        [one[i : min(i + GROUP, len(one) - 1)].mean() for i in range(0, len(one), GROUP)]
    )
