"""Figures of anomaly windows, published code and four doors: words and marks agree."""

from types import SimpleNamespace

import numpy as np

from posenc_book.figures import anomaly_windows, four_doors


def interval(mean, low, high):
    return SimpleNamespace(mean=mean, low=low, high=high)


def test_the_median_of_seeds_half_of_which_never_found_it_stands_at_not_found(drawn):
    steps = [np.array([100.0, 200.0, np.inf, np.inf]), np.array([100.0, 200.0, 300.0, np.inf])]
    anomaly_windows.steps_to_find([1, 2], {"small": steps})
    figure, words = drawn["fig-range-core"]
    [large] = [line for line in figure.axes[0].lines if line.get_markersize() == 8]
    assert large.get_ydata().tolist() == [anomaly_windows.NOT_FOUND, 250.0]
    assert "small: not found, 250;" in words["alt"]


def test_scores_are_told_with_whose_interval_meets_that_of_none(drawn):
    rows = {"none": interval(0.5, 0.4, 0.6), "near": interval(0.55, 0.5, 0.7)}
    far = rows | {"far": interval(0.9, 0.8, 1.0)}
    anomaly_windows.scores({"A": rows, "B": far}, {"A": 0.2, "B": 0.3})
    alt = drawn["fig-windows-scores"][1]["alt"]
    assert alt.startswith("F1 of the anomalous windows. A: flagging everything has 0.20; none 0.50")
    assert "the interval of none is 0.40 to 0.60, and every other one meets it. B:" in alt
    assert alt.endswith("and those of far do not meet it.")


def test_maps_of_the_doors_are_told_by_their_diagonal(drawn):
    four_doors.doors_opened()
    alt = drawn["fig-doors-opened"][1]["alt"]
    assert "all doors shut: the four rows of A are equal, a token gives itself" in alt
    own = np.diagonal(four_doors.attention_map("embed")).mean()
    assert f"a token gives itself {own:.2f} on average" in alt
    shut, *doors, mixed = alt.split(". ")[1:]
    assert "along each diagonal" in mixed
    assert not any("along each diagonal" in one for one in (shut, *doors))
