# ---
# title: An honest comparison
# about: Somebody reports that their encoding is two points better. This assignment looks for the leak in the data, counts the runs, and asks what the difference is worth.
# before: fair comparison
# needs: scipy
# ---

# %% [markdown] task question=1 level=1 minutes=10
# ## Question 1: Scaling without looking
#
# A model's inputs are scaled to mean 0 and standard deviation 1, each channel by itself. Whoever computes mean and deviation over all series has looked at the test set. Write `scale_honestly(train, test)`, which returns both sets scaled with what the training set alone tells. A channel that is constant in the training set is only centred.

# %% solution question=1
def scale_honestly(train, test):
    """Scale arrays of shape (n, length, channels); return a pair of the same shapes."""
    # BEGIN SOLUTION
    mean, spread = train.mean(axis=(0, 1)), train.std(axis=(0, 1))
    spread = np.where(spread > 0, spread, 1)
    return (train - mean) / spread, (test - mean) / spread
    # END SOLUTION


# %% check question=1
@public(1)
def check():
    train, test = np.array([[[1.0], [3.0]]]), np.array([[[5.0], [5.0]]])
    new_train, new_test = scale_honestly(train, test)
    assert np.allclose(new_train, [[[-1], [1]]]), "mean 2, deviation 1"
    assert np.allclose(new_test, 3), "the test set is scaled by the same two numbers"


# %% hidden question=1
@hidden(points=1, calls="scale_honestly", accept=like(scale_honestly))
def sets_of_several_channels(rng):
    """sets of several channels"""
    for _ in range(3):
        yield rng.normal(3, 2, size=(5, 8, 3)), rng.normal(-1, 4, size=(4, 8, 3))


@hidden(points=1, calls="scale_honestly", accept=like(scale_honestly))
def sets_with_a_constant_channel(rng):
    """sets with a channel that is constant in training"""
    train, test = rng.normal(size=(4, 6, 2)), rng.normal(size=(3, 6, 2))
    train[..., 1] = 0.5
    yield train, test


# %% [markdown] task question=2 level=2 minutes=20
# ## Question 2: Find the leak, first kind
#
# Windows of `width` samples, which may overlap, are cut from one long recording and then dealt at random to training and test. A test window that shares a sample with a training window is a leak. Write `leaking(train_starts, test_starts, width)`: the number of test windows that leak. It must take at most a few seconds for 100,000 windows on either side; the starts come in no order.


# %% solution question=2
def leaking(train_starts, test_starts, width):
    """Return the number of test windows that share a sample with a training window."""
    # BEGIN SOLUTION
    train = np.sort(train_starts)
    # starts of training windows within (start - width, start + width)
    low = np.searchsorted(train, np.asarray(test_starts) - width, side="right")
    high = np.searchsorted(train, np.asarray(test_starts) + width, side="left")
    return int((high > low).sum())
    # END SOLUTION


# %% check question=2
@public(2)
def check():
    assert leaking([0, 100], [5, 50], 10) == 1, "0 to 9 and 5 to 14 share samples"
    assert leaking([20], [10, 30], 10) == 0, "windows that only touch share no sample"


# %% hidden question=2
@hidden(points=2, calls="leaking", accept=like(leaking))
def few_windows(rng):
    """few windows"""
    for _ in range(4):
        yield rng.integers(0, 3000, 40), rng.integers(0, 3000, 30), int(rng.integers(2, 40))


@hidden(points=2, calls="leaking", accept=like(leaking))
def many_windows(rng):
    """100,000 windows"""
    many = rng.integers(0, 20_000_000, (2, 100_000))
    yield many[0], many[1], int(rng.integers(20, 90))


# %% [markdown] task question=3 level=2 minutes=15
# ## Question 3: Find the leak, second kind
#
# Some test series are training series in disguise: multiplied by a positive number, and moved up or down. Write `disguised(train, test)`: the indices of such test series in ascending order. No series is constant; a relative difference of up to $10^{-6}$ is rounding.


# %% solution question=3
def disguised(train, test):
    """Return indices into test, for arrays of shape (n, length)."""

    # BEGIN SOLUTION
    def undressed(x):
        centred = x - x.mean(axis=1, keepdims=True)
        return centred / np.linalg.norm(centred, axis=1, keepdims=True)

    # equal up to scale and offset exactly if the correlation is 1; compare distances, not
    # correlations, for near 1 a small distance is lost in rounding
    train, test = undressed(np.asarray(train)), undressed(np.asarray(test))
    nearest = np.array([np.linalg.norm(train - x, axis=1).min() for x in test])
    return np.flatnonzero(nearest < 1e-5)
    # END SOLUTION


# %% check question=3
@public(3)
def check():
    train = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0]])
    test = np.array([[1.0, 2.0, 2.0], [7.0, 9.0, 15.0], [-2.0, 0.0, -1.0]])
    assert list(disguised(train, test)) == [1], "2 x (0, 1, 4) + 7; a mirrored series is none"


# %% hidden question=3
@hidden(points=3, calls="disguised", accept=like(disguised))
def sets_with_copies(rng):
    """sets with some copies, and some that only look alike"""
    for _ in range(3):
        train, test = rng.normal(size=(30, 20)), rng.normal(size=(25, 20))
        chosen = rng.permutation(25)[:9]
        for i, place in enumerate(chosen):
            copy = train[rng.integers(30)]
            look_alike = i % 3 == 0
            sign = -1 if i % 3 == 1 and i < 5 else 1
            test[place] = sign * rng.uniform(0.1, 50) * copy + rng.uniform(-100, 100)
            test[place] += 0.01 * np.abs(test[place]).max() * rng.normal(size=20) * look_alike
        yield train, test


# %% [markdown] task question=4 level=2 minutes=10
# ## Question 4: The interval of a difference
#
# Methods A and B were trained with the same seeds, so run $i$ of A belongs to run $i$ of B. Write `paired_interval(a, b, level)`: the two ends of Student's t interval, at that level, for the mean of the differences $a_i - b_i$. (`scipy.stats.t.ppf` gives quantiles.)


# %% solution question=4
def paired_interval(a, b, level=0.95):
    """Return (low, high) for arrays of shape (n,)."""
    # BEGIN SOLUTION
    from scipy.stats import t

    d = np.asarray(a, dtype=float) - np.asarray(b)
    half = t.ppf((1 + level) / 2, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d))
    return d.mean() - half, d.mean() + half
    # END SOLUTION


# %% check question=4
@public(4)
def check():
    low, high = paired_interval([0.7, 0.8, 0.9], [0.6, 0.6, 0.6], 0.95)
    assert np.isclose((low + high) / 2, 0.2), "it lies around the mean difference"
    assert np.isclose((high - low) / 2, 4.30265 * 0.1 / np.sqrt(3), rtol=1e-4), "its half width"


# %% hidden question=4
@hidden(points=2, calls="paired_interval", accept=like(paired_interval, rtol=1e-5))
def intervals_at_several_levels(rng):
    """3 to 20 runs at several levels"""
    for level in (0.8, 0.95, 0.99):
        a, b = rng.uniform(size=(2, int(rng.integers(3, 21))))
        yield a, b, level


# %% [markdown] task question=5 level=2 minutes=15
# ## Question 5: How many runs?
#
# From pilot runs you know the standard deviation `spread` of the paired differences. Write `runs_needed(spread, difference, level)`: the smallest number of runs $n \ge 2$ for which the half width of the t interval, $t_{n-1}\,\text{spread}/\sqrt n$, is at most `difference`.


# %% solution question=5
def runs_needed(spread, difference, level=0.95):
    """Return the number of runs as an integer."""
    # BEGIN SOLUTION
    from scipy.stats import t

    n = 2
    while t.ppf((1 + level) / 2, n - 1) * spread / np.sqrt(n) > difference:
        n += 1
    return n
    # END SOLUTION


# %% check question=5
@public(5)
def check():
    assert runs_needed(0.01, 1.0, 0.95) == 2, "a huge difference shows in two runs"
    assert runs_needed(0.02, 0.02, 0.95) == 7, "5 to 6 are too few for one spread"


# %% hidden question=5
@hidden(points=2, calls="runs_needed", accept=like(runs_needed))
def runs_for_drawn_spreads(rng):
    """spreads up to five times the difference"""
    for ratio in rng.uniform(0.1, 5, 5):
        difference = float(rng.uniform(0.002, 0.05))
        yield float(ratio * difference), difference, float(rng.choice([0.9, 0.95, 0.99]))


# %% [markdown] task question=6 level=3 minutes=20
# ## Question 6: Refute a statement
#
# *"The 95 % intervals of A and B overlap almost entirely. So the runs give no evidence that one is better."*
#
# Refute it. Write `overlapping(n)`: scores of A and of B, each of shape (n,) and between 0 and 1, trained with the same n seeds, such that
#
# - the 95 % t intervals of A's mean and of B's mean overlap by at least 80 % of the shorter one, and
# - the 95 % t interval of the mean paired difference lies above 0.
#
# You may rely on $n \ge 4$.


# %% solution question=6
def overlapping(n):
    """Return the scores of A and of B."""
    # BEGIN SOLUTION
    # seeds differ much, the methods little, and always in the same direction
    b = np.linspace(0.2, 0.8, n)
    return b + 0.01 + 0.001 * np.resize([1, -1], n), b
    # END SOLUTION


# %% check question=6
@public(6)
def check():
    a, b = map(np.asarray, overlapping(4))
    assert a.shape == b.shape == (4,), "four scores each"
    assert ((a >= 0) & (a <= 1) & (b >= 0) & (b <= 1)).all(), "scores lie between 0 and 1"
    assert paired_interval(a, b)[0] > 0, "the paired differences must show that A is better"
    (_, high), (low, _) = paired_interval(b, 0 * b), paired_interval(a, 0 * a)
    assert high > low, "the two intervals do not even touch"


# %% hidden question=6
def overlaps_and_differs(value, n):
    """Compute the three intervals."""
    assert isinstance(value, (list, np.ndarray)) and len(value) == 2, (
        "two arrays of scores were expected"
    )
    a, b = (numbers(v, (n,)) for v in value)
    assert min(a.min(), b.min()) >= 0 and max(a.max(), b.max()) <= 1, "scores from 0 to 1"
    ends = np.array([paired_interval(x, np.zeros(n)) for x in (a, b)])
    shared = ends[:, 1].min() - ends[:, 0].max()
    assert (widths := np.diff(ends)).min() > 0, "an interval has no width"
    assert shared >= 0.8 * widths.min(), f"they share {shared / widths.min():.0%} only"
    low = paired_interval(a, b)[0]
    assert low > 0, f"the interval of the difference begins at {low:.3f}"


@hidden(points=3, calls="overlapping", accept=overlaps_and_differs)
def runs_of_drawn_number(rng):
    """4 to 40 runs"""
    for n in (4, *rng.integers(5, 41, 3)):
        yield int(n)


# %% [markdown] task question=7 level=3 minutes=15
# ## Question 7: The best of k
#
# A paper reports the best of $k$ runs, the baseline one run. Suppose that both methods are the same and a run's score is normally distributed. By how many standard deviations is the best of $k$ ahead, on average? Write `head_start(k)`: the mean of the largest of $k$ independent standard normal numbers, to three decimals or better. Random draws are too noisy for that. (All $k$ numbers lie below $x$ with probability $\Phi(x)^k$.)


# %% solution question=7
def head_start(k):
    """Return the mean of the largest of k standard normal numbers."""
    # BEGIN SOLUTION
    from scipy.stats import norm

    x = np.linspace(-12, 12, 200_001)
    density = k * norm.pdf(x) * norm.cdf(x) ** (k - 1)
    return float((x * density).sum() * (x[1] - x[0]))
    # END SOLUTION


# %% check question=7
@public(7)
def check():
    assert abs(head_start(1)) < 1e-3, "one run has no head start"
    assert abs(head_start(2) - 1 / np.sqrt(np.pi)) < 1e-3, "for two it is 1 / sqrt(pi)"


# %% hidden question=7
@hidden(points=2, calls="head_start", accept=like(head_start, rtol=0, atol=2e-3))
def best_of_drawn_numbers(rng):
    """the best of 3 to 1,000"""
    for k in (3, *rng.integers(4, 1000, 3)):
        yield int(k)


# %% [markdown] task question=8 level=3 minutes=15 hand=3
# ## Question 8: You are the referee
#
# *"We compare our encoding with three baselines on five data sets. Each series was scaled with the mean and deviation of its data set before we drew a random 70/30 split. For every method we tuned the learning rate, ours over ten values and the baselines with the value from their papers, and report the best accuracy over five seeds on the test set. Ours is ahead on four of five sets, by 1.3 points on average."*
#
# Name the three faults that matter most, say for each in which direction it biases the result, and what you would ask the authors to do.

# %% [markdown] answer question=8
# The learning rate of the new method was tuned over ten values and that of the baselines was not, which favours the new method; each method should get the same budget, chosen on a validation set. The best of five seeds on the test set is reported, which raises every score and most of all that of the method that varies most, and the test set has become a validation set; report mean and interval over all seeds, paired by seed. The scaling was computed before the split, so the training has seen the test set; this raises all scores, usually a little, and should be computed on the training part. Besides, four of five sets and 1.3 points without an interval are compatible with chance.

# %% [markdown] notes question=8
# One point for each fault with direction and remedy; half a point where the direction is missing or wrong (scaling before the split does not favour the new method in particular). The small number of sets, the missing interval, a missing line without an encoding, a single split, and relatives on both sides of it count as faults if argued: a sign test with four wins of five has a two-sided p of 0.375.
