# ---
# title: Beyond the training length
# about: A model trained on short sequences meets long ones. This assignment asks what it has never seen, what the usual remedies do, and how one measures whether they work.
# before: rotary encoding, beyond the training length, fair comparison
# needs: scipy
# ---

# %% [markdown] task question=1 level=1 minutes=10
# ## Question 1: Waves that never came round
#
# During training positions run from 0 to `trained - 1`. A wave with angular frequency $\omega$ has come round if it has completed a full turn by then. Those that have not will show new angles on longer inputs. Write `unfinished(frequencies, trained)`: how many of the frequencies have not come round.

# %% solution question=1
def unfinished(frequencies, trained):
    """Return the number as an integer."""
    # BEGIN SOLUTION
    return int((np.asarray(frequencies) * (trained - 1) < 2 * np.pi).sum())
    # END SOLUTION


# %% check question=1
@public(1)
def check():
    assert unfinished([1.0, 0.1, 0.01], 64) == 1, "only the slowest needs more than 63 steps"
    assert unfinished([2 * np.pi / 10], 11) == 0, "position 10 completes the turn"


# %% hidden question=1
@hidden(points=2, calls="unfinished", accept=like(unfinished))
def geometric_frequencies(rng):
    """geometric frequencies and several lengths"""
    for _ in range(6):
        d_model, base = 2 * int(rng.integers(4, 65)), float(rng.uniform(100, 50_000))
        yield base ** (-np.arange(0, d_model, 2) / d_model), int(rng.integers(8, 5000))


# %% [markdown] task question=2 level=1 minutes=10
# ## Question 2: A louder needle
#
# One key among $n$ has the score $s$, all others have the score 0. As $n$ grows, the softmax gives that key less and less. Write `needed_score(share, n)`: the score $s$ at which the one key gets the given share of the weight.


# %% solution question=2
def needed_score(share, n):
    """Return the score as a float."""
    # BEGIN SOLUTION
    return float(np.log(share * (n - 1) / (1 - share)))
    # END SOLUTION


# %% check question=2
@public(2)
def check():
    assert np.isclose(needed_score(0.5, 2), 0), "two equal keys share alike"
    s = needed_score(0.25, 10)
    assert np.isclose(np.exp(s) / (np.exp(s) + 9), 0.25), "the share must come out"


# %% hidden question=2
@hidden(points=2, calls="needed_score", accept=like(needed_score))
def shares_among_many(rng):
    """up to a million keys"""
    for n in (2, *rng.integers(3, 1_000_000, 4)):
        yield float(rng.uniform(0.01, 0.99)), int(n)


# %% [markdown] task question=3 level=2 minutes=15
# ## Question 3: A longer slowest wave
#
# Rotary frequencies are $b^{-2i/d}$, $i = 0, \dots, d/2 - 1$. One remedy for longer inputs enlarges the base, so that the slowest wave becomes exactly `factor` times as long, while the fastest stays as it is. Write `stretched(base, d_model, factor)`: the new frequencies. Multiplying the base by the factor is not quite enough.


# %% solution question=3
def stretched(base, d_model, factor):
    """Return the new frequencies, shape (d_model / 2,)."""
    # BEGIN SOLUTION
    new = base * factor ** (d_model / (d_model - 2))
    return new ** (-np.arange(0, d_model, 2) / d_model)
    # END SOLUTION


# %% check question=3
@public(3)
def check():
    new = np.asarray(stretched(10_000.0, 4, 8.0))
    assert new.shape == (2,), "d_model / 2 frequencies"
    assert np.allclose(new, [1, 0.01 / 8]), "the fastest stays, the slowest is 8 times slower"


# %% hidden question=3
@hidden(points=2, calls="stretched", accept=like(stretched, rtol=1e-7, atol=0))
def bases_of_several_widths(rng):
    """widths up to 256 and factors up to 64"""
    for d_model in 2 * rng.integers(2, 129, 5):
        yield float(rng.uniform(100, 100_000)), int(d_model), float(rng.uniform(1.5, 64))


# %% [markdown] task question=4 level=2 minutes=15
# ## Question 4: How far ALiBi looks
#
# A head of ALiBi subtracts $m$ times the distance from the score. Let the past be endless and all content scores equal. Write `reach(slope, share)`: the smallest number $w$ such that the nearest $w$ keys, the token's own included, together get at least `share` of the weight.


# %% solution question=4
def reach(slope, share):
    """Return the number of keys as an integer."""
    # BEGIN SOLUTION
    # weights are geometric: the nearest w keys get 1 - exp(-slope * w)
    return int(np.ceil(-np.log1p(-share) / slope))
    # END SOLUTION


# %% check question=4
@public(4)
def check():
    assert reach(np.log(2), 0.49) == 1, "the token itself gets one half"
    assert reach(np.log(2), 0.76) == 3, "1/2, then 1/4, then 1/8"


# %% hidden question=4
@hidden(points=2, calls="reach", accept=like(reach))
def slopes_of_many_heads(rng):
    """slopes from 1/2 to 1/4096"""
    for power in rng.uniform(1, 12, 6):
        yield float(2.0**-power), float(rng.uniform(0.1, 0.999))


# %% [markdown] task question=5 level=2 minutes=20
# ## Question 5: Refute a statement
#
# *"Without a positional encoding, attention is blind to order. So a causal model without one cannot know at which position a token stands."*
#
# Refute it with one head. It attends uniformly to the token itself and all before it, so its output at position $t$ is the mean of the values at $0, \dots, t$. The first token is a start sign with a value of its own; all other tokens are alike. Write
#
# - `start_and_other()`: two numbers, the value of the start sign and the value of every other token;
# - `position_from(output)`: the position $t$, from the head's output at one position alone.


# %% solution question=5
def start_and_other():
    """Return the value of the start sign, and that of every other token."""
    # BEGIN SOLUTION
    return 1.0, 0.0
    # END SOLUTION


def position_from(output):
    """Return the position, from a single number."""
    # BEGIN SOLUTION
    # with values 1, 0, 0, ... the mean at position t is 1 / (t + 1)
    return round(1 / output) - 1
    # END SOLUTION


# %% check question=5
@public(5)
def check():
    start, other = start_and_other()
    values = np.array([start] + [other] * 9, dtype=float)
    outputs = np.cumsum(values) / np.arange(1, 11)
    assert [position_from(o) for o in outputs[[3, 0, 9]]] == [3, 0, 9], "positions 3, 0 and 9"


# %% driver question=5
def positions_read(order):
    """Ask for positions in a drawn order, so that counting calls does not help."""
    start, other = start_and_other()
    order = np.asarray(order)
    outputs = (start + other * order) / (order + 1)
    return [position_from(float(output)) for output in outputs]


# %% hidden question=5
@hidden(points=3, calls="positions_read", accept=lambda value, order: close(value, order))
def positions_in_drawn_order(rng):
    """positions up to 2,000 in drawn order"""
    for _ in range(3):
        yield rng.permutation(2000)[:60]


# %% [markdown] notes question=5
# The causal mask breaks the symmetry: how many tokens one may look at is itself a sign of the position. That a trained model can do so does not say how well it does: the differences $1/(t+1) - 1/(t+2)$ shrink with the square of $t$.

# %% [markdown] task question=6 level=3 minutes=20
# ## Question 6: The usable length
#
# One table of results: `scores[i, j]` is the accuracy of run $i$ at the test length `lengths[j]`; lengths rise. Call a length *usable* if, at it and at every shorter length in the table, the lower end of the 95 % t interval of the mean over runs reaches the bar. Write `usable_length(scores, lengths, bar)`: the largest usable length, or 0 where there is none.


# %% solution question=6
def usable_length(scores, lengths, bar):
    """Return the length as an integer, for scores of shape (runs, len(lengths))."""
    # BEGIN SOLUTION
    from scipy.stats import t

    scores = np.asarray(scores, dtype=float)
    n = len(scores)
    low = scores.mean(axis=0) - t.ppf(0.975, n - 1) * scores.std(axis=0, ddof=1) / np.sqrt(n)
    n_usable = np.cumprod(low >= bar).sum()
    return int(lengths[n_usable - 1]) if n_usable else 0
    # END SOLUTION


# %% check question=6
@public(6)
def check():
    scores = np.array([[0.9, 0.8, 0.5, 0.9], [0.9, 0.8, 0.5, 0.9], [0.9, 0.8, 0.5, 0.9]])
    lengths = [10, 20, 40, 80]
    assert usable_length(scores, lengths, 0.7) == 20, "40 fails, so 80 does not count"
    assert usable_length(scores, lengths, 0.95) == 0, "no length reaches the bar"


# %% hidden question=6
@hidden(points=3, calls="usable_length", accept=like(usable_length))
def tables_of_drawn_results(rng):
    """tables of 3 to 10 runs, with recoveries that must not count"""
    for _ in range(8):
        n, m = int(rng.integers(3, 11)), int(rng.integers(3, 8))
        means = 0.95 - rng.uniform(0, 0.12, m).cumsum() + 0.3 * (rng.random(m) < 0.2)
        scores = means + rng.normal(scale=0.03, size=(n, m))
        yield scores, (16 * 2 ** np.arange(m)).tolist(), float(rng.uniform(0.6, 0.85))


# %% [markdown] task question=7 level=3 minutes=20
# ## Question 7: The first strange offset
#
# For a query and a key that point the same way in every pair, the rotary score at offset $k$ is, up to a factor, the profile $c(k) = \frac{2}{d}\sum_i \cos(\omega_i k)$. During training the model sees it at $k = 0, \dots, \texttt{trained} - 1$. Write `first_strange(frequencies, trained)`: the first offset $k \ge \texttt{trained}$ at which $c(k)$ is larger than the largest or smaller than the smallest value seen in training, by more than $10^{-9}$. Search up to $k = 20 \cdot \texttt{trained}$ and return -1 where there is none.


# %% solution question=7
def first_strange(frequencies, trained):
    """Return the offset as an integer, or -1."""
    # BEGIN SOLUTION
    profile = np.cos(np.outer(np.arange(20 * trained + 1), frequencies)).mean(axis=1)
    seen, later = profile[:trained], profile[trained:]
    strange = (later > seen.max() + 1e-9) | (later < seen.min() - 1e-9)
    return int(trained + np.argmax(strange)) if strange.any() else -1
    # END SOLUTION


# %% check question=7
@public(7)
def check():
    assert first_strange([2 * np.pi / 8], 9) == -1, "a wave that came round shows nothing new"
    assert first_strange([np.pi / 100], 50) == 50, "this one is still falling"


# %% hidden question=7
@hidden(points=3, calls="first_strange", accept=like(first_strange))
def profiles_of_drawn_bases(rng):
    """several bases, widths and lengths"""
    for _ in range(6):
        d_model, base = 2 * int(rng.integers(2, 33)), float(rng.uniform(20, 20_000))
        yield base ** (-np.arange(0, d_model, 2) / d_model), int(rng.integers(16, 512))


# %% [markdown] task question=8 level=3 minutes=10 hand=2
# ## Question 8: Two ways to fail
#
# A model with rotary encoding loses accuracy at four times its training length. Questions 1 and 2 name two possible reasons: angles that were never seen, and weight that spreads over more keys. Describe one experiment that tells the two apart, and what you would expect to see in either case.

# %% [markdown] answer question=8
# Keep the number of keys and make only far offsets new: let the first half of a sequence of the training length stand three lengths earlier, and ask questions whose answer lies in either half. Offsets inside each half are known, the softmax is as crowded as in training, and the offsets across the gap are new. If accuracy falls, unseen angles do harm. The other way round, take four times the tokens, and treat each offset beyond the trained range as the largest trained one: no angle is new, and the keys are four times as many. If accuracy falls now, the crowd does harm.

# %% [markdown] notes question=8
# One point for an experiment that changes one of the two and not the other, one for the expected result in both cases. Positions that are spread or divided by a factor change near offsets too: one point at most. Multiplying all scores by a factor that grows with the logarithm of the length is another good experiment for the crowd.
