import matplotlib.pyplot as plt
import numpy as np
import pytest

from posenc.study import figures, statistics
from posenc.study.tables import Scores


@pytest.fixture
def scores():
    """Four data sets; the third encoding is always best, the second always worst."""
    rng = np.random.default_rng(0)
    names = ("none", "bad", "good")
    level = {"none": 0.5, "bad": 0.2, "good": 0.8}
    cells = {(d, e): level[e] + 0.01 * rng.random(5) for d in "ABCD" for e in names}
    yield Scores("patch", "accuracy", tuple("ABCD"), names, cells)
    plt.close("all")


def labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_bars_of_critical_differences_overlap_where_nemenyi_does_not_reject(scores):
    ax = figures.critical_differences(scores).axes[0]
    bars = {row: line.get_xdata() for row, line in zip((0, 1, 2), ax.lines[::2], strict=False)}
    order = ["bad", "none", "good"]
    assert labels(ax) == order
    p = statistics.nemenyi(scores.mean())
    for a in range(3):
        for b in range(a):
            apart = max(bars[a][0], bars[b][0]) > min(bars[a][1], bars[b][1])
            i, j = (scores.encodings.index(order[k]) for k in (a, b))
            assert apart == (p[i, j] < 0.05)
    assert p.min() < 0.05 < np.median(p)


def test_rank_bars_put_the_best_on_top(scores):
    ax = figures.rank_bars(scores).axes[0]
    assert labels(ax)[-1] == "good"
    assert [bar.get_width() for bar in ax.patches] == [3, 2, 1]


def test_a_centred_heatmap_has_colours_around_zero_and_the_scores_as_numbers(scores):
    ax = figures.heatmap(scores, centred=True).axes[0]
    colours = ax.images[0].get_array()
    assert np.abs(colours).max() <= np.abs(100 * scores.mean() - 50).max()
    assert {text.get_text() for text in ax.texts} <= {"50", "51", "20", "21", "80", "81"}
    assert not figures.heatmap(scores, centred=True, values=False).axes[0].texts


def test_a_heatmap_shows_gaps(scores):
    cells = {key: value for key, value in scores.cells.items() if key != ("A", "bad")}
    gap = Scores("patch", "accuracy", scores.datasets, scores.encodings, cells)
    for centred in (False, True):
        texts = [text.get_text() for text in figures.heatmap(gap, centred=centred).axes[0].texts]
        assert texts.count("–") == 1


def test_dots_put_the_first_name_on_top_and_leave_out_what_is_missing():
    figure, ax = plt.subplots()
    first, second = figures.draw_dots(ax, ["a", "b"], [{"a": 1, "b": 2}, {"b": 5}], start=0)
    assert labels(ax) == ["a", "b"]
    assert first.get_ydata().tolist() == [1, 0]
    assert np.isnan(second.get_xdata()).tolist() == [True, False]
    plt.close(figure)


def test_pairs_are_drawn_group_by_group():
    figure, ax = plt.subplots()
    pairs = np.array([[1, 2, 0.1, 7], [3, 4, 0.1, 7], [5, 6, 0.1, 9]])
    figures.draw_pairs(ax, pairs, {7: "seven", 9: "nine", 11: "none"}, x="here", y="there")
    drawn = [container[0].get_xydata().tolist() for container in ax.containers]
    assert drawn == [[[1, 2], [3, 4]], [[5, 6]], []]
    assert ax.get_legend_handles_labels()[1] == ["seven", "nine", "none"]
    plt.close(figure)


def test_columns_stand_above_their_names():
    figure, ax = plt.subplots()
    figures.draw_columns(ax, {"a": [1], "b": [2, 3, 4]}, y="value")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b"]
    assert ax.lines[1].get_xydata().tolist() == [[1, 2], [1, 3], [1, 4]]
    plt.close(figure)
