"""Who sees whom: causal layers, masks of pairs, windows, and heads that share keys."""

# ruff: noqa: ARG001 - scores and masks take all their arguments

import math

import naive
import pytest
import torch
from torch.func import functional_call, stack_module_state, vmap

from posenc import encodings
from posenc.attention import Position, SelfAttention

D_MODEL, N_HEADS, D_HEAD, LENGTH, BATCH = 8, 2, 4, 9, 2
TOLERANCE = {"rtol": 0, "atol": 1e-9}
NAMES = [*encodings.names(), *encodings.names("modern")]  # others refuse causal layers


def layer(name, length=LENGTH, options=None, **more):
    """Return a layer in float64, all parameters away from special values."""
    torch.manual_seed(3)
    position = encodings.make(name, D_MODEL, N_HEADS, length, **(options or {}))
    attention = SelfAttention(D_MODEL, N_HEADS, position, **more).double()
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return attention.eval()


def tokens(length=LENGTH, batch=BATCH):
    return torch.randn(batch, length, D_MODEL, dtype=torch.float64)


def double(values):
    return torch.tensor(values, dtype=torch.float64)


def assert_layer(attention, x, mask=None, **reference):
    expected = double(naive.self_attention(attention, x.tolist(), **reference))
    torch.testing.assert_close(attention(x, mask), expected, **TOLERANCE)


def before(b, i, j):
    return j <= i


# -- against the loops -----------------------------------------------------------------------------


def test_a_causal_layer_equals_the_loops():
    assert_layer(layer("none", causal=True), tokens(), looks=before)


@pytest.mark.parametrize("max_distance", [9, 20, 128])
@pytest.mark.parametrize("n_buckets", [4, 8, 12])
def test_t5_has_buckets_for_the_past_alone(n_buckets, max_distance):
    options = {"n_buckets": n_buckets, "max_distance": max_distance}
    attention = layer("t5", 40, options, causal=True)
    values = attention.position.values.tolist()

    def bucket(offset):
        return naive.t5_causal_bucket(offset, n_buckets, max_distance)

    def score(b, h, i, j, q, k):
        return naive.dot(q, k) / math.sqrt(D_HEAD) + values[h][bucket(j - i)]

    assert_layer(attention, tokens(25), score=score, looks=before)
    offsets = torch.arange(-1000, 6)
    ours = attention.position.bucket(offsets, causal=True)
    assert ours.tolist() == [bucket(offset) for offset in offsets.tolist()]
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


def test_alibi_penalises_the_past():
    attention = layer("alibi", causal=True)

    def score(b, h, i, j, q, k):
        return naive.dot(q, k) / math.sqrt(D_HEAD) - 2.0 ** (-4 * (h + 1)) * (i - j)

    assert_layer(attention, tokens(), score=score, looks=before)


@pytest.mark.parametrize("values", [False, True])
def test_shaw_in_a_causal_layer(values):
    attention = layer("relative", options={"max_distance": 3, "values": values}, causal=True)
    keys = attention.position.keys[0].tolist()
    vectors = attention.position.values[0].tolist() if values else None

    def row(i, j):
        return max(-3, min(3, j - i)) + 3

    def score(b, h, i, j, q, k):
        return (naive.dot(q, k) + naive.dot(q, keys[row(i, j)])) / math.sqrt(D_HEAD)

    extra = (lambda i, j: vectors[row(i, j)]) if values else None
    assert_layer(attention, tokens(), score=score, extra_value=extra, looks=before)


@pytest.mark.parametrize("length", [LENGTH, 260])
def test_scalars_behind_the_softmax_reach_the_past_alone(length):
    """Beyond 256 tokens they would be convolved, in a layer that looks both ways."""
    attention = layer("erpe", length, causal=True)
    x = tokens(length, 1)
    weights = attention.weights(x)
    assert not weights.triu(1).any()
    v = attention._project(x)[2]
    expected = attention.out((weights @ v).transpose(1, 2).flatten(2))
    torch.testing.assert_close(attention(x), expected, **TOLERANCE)
    if length == LENGTH:
        scalars = attention.position.values.tolist()
        extra = lambda h, i, j: scalars[h][j - i + length - 1]  # noqa: E731
        assert_layer(attention, x, extra_weight=extra, looks=before)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("window", [1, 3, 20])
def test_a_window_equals_the_loops(causal, window):
    def looks(b, i, j):
        return abs(i - j) < window and (j <= i or not causal)

    assert_layer(layer("none", causal=causal, window=window), tokens(), looks=looks)


def test_a_window_goes_by_order_not_by_position():
    attention = layer("none", window=2)
    x = tokens()
    times = torch.rand(LENGTH).cumsum(0) * 100
    assert torch.equal(attention(x, positions=times), attention(x))


# -- what later tokens must not do -----------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_later_tokens_change_nothing_where_layers_that_look_both_ways_have_blocks(name):
    length = 260
    attention = layer(name, length, causal=True)
    x = tokens(length)
    other = x.clone()
    other[:, length // 2 :] = torch.randn_like(other[:, length // 2 :]) * 50
    early, same = attention(x)[:, : length // 2], attention(other)[:, : length // 2]
    torch.testing.assert_close(early, same, **TOLERANCE)
    assert not torch.allclose(attention(x), attention(other))
    # and a shorter input is the beginning of a longer one
    alone = attention(x[:, : length // 2])
    torch.testing.assert_close(early, alone, **TOLERANCE)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [LENGTH, 260])
def test_the_forward_pass_is_that_of_the_weights(name, length):
    attention = layer(name, length, causal=True, window=5)
    x = tokens(length, 1)
    mask = torch.ones(1, length, dtype=torch.bool)
    mask[0, 2] = mask[0, -1] = False
    weights = attention.weights(x, mask)
    step = torch.arange(length)
    behind = step[:, None] - step
    never = (behind < 0) | (behind >= 5) | ~mask
    assert not weights[never.expand_as(weights)].any()
    v = attention._project(_embedded(attention, x))[2]
    heard = attention.position.deliver(weights @ attention.position.carry(v))
    expected = attention.out(heard.transpose(1, 2).flatten(2))
    torch.testing.assert_close(attention(x, mask), expected, **TOLERANCE)


def _embedded(attention, x):
    return attention.position.embed(x)


# -- masks of pairs --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["none", "rotary", "t5", "relative", "erpe", "tpe"])
@pytest.mark.parametrize("length", [LENGTH, 260])
def test_a_triangular_mask_is_causality_where_the_encoding_is_the_same(name, length):
    x = tokens(length)
    both, causal = layer(name, length), layer(name, length, causal=True)
    ones = torch.ones(length, length, dtype=torch.bool)
    triangle = ones.tril()
    if name != "t5":  # whose causal buckets are others
        torch.testing.assert_close(both(x, triangle), causal(x), **TOLERANCE)
    torch.testing.assert_close(both(x, ones), both(x), **TOLERANCE)
    torch.testing.assert_close(causal(x, triangle), causal(x), **TOLERANCE)


@pytest.mark.parametrize("own", [False, True])
def test_any_mask_of_pairs_equals_the_loops(own):
    attention = layer("none")
    mask = torch.rand(BATCH if own else 1, LENGTH, LENGTH) < 0.5
    mask |= torch.eye(LENGTH, dtype=torch.bool)
    looks = lambda b, i, j: mask[b if own else 0, i, j].item()  # noqa: E731
    x = tokens()
    assert_layer(attention, x, mask if own else mask[0], looks=looks)
    assert torch.equal(attention(x, mask), attention(x, mask if own else mask[0]))


def test_a_square_mask_is_what_it_is_called():
    attention = layer("none")
    x = tokens(4, 4)
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    expected = naive.self_attention(attention, x.tolist(), real=mask.tolist())
    torch.testing.assert_close(attention(x, padding=mask), double(expected), **TOLERANCE)
    pairs = naive.self_attention(attention, x.tolist(), looks=before)
    torch.testing.assert_close(attention(x, pairs=mask), double(pairs), **TOLERANCE)
    torch.testing.assert_close(attention(x, mask[None]), double(pairs), **TOLERANCE)


def test_padding_in_a_causal_layer():
    attention = layer("none", causal=True)
    mask = torch.tensor([[0, 0, 1, 1, 1, 1, 0, 1, 1], [1] * 9]).bool()
    x = tokens().where(mask[..., None], math.nan)
    out = attention(x, mask)
    assert out[mask].isfinite().all()
    real = mask.tolist()  # a padded query looks anywhere, as its row means nothing
    looks = lambda b, i, j: j <= i and (real[b][j] or not real[b][i])  # noqa: E731
    expected = naive.self_attention(attention, x.nan_to_num(0.0).tolist(), looks=looks)
    torch.testing.assert_close(out[mask], double(expected)[mask], **TOLERANCE)


@pytest.mark.parametrize("shape", [(LENGTH,), (LENGTH, 3), (3, LENGTH, LENGTH), (2, 2, 2, 2)])
def test_a_mask_of_another_shape_is_named(shape):
    with pytest.raises(
        ValueError, match=r"mask must have shape \(queries, keys\) = \(9, 9\) .*got"
    ):
        layer("none")(tokens(), torch.ones(shape, dtype=torch.bool))


# -- heads that share keys and values --------------------------------------------------------------


def grouped(name, n_kv_heads, n_heads=4, **options):
    torch.manual_seed(4)
    position = encodings.make(name, 16, n_heads, 12, **options)
    shared = SelfAttention(16, n_heads, position, causal=True, n_kv_heads=n_kv_heads).double()
    with torch.no_grad():
        for parameter in shared.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return shared.eval()


@pytest.mark.parametrize(
    ("name", "n_kv_heads"), [*((name, 2) for name in NAMES), ("rotary", 1), ("erpe", 1)]
)
def test_shared_keys_are_keys_written_several_times(name, n_kv_heads):
    shared = grouped(name, n_kv_heads)
    whole = SelfAttention(16, 4, shared.position, causal=True).double().eval()
    weights = {k: v for k, v in shared.state_dict().items() if "qkv" not in k}
    for part in ("weight", "bias"):
        q, k, v = getattr(shared.qkv, part).split([16, 4 * n_kv_heads, 4 * n_kv_heads])
        each = [a.unflatten(0, (n_kv_heads, 4)) for a in (k, v)]
        repeated = [a.repeat_interleave(4 // n_kv_heads, 0).flatten(0, 1) for a in each]
        weights[f"qkv.{part}"] = torch.cat((q, *repeated))
    whole.load_state_dict(weights)
    x = torch.randn(2, 12, 16, dtype=torch.float64)
    torch.testing.assert_close(shared(x), whole(x), **TOLERANCE)
    assert sum(p.numel() for p in shared.qkv.parameters()) == 17 * (16 + 8 * n_kv_heads)


def test_each_shared_map_starts_at_its_own_uniform_distribution():
    attention = SelfAttention(64, 8, encodings.make("none", 64, 8, 5), n_kv_heads=2)
    q, k, v = attention.qkv.weight.split([64, 16, 16])
    for part, rows in ((q, 64), (k, 16), (v, 16)):
        bound = math.sqrt(6 / (64 + rows))
        assert 0.95 * bound < part.abs().max() <= bound


# -- errors, transforms ----------------------------------------------------------------------------


def test_bad_arguments_are_named():
    def make(**options):
        SelfAttention(8, 4, Position(8, 4, 5), **options)

    for options, message in [
        ({"n_kv_heads": 3}, "n_kv_heads must divide n_heads = 4, got 3"),
        ({"n_kv_heads": 8}, "n_kv_heads must divide n_heads = 4, got 8"),
        ({"window": 0}, "window must be an integer of at least 1, got 0"),
        ({"causal": 1}, "causal must be True or False, got 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            make(**options)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["none", "rotary", "t5", "relative", "erpe"])
def test_causal_layers_compile_and_stack(name):
    torch.compiler.reset()
    attention = layer(name, causal=True, n_kv_heads=1)
    x = tokens()
    compiled = torch.compile(attention, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), attention(x), **TOLERANCE)
    pair = [layer(name, causal=True), layer(name, causal=True)]
    with torch.no_grad():
        pair[1].qkv.weight.mul_(1.5)
    parameters, buffers = stack_module_state(pair)
    run = vmap(lambda p, b, x: functional_call(pair[0], (p, b), (x,)), in_dims=(0, 0, None))
    together = run(parameters, buffers, x)
    torch.testing.assert_close(together, torch.stack([a(x) for a in pair]), **TOLERANCE)
