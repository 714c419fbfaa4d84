# ---
# title: Write an encoding and pass its property tests
# about: An encoding is a few lines of code and a list of promises. Here you write one of your own as a class of the package posenc, turn its promises into tests, and find out what the promises do not buy.
# before: four doors, relative and hybrid
# needs: posenc, torch
# ---

# %%
import torch
from torch import nn

from posenc.attention import Position, SelfAttention
from posenc.testing import check_encoding

# %% [markdown]
# The encoding of this assignment is a bias on the scores that grows more slowly than distance. Head $h$ (counted from 0) adds to the score of a query at position $t$ and a key at position $s$
#
# $$ b_h(t, s) = -m_h \, \log(1 + |t - s| / c), \qquad m_h = 2^{-h}, $$
#
# where $c > 0$ is a scale, the same for all heads. It is not among the encodings of the book.

# %% [markdown] task question=1 level=1 minutes=15
# ## Question 1: The formula
#
# Write `log_bias(positions, n_heads, scale)` with NumPy: the array of all $b_h(t, s)$, where rows are queries and columns are keys. Positions are real numbers.


# %% solution question=1
def log_bias(positions, n_heads, scale):
    """Return a float array of shape (n_heads, n, n) for n positions."""
    # BEGIN SOLUTION
    positions = np.asarray(positions, dtype=float)
    distance = np.abs(positions[:, None] - positions[None, :])
    slopes = 2.0 ** -np.arange(n_heads)
    return -slopes[:, None, None] * np.log1p(distance / scale)
    # END SOLUTION


# %% check question=1
@public(1)
def check():
    bias = np.asarray(log_bias([0.0, 1.0], 2, 1.0))
    assert bias.shape == (2, 2, 2), "heads, queries, keys"
    assert np.allclose(bias[:, 0, 0], 0), "no distance, no penalty"
    assert np.allclose(bias[0, 0, 1], -np.log(2)), "head 0 has slope 1"
    assert np.allclose(bias[1], bias[0] / 2), "head 1 has half of it"


# %% hidden question=1
@hidden(points=2, calls="log_bias", accept=like(log_bias))
def biases_at_real_positions(rng):
    """real positions, several heads and scales"""
    for n_heads in (1, 3, 5):
        yield rng.uniform(-50, 200, 6), n_heads, float(rng.uniform(0.1, 30))


# %% [markdown] task question=2 level=2 minutes=20
# ## Question 2: The class
#
# Write the class `LogDistance`, derived from `Position`, with the door `bias`. The scale is learned: it starts at 1, stays positive whatever training does to the parameter, and is one number for all heads. The class must also work at given positions, such as the moments of an unevenly sampled series. (The docstring of `Position` has an example: `help(Position)`.)


# %% solution question=2
class LogDistance(Position):
    """A bias that falls with the logarithm of the distance."""

    def __init__(self, d_model, n_heads, max_length):
        super().__init__(d_model, n_heads, max_length)
        # BEGIN SOLUTION
        self.log_scale = nn.Parameter(torch.zeros(()))
        # END SOLUTION

    def bias(self, x, q, k, places):
        """Return the bias, shape (n_heads, queries, keys) or one that broadcasts to it."""
        # BEGIN SOLUTION
        slopes = 2.0 ** -torch.arange(self.n_heads, device=q.device, dtype=q.dtype)
        distance = places.offset().abs().to(q.dtype) / self.log_scale.exp()
        return -slopes[:, None, None] * torch.log1p(distance)
        # END SOLUTION


# %% check question=2
@public(2)
def check():
    torch.manual_seed(0)
    layer, x = SelfAttention(8, 2, LogDistance(8, 2, 16)), torch.randn(1, 5, 8)
    assert layer(x).shape == x.shape, "attention gives one token for each token"
    parameters = sum(p.numel() for p in layer.position.parameters())
    assert parameters == 1, "one learned number, the scale"
    layer(x, positions=torch.tensor([0.0, 0.5, 3.0, 7.5, 40.0])).sum().backward()
    # what the library asks of every encoding; the report says what is wrong, and with which input
    check_encoding(LogDistance, relative=True, real_times=True, measure=False).raise_for_failures()


# %% driver question=2
def fixed_layer(d_model, n_heads, seed):
    """Return attention with the student's encoding; all weights but the encoding's are given."""
    layer = SelfAttention(d_model, n_heads, LogDistance(d_model, n_heads, 64)).double().eval()
    others = sorted((n, p) for n, p in layer.named_parameters() if "position" not in n)
    with torch.no_grad():
        for i, (_, p) in enumerate(others, 1):
            p.copy_(torch.sin(torch.arange(p.numel()).double() * i + seed).reshape(p.shape))
    return layer


def biased_output(x, positions, n_heads, seed):
    """Return what the layer makes of tokens at given positions."""
    layer = fixed_layer(x.shape[-1], n_heads, seed)
    return layer(torch.tensor(x), positions=torch.tensor(positions)).detach().numpy()


def after_training(x, positions, value):
    """Return the output with the parameter at a value, and the size of its gradient."""
    layer = fixed_layer(x.shape[-1], 1, 0)
    (parameter,) = layer.position.parameters()
    with torch.no_grad():
        parameter.fill_(value)
    out = layer(torch.tensor(x), positions=torch.tensor(positions))
    (out**2).sum().backward()
    return [out.detach().numpy(), float(parameter.grad.abs().sum())]


# %% hidden question=2
@hidden(points=1, calls="biased_output", accept=like(biased_output, rtol=1e-4, atol=1e-5))
def layers_at_counted_positions(rng):
    """a layer with fixed weights at positions 0, 1, 2, ..."""
    for n_heads in (1, 2, 4):
        yield rng.normal(size=(2, 6, 8)), np.arange(6.0), n_heads, int(rng.integers(1000))


@hidden(points=2, calls="biased_output", accept=like(biased_output, rtol=1e-4, atol=1e-5))
def layers_at_given_moments(rng):
    """a layer with fixed weights at uneven moments"""
    for n_heads in (1, 2):
        yield rng.normal(size=(1, 7, 8)), rng.uniform(0, 60, 7), n_heads, int(rng.integers(1000))


def stays_usable(value, *_):
    """Judge that the output is finite and that the parameter learns."""
    assert isinstance(value, list) and len(value) == 2, "output and gradient were expected"
    numbers(value[0])
    assert numbers(value[1], ()) > 0, "the parameter gets no gradient"


@hidden(points=1, calls="after_training", accept=stays_usable)
def scales_stay_positive(rng):
    """the scale stays positive, and learns, with the parameter between -3 and 3"""
    for value in (-3.0, -1.0, 0.5, 3.0):
        yield rng.normal(size=(1, 6, 4)), np.sort(rng.uniform(0, 60, 6)), value


# %% [markdown] task question=3 level=2 minutes=25
# ## Question 3: Promises as tests
#
# A test is worth what it catches. Write `promises(bias)`, which tests somebody else's bias, a function from positions of shape (n,) to an array of shape (n, n), and returns four answers, `True` or `False`, in this order:
#
# 1. *shift*: adding the same number to all positions changes nothing;
# 2. *mirror*: swapping query and key changes nothing;
# 3. *falling*: for a query at position 0 and keys at 0, 1, ..., 63, in one sequence, the bias never rises with the distance;
# 4. *stable*: more positions at the end of the sequence do not change the bias among the first ones.
#
# Differences below $10^{-9}$ are rounding. Marking runs your tests on biases that keep some promises and break others, each by a clear amount.


# %% solution question=3
def promises(bias):
    """Return [shift, mirror, falling, stable] for a function from (n,) to (n, n)."""
    # BEGIN SOLUTION
    t = np.arange(64.0)
    table = np.asarray(bias(t))
    return [
        bool(np.allclose(bias(t + 17), table, rtol=0, atol=1e-9)),
        bool(np.allclose(table, table.T, rtol=0, atol=1e-9)),
        bool((np.diff(table[0]) <= 1e-9).all()),
        bool(np.allclose(table[:8, :8], bias(t[:8]), rtol=0, atol=1e-9)),
    ]
    # END SOLUTION


# %% check question=3
@public(3)
def check():
    kept = list(promises(lambda t: log_bias(t, 1, 1.0)[0]))
    assert kept == [True] * 4, "your own bias keeps all four promises"
    kept = list(promises(lambda t: np.zeros((len(t), len(t))) + t))
    assert not kept[0], "a bias by the key's own position does not survive a shift"


# %% driver question=3
def tested(weights):
    """Run the student's tests on one bias, a sum of terms that keep or break promises."""
    fall, lean, place, ripple, length = weights

    def bias(positions):
        t = np.asarray(positions, dtype=float)
        offset = t[None, :] - t[:, None]
        found = -fall * np.log1p(np.abs(offset)) + lean * offset
        found = found + place * (np.sin(t)[None, :] + np.sin(t)[:, None])
        return (found + ripple * np.cos(offset)) * (1 + length * len(t) / 50)

    return promises(bias)


# %% hidden question=3
def finds_what_is_broken(value, weights):
    """Compare with what is true of that bias."""
    expected = tested(weights)
    found = np.asarray(value)
    assert found.shape == (4,), "four answers were expected"
    assert found.dtype == bool, "each answer is True or False"
    names = ("shift", "mirror", "falling", "stable")
    wrong = [n for n, v, e in zip(names, found, expected, strict=True) if v != e]
    assert not wrong, f"wrong about: {', '.join(wrong)}"


@hidden(points=1, calls="tested", accept=finds_what_is_broken)
def biases_that_break_one_promise(rng):
    """biases that break one promise, or none"""
    for broken in rng.permutation(5):
        weights = [float(rng.uniform(1, 3)), 0.0, 0.0, 0.0, 0.0]
        if broken:
            weights[broken] = float(rng.uniform(0.5, 1)) * (8 if broken == 3 else 1)
        yield weights


@hidden(points=2, calls="tested", accept=finds_what_is_broken)
def biases_that_break_several(rng):
    """biases that break several promises, in both directions"""
    for _ in range(8):
        kept = rng.random(4) < 0.5
        sizes = rng.choice([-1, 1], 4) * rng.uniform(0.5, 1, 4) * [1, 1, 8, 1]
        yield [float(rng.uniform(1, 3)), *np.where(kept, 0.0, sizes).tolist()]


# %% [markdown] notes question=3
# Common slips: a shift by a multiple of a period, tests at one length only (then *stable* cannot fail), and *mirror* tested on the first row alone.

# %% [markdown] task question=4 level=2 minutes=20
# ## Question 4: Refute a statement
#
# *"With a distance bias, attention knows the order of the tokens. Two different orders of the same tokens give different outputs, so a classifier that averages the outputs can tell them apart."*
#
# Refute it for the bias of this assignment and attention without a mask. Write `same_mean(x)`: it gets tokens of shape (n, d) at positions 0, ..., n - 1 and returns the same tokens in another order, for which the mean of the layer's outputs over the positions is the same, whatever weights the layer has.


# %% solution question=4
def same_mean(x):
    """Return an array of shape (n, d) with the rows of x in another order."""
    # BEGIN SOLUTION
    # mirroring keeps all distances, so each token gets the same output at its mirrored place
    return np.asarray(x)[::-1].copy()
    # END SOLUTION


# %% check question=4
@public(4)
def check():
    x = np.arange(10.0).reshape(5, 2)
    other = np.asarray(same_mean(x))
    assert sorted(other.tolist()) == x.tolist(), "the same tokens, each once"
    assert not np.array_equal(other, x), "in another order"
    weights = np.exp(log_bias(np.arange(5), 1, 1.0)[0])  # of queries that are zero
    weights /= weights.sum(axis=1, keepdims=True)
    means = [(weights @ tokens).mean(axis=0) for tokens in (x, other)]
    assert np.allclose(*means), "queries of zeros and the bias already tell the two orders apart"


# %% hidden question=4
def mean_output(x, seed):
    """Return the mean output of one head with random weights and the bias of question 1."""
    q, k, v = (x @ m for m in np.random.default_rng(seed).normal(size=(3, x.shape[1], x.shape[1])))
    scores = q @ k.T / np.sqrt(x.shape[1]) + log_bias(np.arange(len(x)), 1, 1.0)[0]
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True) @ v).mean(axis=0)


def cannot_be_told_apart(value, x):
    """Compare the two orders with three sets of weights."""
    other = numbers(value, x.shape)
    order = [int(np.abs(x - row).sum(axis=1).argmin()) for row in other]
    same = sorted(order) == list(range(len(x))) and np.allclose(other, x[order], atol=1e-6)
    assert same, "these are other tokens"
    assert not np.array_equal(x[order], x), "this is the same order"
    for seed in range(3):
        same = np.allclose(mean_output(x, seed), mean_output(x[order], seed), atol=1e-7)
        assert same, "the mean output differs"


@hidden(points=3, calls="same_mean", accept=cannot_be_told_apart)
def orders_of_drawn_tokens(rng):
    """drawn tokens, odd and even in number"""
    for n in (4, 7, 12):
        yield rng.normal(size=(n, 6))


# %% [markdown] task question=5 level=3 minutes=25
# ## Question 5: Sixty thousand tokens
#
# Let all content scores be 0, so that one head with slope $m$ and scale $c$ averages the values with weights proportional to $(1 + |t - s|/c)^{-m}$. Write `smooth(values, slope, scale)`: the outputs for `values` of shape (n,) at positions 0, ..., n - 1. It must take only a few seconds for $n = 60{,}000$. (The weights depend on the offset only. What is a sum over offsets called?)


# %% solution question=5
def smooth(values, slope, scale):
    """Return a float array of shape (n,)."""
    # BEGIN SOLUTION
    # numerator and denominator are convolutions with the same kernel, padded against wrapping
    values = np.asarray(values, dtype=float)
    n = len(values)
    size = 1 << (3 * n).bit_length()
    kernel = (1 + np.abs(np.arange(-(n - 1), n)) / scale) ** -slope
    kernel = np.fft.rfft(kernel, size)
    both = np.fft.irfft(np.fft.rfft([values, np.ones(n)], size) * kernel, size)
    sums, weights = both[:, n - 1 : 2 * n - 1]
    return sums / weights
    # END SOLUTION


# %% check question=5
@public(5)
def check():
    assert np.allclose(smooth(np.full(5, 3.0), 1.0, 2.0), 3), "the mean of equal values"
    out = np.asarray(smooth(np.array([1.0, 0.0]), 1.0, 1.0))
    assert np.allclose(out, [2 / 3, 1 / 3]), "weights 1 and 1/2, divided by their sum"


# %% hidden question=5
@hidden(points=2, calls="smooth", accept=like(smooth, rtol=1e-5, atol=1e-7))
def short_sequences(rng):
    """short sequences"""
    for n in (1, 6, 33):
        yield rng.normal(size=n), float(rng.uniform(0.2, 2)), float(rng.uniform(0.5, 9))


@hidden(points=2, calls="smooth", accept=like(smooth, rtol=1e-4, atol=1e-6))
def long_sequences(rng):
    """60,000 values"""
    yield rng.normal(size=60_000).round(4), float(rng.uniform(0.2, 2)), float(rng.uniform(0.5, 9))


# %% [markdown] task question=6 level=3 minutes=15 hand=3
# ## Question 6: Which promise would you give up?
#
# You classify stretches of seven days of electricity use, measured every quarter of an hour. Each begins at midnight, on any day of the week. Go through the four promises of question 3: which would you keep, which would you give up, and why? For one that you give up, say what the encoding should promise in its place, as a sentence that a test could check.

# %% [markdown] answer question=6
# *Shift* goes: eight o'clock in the morning means something, so an encoding may know the time of day. In its place: a shift by 96 quarter-hours, a whole day, changes nothing. *Mirror* goes as well, for a rise before noon and a fall after it are not the same. *Falling* is doubtful, since the same hour of the day before may matter more than noon; one could ask that the bias never rises within twelve hours. *Stable* stays: measuring another hour must not change how the first hours are seen.

# %% [markdown] notes question=6
# One point for reasons that come from the task, one for consistency over all four promises, one for a promise in its place that a test could really fail. Keeping *shift* is fine if the answer argues that a second encoding holds the time of day.
