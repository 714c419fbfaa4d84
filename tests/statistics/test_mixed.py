"""The mixed model against printed output of lme4, analysis of variance, and simulation."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from posenc_book.statistics import mixed
from posenc_book.statistics import summary as statistics

# Davies and Goldsmith (1972), table 6.1: yields of dyestuff from six batches; and Box, Hunter and
# Hunter (2005), table 4.4: yields of penicillin by four treatments (rows) from five blends.
DYESTUFF = [[1545, 1440, 1440, 1520, 1580], [1540, 1555, 1490, 1560, 1495]]
DYESTUFF += [[1595, 1550, 1605, 1510, 1560], [1445, 1440, 1595, 1465, 1545]]
DYESTUFF += [[1595, 1630, 1515, 1635, 1625], [1520, 1455, 1450, 1480, 1445]]
PENICILLIN = [
    [89, 84, 81, 87, 79],
    [88, 77, 87, 92, 81],
    [97, 92, 87, 89, 80],
    [94, 79, 85, 84, 88],
]


def test_dyestuff_as_lme4_prints_it():
    """Intercept 1527.50 with error 19.38, spreads 42.00 and 49.51, REML criterion 319.7."""
    y = np.array(DYESTUFF, dtype=float)
    found = mixed.fit(y.ravel(), {}, {"batch": np.repeat(np.arange(6), 5)})
    mean = found.coefficients["mean"]
    assert (mean.estimate, mean.error) == pytest.approx((1527.50, 19.38), abs=0.005)
    assert found.spreads["batch"] == pytest.approx(42.00, abs=0.005)
    assert found.spreads["residual"] == pytest.approx(49.51, abs=0.005)
    assert found.criterion == pytest.approx(319.7, abs=0.05)
    # with equal batches the interval is that of the six means
    interval = stats.ttest_1samp(y.mean(axis=1), 0).confidence_interval(0.95)
    assert mean.freedom == pytest.approx(5, abs=0.01)
    assert (mean.low, mean.high) == pytest.approx(tuple(interval), abs=0.05)


def test_penicillin_as_lme4_prints_it():
    """Treatments +1, +5 and +2 with error 2.75, variances 11.8 and 18.8, criterion 103.8."""
    y = np.array(PENICILLIN, dtype=float)
    treatment, blend = (index.ravel() for index in np.indices(y.shape))
    columns = {name: treatment == i for i, name in enumerate("ABCD") if i}
    columns = {name: column.astype(float) for name, column in columns.items()}
    found = mixed.fit(y.ravel(), columns, {"blend": blend})
    estimates = [found.coefficients[name].estimate for name in ("mean", "B", "C", "D")]
    assert estimates == pytest.approx([84, 1, 5, 2])
    assert found.coefficients["mean"].error == pytest.approx(2.48, abs=0.006)
    assert found.coefficients["C"].error == pytest.approx(2.75, abs=0.006)
    assert found.coefficients["C"].freedom == pytest.approx(12, abs=0.01)
    assert found.spreads["blend"] ** 2 == pytest.approx(11.8, abs=0.05)
    assert found.spreads["residual"] ** 2 == pytest.approx(18.8, abs=0.05)
    assert found.criterion == pytest.approx(103.8, abs=0.05)


def test_balanced_crossed_groups_equal_analysis_of_variance():
    """REML solves the mean squares of a balanced table, where no variance comes out negative."""
    rng, (a, b, n) = np.random.default_rng(0), (9, 6, 4)
    sets, encodings, _ = np.indices((a, b, n))
    pairs = sets * b + encodings
    y = 5 + rng.normal(0, 2, a)[sets] + rng.normal(0, 1, b)[encodings]
    y = y + rng.normal(0, 1, a * b)[pairs] + rng.normal(size=y.shape)
    cell, row, column, mean = y.mean(2), y.mean((1, 2)), y.mean((0, 2)), y.mean()
    ms_error = ((y - cell[..., None]) ** 2).sum() / (a * b * (n - 1))
    rest = cell - row[:, None] - column + mean
    ms_pair = n * (rest**2).sum() / ((a - 1) * (b - 1))
    ms_set, ms_encoding = b * n * row.var(ddof=1), a * n * column.var(ddof=1)
    groups = {"set": sets.ravel(), "encoding": encodings.ravel(), "pair": pairs.ravel()}
    found = mixed.fit(y.ravel(), {}, groups)
    assert found.spreads["residual"] ** 2 == pytest.approx(ms_error, rel=1e-4)
    assert found.spreads["pair"] ** 2 == pytest.approx((ms_pair - ms_error) / n, rel=1e-3)
    assert found.spreads["set"] ** 2 == pytest.approx((ms_set - ms_pair) / (b * n), rel=1e-3)
    assert found.spreads["encoding"] ** 2 == pytest.approx(
        (ms_encoding - ms_pair) / (a * n), rel=1e-3
    )
    error = (ms_set + ms_encoding - ms_pair) / (a * b * n)
    assert found.coefficients["mean"].error ** 2 == pytest.approx(error, rel=1e-3)
    # Satterthwaite's own formula for a sum of mean squares
    parts = np.array([ms_set, ms_encoding, -ms_pair]) / (a * b * n)
    freedom = error**2 / (parts**2 / [a - 1, b - 1, (a - 1) * (b - 1)]).sum()
    assert found.coefficients["mean"].freedom == pytest.approx(freedom, rel=0.01)
    # predicted effects are the means of the sets, drawn towards the mean of all
    drawn = (ms_set - ms_pair) / ms_set * (row - mean)
    assert list(found.effects["set"].values()) == pytest.approx(drawn, rel=1e-3)


def test_crossed_groups_of_any_sizes_equal_the_formula_with_the_whole_covariance():
    rng = np.random.default_rng(3)
    sizes = {"few": 4, "many": 11, "some": 7}
    codes = {name: rng.integers(0, k, 90) for name, k in sizes.items()}
    x, y = rng.normal(size=90), rng.normal(size=90)
    for place in codes.values():
        y += rng.normal(0, 0.8, 11)[place]
    found = mixed.fit(y, {"x": x}, codes)
    spreads, sigma = found.spreads, found.spreads["residual"]
    shared = sum(spreads[n] ** 2 * (c[:, None] == c) for n, c in codes.items())
    covariance = shared + sigma**2 * np.eye(90)
    design, inverse = np.column_stack([np.ones(90), x]), np.linalg.inv(covariance)
    left = design.T @ inverse @ design
    beta = np.linalg.solve(left, design.T @ inverse @ y)
    assert [one.estimate for one in found.coefficients.values()] == pytest.approx(beta)
    rest = y - design @ beta
    logs = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(left)[1]
    criterion = logs + rest @ inverse @ rest + 88 * np.log(2 * np.pi)
    assert found.criterion == pytest.approx(criterion)
    for name, c in codes.items():
        drawn = [spreads[name] ** 2 * ((c == int(k)) @ inverse @ rest) for k in found.effects[name]]
        assert list(found.effects[name].values()) == pytest.approx(drawn)


def test_a_group_without_effects_gets_spread_zero_and_changes_nothing():
    rng = np.random.default_rng(2)
    labels, x = np.repeat(np.arange(10), 6), rng.normal(size=60)
    noise = rng.normal(size=(10, 6))
    noise -= noise.mean(axis=1, keepdims=True)  # groups more alike than chance makes them
    y = 1 + 2 * x + noise.ravel()
    found = mixed.fit(y, {"x": x}, {"group": labels})
    plain = stats.linregress(x, y)
    assert found.spreads["group"] == 0
    assert found.coefficients["x"].estimate == pytest.approx(plain.slope)
    assert found.coefficients["x"].error == pytest.approx(plain.stderr)
    assert set(found.effects["group"].values()) == {0.0}


def simulated(rng, shape=(12, 4, 2, 2, 2), slope=0.01, step=0.02):
    """Gains on sets by encodings by tokens by norms by resamples, with all that rows share."""
    sets, encodings, tokens, norms, resamples = (i.ravel() for i in np.indices(shape))
    length = 2.0 ** rng.uniform(3, 9, shape[0])[sets]
    gain = 0.01 + slope * np.log2(length) + step * tokens
    gain += rng.normal(0, 0.02, shape[0])[sets] + rng.normal(0, 0.01, shape[1])[encodings]
    gain += rng.normal(0, 0.01, shape[:2])[sets, encodings]
    baseline = rng.normal(0, 0.03, (shape[0], *shape[2:]))
    gain -= baseline[sets, tokens, norms, resamples]
    gain += rng.normal(0, 0.02, gain.size)
    return {
        "gain": gain,
        "set": sets,
        "encoding": np.array(["dft", "rotary", "tape", "tupe", "spe"])[encodings],
        "resample": resamples,
        "tokens": np.array(["patch", "step"])[tokens],
        "norm": np.array(["batch", "layer"])[norms],
        "length": length,
        "channels": 2 + rng.integers(0, 12, shape[0])[sets],
        "train_size": 20 + rng.integers(0, 900, shape[0])[sets],
    }


def test_the_mean_is_halfway_between_levels_at_average_numbers():
    table = simulated(np.random.default_rng(1))
    found = mixed.gain_model(table).coefficients["mean"]
    assert found.estimate == pytest.approx(table["gain"].mean())  # the table is balanced
    uneven = pd.DataFrame(table).query("tokens == 'step' or resample == 0")
    assert uneven["gain"].mean() != pytest.approx(table["gain"].mean(), abs=0.001)
    assert mixed.gain_model(uneven).coefficients["mean"].estimate == pytest.approx(
        found.estimate, abs=0.5 * found.error
    )


def test_groups_that_cannot_be_told_apart_are_named():
    table = simulated(np.random.default_rng(3), shape=(12, 3, 2, 1, 1))
    found = mixed.gain_model(table, fixed=("length", "tokens"))
    assert found.dropped == {  # one norm, one resample
        "set:norm": "set: the same rows belong together",
        "set:tokens:norm": "set:tokens: the same rows belong together",
        "set:tokens:norm:resample": "set:tokens: the same rows belong together",
    }
    single = {name: values[table["encoding"] == "dft"] for name, values in table.items()}
    reasons = mixed.gain_model(single, fixed=("length", "tokens")).dropped
    assert reasons["encoding"] == "the mean: there is one level"
    assert reasons["set:encoding"] == "set: the same rows belong together"
    assert reasons["set:tokens"] == "the residual: every row is a level"


def test_two_norms_on_a_set_are_no_two_answers_about_its_tokens():
    """What steps gain over patches scatters from set to set, and not with the norm."""
    rng, rows = np.random.default_rng(5), []
    for name in range(10):
        level = rng.normal(0, 30)
        own = {tokens: level + rng.normal(0, 10) for tokens in ("steps", "patches")}
        for tokens, norm, resample in product(own, ("batch", "layer"), range(5)):
            gain = own[tokens] + rng.normal(0, 1)
            keys = ("set", "encoding", "tokens", "norm", "resample", "gain")
            rows.append(dict(zip(keys, (name, "dft", tokens, norm, resample, gain), strict=True)))
    table = pd.DataFrame(rows)
    (tokens,) = [
        one
        for label, one in mixed.gain_model(table, fixed=("norm", "tokens")).coefficients.items()
        if label.startswith("tokens")
    ]
    means = table.groupby(["set", "tokens"])["gain"].mean().unstack()
    paired = statistics.t_interval(means["steps"] - means["patches"])
    assert tokens.freedom == pytest.approx(9, abs=0.5)
    assert (tokens.low, tokens.high) == pytest.approx((paired.low, paired.high), abs=0.5)


def without(table, *names):
    return {name: values for name, values in table.items() if name not in names}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: mixed.gain_model(without(t, "norm")), "table must have a column 'norm'"),
        (lambda t: mixed.gain_model(t | {"norm": ["a"] * 384}), "norm has the one value 'a'"),
        (lambda t: mixed.gain_model(t | {"length": 0 * t["length"]}), "length must be above 0"),
        (lambda t: mixed.gain_model(t | {"gain": np.full(384, np.nan)}), "response must be finite"),
        (lambda t: mixed.gain_model(t | {"gain": np.ones(384)}), "response must vary"),
        (
            lambda t: mixed.gain_model(t | {"channels": t["length"]}),
            "channels, per doubling must not follow from the columns before it",
        ),
        (lambda t: mixed.gain_model(t, random=("norm:tokens:gain",)), "random must hold a group"),
        (lambda t: mixed.gain_model(t, level=1.0), "level must be a probability"),
        (lambda t: mixed.fit(t["gain"], {"x": [1.0]}, {"set": t["set"]}), "x must have 384 rows"),
        (lambda t: mixed.fit(t["gain"], {}, {"set": [1]}), "set must have 384 rows"),
        (lambda t: mixed.fit([1.0, 2.0], {"x": [1.0, 2.0]}, {"set": [1, 1]}), "more than 3 rows"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        change(simulated(np.random.default_rng(0)))
