# ---
# title: From raw indices to sinusoids
# about: A position is a number. This assignment turns it into dials, the dials into waves, and asks what the waves can and cannot tell apart.
# before: order blindness, raw indices, oscillations
# ---

# %% [markdown] task question=1 level=1 minutes=10
# ## Question 1: Dials
#
# An odometer shows a number on dials. Its first dial turns by one with every step and has `sizes[0]` marks; whenever a dial has gone round once, the next one turns by one. Write `dials(positions, sizes)`: an array with one row for each position and one column for each dial, which holds the mark that the dial shows, counted from 0.

# %% solution question=1
def dials(positions, sizes):
    """Return an integer array of shape (len(positions), len(sizes))."""
    # BEGIN SOLUTION
    positions = np.asarray(positions)
    turns = np.concatenate([[1], np.cumprod(sizes)[:-1]])
    return positions[:, None] // turns % np.asarray(sizes)
    # END SOLUTION


# %% check question=1
@public(1)
def check():
    shown = np.asarray(dials(np.array([0, 7, 12]), [10, 10]))
    assert shown.shape == (3, 2), "one row a position, one column a dial"
    assert shown[1].tolist() == [7, 0], "position 7 has not moved the second dial of an odometer"
    assert shown[2].tolist() == [2, 1], "position 12 has moved it once"


# %% hidden question=1
@hidden(points=1, calls="dials", accept=like(dials))
def dials_of_one_size(rng):
    """dials that all have the same size"""
    for _ in range(4):
        yield rng.integers(0, 100_000, 6), [int(rng.integers(2, 13))] * 5


@hidden(points=1, calls="dials", accept=like(dials))
def dials_of_many_sizes(rng):
    """dials of different sizes"""
    for _ in range(4):
        yield rng.integers(0, 100_000, 6), rng.integers(2, 13, 4).tolist()


# %% [markdown] task question=2 level=1 minutes=10
# ## Question 2: Waves
#
# Now the dials glide. Write `waves(positions, wavelengths)`: for each wavelength $\lambda_j$ two columns, first $\sin(2\pi t/\lambda_j)$, then $\cos(2\pi t/\lambda_j)$, so that the columns come in the order sine, cosine, sine, cosine. A position $t$ may be any real number, also a negative one.


# %% solution question=2
def waves(positions, wavelengths):
    """Return a float array of shape (len(positions), 2 * len(wavelengths))."""
    # BEGIN SOLUTION
    angles = 2 * np.pi * np.outer(positions, 1 / np.asarray(wavelengths, dtype=float))
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(len(angles), -1)
    # END SOLUTION


# %% check question=2
@public(2)
def check():
    table = np.asarray(waves([0.0, 1.0, 2.5], [4.0, 10.0]))
    assert table.shape == (3, 4), "two columns a wavelength"
    assert np.allclose(table[0], [0, 1, 0, 1]), "position 0: every sine is 0, every cosine 1"
    assert np.allclose(table[1, :2], [1, 0]), "a quarter of a wavelength of 4 is 1"
    assert np.allclose(table[2, 2:], [1, 0]), "a quarter of a wavelength of 10 is 2.5"


# %% hidden question=2
@hidden(points=2, calls="waves", accept=like(waves))
def waves_at_real_positions(rng):
    """real positions, some negative, and several wavelengths"""
    for _ in range(4):
        yield rng.uniform(-500, 500, 7), rng.uniform(1.5, 300, 5)


# %% [markdown] task question=3 level=2 minutes=15
# ## Question 3: Which base gives this longest wave?
#
# The transformer's table takes the angular frequencies $b^{-2i/d}$ for $i = 0, \dots, d/2 - 1$, where $d$ stands for `d_model` and $b$ for the base. One often reads that the wavelengths run from $2\pi$ to $2\pi b$. Look at the last $i$: the longest wavelength stays short of that.
#
# Write `base_for(d_model, longest)`: the base whose longest wavelength is exactly `longest`.


# %% solution question=3
def base_for(d_model, longest):
    """Return the base as a float."""
    # BEGIN SOLUTION
    return (longest / (2 * np.pi)) ** (d_model / (d_model - 2))
    # END SOLUTION


# %% check question=3
@public(3)
def check():
    base = base_for(4, 2 * np.pi * 10)
    assert np.isclose(base ** (-2 / 4), 1 / 10), "the last frequency must be 2 pi / longest"


# %% hidden question=3
@hidden(points=2, calls="base_for", accept=like(base_for))
def base_of_many_widths(rng):
    """widths from 4 to 512"""
    for d_model in 2 * rng.integers(2, 257, 6):
        yield int(d_model), float(rng.uniform(100, 20_000))


# %% [markdown] task question=4 level=2 minutes=20
# ## Question 4: Refute a statement
#
# *"Beyond its longest period, a clock repeats. So the number of positions that a clock of dials can tell apart is at most the length of its longest period."*
#
# Here each dial turns by itself: a dial of period $p$ shows $t \bmod p$. Refute the statement. Write `clock(longest)`, which returns a list of at most three whole periods, each between 2 and `longest`, such that no two of the positions $0, 1, \dots, 10 \cdot \texttt{longest} - 1$ show the same. You may rely on `longest` being at least 12.


# %% solution question=4
def clock(longest):
    """Return a list of one to three integers."""
    # BEGIN SOLUTION
    # two neighbouring numbers share no divisor, so both are back at 0 only after their product
    return [longest - 1, longest]
    # END SOLUTION


# %% check question=4
@public(4)
def check():
    periods = list(clock(12))
    assert 1 <= len(periods) <= 3, "one to three dials"
    assert all(2 <= p <= 12 for p in periods), "each period between 2 and the longest"
    shown = {tuple(t % p for p in periods) for t in range(30)}
    assert len(shown) == 30, "two of the first 30 positions show the same"


# %% hidden question=4
def tells_apart(value, longest):
    """Judge a clock by the least common multiple of its periods."""
    periods = numbers(value)
    assert periods.ndim == 1, "a list of periods was expected"
    assert 1 <= len(periods) <= 3, "one to three periods were asked for"
    assert (periods == np.round(periods)).all(), "periods are whole numbers"
    assert ((periods >= 2) & (periods <= longest)).all(), "a period is out of range"
    repeat = int(np.lcm.reduce(periods.astype(np.int64)))
    assert repeat >= 10 * longest, f"with longest = {longest} it repeats after {repeat} steps"


@hidden(points=3, calls="clock", accept=tells_apart)
def clocks_of_many_sizes(rng):
    """longest periods from 12 to 5,000, odd and even"""
    yield 12
    for longest in rng.integers(13, 5000, 6):
        yield int(longest)


# %% [markdown] notes question=4
# Three points by the check. The idea that counts is that the periods share no divisor, so that the clock repeats only after their least common multiple. A frequent first answer is `[longest, longest // 2]`, whose repeat is `longest` itself where that is even: a second dial helps only by what it does not share with the first.

# %% [markdown] task question=5 level=3 minutes=25
# ## Question 5: The closest two of many
#
# How well can the rows of a table of waves be told apart at worst? Write `smallest_gap(wavelengths, n)`: the smallest Euclidean distance between rows of two positions in `waves(np.arange(n), wavelengths)`.
#
# Comparing all pairs takes $n^2/2$ distances. It must also answer for $n = 200{,}000$ within a few seconds and without a large table. (What does the distance between rows $s$ and $t$ depend on?)


# %% solution question=5
def smallest_gap(wavelengths, n):
    """Return the distance as a float."""
    # BEGIN SOLUTION
    # |row(t + k) - row(t)|^2 is the sum of 2 - 2 cos(2 pi k / wavelength), whatever t is
    squared = np.zeros(n - 1)
    for wavelength in wavelengths:
        squared += 4 * np.sin(np.pi * np.arange(1, n) / wavelength) ** 2
    return float(np.sqrt(squared.min()))
    # END SOLUTION


# %% check question=5
@public(5)
def check():
    assert np.isclose(smallest_gap([6.0], 4), 1), "neighbours on a hexagon in the unit circle"
    table = waves(np.arange(9), [7.0, 31.0])
    apart = np.linalg.norm(table[:, None] - table[None], axis=2)[np.triu_indices(9, 1)]
    assert np.isclose(smallest_gap([7.0, 31.0], 9), apart.min()), "not the smallest of all pairs"


# %% hidden question=5
@hidden(points=2, calls="smallest_gap", accept=like(smallest_gap, rtol=1e-5))
def gaps_of_short_tables(rng):
    """short tables"""
    for _ in range(5):
        yield rng.uniform(3, 60, 3), int(rng.integers(10, 80))


@hidden(points=2, calls="smallest_gap", accept=like(smallest_gap, rtol=1e-4, atol=1e-7))
def gaps_of_long_tables(rng):
    """tables of 200,000 positions"""
    for _ in range(2):
        yield rng.uniform(3, 5000, 8), 200_000


# %% [markdown] task question=6 level=3 minutes=15 hand=3
# ## Question 6: Where did the index go?
#
# A model adds the raw index $t$ to every dimension of a token and then applies layer normalisation. A second adds it to a single dimension. A third is like the first, but divides by the root mean square and subtracts no mean. For each of the three say in two or three sentences what is left of the position, and of the token, when $t$ is large.

# %% [markdown] answer question=6
# In the first model nothing is left of the position: adding one number to every dimension moves the mean by that number, and layer normalisation subtracts the mean; the token stays as it was. In the second the index moves one dimension away from the mean of the others. It survives, but the standard deviation grows in proportion to $t$, so all other dimensions shrink towards a constant and the token fades; between large neighbours $t$ and $t + 1$ hardly anything changes, so the position fades too. In the third the mean is not subtracted, so the index is not erased; but the division shrinks the token by about $t$, and the result tends to a vector of ones, so again both fade.

# %% [markdown] notes question=6
# One point for each model. Full marks need the reason (mean, standard deviation or root mean square), not only the outcome. Whoever says of the second model that the position "is kept" without the fading of token and position gets half a point; round the sum up.
