"""Every encoding against a loop-written reference of its paper's formula, in float64 to 1e-9."""

# ruff: noqa: ARG001 - doors and scores take all their arguments

import math

import gradients
import naive
import numpy as np
import pytest
import torch

from posenc import encodings, frequencies, tables
from posenc.attention import SelfAttention

D_MODEL, N_HEADS, D_HEAD, LENGTH, BATCH = 8, 2, 4, 7, 2
TOLERANCE = {"rtol": 0, "atol": 1e-9}


def layer(name, length=LENGTH, d_model=D_MODEL, n_heads=N_HEADS, **options):
    """Return attention with that encoding, in float64, all parameters away from special values."""
    torch.manual_seed(3)
    attention = SelfAttention(
        d_model, n_heads, encodings.make(name, d_model, n_heads, length, **options)
    ).double()
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return attention.eval()


def tokens(length=LENGTH, d_model=D_MODEL, batch=BATCH):
    return torch.randn(batch, length, d_model, dtype=torch.float64)


def double(values):
    return torch.tensor(values, dtype=torch.float64)


def assert_layer(attention, x, **reference):
    expected = double(naive.self_attention(attention, x.tolist(), **reference))
    torch.testing.assert_close(attention(x), expected, **TOLERANCE)


def with_rows(x, rows):
    return (x + double(rows)).tolist()


ADDED = {
    "sinusoidal": lambda _: [naive.sinusoid(t, D_MODEL) for t in range(LENGTH)],
    "tape": lambda _: [naive.sinusoid(t, D_MODEL, stretch=D_MODEL / LENGTH) for t in range(LENGTH)],
    "dft": lambda _: [naive.dft(t, D_MODEL, D_MODEL) for t in range(LENGTH)],
    "learnable": lambda p: p.vectors.tolist(),
    "learnable_frequency": lambda p: [
        [f(t * math.exp(w)) for w in p.log_omega.tolist() for f in (math.sin, math.cos)]
        for t in range(LENGTH)
    ],
    "sine_linear": lambda p: [
        [
            t * w + b if column == 0 else math.sin(t * w + b)
            for column, (w, b) in enumerate(zip(p.weight.tolist(), p.phase.tolist(), strict=True))
        ]
        for t in range(LENGTH)
    ],
}


@pytest.mark.parametrize("name", ADDED)
def test_added_encodings_follow_their_formula(name):
    attention = layer(name)
    x = tokens()
    rows = ADDED[name](attention.position)
    np.testing.assert_allclose(attention.position.embed(x).tolist(), with_rows(x, rows), atol=1e-9)
    expected = double(naive.self_attention(attention, with_rows(x, rows)))
    torch.testing.assert_close(attention(x), expected, **TOLERANCE)


@pytest.mark.parametrize("name", ADDED)
def test_added_encodings_have_three_scales(name):
    torch.manual_seed(0)
    made = {s: encodings.make(name, 8, 2, 7, scale=s).double() for s in ("unit", "learned")}
    paper = ADDED[name](made["unit"])
    unit = made["unit"].rows(7)
    torch.testing.assert_close(unit.norm(dim=1), torch.ones(7).double(), **TOLERANCE)
    for row, ours in zip(paper, unit.tolist(), strict=True):
        norm = math.sqrt(sum(r * r for r in row))
        np.testing.assert_allclose(ours, [r / norm for r in row], atol=1e-9)
    with torch.no_grad():
        made["learned"].gain.fill_(2.5)
    learned = np.array(ADDED[name](made["learned"])) * 2.5
    np.testing.assert_allclose(made["learned"].rows(7).tolist(), learned, atol=1e-9)


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
    torch.testing.assert_close(alias[8:], alias[:3], **TOLERANCE)
    with pytest.raises(ValueError, match="n_positions must be at most d_model = 8"):
        encodings.make("dft", 8, 2, 11, overflow="error")
    gram = encodings.make("dft", 8, 2, 8).double().rows(8)
    torch.testing.assert_close(gram @ gram.T, torch.eye(8).double(), **TOLERANCE)
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


def test_the_two_rotary_pairings_are_a_permutation_apart_and_must_not_be_mixed():
    interleaved, half = (
        encodings.make("rotary", 16, 2, 9, pairing=p).double() for p in ("interleaved", "half")
    )
    q, k = torch.randn(2, 1, 2, 9, 8, dtype=torch.float64)
    permutation = torch.tensor([0, 2, 4, 6, 1, 3, 5, 7])
    for a, b in zip(
        interleaved.rotate(q, k), half.rotate(q[..., permutation], k[..., permutation]), strict=True
    ):
        torch.testing.assert_close(a[..., permutation], b, **TOLERANCE)
    scores = [a @ b.mT for a, b in (interleaved.rotate(q, k), half.rotate(q, k))]
    assert (scores[0] - scores[1]).abs().max() > 0.1


@pytest.mark.parametrize("max_distance", [1, 2, 6, 20, None])
@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("per_head", [False, True])
def test_shaw_scores_and_values_equal_the_triple_loop(max_distance, values, per_head):
    attention = layer("relative", max_distance=max_distance, values=values, per_head=per_head)
    position, reach = attention.position, max_distance or LENGTH - 1
    keys = position.keys.tolist()

    def row(offset):
        return max(-reach, min(reach, offset)) + reach

    def score(b, h, i, j, q, k):
        relative = keys[h if per_head else 0][row(j - i)]
        return naive.dot(q, [a + r for a, r in zip(k, relative, strict=True)]) / math.sqrt(D_HEAD)

    if not (values and per_head):
        extra = position.values[0].tolist() if values else None
        extra_value = (lambda i, j: extra[row(j - i)]) if values else None
        assert_layer(attention, tokens(), score=score, extra_value=extra_value)
        return
    # values per head: head by head, from the weights
    weights = attention.weights(x := tokens())
    _, _, v = (double(a) for a in naive.project(attention, x.tolist()))
    index = torch.tensor([[row(j - i) for j in range(LENGTH)] for i in range(LENGTH)])
    seen = v[:, :, None] + position.values[:, index]
    heads = (weights[..., None] * seen).sum(-2)
    expected = attention.out(heads.transpose(1, 2).flatten(2))
    torch.testing.assert_close(attention(x), expected, **TOLERANCE)


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"slopes": [1, 2, 3]},
            r"slopes must be n_heads = 4 .* got \[1\.0, 2\.0, 3\.0\]",
        ),
        ({"slopes": [1, 2, 3, -1]}, "slopes must be n_heads = 4 numbers of at least 0"),
        ({"slopes": [1, 2, 3, math.nan]}, "slopes must be finite, got nan"),
        ({"slopes": 1.0}, "slopes must have 1 axes, got 0"),
        ({"slopes": [1, 1, 1, 1], "bias_max": 16}, "bias_max must be left out where slopes are"),
        ({"heads": range(2, 5)}, r"heads must be some of all n_heads = 4, .* got range\(2, 5\)"),
        ({"heads": [1, 1]}, "from 0 to 3 and each once"),
        ({"heads": []}, "heads must be some of all"),
        ({"heads": 2}, r"heads must be a sequence such as range\(4, 8\), got 2"),
        ({"heads": [-1]}, "heads must be an integer of at least 0, got -1"),
    ],
)
def test_slopes_and_heads_that_do_not_fit_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        encodings.make("alibi", 12, 4, 5, **options)


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


@pytest.mark.parametrize("per_head", [False, True])
def test_erpe_adds_a_scalar_after_the_softmax(per_head):
    attention = layer("erpe", per_head=per_head)
    values = attention.position.values.tolist()
    x = tokens()
    assert_layer(
        attention,
        x,
        extra_weight=lambda h, i, j: values[h if per_head else 0][j - i + LENGTH - 1],
    )
    shorter = x[:, :4]
    assert_layer(
        attention,
        shorter,
        extra_weight=lambda h, i, j: values[h if per_head else 0][j - i + LENGTH - 1],
    )


@pytest.mark.parametrize("learn_sigma", [False, True])
def test_tpe_adds_sinusoids_and_a_similarity_kernel(learn_sigma):
    attention = layer("tpe", sigma=1.7, learn_sigma=learn_sigma)
    x = tokens()
    sigma = math.exp(attention.position.log_sigma.item())
    if not learn_sigma:
        assert sigma == pytest.approx(1.7, rel=1e-6)
    with_position = with_rows(x, [naive.sinusoid(t, D_MODEL) for t in range(LENGTH)])

    def score(b, h, i, j, q, k):
        a, c = with_position[b][i], with_position[b][j]
        distance = sum((s - t) ** 2 for s, t in zip(a, c, strict=True))
        return naive.dot(q, k) / math.sqrt(D_HEAD) + math.exp(-distance / (2 * sigma**2))

    expected = naive.self_attention(attention, with_position, score=score)
    torch.testing.assert_close(attention(x), double(expected), **TOLERANCE)
    plain = layer("tpe", similarity=False)
    torch.testing.assert_close(
        plain(x),
        double(naive.self_attention(plain, with_position)),
        **TOLERANCE,
    )


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
    expected = torch.stack([similarity(tokens, sigma) for tokens in x])
    torch.testing.assert_close(kernel.double(), expected, rtol=0, atol=2e-6)


def test_the_centre_of_tpe_does_not_hang_on_padding():
    position = encodings.make("tpe", 16, 2, 40)
    x = torch.randn(1, 40, 16) + 300
    alone = position.bias(x[:, :10], None, None)
    for n_padded in (1, 30):
        padded = torch.cat((x[:, :10], torch.zeros(1, n_padded, 16)), 1)
        kernel = position.bias(padded, None, None)
        torch.testing.assert_close(kernel[..., :10, :10], alone, rtol=0, atol=1e-6)
    expected = similarity(x[0, :10], 4.0)
    torch.testing.assert_close(alone[0, 0].double(), expected, rtol=0, atol=2e-6)


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
        torch.testing.assert_close(ours, theirs[:, :, :12], rtol=0, atol=1e-12)
    # nor do they repeat
    assert (position.codes(longer)[0][:, :, 1:] != position.codes(longer)[0][:, :, :-1]).any()


def test_in_evaluation_the_noise_of_different_positions_and_dimensions_is_independent():
    position = layer("conv_spe", kernel_size=1, n_realisations=5000).position
    codes, _ = position.codes(6)
    correlation = codes.flatten(0, 2).corrcoef()
    assert (correlation - torch.eye(len(correlation))).abs().max() < 0.1


@pytest.mark.parametrize("name", SPE)
def test_stochastic_queries_and_keys_are_sums_over_codes(name):
    position = layer(name, n_realisations=5, **SPE_OPTIONS[name]).position
    q, k = torch.randn(2, BATCH, N_HEADS, LENGTH, D_HEAD, dtype=torch.float64)
    codes = position.codes(LENGTH)
    for x, code, result in zip((q, k), codes, position.rotate(q, k), strict=True):
        for b, h, m, r in np.ndindex(BATCH, N_HEADS, LENGTH, 5):
            total = sum(x[b, h, m, d] * code[h, d, m, r] for d in range(D_HEAD)) / math.sqrt(5)
            assert result[b, h, m, r].item() == pytest.approx(total.item(), abs=1e-9)


@pytest.mark.parametrize("name", SPE)
def test_stochastic_scores_approach_the_relative_kernel(name):
    attention = layer(name, n_realisations=60_000, **SPE_OPTIONS[name])
    x = tokens(batch=1)
    q, k, _ = naive.project(attention, x.tolist())
    kernel = attention.position.kernel(LENGTH).tolist()
    rotated = attention.position.rotate(double(q), double(k))
    scores = rotated[0] @ rotated[1].mT
    expected = [
        [
            [
                sum(q[0][h][m][d] * kernel[h][d][m][n] * k[0][h][n][d] for d in range(D_HEAD))
                for n in range(LENGTH)
            ]
            for m in range(LENGTH)
        ]
        for h in range(N_HEADS)
    ]
    deviation = (scores[0] - double(expected)).abs().max() / scores.abs().max()
    assert deviation < 0.05


# -- what all have in common -----------------------------------------------------------------------

OPTION_COUNTS = [
    ("relative", {"max_distance": 3}, lambda d, h, n: 7 * d // h),
    ("relative", {"max_distance": None, "values": True}, lambda d, h, n: 2 * (2 * n - 1) * d // h),
    ("relative", {"max_distance": 3, "per_head": True}, lambda d, h, n: 7 * d),
    ("t5", {"n_buckets": 8}, lambda d, h, n: 8 * h),
    ("tupe", {"cls_reset": True}, lambda d, h, n: n * d + 2 * d * d + 2 * h),
    ("sine_spe", {"n_sines": 2, "gated": True}, lambda d, h, n: 6 * d + d),
    ("conv_spe", {"kernel_size": 4, "gated": True}, lambda d, h, n: 8 * d + d),
    ("tpe", {"learn_sigma": True}, lambda d, h, n: 1),
    ("erpe", {"per_head": False}, lambda d, h, n: 2 * n - 1),
    ("sinusoidal", {"scale": "learned"}, lambda d, h, n: 1),
    ("learnable", {"scale": "learned"}, lambda d, h, n: n * d + 1),
]


def test_names_are_the_promised_ones():
    promised = (
        "none sinusoidal dft learnable tape learnable_frequency sine_linear rotary relative t5 "
        "alibi tupe sine_spe conv_spe tpe erpe"
    )
    assert encodings.names() == promised.split()


@pytest.mark.parametrize(("name", "options", "formula"), OPTION_COUNTS)
def test_parameter_counts_follow_the_formula(name, options, formula):
    """Those of options; the cards of the atlas count what each has without any."""
    for sizes in ((16, 4, 10), (24, 2, 41)):
        position = encodings.make(name, *sizes, **options)
        assert sum(p.numel() for p in position.parameters()) == formula(*sizes)


@pytest.mark.parametrize(
    ("name", "options"),
    [(name, {}) for name in encodings.names()]
    + [
        ("relative", {"max_distance": 2, "values": True}),
        ("rotary", {"pairing": "half"}),
        ("tupe", {"cls_reset": True}),
        ("tpe", {"learn_sigma": True, "sigma": 2.0}),
        ("sine_spe", {"gated": True}),
        ("sinusoidal", {"scale": "learned"}),
        ("learnable", {"scale": "unit"}),
    ],
)
def test_gradients_are_right(name, options):
    small = {"sine_spe": {"n_realisations": 3}, "conv_spe": {"n_realisations": 3, "kernel_size": 2}}
    attention = layer(name, length=4, d_model=4, n_heads=2, **small.get(name, {}), **options)
    assert gradients.are_right(attention, tokens(4, 4, 1))


@pytest.mark.parametrize("name", SPE)
def test_stochastic_kernels_do_not_see_a_shift(name):
    kernel = layer(name).position.kernel(9)
    torch.testing.assert_close(kernel[..., 1:, 1:], kernel[..., :-1, :-1], **TOLERANCE)


FINITE = ["dft", "learnable", "tape", "tupe", "erpe"]


@pytest.mark.parametrize("name", encodings.names())
def test_length_one_and_beyond_max_length(name):
    attention = layer(name, length=6)
    assert attention(tokens(1)).isfinite().all()
    x = tokens(11)
    if name not in FINITE:
        longer = layer(name, length=11)
        same = {n: p for n, p in attention.named_parameters() if "frequency_logits" not in n}
        longer.load_state_dict({**longer.state_dict(), **same})
        if name == "sine_spe":
            with torch.no_grad():
                longer.position.frequency_logits.copy_(attention.position.frequency_logits)
        if name != "tpe":
            torch.testing.assert_close(attention(x), longer(x), **TOLERANCE)
        assert attention(x).shape == x.shape
    else:
        with pytest.raises(
            ValueError, match=r"length must be at most max_length = 6 for .* got 11"
        ):
            attention(x)


@pytest.mark.parametrize("name", encodings.names())
def test_length_one_as_max_length(name):
    attention = SelfAttention(8, 2, encodings.make(name, 8, 2, 1))
    assert attention(torch.randn(2, 1, 8)).isfinite().all()


# -- errors ----------------------------------------------------------------------------------------


def test_unknown_names_list_the_known_and_the_nearest():
    with pytest.raises(
        ValueError, match=r"one of none, sinusoidal, .*erpe, .*, got 'sinusodal'; did "
    ):
        encodings.make("sinusodal", 8, 2, 5)
    with pytest.raises(
        ValueError, match=r"options of 'rotary' are: base, pairing, share, .*; got pairng"
    ):
        encodings.make("rotary", 8, 2, 5, pairng="half")
    with pytest.raises(ValueError, match="options of 'none' are: none; got base"):
        encodings.make("none", 8, 2, 5, base=3)


@pytest.mark.parametrize(
    ("name", "sizes", "options", "message"),
    [
        ("none", (8, 3, 5), {}, "n_heads must divide d_model = 8, got 3; these do: 1, 2, 4, 8"),
        ("none", (0, 1, 5), {}, "d_model must be an integer of at least 1, got 0"),
        ("none", (8, 2, 0), {}, "max_length must be an integer of at least 1, got 0"),
        ("none", (8, 2.0, 5), {}, "n_heads must be an integer of at least 1, got 2.0"),
        ("sinusoidal", (7, 1, 5), {}, "d_model must be a positive even integer"),
        (
            "sinusoidal",
            (8, 2, 5),
            {"scale": "big"},
            "scale must be one of paper, unit, loud, learned",
        ),
        ("sinusoidal", (8, 2, 5), {"base": -1}, "base must be a finite number above 0"),
        ("tape", (8, 2, 5), {"formula": "x"}, "formula must be one of original, survey"),
        ("dft", (8, 2, 9), {"overflow": "x"}, "overflow must be"),
        ("rotary", (6, 2, 5), {}, "d_model / n_heads must be a positive even integer"),
        ("rotary", (8, 2, 5), {"pairing": "x"}, "pairing must be one of interleaved, half"),
        ("relative", (8, 2, 5), {"max_distance": 0}, "max_distance must be an integer of at lea"),
        ("t5", (8, 2, 5), {"n_buckets": 6}, "n_buckets must be a multiple of 4, got 6"),
        ("t5", (8, 2, 5), {"max_distance": 8}, "max_distance must be an integer of at least 9"),
        ("sine_spe", (8, 2, 5), {"n_sines": 0}, "n_sines must be an integer of at least 1"),
        ("sine_spe", (8, 2, 5), {"n_realisations": 0}, "n_realisations must be an integer of at"),
        ("conv_spe", (8, 2, 5), {"kernel_size": 0}, "kernel_size must be an integer of at least"),
        ("tpe", (8, 2, 5), {"sigma": 0.0}, "sigma must be a finite number above 0"),
        ("erpe", (8, 2, 5), {"std": -1.0}, "std must be"),
        ("learnable", (8, 2, 5), {"std": 0.0}, "std must be a finite number above 0"),
        ("erpe", (8, 2, 5), {"per_head": "False"}, "per_head must be True or False, got 'False'"),
        ("relative", (8, 2, 5), {"per_head": 1}, "per_head must be True or False, got 1"),
        ("relative", (8, 2, 5), {"values": "no"}, "values must be True or False, got 'no'"),
        ("tpe", (8, 2, 5), {"similarity": "off"}, "similarity must be True or False, got 'off'"),
        ("tpe", (8, 2, 5), {"learn_sigma": None}, "learn_sigma must be True or False, got None"),
        ("sine_spe", (8, 2, 5), {"gated": "False"}, "gated must be True or False, got 'False'"),
        ("tupe", (8, 2, 5), {"cls_reset": "x"}, "cls_reset must be True or False, got 'x'"),
        ("rope", (8, 2, 5), {}, "position 'rope' has the name 'rotary' here"),
        ("RoPE", (8, 2, 5), {}, "position 'RoPE' has the name 'rotary' here"),
        ("ALiBi", (8, 2, 5), {}, "position 'ALiBi' has the name 'alibi' here"),
        ("NoPE", (8, 2, 5), {}, "position 'NoPE' has the name 'none' here"),
        ("t5-bias", (8, 2, 5), {}, "position 't5-bias' has the name 't5' here"),
        ("absolute", (8, 2, 5), {}, "'absolute' has the name 'sinusoidal' or 'learnable' here"),
        ("relative_key", (8, 2, 5), {}, "'relative_key' has the name 'relative' here"),
        ("rotary", (8, 2, 5), {"rope_theta": 5e5}, "got rope_theta; rope_theta is base here$"),
        ("rotary", (8, 2, 5), {"hidden_size": 8}, "hidden_size; hidden_size is d_model here$"),
        ("none", (8, 2, 5), {"rope_theta": 5e5}, "'none' are: none; got rope_theta$"),
        ("rotary", (8, 2, 5), {"theta": 5e5}, "got theta; theta is base here$"),
        ("rotary", (8, 2, 5), {"bas": 5e5, "n_head": 2}, "mean base.; did you mean n_heads.$"),
        ("rotary", (8, 2, 5), {"base": 0.5}, "base must be at least 1, .* got 0.5"),
        ("alibi", (8, 2, 5), {"alibi_bias_max": 16}, "got alibi_bias_max; .* is bias_max here"),
        ("alibi", (8, 2, 5), {"bias_max": 0}, "bias_max must be a finite number above 0, got 0"),
        ("learnable", (8, 2, 5), {"offset": -1}, "offset must be an integer of at least 0, got"),
        ("rotary", (8, 2, 5), {"scaling": "dynamic"}, "'dynamic' has the name 'dynamic_ntk' here"),
        ("rotary", (8, 2, 5), {"pairing": "neox"}, "pairing 'neox' has the name 'half' here"),
    ],
)
def test_bad_arguments_are_named(name, sizes, options, message):
    with pytest.raises(ValueError, match=message):
        encodings.make(name, *sizes, **options)
