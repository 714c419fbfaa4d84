"""FoX: gates of the tokens on the way, multiplied one after another."""

import math

import naive
import pytest
import torch
from layers import close

from posenc import encodings
from posenc.attention import SelfAttention

D_MODEL, N_HEADS, D_HEAD, LENGTH, BATCH = 16, 2, 8, 9, 2


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
    close(attention.weights(x), shrunk / shrunk.sum(-1, True))


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
            close(found[:, :, i, j], torch.tensor(taken, dtype=torch.float64))


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
    close(weights[:, :, :4, :4], alone.weights(x[:, :4]))
    close(weights[:, :, 4:, 4:], alone.weights(x[:, 4:]))


def test_gates_start_around_a_half():
    torch.manual_seed(0)
    position = encodings.make("fox", 64, 4, 9)
    gates = position.kept(torch.randn(1, 2000, 64)).exp()
    assert abs(gates.median().item() - 0.5) < 0.02
    assert (position.gate.bias == 0).all()
