"""Figures of score tables: bars join what no test tells apart, and heatmaps show gaps."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from posenc_book.figures import score_tables
from posenc_book.records.tables import Scores
from posenc_book.statistics import summary as statistics


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
    _, ax = plt.subplots()
    score_tables.draw_critical_differences(ax, scores)
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


def test_a_line_joins_what_no_test_tells_apart():
    """Ten sets on which two encodings are alike, and both far behind a third."""
    rng = np.random.default_rng(1)
    names, sets = ("none", "bad", "good"), tuple("ABCDEFGHIJ")
    level = {"none": 0.5, "bad": 0.5, "good": 0.8}
    cells = {(d, e): level[e] + 0.01 * rng.random(5) for d in sets for e in names}
    found = Scores("patch", "accuracy", sets, names, cells)
    ax = score_tables.critical_differences(found).axes[0]
    assert labels(ax)[0] == "good"
    (line,) = ax.lines[1:]
    joined = {labels(ax)[round(y)] for y in (min(line.get_ydata()), max(line.get_ydata()))}
    assert joined == {"No encoding", "bad"}  # as people say it
    assert "not told apart are" in score_tables.told_apart(found)
    assert min(line.get_xdata()) > max(ax.lines[0].get_xdata())


def test_four_sets_tell_nobody_apart(scores):
    ax = score_tables.critical_differences(scores).axes[0]
    assert len(ax.lines) == 2
    assert score_tables.told_apart(scores).endswith("so no two are told apart")


def test_rank_bars_put_the_best_on_top(scores):
    ax = score_tables.rank_bars(scores).axes[0]
    assert labels(ax)[-1] == "good"
    assert [bar.get_width() for bar in ax.patches] == [3, 2, 1]


def test_a_centred_heatmap_has_colours_around_zero_and_the_scores_as_numbers(scores):
    ax = score_tables.heatmap(scores, centred=True).axes[0]
    means = 100 * scores.mean()
    away = means - means.mean(axis=1, keepdims=True)
    widest = np.quantile(np.abs(away), 0.9)
    np.testing.assert_allclose(ax.images[0].get_array(), np.clip(away, -widest, widest))
    assert widest > 25  # of "good" and "bad", 30 points from the mean of a row
    assert [text.get_text() for text in ax.texts] == [f"{mean:.1f}" for mean in means.ravel()]
    assert not score_tables.heatmap(scores, centred=True, values=False).axes[0].texts


def test_a_heatmap_shows_gaps(scores):
    cells = {key: value for key, value in scores.cells.items() if key != ("A", "bad")}
    gap = Scores("patch", "accuracy", scores.datasets, scores.encodings, cells)
    for centred in (False, True):
        texts = [
            text.get_text() for text in score_tables.heatmap(gap, centred=centred).axes[0].texts
        ]
        assert texts.count("–") == 1
