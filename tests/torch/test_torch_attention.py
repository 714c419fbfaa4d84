"""Attention itself: loops, doors, masks, the blocked kernel, and errors."""

# ruff: noqa: ARG001, ARG002 - doors and scores take all their arguments

import math

import layers
import naive
import pytest
import torch
from layers import close, close_in_gradients, layer
from torch import Tensor
from torch.autograd import gradgradcheck
from torch.utils.checkpoint import checkpoint

from posenc import encodings, models
from posenc.attention import CrossAttention, Position, SelfAttention, by_offset
from posenc.attention.fast import blocked_attention, blocks
from posenc.attention.numerics import of_raised


def double(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def said(attention, x, **reference):
    """Return the outputs that loops over single numbers give."""
    return layers.double(naive.self_attention(attention, x.tolist(), **reference))


def make(position=Position, length=9, d_model=12, n_heads=3, **options):
    torch.manual_seed(1)
    attention = SelfAttention(d_model, n_heads, position(d_model, n_heads, length), **options)
    return attention.double()


@pytest.mark.parametrize("n_heads", [1, 2, 3, 4, 6, 12])
def test_any_number_of_heads_equals_the_loops(n_heads):
    attention, x = make(n_heads=n_heads), double(2, 5, 12)
    close(attention(x), said(attention, x))


def test_padded_tokens_are_not_seen():
    attention, x = make(), double(3, 6, 12)
    mask = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 0, 1, 0, 0], [0, 0, 0, 1, 1, 1]]).bool()
    close(attention(x, mask), said(attention, x, real=mask.tolist()))


OF_TOKENS = ("cope", "fox", "path", "dywpe", "window_statistics")  # which take no positions
PADDED = [*encodings.names("book"), *encodings.names("modern")]  # others refuse padding


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
    position = encodings.make(name, 8, 2, 300)
    attention, crossed = SelfAttention(8, 2, position), CrossAttention(8, 2, position)
    for shape in ((2, 0, 8), (0, 5, 8), (0, 300, 8)):
        x = torch.zeros(shape, requires_grad=True)
        outputs = [attention(x), attention(x, torch.ones(shape[:2], dtype=torch.bool))]
        if name not in OF_TOKENS:
            outputs.append(attention(x, positions=torch.zeros(shape[1])))
            outputs.append(crossed(x, torch.zeros(shape[0], 4, 8)))
            assert crossed.weights(x, torch.zeros(shape[0], 4, 8)).shape == (
                *shape[:1],
                2,
                shape[1],
                4,
            )
        assert {out.shape for out in outputs} == {shape}
        sum(out.sum() for out in outputs).backward()
        assert x.grad.shape == shape
        assert attention.weights(x).shape == (shape[0], 2, shape[1], shape[1])


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
    attention, x = make(Everything), double(2, 7, 12)
    shifted = x + 0.1 * torch.arange(7).double()[:, None]

    def score(b, h, i, j, q, k):
        return 2 * naive.dot(q, k[::-1]) / math.sqrt(4) - 0.3 * abs(i - j)

    def extra_weight(b, h, i, j):
        return 0.05 if i == j else 0.0

    close(attention(x), said(attention, shifted, score=score, extra_weight=extra_weight))
    rows = attention.weights(x).sum(-1)
    close(rows, torch.full_like(rows, 1.05))


def test_doors_are_called_in_order_and_the_model_needs_no_names():
    calls = []
    doors = {
        "embed": lambda self, x: calls.append("embed") or x,
        "rotate": lambda self, q, k: calls.append("rotate") or (q, k),
        "bias": lambda self, x, q, k: calls.append(f"bias {tuple(q.shape)}"),
        "mix": lambda self, x: calls.append("mix"),
        "carry": lambda self, v: calls.append("carry") or v,
        "deliver": lambda self, out: calls.append("deliver") or out,
    }
    make(type("Spy", (Position,), doors))(double(2, 5, 12))
    # `carry` beside `rotate`, as a cache keeps what comes back
    assert calls == ["embed", "rotate", "carry", "bias (2, 3, 5, 4)", "mix", "deliver"]


def test_a_function_from_mix_gets_the_weights():
    class Doubled(Position):
        def mix(self, x):
            return lambda weights: weights @ torch.ones(5, 4).double()

    attention = make(Doubled)
    plain = make()
    plain.load_state_dict(attention.state_dict())
    x = double(2, 5, 12)
    expected = plain(x) + attention.out.weight.sum(1)  # rows of weights sum to 1
    close(attention(x), expected)


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
    given = [a for a in inputs if a is not None]
    close_in_gradients(blocked_attention(*inputs), reference(*inputs), given)


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


SECOND = [(name, {}) for name in encodings.names("series")]
SECOND += [("relative", {"values": True}), ("tpe", {"learn_sigma": True})]


@pytest.mark.parametrize(
    ("name", "options", "length", "masked"),
    [*((*one, 300, True) for one in SECOND), ("rotary", {}, 40, False), ("t5", {}, 40, False)],
)
def test_second_derivatives_are_those_of_the_formula(name, options, length, masked):
    """A gradient penalty and a Hessian-vector product, in the input and in every parameter."""
    attention = layer(name, length=length, options=options)
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
        close(ours / scale, theirs / scale, 1e-10)


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


@pytest.mark.parametrize("name", ["none", "t5", "tupe"])
def test_a_jacobian_may_be_computed_in_one_batch(name):
    attention = layer(name, length=300)

    def some(x):
        return attention(x)[0, ::100, 0]

    x = double(1, 300, 8)
    one_by_one, batched = (
        torch.autograd.functional.jacobian(some, x, vectorize=how) for how in (False, True)
    )
    close(batched, one_by_one)


@pytest.mark.parametrize("name", ["none", "t5", "tupe"])
def test_checkpoints_recompute_attention(name):
    attention, x = layer(name, length=300), double(2, 300, 8)
    again = checkpoint(attention, x, use_reentrant=False)
    close_in_gradients(again, attention(x), attention.parameters())


# -- errors ----------------------------------------------------------------------------------------


def test_sizes_that_do_not_fit_are_named():
    position = Position(12, 3, 5)
    with pytest.raises(ValueError, match="n_heads must divide d_model = 12, got 5"):
        SelfAttention(12, 5, position)
    with pytest.raises(ValueError, match=r"d_model = 12 and n_heads = 4, got one .* n_heads = 3"):
        SelfAttention(12, 4, position)


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
    attention, x = make(position, length).eval(), double(1, length, 12)
    parent = make(position.__bases__[0], length).eval()
    assert not torch.allclose(attention(x), parent(x), rtol=0, atol=1e-3)
    mixed = attention.weights(x) @ attention._project(x)[2]
    close(attention(x), attention.out(mixed.transpose(1, 2).flatten(2)))
    assert not position.position_only


TRIANGLE = torch.ones(5, 5, dtype=torch.bool).tril()


@pytest.mark.parametrize(
    ("door", "function", "message"),
    [
        ("rotate", lambda self, q, k: q, "queries and keys"),
        ("bias", lambda self, x, q, k: torch.zeros(7, 7), r".* = \(2, 3, 5, 5\), got shape \(7, 7"),
        ("mix", lambda self, x: torch.zeros(5, 4), r".* = \(2, 3, 5, 5\), got shape \(5, 4\)"),
        ("embed", lambda self, x: None, r"tokens of the shape .* \(2, 5, 12\), got None"),
        ("rotate", lambda self, q, k: (q[..., :2], k), r".* width\) of one width, .* 5, 2\) and"),
        ("rotate", lambda self, q, k: (q, k[:, :, 1:]), r".* and \(2, 3, 4, 4\)"),
        ("bias", lambda self, x, q, k: TRIANGLE, "numbers, .* got booleans; .*torch.where.*`mask`"),
        ("mix", lambda self, x: TRIANGLE, "numbers, .* got booleans"),
        ("bias", lambda self, x, q, k: 1.0, "a tensor, got float"),
    ],
)
def test_a_door_that_returns_something_else_is_named(door, function, message):
    attention = make(type("Mine", (Position,), {door: function}))
    for call in (attention, attention.weights):
        with pytest.raises(ValueError, match=rf"Mine\.{door} must return {message}"):
            call(double(2, 5, 12))


def take(*names):
    """Return a method that takes these arguments and adds nothing."""
    return eval(f"lambda self, {', '.join(names)}: None")


@pytest.mark.parametrize(
    ("name", "arguments", "door"),
    [
        ("Bias", "xqk", "bias"),
        ("bais", "xqk", "bias"),
        ("embeds", "x", "embed"),
        ("emb", "x", "embed"),
        ("rotat", "qk", "rotate"),
        ("mix_", "x", "mix"),
        ("biass", ("x", "q", "k", "places"), "bias"),
        ("biass", "qk", "bias"),  # with other arguments
        ("mixx", "", "mix"),
        ("score_bias", "xqk", "bias"),  # with another word
        ("rotate_qk", "qk", "rotate"),
    ],
)
def test_a_misspelt_door_is_named_where_the_class_is_defined(name, arguments, door):
    methods = {name: take(*arguments)}
    other = {"embed" if door != "embed" else "mix": lambda self, x: x}
    mixin = type("Mixin", (), methods)  # a parent that is no encoding itself
    for parents, own in (((Position,), methods | other), ((mixin, Position), other)):
        with pytest.raises(ValueError, match=rf"Mine\.{name} is no door.* mean '{door}'\?"):
            type("Mine", parents, own)


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
    ("embedded", "x", "embed"),
    ("rotation", "qk", "rotate"),
    ("remix", "x", "mix"),
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
    attention, x = make(dropout=0.5), double(2, 9, 12)
    assert not torch.equal(attention(x), attention(x))
    attention.eval()
    assert torch.equal(attention(x), attention(x))
    values = SelfAttention(
        12, 3, encodings.make("relative", 12, 3, 9, values=True), dropout=0.5
    ).double()
    assert not torch.equal(values(x), values(x))
