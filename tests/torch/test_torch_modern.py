"""The encodings of today against loops over their papers' formulas, and what is special of each."""

# ruff: noqa: ARG001 - scores take all their arguments

import math
from pathlib import Path

import layers
import naive
import pytest
import torch
from layers import close, double
from torch.autograd import gradcheck

from posenc import encodings
from posenc.attention import CrossAttention, Places, SelfAttention

D_MODEL, N_HEADS, D_HEAD, LENGTH, BATCH = 16, 2, 8, 7, 2
# All but those with a file of their own.
HERE = Path(__file__)
NAMES = [n for n in encodings.names("modern") if not HERE.with_name(f"test_torch_{n}.py").is_file()]
UNPLACED = ["cope", "fox", "path"]  # which make distances themselves, of tokens
WHOLE = [[3, 0, 7, 4, 11, 5, 9], [1, 2, 9, 8, 0, 10, 30]]
TIMES = [[0.5, 1.25, 1.5, 6.0, 7.75, 10.9, 20.5], [10.5, 0.1, 3.3, 2.5, 9.0, 4.0, -3.5]]
VARIANTS = [
    *((name, {}) for name in NAMES),
    ("kerple", {"kernel": "power"}),
    ("deberta", {"max_distance": 3}),
    ("deberta", {"formula": "program"}),
    ("deberta", {"n_buckets": 4, "max_distance": 6}),
    ("deberta", {"n_buckets": 6, "max_distance": 12, "map_bias": True, "formula": "program"}),
    ("fire", {"threshold": 3.0, "width": 5}),
    ("xpos", {"scale_base": 20.0, "gamma": 0.7}),
    ("xpos", {"pairing": "half"}),
    ("fope", {"original_length": 200, "gain": 1.0}),
    ("fope", {"original_length": 7000, "learn": True}),
    ("cope", {"n_positions": 4}),
]
ids = lambda value: str(value) if isinstance(value, dict) else None  # noqa: E731


def layer(name, options=None, cls=SelfAttention, length=12, **more):
    return layers.layer(name, D_MODEL, N_HEADS, length, cls, options, **more)


def tokens(length=LENGTH, batch=BATCH, d_model=D_MODEL):
    return torch.randn(batch, length, d_model, dtype=torch.float64)


# -- the formulas, one number after another --------------------------------------------------------


def content(q, k):
    return naive.dot(q, k) / math.sqrt(D_HEAD)


def kerple(p, h, s, t, q, k):
    far, a = abs(s - t), math.exp(p.log_scale[h].item())
    if p.kernel == "log":
        return content(q, k) - a * math.log(1 + math.exp(p.raw_rate[h].item()) * far)
    power = 2 / (1 + math.exp(-p.raw_rate[h].item()))
    return content(q, k) - a * far**power


def fire(p, h, s, t, q, k):
    c, limit = p.rate.item(), abs(p.stretch.item() * p.start)
    share = math.log(abs(c * (s - t)) + 1) / (math.log(abs(c * max(s, limit)) + 1) + 1e-6)
    hidden = naive.matvec(p.hidden.weight.tolist(), [share], p.hidden.bias.tolist())
    relu = [max(0.0, a) for a in hidden]
    return content(q, k) + naive.matvec(p.output.weight.tolist(), relu)[h]


def xpos(p, h, s, t, q, k):
    half = D_HEAD // 2
    pairs = [(2 * i, 2 * i + 1) if p.pairing == "interleaved" else (i, i + half)
             for i in range(half)]  # fmt: skip
    turned_q, turned_k = naive.turned(q, s, pairs), naive.turned(k, t, pairs)
    total = 0.0
    for i, (a, b) in enumerate(pairs):
        zeta = (2 * i / D_HEAD + p.gamma) / (1 + p.gamma)
        decay = zeta ** ((s - t) / p.scale_base)
        total += decay * (turned_q[a] * turned_k[a] + turned_q[b] * turned_k[b])
    return total / math.sqrt(D_HEAD)


def transformer_xl(p, h, s, t, q, k):
    omega = [10_000 ** (-2 * i / D_MODEL) for i in range(D_MODEL // 2)]
    wave = [f((s - t) * w) for f in (math.sin, math.cos) for w in omega]
    rows = p.project.weight.tolist()[h * D_HEAD : (h + 1) * D_HEAD]
    r = naive.matvec(rows, wave)
    u, v = p.of_content[h, 0].tolist(), p.of_offset[h, 0].tolist()
    ac, bd = content(q, k), content(q, r)
    return ac + bd + content(u, k) + content(v, r)


def deberta(p, h, s, t, q, k):
    reach = p.n_buckets or p.max_distance

    def projected(layer, offset):
        if p.n_buckets:
            offset = naive.deberta_bucket(int(offset), p.n_buckets, p.max_distance)
        if offset <= -reach:
            row = 0
        elif offset >= reach:
            row = 2 * reach - 1
        else:
            row = int(offset) + reach
        bias = None if layer.bias is None else layer.bias.tolist()
        return naive.matvec(layer.weight.tolist(), p.vectors[row].tolist(), bias)[own]

    own = slice(h * D_HEAD, (h + 1) * D_HEAD)
    terms = naive.dot(q, k) + naive.dot(q, projected(p.key, s - t))
    asked = t - s if p.formula == "paper" else s - t
    return (terms + naive.dot(k, projected(p.query, asked))) / math.sqrt(3 * D_HEAD)


def fope(p, h, s, t, q, k):
    floor = 2 * math.pi / p.asked_length
    omega = [10_000 ** (-2 * i / D_HEAD) for i in range(D_HEAD // 2)]
    omega = [w for w in omega if w >= floor] or omega[:1]

    def turned(x, t):
        result = list(x)
        for m in range(len(omega)):
            cos, sin = (
                sum(f(t * w) * c[h, n, m].item() for n, w in enumerate(omega))
                / sum(c[h, n, m].item() for n in range(len(omega)))
                for f, c in ((math.cos, p.of_cos), (math.sin, p.of_sin))
            )
            a, b = x[2 * m : 2 * m + 2]
            result[2 * m : 2 * m + 2] = a * cos - b * sin, a * sin + b * cos
        return result

    return content(turned(q, s), turned(k, t))


def pope(p, h, s, t, q, k):
    soft = lambda x: math.log(1 + math.exp(x))  # noqa: E731
    total = 0.0
    for c in range(D_HEAD):
        angle = (s - t) * 10_000 ** (-c / D_HEAD) - p.phases[h, 0, c].item()
        total += soft(q[c]) * soft(k[c]) * math.cos(angle)
    return total / math.sqrt(D_HEAD)


SCORES = {one.__name__: one for one in (kerple, fire, xpos, transformer_xl, deberta, fope, pope)}
PLACED = [(name, options) for name, options in VARIANTS if name != "cope"]
placed = pytest.mark.parametrize(("name", "options"), PLACED, ids=ids)


def reference(attention, name, options, x, s, context=None, t=None, **more):
    """Return the layer's output by loops; s, t are the positions of queries and keys."""
    p = attention.position
    p.asked_length = options.get("original_length", p.max_length)
    t = s if t is None else t

    def score(b, h, i, j, q, k):
        return SCORES[name](p, h, s[b][i], t[b][j], q, k)

    if context is None:
        return double(naive.self_attention(attention, x.tolist(), score=score, **more))
    return double(naive.cross_attention(attention, x.tolist(), context.tolist(), score))


@placed
def test_a_layer_equals_the_loops(name, options):
    attention, x = layer(name, options), tokens()
    count = [list(range(LENGTH))] * BATCH
    expected = reference(attention, name, options, x, count)
    close(attention(x), expected)
    causal = layer(name, options, causal=True)
    looks = lambda b, i, j: j <= i  # noqa: E731
    expected = reference(causal, name, options, x, count, looks=looks)
    close(causal(x), expected)


@placed
def test_given_positions_equal_the_loops(name, options):
    attention, x = layer(name, options), tokens()
    for positions in [WHOLE] if name == "deberta" else [WHOLE, TIMES]:
        expected = reference(attention, name, options, x, positions)
        close(attention(x, positions=double(positions)), expected)


@placed
def test_cross_attention_equals_the_loops(name, options):
    attention = layer(name, options, CrossAttention)
    x, context, t = tokens(), tokens(3), [[2, 8, 1], [0, 5, 4]]
    ours = attention(x, context, positions=WHOLE, context_positions=t)
    close(ours, reference(attention, name, options, x, WHOLE, context, t))


@pytest.mark.parametrize(("n_buckets", "reach"), [(256, 512), (32, 128), (8, 20), (6, 28)])
def test_debertas_buckets_are_those_of_exact_arithmetic(n_buckets, reach):
    position = encodings.make("deberta", 8, 2, 9, n_buckets=n_buckets, max_distance=reach)
    offset = torch.arange(-reach, reach + 1)
    wanted = [naive.deberta_bucket(i, n_buckets, reach) for i in offset.tolist()]
    assert position.bucket(offset).tolist() == wanted
    assert (
        position.bucket(torch.tensor(reach - 1)) == n_buckets - 1
    )  # the last row is reached there
    assert position.vectors.shape == (2 * n_buckets, 8)


def contextual(p, q, k, i, looks, causal):
    """Return what CoPE adds to the scores of one query."""
    scaled = [naive.dot(q, one) / math.sqrt(D_HEAD) for one in k]
    gates = [1 / (1 + math.exp(-s)) for s in scaled]
    n = p.n_positions if causal else p.n_positions // 2
    added = []
    for j in looks:
        count = min(sum(gates[min(i, j) : max(i, j) + 1]), n - 1)
        low = math.floor(count)
        first = 0 if j <= i else n
        e = [p.vectors[first + min(m, n - 1)].tolist() for m in (low, low + 1)]
        share = count - low
        added.append(naive.dot(q, e[0]) * (1 - share) + naive.dot(q, e[1]) * share)
    return added


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("n_positions", [4, 64])
def test_contextual_positions_equal_the_loops(n_positions, causal):
    attention, x = layer("cope", {"n_positions": n_positions}, causal=causal), tokens(11)
    _, keys, _ = naive.project(attention, x.tolist())

    def score(b, h, i, j, q, k):
        added = contextual(attention.position, q, keys[b][h], i, [j], causal)
        return content(q, k) + added[0]

    looks = lambda b, i, j: j <= i or not causal  # noqa: E731
    expected = double(naive.self_attention(attention, x.tolist(), score=score, looks=looks))
    close(attention(x), expected)


@pytest.mark.parametrize("name", UNPLACED)
def test_padded_tokens_on_the_way_are_not_looked_at(name):
    attention, x = layer(name), tokens()
    mask = torch.ones(BATCH, LENGTH, dtype=torch.bool)
    mask[0, [1, 4]] = False
    ours = attention(x.where(mask[..., None], math.nan), mask)
    close(ours[:1, mask[0]], attention(x[:1, mask[0]]))


@pytest.mark.parametrize("name", UNPLACED)
def test_what_makes_distances_of_tokens_says_why_it_takes_no_numbers(name):
    x, who = tokens(), encodings.get(name).__name__
    with pytest.raises(ValueError, match=f"positions must be None for {who}, .* got given ones"):
        layer(name)(x, positions=torch.arange(LENGTH))
    with pytest.raises(ValueError, match=f"position must not be {who} in cross-attention, as it"):
        layer(name, cls=CrossAttention)(x, x)


# -- properties ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["log", "power"])
def test_kernels_start_in_the_ranges_of_the_authors(kernel):
    torch.manual_seed(0)
    position = encodings.make("kerple", 2000, 2000, 5, kernel=kernel)
    widest = 2.0 if kernel == "log" else 1.0
    assert position.scale.min() >= 0.0099
    assert 0.99 * widest < position.scale.max() <= widest + 1e-6
    widest = 1.0 if kernel == "log" else 2.0
    assert 0.99 * widest < position.rate.max() <= widest + 1e-6


@pytest.mark.parametrize("kernel", ["log", "power"])
def test_slopes_are_finite_where_a_token_meets_itself(kernel):
    attention, x = layer("kerple", {"kernel": kernel}), tokens()
    times = double(TIMES).requires_grad_()
    run = lambda t: attention(x, positions=t)  # noqa: E731
    assert gradcheck(run, (times,), fast_mode=True)


def test_the_argument_of_fire_never_leaves_what_was_trained():
    """Causal: its network is asked between 0 and 1, however long the input."""
    position = encodings.make("fire", 8, 1, 9, threshold=5.0).double()
    with torch.no_grad():  # a network that returns its argument
        for parameter in position.parameters():
            parameter.zero_()
        position.rate.fill_(0.1)
        position.stretch.fill_(1.0)
        position.hidden.weight[0] = position.output.weight[0, 0] = 1.0
    for length in (4, 40, 400):
        x = torch.zeros(1, length, 8, dtype=torch.float64)
        asked = position.bias(x, x, x)[0, 0].tril()
        assert asked.min() >= 0
        assert asked.max() <= 1
        if length > 5:
            close(asked[-1, 0], double(1.0), 1e-5)


def test_products_decay_into_the_past_and_grow_into_the_future():
    position = encodings.make("xpos", 8, 1, 101, scale_base=50.0).double()
    plain = encodings.make("rotary", 8, 1, 101).double()
    q = torch.randn(1, 1, 101, 8, dtype=torch.float64)
    (a, b), (c, d) = position.rotate(q, q), plain.rotate(q, q)
    pairs = lambda q, k: (q[:, :, 50:51] * k).unflatten(-1, (-1, 2)).sum(-1)[0, 0]  # noqa: E731
    offset = torch.arange(-50, 51, dtype=torch.float64)
    zeta = (torch.arange(4, dtype=torch.float64) / 4 + 0.4) / 1.4
    expected = zeta ** (-offset[:, None] / 50)
    torch.testing.assert_close(pairs(a, b) / pairs(c, d), expected, rtol=1e-9, atol=0)
    assert expected[0].max() < 1 < expected[-1].min()


@pytest.mark.parametrize(("dtype", "far"), [(torch.float32, 18_000), (torch.float16, 2_200)])
def test_factors_that_cannot_be_held_are_refused(dtype, far):
    position = encodings.make("xpos", 8, 2, 1).to(dtype)
    q = torch.ones(1, 2, 2, 4, dtype=dtype)
    turned, keys = position.rotate(q, q, _places(q, [0, far]))
    assert (turned.double() @ keys.double().mT).isfinite().all()
    message = r"positions must lie within [\d,]+ steps of the middle of max_length, 0, .* got one"
    with pytest.raises(ValueError, match=message):
        position.rotate(q, q, _places(q, [0, 2 * far]))


def _places(q, positions):
    from posenc.attention.places import Steps

    steps = Steps(2, q.device, given=torch.tensor([positions]))
    return Places(steps, steps)


def test_drawn_coefficients_are_stored_and_not_learned():
    position = encodings.make("fope", 16, 2, 50)
    assert not [*position.parameters()]
    assert {"of_cos", "of_sin"} == position.state_dict().keys()
    learned = encodings.make("fope", 16, 2, 50, learn=True)
    assert {name for name, _ in learned.named_parameters()} == {"of_cos", "of_sin"}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("cope", {"n_positions": 5}, "n_positions must be even, got 5"),
        ("cope", {"n_positions": 2}, "n_positions must be an integer of at least 4, got 2"),
        ("deberta", {"n_buckets": 7}, "n_buckets must be a positive even integer"),
        ("deberta", {"n_buckets": 2}, "n_buckets must be at least 4, got 2"),
        ("deberta", {"n_buckets": 16}, r"max_distance must be at least n_buckets / 2 \+ 2 = 10, g"),
        ("disentangled", {}, "position 'disentangled' has the name 'deberta' here"),
    ],
)
def test_bad_arguments_are_named(name, options, message):
    with pytest.raises(ValueError, match=message):
        encodings.make(name, 16, 2, 9, **options)


def test_names_come_in_groups():
    groups = [encodings.names(group) for group in ("book", "modern", "signal")]
    assert encodings.names("series") == [name for group in groups for name in group]
    assert encodings.names("axes") == ["axial_rotary", "mrope", "swin"]
    assert encodings.names("all") == encodings.names("series") + encodings.names("axes")
    assert encodings.names("book") == encodings.names()
    assert all(encodings.get(name) for name in encodings.names("all"))
    with pytest.raises(ValueError, match=r"group must be one of book, modern, .*, got 'mine'"):
        encodings.names("mine")
