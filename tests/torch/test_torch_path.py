"""PaTH: matrices of the tokens on the way, multiplied one after another."""

import math

import gradients
import pytest
import torch

from posenc import encodings
from posenc.attention import Cache, CrossAttention, Places, SelfAttention
from posenc.testing import check_encoding

D_MODEL, N_HEADS, D_HEAD, LENGTH, BATCH = 16, 2, 8, 9, 2
TOLERANCE = {"rtol": 0, "atol": 1e-9}


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
    expected = scores.masked_fill(later, -math.inf).softmax(-1)
    torch.testing.assert_close(attention.weights(x), expected, **TOLERANCE)


def test_a_full_strength_reflects_and_a_half_strength_forgets_one_direction():
    """Beta 2 keeps lengths; beta 1 takes what lies along w from every key before it."""
    position, x = layer().position, tokens()
    with torch.no_grad():
        position.strength.weight.zero_()
        position.strength.bias.copy_(torch.tensor([math.inf, 0.0]))
    u = position.kept(x).unflatten(-1, (N_HEADS, D_HEAD))
    reflection = torch.eye(D_HEAD).double() - u[0, 4, 0].outer(u[0, 4, 0])
    torch.testing.assert_close(reflection @ reflection, torch.eye(D_HEAD).double(), **TOLERANCE)
    k = torch.randn(BATCH, N_HEADS, LENGTH, D_HEAD).double()
    q = u.transpose(1, 2).roll(-4, 2)[..., :1, :].expand_as(k)  # all ask along w of token 4
    scores = q @ k.mT / math.sqrt(D_HEAD) + position.bias(x, q, k, Places.of(x, causal=True))
    assert scores[:, 1, 4, :4].abs().max() < 1e-12 < scores[:, 1, 4, 4].abs().min()


def test_order_of_the_words_between_matters():
    position, x = layer().position, tokens()
    q = torch.randn(BATCH, N_HEADS, LENGTH, D_HEAD).double()
    swapped = x[:, [0, 1, 2, 4, 3, 5, 6, 7, 8]]
    change = (position.bias(swapped, q, q) - position.bias(x, q, q)).abs()
    assert change[:, :, 8, 0].min() > 1e-4
    assert change[:, :, 8, 4:].max() < 1e-12  # a way that begins behind both is the same


def test_padded_tokens_are_walked_past():
    attention, x = layer(), tokens()
    mask = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    mask[0, [1, 4]] = False
    ours = attention(x.where(mask[..., None], math.nan), mask)
    torch.testing.assert_close(ours[:1, mask[0]], attention(x[:1, mask[0]]), **TOLERANCE)


@pytest.mark.parametrize("cuts", [[1] * LENGTH, [4, 1, 3, 1]])
def test_a_cache_keeps_directions_and_no_tokens(cuts):
    attention, x = layer(causal=True), tokens()
    cache, found = Cache(), []
    for part in x.split(cuts, 1):
        found.append(attention(part, cache=cache))
    torch.testing.assert_close(torch.cat(found, 1), attention(x), **TOLERANCE)


def test_it_sees_where_tokens_of_a_causal_layer_stand_from_one_another_only():
    position, x = layer().position, tokens()
    q = torch.randn(BATCH, N_HEADS, LENGTH, D_HEAD).double()
    of_all = position.bias(x, q, q, Places.of(x, causal=True))
    late = q[:, :, 3:]
    later = position.bias(x[:, 3:], late, late, Places.of(x[:, 3:], causal=True))
    torch.testing.assert_close(of_all[..., 3:, 3:], later, **TOLERANCE)


def test_gradients_are_right():
    attention = layer(causal=True)
    assert gradients.are_right(attention, tokens(4)[:1])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types_are_solved_in_float32(dtype):
    position, x = encodings.make("path", 16, 2, 9).to(dtype), tokens(60).to(dtype)
    q = torch.randn(BATCH, N_HEADS, 60, D_HEAD).to(dtype)
    ours = position.bias(x, q, q)
    assert ours.dtype == torch.float32
    exact = position.double().bias(x.double(), q.double(), q.double())
    torch.testing.assert_close(ours.double(), exact, rtol=1e-4, atol=1e-4)


def test_it_says_why_it_takes_no_numbers():
    x = tokens()
    with pytest.raises(ValueError, match="positions must be None for PaTH, whose matrices go by"):
        layer()(x, positions=torch.arange(LENGTH))
    with pytest.raises(ValueError, match="position must not be PaTH in cross-attention, as it mul"):
        layer(CrossAttention)(x, x)


def test_it_keeps_its_promises():
    check_encoding(encodings.get("path")).raise_for_failures()
