"""Scores of hundreds, of both signs, in every kernel: weights and gradients stay numbers."""

import copy

import pytest
import torch
from layers import close

from posenc import encodings
from posenc.attention import SelfAttention, Term, kernels
from posenc.attention.fast import blocks, flex
from posenc.attention.toeplitz import skew, spread, toeplitz

BATCH, HEADS, LENGTH, WIDTH, REACH = 2, 2, 260, 16, 20
SCALE = WIDTH**-0.5
PADDING = torch.ones(BATCH, LENGTH, dtype=torch.bool)
PADDING[1, 200:] = False
PADDED = PADDING[:, None, None]
CAUSAL = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()[None, None]

SIGNS = ["low", "high", "keys", "queries", "both"]
LOUD = [5, 15]  # scores of 100, where float32 begins to fail, and of 900, where float64 does


def numbers(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def inputs(signs, loud):
    """Return queries and keys along one vector, of signs that are all alike or drawn, and values.

    All scores are near `-loud**2 * 4` for "low" and `loud**2 * 4` for "high"; "keys", "queries" and
    "both" say what has signs of its own, so that rows hold scores of either sign, or of one.
    """
    shape = BATCH, HEADS, LENGTH, WIDTH
    along = torch.full((WIDTH,), loud, dtype=torch.float64)
    of_q = numbers(*shape[:3], 1, seed=1).sign() if signs in ("queries", "both") else 1.0
    of_k = numbers(*shape[:3], 1, seed=2).sign() if signs in ("keys", "both") else 1.0
    of_k = -1.0 if signs == "low" else of_k
    noise = 0.1 * numbers(*shape, seed=3), 0.1 * numbers(*shape, seed=4)
    return along * of_q + noise[0], along * of_k + noise[1], numbers(*shape, seed=5)


def dense(matrix):
    return Term.of(matrix, "a test")


def by_offset(line):
    matrix = toeplitz(spread(line, LENGTH))
    return Term("by_offset", "a test", lambda: matrix, lambda: line)


def by_query(scores):
    matrix = skew(spread(scores, LENGTH))
    return Term("by_query_and_offset", "a test", lambda: matrix, lambda: scores)


def by_product(of_queries, of_keys):
    pair = of_queries, of_keys
    return Term("by_product", "a test", lambda: of_queries @ of_keys.mT, lambda: pair)


MATRIX = (1, HEADS, LENGTH, LENGTH)
LINE = (HEADS, 2 * REACH + 1)
LINES = (BATCH, HEADS, LENGTH, 2 * REACH + 1)
VECTORS = (HEADS, LENGTH, 3)

# kernel that is to serve, term, shapes of its parameters and their size, who sees whom
CASES = {
    "none": ("fused", None, (), 0, None),
    "none, padding": ("fused", None, (), 0, PADDED),
    "none, causal": ("fused", None, (), 0, CAUSAL),
    "dense, constant": ("fused", dense, (MATRIX,), 100, None),
    "dense": ("blocks", dense, (MATRIX,), 100, None),
    "dense, padding": ("blocks", dense, (MATRIX,), 100, PADDED),
    "dense, causal": ("blocks", dense, (MATRIX,), 100, CAUSAL),
    "offset, constant": ("strided", by_offset, (LINE,), 100, None),
    "offset, constant, padding": ("blocks", by_offset, (LINE,), 100, PADDED),
    "offset, small": ("blocks", by_offset, (LINE,), 5, None),
    "offset": ("blocks", by_offset, (LINE,), 100, None),
    "offset, padding": ("blocks", by_offset, (LINE,), 100, PADDED),
    "query, constant": ("blocks", by_query, (LINES,), 100, None),
    "query, small": ("blocks", by_query, (LINES,), 1, None),
    "query": ("blocks", by_query, (LINES,), 100, None),
    "query, padding": ("blocks", by_query, (LINES,), 100, PADDED),
    "product": ("joined", by_product, (VECTORS, VECTORS), 10, None),
    "product, padding": ("joined", by_product, (VECTORS, VECTORS), 10, PADDED),
}


def served(case, kernel):
    """Return the function (q, k, v, *parameters) of a case, which asserts what serves it."""
    _, term, _, _, seen = CASES[case]

    def call(q, k, v, *parameters):
        bias = None if term is None else term(*parameters)
        limited = seen is CAUSAL
        assert kernels.choose(q, bias, seen, limited=limited, dropout=0.0) == kernel
        return kernels.attention(
            q, k, v, bias, None, seen, limited=limited, dropout=0.0, scale=SCALE
        )

    return call


def written_out(case):
    """Return the same as softmax says it."""
    _, term, _, _, seen = CASES[case]

    def call(q, k, v, *parameters):
        scores = q @ k.mT * SCALE
        if term is not None:
            scores = scores + term(*parameters).dense(q, k)
        if seen is not None:
            scores = scores.masked_fill(~seen, -torch.inf)
        return scores.softmax(-1) @ v

    return call


def results(call, qkv, parameters, dtype, learned):
    """Return outputs, and the gradients of all that is learned, in float64."""
    qkv = [a.to(dtype, copy=True).requires_grad_(learned is not None) for a in qkv]
    parameters = [p.to(dtype, copy=True).requires_grad_(bool(learned)) for p in parameters]
    out = call(*qkv, *parameters)
    found = [out]
    if learned is not None:
        wanted = qkv + parameters * bool(learned)
        found += torch.autograd.grad(out, wanted, numbers(*out.shape, seed=6).to(dtype))
    return [one.detach().double() for one in found]


def assert_like(ours, exact, dtype):
    """Rounded scores of 900 are some 1e-4 off in float32, and 1e-13 in float64."""
    share = 1e-9 if dtype == torch.float64 else 3e-3
    for one, other in zip(ours, exact, strict=True):
        assert one.isfinite().all()
        assert (one - other).abs().max() <= share * max(1, float(other.abs().max()))


def rounded(values, dtype):
    return [a.to(dtype).double() for a in values]


def check(call, exact, parameters, dtype, learned, signs):
    for loud in LOUD:
        qkv = rounded(inputs(signs, loud), dtype)
        parameters = rounded(parameters, dtype)
        ours = results(call, qkv, parameters, dtype, learned)
        assert_like(ours, results(exact, qkv, parameters, torch.float64, learned), dtype)


def made(case):
    return [CASES[case][3] * numbers(*shape, seed=i) for i, shape in enumerate(CASES[case][2])]


@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("case", CASES)
def test_every_kernel_bears_extreme_scores(case, signs):
    kernel, _, shapes, _, _ = CASES[case]
    both = served(case, kernel), written_out(case), made(case)
    learned = "constant" not in case
    check(*both, torch.float32, learned, signs)
    if not (shapes and learned):  # in evaluation; learned terms are constant then
        check(*both, torch.float32, None, signs)
    if signs == "both":
        check(*both, torch.float64, learned, signs)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("case", ["offset", "offset, padding", "query", "query, padding"])
def test_flex_attention_bears_extreme_scores(case, signs):
    padding = PADDING if "padding" in case else None

    def call(q, k, v, offsets):
        offsets = offsets if offsets.ndim == 4 else offsets[None, :, None]
        return flex.flexible_attention(q, k, v, offsets, padding, SCALE, compiled=False)

    check(call, written_out(case), made(case), torch.float32, None, signs)


@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("case", ["none, padding", "dense, causal", "offset"])
def test_shown_weights_bear_extreme_scores(case, signs):
    _, term, _, _, seen = CASES[case]

    def call(q, k, v, *parameters):
        bias = None if term is None else term(*parameters)
        return kernels.softmax_weights(q, k, bias, seen, SCALE) @ v

    check(call, written_out(case), made(case), torch.float32, True, signs)


@pytest.mark.parametrize("signs", SIGNS)
def test_keys_far_beyond_a_band_bear_extreme_scores(signs):
    length = 1100  # so long that keys are far of a whole run of blocks
    shape = 1, 1, length, 4
    along = torch.tensor([1.0, -1.0, 0.5, 0.5]).double()
    flips = [numbers(*shape[:3], 1, seed=i).sign() for i in (1, 2)]
    of_q = flips[0] if signs in ("queries", "both") else 1.0
    of_k = flips[1] if signs in ("keys", "both") else -1.0 if signs == "low" else 1.0
    for loud in (9, 15):
        qkv = [loud * along * one + 0.1 * numbers(*shape, seed=3) for one in (of_q, of_k)]
        qkv = rounded([*qkv, numbers(*shape, seed=5)], torch.float32)
        offsets = rounded([30 * numbers(1, 1, length, 7, seed=8)], torch.float32)
        assert blocks._beyond(*(a.float() for a in qkv), None, offsets[0].float(), None) is not None

        def exact(q, k, v, offsets):
            return (q @ k.mT + skew(spread(offsets, length))).softmax(-1) @ v

        def call(q, k, v, offsets):
            return blocks.blocked_attention(q, k, v, offsets=offsets)

        for learned in (True, None):
            ours = results(call, qkv, offsets, torch.float32, learned)
            assert_like(ours, results(exact, qkv, offsets, torch.float64, learned), torch.float32)


@pytest.mark.parametrize("signs", ["low", "both"])
@pytest.mark.parametrize("case", ["none, padding", "dense", "offset", "query", "product"])
def test_second_derivatives_bear_extreme_scores(case, signs):
    def slopes(call):
        def found(*given):
            return torch.autograd.grad(call(*given).square().sum(), given, create_graph=True)[0]

        return found

    both = slopes(served(case, CASES[case][0])), slopes(written_out(case))
    for loud in LOUD:
        qkv = inputs(signs, loud)
        ours = results(both[0], qkv, made(case), torch.float64, True)
        assert_like(ours, results(both[1], qkv, made(case), torch.float64, True), torch.float64)


def loud_layer(name, loud, sign):
    """Return a layer whose queries and keys are about `loud` times one vector, of either sign."""
    torch.manual_seed(0)
    layer = SelfAttention(16, 2, encodings.make(name, 16, 2, 300))
    with torch.no_grad():
        layer.qkv.weight[:32] *= 0.1
        layer.qkv.bias[:16] = loud
        layer.qkv.bias[16:32] = sign * loud
    return layer


@pytest.mark.parametrize(
    ("name", "sign"),
    [*((name, 1) for name in encodings.names("series")), ("none", -1), ("rotary", -1), ("t5", -1)],
)
def test_a_layer_of_every_encoding_bears_extreme_scores(name, sign):
    x = numbers(2, 270, 16)
    for loud in LOUD:
        layer = loud_layer(name, loud, sign).eval()
        exact = copy.deepcopy(layer).double()
        inside = x.float().requires_grad_()
        out, expected = layer(inside), exact(x)
        assert (out - expected).abs().max() < 0.02 * expected.abs().max()
        with torch.no_grad():
            close(layer(inside), out, 2e-3)
        out.square().sum().backward()
        learned = [inside, *layer.train().parameters()]
        assert all(one.grad.isfinite().all() for one in learned if one.grad is not None)
        layer.zero_grad()
        layer(inside).square().sum().backward()  # noise and all
        assert all(one.grad.isfinite().all() for one in learned if one.grad is not None)
