"""Positions as an argument: any numbers, two sequences, one's own doors, and times in models."""

# ruff: noqa: ARG001, ARG002 - doors and scores take all their arguments

import copy
import functools
import math

import layers
import naive
import numpy as np
import pytest
import torch
from layers import Nearby, NearbyInTime, awake, close, double
from torch.autograd import gradcheck
from torch.func import vmap

from posenc import encodings
from posenc.attention import CrossAttention, Position, SelfAttention, by_offset
from posenc.models import LanguageModel, PatchTransformer, TimeSeriesTransformer
from posenc_book.audit import published

D_MODEL, N_HEADS, D_HEAD, LENGTH, BATCH, MAX = 8, 2, 4, 6, 2, 12
NAMES = encodings.names()
NO_NUMBERS = {"cope", "fox", "path"}  # which make distances themselves, of tokens
OF_TOKENS = [*sorted(NO_NUMBERS), "dywpe", "window_statistics"]
PLACED = [n for n in [*encodings.names(), *encodings.names("modern")] if n not in NO_NUMBERS]
SPE = {"sine_spe": {"n_realisations": 3}, "conv_spe": {"n_realisations": 3, "kernel_size": 4}}
WHOLE = [[3, 0, 7, 4, 11, 5], [1, 2, 9, 8, 0, 10]]
TIMES = [[0.5, 1.25, 1.5, 6.0, 7.75, 10.9], [10.5, 0.1, 3.3, 2.5, 9.0, 4.0]]
ANYWHERE = ["none", "sinusoidal", "tape", "learnable_frequency", "sine_linear", "rotary", "t5"]
ANYWHERE += ["alibi", "sine_spe", "tpe"]
WHOLE_ONLY = sorted(set(NAMES) - set(ANYWHERE))


X = torch.zeros(BATCH, LENGTH, D_MODEL, dtype=torch.float64)


def layer(name, cls=SelfAttention, length=MAX, **options):
    return layers.layer(name, length=length, cls=cls, options=SPE.get(name, {}) | options)


def tokens(length=LENGTH, batch=BATCH):
    return torch.randn(batch, length, D_MODEL, dtype=torch.float64)


# -- against the loops -----------------------------------------------------------------------------
# `score` makes one from queries, keys and their positions.

ROWS = {**naive.ROWS, "tpe": naive.ROWS["sinusoidal"]}


def content(q, k):
    return naive.dot(q, k) / math.sqrt(D_HEAD)


def rotary(p, h, s, t, q, k):
    pairs = [(0, 1), (2, 3)] if p.pairing == "interleaved" else [(0, 2), (1, 3)]
    return content(naive.turned(q, s, pairs), naive.turned(k, t, pairs))


def of_offset(table, h, s, t):
    """Return the row of a table that is for all heads or for each, clipped at its ends."""
    reach = table.shape[1] // 2
    return table[min(h, len(table) - 1), max(-reach, min(reach, int(t - s))) + reach].tolist()


def shaw(p, h, s, t, q, k):
    return content(q, k) + content(q, of_offset(p.keys, h, s, t))


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
        if name == "tpe" and p.similarity:
            distance = sum((a - c) ** 2 for a, c in zip(inputs[b][i], others[b][j], strict=True))
            return content(q, k) + math.exp(-distance / 2 * math.exp(-2 * p.log_sigma.item()))
        return SCORES[name](p, h, s[b][i], t[b][j], q, k) if name in SCORES else content(q, k)

    behind = {"erpe": "extra_weight", "relative": "extra_value"}.get(name)
    if behind and p.values is not None:
        more = {behind: lambda b, h, i, j: of_offset(p.values, h, s[b][i], t[b][j])}
    else:
        more = {}
    if context is None:
        return double(naive.self_attention(attention, inputs, score=score, **more))
    return double(naive.cross_attention(attention, inputs, others, score, **more))


LOOPS = [
    *((name, {}) for name in NAMES if name not in SPE),
    ("rotary", {"pairing": "half"}),
    *(("relative", {"max_distance": m, "values": True}) for m in (1, 6, None)),
    *(("relative", {"max_distance": 2, "values": v, "per_head": True}) for v in (False, True)),
    ("erpe", {"per_head": False}),
    ("tpe", {"learn_sigma": True}),
    ("tpe", {"similarity": False}),
]


@pytest.mark.parametrize(("name", "options"), LOOPS, ids=str)
def test_whole_positions_equal_the_loops(name, options):
    attention, x = layer(name, **options), tokens()
    ours = attention(x, positions=torch.tensor(WHOLE))
    close(ours, reference(attention, name, x, WHOLE))
    close(attention(x, positions=double(WHOLE)), ours)
    expected = reference(attention, name, x, [WHOLE[0], WHOLE[0]])
    close(attention(x, positions=torch.tensor(WHOLE[0])), expected)
    close(attention(x), reference(attention, name, x, [list(range(LENGTH))] * BATCH))


@pytest.mark.parametrize("name", [n for n in ANYWHERE if n not in SPE])
def test_real_times_equal_the_loops(name):
    attention, x = layer(name), tokens()
    ours = attention(x, positions=double(TIMES))
    close(ours, reference(attention, name, x, TIMES))
    shared = attention(x, positions=double(TIMES[1]))
    close(shared, reference(attention, name, x, [TIMES[1]] * 2))
    # lists and arrays will do
    assert torch.equal(attention(x, positions=TIMES), ours)
    assert torch.equal(attention(x, positions=np.array(TIMES[1])), shared)


@pytest.mark.parametrize("name", SPE)
@pytest.mark.parametrize("told", [WHOLE, WHOLE[0], None])
def test_stochastic_codes_stand_where_they_are_told(name, told):
    """A code of position t is that of the t-th of tokens that count."""
    attention = layer(name)
    q, k = torch.randn(2, BATCH, N_HEADS, LENGTH, D_HEAD, dtype=torch.float64)
    codes = attention.position.codes(MAX)
    steps = torch.arange(LENGTH) if told is None else torch.tensor(told)
    places = None if told is None else attention._places(tokens(), None, steps)
    rotated, steps = attention.position.rotate(q, k, places), steps.expand(BATCH, -1)
    for x, code, ours in zip((q, k), codes, rotated, strict=True):
        for b, h, m, r in np.ndindex(BATCH, N_HEADS, LENGTH, 3):
            expected = x[b, h, m] @ code[h, :, steps[b, m], r] / math.sqrt(3)
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
    close(ours.double(), kernel, 0.02)


# -- what must not matter --------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLACED)
def test_counting_is_what_happens_without_positions_where_there_are_blocks(name):
    length = 260
    attention, x = layer(name, length=length), tokens(length)
    count = torch.arange(length)
    expected = attention(x)
    close(attention(x, positions=count), expected)
    rows = count.double().expand(BATCH, -1)
    close(attention(x, positions=rows), expected)
    close(attention.weights(x, positions=count), attention.weights(x))


OFFSETS_ONLY = ["none", "rotary", "t5", "alibi", "transformer_xl", "kerple", "xpos", "pope"]
SHIFTS = [
    *((name, TIMES, shift) for name in OFFSETS_ONLY for shift in (-40, 1000.125)),
    *((name, TIMES, 1.6e9) for name in OFFSETS_ONLY if name != "xpos"),  # which refuses them
    *((name, WHOLE, shift) for name in ("relative", "erpe", "deberta") for shift in (-40, 1000)),
]


@pytest.mark.parametrize(("name", "positions", "shift"), SHIFTS)
def test_relative_encodings_do_not_see_a_shift_of_all_positions(name, positions, shift):
    attention, x, positions = layer(name), tokens(), double(positions)
    # rotary loses digits of the angle as positions grow; times near 1e9 keep 1e-7
    tolerance = 1e-6 if shift > 1e6 else 1e-9
    close(attention(x, positions=positions + shift), attention(x, positions=positions), tolerance)


@pytest.mark.parametrize("name", PLACED)
def test_positions_of_padded_tokens_are_not_looked_at(name):
    attention, x = layer(name), tokens()
    mask = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    mask[0, [1, 4]] = False
    positions = double(WHOLE)
    filled = positions.where(mask, math.nan)
    ours = attention(x.where(mask[..., None], math.nan), mask, positions=filled)
    real = torch.tensor(WHOLE[0])[mask[0]]
    close(ours[:1, mask[0]], attention(x[:1, mask[0]], positions=real))
    close(ours[1], attention(x, positions=positions)[1])


@pytest.mark.parametrize("name", ["rotary", "sinusoidal", "learnable_frequency", "alibi"])
def test_gradients_reach_positions_that_are_computed(name):
    attention, x = layer(name), tokens()
    times = double(TIMES).requires_grad_()
    run = lambda t: attention(x, positions=t)  # noqa: E731
    assert gradcheck(run, (times,), fast_mode=True)


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


@pytest.mark.parametrize(("name", "options"), LOOPS, ids=str)
def test_cross_attention_equals_the_loops(name, options):
    attention = layer(name, CrossAttention, **options)
    x, context = tokens(), tokens(4)
    count, fewer = [list(range(LENGTH))] * 2, [list(range(4))] * 2
    expected = reference(attention, name, x, count, context, fewer)
    close(attention(x, context), expected)
    s, t = [WHOLE[0]] * 2, [[2, 8, 1, 0]] * 2
    given = {"positions": torch.tensor(s), "context_positions": torch.tensor(t)}
    expected = reference(attention, name, x, s, context, t)
    close(attention(x, context, **given), expected)


@pytest.mark.parametrize("name", [n for n in ANYWHERE if n not in SPE])
def test_cross_attention_over_real_times(name):
    attention = layer(name, CrossAttention)
    x, context, t = tokens(), tokens(3), [[0.25, 3.5, 9.0], [10.5, 0.0, 4.75]]
    ours = attention(x, context, positions=TIMES, context_positions=t)
    close(ours, reference(attention, name, x, TIMES, context, t))


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
    close(out[:1], attention(x[:1], context[:1, :2]))
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
    close(other(x, x), ours(x))
    given = {"positions": torch.tensor(WHOLE), "context_positions": torch.tensor(WHOLE)}
    close(other(x, x, **given), ours(x, positions=torch.tensor(WHOLE)))


@pytest.mark.parametrize(
    ("x", "context", "more", "message"),
    [
        (X[0], X, {}, r"x must have shape \(batch, length, d_model = 8\), got \(6, 8\)"),
        (X, X[..., :5], {}, r"context must have shape .*, got \(2, 6, 5\)"),
        (X, X[:, :0], {}, "context must have at least one token, got an empty one"),
        (X, X[:1], {}, "context must have batch = 2 rows as x has, got 1"),
        (X, X, {"context_positions": range(5)}, r"context_positions must have .*got shape \(5,\)"),
    ],
)
def test_cross_attention_names_what_does_not_fit(x, context, more, message):
    with pytest.raises(ValueError, match=message):
        layer("rotary", CrossAttention)(x, context, **more)


def test_cross_attention_has_no_token_of_a_class():
    with pytest.raises(ValueError, match="cls_reset must be False in cross-attention"):
        layer("tupe", CrossAttention, cls_reset=True)(X, X)


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WHOLE_ONLY)
def test_what_has_no_place_for_real_times_says_why(name):
    message = rf"positions must be whole numbers, as {encodings.get(name).__name__} .*, got 0.5"
    with pytest.raises(ValueError, match=message):
        layer(name)(tokens(), positions=double(TIMES))


@pytest.mark.parametrize(
    ("name", "positions", "message"),
    [
        ("learnable", [0, 1, 2, 3, 4, 12], r"must lie in the table, got 12.*max_length"),
        ("dft", [0, 1, 2, 3, 4, 12], r"must lie in the table, got 12.*max_length = 12"),
        ("tupe", [0, 1, 2, 3, 4, 12], r"must be at most max_length - 1 = 11, as TUPE .* got 12"),
        ("tape", [0, 1, 2, 3, 4, 11.5], r"must be from 0 to max_length - 1 = 11, .*, got 11.5"),
        ("tape", [0, 1, 2, 3, 4, -1], r"must be from 0 to max_length - 1 = 11, .*, got -1"),
        ("erpe", [0, 1, 2, 3, 4, 17], r"must be at most max_length - 1 = 11 apart, .*, got 17"),
        ("learnable", [0, 1, 2, 3, 4, -1], r"must be at least 0, as Learnable has .*, got -1"),
        ("dft", [0, 1, 2, 3, 4, -1], r"must be at least 0, as DFT has .*, got -1"),
        ("tupe", [0, 1, 2, 3, 4, -3], r"must be at least 0, as TUPE has .*, got -3"),
        ("conv_spe", [0, 1, 2, 3, 4, -3], r"must be at least 0, as ConvSPE draws .*, got -3"),
        ("conv_spe", [0, 1, 2, 3, 4, 200], "must be below 16 times max_length .*, got 200"),
        ("xpos", [0, 1, 2, 3, 4, 1e6], "must lie within .* of the middle of max_length"),
        ("dywpe", [0, 1, 2, 3, 4, 5], "must be None for DyWPE"),
        ("none", [0, 1, 2, 3, 4], r"must have shape .* = \(6,\) or .* = \(2, 6\), got"),
        ("none", torch.zeros(3, 6), r"must have shape .* = \(2, 6\), got shape \(3, 6\)"),
        ("none", torch.zeros(2, 6, 2), r"must have shape .* = \(2, 6\), got shape \(2, 6, 2\)"),
        ("none", torch.ones(6).bool(), r"must be integers or real numbers, got dtype torch.bool"),
        ("none", [0, 1, 2, 3, 4, math.nan], "must be finite, got nan"),
        ("none", [0, 1, 2, 3, 4, math.inf], "must be finite, got inf"),
    ],
)
def test_positions_that_cannot_be_served_are_named(name, positions, message):
    with pytest.raises(ValueError, match=f"^positions {message}"):
        layer(name)(X, positions=positions)
    with pytest.raises(ValueError, match=f"^context_positions {message}"):
        layer(name, CrossAttention)(X[:, :3], X, context_positions=positions)


def test_where_both_sequences_have_positions_a_message_on_both_names_both():
    position = {"scaling": "dynamic_ntk", "original_length": 4}
    attention = layer("rotary", CrossAttention, **position)
    with pytest.raises(ValueError, match=r"^positions and context_positions must reach from 0"):
        attention(tokens(2), tokens(2), positions=[-3, -2], context_positions=[-9, -8])


# -- doors of one's own ----------------------------------------------------------------------------


def of_ones_own(cls, layer_cls=SelfAttention, **options):
    torch.manual_seed(3)
    return awake(layer_cls(D_MODEL, N_HEADS, cls(D_MODEL, N_HEADS, MAX), **options))


@pytest.mark.parametrize("s", [WHOLE, TIMES])
def test_a_door_with_places_serves_everything(s):
    attention = of_ones_own(NearbyInTime)
    strength = attention.position.strength.flatten().tolist()

    def score(b, h, i, j, q, k):
        return content(q, k) - strength[h] * abs(s[b][i] - s[b][j])

    x = tokens()
    expected = double(naive.self_attention(attention, x.tolist(), score=score))
    close(attention(x, positions=s), expected)
    cross, context, t = of_ones_own(NearbyInTime, CrossAttention), tokens(3), [5.5, 0.0, 2.0]
    strength = cross.position.strength.flatten().tolist()

    def between(b, h, i, j, q, k):
        return content(q, k) - strength[h] * abs(s[b][i] - t[j])

    expected = naive.cross_attention(cross, x.tolist(), context.tolist(), between)
    close(cross(x, context, positions=s, context_positions=t), double(expected))


COUNTING = {  # doors of the first kind
    "embed": lambda self, x: x + torch.arange(x.shape[1])[:, None],
    "rotate": lambda self, q, k: (q * torch.arange(q.shape[2])[:, None], k),
    "bias": lambda self, x, q, k: -torch.arange(x.shape[1], dtype=x.dtype),
    "mix": lambda self, x: torch.eye(x.shape[1], dtype=x.dtype),
}


@pytest.mark.parametrize("door", COUNTING)
def test_a_door_that_counts_for_itself_serves_counted_tokens_only(door):
    cls = type("Mine", (Position,), {door: COUNTING[door]})
    attention, cross, x = of_ones_own(cls), of_ones_own(cls, CrossAttention), tokens()
    assert attention(x).isfinite().all()
    message = rf"to serve given positions, but Mine\.{door} counts .*{door}\(self, .*places"
    for call in (attention, attention.weights):
        with pytest.raises(ValueError, match=message):
            call(x, positions=torch.arange(LENGTH))
    if door == "embed":  # each sequence by itself
        assert cross(x, x[:, :3]).isfinite().all()
    else:
        with pytest.raises(ValueError, match="to serve cross-attention, but"):
            cross(x, x[:, :3])
    with pytest.raises(ValueError, match=r"to serve (cross-attention with )?given positions, but"):
        cross(x, x, positions=torch.arange(LENGTH))


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


class Plane(Position):
    """Tokens on a plane: the score falls with their distance."""

    n_axes = 2

    def bias(self, x, q, k, places):
        return -places.offset().norm(dim=-1)


class PlaneByOffset(Position):
    n_axes = 2

    @by_offset
    def bias(self, offset):
        return -offset.norm(dim=-1)[None]


@pytest.mark.parametrize("cls", [Plane, PlaneByOffset])
def test_positions_may_have_several_axes(cls):
    attention, x = of_ones_own(cls), tokens()
    spots = torch.rand(BATCH, LENGTH, 2, dtype=torch.float64)

    def score(b, h, i, j, q, k):
        return content(q, k) - math.dist(spots[b, i].tolist(), spots[b, j].tolist())

    expected = double(naive.self_attention(attention, x.tolist(), score=score))
    close(attention(x, positions=spots), expected)
    mask = torch.arange(LENGTH) < torch.tensor([[3], [LENGTH]])
    padded = attention(x, mask, positions=spots.where(mask[..., None], math.nan))
    close(padded[:1, :3], attention(x[:1, :3], positions=spots[0, :3]))
    with pytest.raises(ValueError, match=r"positions must be given, with n_axes = 2 numbers a tok"):
        attention(x)
    with pytest.raises(ValueError, match=r"\(length, n_axes\) = \(6, 2\) or .*got shape \(2, 6\)"):
        attention(x, positions=spots[..., 0])
    with pytest.raises(ValueError, match=rf"one number a token in a model, got {cls.__name__} wi"):
        TimeSeriesTransformer(2, 2, 5, cls)


# -- transforms ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["none", "rotary", "alibi", "t5", "relative", "sinusoidal"])
def test_given_positions_compile(name):
    torch.compiler.reset()
    attention = layer(name)
    x, positions = tokens(), torch.tensor(WHOLE)
    compiled = torch.compile(attention, backend="aot_eager", fullgraph=True)
    close(compiled(x, positions=positions), attention(x, positions=positions))


@pytest.mark.parametrize("name", ["learnable", "tupe", "relative", "erpe", "conv_spe"])
def test_in_a_transform_whole_positions_must_be_integers(name):
    attention, x = layer(name), tokens()
    run = vmap(lambda x, t: attention(x[None], positions=t)[0], in_dims=(0, 0), randomness="same")
    close(run(x, torch.tensor(WHOLE)), attention(x, positions=torch.tensor(WHOLE)))
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
    close(net(x, times=torch.arange(20)), net(x))
    mask = torch.ones(4, 20, dtype=torch.bool)
    mask[1, 15:] = False
    times = torch.arange(20).double().expand(4, -1).where(mask, math.nan)
    close(net(x, mask, times), net(x, mask))


@pytest.mark.parametrize("name", ["rotary", "t5", "alibi", "sinusoidal", "tpe"])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_lost_steps_with_their_times_are_masked_steps(name, pooling):
    """What was masked may be left out, if the others say when they were taken."""
    net, x = model(TimeSeriesTransformer, name, pooling=pooling), series()
    mask = torch.rand(20) < 0.6
    mask[0] = True
    close(net(x[:, mask], times=torch.arange(20)[mask]), net(x, mask.expand(4, -1)))


@pytest.mark.parametrize("name", ["none", "rotary", "t5", "alibi"])
@pytest.mark.parametrize("pooling", ["mean", "cls", "max"])
@pytest.mark.parametrize("cls", [TimeSeriesTransformer, PatchTransformer])
def test_a_shift_of_all_times_is_not_seen(name, pooling, cls):
    net, x = model(cls, name, pooling=pooling), series()
    times = torch.rand(4, 20, dtype=torch.float64).cumsum(1) * 3
    mask = torch.ones(4, 20, dtype=torch.bool)
    mask[0, :9] = mask[2, 14:] = False
    close(net(x, mask, (times + 5.5).where(mask, -1e6)), net(x, mask, times))


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_shuffled_steps_with_their_times_are_the_same_series(pooling):
    net, x = model(TimeSeriesTransformer, "rotary", pooling=pooling), series()
    times = torch.rand(20, dtype=torch.float64) * 19
    order = torch.randperm(20)
    ours = net(x[:, order], times=times[order])
    close(ours, net(x, times=times))
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


UNSERVED = [
    ("rotary", {}, range(19), r"times must have shape .* \(4, 20\), got shape \(19,\)"),
    ("rotary", {}, [math.nan] * 20, "times must be finite, got nan"),
    ("learnable", {}, torch.arange(20) / 2, r"times must be whole numbers, as Learnable .* 0\.5$"),
    (Nearby, {}, range(20), r".*to serve given positions, but Nearby\.bias"),
    ("learnable", {"pooling": "cls"}, [*range(19), 20], r"times \(one later behind a class token\) "
     "must lie in the table, got 21"),
    *((name, {}, range(20), "times must be None for .*, got given ones$") for name in OF_TOKENS),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "times", "message"), UNSERVED)
def test_times_that_a_model_cannot_serve_are_named(name, options, times, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        model(TimeSeriesTransformer, name, **options)(series(), times=times)
    if name in OF_TOKENS:
        with pytest.raises(ValueError, match=f"^{message}"):
            model(PatchTransformer, name)(series(), times=times)


@pytest.mark.parametrize("stride", [4, 2])
def test_advice_on_times_of_patches_gives_whole_ones_where_patches_are_whole(stride):
    net, x = model(PatchTransformer, "learnable", patch=4, stride=stride), series()
    times = torch.arange(20.0)
    with pytest.raises(ValueError, match=rf"help, \(times - 1.5\) / {stride}, "):
        net(x, times=times)
    close(net(x, times=(times - 1.5) / stride), net(x))


@pytest.mark.parametrize("length", [20, 19, 17])
def test_advice_on_times_of_patches_gives_whole_ones_where_steps_are_missing(length):
    net, x = model(PatchTransformer, "learnable", length, patch=4), series(length)
    mask = torch.ones(4, length, dtype=torch.bool)
    mask[0, :2] = mask[1, 13:] = mask[2, 5] = False
    with pytest.raises(ValueError, match=rf", or torch\.arange\({length}\) // 4 for whole ones$"):
        net(x, mask, torch.arange(length))
    numbers = torch.arange(length) // 4
    close(net(x, mask, numbers), net(x, mask))


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
