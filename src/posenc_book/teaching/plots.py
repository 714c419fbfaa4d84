"""Every figure's style in one place. Figures carry a name, a caption and alt text."""

import base64
import io
from typing import Any, overload

import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from numpy.typing import ArrayLike
from PIL import Image

WIDTH = 7.2  # inches; the text column of the site
DPI = 150

# Red, blue and violet are equally light: in greyscale only the dash, or a marker, tells them apart.
COLORS = ["#1b2a49", "#d1495b", "#2e86ab", "#edae49", "#66a182", "#8d6a9f"]
DASHES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1))]
COLORMAP = "cividis"
GREY, BAND = "#9aa5b5", "#e6e9ee"  # single cases beside their mean; what counts as no difference

STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 10,
    "axes.prop_cycle": cycler(color=COLORS, linestyle=DASHES),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "grid.color": "#d9dde3",
    "grid.linewidth": 0.6,
    "image.cmap": COLORMAP,
    "image.interpolation": "nearest",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.8,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
}


@overload
def new(*, height: float = ..., width: float = ..., **options: Any) -> tuple[Figure, Axes]: ...
@overload
def new(
    n_rows: int, n_columns: int, *, height: float = ..., width: float = ..., **options: Any
) -> tuple[Figure, np.ndarray]: ...
def new(
    n_rows: int = 1,
    n_columns: int = 1,
    *,
    height: float = 3.0,
    width: float = WIDTH,
    **options: Any,
) -> tuple[Figure, Any]:
    """Return a new figure in the book's style, and its axes.

    Parameters
    ----------
    n_rows, n_columns : int
        Grid of axes.
    height : float
        Height of the whole figure in inches.
    width : float
        Its width; that of the text column unless given. Letters of a narrower figure are larger
        on the screen of a phone.
    **options
        Handed to `matplotlib.pyplot.subplots`, such as `sharex=True`.

    Returns
    -------
    matplotlib figure, and its axes: an array of them where the grid has several.

    Raises
    ------
    ValueError
        If `n_rows` or `n_columns` is below 1.

    Examples
    --------
    >>> figure, (left, right) = new(1, 2, height=2.5, sharey=True)
    >>> figure.get_size_inches().tolist()
    [7.2, 2.5]
    >>> plt.close(figure)
    """
    plt.rcParams.update(STYLE)
    size = (width, height)
    return plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", **options)


def set_apart(figure: Figure, share: float) -> None:
    """Leave room between the columns of a figure, as a share of a column's width."""
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(wspace=share)


def draw_band(ax: Axes, margin: float) -> None:
    """Draw no difference, and the differences that count as none."""
    ax.axvspan(-margin, margin, color=BAND)
    ax.axvline(0, color="#555555", linewidth=1)


def say_in_middle(ax: Axes, words: str) -> None:
    """Say in a panel why it shows nothing."""
    box = {"facecolor": "white", "edgecolor": "none"}
    middle: dict[str, Any] = {"ha": "center", "va": "center", "transform": ax.transAxes}
    ax.text(0.5, 0.5, words, fontsize=8, bbox=box, **middle)


def heatmap(
    ax: Axes,
    values: ArrayLike,
    *,
    label: str,
    x: str = "dimension",
    y: str = "position",
    **options: Any,
) -> None:
    """Draw a matrix as an image with labelled axes and a labelled colour bar."""
    image = ax.imshow(values, **{"aspect": "auto", **options})
    ax.grid(False)
    ax.set(xlabel=x, ylabel=y)
    ax.figure.colorbar(image, ax=ax, label=label)


def show(figure: Figure, *, name: str, caption: str, alt: str, n_colours: int = 256) -> None:
    """Display a figure in a notebook, with its name, caption and alt text, and close it.

    Parameters
    ----------
    figure : matplotlib figure
    name : str
        Target of cross-references, such as "fig-digits".
    caption : str
        Caption in Markdown; numbered by the site.
    alt : str
        What a reader who cannot see the figure needs to know.
    n_colours : int
        Most colours of the stored picture, 2 to 256; fewer make it smaller, for pages of many.

    Returns
    -------
    None

    Raises
    ------
    ValueError
        If `name`, `caption` or `alt` is empty, or `name` does not start with "fig-".

    Examples
    --------
    >>> figure, ax = new(height=2)
    >>> _ = ax.plot([0, 1, 4])
    >>> show(figure, name="fig-square", caption="Squares.", alt="")  # not without alt text
    Traceback (most recent call last):
        ...
    ValueError: alt must be a sentence for figure 'fig-square', got ''
    >>> plt.close(figure)
    """
    for argument, value in {"name": name, "caption": caption, "alt": alt}.items():
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{argument} must be a sentence for figure {name!r}, got {value!r}")
    if not name.startswith("fig-"):
        raise ValueError(f"name must start with 'fig-', such as 'fig-digits', got {name!r}")
    from IPython.display import publish_display_data

    width = round(figure.get_figwidth() * 100)
    encoded = base64.b64encode(_png(figure, n_colours)).decode()
    plt.close(figure)
    publish_display_data(
        {
            "image/png": encoded,
            "text/plain": f"[figure: {alt}]",
        },
        metadata={
            "image/png": {"alt": alt, "width": width},
            "posenc": {"name": name, "caption": caption, "alt": alt},
        },
    )


def _png(figure: Figure, n_colours: int) -> bytes:
    """Return the figure as a PNG of few colours, at 256 a third of the usual size."""
    drawn, stored = io.BytesIO(), io.BytesIO()
    figure.set_dpi(DPI)
    if engine := figure.get_layout_engine():  # `savefig` would draw all of it once more for that
        engine.execute(figure)
        figure.set_layout_engine(None)
    figure.savefig(drawn, format="png", dpi=DPI, pil_kwargs={"compress_level": 0})  # read at once
    picture = Image.open(drawn).convert("RGB")
    picture.quantize(n_colours, dither=Image.Dither.NONE).save(stored, format="png", optimize=True)
    return stored.getvalue()
