"""The pictures of the atlas: one form for all encodings."""

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from posenc.teaching import plots
from posenc.teaching.atlas import additions, card, cards

WIDTH, HEIGHT = 4.6, 2.1  # inches of a picture of one panel
N_COLOURS = 64  # as the page has a picture for each encoding


def picture(name: str) -> None:
    """Show what an encoding adds: its table, what a pair gains by offset, or both."""
    panels = [(draw, values) for draw, values in _panels(name) if values is not None]
    unit, title = additions.unit(name), card(name).title
    figure, axes = plots.new(1, len(panels), height=HEIGHT, squeeze=False)
    figure.set_figwidth(min(WIDTH * len(panels), plots.WIDTH))
    for ax, (draw, values) in zip(axes[0], panels, strict=True):
        draw(ax, values, unit)
    plots.show(
        figure,
        name=f"fig-atlas-{name.replace('_', '-')}",
        caption=f"{title}: what it adds.",
        alt=f"{title}: " + "; ".join(_in_words(values, unit) for _, values in panels),
        n_colours=N_COLOURS,
    )


def maps() -> None:
    """Show who can see whom before training, one attention map for each card."""
    n_rows = -(-len(cards()) // 4)
    figure, axes = plots.new(n_rows, 4, height=1.85 * n_rows, sharex=True, sharey=True)
    for ax in axes.ravel()[len(cards()) :]:
        ax.axis("off")
    for ax, (name, one) in zip(axes.ravel(), cards().items(), strict=False):
        ax.imshow(additions.who_sees_whom(name))
        ax.grid(False)
        ax.set_title(one.title.split("'")[0], fontsize=8)
    figure.supxlabel("key position", fontsize=10)
    figure.supylabel("query position", fontsize=10)
    plots.show(
        figure,
        name="fig-who-sees-whom",
        caption="Attention weights of equal tokens, averaged over four heads, before training. "
        "Each panel has its own colour scale, from its smallest (dark) to its largest weight "
        "(bright).",
        alt="Heat maps of 48 queries by 48 keys, one for each encoding. No encoding: one colour. "
        "Sinusoids, tAPE, learnable frequencies, Time2Vec and T-PE: a narrow diagonal and bright "
        "first columns. DFT: a bright first column, a faint diagonal. RoPE, xPos, PoPE, ALiBi, "
        "KERPLE, FIRE and the stochastic codes: a diagonal band. FoPE: a band of bright blots. "
        "Shaw, T5, eRPE, Transformer-XL and DeBERTa: random diagonal stripes. Learned positions: "
        "vertical stripes. TUPE: unordered speckle. CoPE: one colour, as its vectors start at 0. "
        "DyWPE and window statistics: one colour, as equal tokens are a constant series. Axial "
        "RoPE: bright diagonals, one for each row of its grid.",
        n_colours=N_COLOURS,
    )


def _panels(name: str) -> list[tuple]:
    return [(_draw_table, additions.table(name)), (_draw_gain, additions.by_offset(name))]


def _draw_table(ax: Axes, table: NDArray[np.float64], unit: str) -> None:
    del unit
    limit = np.abs(table).max()
    plots.heatmap(ax, table, label="added to the token", vmin=-limit, vmax=limit)


def _draw_gain(ax: Axes, gained: NDArray[np.float64], unit: str) -> None:
    offset = np.arange(-additions.REACH, additions.REACH + 1)
    for query, row in zip(additions.QUERIES, gained, strict=True):
        ax.plot(offset, row, label=f"query {query}")
    if np.ptp(gained) < 1e-12:
        ax.set_ylim(-1, 1)
    ax.set(xlabel="offset of the key (positions)", ylabel=f"added to the {unit}")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)


def _in_words(values: NDArray[np.float64], unit: str) -> str:
    """Return what a panel shows, in numbers that are read from it."""
    if len(values) == additions.LENGTH:
        size = np.linalg.norm(values, axis=1).mean()
        return (
            f"a heat map of {values.shape[0]} positions by {values.shape[1]} dimensions, whose "
            f"rows have a mean norm of {size:.2f}"
        )
    same = np.allclose(*values, atol=1e-9)
    at_zero, far = values[0][additions.REACH], values[0][-1]
    lines = "the two lines coincide" if same else "the two lines differ"
    return (
        f"what a {unit} gains by offset, seen from two queries; {lines}. At offset 0 the first "
        f"gains {at_zero:.2f}, at offset {additions.REACH} {far:.2f}"
    )
