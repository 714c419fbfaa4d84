"""Swin's table and the network of its second version, pair by pair."""

import math

import naive
import numpy as np
import pytest
import torch
from layers import close

from posenc import encodings
from posenc.attention import Places, SelfAttention

D_MODEL, N_HEADS, LENGTH = 8, 2, 12
GRID = torch.cartesian_prod(torch.arange(3), torch.arange(4))
WINDOW = (3, 4)
FORMULAS = pytest.mark.parametrize("formula", ["table", "continuous"])


def swin(formula="table", window=WINDOW, **options):
    torch.manual_seed(1)
    options |= {"width": 5} if formula == "continuous" else {}
    position = encodings.make(
        "swin", D_MODEL, N_HEADS, LENGTH, formula=formula, window=window, **options
    )
    with torch.no_grad():
        for parameter in position.parameters():
            parameter += torch.randn_like(parameter)
    return position.double()


def tokens(length=LENGTH):
    return torch.randn(2, length, D_MODEL, dtype=torch.float64)


def bias(position, places):
    x = tokens(places.shape[-2])
    return position.bias(x, x, x, Places.at(places, x, position.n_axes)).detach()


def said(position, h, back):
    """Return the bias of one head for an offset from key to query, number by number."""
    if position.formula == "table":
        clipped = [
            min(max(b, 1 - w), w - 1) + w - 1 for b, w in zip(back, position.window, strict=True)
        ]
        return position.table[h][tuple(clipped)].item()
    shares = [8 * b / max(w - 1, 1) for b, w in zip(back, position.window, strict=True)]
    seen = [math.copysign(math.log(abs(s) + 1, 8), s) for s in shares]
    hidden = naive.matvec(position.hidden.weight.tolist(), seen, position.hidden.bias.tolist())
    output = naive.matvec(position.output.weight.tolist(), [max(0.0, a) for a in hidden])[h]
    return 16 / (1 + math.exp(-output))


@FORMULAS
@pytest.mark.parametrize("window", [(3, 4), (2, 2), (1, 4)])  # the last two are left behind
def test_a_bias_is_that_of_its_offset(formula, window):
    position = swin(formula, window)
    for grid in [GRID] if formula == "table" else [GRID, GRID / 2]:
        found = bias(position, grid)
        for h, i, j in np.ndindex(N_HEADS, LENGTH, LENGTH):
            wanted = said(position, h, (grid[i] - grid[j]).tolist())
            assert found[0, h, i, j].item() == pytest.approx(wanted, abs=1e-12)


@FORMULAS
def test_windows_are_rows_of_the_batch(formula):
    position = swin(formula, (3, 4, 2))
    t = torch.randint(4, (2, LENGTH, 3))
    found = bias(position, t)
    for row in range(2):
        close(found[row], bias(position, t[row])[0], 1e-12)


@FORMULAS
def test_a_layer_equals_the_loops(formula):
    attention = SelfAttention(D_MODEL, N_HEADS, swin(formula), causal=True).double().eval()
    x, d_head = tokens(), D_MODEL // N_HEADS

    def score(_b, h, i, j, q, k):
        content = naive.dot(q, k) / math.sqrt(d_head)
        return content + said(attention.position, h, (GRID[i] - GRID[j]).tolist())

    looks = lambda b, i, j: j <= i  # noqa: E731
    expected = naive.self_attention(attention, x.tolist(), score=score, looks=looks)
    close(attention(x, positions=GRID), torch.tensor(expected, dtype=x.dtype))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": (7,)}, r"window must be a sequence of two numbers or more, got \(7,\)"),
        ({"window": (7, 0)}, "window must be an integer of at least 1, got 0"),
        ({"formula": "continuous", "width": 0}, "width must be an integer of at least 1, got 0"),
    ],
)
def test_options_that_do_not_fit_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        encodings.make("swin", D_MODEL, N_HEADS, LENGTH, **options)


def test_places_that_do_not_fit_are_named():
    x = tokens()
    with pytest.raises(
        ValueError, match="must be given, with n_axes = 2 numbers a token, got None"
    ):
        swin().bias(x, x, x)
    with pytest.raises(
        ValueError, match="must be whole numbers, as SwinBias has a number for each"
    ):
        bias(swin(), GRID + 0.5)
