"""Figures of the chapter on position in the message."""

import numpy as np

from posenc_book.explorables.roses import length_of_mean
from posenc_book.teaching import plots


def fan_lengths(most: int = 24) -> None:
    """Show how long the mean of equal, turned arrows is, by how many there are."""
    figure, ax = plots.new(height=3.0, width=5.6)
    n = np.arange(1, most + 1)
    speeds = {"1": 1.0, "0.1": 0.1, "0.01": 0.01, "one turn in 6 places": 2 * np.pi / 6}
    styles = [("-", 0), ("-", 1), ("-", 2), ("--", 5)]  # yellow, the fourth colour, is too pale
    for (name, omega), (style, colour) in zip(speeds.items(), styles, strict=True):
        lengths = [length_of_mean(one, omega) for one in n.tolist()]
        ax.plot(n, lengths, style, color=plots.COLORS[colour], marker=".", label=name)
    ax.set(xlabel="equal words in the text", ylabel="length of their mean", ylim=(0, 1.04))
    ax.set_xticks(range(0, most + 1, 6))
    figure.legend(ncols=2, loc="outside upper center", title="turn from one place to the next")
    plots.show(
        figure,
        name="fig-fan-lengths",
        caption="What is left of equal arrows when each is turned by its distance and all are "
        "averaged. A fast arrow tells one from two; slow ones go on falling where it wavers. One "
        "that goes round in six places has nothing left of six, twelve, eighteen and 24.",
        alt="Four lines over the number of equal words, from 1 to 24, that begin at length 1. The "
        "fastest falls to nearly 0 by 6 and wavers. Slower ones fall slowly or hardly. The dashed "
        "one touches 0 at 6, 12, 18 and 24.",
    )
