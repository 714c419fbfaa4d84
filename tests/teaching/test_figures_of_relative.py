"""What the chapter on relative encodings shows is what the library computes."""

import numpy as np
import pytest
import torch

from posenc import encodings
from posenc_book.figures import relative_and_hybrid as figures
from posenc_book.teaching import look_back


def test_lines_coincide_where_only_the_offset_counts(drawn):
    figures.kernels(reach=5)
    [(figure, words)] = drawn
    for ax in figure.axes:
        one, other = (line.get_ydata() for line in ax.lines)
        together = words["alt"].split("They differ")[0]
        assert np.allclose(one, other, atol=1e-9) == (ax.get_title("left") in together)
    assert figure.axes[1].lines[0].get_ydata()[5] == figures.added("t5")[24, 24]


def test_the_row_that_is_asked_for_is_drawn(drawn):
    defined, skew = np.arange(36.0).reshape(6, 6), np.ones((6, 6))
    figures.skewed(defined, skew, query=2)
    figure, words = drawn[0]
    line = next(ax for ax in figure.axes if ax.lines)
    np.testing.assert_array_equal(line.lines[0].get_ydata(), defined[2])
    np.testing.assert_array_equal(line.lines[0].get_xdata(), np.arange(6) - 2)
    assert "is 15.00, the skew's 1.00" in words["alt"]


@pytest.mark.parametrize("recipe", figures.RECIPES.values(), ids=figures.RECIPES)
def test_the_theorem_tells_the_noise_of_random_codes(recipe):
    found = [figures.noise_of(recipe, 256, seed, n=16, width=8) for seed in range(4)]
    error, told, spread = np.mean(found, axis=0)
    assert error == pytest.approx(told, rel=0.3)
    assert spread > 0.5


def test_terms_are_named_by_their_door_and_kind():
    words = {name: figures.entrance(name) for name in ("none", *figures.SHOWN)}
    assert words == {
        "none": "none",
        "sinusoidal": "embed",
        "t5": "bias, by offset",
        "alibi": "bias, by offset",
        "relative": "bias, by query and offset",
        "rotary": "rotate",
        "sine_spe": "rotate",
        "conv_spe": "rotate",
        "erpe": "mix, by offset",
        "tupe": "rotate; bias, by product",
        "tpe": "embed; bias, dense",
    }


def test_only_terms_of_the_offset_move_along():
    names = encodings.names()
    moving = {name for name in names if figures.moves_along(figures.make(name))}
    assert moving == {"none", "rotary", "relative", "t5", "alibi", "erpe"}
    refusing = {name for name in names if not figures.takes_longer(figures.make(name))[0]}
    assert refusing == {"dft", "learnable", "tape", "tupe", "erpe"}
    assert all(figures.takes_longer(figures.make(name))[1] == "yes" for name in moving - refusing)


def test_each_letter_may_ask_for_another_distance():
    x = torch.tensor([[0, 1, 0, 1, 1]])
    first, wanted = look_back.asked(x, [1, 2] * 8)
    assert first == 2
    assert wanted[0, 2:].tolist() == [1, 1, 0]  # one back, two back, two back
    same, everywhere = look_back.asked(x, 3)
    assert same == 3
    assert everywhere[0, 3:].tolist() == [0, 1]


def test_a_distance_is_asked_of_every_letter():
    with pytest.raises(ValueError, match="hold 16, one for each letter, got 3"):
        look_back.asked(torch.zeros(1, 5, dtype=torch.long), [1, 2, 3])


def test_places_that_an_encoding_does_not_have_are_refused():
    def right(name):
        return look_back.right_if_served([look_back.OneLayer(name).eval()], first=1000)

    assert right("tupe") == "refuses"
    assert right("relative").endswith("%")
