"""The papers' formulas written as loops over single numbers, in Python floats.

Nothing here calls the library: a module's weights come in as nested lists.
"""

import math
from fractions import Fraction
from itertools import count


def matvec(matrix, vector, offset=None):
    rows = [sum(w * x for w, x in zip(row, vector, strict=True)) for row in matrix]
    return rows if offset is None else [r + o for r, o in zip(rows, offset, strict=True)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def softmax(scores):
    top = max(scores)
    powers = [math.exp(s - top) for s in scores]
    return [p / sum(powers) for p in powers]


def project(attention, x):
    """Return q, k, v as [batch][head][step][dimension] lists."""
    weight, offset, d = attention.qkv.weight, attention.qkv.bias, attention.d_model
    return [
        _heads_of(attention.n_heads, weight[rows].tolist(), offset[rows].tolist(), x)
        for rows in (slice(d), slice(d, 2 * d), slice(2 * d, 3 * d))
    ]


def self_attention(
    attention, x, score=None, extra_weight=None, extra_value=None, real=None, looks=None
):
    """Return the layer's output as [batch][step][dimension].

    `score(b, h, i, j, q_i, k_j)` is the whole score, `extra_weight(b, h, i, j)` is added after the
    softmax, `extra_value(b, h, i, j)` to the value of j as i sees it; `real[b][j]` says who is
    seen, and `looks(b, i, j)` who sees whom.
    """
    q, k, v = project(attention, x)
    looks = looks or (lambda b, i, j: real is None or real[b][j])
    return attended(attention, q, k, v, score, extra_weight, extra_value, looks)


def cross_attention(attention, x, context, score=None, extra_weight=None, extra_value=None):
    """Return the output of a layer whose keys and values come from the context."""
    q = _heads(attention, attention.query, x)
    weight, offset = attention.key_value.weight, attention.key_value.bias
    d = attention.d_model
    k, v = (
        _heads_of(attention.n_heads, weight[rows].tolist(), offset[rows].tolist(), context)
        for rows in (slice(d), slice(d, 2 * d))
    )
    return attended(attention, q, k, v, score, extra_weight, extra_value, lambda b, i, j: True)


def attended(attention, q, k, v, score, extra_weight, extra_value, looks):
    """Return the output from queries, keys and values as [batch][head][step][dimension]."""
    d_head = attention.d_model // attention.n_heads
    score = score or (lambda b, h, i, j, a, c: dot(a, c) / math.sqrt(d_head))
    result = []
    for b in range(len(q)):
        outputs = []
        for i in range(len(q[b][0])):
            seen = [j for j in range(len(k[b][0])) if looks(b, i, j)]
            heads = []
            for h in range(attention.n_heads):
                scores = [score(b, h, i, j, q[b][h][i], k[b][h][j]) for j in seen]
                for_head = [0.0] * d_head
                for weight, j in zip(softmax(scores), seen, strict=True):
                    total = weight + (extra_weight(b, h, i, j) if extra_weight else 0.0)
                    shift = extra_value(b, h, i, j) if extra_value else [0.0] * d_head
                    for d in range(d_head):
                        for_head[d] += total * v[b][h][j][d] + weight * shift[d]
                heads += for_head
            outputs.append(
                matvec(attention.out.weight.tolist(), heads, attention.out.bias.tolist())
            )
        result.append(outputs)
    return result


def _heads(attention, linear, x):
    return _heads_of(attention.n_heads, linear.weight.tolist(), linear.bias.tolist(), x)


def _heads_of(n_heads, weight, offset, x):
    """Return [batch][head][step][dimension] of projected tokens."""
    width = len(weight) // n_heads
    return [
        [
            [matvec(weight, token, offset)[h * width : (h + 1) * width] for token in series]
            for h in range(n_heads)
        ]
        for series in x
    ]


def sinusoid(t, d_model, base=10_000.0, stretch=1.0):
    """Vaswani et al.: PE(t, 2i) = sin(t / base^(2i/d)), PE(t, 2i + 1) = cos(same)."""
    row = []
    for i in range(d_model // 2):
        angle = t * stretch / base ** (2 * i / d_model)
        row += [math.sin(angle), math.cos(angle)]
    return row


def dft(t, d_model, n_positions):
    """Idé et al.: coefficients of a one-hot vector, in the order cos 0..K, sin 1..K, last cos.

    With more positions than dimensions, the lowest functions of the longer lattice.
    """
    lattice, k = max(d_model, n_positions), range(1, d_model // 2)
    scale, angle = math.sqrt(2 / lattice), 2 * math.pi * t / lattice
    row = [1 / math.sqrt(lattice), *(scale * math.cos(angle * n) for n in k)]
    last = scale if lattice > d_model else 1 / math.sqrt(lattice)
    return [*row, *(scale * math.sin(angle * n) for n in k), last * math.cos(angle * d_model / 2)]


def learned_waves(log_omega, t):
    return [f(t * math.exp(w)) for w in log_omega for f in (math.sin, math.cos)]


def time2vec(weight, phase, t):
    lines = [t * w + b for w, b in zip(weight, phase, strict=True)]
    return [lines[0], *map(math.sin, lines[1:])]


# what an encoding adds to a token at t
ROWS = {
    "sinusoidal": lambda p, t: sinusoid(t, p.d_model),
    "tape": lambda p, t: sinusoid(t, p.d_model, stretch=p.d_model / p.max_length),
    "dft": lambda p, t: dft(t, p.d_model, p.max_length),
    "learnable": lambda p, t: p.vectors[int(t)].tolist(),
    "learnable_frequency": lambda p, t: learned_waves(p.log_omega.tolist(), t),
    "sine_linear": lambda p, t: time2vec(p.weight.tolist(), p.phase.tolist(), t),
}


def turned(vector, t, pairs, base=10_000.0):
    """Su et al.: each pair (a, b) of dimensions turned by t base^(-2i/d)."""
    result = list(vector)
    for i, (a, b) in enumerate(pairs):
        angle = t * base ** (-2 * i / len(vector))
        result[a] = vector[a] * math.cos(angle) - vector[b] * math.sin(angle)
        result[b] = vector[a] * math.sin(angle) + vector[b] * math.cos(angle)
    return result


def deberta_bucket(offset, n_buckets, reach):
    """The later DeBERTa models: one bucket an offset up to the middle, widening ones further off.

    The bucket of a far offset is the first b with
    (offset / middle)^(middle - 1) <= ((reach - 1) / middle)^(b - middle).
    """
    middle, far = n_buckets // 2, abs(offset)
    if far <= middle:
        return offset
    power, widening = Fraction(far, middle) ** (middle - 1), Fraction(reach - 1, middle)
    bucket = next(b for b in count(middle) if power <= widening ** (b - middle))
    return bucket if offset > 0 else -bucket


def t5_bucket(offset, n_buckets, max_distance):
    """Raffel et al.: exact buckets near by, logarithmic ones further off, by whole numbers."""
    half = n_buckets // 2
    single = half // 2
    side = half if offset > 0 else 0
    distance = abs(offset)
    if distance < single:
        return side + distance
    bucket = single
    # step s is reached once (distance / single)^(half - single) >= (max_distance / single)^s
    for s in range(1, half - single):
        if distance ** (half - single) * single**s >= max_distance**s * single ** (half - single):
            bucket = single + s
    return side + bucket


def t5_causal_bucket(offset, n_buckets, max_distance):
    """The same for a decoder, whose buckets all serve keys before the query."""
    distance, single = max(-offset, 0), n_buckets // 2
    if distance < single:
        return distance
    bucket = single
    for s in range(1, n_buckets - single):
        growth = n_buckets - single
        if distance**growth * single**s >= max_distance**s * single**growth:
            bucket = single + s
    return bucket
