"""Every encoding against a loop-written reference of its paper's formula, in float64 to 1e-9."""

# ruff: noqa: ARG001 - doors and scores take all their arguments

import math

import layers
import naive
import numpy as np
import pytest
import torch
from layers import close, double
from torch.autograd import gradcheck

from posenc import encodings, frequencies, tables
from posenc.attention import SelfAttention

D_MODEL, N_HEADS, D_HEAD, LENGTH, BATCH = 8, 2, 4, 7, 2


def layer(name, length=LENGTH, d_model=D_MODEL, n_heads=N_HEADS, **options):
    return layers.layer(name, d_model, n_heads, length, options=options)


def tokens(length=LENGTH, d_model=D_MODEL, batch=BATCH):
    return torch.randn(batch, length, d_model, dtype=torch.float64)


def assert_layer(attention, x, **reference):
    close(attention(x), double(naive.self_attention(attention, x.tolist(), **reference)))


@pytest.mark.parametrize("name", naive.ROWS)
def test_added_encodings_have_three_scales(name):
    found, due = {}, {}
    for scale in ("paper", "unit", "learned"):
        position = encodings.make(name, 8, 2, 7, scale=scale).double()
        if scale == "learned":
            torch.nn.init.constant_(position.gain, 2.5)
        found[scale] = position.rows(7).tolist()
        due[scale] = np.array([naive.ROWS[name](position, t) for t in range(7)])
    np.testing.assert_allclose(found["paper"], due["paper"], atol=1e-9)
    norms = np.linalg.norm(due["unit"], axis=1, keepdims=True)
    np.testing.assert_allclose(found["unit"], due["unit"] / norms, atol=1e-9)
    np.testing.assert_allclose(found["learned"], due["learned"] * 2.5, atol=1e-9)


def test_the_tables_are_those_of_numpy():
    for dtype in (torch.float64, torch.float32):
        kind = np.dtype(str(dtype).removeprefix("torch."))
        for name, table in (
            ("sinusoidal", tables.sinusoidal(50, 16)),
            ("tape", tables.tape(50, 16)),
            ("dft", tables.dft(50, 16, overflow="stretch")),
        ):
            rows = encodings.make(name, 16, 2, 50).to(dtype).rows(50)
            assert np.array_equal(rows.numpy(), table.astype(kind))
    learned = encodings.make("learnable_frequency", 16, 2, 50).double()
    omega = learned.log_omega.exp().detach().numpy()
    np.testing.assert_allclose(
        learned.rows(50).detach(), tables.encode(range(50), omega), atol=1e-9
    )
    np.testing.assert_allclose(omega, frequencies.geometric(16), rtol=1e-6)
    # the sines and the linear column start where the class says they do
    start = encodings.make("sine_linear", 16, 2, 50).double().rows(50).detach().numpy()
    np.testing.assert_allclose(start[:, 1:], tables.sinusoidal(50, 16)[:, 1:], atol=1e-4)
    np.testing.assert_allclose(start[:, 0], np.arange(50) / 49, atol=1e-6)


def test_dft_and_tape_options():
    alias = encodings.make("dft", 8, 2, 11, overflow="alias").double().rows(11)
    close(alias[8:], alias[:3])
    gram = encodings.make("dft", 8, 2, 8).double().rows(8)
    close(gram @ gram.T, torch.eye(8).double())
    survey = encodings.make("tape", 8, 2, 5, formula="survey").double().rows(5)
    printed = [
        [f(t * (k * 8 / 5)) for k in range(4) for f in (math.sin, math.cos)] for t in range(5)
    ]
    np.testing.assert_allclose(survey, printed, atol=1e-9)


@pytest.mark.parametrize("pairing", ["interleaved", "half"])
def test_rotary_turns_pairs(pairing):
    attention = layer("rotary", pairing=pairing)
    pairs = [(0, 1), (2, 3)] if pairing == "interleaved" else [(0, 2), (1, 3)]

    def score(b, h, i, j, q, k):
        turned = naive.turned(q, i, pairs), naive.turned(k, j, pairs)
        return naive.dot(*turned) / math.sqrt(D_HEAD)

    assert_layer(attention, tokens(), score=score)


def test_t5_buckets_and_bias():
    for n_buckets, max_distance in ((32, 128), (8, 12), (4, 3)):
        bias = encodings.make("t5", 8, 2, 5, n_buckets=n_buckets, max_distance=max_distance)
        offset = torch.arange(-300, 301)
        expected = [naive.t5_bucket(int(o), n_buckets, max_distance) for o in offset]
        assert bias.bucket(offset).tolist() == expected
    attention = layer("t5", n_buckets=8, max_distance=5)
    values = attention.position.values.tolist()

    def score(b, h, i, j, q, k):
        return naive.dot(q, k) / math.sqrt(D_HEAD) + values[h][naive.t5_bucket(j - i, 8, 5)]

    assert_layer(attention, tokens(), score=score)


@pytest.mark.parametrize(
    ("n_heads", "slopes"),
    [
        (1, [2.0**-8]),
        (2, [2.0**-4, 2.0**-8]),
        (4, [1 / 4, 1 / 16, 1 / 64, 1 / 256]),
        (3, [2.0**-4, 2.0**-8, 2.0**-2]),
        (6, [2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8, 2.0**-1, 2.0**-3]),
    ],
)
def test_alibi_slopes_and_bias(n_heads, slopes):
    attention = layer("alibi", d_model=12, n_heads=n_heads)
    d_head = 12 // n_heads

    def score(b, h, i, j, q, k):
        return naive.dot(q, k) / math.sqrt(d_head) - slopes[h] * abs(i - j)

    assert_layer(attention, tokens(d_model=12), score=score)


@pytest.mark.parametrize("bias_max", [4, 16.0])
@pytest.mark.parametrize("n_heads", [1, 4, 6])
def test_alibis_slopes_may_fall_to_another_one(bias_max, n_heads):
    eight, other = (
        encodings.make("alibi", 12, n_heads, 5, **options).double().slopes
        for options in ({}, {"bias_max": bias_max})
    )
    torch.testing.assert_close(other, eight ** (bias_max / 8), rtol=1e-12, atol=0)


def test_alibis_slopes_may_be_ones_own_and_those_of_some_heads():
    own = [0.5, 0.0, 3, 0.1]
    attention = layer("alibi", d_model=12, n_heads=4, slopes=own)

    def score(b, h, i, j, q, k):
        return naive.dot(q, k) / math.sqrt(3) - own[h] * abs(i - j)

    assert_layer(attention, tokens(d_model=12), score=score)
    whole = encodings.make("alibi", 64, 8, 5).slopes
    for heads in (range(4, 8), [6, 1], range(1)):
        part = encodings.make("alibi", 64, 8, 5, heads=heads)
        assert torch.equal(part.slopes, whole[list(heads)])
        in_part = SelfAttention(64, len(heads), part, d_head=8)
        assert in_part.weights(torch.randn(1, 5, 64)).shape == (1, len(heads), 5, 5)
    part = encodings.make("alibi", 12, 4, 5, slopes=own, heads=[2, 0])
    assert part.slopes.tolist() == [3, 0.5]


@pytest.mark.parametrize("cls_reset", [False, True])
def test_tupe_unties_position_from_content(cls_reset):
    attention = layer("tupe", cls_reset=cls_reset)
    position = attention.position
    pq, pk = (
        [naive.matvec(u.weight.tolist(), p) for p in position.vectors.tolist()]
        for u in (position.query, position.key)
    )

    def score(b, h, i, j, q, k):
        head = slice(h * D_HEAD, (h + 1) * D_HEAD)
        of_position = naive.dot(pq[i][head], pk[j][head]) / math.sqrt(2 * D_HEAD)
        if cls_reset and 0 in (i, j):
            of_position = position.theta[0 if i == 0 else 1, h].item()
        return naive.dot(q, k) / math.sqrt(2 * D_HEAD) + of_position

    assert_layer(attention, tokens(), score=score)


def similarity(tokens, sigma):
    """The formula pair by pair, in Python floats."""
    rows = tokens.double().tolist()
    pairs = [[math.exp(-(math.dist(a, b) ** 2) / (2 * sigma**2)) for a in rows] for b in rows]
    return torch.tensor(pairs, dtype=torch.float64)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("autocast", [False, True])
def test_tpe_keeps_its_precision_in_half_types(dtype, shift, autocast):
    position = encodings.make("tpe", 64, 2, 9, sigma=8.0).to(dtype)
    sigma = position.log_sigma.double().exp().item()
    # 64 entries about 100 have squares that sum to 640 000, ten times what float16 can hold
    x = (torch.randn(2, 9, 64) + shift).to(dtype)
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        kernel = position.bias(x, x, x)[:, 0]
    close(kernel.double(), torch.stack([similarity(tokens, sigma) for tokens in x]), 2e-6)


def test_the_centre_of_tpe_does_not_hang_on_padding():
    position = encodings.make("tpe", 16, 2, 40, sigma=3.0)
    x = torch.randn(1, 40, 16) + 300
    alone = position.bias(x[:, :10], None, None)
    for n_padded in (1, 30):
        padded = torch.cat((x[:, :10], torch.zeros(1, n_padded, 16)), 1)
        kernel = position.bias(padded, None, None)
        close(kernel[..., :10, :10], alone, 1e-6)
    close(alone[0, 0].double(), similarity(x[0, :10], 3.0), 2e-6)


def test_tpe_of_large_tokens_trains_in_float16():
    attention = SelfAttention(16, 2, encodings.make("tpe", 16, 2, 30, learn_sigma=True)).half()
    x = (200 * torch.randn(2, 30, 16)).half()
    attention(x).float().mean().backward()
    assert all(p.grad.isfinite().all() for p in attention.parameters())


def test_none_is_plain_attention():
    assert_layer(layer("none"), tokens())


# -- stochastic codes ------------------------------------------------------------------------------


def sine_kernel(position, h, d, m, n):
    """Liutkus et al.: the sum over k of gain^2 cos(2 pi f (m - n) + theta)."""
    f = 1 / (1 + (-position.frequency_logits[h, d]).exp()) / 2
    cosines = (2 * math.pi * f * (m - n) + position.phases[h, d]).cos()
    return (position.gains[h, d] ** 2 * cosines).sum().item()


def conv_kernel(position, h, d, m, n):
    """Liutkus et al.: the sum over p of phi_Q(p) phi_K(p - (m - n))."""
    q, k = position.filters[:, h, d].tolist()
    return sum(q[p] * k[p - m + n] for p in range(len(q)) if 0 <= p - m + n < len(k))


SPE = {"sine_spe": sine_kernel, "conv_spe": conv_kernel}
SPE_OPTIONS = {"sine_spe": {"n_sines": 3}, "conv_spe": {"kernel_size": 3}}


@pytest.mark.parametrize("name", SPE)
@pytest.mark.parametrize("gated", [False, True])
def test_stochastic_kernels_equal_the_loop(name, gated):
    position = layer(name, gated=gated, **SPE_OPTIONS[name]).position
    kernel = position.kernel(LENGTH)
    for h, d, m, n in np.ndindex(N_HEADS, D_HEAD, LENGTH, LENGTH):
        expected = SPE[name](position, h, d, m, n)
        if gated:
            gate = 1 / (1 + math.exp(-position.gate[h, d].item()))
            expected = gate + (1 - gate) * expected
        assert kernel[h, d, m, n].item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", SPE)
@pytest.mark.parametrize("gated", [False, True])
def test_stochastic_codes_approach_their_kernel_like_one_over_sqrt_r(name, gated):
    errors = {}
    for r in (100, 10_000):
        position = layer(name, gated=gated, n_realisations=r, **SPE_OPTIONS[name]).position
        assert position.training is False
        q, k = position.codes(LENGTH)
        error = q @ k.mT / r - position.kernel(LENGTH)
        errors[r] = error.square().mean().sqrt().item()
    # a hundredfold R is a tenth of the error, give or take the luck of one draw
    assert 5 < errors[100] / errors[10_000] < 20
    assert errors[10_000] < 0.03


@pytest.mark.parametrize("name", SPE)
@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("longer", [13, 64, 300])
def test_in_evaluation_the_codes_of_the_first_positions_know_nothing_of_the_last(
    name, gated, longer
):
    position = layer(name, gated=gated).position
    for ours, theirs in zip(position.codes(12), position.codes(longer), strict=True):
        close(ours, theirs[:, :, :12], 1e-12)
    # nor do they repeat
    assert (position.codes(longer)[0][:, :, 1:] != position.codes(longer)[0][:, :, :-1]).any()


def test_in_evaluation_the_noise_of_different_positions_and_dimensions_is_independent():
    position = layer("conv_spe", kernel_size=1, n_realisations=5000).position
    codes, _ = position.codes(6)
    correlation = codes.flatten(0, 2).corrcoef()
    assert (correlation - torch.eye(len(correlation))).abs().max() < 0.1


# -- what all have in common -----------------------------------------------------------------------


def test_names_are_the_promised_ones():
    promised = (
        "none sinusoidal dft learnable tape learnable_frequency sine_linear rotary relative t5 "
        "alibi tupe sine_spe conv_spe tpe erpe"
    )
    assert encodings.names() == promised.split()


GRID = torch.cartesian_prod(torch.arange(2.0), torch.arange(2.0)).double()
SMALL = {
    "sine_spe": {"n_realisations": 3},
    "conv_spe": {"n_realisations": 3, "kernel_size": 2},
    "mrope": {"sections": (1, 1)},
}
GRADIENTS = [
    *((name, SMALL.get(name, {})) for name in encodings.names("all")),
    ("relative", {"max_distance": 2, "values": True}),
    ("rotary", {"pairing": "half"}),
    ("tupe", {"cls_reset": True}),
    ("tpe", {"learn_sigma": True, "sigma": 2.0}),
    ("sine_spe", {"gated": True, "n_realisations": 3}),
    ("sinusoidal", {"scale": "learned"}),
    ("learnable", {"scale": "unit"}),
    ("kerple", {"kernel": "power"}),
    ("deberta", {"formula": "program"}),
    ("deberta", {"n_buckets": 4, "max_distance": 6, "map_bias": True}),
    ("fire", {"threshold": 3.0, "width": 5}),
    ("xpos", {"pairing": "half"}),
    ("fope", {"original_length": 7000, "learn": True}),
    ("cope", {"n_positions": 4}),
    ("dywpe", {"wavelet": "db2", "levels": 6}),
    ("window_statistics", {"window": 2, "past": True}),
    ("window_statistics", {"statistics": "winstat_lag", "lags": (1, 3)}),
    ("distance_profiles", {"n_profiles": 5, "clip": 1.5}),
    ("axial_rotary", {"axes": "mixed"}),
    ("swin", {"formula": "continuous", "width": 5}),
]


@pytest.mark.parametrize(("name", "options"), GRADIENTS, ids=str)
def test_gradients_are_right(name, options):
    """Against differences: in tokens, in places of several axes, and in all that is learned."""
    attention = layer(name, length=4, d_model=8, n_heads=2, **options)
    names, parameters = zip(*attention.named_parameters(), strict=True)
    places = GRID[None].clone().requires_grad_(name != "swin")

    def output(x, at, *values):
        positions = {"positions": at} if attention.position.n_axes > 1 else {}
        given = dict(zip(names, values, strict=True))
        return torch.func.functional_call(attention, given, x, positions)

    learned = (p.detach().clone().requires_grad_() for p in parameters)
    inputs = (tokens(4, 8, 1).requires_grad_(), places, *learned)
    assert gradcheck(output, inputs, fast_mode=True)


FINITE = ["dft", "learnable", "tape", "tupe", "erpe"]
OWN_START = ["sine_spe", "tpe"]  # which begin otherwise where they are made for more


@pytest.mark.parametrize("name", encodings.names())
def test_length_one_and_beyond_max_length(name):
    attention, x = layer(name, length=6), tokens(11)
    assert attention(tokens(1)).isfinite().all()
    assert layer(name, length=1)(tokens(1)).isfinite().all()
    if name in FINITE:
        with pytest.raises(ValueError, match=r"at most max_length = 6 for .* got 11"):
            attention(x)
        return
    assert attention(x).shape == x.shape
    if name not in OWN_START:
        longer = layer(name, length=11)
        longer.load_state_dict(attention.state_dict())
        close(attention(x), longer(x))


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sizes", "options", "message"),
    [
        ("none", (8, 3, 5), {}, "n_heads must divide d_model = 8, got 3; these do: 1, 2, 4, 8"),
        ("sinusoidal", (7, 1, 5), {}, "d_model must be a positive even integer"),
        ("rotary", (6, 2, 5), {}, "d_model / n_heads must be a positive even integer"),
        ("dft", (8, 2, 11), {"overflow": "error"}, "n_positions must be at most d_model = 8"),
        ("relative", (8, 2, 5), {"max_distance": 0}, "max_distance must be an integer of at lea"),
        ("t5", (8, 2, 5), {"n_buckets": 6}, "n_buckets must be a multiple of 4, got 6"),
        ("t5", (8, 2, 5), {"max_distance": 8}, "max_distance must be an integer of at least 9"),
        ("erpe", (8, 2, 5), {"per_head": "False"}, "per_head must be True or False, got 'False'"),
        ("rotary", (8, 2, 5), {"base": 0.5}, "base must be at least 1, .* got 0.5"),
        ("alibi", (8, 2, 5), {"slopes": [1, -1]}, "slopes must be n_heads = 2 numbers of at least"),
        ("alibi", (8, 2, 5), {"slopes": [1]}, r"slopes must be n_heads = 2 .* got \[1\.0\]"),
        ("alibi", (8, 2, 5), {"slopes": [1, 1], "bias_max": 16}, "bias_max must be left out where"),
        ("alibi", (8, 2, 5), {"heads": range(1, 3)}, r"some of all n_heads = 2, .* range\(1, 3\)"),
        ("alibi", (8, 2, 5), {"heads": [1, 1]}, "from 0 to 1 and each once"),
        ("alibi", (8, 2, 5), {"heads": []}, "heads must be some of all"),
        ("sinusodal", (8, 2, 5), {}, r"one of none, sinusoidal, .*erpe, .*, got 'sinusodal'; did "),
        ("RoPE", (8, 2, 5), {}, "position 'RoPE' has the name 'rotary' here"),
        ("t5-bias", (8, 2, 5), {}, "position 't5-bias' has the name 't5' here"),
        ("absolute", (8, 2, 5), {}, "'absolute' has the name 'sinusoidal' or 'learnable' here"),
        ("none", (8, 2, 5), {"rope_theta": 5e5}, "'none' are: none; got rope_theta$"),
        ("rotary", (8, 2, 5), {"rope_theta": 5e5}, "got rope_theta; rope_theta is base here$"),
        ("rotary", (8, 2, 5), {"hidden_size": 8}, "hidden_size; hidden_size is d_model here$"),
        ("rotary", (8, 2, 5), {"bas": 5e5, "n_head": 2}, "mean base.; did you mean n_heads.$"),
        ("rotary", (8, 2, 5), {"scaling": "dynamic"}, "'dynamic' has the name 'dynamic_ntk' here"),
        ("rotary", (8, 2, 5), {"pairing": "neox"}, "pairing 'neox' has the name 'half' here"),
    ],
)
def test_bad_arguments_are_named(name, sizes, options, message):
    with pytest.raises(ValueError, match=message):
        encodings.make(name, *sizes, **options)
