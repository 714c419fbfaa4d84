"""The pictures of the atlas: one form for all encodings."""

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from posenc_book.atlas import additions, called, card, cards
from posenc_book.figures import _shapes
from posenc_book.teaching import plots

WIDTH, HEIGHT = 4.6, 2.1  # inches of a panel of a card
ROW = 3  # panels of a row of maps: more would be too small on a phone
N_COLOURS = 64  # as the page has a picture for each encoding


def picture(name: str) -> None:
    """Show what an encoding adds: its table, what a pair gains by offset, or both."""
    panels = [(draw, values) for draw, values in _panels(name) if values is not None]
    unit, title = additions.unit(name), card(name).title
    figure, axes = plots.new(
        len(panels), 1, height=HEIGHT * len(panels), width=WIDTH, squeeze=False
    )
    for ax, (draw, values) in zip(axes[:, 0], panels, strict=True):
        draw(ax, values, unit)
    caption, alt = in_words(name)
    plots.show(
        figure,
        name=f"fig-atlas-{name.replace('_', '-')}",
        caption=f"{title}, {caption}.",
        alt=f"{title}. {alt}",
        n_colours=N_COLOURS,
    )


def in_words(name: str) -> tuple[str, str]:
    """Return what the picture of an encoding shows, in a few words and in sentences."""
    table, gained, position = (
        additions.added_rows(name), additions.by_offset(name), additions.make(name),
    )  # fmt: skip
    few, many = [], []
    if table is not None:
        look = _shapes.of_table(table)
        given = ", given a wave that gets faster" * position.reads_neighbours
        few.append(f"what it adds to the tokens{given}: {look.shape}")
        size = f"{len(table)} positions downwards by {table.shape[1]} dimensions"
        many.append(f"A heat map of what is added to the tokens{given}, {size}. {look.details}")
    if gained is not None:
        look = _shapes.of_lines(gained)
        aside = ", along one axis" * (position.n_axes > 1)
        aside += ", apart from what its table does" * (table is not None)
        few.append(f"what a {additions.unit(name)} gains by offset{aside}: {look.shape}")
        seen = " and ".join(map(str, additions.QUERIES))
        many.append(
            f"What a {additions.unit(name)} gains at the offsets -{additions.REACH} to "
            f"{additions.REACH}{aside}, seen from queries {seen}. {look.details}"
        )
    return "; ".join(few), " ".join(many)


def maps() -> None:
    """Show who can see whom before training, one attention map for each card."""
    n_rows = -(-len(cards()) // ROW)
    size = {"height": 1.85 * n_rows, "width": 5.6}
    figure, axes = plots.new(n_rows, ROW, **size, sharex=True, sharey=True)
    for ax in axes.ravel()[len(cards()) :]:
        ax.axis("off")
    for ax, name in zip(axes.ravel(), cards(), strict=False):
        ax.imshow(additions.who_sees_whom(name))
        ax.grid(False)
        ax.set_title(called(name), fontsize=9)
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
        "first columns. DFT: a bright first column, a faint diagonal. RoPE and xPos: parallel "
        "diagonal stripes, the middle one brightest. PoPE, ALiBi, KERPLE, FIRE, FoX and the "
        "stochastic codes: a diagonal band. PaTH: a thin diagonal. FoPE: bright diagonals that "
        "return every 19 keys. Shaw, T5, eRPE, Transformer-XL and DeBERTa: random diagonal "
        "stripes. Learned positions: vertical stripes. TUPE: speckle. CoPE: one colour: its "
        "vectors are 0. DyWPE and window statistics: one colour, as equal tokens are a constant "
        "series. Axial RoPE: bright diagonals, one for each row of its grid. M-RoPE: blocks of one "
        "colour, a row of the grid each, as columns turn its slowest pairs. Swin's table: random "
        "stripes, broken where a row of the grid ends.",
        n_colours=N_COLOURS,
    )


def _panels(name: str) -> list[tuple]:
    return [(_draw_table, additions.added_rows(name)), (_draw_gain, additions.by_offset(name))]


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
