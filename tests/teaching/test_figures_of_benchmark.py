"""Figures of the benchmark, of its notes and of the guide: words and marks agree."""

from types import SimpleNamespace

import numpy as np

from posenc_book.figures import benchmark, further


def test_two_marks_a_set_are_told_with_the_one_that_moves_most(drawn):
    cells = np.array([[0.02, 0.04], [-0.01, -0.01], [0.0, 0.0]])
    moved = cells + np.array([[-0.01], [0.05], [0.02]])
    one = SimpleNamespace(datasets=("A", "B", "C"), plain=cells, varied=moved)
    further.changes({"the other norm, patches": one})
    figure, words = drawn["fig-changed-gains"]
    plain, varied = (line.get_xdata().tolist() for line in figure.axes[0].lines[-2:])
    assert np.allclose(plain, [3.0, -1.0, 0.0])
    assert np.allclose(varied, [2.0, 4.0, 2.0])
    assert "larger in the other model on 2 of 3 sets" in words["alt"]
    assert "moves most on B, from -1.0 to +4.0." in words["alt"]


def test_below_each_chart_stand_its_values_sorted(drawn):
    charts = np.random.default_rng(0).normal(size=(3, 2, 20))
    benchmark.in_order_and_sorted(charts, ("rising", "falling"))
    figure, words = drawn["fig-in-order-and-sorted"]
    above, below = figure.axes[:2], figure.axes[2:]
    for kind in range(2):
        assert above[kind].lines[0].get_ydata().tolist() == charts[0, kind].tolist()
        shown = [line.get_ydata().tolist() for line in below[kind].lines]
        assert shown == np.sort(charts[:, kind]).tolist()
    assert "rising, falling" in words["alt"]


def test_each_set_has_a_dot_where_sorting_costs_and_order_brings_what_is_told(drawn):
    found = SimpleNamespace(
        sets=("A", "B", "C"), lost=np.array([-5.0, 2.0, 40.0]), gains=np.array([1.0, -2.0, 50.0])
    )
    benchmark.sorting(found, named=("C",))
    figure, words = drawn["fig-sorting"]
    dots = figure.axes[0].lines[-1]
    assert dots.get_xdata().tolist() == [-5.0, 2.0, 40.0]
    assert dots.get_ydata().tolist() == [1.0, -2.0, 50.0]
    assert [text.get_text() for text in figure.axes[0].texts] == ["C"]
    assert "A (-5.0, +1.0)" in words["alt"]
