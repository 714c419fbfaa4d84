"""Where attention looks at birth: the influence of each place, and what the figures draw of it."""

import numpy as np
import torch

from posenc.models import LanguageModel
from posenc_book.explorables import at_birth
from posenc_book.figures import position_bias
from posenc_book.teaching import birth


def test_influence_is_the_size_of_the_derivative(monkeypatch):
    """Against all derivatives at once; random directions come near them."""
    monkeypatch.setattr(birth, "_N_DIRECTIONS", 1000)
    torch.manual_seed(0)
    model = LanguageModel(9, 8, 2, 2, position="sinusoidal", max_length=6).eval()
    tokens = torch.randint(9, (1, 6))
    x = model.tokens(tokens).detach()

    def last(x):
        state = model.layers[0].attention.position.embed(x)
        for layer in model.layers:
            state = layer(state, None, None)
        return state[0, -1]

    jacobian = torch.autograd.functional.jacobian(last, x)[:, 0]  # (8, 6, 8)
    exact = jacobian.square().sum(0).mean(-1).sqrt()
    np.testing.assert_allclose(birth.influence(model, tokens, every=False)[0], exact, rtol=0.05)


def test_what_is_stored_for_the_figure_is_what_models_give():
    groups, last = birth.shares("rotary")
    stored = np.array(at_birth.stored()["rotary"])
    np.testing.assert_allclose(stored[:, :-1], groups, rtol=0.02)
    np.testing.assert_allclose(stored[:, -1], last, rtol=0.02)


def test_bars_stand_on_one_and_hang_from_it():
    assert at_birth.rect(4.0)["y"] < at_birth.rect(1.0)["y"]
    assert at_birth.rect(4.0)["y"] + at_birth.rect(4.0)["height"] == at_birth.top(1.0)
    assert at_birth.rect(0.5)["y"] == at_birth.top(1.0)
    assert at_birth.rect(0.25)["height"] == 2 * at_birth.rect(0.5)["height"]
    drawn = [value for rows in at_birth.stored().values() for value in np.ravel(rows)]
    assert 0 < at_birth.top(max(drawn)) < at_birth.top(min(drawn)) < 160  # inside the drawing


def test_the_sentence_names_the_numbers_of_its_bars():
    figure = at_birth.AtBirth()
    said = figure.summary({"encoding": "alibi", "depth": 1})
    assert said.startswith("ALiBi, 1 layer:")
    first = at_birth.stored()["alibi"][0]
    for value in (first[0], first[-2], first[-1]):
        assert f"{at_birth.share_text(value)} times" in said


def test_the_figure_of_training_leaves_the_last_token_out(drawn):
    flat = np.ones(64)
    high = np.where(np.arange(64) < 4, 3.0, flat)
    high[-1] = 99
    position_bias.influence_by_place({"at birth": [flat, flat], "trained": [high, high]})
    figure, words = drawn["fig-influence-trained"]
    first, second = (line.get_ydata() for line in figure.axes[0].lines[:2])
    np.testing.assert_allclose(first, 1)
    np.testing.assert_allclose(second, [3] + [1] * 15)
    assert "trained, 3.0 at the first 4 tokens, 1.0 at the end" in words["alt"]


def test_the_last_layer_can_be_asked_alone():
    whole = birth.at_birth("alibi", 3, depth=3)
    alone = birth.at_birth("alibi", 3, depth=3, every=False)
    assert whole.shape == (3, birth.LENGTH)
    np.testing.assert_array_equal(alone, whole[-1:])
