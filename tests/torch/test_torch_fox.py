"""FoX: gates of the tokens on the way, multiplied one after another."""

import math

import gradients
import naive
import pytest
import torch

from posenc import encodings
from posenc.attention import Cache, CrossAttention, Places, SelfAttention

D_MODEL, N_HEADS, D_HEAD, LENGTH, BATCH = 16, 2, 8, 9, 2
TOLERANCE = {"rtol": 0, "atol": 1e-9}


def layer(cls=SelfAttention, **more):
    torch.manual_seed(4)
    attention = cls(D_MODEL, N_HEADS, encodings.make("fox", D_MODEL, N_HEADS, 12), **more).double()
    with torch.no_grad():
        attention.position.gate.bias.copy_(torch.tensor([1.5, -0.5]))
    return attention.eval()


def without_gates(attention):
    """Return the same layer without position."""
    nobody = encodings.make("none", D_MODEL, N_HEADS, 12)
    bare = SelfAttention(D_MODEL, N_HEADS, nobody, causal=attention.causal).double().eval()
    kept = {n: p for n, p in attention.state_dict().items() if not n.startswith("position")}
    bare.load_state_dict(kept)
    return bare


def tokens(length=LENGTH):
    generator = torch.Generator().manual_seed(5)
    return torch.randn(BATCH, length, D_MODEL, generator=generator).double()


def let_through(position, row, h, i, j):
    """Return the product of the gates of head h from behind the earlier of two tokens."""
    weight, offset = position.gate.weight[h].tolist(), position.gate.bias[h].item()
    product = 1.0
    for token in row[min(i, j) + 1 : max(i, j) + 1]:
        product *= 1 / (1 + math.exp(-naive.dot(weight, token) - offset))
    return product


@pytest.mark.parametrize("causal", [False, True])
def test_weights_shrink_by_the_gates_on_the_way(causal):
    """As the paper has it: exp(q k) times the product of gates, over its sum."""
    attention, x = layer(causal=causal), tokens()
    shrunk = without_gates(attention).weights(x).clone()
    for b in range(BATCH):
        for h in range(N_HEADS):
            for i in range(LENGTH):
                for j in range(LENGTH):
                    shrunk[b, h, i, j] *= let_through(attention.position, x[b].tolist(), h, i, j)
    torch.testing.assert_close(attention.weights(x), shrunk / shrunk.sum(-1, True), **TOLERANCE)


def test_equal_gates_are_alibi_with_the_slope_of_their_logarithm():
    position = encodings.make("fox", 8, 2, 9).double()
    slopes = torch.tensor([0.25, 0.0625]).double()
    with torch.no_grad():
        position.gate.weight.zero_()
        position.gate.bias.copy_(-torch.expm1(slopes).log())  # sigmoid of it is exp(-slope)
    x = tokens()[..., :8]
    alibi = encodings.make("alibi", 8, 2, 9, slopes=slopes.tolist()).double()
    expected = alibi.bias(x, x, x).expand(BATCH, -1, -1, -1)
    torch.testing.assert_close(position.bias(x, x, x), expected, **TOLERANCE)


def test_cable_adds_minus_softplus_of_a_map_with_the_other_sign():
    """As CABLE has it: each token from behind the key to the query takes softplus(v x + c)."""
    attention, x = layer(), tokens(5)
    steps = [[[0.0] * 5 for _ in range(N_HEADS)] for _ in range(BATCH)]
    for b in range(BATCH):
        for h in range(N_HEADS):
            v, c = -attention.position.gate.weight[h], -attention.position.gate.bias[h].item()
            for t in range(5):
                steps[b][h][t] = math.log1p(math.exp(naive.dot(v.tolist(), x[b, t].tolist()) + c))
    found = attention.position.bias(x, x, x)
    for i in range(5):
        for j in range(i + 1):
            taken = [[-math.fsum(s[j + 1 : i + 1]) for s in row] for row in steps]
            expected = torch.tensor(taken, dtype=torch.float64)
            torch.testing.assert_close(found[:, :, i, j], expected, **TOLERANCE)


def test_a_shut_gate_hides_what_came_before_it_and_nothing_else():
    attention, x = layer(causal=True), tokens()
    with torch.no_grad():
        attention.position.gate.weight.zero_()
        attention.position.gate.weight[:, 0] = 1e6
        attention.position.gate.bias.zero_()
    x[..., 0] = 1.0
    x[:, 4, 0] = -1.0  # its gate is shut, all others are open
    weights = attention.weights(x)
    assert (weights[:, :, 4:, :4] == 0).all()
    alone = without_gates(attention)
    torch.testing.assert_close(weights[:, :, :4, :4], alone.weights(x[:, :4]), **TOLERANCE)
    torch.testing.assert_close(weights[:, :, 4:, 4:], alone.weights(x[:, 4:]), **TOLERANCE)


def test_padded_tokens_forget_nothing():
    attention, x = layer(), tokens()
    mask = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    mask[0, [1, 4]] = False
    ours = attention(x.where(mask[..., None], math.nan), mask)
    torch.testing.assert_close(ours[:1, mask[0]], attention(x[:1, mask[0]]), **TOLERANCE)


@pytest.mark.parametrize("cuts", [[1] * LENGTH, [4, 1, 3, 1]])
def test_a_cache_keeps_gates_and_no_tokens(cuts):
    attention, x = layer(causal=True), tokens()
    cache, found = Cache(), []
    for part in x.split(cuts, 1):
        found.append(attention(part, cache=cache))
    torch.testing.assert_close(torch.cat(found, 1), attention(x), **TOLERANCE)
    assert attention.position.kept(x).shape == (BATCH, LENGTH, N_HEADS)


def test_gates_start_around_a_half():
    torch.manual_seed(0)
    position = encodings.make("fox", 64, 4, 9)
    gates = position.kept(torch.randn(1, 2000, 64)).exp()
    assert abs(gates.median().item() - 0.5) < 0.02
    assert (position.gate.bias == 0).all()


def test_gradients_are_right():
    attention = layer(causal=True)
    assert gradients.are_right(attention, tokens(4)[:1])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types_are_added_up_in_float32(dtype):
    position, x = encodings.make("fox", 16, 2, 9).to(dtype), tokens(200).to(dtype)
    ours = position.bias(x, x, x)
    assert ours.dtype == torch.float32
    exact = position.double().bias(x.double(), x, x)
    torch.testing.assert_close(ours.double(), exact, rtol=1e-5, atol=1e-4)


def test_it_says_why_it_takes_no_numbers():
    x = tokens()
    with pytest.raises(ValueError, match="positions must be None for FoX, whose gates go by their"):
        layer()(x, positions=torch.arange(LENGTH))
    with pytest.raises(ValueError, match="position must not be FoX in cross-attention, as it adds"):
        layer(CrossAttention)(x, x)


def test_it_sees_where_tokens_of_a_causal_layer_stand_from_one_another_only():
    position, x = layer().position, tokens()
    of_all = position.bias(x, x, x, Places.of(x, causal=True))
    later = position.bias(x[:, 3:], x, x, Places.of(x[:, 3:], causal=True))
    torch.testing.assert_close(of_all[..., 3:, 3:], later, **TOLERANCE)
