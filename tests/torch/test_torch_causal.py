"""Who sees whom: causal layers, masks of pairs, windows, and heads that share keys."""

# ruff: noqa: ARG001 - scores and masks take all their arguments

import math

import layers
import naive
import pytest
import torch
from layers import close, double

from posenc import encodings
from posenc.attention import Position, SelfAttention

D_MODEL, N_HEADS, D_HEAD, LENGTH, BATCH = 8, 2, 4, 9, 2
NAMES = [*encodings.names(), *encodings.names("modern")]  # others refuse causal layers


def layer(name, length=LENGTH, options=None, **more):
    return layers.layer(name, length=length, options=options, **more)


def tokens(length=LENGTH, batch=BATCH):
    return torch.randn(batch, length, D_MODEL, dtype=torch.float64)


def assert_layer(attention, x, mask=None, **reference):
    close(attention(x, mask), double(naive.self_attention(attention, x.tolist(), **reference)))


def before(b, i, j):
    return j <= i


# -- against the loops -----------------------------------------------------------------------------


def test_a_causal_layer_equals_the_loops():
    assert_layer(layer("none", causal=True), tokens(), looks=before)


@pytest.mark.parametrize("max_distance", [9, 20, 128])
@pytest.mark.parametrize("n_buckets", [4, 8, 12])
def test_t5_has_buckets_for_the_past_alone(n_buckets, max_distance):
    options = {"n_buckets": n_buckets, "max_distance": max_distance}
    ours = encodings.make("t5", 8, 2, 40, **options).bucket(torch.arange(-1000, 6), causal=True)
    expected = [naive.t5_causal_bucket(one, n_buckets, max_distance) for one in range(-1000, 6)]
    assert ours.tolist() == expected
    assert {ours.min().item(), ours.max().item()} == {0, n_buckets - 1}


def test_t5_names_a_distance_that_a_causal_layer_cannot_have():
    options = {"n_buckets": 8, "max_distance": 4}
    layer("t5", options=options)(tokens())
    message = "max_distance must be above n_buckets / 2 = 4 in a causal layer or with .*, got 4"
    with pytest.raises(ValueError, match=message):
        layer("t5", options=options, causal=True)  # when it is made
    with pytest.raises(ValueError, match=message):
        layer("t5", options=options).position.bucket(torch.arange(-3, 3), causal=True)
    with pytest.raises(ValueError, match=message):
        layer("t5", options=options | {"bidirectional": False})
    layer("t5", options=options | {"bidirectional": True}, causal=True)
    with pytest.raises(ValueError, match="bidirectional must be True or False, got 1"):
        layer("t5", options={"bidirectional": 1})


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_which_sides_t5_has_buckets_for_may_be_said(bidirectional, causal):
    options = {"n_buckets": 8, "max_distance": 9, "bidirectional": bidirectional}
    attention = layer("t5", 20, options, causal=causal)
    values = attention.position.values.tolist()
    bucket = naive.t5_bucket if bidirectional else naive.t5_causal_bucket

    def score(b, h, i, j, q, k):
        return naive.dot(q, k) / math.sqrt(D_HEAD) + values[h][bucket(j - i, 8, 9)]

    looks = before if causal else lambda b, i, j: True
    assert_layer(attention, tokens(20), score=score, looks=looks)


@pytest.mark.parametrize("length", [LENGTH, 260])
def test_scalars_behind_the_softmax_reach_the_past_alone(length):
    """Beyond 256 tokens they would be convolved, in a layer that looks both ways."""
    attention, x = layer("erpe", length, causal=True), tokens(length, 1)
    weights = attention.weights(x)
    assert not weights.triu(1).any()
    v = attention._project(x)[2]
    close(attention(x), attention.out((weights @ v).transpose(1, 2).flatten(2)))
    if length == LENGTH:
        scalars = attention.position.values.tolist()
        extra = lambda b, h, i, j: scalars[h][j - i + length - 1]  # noqa: E731
        assert_layer(attention, x, extra_weight=extra, looks=before)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("window", [1, 3, 20])
def test_a_window_equals_the_loops(causal, window):
    def looks(b, i, j):
        return abs(i - j) < window and (j <= i or not causal)

    assert_layer(layer("none", causal=causal, window=window), tokens(), looks=looks)


def test_a_window_goes_by_order_not_by_position():
    attention, x = layer("none", window=2), tokens()
    times = torch.rand(LENGTH).cumsum(0) * 100
    assert torch.equal(attention(x, positions=times), attention(x))


# -- what later tokens must not do -----------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [LENGTH, 260])
def test_the_forward_pass_is_that_of_the_weights(name, length):
    attention, x = layer(name, length, causal=True, window=5), tokens(length, 1)
    mask = torch.ones(1, length, dtype=torch.bool)
    mask[0, 2] = mask[0, -1] = False
    weights = attention.weights(x, mask)
    step = torch.arange(length)
    behind = step[:, None] - step
    never = (behind < 0) | (behind >= 5) | ~mask
    assert not weights[never.expand_as(weights)].any()
    v = attention._project(attention.position.embed(x))[2]
    heard = attention.position.deliver(weights @ attention.position.carry(v))
    close(attention(x, mask), attention.out(heard.transpose(1, 2).flatten(2)))


# -- masks of pairs --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["none", "rotary", "t5", "relative", "erpe", "tpe"])
@pytest.mark.parametrize("length", [LENGTH, 260])
def test_a_triangular_mask_is_causality_where_the_encoding_is_the_same(name, length):
    x = tokens(length)
    both, causal = layer(name, length), layer(name, length, causal=True)
    ones = torch.ones(length, length, dtype=torch.bool)
    triangle = ones.tril()
    if name != "t5":  # whose causal buckets are others
        close(both(x, triangle), causal(x))
    close(both(x, ones), both(x))
    close(causal(x, triangle), causal(x))


@pytest.mark.parametrize("own", [False, True])
def test_any_mask_of_pairs_equals_the_loops(own):
    attention = layer("none")
    mask = torch.rand(BATCH if own else 1, LENGTH, LENGTH) < 0.5
    mask |= torch.eye(LENGTH, dtype=torch.bool)
    looks = lambda b, i, j: mask[b if own else 0, i, j].item()  # noqa: E731
    x = tokens()
    assert_layer(attention, x, mask if own else mask[0], looks=looks)
    assert torch.equal(attention(x, mask), attention(x, mask if own else mask[0]))


# -- heads that share keys and values --------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "n_kv_heads"), [*((name, 2) for name in NAMES), ("rotary", 1), ("erpe", 1)]
)
def test_shared_keys_are_keys_written_several_times(name, n_kv_heads):
    shared = layers.layer(name, 16, 4, causal=True, n_kv_heads=n_kv_heads)
    whole = SelfAttention(16, 4, shared.position, causal=True).double().eval()
    weights = {k: v for k, v in shared.state_dict().items() if "qkv" not in k}
    for part in ("weight", "bias"):
        q, k, v = getattr(shared.qkv, part).split([16, 4 * n_kv_heads, 4 * n_kv_heads])
        each = [a.unflatten(0, (n_kv_heads, 4)) for a in (k, v)]
        repeated = [a.repeat_interleave(4 // n_kv_heads, 0).flatten(0, 1) for a in each]
        weights[f"qkv.{part}"] = torch.cat((q, *repeated))
    whole.load_state_dict(weights)
    x = torch.randn(2, 12, 16, dtype=torch.float64)
    close(shared(x), whole(x))
    assert sum(p.numel() for p in shared.qkv.parameters()) == 17 * (16 + 8 * n_kv_heads)


def test_each_shared_map_starts_at_its_own_uniform_distribution():
    attention = SelfAttention(64, 8, encodings.make("none", 64, 8, 5), n_kv_heads=2)
    q, k, v = attention.qkv.weight.split([64, 16, 16])
    for part, rows in ((q, 64), (k, 16), (v, 16)):
        bound = math.sqrt(6 / (64 + rows))
        assert 0.95 * bound < part.abs().max() <= bound


# -- errors, transforms ----------------------------------------------------------------------------


@pytest.mark.parametrize("n_kv_heads", [3, 8])
def test_heads_that_cannot_be_shared_are_named(n_kv_heads):
    with pytest.raises(ValueError, match=f"n_kv_heads must divide n_heads = 4, got {n_kv_heads}"):
        SelfAttention(8, 4, Position(8, 4, 5), n_kv_heads=n_kv_heads)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["none", "rotary", "t5", "relative", "erpe"])
def test_causal_layers_compile(name):
    torch.compiler.reset()
    attention, x = layer(name, causal=True, n_kv_heads=1), tokens()
    compiled = torch.compile(attention, backend="aot_eager", fullgraph=True)
    close(compiled(x), attention(x))
