# ---
# title: Fourier and faithfulness
# about: A table of positions is a set of columns from which a model reads functions of the position. This assignment asks which functions can be read, how much noise the reading bears, and which columns one should choose.
# before: the Fourier view, faithfulness
# ---

# %% [markdown] task question=1 level=1 minutes=10
# ## Question 1: Whose wave is it?
#
# Sample a cosine that makes $k$ turns over $n$ equally spaced samples: $\cos(2\pi k t/n)$ for $t = 0, \dots, n - 1$. When $k$ is larger than $n/2$, the samples are those of a slower wave. Write `lowest_turns(k, n)`: the smallest whole number of turns, from 0 to $n/2$, that gives exactly the same samples.

# %% solution question=1
def lowest_turns(k, n):
    """Return the number of turns as an integer."""
    # BEGIN SOLUTION
    return min(k % n, -k % n)
    # END SOLUTION


# %% check question=1
@public(1)
def check():
    assert lowest_turns(3, 16) == 3, "slow enough as it is"
    assert lowest_turns(16, 16) == 0, "a full turn from sample to sample is no turn"
    t = np.arange(16)
    same = np.cos(2 * np.pi * lowest_turns(13, 16) * t / 16)
    assert np.allclose(same, np.cos(2 * np.pi * 13 * t / 16)), "the samples differ"


# %% hidden question=1
@hidden(points=2, calls="lowest_turns", accept=like(lowest_turns))
def turns_of_fast_waves(rng):
    """waves of up to 1,000 turns, odd and even numbers of samples"""
    for _ in range(8):
        yield int(rng.integers(0, 1000)), int(rng.integers(3, 100))


# %% [markdown] task question=2 level=1 minutes=15
# ## Question 2: Where the energy lies
#
# Write `low_share(x, cutoff)`: the share of the energy of a real sequence that lies in waves of at most `cutoff` turns, the constant included. The energy of a wave is the sum of its squared samples, so all shares together make 1 (Parseval). (`np.fft.fft` gives the coefficients; entries $k$ and $n - k$ belong to the same wave.)


# %% solution question=2
def low_share(x, cutoff):
    """Return a share between 0 and 1."""
    # BEGIN SOLUTION
    energy = np.abs(np.fft.fft(x)) ** 2
    turns = np.minimum(np.arange(len(x)), len(x) - np.arange(len(x)))
    return float(energy[turns <= cutoff].sum() / energy.sum())
    # END SOLUTION


# %% check question=2
@public(2)
def check():
    t = np.arange(32)
    x = 1 + np.cos(2 * np.pi * 3 * t / 32)  # energy 32 and 16
    assert np.isclose(low_share(x, 0), 2 / 3), "the constant holds two thirds of the energy"
    assert np.isclose(low_share(x, 3), 1), "with three turns all of it is there"


# %% hidden question=2
@hidden(points=2, calls="low_share", accept=like(low_share))
def shares_of_drawn_sequences(rng):
    """sequences of odd and even length"""
    for n in (15, 16, 47, 64):
        yield rng.normal(size=n).cumsum(), int(rng.integers(1, n // 2))


# %% [markdown] task question=3 level=2 minutes=15
# ## Question 3: What a linear layer reads
#
# From a table $E$ with one row per position, a linear layer reads a function $f$ of the position as $E w$. Write `readout_error(table, f)`: the smallest possible $\lVert E w - f \rVert / \lVert f \rVert$ over all $w$. The table may have more columns than rows, and columns that depend on each other.


# %% solution question=3
def readout_error(table, f):
    """Return the relative error for table of shape (n, d) and f of shape (n,)."""
    # BEGIN SOLUTION
    table, f = np.asarray(table, dtype=float), np.asarray(f, dtype=float)
    weights = np.linalg.lstsq(table, f, rcond=None)[0]
    return float(np.linalg.norm(table @ weights - f) / np.linalg.norm(f))
    # END SOLUTION


# %% check question=3
@public(3)
def check():
    t = np.arange(10.0)
    assert np.isclose(readout_error(t[:, None], 3 * t), 0, atol=1e-9), "a multiple is read exactly"
    assert np.isclose(readout_error(np.eye(10)[:, :1], np.ones(10)), np.sqrt(0.9)), "9 of 10 missed"


# %% hidden question=3
@hidden(points=1, calls="readout_error", accept=like(readout_error, atol=1e-7))
def errors_of_narrow_tables(rng):
    """tables with fewer columns than rows"""
    for _ in range(3):
        yield rng.normal(size=(20, 6)), rng.normal(size=20)


@hidden(points=1, calls="readout_error", accept=like(readout_error, atol=1e-7))
def errors_of_dependent_columns(rng):
    """tables whose columns depend on each other"""
    for _ in range(3):
        yield rng.normal(size=(12, 4)) @ rng.normal(size=(4, 15)), rng.normal(size=12)


# %% [markdown] task question=4 level=2 minutes=20
# ## Question 4: Refute a statement
#
# *"If all rows of a table differ clearly, a linear layer can read every function of the position from it, at least roughly."*
#
# Refute it. Write `unreadable(n, d_model)`: a table with `n` rows and `d_model` columns, any two rows at a distance of at least 1, and a function $f$ of the position, such that `readout_error(table, f)` is at least 0.9. You may rely on $n \ge 8 \cdot \texttt{d\_model}$.


# %% solution question=4
def unreadable(n, d_model):
    """Return a table of shape (n, d_model) and f of shape (n,)."""
    # BEGIN SOLUTION
    # the raw index in every column: one direction, and the alternating function is far from it
    table = np.tile(np.arange(1.0, n + 1)[:, None], (1, d_model))
    return table, (-1.0) ** np.arange(n)
    # END SOLUTION


# %% check question=4
@public(4)
def check():
    table, f = map(np.asarray, unreadable(16, 2))
    assert table.shape == (16, 2), "16 rows, 2 columns"
    assert f.shape == (16,), "one value a position"
    apart = np.linalg.norm(table[:, None] - table[None], axis=2)[np.triu_indices(16, 1)]
    assert apart.min() >= 1, "two rows are closer than 1"
    assert readout_error(table, f) >= 0.9, "a linear layer still reads your function"


# %% hidden question=4
def cannot_be_read(value, n, d_model):
    """Measure separation and the error of the best readout."""
    assert isinstance(value, (list, np.ndarray)) and len(value) == 2, (
        "a table and a function were expected"
    )
    table, f = numbers(value[0], (n, d_model)), numbers(value[1], (n,))
    assert np.linalg.norm(f) > 1e-6, "the function must not be zero"
    apart = np.linalg.norm(table[:, None] - table[None], axis=2)[np.triu_indices(n, 1)]
    assert apart.min() >= 1 - 1e-5, f"two rows stand at distance {apart.min():.3f}"
    error = readout_error(table, f)
    assert error >= 0.9 - 1e-5, f"the best readout has an error of {error:.3f} only"


@hidden(points=3, calls="unreadable", accept=cannot_be_read)
def tables_of_several_sizes(rng):
    """sizes up to 300 positions and 16 columns"""
    for _ in range(5):
        d_model = int(rng.integers(1, 17))
        yield int(rng.integers(8 * d_model, 301)), d_model


# %% [markdown] notes question=4
# Different rows make it possible to *tell* positions *apart* (by the nearest row, say, or a deep network). Reading every function linearly needs as many independent columns as positions. A table of random numbers passes with a suitable function too, since $d$ columns leave $n - d$ directions unread; accept any route.

# %% [markdown] task question=5 level=3 minutes=15
# ## Question 5: Noise that does no harm
#
# A model sees a row of the table plus noise and takes the nearest row for the truth. Write `safe_noise(table)`: the largest number $r$ such that every noise of length *below* $r$ still leads to the right row, whichever row it was. If two rows are equal, it is 0. Your function must answer for 4,000 rows and 16 columns within a few seconds and within 1 GB of memory.


# %% solution question=5
def safe_noise(table):
    """Return the radius as a float."""
    # BEGIN SOLUTION
    table, smallest = np.asarray(table, dtype=float), np.inf
    for i in range(len(table) - 1):
        smallest = min(smallest, ((table[i + 1 :] - table[i]) ** 2).sum(axis=1).min())
    return float(np.sqrt(smallest) / 2)
    # END SOLUTION


# %% check question=5
@public(5)
def check():
    square = np.array([[0.0, 0.0], [0.0, 3.0], [4.0, 0.0], [4.0, 3.0]])
    radius = safe_noise(square)
    assert radius < 3, "noise of that length leads from one corner to another"
    assert radius > 1, "noise of length 1 does no harm here"


# %% hidden question=5
@hidden(points=1, calls="safe_noise", accept=like(safe_noise, rtol=1e-5, atol=1e-7))
def radii_of_small_tables(rng):
    """small tables, one with two equal rows"""
    for _ in range(3):
        yield rng.normal(size=(30, 4))
    yield rng.normal(size=(6, 3))[[0, 1, 2, 3, 4, 5, 2]]


@hidden(points=1, calls="safe_noise", accept=like(safe_noise, rtol=1e-5, atol=1e-7))
def radii_of_a_large_table(rng):
    """a table of 4,000 rows"""
    yield rng.normal(size=(4000, 16)).round(3)


# %% [markdown] task question=6 level=3 minutes=25
# ## Question 6: The best columns
#
# A model has to read many functions of the position, the rows of a matrix `functions` of shape (m, n). You may choose a table with only `d_model` columns. Write `best_table(functions, d_model)`: a table of shape (n, d_model) for which the summed squared error of the best linear readouts of all rows is as small as it can be. (The singular value decomposition orders directions by how much of the rows they hold.)


# %% solution question=6
def best_table(functions, d_model):
    """Return a float array of shape (n, d_model)."""
    # BEGIN SOLUTION
    # Eckart and Young: the leading right singular vectors span the best subspace
    return np.linalg.svd(np.asarray(functions, dtype=float))[2][:d_model].T
    # END SOLUTION


# %% check question=6
@public(6)
def check():
    functions = np.array([[1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0]])
    table = np.asarray(best_table(functions, 1))
    assert table.shape == (4, 1), "one row a position, d_model columns"
    error = sum(readout_error(table, f) for f in functions)
    assert np.isclose(error, 0, atol=1e-7), "two constant functions need one constant column"


# %% hidden question=6
def summed_error(table, functions):
    """Return the summed squared error of the best readouts."""
    weights = np.linalg.lstsq(table, functions.T, rcond=None)[0]
    return float(((table @ weights - functions.T) ** 2).sum())


def is_best(value, functions, d_model):
    """Compare its error with the smallest that there is."""
    table = numbers(value, (functions.shape[1], d_model))
    least, found = (
        summed_error(best_table(functions, d_model), functions),
        summed_error(table, functions),
    )
    energy = float((functions**2).sum())
    assert found <= least * (1 + 1e-6) + 1e-9 * energy, (
        f"its error is {found:.4g}, it can be {least:.4g}"
    )


@hidden(points=3, calls="best_table", accept=is_best)
def columns_for_drawn_functions(rng):
    """drawn families of functions"""
    for _ in range(4):
        mix = rng.normal(size=(int(rng.integers(3, 40)), 24)).cumsum(axis=1)
        yield mix, int(rng.integers(1, 4))


# %% [markdown] task question=7 level=3 minutes=10 hand=2
# ## Question 7: And learned tables?
#
# Training could choose a table like that of question 6. Name one reason why one may still prefer fixed waves, and one setting in which you would expect the learned table to win. Say for each how you would test it.

# %% [markdown] answer question=7
# Waves go on: rows of positions beyond the training length exist and keep their distances, while a learned table has no such rows. Test: train on short sequences, evaluate on longer ones. A learned table should win where the functions to be read are few, known from much data, and not smooth, for example a fixed calendar of special positions. Test: plant a task whose label depends on three fixed positions, and compare both over several seeds and sizes of the training set.

# %% [markdown] notes question=7
# One point for each half; half a point is lost where no test is described that could come out the other way. Other good reasons for waves: no parameters to learn from little data; offsets act as one linear map.
