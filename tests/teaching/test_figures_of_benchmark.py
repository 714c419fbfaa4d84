"""Figures of the page on other norms, sizes and encodings: words and marks agree."""

from types import SimpleNamespace

import numpy as np

from posenc.teaching.figures import benchmark, further


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


def test_answers_of_another_page_have_a_name_and_a_table_of_their_own(drawn):
    gain = SimpleNamespace(
        encoding="fire", effect=SimpleNamespace(mean=0.02, low=0.01, high=0.03), answer="helps"
    )
    found = {"patches": (np.array([[1.0, 3.0]]), [gain])}
    benchmark.answers(found, 1.0, name="fig-later", table="The table below")
    assert drawn["fig-later"][1]["alt"].endswith("The table below has every mean and interval.")
