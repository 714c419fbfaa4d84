"""Positions as an argument: any numbers, two sequences, one's own doors, and times in models."""

# ruff: noqa: ARG001, ARG002 - doors and scores take all their arguments

import copy
import functools
import math

import naive
import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd import gradcheck
from torch.func import functional_call, stack_module_state, vmap

from posenc import encodings
from posenc.attention import CrossAttention, Places, Position, SelfAttention
from posenc.models import LanguageModel, PatchTransformer, TimeSeriesTransformer
from posenc_book.audit import published

D_MODEL, N_HEADS, D_HEAD, LENGTH, BATCH, MAX = 8, 2, 4, 6, 2, 12
TOLERANCE = {"rtol": 0, "atol": 1e-9}
NAMES = encodings.names()
NO_NUMBERS = {"cope", "fox", "path"}  # which make distances themselves, of tokens
PLACED = [n for n in [*encodings.names(), *encodings.names("modern")] if n not in NO_NUMBERS]
SPE = {"sine_spe": {"n_realisations": 3}, "conv_spe": {"n_realisations": 3, "kernel_size": 4}}
WHOLE = [[3, 0, 7, 4, 11, 5], [1, 2, 9, 8, 0, 10]]
TIMES = [[0.5, 1.25, 1.5, 6.0, 7.75, 10.9], [10.5, 0.1, 3.3, 2.5, 9.0, 4.0]]
ANYWHERE = ["none", "sinusoidal", "tape", "learnable_frequency", "sine_linear", "rotary", "t5"]
ANYWHERE += ["alibi", "sine_spe", "tpe"]
WHOLE_ONLY = sorted(set(NAMES) - set(ANYWHERE))


def randomised(attention):
    """Return a layer in float64, all parameters away from special values."""
    with torch.no_grad():
        for parameter in attention.double().parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return attention.eval()


def layer(name, cls=SelfAttention, length=MAX, **options):
    torch.manual_seed(3)
    position = encodings.make(name, D_MODEL, N_HEADS, length, **SPE.get(name, {}), **options)
    return randomised(cls(D_MODEL, N_HEADS, position))


def tokens(length=LENGTH, batch=BATCH):
    return torch.randn(batch, length, D_MODEL, dtype=torch.float64)


def double(values):
    return torch.tensor(values, dtype=torch.float64)


# -- against the loops -----------------------------------------------------------------------------
# `rows` is what is added to a token at t; `score` makes one from queries, keys, their positions.


def content(q, k):
    return naive.dot(q, k) / math.sqrt(D_HEAD)


def learned_waves(p, t):
    return [f(t * math.exp(w)) for w in p.log_omega.tolist() for f in (math.sin, math.cos)]


def time2vec(p, t):
    lines = [t * w + b for w, b in zip(p.weight.tolist(), p.phase.tolist(), strict=True)]
    return [lines[0], *map(math.sin, lines[1:])]


def stretched_dft(t):
    """A table of more positions than dimensions: the lowest functions of the longer lattice."""
    k = range(1, D_MODEL // 2)
    scale, angle = math.sqrt(2 / MAX), 2 * math.pi * t / MAX
    row = [1 / math.sqrt(MAX), *(scale * math.cos(angle * n) for n in k)]
    return [*row, *(scale * math.sin(angle * n) for n in k), scale * math.cos(angle * D_MODEL / 2)]


ROWS = {
    "sinusoidal": lambda p, t: naive.sinusoid(t, D_MODEL),
    "tpe": lambda p, t: naive.sinusoid(t, D_MODEL),
    "tape": lambda p, t: naive.sinusoid(t, D_MODEL, stretch=D_MODEL / MAX),
    "dft": lambda p, t: stretched_dft(t),
    "learnable": lambda p, t: p.vectors[int(t)].tolist(),
    "learnable_frequency": learned_waves,
    "sine_linear": time2vec,
}


def rotary(p, h, s, t, q, k):
    pairs = [(0, 1), (2, 3)]
    return content(naive.turned(q, s, pairs), naive.turned(k, t, pairs))


def shaw(p, h, s, t, q, k):
    vector = p.keys[0, max(-16, min(16, int(t - s))) + 16].tolist()
    return content(q, k) + content(q, vector)


def t5(p, h, s, t, q, k):
    return content(q, k) + p.values[h, naive.t5_bucket(round(t - s), 32, 128)].item()


def alibi(p, h, s, t, q, k):
    return content(q, k) - 2.0 ** (-4 * (h + 1)) * abs(s - t)


def tupe(p, h, s, t, q, k):
    rows = slice(h * D_HEAD, (h + 1) * D_HEAD)
    a, b = (
        naive.matvec(m.weight.tolist(), p.vectors[int(u)].tolist())[rows]
        for m, u in ((p.query, s), (p.key, t))
    )
    return (naive.dot(q, k) + naive.dot(a, b)) / math.sqrt(2 * D_HEAD)


SCORES = {"rotary": rotary, "relative": shaw, "t5": t5, "alibi": alibi, "tupe": tupe}


def reference(attention, name, x, s, context=None, t=None):
    """Return the layer's output by loops; s, t are the positions of queries and keys."""
    p = attention.position
    t = s if t is None else t

    def added(series, places):
        if name not in ROWS:
            return series.tolist()
        return [
            [[a + b for a, b in zip(token, ROWS[name](p, u), strict=True)]
             for token, u in zip(row, at, strict=True)]
            for row, at in zip(series.tolist(), places, strict=True)
        ]  # fmt: skip

    inputs = added(x, s)
    others = inputs if context is None else added(context, t)

    def score(b, h, i, j, q, k):
        if name == "tpe":
            distance = sum((a - c) ** 2 for a, c in zip(inputs[b][i], others[b][j], strict=True))
            return content(q, k) + math.exp(-distance / 2 * math.exp(-2 * p.log_sigma.item()))
        return SCORES[name](p, h, s[b][i], t[b][j], q, k) if name in SCORES else content(q, k)

    extra = None
    if name == "erpe":
        assert s[0] == s[1]
        assert t[0] == t[1]  # the loops have one weight for the batch
        extra = lambda h, i, j: p.values[h, int(t[0][j] - s[0][i]) + MAX - 1].item()  # noqa: E731
    if context is None:
        return double(naive.self_attention(attention, inputs, score=score, extra_weight=extra))
    return double(naive.cross_attention(attention, inputs, others, score, extra))


@pytest.mark.parametrize("name", [n for n in NAMES if n not in SPE])
def test_whole_positions_equal_the_loops(name):
    attention, x = layer(name), tokens()
    shared = [WHOLE[0], WHOLE[0]]
    expected = reference(attention, name, x, shared)
    ours = attention(x, positions=torch.tensor(WHOLE[0]))
    torch.testing.assert_close(ours, expected, **TOLERANCE)
    torch.testing.assert_close(attention(x, positions=torch.tensor(shared)), ours, **TOLERANCE)
    torch.testing.assert_close(attention(x, positions=double(WHOLE[0])), ours, **TOLERANCE)
    if name != "erpe":
        expected = reference(attention, name, x, WHOLE)
        ours = attention(x, positions=torch.tensor(WHOLE))
        torch.testing.assert_close(ours, expected, **TOLERANCE)


def test_positions_of_its_own_for_each_series_behind_the_softmax():
    attention, x = layer("erpe"), tokens()
    together = attention(x, positions=torch.tensor(WHOLE))
    for b in range(BATCH):
        twice = reference(attention, "erpe", x[[b, b]], [WHOLE[b]] * 2)
        torch.testing.assert_close(together[b], twice[0], **TOLERANCE)


@pytest.mark.parametrize("name", [n for n in ANYWHERE if n not in SPE])
def test_real_times_equal_the_loops(name):
    attention, x = layer(name), tokens()
    ours = attention(x, positions=double(TIMES))
    torch.testing.assert_close(ours, reference(attention, name, x, TIMES), **TOLERANCE)
    shared = attention(x, positions=double(TIMES[1]))
    expected = reference(attention, name, x, [TIMES[1]] * 2)
    torch.testing.assert_close(shared, expected, **TOLERANCE)
    # lists and arrays will do
    assert torch.equal(attention(x, positions=TIMES), ours)
    assert torch.equal(attention(x, positions=np.array(TIMES[1])), shared)


@pytest.mark.parametrize("name", SPE)
def test_stochastic_codes_stand_where_they_are_told(name):
    """A code of position t is that of the t-th of tokens that count."""
    attention = layer(name)
    q, k = torch.randn(2, BATCH, N_HEADS, LENGTH, D_HEAD, dtype=torch.float64)
    codes = attention.position.codes(MAX)
    steps = torch.tensor(WHOLE)
    places = attention._places(tokens(), None, steps)
    for x, code, ours in zip((q, k), codes, attention.position.rotate(q, k, places), strict=True):
        for b, h, m, r in np.ndindex(BATCH, N_HEADS, LENGTH, 3):
            expected = x[b, h, m] @ code[h, :, WHOLE[b][m], r] / math.sqrt(3)
            assert ours[b, h, m, r].item() == pytest.approx(expected.item(), abs=1e-9)


@pytest.mark.parametrize("gated", [False, True])
def test_sine_codes_between_whole_positions(gated):
    """Their covariance is the kernel at the real lag: 60,000 realisations, 0.02 or 5 sigma."""
    torch.manual_seed(0)
    position = encodings.make("sine_spe", 8, 2, MAX, n_realisations=60_000, gated=gated).eval()
    with torch.no_grad():
        position.phases.normal_()
    attention = SelfAttention(8, 2, position)
    places = attention._places(torch.zeros(1, LENGTH, 8), None, double(TIMES[0]))
    q, k = (code[0] for code in position._codes_at(places))
    ours = q @ k.mT / 60_000
    lag = double(TIMES[0])[:, None] - double(TIMES[0])
    terms = position.omega[:, :, None, None] * lag[..., None] + position.phases[:, :, None, None]
    kernel = (position.gains.square()[:, :, None, None] * terms.cos()).sum(-1)
    kernel = 0.5 + 0.5 * kernel if gated else kernel
    torch.testing.assert_close(ours.double(), kernel, rtol=0, atol=0.02)


# -- what must not matter --------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLACED)
def test_counting_is_what_happens_without_positions_where_there_are_blocks(name):
    length = 260
    attention = layer(name, length=length)
    x = tokens(length)
    count = torch.arange(length)
    expected = attention(x)
    torch.testing.assert_close(attention(x, positions=count), expected, **TOLERANCE)
    rows = count.double().expand(BATCH, -1)
    torch.testing.assert_close(attention(x, positions=rows), expected, **TOLERANCE)
    torch.testing.assert_close(
        attention.weights(x, positions=count), attention.weights(x), **TOLERANCE
    )


@pytest.mark.parametrize("name", ["none", "rotary", "t5", "alibi"])
@pytest.mark.parametrize("shift", [-40, 1000.125, 1.6e9])
def test_relative_encodings_do_not_see_a_shift_of_real_times(name, shift):
    attention, x = layer(name), tokens()
    expected = attention(x, positions=double(TIMES))
    # rotary loses digits of the angle as positions grow; times near 1e9 keep 1e-7
    tolerance = 1e-6 if abs(shift) > 1e6 else 1e-9
    shifted = attention(x, positions=double(TIMES) + shift)
    torch.testing.assert_close(shifted, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["relative", "erpe"])
@pytest.mark.parametrize("shift", [1000, -40])
def test_nor_a_shift_of_whole_positions(name, shift):
    attention, x = layer(name), tokens()
    positions = torch.tensor(WHOLE)
    expected = attention(x, positions=positions)
    torch.testing.assert_close(attention(x, positions=positions + shift), expected, **TOLERANCE)
    both = attention(x, positions=double(WHOLE) + shift)
    torch.testing.assert_close(both, expected, **TOLERANCE)


@pytest.mark.parametrize("name", PLACED)
def test_positions_of_padded_tokens_are_not_looked_at(name):
    attention, x = layer(name), tokens()
    mask = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    mask[0, [1, 4]] = False
    positions = double(WHOLE)
    filled = positions.where(mask, math.nan)
    ours = attention(x.where(mask[..., None], math.nan), mask, positions=filled)
    real = torch.tensor(WHOLE[0])[mask[0]]
    alone = attention(x[:1, mask[0]], positions=real)
    torch.testing.assert_close(ours[:1, mask[0]], alone, **TOLERANCE)
    torch.testing.assert_close(ours[1], attention(x, positions=positions)[1], **TOLERANCE)


@pytest.mark.parametrize("name", ["rotary", "sinusoidal", "learnable_frequency", "alibi"])
def test_gradients_reach_positions_that_are_computed(name):
    attention, x = layer(name), tokens()
    times = double(TIMES).requires_grad_()
    run = lambda t: attention(x, positions=t)  # noqa: E731
    assert gradcheck(run, (times,), fast_mode=True)


@pytest.mark.parametrize("name", ["learnable", "dft", "relative", "tupe"])
def test_no_tokens_stand_nowhere(name):
    attention = SelfAttention(16, 2, encodings.make(name, 16, 2, 9))
    nothing = torch.zeros(2, 0, 16)
    assert attention(nothing, positions=torch.zeros(0)).shape == nothing.shape
    assert attention(nothing, positions=torch.zeros(2, 0)).shape == nothing.shape


@pytest.mark.parametrize("far", [160, 20_000, 10**12])
def test_noise_is_not_drawn_for_steps_that_hardly_any_token_takes(far):
    attention = SelfAttention(16, 2, encodings.make("conv_spe", 16, 2, 10)).eval()
    x = torch.randn(1, 2, 16)
    assert attention(x, positions=[0, 159]).shape == x.shape
    with pytest.raises(ValueError, match=f"positions must be below 16 .*, 160, .* got {far}"):
        attention(x, positions=[0, far])
    assert attention(torch.randn(1, 200, 16)).shape == (1, 200, 16)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["rotary", "alibi", "sinusoidal", "learnable_frequency"])
def test_half_types_know_every_time(name, dtype):
    """In bfloat16, 256 and 257 are one number."""
    times = torch.arange(300) * 1.01
    attention = layer(name, length=300).to(dtype)
    exact = copy.deepcopy(attention).double()
    x = tokens(300).to(dtype)
    weights = attention.weights(x, positions=times).double()
    expected = exact.weights(x.double(), positions=times)
    plain = (attention.weights(x).double() - exact.weights(x.double())).abs().max()
    assert (weights - expected).abs().max() <= 2 * plain


# -- two sequences ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in NAMES if n not in SPE])
def test_cross_attention_equals_the_loops(name):
    attention = layer(name, CrossAttention)
    x, context = tokens(), tokens(4)
    count, fewer = [list(range(LENGTH))] * 2, [list(range(4))] * 2
    expected = reference(attention, name, x, count, context, fewer)
    torch.testing.assert_close(attention(x, context), expected, **TOLERANCE)
    s, t = [WHOLE[0]] * 2, [[2, 8, 1, 0]] * 2
    given = {"positions": torch.tensor(s), "context_positions": torch.tensor(t)}
    expected = reference(attention, name, x, s, context, t)
    torch.testing.assert_close(attention(x, context, **given), expected, **TOLERANCE)


@pytest.mark.parametrize("name", [n for n in ANYWHERE if n not in SPE])
def test_cross_attention_over_real_times(name):
    attention = layer(name, CrossAttention)
    x, context, t = tokens(), tokens(3), [[0.25, 3.5, 9.0], [10.5, 0.0, 4.75]]
    ours = attention(x, context, positions=TIMES, context_positions=t)
    expected = reference(attention, name, x, TIMES, context, t)
    torch.testing.assert_close(ours, expected, **TOLERANCE)


@pytest.mark.parametrize(
    ("name", "lengths"),
    [*((name, (300, 7)) for name in PLACED), ("erpe", (LENGTH, 4)), ("t5", (2, 300))],
)
def test_cross_attention_of_any_lengths(name, lengths):
    attention = layer(name, CrossAttention, max(*lengths, MAX))
    x, context = (tokens(n) for n in lengths)
    mask = torch.ones(BATCH, lengths[1], dtype=torch.bool)
    mask[0, 2:] = False
    context[0, 2:] = math.nan
    out = attention(x, context, padding=mask)
    out.sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in attention.parameters())
    alone = attention(x[:1], context[:1, :2])
    torch.testing.assert_close(out[:1], alone, **TOLERANCE)
    weights = attention.weights(x, context, padding=mask)
    assert weights.shape[1:] == (N_HEADS, *lengths)
    assert not weights[0, :, :, 2:].any()


@pytest.mark.parametrize("name", PLACED)
def test_cross_attention_to_itself_is_self_attention(name):
    ours, other = layer(name), layer(name, CrossAttention)
    other.position.load_state_dict(ours.position.state_dict())
    with torch.no_grad():
        for part in ("weight", "bias"):
            whole = getattr(ours.qkv, part)
            getattr(other.query, part).copy_(whole[:D_MODEL])
            getattr(other.key_value, part).copy_(whole[D_MODEL:])
            getattr(other.out, part).copy_(getattr(ours.out, part))
    x = tokens()
    torch.testing.assert_close(other(x, x), ours(x), **TOLERANCE)
    given = {"positions": torch.tensor(WHOLE), "context_positions": torch.tensor(WHOLE)}
    expected = ours(x, positions=torch.tensor(WHOLE))
    torch.testing.assert_close(other(x, x, **given), expected, **TOLERANCE)


def test_cross_attention_with_a_mask_of_pairs():
    attention = layer("rotary", CrossAttention)
    x, context = tokens(), tokens(4)
    mask = torch.rand(LENGTH, 4) < 0.5
    mask[:, 0] = True
    looks = lambda b, i, j: mask[i, j].item()  # noqa: E731
    score = lambda b, h, i, j, q, k: rotary(None, h, i, j, q, k)  # noqa: E731
    expected = naive.cross_attention(attention, x.tolist(), context.tolist(), score, looks=looks)
    torch.testing.assert_close(attention(x, context, mask), double(expected), **TOLERANCE)


def test_nothing_asks_for_nothing():
    cross = layer("rotary", CrossAttention)
    for empty in (tokens(0), tokens(batch=0)):
        context = tokens(4, len(empty))
        assert cross(empty, context).shape == empty.shape
        assert cross.weights(empty, context).shape == (*empty.shape[:1], 2, empty.shape[1], 4)
        assert layer("rotary")(empty, positions=torch.arange(empty.shape[1])).shape == empty.shape


def test_cross_attention_names_what_does_not_fit():
    attention = layer("rotary", CrossAttention)
    x = tokens()
    for arguments, message in [
        ((x[0], x), r"x must have shape \(batch, length, d_model = 8\), got \(6, 8\)"),
        ((x, x[..., :5]), r"context must have shape .*, got \(2, 6, 5\)"),
        ((x, x[:, :0]), r"context must have at least one token, got an empty one"),
        ((x, x[:1]), r"context must have batch = 2 rows as x has, got 1"),
        ((x, x[:, :3], torch.ones(2, 6).bool()), r"mask must have shape .* = \(2, 3\), got"),
    ]:
        with pytest.raises(ValueError, match=message):
            attention(*arguments)
    with pytest.raises(ValueError, match=r"context_positions must have shape .*got shape \(5,\)"):
        attention(x, x, context_positions=torch.arange(5))
    with pytest.raises(ValueError, match="cls_reset must be False in cross-attention"):
        layer("tupe", CrossAttention, cls_reset=True)(x, x)


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WHOLE_ONLY)
def test_what_has_no_place_for_real_times_says_why(name):
    message = rf"positions must be whole numbers, as {encodings.get(name).__name__} .*, got 0.5"
    with pytest.raises(ValueError, match=message):
        layer(name)(tokens(), positions=double(TIMES))


@pytest.mark.parametrize(
    ("name", "positions", "message"),
    [
        ("learnable", [0, 1, 2, 3, 4, 12], r"positions must lie in the table, got 12.*max_length"),
        ("dft", [0, 1, 2, 3, 4, 12], r"positions must lie in the table, got 12.*max_length = 12"),
        ("tupe", [0, 1, 2, 3, 4, 12], r"at most max_length - 1 = 11, as TUPE has a row.* got 12"),
        ("tape", [0, 1, 2, 3, 4, 11.5], r"from 0 to max_length - 1 = 11, as TAPE's .*, got 11.5"),
        ("tape", [0, 1, 2, 3, 4, -1], r"from 0 to max_length - 1 = 11, as TAPE's .*, got -1"),
        ("erpe", [0, 1, 2, 3, 4, 12], r"at most max_length - 1 = 11 apart, as ERPE .*, got 12"),
        ("learnable", [0, 1, 2, 3, 4, -1], r"must be at least 0, as Learnable has .*, got -1"),
        ("dft", [0, 1, 2, 3, 4, -1], r"must be at least 0, as DFT has .*, got -1"),
        ("tupe", [0, 1, 2, 3, 4, -3], r"must be at least 0, as TUPE has .*, got -3"),
        ("conv_spe", [0, 1, 2, 3, 4, -3], r"must be at least 0, as ConvSPE draws .*, got -3"),
        ("none", [0, 1, 2, 3, 4], r"must have shape \(length\) = \(6,\) or .* = \(2, 6\), got"),
        ("none", torch.zeros(3, 6), r"or \(batch, length\) = \(2, 6\), got shape \(3, 6\)"),
        ("none", torch.zeros(2, 6, 2), r"or \(batch, length\) = \(2, 6\), got shape \(2, 6, 2\)"),
        ("none", torch.ones(6).bool(), r"must be integers or real numbers, got dtype torch.bool"),
        ("none", [0, 1, 2, 3, 4, math.nan], "positions must be finite, got nan"),
        ("none", [0, 1, 2, 3, 4, math.inf], "positions must be finite, got inf"),
    ],
)
def test_positions_that_cannot_be_served_are_named(name, positions, message):
    with pytest.raises(ValueError, match=message):
        layer(name)(tokens(), positions=positions)


OF_CONTEXT = [
    ("learnable", [0, 0.5, 1, 2], "must be whole numbers, as Learnable has .*, got 0.5"),
    ("relative", [0, 0.5, 1, 2], "must be whole numbers, as Relative.*, got 0.5"),
    ("learnable", [0, 5, 1, 20], "must lie in the table, got 20"),
    ("tupe", [0, 5, 1, 20], "must be at most max_length - 1 = 11, as TUPE has .*, got 20"),
    ("tape", [0, 5, 1, 20], "must be from 0 to max_length - 1 = 11, as TAPE's .*, got 20"),
    ("erpe", [0, 5, 1, 20], "must be at most max_length - 1 = 11 apart, as ERPE .*, got 20"),
    ("conv_spe", [0, 5, 1, 200], "must be below 16 times max_length .*, got 200"),
    ("xpos", [0, 5, 1, 1e6], "must lie within .* of the middle of max_length"),
    ("dywpe", [0, 5, 1, 2], "must be None for DyWPE"),
]


@pytest.mark.parametrize(("name", "positions", "message"), OF_CONTEXT)
def test_positions_of_the_context_go_by_their_own_name(name, positions, message):
    attention = layer(name, CrossAttention)
    with pytest.raises(ValueError, match=f"^context_positions {message}"):
        attention(tokens(3), tokens(4), context_positions=positions)


def test_where_both_sequences_have_positions_a_message_on_both_names_both():
    position = {"scaling": "dynamic_ntk", "original_length": 4}
    attention = layer("rotary", CrossAttention, **position)
    with pytest.raises(ValueError, match=r"^positions and context_positions must reach from 0"):
        attention(tokens(2), tokens(2), positions=[-3, -2], context_positions=[-9, -8])


# -- doors of one's own ----------------------------------------------------------------------------


class Nearby(Position):
    """The ten lines of the benchmark's page: each token prefers its neighbours."""

    def __init__(self, d_model, n_heads, max_length):
        super().__init__(d_model, n_heads, max_length)
        self.strength = nn.Parameter(torch.ones(n_heads, 1, 1))

    def bias(self, x, q, k):
        t = torch.arange(x.shape[1], device=x.device)
        return -self.strength * (t - t[:, None]).abs()


class NearbyInTime(Nearby):
    """The same for tokens that stand anywhere."""

    def bias(self, x, q, k, places):
        return -self.strength * places.offset().abs()


def of_ones_own(cls, layer_cls=SelfAttention, **options):
    torch.manual_seed(3)
    return randomised(layer_cls(D_MODEL, N_HEADS, cls(D_MODEL, N_HEADS, MAX), **options))


def test_both_forms_count_alike():
    first, second = of_ones_own(Nearby), of_ones_own(NearbyInTime)
    x = tokens()
    torch.testing.assert_close(first(x), second(x), **TOLERANCE)
    causal = of_ones_own(Nearby, causal=True), of_ones_own(NearbyInTime, causal=True)
    torch.testing.assert_close(causal[0](x), causal[1](x), **TOLERANCE)
    assert NearbyInTime.doors() == Nearby.doors() == ("bias",)


@pytest.mark.parametrize("s", [WHOLE, TIMES])
def test_a_door_with_places_serves_everything(s):
    attention = of_ones_own(NearbyInTime)
    strength = attention.position.strength.flatten().tolist()

    def score(b, h, i, j, q, k):
        return content(q, k) - strength[h] * abs(s[b][i] - s[b][j])

    x = tokens()
    expected = double(naive.self_attention(attention, x.tolist(), score=score))
    torch.testing.assert_close(attention(x, positions=s), expected, **TOLERANCE)
    cross, context, t = of_ones_own(NearbyInTime, CrossAttention), tokens(3), [5.5, 0.0, 2.0]
    strength = cross.position.strength.flatten().tolist()

    def between(b, h, i, j, q, k):
        return content(q, k) - strength[h] * abs(s[b][i] - t[j])

    expected = naive.cross_attention(cross, x.tolist(), context.tolist(), between)
    ours = cross(x, context, positions=s, context_positions=t)
    torch.testing.assert_close(ours, double(expected), **TOLERANCE)


class Old:
    """Doors of the first kind."""

    class Embed(Position):
        def embed(self, x):
            return x + torch.arange(x.shape[1])[:, None]

    class Rotate(Position):
        def rotate(self, q, k):
            return q * torch.arange(q.shape[2])[:, None], k

    class Mix(Position):
        def mix(self, x):
            return torch.eye(x.shape[1], dtype=x.dtype)

    class Bias(Nearby):
        pass


@pytest.mark.parametrize("door", ["embed", "rotate", "bias", "mix"])
def test_a_door_that_counts_for_itself_serves_counted_tokens_only(door):
    cls = getattr(Old, door.title())
    attention, x = of_ones_own(cls), tokens()
    assert attention(x).isfinite().all()
    message = (
        rf"to serve given positions, but {cls.__name__}\.{door} counts .*{door}\(self, .*places"
    )
    with pytest.raises(ValueError, match=message):
        attention(x, positions=torch.arange(LENGTH))
    with pytest.raises(ValueError, match=message):
        attention.weights(x, positions=torch.arange(LENGTH))
    cross = of_ones_own(cls, CrossAttention)
    if door == "embed":  # each sequence by itself
        assert cross(x, x[:, :3]).isfinite().all()
    else:
        with pytest.raises(ValueError, match="to serve cross-attention, but"):
            cross(x, x[:, :3])
    with pytest.raises(ValueError, match=r"to serve (cross-attention with )?given positions, but"):
        cross(x, x, positions=torch.arange(LENGTH))


@pytest.mark.parametrize(
    "cls", [published.BatchIndexed, published.UnmaskedSkew, published.TokenConvolution]
)
def test_what_published_code_did_is_not_stretched(cls):
    attention = of_ones_own(cls)
    assert attention(tokens()).isfinite().all()
    with pytest.raises(ValueError, match=rf"given positions, but {cls.__name__}\."):
        attention(tokens(), positions=torch.arange(LENGTH))


def test_a_table_of_ones_own_is_looked_up():
    """Whatever a derived class makes of a table that has a formula, its own table counts."""
    quiet = published.RescaledSinusoidal(D_MODEL, N_HEADS, MAX)
    configured = published.ConfiguredTAPE(D_MODEL, N_HEADS, MAX, n_steps=20)
    x = torch.zeros(1, 3, D_MODEL)
    for position in (quiet, configured):
        attention = SelfAttention(D_MODEL, N_HEADS, position)
        places = attention._places(x, None, torch.tensor([5, 0, 9]))
        assert torch.equal(position.embed(x, places)[0], position.rows(MAX)[[5, 0, 9]])
        with pytest.raises(ValueError, match=r"must be whole numbers, as \w+ has one row for each"):
            attention(x, positions=[0.5, 1, 2])


@pytest.mark.filterwarnings("ignore:positions fall")
def test_doors_may_leave_places_out_or_want_them_always():
    got = []

    class Spy(Position):
        def embed(self, x, places=None):
            got.append(places)
            return x

        def bias(self, x, q, k, places):
            got.append(places)

    x = tokens()
    of_ones_own(Spy)(x)
    left_out, always = got
    assert left_out is None
    assert always.plain
    assert torch.equal(always.queries, torch.arange(LENGTH)[None])
    assert torch.equal(always.tokens, x)
    got.clear()
    of_ones_own(Spy, causal=True)(x, positions=TIMES)
    assert all(places.causal and not places.plain for places in got)
    assert torch.equal(
        got[1].offset(), double(TIMES)[:, None, None] - double(TIMES)[:, None, :, None]
    )


def test_a_misspelt_door_with_places_is_found():
    with pytest.raises(ValueError, match=r"Mine\.biass is no door.* mean 'bias'\?"):
        type("Mine", (Position,), {"biass": lambda self, x, q, k, places: None})


class Plane(Position):
    """Tokens on a plane: the score falls with their distance."""

    n_axes = 2

    def bias(self, x, q, k, places):
        return -places.offset().norm(dim=-1)


def test_positions_may_have_several_axes():
    attention = of_ones_own(Plane)
    x = tokens()
    spots = torch.rand(BATCH, LENGTH, 2, dtype=torch.float64)

    def score(b, h, i, j, q, k):
        return content(q, k) - math.dist(spots[b, i].tolist(), spots[b, j].tolist())

    expected = double(naive.self_attention(attention, x.tolist(), score=score))
    torch.testing.assert_close(attention(x, positions=spots), expected, **TOLERANCE)
    mask = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    mask[0, 3:] = False
    filled = spots.where(mask[..., None], math.nan)
    alone = attention(x[:1, :3], positions=spots[0, :3])
    padded = attention(x, mask, positions=filled)
    torch.testing.assert_close(padded[:1, :3], alone, **TOLERANCE)
    with pytest.raises(ValueError, match=r"positions must be given, with n_axes = 2 numbers a tok"):
        attention(x)
    with pytest.raises(ValueError, match=r"\(length, n_axes\) = \(6, 2\) or .*got shape \(2, 6\)"):
        attention(x, positions=spots[..., 0])
    with pytest.raises(ValueError, match="one number a token in a model, got Plane with"):
        TimeSeriesTransformer(2, 2, 5, Plane)


def test_places_by_hand():
    x = tokens()
    places = Places.of(x)
    position = encodings.make("alibi", D_MODEL, N_HEADS, MAX).double()
    assert torch.equal(position.bias(x, x, x, places), position.bias(x, x, x))
    assert places.plain
    assert not places.causal
    assert torch.equal(places.keys, torch.arange(LENGTH)[None])


# -- transforms ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["none", "rotary", "alibi", "t5", "relative", "sinusoidal"])
def test_given_positions_compile_and_stack(name):
    torch.compiler.reset()
    attention = layer(name)
    x, positions = tokens(), torch.tensor(WHOLE)
    compiled = torch.compile(attention, backend="aot_eager", fullgraph=True)
    expected = attention(x, positions=positions)
    torch.testing.assert_close(compiled(x, positions=positions), expected, **TOLERANCE)
    pair = [attention, copy.deepcopy(attention)]
    with torch.no_grad():
        pair[1].qkv.weight.mul_(1.5)
    parameters, buffers = stack_module_state(pair)

    def run(p, b, x, t):
        return functional_call(pair[0], (p, b), (x,), {"positions": t})

    together = vmap(run, in_dims=(0, 0, None, None))(parameters, buffers, x, positions)
    one_by_one = torch.stack([a(x, positions=positions) for a in pair])
    torch.testing.assert_close(together, one_by_one, **TOLERANCE)


@pytest.mark.parametrize("name", ["learnable", "tupe", "relative", "erpe", "conv_spe"])
def test_in_a_transform_whole_positions_must_be_integers(name):
    attention = layer(name)
    x = tokens()
    run = vmap(lambda x, t: attention(x[None], positions=t)[0], in_dims=(0, 0), randomness="same")
    ours = run(x, torch.tensor(WHOLE))
    torch.testing.assert_close(ours, attention(x, positions=torch.tensor(WHOLE)), **TOLERANCE)
    with pytest.raises(ValueError, match="must be integers in a transformed program, as"):
        run(x, double(WHOLE))


# -- models ----------------------------------------------------------------------------------------

SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 24, "dropout": 0.0}


def model(cls, position="rotary", length=20, **options):
    torch.manual_seed(1)
    return cls(3, 4, length, position, **{**SMALL, **options}).double().eval()


def series(length=20, batch=4):
    return torch.randn(batch, length, 3, dtype=torch.float64)


@pytest.mark.parametrize("name", PLACED)
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_times_that_count_are_the_default(name, pooling):
    net, x = model(TimeSeriesTransformer, name, pooling=pooling), series()
    torch.testing.assert_close(net(x, times=torch.arange(20)), net(x), **TOLERANCE)
    mask = torch.ones(4, 20, dtype=torch.bool)
    mask[1, 15:] = False
    times = torch.arange(20).double().expand(4, -1).where(mask, math.nan)
    torch.testing.assert_close(net(x, mask, times), net(x, mask), **TOLERANCE)


@pytest.mark.parametrize("name", ["rotary", "t5", "alibi", "sinusoidal", "tpe"])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_lost_steps_with_their_times_are_masked_steps(name, pooling):
    """What was masked may be left out, if the others say when they were taken."""
    net, x = model(TimeSeriesTransformer, name, pooling=pooling), series()
    mask = torch.rand(20) < 0.6
    mask[0] = True
    expected = net(x, mask.expand(4, -1))
    ours = net(x[:, mask], times=torch.arange(20)[mask])
    torch.testing.assert_close(ours, expected, **TOLERANCE)


@pytest.mark.parametrize("name", ["none", "rotary", "t5", "alibi"])
@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
@pytest.mark.parametrize("cls", [TimeSeriesTransformer, PatchTransformer])
def test_a_shift_of_all_times_is_not_seen(name, pooling, cls):
    net, x = model(cls, name, pooling=pooling), series()
    times = torch.rand(4, 20, dtype=torch.float64).cumsum(1) * 3
    mask = torch.ones(4, 20, dtype=torch.bool)
    mask[0, :9] = mask[2, 14:] = False
    ours = net(x, mask, (times + 5.5).where(mask, -1e6))
    torch.testing.assert_close(ours, net(x, mask, times), **TOLERANCE)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_shuffled_steps_with_their_times_are_the_same_series(pooling):
    net, x = model(TimeSeriesTransformer, "rotary", pooling=pooling), series()
    times = torch.rand(20, dtype=torch.float64) * 19
    order = torch.randperm(20)
    ours = net(x[:, order], times=times[order])
    torch.testing.assert_close(ours, net(x, times=times), **TOLERANCE)
    assert not torch.allclose(ours, net(x))


@pytest.mark.parametrize("stride", [4, 2])
@pytest.mark.parametrize("length", [20, 19])
@pytest.mark.parametrize("masked", [False, True])
def test_the_time_of_a_patch_is_the_mean_of_its_steps(stride, length, masked):
    net = model(PatchTransformer, patch=4, stride=stride)
    x, times = series(length), torch.rand(4, length).cumsum(1)
    mask = torch.ones(4, length, dtype=torch.bool)
    if masked:
        mask[0, 5:10] = mask[1, 2] = False
    seen = []
    attention = net.layers[0].attention
    attention.position.rotate = lambda q, k: (q, k)  # a door that counts, to be refused
    with pytest.raises(ValueError, match=r"given positions, but Rotary\.rotate counts"):
        net(x, mask if masked else None, times)
    del attention.position.rotate
    original = attention.attend
    attention.attend = lambda *inputs, places, **more: (
        seen.append(places) or original(*inputs, places=places, **more)
    )
    net(x, mask if masked else None, times.where(mask, math.nan))
    starts = range(0, 1 + stride * math.ceil((length - 4) / stride), stride)
    for b in range(4):
        for start, ours in zip(starts, seen[0].queries[b].tolist(), strict=True):
            real = [s for s in range(start, min(start + 4, length)) if mask[b, s]]
            expected = sum(times[b, s].item() for s in real) / max(len(real), 1)
            assert ours == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["t5", "alibi", "tupe"])
def test_scores_of_position_alone_are_still_computed_once(name, monkeypatch):
    calls = []
    cls = encodings.get(name)
    original = cls.bias
    spy = lambda *a, **o: calls.append(1) or original(*a, **o)  # noqa: E731
    monkeypatch.setattr(cls, "bias", spy)
    model(TimeSeriesTransformer, name, n_layers=3)(series(), times=torch.arange(20).flip(0))
    assert len(calls) == 1


def test_times_that_a_model_cannot_serve_are_named():
    net, x = model(TimeSeriesTransformer), series()
    with pytest.raises(ValueError, match=r"times must have shape .* \(4, 20\), got shape \(19,\)"):
        net(x, times=torch.arange(19))
    with pytest.raises(ValueError, match="times must be finite, got nan"):
        net(x, times=[math.nan] * 20)
    with pytest.raises(ValueError, match="positions must be whole numbers, as Learnable"):
        model(PatchTransformer, "learnable")(x, times=torch.arange(20))
    with pytest.raises(ValueError, match=r"to serve given positions, but Nearby\.bias"):
        model(TimeSeriesTransformer, Nearby)(x, times=torch.arange(20))


def test_times_of_patches_are_in_steps_and_whoever_cannot_serve_them_says_what_helps():
    model = PatchTransformer(1, 2, 24, "tape", 8, 2, 1, 8, patch=4).eval()
    x, times = torch.randn(2, 24, 1), torch.arange(24)
    message = r"times must be .* TAPE .* in steps: positions must .*5\.5.*\(times - 1\.5\) / 4"
    with pytest.raises(ValueError, match=message):
        model(x, times=times)
    in_patches = model(x, times=(times - 1.5) / 4)
    torch.testing.assert_close(in_patches, model(x), rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match=r"^times must have shape"):
        model(x, times=times[1:])


@pytest.mark.parametrize("stride", [4, 2])
def test_advice_on_times_of_patches_gives_whole_ones_where_patches_are_whole(stride):
    net, x = model(PatchTransformer, "learnable", patch=4, stride=stride), series()
    times = torch.arange(20.0)
    with pytest.raises(ValueError, match=rf"help, \(times - 1.5\) / {stride}, "):
        net(x, times=times)
    torch.testing.assert_close(net(x, times=(times - 1.5) / stride), net(x), **TOLERANCE)


@pytest.mark.parametrize("length", [20, 19, 17])
def test_advice_on_times_of_patches_gives_whole_ones_where_steps_are_missing(length):
    net, x = model(PatchTransformer, "learnable", length, patch=4), series(length)
    mask = torch.ones(4, length, dtype=torch.bool)
    mask[0, :2] = mask[1, 13:] = mask[2, 5] = False
    with pytest.raises(ValueError, match=rf", or torch\.arange\({length}\) // 4 for whole ones$"):
        net(x, mask, torch.arange(length))
    numbers = torch.arange(length) // 4
    torch.testing.assert_close(net(x, mask, numbers), net(x, mask), **TOLERANCE)


@pytest.mark.parametrize("name", [*sorted(NO_NUMBERS), "dywpe", "window_statistics"])
@pytest.mark.parametrize("cls", [TimeSeriesTransformer, PatchTransformer])
def test_times_that_no_numbers_would_mend_are_to_be_left_out(name, cls):
    who = encodings.get(name).__name__
    with pytest.raises(ValueError, match=rf"^times must be None for {who}.*, got given ones$"):
        model(cls, name)(series(), times=torch.arange(20))


def test_times_go_by_their_own_name():
    with pytest.raises(ValueError, match=r"^times must be whole numbers, as Learnable .* 0\.5$"):
        model(TimeSeriesTransformer, "learnable")(series(), times=torch.arange(20) / 2)


def test_times_behind_a_class_token_are_told_with_their_shift():
    net = model(TimeSeriesTransformer, "learnable", pooling="cls")
    message = r"^times \(one later behind a class token\) must lie in the table, got 21"
    with pytest.raises(ValueError, match=message):
        net(series(), times=torch.arange(20) + (torch.arange(20) == 19))


def test_models_with_times_stack():
    nets = [model(TimeSeriesTransformer, name, n_layers=1) for name in ("rotary", "rotary")]
    with torch.no_grad():
        nets[1].head.weight.mul_(2)
    parameters, buffers = stack_module_state(nets)
    x, times = series(), torch.rand(4, 20).cumsum(1)

    def run(p, b, x, t):
        return functional_call(nets[0], (p, b), (x, None, t))

    together = vmap(run, in_dims=(0, 0, None, None))(parameters, buffers, x, times)
    one_by_one = torch.stack([net(x, None, times) for net in nets])
    torch.testing.assert_close(together, one_by_one, **TOLERANCE)


# -- layers that differ ----------------------------------------------------------------------------


def test_each_layer_may_have_an_encoding_of_its_own():
    names = ["relative", "relative", "none", "t5", "t5"]
    net, x = model(TimeSeriesTransformer, names, n_layers=5), series()
    made = [one.attention.position for one in net.layers]
    assert [type(p) for p in made] == [encodings.get(name) for name in names]
    assert made[3] is made[4]  # as its authors have it
    assert made[0] is not made[1]
    assert sum("position.values" in key for key in net.state_dict()) == 1
    shared = model(TimeSeriesTransformer, names, n_layers=5, share_position=True)
    assert shared.layers[0].attention.position is shared.layers[1].attention.position
    net(x).sum().backward()
    assert made[3].values.grad.abs().sum() > 0
    # the same as layers that are put together by hand
    twin = model(TimeSeriesTransformer, "relative", n_layers=5)
    for ours, theirs in zip(net.layers, twin.layers, strict=True):
        theirs.attention.position = ours.attention.position
    twin.load_state_dict(net.state_dict())
    torch.testing.assert_close(twin(x), net(x), **TOLERANCE)


def test_a_table_in_the_list_enters_where_it_first_stands():
    entered = []

    class Marked(Position):
        def embed(self, x):
            entered.append(1)
            return x

    mine = Marked(16, 2, 20)
    for entries, times in [([mine, mine], 1), (["none", mine], 1), ([Marked, Marked], 1)]:
        entered.clear()
        model(TimeSeriesTransformer, entries)(series())
        assert len(entered) == times
    entered.clear()
    model(TimeSeriesTransformer, [Marked, Marked], share_position=False)(series())
    assert len(entered) == 2


def test_a_list_of_another_length_is_named():
    with pytest.raises(ValueError, match=r"one encoding or a list of n_layers = 2, got 3"):
        model(TimeSeriesTransformer, ["none"] * 3)


@pytest.mark.parametrize("cls", [TimeSeriesTransformer, PatchTransformer, LanguageModel])
def test_options_beside_a_list_are_refused_with_the_way_out(cls):
    sizes = {"d_model": 16, "n_heads": 2, "n_layers": 3}
    data = (5,) if cls is LanguageModel else (3, 4, 80)
    options = {"scaling": "yarn", "original_length": 5}
    message = r"must be empty for a list .*functools\.partial\(posenc\.encodings\.Rotary, scaling="
    with pytest.raises(ValueError, match=message):
        cls(*data, position=["rotary"] * 3, position_options=options, **sizes)
    stretched = functools.partial(encodings.Rotary, **options)
    net = cls(*data, position=["rotary", stretched, "none"], **sizes)
    turning, slower, still = (layer.attention.position for layer in net.layers)
    assert isinstance(still, encodings.NoPosition)
    assert slower.stretching.scaling == "yarn"
    assert turning.stretching.scaling == "none"
    assert slower.omega[-1] < turning.omega[-1]
    assert slower.max_length == turning.max_length


def test_clock_times_whose_steps_float32_rounds_are_warned_of():
    layer = SelfAttention(8, 2, encodings.make("rotary", 8, 2, 4))
    clock = torch.tensor([1.7e9, 1.7e9 + 300, 1.7e9 + 600, 1.7e9 + 900])
    with pytest.warns(UserWarning, match="steps between them are rounded"):
        layer(torch.randn(1, 4, 8), positions=clock)
    layer(torch.randn(1, 4, 8), positions=clock.double().round())
