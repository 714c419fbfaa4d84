"""PaTH: matrices of the tokens on the way, multiplied one after another."""

import math

import pytest
import torch
from layers import close

from posenc import encodings
from posenc.attention import Places, SelfAttention

D_MODEL, N_HEADS, D_HEAD, LENGTH, BATCH = 16, 2, 8, 9, 2


def layer(cls=SelfAttention, **more):
    torch.manual_seed(4)
    attention = cls(D_MODEL, N_HEADS, encodings.make("path", D_MODEL, N_HEADS, 12), **more).double()
    with torch.no_grad():
        attention.position.strength.bias.copy_(torch.tensor([1.5, -0.5]))
    return attention.eval()


def tokens(length=LENGTH):
    generator = torch.Generator().manual_seed(5)
    return torch.randn(BATCH, length, D_MODEL, generator=generator).double()


def matrix(position, token, h):
    """Return H of one token in one head, from the formula."""
    w = (position.direction.weight @ token)[h * D_HEAD : (h + 1) * D_HEAD]
    beta = 2 / (1 + math.exp(-(position.strength.weight[h] @ token + position.strength.bias[h])))
    return torch.eye(D_HEAD).double() - beta * w.outer(w) / w.square().sum()


@torch.no_grad()
def scores_by_hand(position, x, q, k):
    """Return q_i H_i ... H_(j+1) k_j / sqrt(d), and likewise for later keys, by a loop."""
    found = torch.zeros(BATCH, N_HEADS, LENGTH, LENGTH).double()
    for b in range(BATCH):
        for h in range(N_HEADS):
            for i in range(LENGTH):
                for j in range(LENGTH):
                    late, early = (q[b, h, i], k[b, h, j]) if i >= j else (k[b, h, j], q[b, h, i])
                    for t in range(min(i, j) + 1, max(i, j) + 1):
                        early = matrix(position, x[b, t], h) @ early
                    found[b, h, i, j] = late @ early / math.sqrt(D_HEAD)
    return found


@pytest.mark.parametrize("causal", [False, True])
def test_scores_pass_the_matrices_on_the_way(causal):
    attention, x = layer(causal=causal), tokens()
    made = attention.qkv(x).unflatten(-1, (3, N_HEADS, D_HEAD))
    q, k, _ = made.permute(2, 0, 3, 1, 4)
    scores = scores_by_hand(attention.position, x, q, k)
    later = torch.ones(LENGTH, LENGTH).triu(1).bool() & causal
    close(attention.weights(x), scores.masked_fill(later, -math.inf).softmax(-1))


def test_a_full_strength_reflects_and_a_half_strength_forgets_one_direction():
    """Beta 2 keeps lengths; beta 1 takes what lies along w from every key before it."""
    position, x = layer().position, tokens()
    with torch.no_grad():
        position.strength.weight.zero_()
        position.strength.bias.copy_(torch.tensor([math.inf, 0.0]))
    u = position.kept(x).unflatten(-1, (N_HEADS, D_HEAD))
    reflection = torch.eye(D_HEAD).double() - u[0, 4, 0].outer(u[0, 4, 0])
    close(reflection @ reflection, torch.eye(D_HEAD).double())
    k = torch.randn(BATCH, N_HEADS, LENGTH, D_HEAD).double()
    q = u.transpose(1, 2).roll(-4, 2)[..., :1, :].expand_as(k)  # all ask along w of token 4
    scores = q @ k.mT / math.sqrt(D_HEAD) + position.bias(x, q, k, Places.of(x, causal=True))
    assert scores[:, 1, 4, :4].abs().max() < 1e-12 < scores[:, 1, 4, 4].abs().min()
