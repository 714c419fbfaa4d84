"""Scales, caps, sinks, growing queries, and heads of a width of their own."""

import math

import pytest
import torch
from layers import awake, close, close_in_gradients, in_parts

from posenc import encodings
from posenc.attention import Places, QueryScaling, Scoring, SelfAttention, kernels

D_MODEL, N_HEADS, LENGTH, BATCH = 16, 4, 12, 2
ALL = Scoring(
    scale=0.7, softcap=1.5, sinks=True, query_scaling=QueryScaling(beta=0.4, every=3, shift=1)
)
SCORINGS = {
    "scale": Scoring(scale=0.7),
    "softcap": Scoring(softcap=1.5),
    "sinks": Scoring(sinks=True),
    "query_scaling": Scoring(query_scaling=QueryScaling(beta=0.4, every=3, shift=1)),
    "smooth": Scoring(query_scaling=QueryScaling(beta=0.4, every=3, shift=1, smooth=True)),
    "all": ALL,
}
NAMES = ["none", "rotary", "alibi", "relative", "tupe", "erpe", "t5"]


def layer(name, scoring, d_head=None, **more):
    torch.manual_seed(3)
    made = encodings.make(name, N_HEADS * d_head if d_head else D_MODEL, N_HEADS, 300)
    more = {"causal": True, "scoring": scoring, "d_head": d_head} | more
    return awake(SelfAttention(D_MODEL, N_HEADS, made, **more))


def tokens(length=LENGTH):
    return torch.randn(BATCH, length, D_MODEL, dtype=torch.float64)


def by_hand(attention, x):
    """Return the weights of a causal layer, and its outputs, from the words of `Scoring`."""
    length, s = x.shape[1], attention.scoring
    q, k, v = (
        part.unflatten(-1, (N_HEADS, -1)).transpose(1, 2) for part in attention.qkv(x).chunk(3, -1)
    )
    q, k = attention.position.rotate(q, k)
    if s.query_scaling is not None:
        rule = s.query_scaling
        steps = [(t + rule.shift) / rule.every for t in range(length)]
        shares = [max(1, one) if rule.smooth else 1 + math.floor(one) for one in steps]
        growth = [1 + rule.beta * math.log(share) for share in shares]
        q = q * torch.tensor(growth, dtype=q.dtype)[:, None]
    scores = q @ k.mT * (q.shape[-1] ** -0.5 if s.scale is None else s.scale)
    if s.softcap is not None:
        scores = s.softcap * torch.tanh(scores / s.softcap)
    bias = attention.position.through("bias", Places.of(x, causal=True), x, q, k)
    scores = scores if bias is None else scores + bias
    later = torch.ones(length, length).triu(1).bool()
    weights = scores.masked_fill(later, -math.inf).exp()
    total = weights.sum(-1, keepdim=True)
    if s.sinks:
        total = total + attention.sinks.exp()[:, None, None]
    weights = weights / total
    mix = attention.position.mix(x)
    weights = weights if mix is None else weights + mix.masked_fill(later, 0)
    return weights, attention.out((weights @ v).transpose(1, 2).flatten(2))


def test_log_n_scaling_is_growth_without_steps():
    """As the first Qwen has it: log(i) to the base of n for i = t + 1 > n, else 1."""
    n = 7
    rule = QueryScaling(beta=1 / math.log(n), every=n, shift=1, smooth=True)
    published = [math.log(i, n) if i > n else 1.0 for i in range(1, 60)]
    close(rule.at(torch.arange(59)), torch.tensor(published, dtype=torch.float64), 1e-14)


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("name", NAMES)
def test_scores_are_those_that_the_settings_say(name, scoring):
    attention, x = layer(name, SCORINGS[scoring]), tokens()
    weights, outputs = by_hand(attention, x)
    close(attention.weights(x), weights, 1e-12)
    close(attention(x), outputs, 1e-12)


@pytest.mark.parametrize("name", ["none", "alibi", "t5"])
def test_long_inputs_and_their_gradients_are_those_of_the_weights(name):
    for scoring in (SCORINGS["sinks"], ALL):
        attention, x = layer(name, scoring), tokens(280)
        outputs, weights = attention(x), attention.weights(x)
        values = attention.qkv(x)[..., -D_MODEL:].unflatten(-1, (N_HEADS, -1)).transpose(1, 2)
        written = attention.out((weights @ values).transpose(1, 2).flatten(2))
        close(outputs, written, 1e-12)
        close_in_gradients(outputs, written, attention.parameters(), rtol=1e-9)


def test_the_plain_path_is_left_alone():
    q = torch.zeros(1, 2, 300, 8)
    assert kernels.choose(q, None, None, limited=True, dropout=0.0) == "fused"
    sinks = torch.zeros(2)
    assert kernels.choose(q, None, None, limited=True, dropout=0.0, sinks=sinks) == "sinks"
    chosen = kernels.choose(q, None, None, limited=True, dropout=0.0, sinks=sinks, softcap=1.0)
    assert chosen == "formula"
    attention = layer("none", None)
    assert attention.sinks is None
    assert "sinks" not in attention.state_dict()


def test_queries_grow_by_given_positions():
    attention, x = layer("none", SCORINGS["query_scaling"]), tokens()
    later = attention(x, positions=torch.arange(LENGTH) + 100)
    assert not torch.allclose(attention(x), later)
    close(attention(x), attention(x, positions=torch.arange(LENGTH)), 1e-12)
    assert torch.equal(
        QueryScaling(beta=1.0, every=4).at(torch.tensor([-9, 0, 3])),
        torch.ones(3, dtype=torch.float64),
    )


@pytest.mark.parametrize("scoring", SCORINGS)
def test_a_cache_and_padding_in_front(scoring):
    attention, x = layer("rotary", SCORINGS[scoring], n_kv_heads=2, window=5), tokens()
    close(in_parts(attention, x, range(1, LENGTH)), attention(x), 1e-12)
    padded = torch.cat((torch.full_like(x[:, :3], math.nan), x), 1)
    mask = torch.arange(LENGTH + 3).expand(BATCH, -1) >= 3
    places = (mask.cumsum(1) - 1).clamp(min=0)
    close(attention(padded, padding=mask, positions=places)[:, 3:], attention(x), 1e-12)


@pytest.mark.parametrize("name", ["rotary", "alibi", "relative", "deberta"])
@pytest.mark.parametrize("d_head", [6, 10])
def test_heads_of_a_width_of_their_own(name, d_head):
    attention, x = layer(name, None, d_head), tokens()
    assert attention.qkv.weight.shape == (3 * N_HEADS * d_head, D_MODEL)
    assert attention.out.weight.shape == (D_MODEL, N_HEADS * d_head)
    values = attention.qkv(x)[..., -N_HEADS * d_head :].unflatten(-1, (N_HEADS, -1))
    written = attention.weights(x) @ values.transpose(1, 2)
    close(attention(x), attention.out(written.transpose(1, 2).flatten(2)), 1e-12)


def test_a_width_that_is_the_usual_one_changes_nothing():
    x = tokens()
    assert torch.equal(layer("rotary", None)(x), layer("rotary", None, D_MODEL // N_HEADS)(x))


@pytest.mark.parametrize("name", ["rotary", "alibi", "sinusoidal", "tpe", "cope"])
def test_an_encoding_of_another_width_is_refused(name):
    width = {"sinusoidal": 40, "tpe": D_MODEL, "cope": 40}.get(name, D_MODEL)
    position = encodings.make(name, width, N_HEADS, LENGTH)
    with pytest.raises(ValueError, match=r"position must be made for|d_head must be d_model"):
        SelfAttention(D_MODEL, N_HEADS, position, d_head=10)


def test_settings_that_mean_nothing_are_named():
    with pytest.raises(ValueError, match="every must be a finite number above 0, got 0"):
        QueryScaling(beta=1, every=0)
    plane, growing = encodings.make("axial_rotary", 8, 1, 6), SCORINGS["query_scaling"]
    with pytest.raises(ValueError, match="query_scaling must be None with positions of several"):
        SelfAttention(8, 1, plane, scoring=growing)


def test_half_types_compile_and_transform():
    attention, x = layer("rotary", SCORINGS["sinks"]), tokens()
    each = torch.func.vmap(lambda one: attention(one[None])[0])(x)
    close(each, attention(x), 1e-12)
    rounded = attention.to(torch.bfloat16)(x.to(torch.bfloat16))
    assert rounded.dtype == torch.bfloat16
    assert torch.allclose(rounded.double(), each, atol=0.1)
