"""The fifth door: values that turn by their place, and what a token gets, by the query's."""

import itertools
import math

import numpy as np
import pytest
import torch
from layers import close, close_in_gradients, in_parts
from torch import Tensor, nn

from posenc import encodings, frequencies
from posenc.attention import (
    Cache,
    CrossAttention,
    LatentAttention,
    LatentSizes,
    Places,
    Position,
    Scoring,
    SelfAttention,
    rope,
)
from posenc.testing import check_encoding

D_MODEL, N_HEADS, LENGTH, BATCH = 24, 3, 11, 2
D_HEAD = D_MODEL // N_HEADS
KINDS = {
    "rove": ("rove", {}),
    "values alone": ("rove", {"scores": False}),
    "half": ("rove", {"pairing": "half"}),
    "a part": ("rotary", {"values": True, "share": 0.5, "first": 2}),
    "backwards": ("rotary", {"values": True, "direction": -1}),
    "yarn": ("rotary", {"values": True, "scaling": "yarn", "factor": 4.0, "original_length": 16}),
}
GRIDS = {
    "axial": ("axial_rotary", {"values": True}),
    "mixed": ("axial_rotary", {"values": True, "axes": "mixed"}),
    "of parts": ("axial_rotary", {"values": True, "pairing": "half_of_parts"}),
    "mrope": ("mrope", {"values": True, "sections": (2, 2)}),
}


def layer(kind="rove", cls=SelfAttention, **more):
    name, options = {**KINDS, **GRIDS}.get(kind, (kind, {}))
    torch.manual_seed(1)
    position = encodings.make(name, D_MODEL, N_HEADS, 64, **options)
    return cls(D_MODEL, N_HEADS, position, **more).double().eval()


def tokens(length=LENGTH):
    return torch.randn(BATCH, length, D_MODEL, generator=torch.Generator().manual_seed(2)).double()


def matrix(t, omega, pairing="interleaved", first=0):
    """Return the rotation of a head by the place t, written out as a matrix."""
    whole, n = np.eye(D_HEAD), len(omega)
    for i, w in enumerate(omega):
        a, b = (2 * i, 2 * i + 1) if pairing == "interleaved" else (i, i + n)
        turn = [[math.cos(t * w), -math.sin(t * w)], [math.sin(t * w), math.cos(t * w)]]
        whole[np.ix_([first + a, first + b], [first + a, first + b])] = turn
    return torch.tensor(whole)


def by_offset(attention, x, t):
    """Return sum_j A_ij R(t_j - t_i) v_j by the formula of RoVE, one matrix a pair of tokens."""
    position, weights = attention.position, attention.weights(x, positions=t)
    v = attention._in_heads(x)[2]
    v = v.repeat_interleave(N_HEADS // v.shape[1], 1)
    out = torch.zeros(BATCH, N_HEADS, len(t), D_HEAD).double()
    for i, j in itertools.product(range(len(t)), repeat=2):
        turned = matrix(float(t[j] - t[i]), position.omega, position.pairing, position.first)
        out[:, :, i] += weights[:, :, i, j, None] * (v[:, :, j] @ turned.T)
    return attention.out(out.transpose(1, 2).flatten(2))


@pytest.mark.parametrize("t", [torch.arange(LENGTH), torch.rand(LENGTH).double().cumsum(0) * 9])
@pytest.mark.parametrize("options", [{}, {"causal": True}, {"n_kv_heads": 1}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_each_value_is_turned_by_its_offset(kind, options, t):
    attention, x = layer(kind, **options), tokens()
    expected = by_offset(attention, x, t)
    close(attention(x, positions=t), expected, 1e-12)
    if not t.is_floating_point():
        close(attention(x), expected, 1e-12)


def test_without_the_turn_back_the_place_of_the_text_shows():
    position = encodings.make("rotary", D_MODEL, N_HEADS, 64, values=True, back=False)
    attention, x, t = SelfAttention(D_MODEL, N_HEADS, position).double(), tokens(), torch.arange(11)
    moved = attention(x, positions=t + 1000) - attention(x, positions=t)
    assert moved.abs().max() > 0.1
    assert not position.is_closed("carry")
    assert position.is_closed("deliver")


@pytest.mark.parametrize("kind", GRIDS)
def test_on_a_grid_only_offsets_along_both_axes_count(kind):
    attention, x = layer(kind), tokens(12)
    grid = torch.cartesian_prod(torch.arange(3), torch.arange(4)).double()
    moved = attention(x, positions=grid + torch.tensor([40.0, -700.0]))
    close(attention(x, positions=grid), moved, 1e-12)
    plain = layer(kind)
    plain.position._on_request = type(plain.position)._on_request
    assert not torch.allclose(attention(x, positions=grid), plain(x, positions=grid), atol=1e-3)
    rose = tokens(1).expand(-1, 12, -1)
    other = attention(rose, positions=2 * grid).mean(1) - attention(rose, positions=grid).mean(1)
    assert other.abs().max() > 1e-4


def test_a_context_is_turned_by_its_places_and_the_sum_by_the_querys():
    attention, x = layer(cls=CrossAttention), tokens()
    t, t_context = torch.arange(3) * 2.5, torch.arange(LENGTH)
    out = attention(x[:, :3], x, positions=t, context_positions=t_context)
    weights = attention.weights(x[:, :3], x, positions=t, context_positions=t_context)
    omega = attention.position.omega
    v = attention._in_heads(attention.key_value(x).chunk(2, -1)[1])
    sums = rope(weights @ rope(v, t_context, omega), t, omega, inverse=True)
    close(out, attention.out(sums.transpose(1, 2).flatten(2)), 1e-12)
    close(out, attention(x[:, :3], x, positions=t + 77, context_positions=t_context + 77), 1e-12)


def test_long_inputs_and_their_gradients():
    attention, x = layer(causal=True), tokens(300)
    out = attention(x)
    q, k, v = attention._project(x)
    omega, t = attention.position.omega, torch.arange(300)
    scores = (q @ k.mT / math.sqrt(D_HEAD)).masked_fill(torch.ones(300, 300).triu(1).bool(), -1e9)
    sums = rope(scores.softmax(-1) @ rope(v, t, omega), -t, omega)
    expected = attention.out(sums.transpose(1, 2).flatten(2))
    close(out, expected, 1e-12)
    close_in_gradients(out, expected, attention.parameters(), rtol=1e-9)


def test_the_turn_back_undoes_the_turn():
    x, t, omega = tokens(), torch.arange(LENGTH) * 0.7, frequencies.geometric(D_MODEL)
    for pairing in ("interleaved", "half"):
        turned = rope(x, t, omega, pairing)
        close(rope(turned, t, omega, pairing, inverse=True), x, 1e-14)
        assert torch.equal(rope(x, t, omega, pairing, inverse=True), rope(x, -t, omega, pairing))
    with pytest.raises(ValueError, match="inverse must be True or False, got 'yes'"):
        rope(x, t, omega, inverse="yes")


def test_the_encoding_keeps_its_promises():
    promises = {"relative": True, "real_times": True, "padding": "both", "dtypes": "bfloat16"}
    check_encoding(encodings.RoVE, **promises).raise_for_failures()


# --- one latent row is key and value

SIZES = LatentSizes(d_plain=6, d_position=4, q_rank=8)


def latent(position=None, **more):
    torch.manual_seed(3)
    position = position or encodings.make("rove", N_HEADS * SIZES.d_position, N_HEADS, 64)
    return LatentAttention(D_MODEL, N_HEADS, position, SIZES, causal=True, **more).double().eval()


def deepseek_v4(attention: LatentAttention, x: Tensor, window: int, sinks: Tensor) -> Tensor:
    """Return a sliding layer of DeepSeek-V4, from the formulas of transformers' class.

    Queries of each head are normed, one normed row is key and value, the last dimensions turn in
    pairs (2i, 2i + 1), sinks stand beside the scores, and what a token gets is turned back.
    """
    s, length = SIZES, x.shape[1]
    q = attention.query(attention.query_norm(attention.query_down(x)))
    q = q.unflatten(-1, (N_HEADS, s.d_score)).transpose(1, 2)
    row = attention.key_value_norm(attention.key_value_down(x))[:, None]
    angle = torch.arange(length)[:, None] * torch.tensor(frequencies.geometric(s.d_position))
    turns = torch.polar(torch.ones_like(angle), angle)

    def turn(x, turns):
        still, moving = x[..., : s.d_plain], x[..., s.d_plain :]
        pairs = torch.view_as_complex(moving.unflatten(-1, (-1, 2)).contiguous())
        return torch.cat((still, torch.view_as_real(pairs * turns).flatten(-2)), -1)

    q, row = turn(q, turns), turn(row, turns)
    near = torch.ones(length, length).tril().triu(1 - window).bool()
    scores = (q @ row.mT / math.sqrt(s.d_score)).masked_fill(~near, -torch.inf)
    sink = sinks[:, None, None].expand(len(x), -1, length, 1)
    weights = torch.cat((scores, sink), -1).softmax(-1)[..., :-1]
    out = turn(weights @ row, turns.conj())
    return attention.out(out.transpose(1, 2).flatten(2))


def with_head_norm(attention: LatentAttention) -> LatentAttention:
    """Let each head's queries be normed, as in DeepSeek-V4."""
    norm = nn.Sequential(
        nn.Unflatten(-1, (N_HEADS, SIZES.d_score)),
        nn.RMSNorm(SIZES.d_score, eps=1e-6, elementwise_affine=False),
        nn.Flatten(-2),
    )
    attention.query = nn.Sequential(attention.query, norm)
    return attention


def test_a_shared_row_is_that_of_deepseek_v4():
    attention, x = with_head_norm(latent(window=5, scoring=Scoring(sinks=True))), tokens()
    with torch.no_grad():
        attention.sinks.copy_(torch.tensor([0.5, -1.0, 2.0]))
    close(attention(x), deepseek_v4(attention, x, 5, attention.sinks), 1e-12)


def test_a_shared_row_is_kept_once_moved_freely_and_counts():
    attention, x, t = latent(), tokens(), torch.arange(LENGTH)
    assert SIZES.kept == SIZES.d_score == SIZES.d_out == 10
    assert not hasattr(attention, "key_value")
    cache = Cache()
    with torch.no_grad():
        steps = in_parts(attention, x, range(1, LENGTH), cache)
    whole = attention(x)
    close(steps, whole, 1e-12)
    held = cache._kept.keys.numel() + cache._kept.values.numel()
    assert held == BATCH * LENGTH * SIZES.kept
    assert (attention(x, positions=t + 1000) - whole).abs().max() < 1e-12
    five, nine = (attention(tokens(1).expand(-1, n, -1)).mean(1) for n in (5, 9))
    assert (five - nine).abs().max() > 1e-3


def test_a_shared_row_asks_for_the_turn_back_and_latents_for_none():
    plain = encodings.make("rotary", N_HEADS * 4, N_HEADS, 64)
    with pytest.raises(ValueError, match=r"turn values as it turns keys.*RoVE.*got Rotary"):
        latent(plain)
    half_way = encodings.make("rotary", N_HEADS * 4, N_HEADS, 64, values=True, back=False)
    with pytest.raises(ValueError, match=r"turn values as it turns keys.*got Rotary"):
        latent(half_way)
    assert latent(encodings.make("alibi", N_HEADS * 4, N_HEADS, 64))(tokens()).isfinite().all()
    sizes = LatentSizes(kv_rank=6, d_plain=5, d_position=4, d_value=7)
    with pytest.raises(ValueError, match=r"leave values alone.*RoVE.*kv_rank and d_value"):
        LatentAttention(D_MODEL, N_HEADS, encodings.make("rove", N_HEADS * 4, N_HEADS, 64), sizes)
    with pytest.raises(ValueError, match="kv_rank and d_value must both be given, or neither"):
        LatentSizes(d_plain=5, d_position=4, d_value=7)


# --- a reader's own message


class Marked(Position):
    """Adds the place to values, and takes the query's away."""

    def carry(self, v, places):
        return v + places.keys[:, None, :, None]

    def deliver(self, out, places):
        return out - places.queries[:, None, :, None]


def test_a_readers_own_message_takes_two_lines_each():
    position = Marked(D_MODEL, N_HEADS, 64)
    assert Marked.doors() == ("carry", "deliver")
    attention, x, t = SelfAttention(D_MODEL, N_HEADS, position).double(), tokens(), torch.arange(11)
    weights, v = attention.weights(x), attention._in_heads(x)[2]
    offset = (weights * (t - t[:, None])).sum(-1, keepdim=True)  # rows of weights sum to 1
    close(attention(x), attention.out((weights @ v + offset).transpose(1, 2).flatten(2)), 1e-12)


def test_who_derives_from_rotary_and_writes_a_wing_gets_it_open():
    mine = type("Mine", (encodings.Rotary,), {"carry": lambda self, v, places=None: 2 * v})
    assert mine.doors() == ("rotate", "carry")
    one, other = mine(D_MODEL, N_HEADS, 9), encodings.Rotary(D_MODEL, N_HEADS, 9)
    assert not one.is_closed("carry")
    assert one.is_closed("deliver")
    assert other.is_closed("carry")
    assert other.is_closed("deliver")


@pytest.mark.parametrize("door", ["carry", "deliver"])
def test_a_wing_that_changes_the_shape_is_named(door):
    methods = {door: lambda self, x, places=None: x[..., :-1]}
    position = type("Mine", (Position,), methods)(D_MODEL, N_HEADS, 64)
    with pytest.raises(ValueError, match=rf"Mine\.{door} must return a tensor of the shape"):
        SelfAttention(D_MODEL, N_HEADS, position).double()(tokens())


def test_a_turn_back_without_a_turn_is_refused():
    with pytest.raises(ValueError, match="back must be True where values do not turn, got False"):
        encodings.make("rotary", D_MODEL, N_HEADS, 64, back=False)
    x = torch.zeros(1, N_HEADS, 5, D_HEAD)
    with pytest.raises(ValueError, match="positions must be given, with n_axes = 2"):
        layer("axial").position.carry(x, places=Places.of(x))


@pytest.mark.parametrize("name", ["rotary", "mrope", "axial_rotary"])
def test_a_message_that_is_not_asked_for_passes_as_it_came(name):
    position = encodings.make(name, 48, 4, 64)
    v = torch.randn(2, 4, 9, 12)
    assert torch.equal(position.carry(v), v)
    assert torch.equal(position.deliver(v), v)
