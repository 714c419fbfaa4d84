"""Latent attention: position in dimensions of its own, and a cache of latents."""

import math

import pytest
import torch
from layers import awake, close, close_in_gradients, in_parts
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
    return awake(attention).to(dtype)


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
    close(attention.weights(x), weights, 1e-12)
    close(attention(x), outputs, 1e-12)


@pytest.mark.parametrize("name", ["rotary", "alibi", "relative"])
def test_long_inputs_and_their_gradients(name):
    attention, x = layer(name), tokens(270)
    written = by_hand(attention, x)[1]
    close_in_gradients(attention(x), written, attention.parameters(), rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_cache_keeps_latents_and_gives_what_the_whole_gives(name):
    attention, x, cache = layer(name), tokens(), Cache()
    close(in_parts(attention, x, (4, 5), cache), attention(x), 1e-12)
    kept = cache._kept
    assert kept.keys.shape[1] == kept.values.shape[1] == 1
    assert kept.keys[0, :, 0].numel() + kept.values[0, :, 0].numel() == SIZES.kept
    cache.crop(5)
    cache.reorder([1, 1])
    close(attention(x[[1, 1], 5:], cache=cache), attention(x)[[1, 1], 5:], 1e-12)


def test_scoring_windows_and_padding_in_front():
    scoring = Scoring(
        scale=0.4, softcap=2.0, sinks=True, query_scaling=QueryScaling(beta=0.3, every=2)
    )
    attention, x = layer(scoring=scoring, window=4), tokens()
    assert attention.scale == 0.4
    padded = torch.cat((torch.full_like(x[:, :3], math.nan), x), 1)
    mask = torch.arange(LENGTH + 3).expand(BATCH, -1) >= 3
    places = (mask.cumsum(1) - 1).clamp(min=0)
    parts = in_parts(attention, padded, (6,), padding=mask, positions=places)
    close(parts[:, 3:], attention(x), 1e-12)


def test_half_types_and_starts():
    attention, x = layer(dtype=torch.bfloat16), tokens()
    assert torch.allclose(attention(x.bfloat16()).double(), layer()(x), atol=0.5, rtol=0.2)
    attention.reset_parameters()
    assert all((m.weight == 1).all() for m in attention.modules() if isinstance(m, nn.RMSNorm))
    with pytest.raises(ValueError, match=r"x must be torch.bfloat16 as the layer is"):
        attention(x)


def test_an_encoding_of_another_width_is_named():
    position = encodings.make("rotary", D_MODEL, 5, 5)
    with pytest.raises(ValueError, match="position must be made for d_model = 16 and n_heads = 4"):
        LatentAttention(D_MODEL, 4, position, SIZES)
