"""Latent attention: position in dimensions of its own, and a cache of latents."""

import math

import pytest
import torch
from torch import nn

from posenc import encodings
from posenc.attention import Cache, LatentAttention, LatentSizes, Places, QueryScaling, Scoring

D_MODEL, N_HEADS, LENGTH, BATCH = 20, 3, 11, 2
SIZES = LatentSizes(kv_rank=6, d_plain=5, d_position=4, d_value=7, q_rank=8)
NAMES = ["none", "rotary", "alibi", "relative", "t5", "tupe", "erpe", "xpos"]


def layer(name="rotary", sizes=SIZES, dtype=torch.float64, **more):
    torch.manual_seed(3)
    made = encodings.make(name, N_HEADS * sizes.d_position, N_HEADS, 300)
    attention = LatentAttention(D_MODEL, N_HEADS, made, sizes, **{"causal": True} | more)
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return attention.to(dtype).eval()


def tokens(length=LENGTH):
    return torch.randn(BATCH, length, D_MODEL, dtype=torch.float64)


def normed(x, norm):
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * norm.weight


def by_hand(attention, x):
    """Return the outputs of a causal layer, from the formulas of DeepSeek-V2's section 2.1."""
    s, length = attention.sizes, x.shape[1]
    c_q = x if s.q_rank is None else normed(attention.query_down(x), attention.query_norm)
    q = attention.query(c_q).view(BATCH, length, N_HEADS, s.d_score).transpose(1, 2)
    both = attention.key_value_down(x)
    c_kv, k_r = normed(both[..., : s.kv_rank], attention.key_value_norm), both[..., s.kv_rank :]
    k_v = attention.key_value(c_kv).view(BATCH, length, N_HEADS, -1).transpose(1, 2)
    k_c, v = k_v[..., : s.d_plain], k_v[..., s.d_plain :]
    shared = k_r[:, None].expand(-1, N_HEADS, -1, -1)
    q_r, k_r = attention.position.rotate(q[..., s.d_plain :], shared)
    scores = (q[..., : s.d_plain] @ k_c.mT + q_r @ k_r.mT) * s.d_score**-0.5
    bias = attention.position.through("bias", Places.of(x, causal=True), x, q_r, k_r)
    scores = scores if bias is None else scores + bias
    later = torch.ones(length, length).triu(1).bool()
    weights = scores.masked_fill(later, -math.inf).softmax(-1)
    mix = attention.position.mix(x)
    weights = weights if mix is None else weights + mix.masked_fill(later, 0)
    return weights, attention.out((weights @ v).transpose(1, 2).flatten(2))


@pytest.mark.parametrize("q_rank", [None, 8])
@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_the_formulas(name, q_rank):
    sizes = LatentSizes(kv_rank=6, d_plain=5, d_position=4, d_value=7, q_rank=q_rank)
    attention, x = layer(name, sizes), tokens()
    weights, outputs = by_hand(attention, x)
    assert torch.allclose(attention.weights(x), weights, atol=1e-12)
    assert torch.allclose(attention(x), outputs, atol=1e-12)


@pytest.mark.parametrize("name", ["rotary", "alibi", "relative"])
def test_long_inputs_and_their_gradients(name):
    attention, x = layer(name), tokens(270)
    found = []
    for outputs in (attention(x), by_hand(attention, x)[1]):
        found.append([outputs, *torch.autograd.grad(outputs.sum(), list(attention.parameters()))])
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_cache_keeps_latents_and_gives_what_the_whole_gives(name):
    attention, x, cache = layer(name), tokens(), Cache()
    parts = [attention(x[:, a:b], cache=cache) for a, b in ((0, 4), (4, 5), (5, LENGTH))]
    assert torch.allclose(torch.cat(parts, 1), attention(x), atol=1e-12)
    kept = cache._kept
    assert kept.keys.shape[1] == kept.values.shape[1] == 1
    assert kept.keys[0, :, 0].numel() + kept.values[0, :, 0].numel() == SIZES.kept
    cache.crop(5)
    cache.reorder([1, 1])
    again = attention(x[[1, 1], 5:], cache=cache)
    assert torch.allclose(again, attention(x)[[1, 1], 5:], atol=1e-12)


def test_scoring_windows_and_padding_in_front():
    scoring = Scoring(
        scale=0.4, softcap=2.0, sinks=True, query_scaling=QueryScaling(beta=0.3, every=2)
    )
    attention, x = layer(scoring=scoring, window=4), tokens()
    assert attention.scale == 0.4
    padded = torch.cat((torch.full_like(x[:, :3], math.nan), x), 1)
    mask = torch.arange(LENGTH + 3).expand(BATCH, -1) >= 3
    places = (mask.cumsum(1) - 1).clamp(min=0)
    cache = Cache()
    parts = [
        attention(padded[:, a:b], padding=mask[:, a:b], positions=places[:, a:b], cache=cache)
        for a, b in ((0, 6), (6, LENGTH + 3))
    ]
    assert torch.allclose(torch.cat(parts, 1)[:, 3:], attention(x), atol=1e-12)


def test_the_plain_dimensions_can_be_absorbed_and_those_that_turn_cannot():
    """Queries may meet latents directly where no turn of the key's place stands between."""
    s, attention, x = SIZES, layer(), tokens()
    q, _, latent = attention._project(x)
    up = attention.key_value.weight.view(N_HEADS, s.d_plain + s.d_value, s.kv_rank)[:, : s.d_plain]
    absorbed = (q[..., : s.d_plain] @ up) @ latent.mT
    k, _ = attention._in_all_heads(torch.zeros(BATCH, 1, LENGTH, s.d_position).double(), latent)
    assert torch.allclose(absorbed, q[..., : s.d_plain] @ k[..., : s.d_plain].mT, atol=1e-12)


def test_parameters_are_as_many_as_the_notes_say():
    for s in (SIZES, LatentSizes(kv_rank=6, d_plain=5, d_position=4, d_value=7)):
        n = sum(p.numel() for p in layer(sizes=s).parameters())
        keys = D_MODEL * s.kept + s.kv_rank * (1 + N_HEADS * (s.d_plain + s.d_value))
        outputs = N_HEADS * s.d_value * D_MODEL
        queries = N_HEADS * s.d_score * D_MODEL
        if s.q_rank is not None:
            queries = s.q_rank * (1 + D_MODEL + N_HEADS * s.d_score)
        assert n == keys + outputs + queries


def test_half_types_and_starts():
    attention = layer(dtype=torch.bfloat16)
    x = tokens()
    assert torch.allclose(attention(x.bfloat16()).double(), layer()(x), atol=0.5, rtol=0.2)
    attention.reset_parameters()
    assert all((m.weight == 1).all() for m in attention.modules() if isinstance(m, nn.RMSNorm))
    with pytest.raises(ValueError, match=r"x must be torch.bfloat16 as the layer is"):
        attention(x)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LatentSizes(kv_rank=0, d_plain=1, d_position=1, d_value=1), "kv_rank must be an"),
        (
            lambda: LatentSizes(kv_rank=1, d_plain=1, d_position=1, d_value=1, q_rank=-1),
            "q_rank must be an integer of at least 1, got -1",
        ),
        (
            lambda: LatentAttention(8, 2, encodings.make("rotary", 8, 2, 5), 4),
            "sizes must be a posenc.attention.LatentSizes, got 4",
        ),
        (
            lambda: LatentAttention(D_MODEL, 4, encodings.make("rotary", D_MODEL, 5, 5), SIZES),
            "position must be made for d_model = 16 and n_heads = 4",
        ),
    ],
)
def test_what_does_not_fit_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
