"""Figures as they are shown: the same bytes each time, with a name, a caption and alt text."""

import base64
import io

import matplotlib as mpl
import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from posenc_book.teaching import plots

mpl.use("Agg")


@pytest.fixture
def published(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "IPython.display.publish_display_data",
        lambda data, metadata: calls.append((data, metadata)),
    )
    return calls


def test_show_publishes_a_png_with_name_caption_and_alt_text(published):
    figure, ax = plots.new(height=2)
    ax.plot([0, 1])
    plots.show(figure, name="fig-line", caption="A line.", alt="A rising line.")
    [(data, metadata)] = published
    image = matplotlib.image.imread(io.BytesIO(base64.b64decode(data["image/png"])))
    assert image.shape[:2] == (2 * plots.DPI, plots.WIDTH * plots.DPI)
    assert "A rising line." in data["text/plain"]
    assert metadata["posenc"] == {"name": "fig-line", "caption": "A line.", "alt": "A rising line."}
    assert not plt.fignum_exists(figure.number)


def test_the_same_figure_gives_the_same_bytes(published):
    for _ in range(2):
        figure, ax = plots.new()
        plots.heatmap(ax, np.eye(4), label="value")
        plots.show(figure, name="fig-eye", caption="c", alt="a")
    assert published[0] == published[1]


def test_a_picture_of_few_colours_is_smaller(published):
    for n_colours in (256, 8):
        figure, ax = plots.new()
        ax.imshow(np.arange(400.0).reshape(20, 20))
        plots.show(figure, name="fig-map", caption="c", alt="a", n_colours=n_colours)
    whole, few = (base64.b64decode(data["image/png"]) for data, _ in published)
    assert len(few) < len(whole)
    image = matplotlib.image.imread(io.BytesIO(few))
    assert len(np.unique(image.reshape(-1, image.shape[-1]), axis=0)) == 8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"name": ""}, "^name must"),
        ({"caption": ""}, "^caption must"),
        ({"alt": ""}, "^alt must"),
        ({"name": "line"}, "name must start with 'fig-'"),
    ],
)
def test_a_figure_without_words_is_refused(words, said):
    figure, _ = plots.new()
    with pytest.raises(ValueError, match=said):
        plots.show(figure, **{"name": "fig-x", "caption": "c", "alt": "a"} | words)
    plt.close(figure)


def test_heatmaps_label_both_axes_and_the_colours():
    figure, ax = plots.new()
    plots.heatmap(ax, np.eye(3), label="weight (no unit)", x="key", y="query")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("key", "query")
    assert figure.axes[1].get_ylabel() == "weight (no unit)"
    plt.close(figure)


def test_lines_differ_by_dash_and_by_lightness():
    assert len({str(dash) for dash in plots.DASHES}) == len(plots.COLORS)
    lightness = sorted(np.dot(to_rgb(c), [0.2126, 0.7152, 0.0722]) for c in plots.COLORS[:4])
    assert np.diff(lightness).min() > 0.04
