"""The task of helpers: blind attention guesses, attention that sees order knows."""

import numpy as np
import pytest

from posenc import tables
from posenc_book.teaching import program, roles


def causal(x, *maps):
    return program.attention(x, *maps, causal=True)


def test_a_blind_layer_is_right_half_of_the_time():
    assert np.array_equal(roles.accuracy(program.attention, n_draws=3), [0.5] * 3)


@pytest.mark.parametrize(
    ("attend", "positions"),
    [(program.attention, tables.sinusoidal(3, roles.D_MODEL)), (causal, 0.0)],
)
def test_a_layer_that_sees_order_names_the_helper(attend, positions):
    assert roles.accuracy(attend, positions, n_draws=3).min() > 0.9


def test_only_at_the_start_of_a_page_are_a_layers_switches_of_use(monkeypatch):
    def without_switches(sentences, attend, maps, forward):
        gathered = np.array([attend(x, *maps) for x in sentences])
        outputs = ((sentences + gathered) @ forward).mean(axis=1)
        return np.append(outputs, np.ones((len(outputs), 1)), axis=1)

    numbers = [np.arange(start, start + 3)[:, None] for start in (0, 1000)]
    near, far = (roles.accuracy(program.attention, one).mean() for one in numbers)
    monkeypatch.setattr(roles, "_layer", without_switches)
    plain_near, plain_far = (roles.accuracy(program.attention, one).mean() for one in numbers)
    assert near > plain_near + 0.05
    assert abs(far - plain_far) < 0.01
