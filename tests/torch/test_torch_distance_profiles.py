"""Profiles over distances, which tokens mix, against loops over their formula."""

import math

import naive
import pytest
import torch
from layers import awake, close

from posenc import encodings
from posenc.attention import CrossAttention, QueryScaling, Scoring, SelfAttention
from posenc.encodings import DistanceProfiles

D_MODEL, N_HEADS, D_HEAD, LENGTH, BATCH = 16, 2, 8, 7, 2
GROWTH = QueryScaling(beta=0.4, every=3, shift=1, smooth=True)
KINDS = {
    "plain": {},
    "near": {"n_profiles": 3, "reach": 4},
    "one step": {"n_profiles": 1, "reach": 1},
    "clipped": {"n_profiles": 5, "clip": 1.5},
    "growing": {"n_profiles": 4, "reach": 5, "query_scaling": GROWTH},
}
WHOLE = [[3, 0, 7, 4, 11, 5, 9], [1, 2, 9, 8, 0, 10, 30]]
kinds = pytest.mark.parametrize("kind", KINDS)


def layer(kind="near", cls=SelfAttention, length=12, **more):
    torch.manual_seed(3)
    position = encodings.make("distance_profiles", D_MODEL, N_HEADS, length, **KINDS[kind])
    if cls is SelfAttention:
        more["scoring"] = Scoring(query_scaling=position.query_scaling)
    return awake(cls(D_MODEL, N_HEADS, position, **more))


def tokens(length=LENGTH, width=D_MODEL):
    draw = torch.Generator().manual_seed(5)
    return torch.randn(BATCH, length, width, generator=draw, dtype=torch.float64)


def grown(p, place):
    rule = p.query_scaling
    return 1 + rule.beta * math.log(max(1, (place + 1) / rule.every)) if rule else 1.0


def scores(attention, x, s, t):
    """Return the score of `naive`, queries of tokens x at s and keys at t, number by number."""
    p = attention.position
    weight, profiles, n = p.amounts.weight.tolist(), p.profiles.tolist(), p.n_profiles

    def score(b, h, i, j, q, k):
        r = naive.matvec(weight[h * n : (h + 1) * n], x[b, i].tolist())
        size = math.sqrt(naive.dot(r, r)) + 1e-6
        least = 1.0 if p.clip is None else min(1.0, p.clip / size)
        offset = t[b][j] - s[b][i]
        column = p.reach - 1 + offset
        near = abs(offset) < p.reach
        added = least * naive.dot(r, [one[column] for one in profiles]) if near else 0.0
        return grown(p, s[b][i]) * (naive.dot(q, k) / math.sqrt(D_HEAD) + added)

    return score


def by_loops(attention, x, s, **more):
    found = naive.self_attention(attention, x.tolist(), score=scores(attention, x, s, s), **more)
    return torch.tensor(found, dtype=torch.float64)


@kinds
@pytest.mark.parametrize("causal", [False, True])
def test_a_layer_equals_the_loops(kind, causal):
    attention, x = layer(kind, causal=causal), tokens()
    count = [list(range(LENGTH))] * BATCH
    expected = by_loops(attention, x, count, looks=lambda b, i, j: j <= i or not causal)
    close(attention(x), expected, 1e-12)


@kinds
def test_given_positions_equal_the_loops(kind):
    attention, x = layer(kind), tokens()
    close(attention(x, positions=torch.tensor(WHOLE)), by_loops(attention, x, WHOLE), 1e-12)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "growing"])
def test_cross_attention_equals_the_loops(kind):
    attention, x, t = layer(kind, CrossAttention), tokens(), [[2, 8, 1], [0, 5, 4]]
    context = tokens(3)
    score = scores(attention, x, WHOLE, t)
    expected = naive.cross_attention(attention, x.tolist(), context.tolist(), score)
    ours = attention(x, context, positions=WHOLE, context_positions=t)
    close(ours, torch.tensor(expected, dtype=torch.float64), 1e-12)


def test_heads_may_be_shared_and_of_a_width_of_their_own():
    torch.manual_seed(4)
    position = encodings.make(
        "distance_profiles", 4 * 10, 4, 12, n_profiles=3, reach=5, d_tokens=D_MODEL
    )
    attention = SelfAttention(D_MODEL, 4, position, causal=True, n_kv_heads=2, d_head=10).double()
    x = tokens()
    q, k, v = attention._in_heads(x)
    k, v = (one.repeat_interleave(2, 1) for one in (k, v))
    r = position.amounts(x).unflatten(-1, (4, 3)).transpose(1, 2)
    offset = torch.arange(LENGTH) - torch.arange(LENGTH)[:, None]
    columns = position.profiles[:, (offset + 4).clamp(0, 8)] * (offset.abs() < 5)
    full = q @ k.mT / math.sqrt(10) + torch.einsum("bhic,cij->bhij", r, columns)
    weights = full.masked_fill(offset > 0, -math.inf).softmax(-1)
    close(attention(x), attention.out((weights @ v).transpose(1, 2).flatten(2)), 1e-12)


@pytest.mark.parametrize("length", [8, 20])
def test_a_resized_one_keeps_what_it_has_learned(length):
    position = DistanceProfiles(D_MODEL, N_HEADS, 12, n_profiles=3)
    new = encodings.resize(position, length)
    assert new.reach == length
    assert new.profiles.shape == (3, 2 * length - 1)
    same = min(length, 12) - 1
    middle = [one.profiles[:, one.reach - 1 - same : one.reach + same] for one in (position, new)]
    assert torch.equal(*middle)
    assert torch.equal(position.amounts.weight, new.amounts.weight)
    fixed = DistanceProfiles(D_MODEL, N_HEADS, 12, reach=5)
    assert torch.equal(encodings.resize(fixed, length).profiles, fixed.profiles)


def test_what_it_cannot_serve_is_said():
    times = torch.arange(LENGTH) + 0.5
    with pytest.raises(ValueError, match="positions must be whole numbers, as DistanceProfiles"):
        layer()(tokens(), positions=times)
    position = DistanceProfiles(24, 2, 9)
    attention = SelfAttention(16, 2, position, d_head=12)
    with pytest.raises(ValueError, match="d_tokens must be the width of the layer's tokens, 16"):
        attention(torch.zeros(1, 3, 16))
    with pytest.raises(ValueError, match="'relative_logits' has the name 'distance_profiles' here"):
        encodings.make("relative_logits", 16, 2, 9)
    with pytest.raises(ValueError, match="d_rel is n_profiles here"):
        encodings.make("distance_profiles", 16, 2, 9, d_rel=4)
