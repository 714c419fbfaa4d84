# ---
# title: Rotations and RoPE
# about: A wave moves on by a rotation. This assignment builds rotary encoding from that, reads offsets out of it, and tests what is often said about it.
# before: rotations, rotary encoding
# ---

# %% [markdown] task question=1 level=1 minutes=10
# ## Question 1: One matrix for a step
#
# A row of a wave table is $e(t) = (\sin\omega_1 t, \cos\omega_1 t, \sin\omega_2 t, \cos\omega_2 t, \dots)$. Write `step_matrix(frequencies, offset)`: the matrix $M$ with $e(t + \text{offset}) = M\, e(t)$ for every $t$. The offset may be any real number.

# %% solution question=1
def step_matrix(frequencies, offset):
    """Return a float array of shape (2 * n, 2 * n) for n frequencies."""
    # BEGIN SOLUTION
    n = len(frequencies)
    matrix = np.zeros((2 * n, 2 * n))
    for i, angle in enumerate(np.asarray(frequencies) * offset):
        turn = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = turn
    return matrix
    # END SOLUTION


# %% check question=1
@public(1)
def check():
    quarter = np.asarray(step_matrix([np.pi / 2], 1))
    assert quarter.shape == (2, 2), "two rows and columns a frequency"
    assert np.allclose(quarter @ [0, 1], [1, 0]), "a quarter turn takes position 0 to position 1"
    assert np.allclose(step_matrix([1.0, 0.1], 0), np.eye(4)), "no step changes nothing"


# %% hidden question=1
@hidden(points=2, calls="step_matrix", accept=like(step_matrix))
def steps_of_real_length(rng):
    """several frequencies, offsets of both signs"""
    for _ in range(4):
        yield rng.uniform(0.01, 2, 3), float(rng.uniform(-40, 40))


# %% [markdown] task question=2 level=1 minutes=15
# ## Question 2: Rotate
#
# Rotary encoding turns each pair of dimensions $(x_{2i}, x_{2i+1})$ of the token at position $t$ by the angle $\omega_i t$, counter-clockwise: $(a, b)$ becomes $(a\cos\alpha - b\sin\alpha,\; a\sin\alpha + b\cos\alpha)$. Write `rotate(x, positions, frequencies)` for a whole sequence.


# %% solution question=2
def rotate(x, positions, frequencies):
    """Turn x of shape (n, d) at n positions, with d / 2 frequencies; same shape."""
    # BEGIN SOLUTION
    x = np.asarray(x, dtype=float)
    angles = np.outer(positions, frequencies)
    a, b = x[:, 0::2], x[:, 1::2]
    turned = np.empty_like(x)
    turned[:, 0::2] = a * np.cos(angles) - b * np.sin(angles)
    turned[:, 1::2] = a * np.sin(angles) + b * np.cos(angles)
    return turned
    # END SOLUTION


# %% check question=2
@public(2)
def check():
    turned = np.asarray(rotate(np.array([[1.0, 0.0], [1.0, 0.0]]), [0, 1], [np.pi / 2]))
    assert np.allclose(turned, [[1, 0], [0, 1]]), "a quarter turn takes (1, 0) to (0, 1)"
    x = np.arange(8.0).reshape(2, 4)
    lengths = np.linalg.norm(rotate(x, [3, 9], [1.0, 0.1]), axis=1)
    assert np.allclose(lengths, np.linalg.norm(x, axis=1)), "a rotation changes no length"


# %% hidden question=2
@hidden(points=2, calls="rotate", accept=like(rotate))
def sequences_at_real_positions(rng):
    """sequences of several widths at real positions"""
    for half in (1, 2, 4):
        yield rng.normal(size=(5, 2 * half)), rng.uniform(-20, 90, 5), rng.uniform(0.01, 2, half)


# %% [markdown] task question=3 level=2 minutes=15
# ## Question 3: Two layouts
#
# Published code pairs the dimensions in two ways. *Interleaved* turns $(x_0, x_1), (x_2, x_3), \dots$ as above. *Half-split* turns $(x_0, x_{d/2}), (x_1, x_{d/2+1}), \dots$, with the same frequencies in the same order. Weights trained with one layout give nonsense with the other, unless their dimensions are reordered.
#
# Write `reorder(d_model)`: an order of the dimensions such that, for every interleaved `x`, rotating `x[:, order]` half-split gives the interleaved rotation of `x`, reordered in the same way.


# %% solution question=3
def reorder(d_model):
    """Return an integer array of shape (d_model,) that holds each of 0 .. d_model - 1 once."""
    # BEGIN SOLUTION
    return np.concatenate([np.arange(0, d_model, 2), np.arange(1, d_model, 2)])
    # END SOLUTION


# %% check question=3
@public(3)
def check():
    order = np.asarray(reorder(2))
    assert order.tolist() == [0, 1], "with two dimensions both layouts are one"
    order = np.asarray(reorder(8)).tolist()
    assert sorted(order) == list(range(8)), "each dimension once"
    assert {order[0], order[4]} == {0, 1}, (
        "half-split turns places 0 and 4: a pair must stand there"
    )


# %% hidden question=3
def half_split(x, positions, frequencies):
    """Rotate in the other layout."""
    half = x.shape[1] // 2
    angles = np.outer(positions, frequencies)
    a, b = x[:, :half], x[:, half:]
    first, second = a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)
    return np.concatenate([first, second], axis=1)


def brings_layouts_together(value, d_model):
    """Rotate random vectors in both layouts."""
    order = numbers(value, (d_model,))
    assert sorted(order.tolist()) == list(range(d_model)), "each dimension must come once"
    order, rng = order.astype(int), np.random.default_rng(0)
    x, t, frequencies = rng.normal(size=(6, d_model)), np.arange(6), rng.uniform(size=d_model // 2)
    expected = rotate(x, t, frequencies)[:, order]
    found = half_split(x[:, order], t, frequencies)
    assert np.allclose(found, expected), "the two rotations differ"


@hidden(points=2, calls="reorder", accept=brings_layouts_together)
def orders_of_several_widths(rng):
    """widths from 4 to 128"""
    for d_model in 2 * rng.integers(2, 65, 4):
        yield int(d_model)


# %% [markdown] task question=4 level=2 minutes=20
# ## Question 4: Refute a statement
#
# *"With rotary encoding, the farther away a key stands, the lower a query scores it."*
#
# Refute it. Write `eager(frequencies, offset)`, which returns a query and a key, each of length 1, such that the query scores the key higher at distance `offset` than at distance 0, by at least 0.5. That is, with $R_t$ for the rotation at position $t$ and the key at position 0,
#
# $$ (R_\text{offset}\, q) \cdot k \;\ge\; q \cdot k + 0.5 . $$
#
# Of the frequencies that you are given, at least one satisfies $\cos(\omega \cdot \text{offset}) \le 0.4$.


# %% solution question=4
def eager(frequencies, offset):
    """Return query and key, two float arrays of shape (2 * len(frequencies),)."""
    # BEGIN SOLUTION
    # a query that the rotation turns exactly onto the key; use the pair that it turns most
    angles = np.asarray(frequencies) * offset
    i = np.argmin(np.cos(angles))
    query, key = np.zeros((2, 2 * len(angles)))
    key[2 * i] = 1
    query[2 * i : 2 * i + 2] = np.cos(angles[i]), -np.sin(angles[i])
    return query, key
    # END SOLUTION


# %% check question=4
@public(4)
def check():
    query, key = map(np.asarray, eager([np.pi / 2], 1))
    assert np.allclose([np.linalg.norm(query), np.linalg.norm(key)], 1), "both have length 1"
    far = rotate(query[None], [1], [np.pi / 2])[0] @ key
    assert far > query @ key, "at distance 1 the score must be higher than at distance 0"


# %% hidden question=4
def scores_higher_far_away(value, frequencies, offset):
    """Score the pair at both distances."""
    assert isinstance(value, (list, np.ndarray)) and len(value) == 2, (
        "a query and a key were expected"
    )
    query, key = (numbers(v, (2 * len(frequencies),)) for v in value)
    lengths = np.linalg.norm([query, key], axis=1)
    assert np.allclose(lengths, 1, atol=1e-5), "query and key must have length 1"
    gain = rotate(query[None], [offset], frequencies)[0] @ key - query @ key
    # single precision knows an angle of 2,000 no better
    assert gain >= 0.5 - 1e-4, f"the score gains {gain:.3f} only"


@hidden(points=3, calls="eager", accept=scores_higher_far_away)
def pairs_at_drawn_offsets(rng):
    """geometric frequencies and offsets up to 2,000"""
    given = 0
    while given < 5:
        frequencies = float(rng.uniform(100, 20_000)) ** (-np.arange(8) / 8)
        offset = int(rng.integers(2, 2000))
        if np.cos(frequencies * offset).min() <= 0.4:
            given += 1
            yield frequencies, offset


# %% [markdown] notes question=4
# The statement is roughly true of the mean over many queries and keys whose pairs point the same way, and false of single ones: training chooses them. A student whose query and key score higher only for frequency 1 passes some cases; the check is all or nothing.

# %% [markdown] task question=5 level=3 minutes=20
# ## Question 5: Attention that knows only offsets
#
# Write `attention(q, k, v, positions, frequencies)`: rotate queries and keys, score them with a scaled dot product (divide by $\sqrt d$), take the softmax over the keys, and average the values, which are not rotated. There is no mask. The result must stay finite when scores are as large as 10,000, and must not change when all positions are shifted by the same number.


# %% solution question=5
def attention(q, k, v, positions, frequencies):
    """Return the output of shape (n, d) for q, k and v of shape (n, d)."""
    # BEGIN SOLUTION
    q, k = (rotate(x, positions, frequencies) for x in (q, k))
    scores = q @ k.T / np.sqrt(q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ np.asarray(v)
    # END SOLUTION


# %% check question=5
@public(5)
def check():
    x = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
    out = np.asarray(attention(0 * x, x, x, [0, 1, 2], [1.0]))
    assert np.allclose(out, x.mean(axis=0)), "a query of zeros attends to all keys alike"
    assert np.isfinite(attention(300 * x, 300 * x, x, [0, 1, 2], [1.0])).all(), "not finite"


# %% hidden question=5
@hidden(points=2, calls="attention", accept=like(attention))
def attention_of_drawn_tokens(rng):
    """drawn tokens at real positions"""
    for _ in range(3):
        q, k, v = rng.normal(size=(3, 6, 8))
        yield q, k, v, rng.uniform(0, 300, 6), rng.uniform(0.01, 1, 4)


@hidden(points=1, calls="attention", accept=like(attention))
def attention_with_large_scores(rng):
    """scores of many thousands"""
    q, k, v = 200 * rng.normal(size=(3, 5, 4))
    yield q, k, v, np.arange(5), np.array([1.0, 0.01])


# %% [markdown] task question=6 level=3 minutes=20
# ## Question 6: Read the offset
#
# Somebody rotated one unknown token `x` to position $m$ and to position $n$ and shows you the two results, each with a little noise. Write `read_offset(at_m, at_n, frequencies, largest)`: the whole number $n - m$, which lies between `-largest` and `largest`. The token itself is never shown to you.


# %% solution question=6
def read_offset(at_m, at_n, frequencies, largest):
    """Return the offset as an integer."""
    # BEGIN SOLUTION
    offsets = np.arange(-largest, largest + 1)
    tried = rotate(np.tile(at_m, (len(offsets), 1)), offsets, frequencies)
    return int(offsets[np.argmin(((tried - at_n) ** 2).sum(axis=1))])
    # END SOLUTION


# %% check question=6
@public(6)
def check():
    x, frequencies = np.array([[1.0, 2.0, -1.0, 0.5]]), [0.9, 0.05]
    at = [rotate(x, [t], frequencies)[0] for t in (4, 9)]
    assert read_offset(*at, frequencies, 20) == 5, "from position 4 to position 9 it is 5"
    assert read_offset(*at[::-1], frequencies, 20) == -5, "and back it is -5"


# %% hidden question=6
def is_the_offset(value, at_m, at_n, frequencies, largest):
    """Compare with the offset that explains the second best."""
    close(value, read_offset(at_m, at_n, frequencies, largest))


@hidden(points=3, calls="read_offset", accept=is_the_offset)
def offsets_with_noise(rng):
    """offsets up to 400 with noise"""
    frequencies = 400.0 ** (-np.arange(16) / 16)
    for _ in range(5):
        x, m, n = rng.normal(size=(1, 32)), int(rng.integers(400)), int(rng.integers(400))
        noisy = [rotate(x, [t], frequencies)[0] + rng.normal(scale=0.02, size=32) for t in (m, n)]
        yield *noisy, frequencies, 400


# %% [markdown] task question=7 level=3 minutes=10 hand=2
# ## Question 7: And the values?
#
# Rotary encoding rotates queries and keys but not values. Suppose somebody rotates the values too, each at its own position. Does the output of attention stay the same when all positions are shifted by the same number? If not, which further rotation mends it?

# %% [markdown] answer question=7
# No. Shifting all positions by $c$ turns every value by $R_c$ in addition, so the output, a weighted mean of values, is turned by $R_c$ as well. Rotating the output at position $t$ back by $R_{-t}$ mends it: then the value from position $s$ arrives turned by $R_{s - t}$, which depends on the offset only.

# %% [markdown] notes question=7
# One point for "no, the output turns with the shift", one for the inverse rotation at the query's position. An answer that only says "it depends on the absolute position" gets one point.
