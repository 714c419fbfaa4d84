"""Attention itself: loops, doors, masks, the blocked kernel, and errors."""

# ruff: noqa: ARG001, ARG002 - doors and scores take all their arguments

import math

import naive
import pytest
import torch
from torch import Tensor, nn
from torch.autograd import gradcheck, gradgradcheck
from torch.utils.checkpoint import checkpoint

from posenc import encodings, models
from posenc.attention import Position, SelfAttention, by_offset, kernels
from posenc.attention.fast import blocked_attention, blocks
from posenc.attention.numerics import of_raised

TOLERANCE = {"rtol": 0, "atol": 1e-9}


def make(position=Position, length=9, d_model=12, n_heads=3, **options):
    torch.manual_seed(1)
    attention = SelfAttention(d_model, n_heads, position(d_model, n_heads, length), **options)
    return attention.double()


def double(*shape):
    return torch.randn(*shape, dtype=torch.float64)


@pytest.mark.parametrize("n_heads", [1, 2, 3, 4, 6, 12])
def test_any_number_of_heads_equals_the_loops(n_heads):
    attention = make(n_heads=n_heads)
    x = double(2, 5, 12)
    expected = torch.tensor(naive.self_attention(attention, x.tolist()), dtype=torch.float64)
    torch.testing.assert_close(attention(x), expected, **TOLERANCE)


def test_padded_tokens_are_not_seen():
    attention = make()
    x = double(3, 6, 12)
    mask = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 0, 1, 0, 0], [0, 0, 0, 1, 1, 1]]).bool()
    expected = naive.self_attention(attention, x.tolist(), real=mask.tolist())
    torch.testing.assert_close(
        attention(x, mask), torch.tensor(expected, dtype=torch.float64), **TOLERANCE
    )


PADDED = [*encodings.names("book"), *encodings.names("modern")]  # others refuse padding


@pytest.mark.parametrize("name", PADDED)
def test_what_stands_at_padded_tokens_does_not_matter_where_there_are_blocks(name):
    torch.manual_seed(0)
    length = 300
    attention = SelfAttention(8, 2, encodings.make(name, 8, 2, length)).double().eval()
    x = double(2, length, 8)
    mask = torch.ones(2, length, dtype=torch.bool)
    mask[0, length // 2 :] = False
    other = x.clone()
    other[0, length // 2 :] = 99.0
    if name == "tpe":
        # the similarity of real tokens must not see the others either
        assert attention.weights(other, mask)[0, :, :, length // 2 :].abs().max() < 1e-12
    outputs = attention(x, mask), attention(other, mask)
    torch.testing.assert_close(outputs[0][mask], outputs[1][mask], **TOLERANCE)
    # a shorter input without padding gives the same
    alone = attention(x[:1, : length // 2])
    torch.testing.assert_close(outputs[0][:1, : length // 2], alone, **TOLERANCE)


@pytest.mark.parametrize("name", PADDED)
@pytest.mark.parametrize(
    ("length", "where", "garbage"),
    [(40, "front", -1e30), (300, "end", math.nan), (300, "between", math.inf)],
)
def test_no_padded_value_reaches_an_output_or_a_gradient(name, length, where, garbage):
    torch.manual_seed(0)
    attention = SelfAttention(8, 2, encodings.make(name, 8, 2, length)).eval()
    mask = torch.ones(2, length, dtype=torch.bool)
    mask[1, {"end": slice(20, None), "front": slice(20), "between": slice(7, 9)}[where]] = False
    x = torch.randn(2, length, 8)
    results = []
    for padding in (0.0, garbage):
        filled = x.where(mask[..., None], padding).requires_grad_()
        out = attention(filled, mask)
        inputs = [filled, *attention.parameters()]
        gradients = torch.autograd.grad(out[mask].square().sum(), inputs, allow_unused=True)
        results.append([out[mask], attention.weights(filled, mask)[:1], *gradients])
    for clean, dirty in zip(*results, strict=True):
        assert torch.equal(clean, dirty)
    assert not (results[1][2] * ~mask[..., None]).any()


@pytest.mark.parametrize("name", ["none", "t5"])
def test_attend_by_itself_reads_no_padded_value_either(name):
    attention = SelfAttention(8, 2, encodings.make(name, 8, 2, 12)).eval()
    mask = torch.arange(12) < torch.tensor([[12], [5]])
    x = torch.randn(2, 12, 8)
    clean, dirty = (
        attention.attend(x.where(mask[..., None], padding), mask) for padding in (0.0, math.nan)
    )
    assert torch.equal(clean[mask], dirty[mask])


def test_a_row_without_any_real_token_gives_no_nan():
    for name in ("none", "t5", "relative", "erpe"):
        attention = SelfAttention(8, 2, encodings.make(name, 8, 2, 300))
        for length in (5, 300):
            mask = torch.zeros(2, length, dtype=torch.bool)
            out = attention(torch.randn(2, length, 8), mask)
            out.sum().backward()
            assert out.isfinite().all()
            assert all(p.grad.isfinite().all() for p in attention.parameters())


@pytest.mark.parametrize("name", encodings.names("series"))
def test_empty_inputs_give_empty_outputs(name):
    attention = SelfAttention(8, 2, encodings.make(name, 8, 2, 300))
    for shape in ((2, 0, 8), (0, 5, 8), (0, 300, 8)):
        for mask in (None, torch.ones(shape[:2], dtype=torch.bool)):
            x = torch.zeros(shape, requires_grad=True)
            out = attention(x, mask)
            assert out.shape == shape
            out.sum().backward()
            assert x.grad.shape == shape
            assert attention.weights(x, mask).shape == (shape[0], 2, shape[1], shape[1])


class Everything(Position):
    """Uses the first four doors, each with something simple."""

    def embed(self, x: Tensor) -> Tensor:
        return x + 0.1 * torch.arange(x.shape[1], dtype=x.dtype)[:, None]

    def rotate(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        return 2 * q, k.flip(-1)

    def bias(self, x: Tensor, q: Tensor, k: Tensor) -> Tensor:
        step = torch.arange(x.shape[1], dtype=x.dtype)
        return -0.3 * (step[:, None] - step).abs()

    def mix(self, x: Tensor) -> Tensor:
        return 0.05 * torch.eye(x.shape[1], dtype=x.dtype)


def test_doors_compose_in_order():
    assert Everything.doors() == ("embed", "rotate", "bias", "mix")
    attention = make(Everything)
    x = double(2, 7, 12)
    shifted = x + 0.1 * torch.arange(7).double()[:, None]

    def score(b, h, i, j, q, k):
        return 2 * naive.dot(q, k[::-1]) / math.sqrt(4) - 0.3 * abs(i - j)

    expected = naive.self_attention(
        attention,
        shifted.tolist(),
        score=score,
        extra_weight=lambda h, i, j: 0.05 if i == j else 0.0,
    )
    torch.testing.assert_close(
        attention(x), torch.tensor(expected, dtype=torch.float64), **TOLERANCE
    )
    rows = attention.weights(x).sum(-1)
    torch.testing.assert_close(rows, torch.full_like(rows, 1.05), **TOLERANCE)


def test_doors_are_called_in_order_and_the_model_needs_no_names():
    calls = []

    class Spy(Position):
        def embed(self, x):
            calls.append("embed")
            return x

        def rotate(self, q, k):
            calls.append("rotate")
            return q, k

        def bias(self, x, q, k):
            calls.append("bias")
            assert q.shape == k.shape == (2, 3, 5, 4)

        def mix(self, x):
            calls.append("mix")

        def carry(self, v):
            calls.append("carry")  # beside `rotate`, as a cache keeps what comes back
            return v

        def deliver(self, out):
            calls.append("deliver")
            return out

    make(Spy)(double(2, 5, 12))
    assert calls == ["embed", "rotate", "carry", "bias", "mix", "deliver"]


def test_a_function_from_mix_gets_the_weights():
    class Doubled(Position):
        def mix(self, x):
            return lambda weights: weights @ torch.ones(5, 4).double()

    attention = make(Doubled)
    plain = make()
    plain.load_state_dict(attention.state_dict())
    x = double(2, 5, 12)
    expected = plain(x) + attention.out.weight.sum(1)  # rows of weights sum to 1
    torch.testing.assert_close(attention(x), expected, **TOLERANCE)


def test_a_readers_own_encoding_takes_a_few_lines():
    class Recency(Position):
        def __init__(self, d_model, n_heads, max_length):
            super().__init__(d_model, n_heads, max_length)
            self.rate = nn.Parameter(torch.zeros(n_heads, 1, 1))

        def bias(self, x, q, k):
            t = torch.arange(x.shape[1], dtype=x.dtype)
            return -self.rate.exp() * (t[:, None] - t).abs()

    attention = make(Recency)
    attention(double(2, 5, 12)).sum().backward()
    assert attention.position.rate.grad.abs().min() > 0


def test_the_fused_kernel_is_used_unless_mix_returns_a_function(monkeypatch):
    used = []
    original = kernels.scaled_dot_product_attention

    def spy(*args, **options):
        used.append(True)
        return original(*args, **options)

    monkeypatch.setattr(kernels, "scaled_dot_product_attention", spy)
    for name in encodings.names("series"):
        used.clear()
        SelfAttention(8, 2, encodings.make(name, 8, 2, 5))(torch.randn(1, 5, 8))
        assert used == [True], name
    used.clear()
    SelfAttention(8, 2, encodings.make("relative", 8, 2, 5, values=True))(torch.randn(1, 5, 8))
    assert used == []


# -- the blocked kernel ----------------------------------------------------------------------------


@pytest.fixture
def _small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "_ROWS", 5)
    monkeypatch.setattr(blocks, "_COLUMNS", 4)
    monkeypatch.setattr(blocks, "_ROOM", 60)


def reference(q, k, v, bias, offsets):
    """The same by the plain formula."""
    scores = q @ k.mT
    if bias is not None:
        scores = scores + bias
    if offsets is not None:
        reach, step = offsets.shape[-1] // 2, torch.arange(q.shape[-2])
        index = (step - step[:, None]).clamp(-reach, reach) + reach
        scores = scores + offsets.expand(*q.shape[:3], -1).gather(-1, index.expand_as(scores))
    return scores.softmax(-1) @ v


BIASES = [None, (2, 3, 17, 17), (1, 3, 17, 17), (2, 1, 17, 17), (1, 1, 1, 17), (2, 1, 1, 17)]
OFFSETS = [None, (2, 3, 17, 1), (2, 3, 17, 7), (2, 3, 17, 61), (1, 3, 1, 7), (1, 3, 1, 61)]


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("offsets", OFFSETS)
def test_blocked_attention_equals_the_plain_formula(bias, offsets):
    torch.manual_seed(0)
    inputs = [double(2, 3, 17, 4), double(2, 3, 17, 4), double(2, 3, 17, 6)]
    inputs += [None if shape is None else double(*shape) for shape in (bias, offsets)]
    inputs = [None if a is None else a.requires_grad_() for a in inputs]
    out, expected = blocked_attention(*inputs), reference(*inputs)
    torch.testing.assert_close(out, expected, **TOLERANCE)
    given = [a for a in inputs if a is not None]
    cotangent = torch.randn_like(out)
    ours, theirs = (torch.autograd.grad(o, given, cotangent) for o in (out, expected))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, **TOLERANCE)


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("offsets", [(2, 3, 17, 7), (1, 3, 1, 7)])
def test_blocked_attention_of_half_types_rounds_results_only(dtype, offsets):
    torch.manual_seed(0)
    shapes = [(2, 3, 17, 4), (2, 3, 17, 4), (2, 3, 17, 6), (2, 3, 17, 17), offsets]
    inputs = [torch.randn(shape).to(dtype).requires_grad_() for shape in shapes]
    wide = [a.detach().double().requires_grad_() for a in inputs]
    out, expected = blocked_attention(*inputs), reference(*wide)
    assert out.dtype == dtype
    cotangent = torch.randn(2, 3, 17, 6).to(dtype)
    ours = [out, *torch.autograd.grad(out, inputs, cotangent)]
    theirs = [expected, *torch.autograd.grad(expected, wide, cotangent.double())]
    for a, b in zip(ours, theirs, strict=True):
        assert ((a.double() - b).abs() <= torch.finfo(dtype).eps * b.abs() + 1e-6).all()


@pytest.mark.usefixtures("_small_blocks")
def test_blocked_attention_passes_gradcheck():
    q, k, v = (double(1, 2, 7, 3).requires_grad_() for _ in range(3))
    bias, offsets = double(1, 2, 7, 7).requires_grad_(), double(1, 2, 7, 5).requires_grad_()
    assert gradcheck(blocked_attention, (q, k, v, bias, offsets))


@pytest.mark.parametrize("name", ["relative", "t5", "alibi", "tupe", "erpe"])
@pytest.mark.parametrize(("length", "masked"), [(256, False), (257, True), (300, False)])
def test_long_inputs_give_what_the_explicit_weights_give(name, length, masked):
    torch.manual_seed(0)
    attention = SelfAttention(8, 2, encodings.make(name, 8, 2, length)).double()
    with torch.no_grad():
        for p in attention.parameters():
            p += 0.2 * torch.randn_like(p)
    x = double(2, length, 8)
    mask = None
    if masked:
        mask = torch.ones(2, length, dtype=torch.bool)
        mask[1, 200:] = False
    weights = attention.weights(x, mask)
    v = attention.qkv(x)[..., 16:].unflatten(-1, (2, 4)).transpose(1, 2)
    expected = attention.out((weights @ v).transpose(1, 2).flatten(2))
    out = attention(x, mask)
    torch.testing.assert_close(out, expected, **TOLERANCE)
    parameters = list(attention.parameters())
    cotangent = torch.randn_like(out)
    ours, theirs = (torch.autograd.grad(o, parameters, cotangent) for o in (out, expected))
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


# -- second derivatives ----------------------------------------------------------------------------


def explicit(attention, x, mask):
    """The layer's output with all weights formed by its own doors, through which torch may go."""
    q, k, v = attention._project(x)
    v = v if attention.position.is_closed("carry") else attention.position.carry(v)
    scores = q @ k.mT / math.sqrt(attention.d_head)
    bias = attention.position.bias(x, q, k)
    scores = scores if bias is None else scores + bias
    if mask is not None:
        scores = scores.masked_fill(~mask[:, None, None], -math.inf)
    weights = scores.softmax(-1)
    mix = attention.position.mix(x)
    heads = weights @ v
    if callable(mix):
        heads = heads + mix(weights)
    elif mix is not None:
        heads = heads + (mix if mask is None else mix * mask[:, None, None]) @ v
    if not attention.position.is_closed("deliver"):
        heads = attention.position.deliver(heads)
    return attention.out(heads.transpose(1, 2).flatten(2))


def randomised(name, length, **options):
    torch.manual_seed(0)
    attention = SelfAttention(8, 2, encodings.make(name, 8, 2, length, **options)).double().eval()
    with torch.no_grad():
        for p in attention.parameters():
            p += 0.3 * torch.randn_like(p)
    return attention


SECOND = [(name, {}) for name in encodings.names("series")]
SECOND += [("relative", {"values": True}), ("tpe", {"learn_sigma": True})]


@pytest.mark.parametrize(
    ("name", "options", "length", "masked"),
    [*((*one, 300, True) for one in SECOND), ("rotary", {}, 40, False), ("t5", {}, 40, False)],
)
def test_second_derivatives_are_those_of_the_formula(name, options, length, masked):
    """A gradient penalty and a Hessian-vector product, in the input and in every parameter."""
    attention = randomised(name, length, **options)
    x = double(2, length, 8).requires_grad_()
    mask = None
    if masked:
        mask = torch.ones(2, length, dtype=torch.bool)
        if name in PADDED:
            mask[1, length // 2 :] = False
    inputs = [x, *attention.parameters()]
    directions = [torch.randn_like(a) for a in inputs]
    products = []
    for forward in (
        attention,
        lambda x, mask: explicit(attention, attention.position.embed(x), mask),
    ):
        out = forward(x, mask)
        out = out if mask is None else out[mask]
        gradients = torch.autograd.grad(out.square().sum(), inputs, create_graph=True)
        penalty = gradients[0].square().sum()
        product = sum((g * d).sum() for g, d in zip(gradients, directions, strict=True))
        products.append(
            [
                *gradients,
                *torch.autograd.grad(penalty, inputs, retain_graph=True, materialize_grads=True),
                *torch.autograd.grad(product, inputs, materialize_grads=True),
            ]
        )
    for ours, theirs in zip(*products, strict=True):
        scale = theirs.abs().max().clamp(min=1)
        torch.testing.assert_close(ours / scale, theirs / scale, rtol=0, atol=1e-10)


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("name", ["none", "alibi", "t5", "relative", "tupe"])
def test_tiny_gradients_lose_nothing(name):
    torch.manual_seed(0)
    attention = SelfAttention(16, 2, encodings.make(name, 16, 2, 300))
    x, d_out = torch.randn(1, 300, 16, requires_grad=True), torch.randn(1, 300, 16)
    tiny = 2.0**-60
    (expected,) = torch.autograd.grad(attention(x), x, d_out)
    (found,) = torch.autograd.grad(attention(x), x, d_out * tiny)
    torch.testing.assert_close(found / tiny, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("largest", [0.0, 1e-30, 1e-7, 3.0, math.inf])
def test_what_is_raised_comes_back_as_it_was(dtype, largest):
    d_out, taken = torch.tensor([-largest / 4, largest]).to(dtype), []
    (back,) = of_raised(lambda x: taken.append(x) or (x.clone(),), d_out)
    assert torch.equal(back, d_out)
    assert taken[0].isfinite().all() == math.isfinite(largest)
    assert taken[0].abs().max() >= min(0.5, largest * 2.0**15 / 2)


def test_blocked_attention_passes_gradgradcheck():
    q, k, v = (double(1, 2, 6, 2).requires_grad_() for _ in range(3))
    bias, by_query = double(1, 2, 6, 6).requires_grad_(), double(1, 2, 6, 5).requires_grad_()
    assert gradgradcheck(blocked_attention, (q, k, v, bias, by_query))
    by_offset = double(1, 2, 1, 5).requires_grad_()
    assert gradgradcheck(blocked_attention, (q, k, v, None, by_offset))
    # with offsets that were computed from the queries, each way counts once
    assert gradgradcheck(
        lambda q, k, v: blocked_attention(q, k, v, None, torch.cat((q, q.square()[..., :1]), -1)),
        (q, k, v),
    )


def test_models_have_second_derivatives():
    torch.manual_seed(0)
    net = models.TimeSeriesTransformer(2, 3, 260, "t5", 8, 2, 2, 16).double().eval()
    x = double(3, 260, 2).requires_grad_()

    def loss(values):
        return net(values).square().sum()

    direction = torch.randn_like(x)
    ours = torch.autograd.functional.hvp(loss, x, direction)[1]
    gradient = torch.func.grad(loss)
    theirs = torch.func.grad(lambda values: (gradient(values) * direction).sum())(x.detach())
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9 * theirs.abs().max().item())


@pytest.mark.parametrize("name", ["none", "t5", "relative", "tupe"])
@pytest.mark.parametrize("length", [20, 300])
def test_a_gradient_may_be_asked_for_twice(name, length):
    attention = randomised(name, length)
    parameters = list(attention.parameters())
    loss = attention(double(1, length, 8)).square().sum()
    first = torch.autograd.grad(loss, parameters, retain_graph=True)
    second = torch.autograd.grad(loss, parameters, retain_graph=True)
    third = torch.autograd.grad(loss, parameters, create_graph=True)
    for a, b, c in zip(first, second, third, strict=True):
        torch.testing.assert_close(a, b, **TOLERANCE)
        torch.testing.assert_close(a, c, **TOLERANCE)
        assert c.requires_grad


@pytest.mark.parametrize("name", ["none", "t5", "tupe"])
def test_a_jacobian_may_be_computed_in_one_batch(name):
    attention = randomised(name, 300)

    def some(x):
        return attention(x)[0, ::100, 0]

    x = double(1, 300, 8)
    one_by_one, batched = (
        torch.autograd.functional.jacobian(some, x, vectorize=how) for how in (False, True)
    )
    torch.testing.assert_close(batched, one_by_one, **TOLERANCE)


@pytest.mark.parametrize("name", ["none", "t5", "tupe"])
def test_checkpoints_recompute_attention(name):
    attention = randomised(name, 300)
    x = double(2, 300, 8)
    parameters = list(attention.parameters())
    outputs = attention(x), checkpoint(attention, x, use_reentrant=False)
    ours, theirs = (torch.autograd.grad(out.square().sum(), parameters) for out in outputs)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, **TOLERANCE)


# -- errors ----------------------------------------------------------------------------------------


def test_bad_arguments_are_named():
    position = Position(12, 3, 5)
    with pytest.raises(ValueError, match="n_heads must divide d_model = 12, got 5"):
        SelfAttention(12, 5, position)
    with pytest.raises(
        ValueError, match=r"d_model = 12 and n_heads = 4, got one for .* n_heads = 3"
    ):
        SelfAttention(12, 4, position)
    with pytest.raises(ValueError, match=r"position must be a posenc.attention.Position, got 'x'"):
        SelfAttention(12, 3, "x")
    with pytest.raises(ValueError, match=r"dropout must be a probability, .* got 1.0"):
        SelfAttention(12, 3, position, dropout=1.0)
    attention = SelfAttention(12, 3, position)
    with pytest.raises(ValueError, match=r"x must have shape .*d_model = 12\), got \(5, 12\)"):
        attention(torch.zeros(5, 12))
    with pytest.raises(ValueError, match=r"x must have shape .*, got \(1, 5, 11\)"):
        attention(torch.zeros(1, 5, 11))
    x = torch.zeros(2, 5, 12)
    with pytest.raises(ValueError, match="mask must be bool, True for real tokens, got dtype"):
        attention(x, torch.ones(2, 5))
    with pytest.raises(ValueError, match=r"mask must have shape .* = \(2, 5\), got \(5, 2\)"):
        attention(x, torch.ones(5, 2, dtype=torch.bool))


class Loud(encodings.ALiBi):
    def bias(self, x, q, k):
        return 100 * super().bias(x, q, k)


class LoudWeights(encodings.ERPE):
    def mix(self, x):
        return 100 * super().mix(x)


class LoudVectors(encodings.Relative):
    def bias(self, x, q, k):
        return 100 * super().bias(x, q, k)


@pytest.mark.parametrize("position", [Loud, LoudWeights, LoudVectors])
@pytest.mark.parametrize("length", [20, 300])
def test_a_door_that_a_derived_class_overrides_is_used_at_every_length(position, length):
    attention = make(position, length).eval()
    x = double(1, length, 12)
    parent = make(position.__bases__[0], length).eval()
    assert not torch.allclose(attention(x), parent(x), rtol=0, atol=1e-3)
    mixed = attention.weights(x) @ attention._project(x)[2]
    torch.testing.assert_close(
        attention(x), attention.out(mixed.transpose(1, 2).flatten(2)), **TOLERANCE
    )
    assert not position.position_only


class Turned(Position):
    def rotate(self, q, k):
        return q


class Square(Position):
    def bias(self, x, q, k):
        return torch.zeros(7, 7)


class Rows(Position):
    def mix(self, x):
        return torch.zeros(5, 4, dtype=x.dtype)


class Silent(Position):
    def embed(self, x):
        x + 1


class Narrow(Position):
    def rotate(self, q, k):
        return q[..., :2], k


class Shorter(Position):
    def rotate(self, q, k):
        return q, k[:, :, 1:]


class Allowed(Position):
    def bias(self, x, q, k):
        return torch.ones(5, 5, dtype=torch.bool).tril()


class AllowedBehind(Position):
    def mix(self, x):
        return torch.ones(5, 5, dtype=torch.bool).tril()


class Number(Position):
    def bias(self, x, q, k):
        return 1.0


@pytest.mark.parametrize(
    ("position", "message"),
    [
        (Turned, r"Turned.rotate must return queries and keys"),
        (Square, r"Square.bias must return .* = \(2, 3, 5, 5\), got shape \(7, 7\)"),
        (Rows, r"Rows.mix must return .* = \(2, 3, 5, 5\), got shape \(5, 4\)"),
        (Silent, r"Silent.embed must return tokens of the shape .* \(2, 5, 12\), got None"),
        (Narrow, r"Narrow.rotate .* \(2, 3, 5, width\) of one width, .* \(2, 3, 5, 2\) and"),
        (Shorter, r"Shorter.rotate must return .* and \(2, 3, 4, 4\)"),
        (Allowed, r"Allowed.bias must return numbers, .* got booleans; .*torch.where.*`mask`"),
        (AllowedBehind, r"AllowedBehind.mix must return numbers, .* got booleans"),
        (Number, r"Number.bias must return a tensor, got float"),
    ],
)
def test_a_door_that_returns_something_else_is_named(position, message):
    attention = make(position)
    with pytest.raises(ValueError, match=message):
        attention(double(2, 5, 12))
    with pytest.raises(ValueError, match=message):
        attention.weights(double(2, 5, 12))


def take(*names):
    """Return a method that takes these arguments and adds nothing."""
    return eval(f"lambda self, {', '.join(names)}: None")


@pytest.mark.parametrize(
    ("name", "arguments", "door"),
    [
        ("biass", "xqk", "bias"),
        ("Bias", "xqk", "bias"),
        ("bais", "xqk", "bias"),
        ("embeds", "x", "embed"),
        ("rotates", "qk", "rotate"),
        ("embedd", "x", "embed"),
        ("emb", "x", "embed"),
        ("rotat", "qk", "rotate"),
        ("mixx", "x", "mix"),
        ("mix_", "x", "mix"),
    ],
)
def test_a_misspelt_door_is_named_where_the_class_is_defined(name, arguments, door):
    methods = {name: take(*arguments), "embed" if door != "embed" else "mix": lambda self, x: x}
    with pytest.raises(ValueError, match=rf"Mine\.{name} is no door.* mean '{door}'\?"):
        type("Mine", (Position,), methods)
    # from a parent, too, that is no encoding itself
    mixin = type("Mixin", (), {name: take(*arguments)})
    with pytest.raises(ValueError, match=rf"Mine\.{name} is no door.* mean '{door}'\?"):
        type("Mine", (mixin, Position), {})


@pytest.mark.parametrize(
    ("name", "arguments", "door"),
    [
        ("biass", "qk", "bias"),
        ("bia", "x", "bias"),
        ("rotat", "x", "rotate"),
        ("mixx", "", "mix"),
        ("score_bias", "xqk", "bias"),
        ("rotate_qk", "qk", "rotate"),
    ],
)
def test_a_misspelt_door_with_other_arguments_or_with_another_word_is_named(name, arguments, door):
    methods = {name: take(*arguments), "embed": lambda self, x: x}
    with pytest.raises(ValueError, match=rf"Mine\.{name} is no door.* mean '{door}'\?"):
        type("Mine", (Position,), methods)


@pytest.mark.parametrize(
    ("parent", "name", "arguments", "door"),
    [
        (encodings.ALiBi, "biass", "xqk", "bias"),
        (encodings.T5Bias, "bais", "xqk", "bias"),
        (encodings.Rotary, "rotat", "qk", "rotate"),
        (encodings.Sinusoidal, "emebd", "x", "embed"),
        (encodings.ERPE, "mixx", "x", "mix"),
        (encodings.NoPosition, "biass", "xqk", "bias"),
    ],
)
def test_a_misspelt_door_does_not_train_as_its_parent(parent, name, arguments, door):
    with pytest.raises(ValueError, match=rf"Mine\.{name} is no door.* mean '{door}'\?"):
        type("Mine", (parent,), {name: take(*arguments)})
    # beside the door itself it is a helper, for those who derive from it, too
    mine = type("Mine", (parent,), {name: take(*arguments), door: take(*arguments)})
    assert issubclass(type("More", (mine,), {}), parent)


@pytest.mark.parametrize(
    "helpers",
    [
        {"bias_table": take("length"), "rotate_half": take("x"), "rotated": take("x")},
        {"score_bias": take("i", "j", "k"), "mix_series": take("x"), "mixture": take("x")},
        {"biases": take(*"xqk"), "bias": take(*"xqk")},  # beside the door itself
        {"_biass": take(*"xqk")},
        {"rotated": take("x", "cos", "sin", "pairs")},  # takes what no door takes
        {"mixed": property(lambda self: 1), "embeds": 5},
        {"table": take("x"), "max": take("x"), "based": take(*"xqk"), "kernel": take("q", "k")},
    ],
)
def test_helper_methods_are_free_to_have_names_of_their_own(helpers):
    mine = type("Mine", (Position,), {"embed": lambda self, x: x, **helpers})
    assert make(mine)(double(2, 5, 12)).isfinite().all()


WORDS = [
    ("embedding", "x", "embed"),
    ("embedded", "x", "embed"),
    ("rotated", "qk", "rotate"),
    ("rotation", "qk", "rotate"),
    ("remix", "x", "mix"),
    ("mixed", "x", "mix"),
    ("biases", "xqk", "bias"),
]


@pytest.mark.parametrize(("name", "arguments", "door"), WORDS)
def test_a_word_that_may_have_been_meant_for_a_door_is_warned_of(name, arguments, door):
    methods = {name: take(*arguments), "bias" if door != "bias" else "mix": take(*"xqk")}
    with pytest.warns(UserWarning, match=rf"Mine\.{name} is no door.* mean '{door}'\?") as seen:
        mine = type("Mine", (Position,), methods)
    assert seen[0].filename == __file__
    assert name not in mine.doors()


@pytest.mark.parametrize("name", [word for word, *_ in WORDS] + ["rotat", "embeds", "mixx"])
def test_a_helper_that_a_door_calls_may_have_any_name(name):
    arguments = {word: names for word, names, _ in WORDS}.get(name, "x")
    helper = {name: take(*arguments)}
    calls = {
        "a door": {"bias": eval(f"lambda self, x, q, k: self.{name}({', '.join(arguments)})")},
        "a door of its kind": {"bias": by_offset(offsets(name))},
        "a function within": {"mix": eval(f"lambda self, x: [self.{name} for _ in '']")},
        "a property": {"embed": lambda self, x: x, "p": property(eval(f"lambda s: s.{name}"))},
    }
    for doors in calls.values():
        type("Mine", (Position,), {**helper, **doors})
        type("More", (type("Mine", (Position,), {**helper, **doors}),), {})


def offsets(name):
    """Return a method named bias that calls another one."""
    space = {}
    exec(f"def bias(self, offset):\n    return self.{name}", space)
    return space["bias"]


def test_a_class_without_any_door_must_say_so():
    class Forgetful(Position):
        def encode(self, x):
            return x + 1

    class OnPurpose(encodings.NoPosition):
        pass

    message = r"position must override a door \(embed, .*, deliver\), got Forgetful with none"
    with pytest.raises(ValueError, match=message):
        make(Forgetful)
    with pytest.raises(ValueError, match=message):
        models.TimeSeriesTransformer(1, 2, 5, Forgetful)
    for fine in (Position, encodings.NoPosition, OnPurpose):
        assert make(fine)(double(2, 5, 12)).isfinite().all()
    # a door that an object brings along by itself
    own = Forgetful(12, 3, 9)
    own.bias = lambda x, q, k: None
    assert SelfAttention(12, 3, own)(torch.randn(2, 5, 12)).isfinite().all()


def test_dropout_acts_in_training_only():
    attention = make(dropout=0.5)
    x = double(2, 9, 12)
    assert not torch.equal(attention(x), attention(x))
    attention.eval()
    assert torch.equal(attention(x), attention(x))
    values = SelfAttention(
        12, 3, encodings.make("relative", 12, 3, 9, values=True), dropout=0.5
    ).double()
    assert not torch.equal(values(x), values(x))
