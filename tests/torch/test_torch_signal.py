"""Encodings made from the signal: against loops, and what they refuse to serve."""

import math

import numpy as np
import pytest
import torch
from layers import awake, close

from posenc import encodings
from posenc.attention import Cache, CrossAttention, SelfAttention
from posenc.encodings import wavelets
from posenc.encodings.window_statistics import STATISTICS
from posenc.models import PatchTransformer, TimeSeriesTransformer

D_MODEL, N_HEADS, LENGTH = 8, 2, 13
NAMES = encodings.names("signal")
VARIANTS = [
    ("dywpe", {}),
    ("dywpe", {"wavelet": "haar", "levels": 1}),
    ("dywpe", {"wavelet": "db2", "levels": 6}),
    ("window_statistics", {}),
    ("window_statistics", {"window": 4}),
    ("window_statistics", {"window": 2, "past": True}),
    ("window_statistics", {"window": 5, "statistics": "winstat"}),
    ("window_statistics", {"statistics": "winstat_lag", "lags": (1, 4)}),
]
variants = pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
lengths = pytest.mark.parametrize("length", [1, 2, 5, LENGTH, 64])


def make(name, **options):
    torch.manual_seed(1)
    return awake(encodings.make(name, D_MODEL, N_HEADS, LENGTH, **options))


def tokens(length=LENGTH):
    return torch.randn(2, length, D_MODEL, dtype=torch.float64)


# -- wavelets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wavelet", wavelets.WAVELETS)
def test_filters_have_the_properties_that_define_them(wavelet):
    """Orthonormal to their even shifts, and a wavelet that is blind to polynomials."""
    h, n = wavelets.scaling_filter(wavelet), wavelets.WAVELETS[wavelet]
    assert len(h) == 2 * n
    assert h.sum() == pytest.approx(math.sqrt(2), abs=1e-12)
    for shift in range(0, 2 * n, 2):
        assert h[shift:] @ h[: 2 * n - shift] == pytest.approx(float(shift == 0), abs=1e-12)
    alternating = h[::-1] * (-1) ** np.arange(2 * n)
    for power in range(n):
        scale = (2.0 * n) ** power
        assert alternating @ np.arange(2 * n) ** power / scale == pytest.approx(0, abs=1e-9)


def test_the_fourth_is_that_of_the_literature():
    """Daubechies 1992, table 6.1, whose sum is sqrt(2)."""
    expected = [0.2303778133, 0.7148465706, 0.6308807679, -0.0279837694]
    expected += [-0.1870348117, 0.0308413818, 0.0328830117, -0.0105974018]
    np.testing.assert_allclose(wavelets.scaling_filter("db4"), expected, atol=1e-10)


def mirrored(x, i):
    """Return entry i of a series that is mirrored at its ends without end."""
    i %= 2 * len(x)
    return x[i] if i < len(x) else x[2 * len(x) - 1 - i]


def split(x, h):
    """Return approximation and details of a series by one sum a coefficient."""
    g = [(-1) ** k * a for k, a in enumerate(h[::-1])]
    count = (len(x) + len(h) - 1) // 2
    starts = [2 * k + 2 - len(h) for k in range(count)]
    return [[sum(f[m] * mirrored(x, s + m) for m in range(len(h))) for s in starts] for f in (h, g)]


def joined(approximation, details, h):
    """Return the series whose coefficients these are; the part of a mirror falls off."""
    g = [(-1) ** k * a for k, a in enumerate(h[::-1])]
    out = [0.0] * (2 * len(details) - len(h) + 2)
    for k in range(len(details)):
        for m in range(len(h)):
            i = 2 * k + m - len(h) + 2
            if 0 <= i < len(out):
                out[i] += approximation[k] * h[m] + details[k] * g[m]
    return out


def parts(x, levels, h):
    """Return approximation and details, finest first, each brought back alone."""
    coefficients, rest = [], x
    for _ in range(levels):
        rest, details = split(rest, h)
        coefficients.append(details)
    found = []
    for kept in (None, *range(levels)):
        back = rest if kept is None else [0.0] * len(rest)
        for level in reversed(range(levels)):
            details = coefficients[level] if level == kept else [0.0] * len(coefficients[level])
            back = joined(back, details, h)
        found.append(back[: len(x)])
    return found


@lengths
@pytest.mark.parametrize(("wavelet", "levels"), [("haar", 1), ("haar", 4), ("db2", 2), ("db4", 3)])
def test_parts_equal_the_loops_and_sum_to_the_signal(length, wavelet, levels):
    h = wavelets.scaling_filter(wavelet)
    signal = tokens(length)[..., 0]
    found = wavelets.parts(signal, levels, torch.as_tensor(h))
    close(found.sum(-1), signal, 1e-10)
    expected = parts(signal[1].tolist(), levels, h.tolist())
    np.testing.assert_allclose(found[1].mT.numpy(), expected, atol=1e-10)


# -- the formulas ----------------------------------------------------------------------------------


def dywpe(p, x):
    signal = [p.channel(token).item() for token in x]
    vectors = []
    for e in p.scales:
        gate, value = p.gate(e).tolist(), p.value(e).tolist()
        vectors.append(
            [math.tanh(v) / (1 + math.exp(-g)) for g, v in zip(gate, value, strict=True)]
        )
    found = parts(signal, p.levels, p.scaling.tolist())
    return [
        [sum(part[t] * v[c] for part, v in zip(found, vectors, strict=True))
         for c in range(D_MODEL)]
        for t in range(len(x))
    ]  # fmt: skip


def window_statistics(p, x):
    if p.statistics != "mean_std_slope":
        return winstat(p, x.numpy())
    behind = 0 if p.past else (p.window - 1) // 2
    rows = []
    for t in range(len(x)):
        seen = range(max(0, t + behind - p.window + 1), min(len(x), t + behind + 1))
        steps = np.array(seen, dtype=float)
        columns = np.array([[x[i][c] for i in seen] for c in range(D_MODEL)])
        spread = np.maximum(columns.var(axis=1), 1e-6) ** 0.5
        slope = np.polyfit(steps, columns.T, 1)[0] if len(steps) > 1 else np.zeros(D_MODEL)
        rows.append(p.project.weight.numpy() @ np.concatenate((columns.mean(1), spread, slope)))
    return rows


def winstat(p, x):
    rows = []
    for t in range(len(x)):
        w = np.array([x[max(0, i)] for i in range(t - p.window + 1, t + 1)])
        spread = np.maximum(w.var(axis=0, ddof=1), 1e-6) ** 0.5
        numbers = [w.mean(0), w.max(0), w.min(0), spread]
        numbers += [x[t] - x[max(0, t - lag)] for lag in p.lags]
        rows.append(p.project.weight.numpy() @ np.concatenate(numbers))
    return rows


FORMULAS = {"dywpe": dywpe, "window_statistics": window_statistics}


@variants
@lengths
@torch.no_grad()
def test_what_is_added_equals_the_loops(name, options, length):
    position, x = make(name, **options), tokens(length)
    expected = FORMULAS[name](position, x[1])
    np.testing.assert_allclose((position.embed(x) - x)[1].numpy(), expected, atol=1e-9)


@pytest.mark.parametrize(
    ("statistics", "n"), [("mean_std_slope", 3), ("winstat", 4), ("winstat_lag", 7)]
)
def test_the_control_holds_what_the_encoding_projects(statistics, n):
    position, x = make("window_statistics", statistics=statistics), tokens()
    channels = encodings.with_window_statistics(x, statistics=statistics)
    assert channels.shape == (2, LENGTH, (1 + n) * D_MODEL)
    both = torch.cat((torch.eye(D_MODEL, dtype=torch.float64), position.project.weight), 1)
    close(position.embed(x), channels @ both.mT, 1e-10)


# -- models, and what is refused -------------------------------------------------------------------


@pytest.mark.parametrize("cls", [TimeSeriesTransformer, PatchTransformer])
@pytest.mark.parametrize("name", NAMES)
def test_a_class_token_is_no_part_of_the_signal(cls, name):
    torch.manual_seed(0)
    model = cls(3, 2, 40, name, 16, 2, 1, 16, 0.0, pooling="cls").double().eval()
    seen = []
    model.position.vectors = lambda x: seen.append(x) or torch.zeros_like(x)
    model(torch.randn(2, 40, 3, dtype=torch.float64))
    assert seen[0].shape[1] == model.n_tokens - 1
    assert not torch.isclose(seen[0], model.class_token).all(-1).any()


def layer(name, cls=SelfAttention, **more):
    position = make(name, **more.pop("options", {}))
    return cls(D_MODEL, N_HEADS, position, **more).double().eval()


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_served_is_refused_with_the_reason(name):
    x, who = tokens(), encodings.get(name).__name__
    helps = {"dywpe": "on later tokens$", "window_statistics": "past=True lets windows end with"}
    with pytest.raises(ValueError, match=f"must not be {who} in a causal layer, .*{helps[name]}"):
        layer(name, causal=True)  # when it is made
    with pytest.raises(ValueError, match=f"positions must be None for {who}, which takes"):
        layer(name)(x, positions=torch.rand(LENGTH))
    mask = torch.ones(2, LENGTH, dtype=torch.bool)
    expected = layer(name)(x)
    close(layer(name)(x, mask), expected, 1e-10)
    pairs = torch.ones(LENGTH, LENGTH, dtype=torch.bool)
    close(layer(name)(x, pairs), expected, 1e-10)
    mask[0, 3] = False
    crossed = layer(name, CrossAttention)
    model = TimeSeriesTransformer(3, 2, LENGTH, name, 16, 2, 1, 16)
    calls = (
        layer(name),
        lambda x, mask: crossed(x, x, mask),
        lambda x, mask: model(x[..., :3].float(), mask),
    )
    for call in calls:
        with pytest.raises(ValueError, match=f"mask must be None, or True for every.*, for {who}"):
            call(x, mask)


@pytest.mark.parametrize("options", [{"past": True}, {"statistics": "winstat_lag"}])
def test_windows_of_the_past_serve_causal_layers_and_no_cache(options):
    attention, x = layer("window_statistics", causal=True, options=options), tokens()
    later = x.clone()
    later[:, 7:] += 1
    close(attention(x)[:, :7], attention(later)[:, :7], 1e-10)
    assert not torch.allclose(attention(x)[:, 7:], attention(later)[:, 7:])
    with pytest.raises(ValueError, match="cache must be None for WindowStatistics, whose vectors"):
        attention(x, cache=Cache())


@pytest.mark.parametrize("statistics", STATISTICS)
@pytest.mark.parametrize("past", [False, True])
def test_a_series_without_steps_has_no_statistics(statistics, past):
    for n, make in ((0, encodings.window_statistics), (1, encodings.with_window_statistics)):
        some = make(torch.zeros(2, 4, 3), 5, past=past, statistics=statistics)
        none = make(torch.zeros(2, 0, 3), 5, past=past, statistics=statistics)
        assert none.shape == (2, 0, some.shape[-1])
        assert some.shape[-1] > 3 * n


@pytest.mark.parametrize("statistics", STATISTICS)
@pytest.mark.parametrize("past", [False, True])
def test_a_window_far_longer_than_the_series_is_served(statistics, past):
    x = torch.randn(2, 7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    options = {"past": past, "statistics": statistics, "lags": (3, 10**9)}
    found = encodings.window_statistics(x, 10**9, **options)
    assert found.shape[:2] == (2, 7)
    if statistics == "mean_std_slope":
        torch.testing.assert_close(found, encodings.window_statistics(x, 14, **options))
        return
    mean, largest, smallest, spread = found[..., :12].unflatten(-1, (4, 3)).unbind(-2)
    close(mean, x[:, :1].expand_as(mean), 1e-7)
    torch.testing.assert_close(largest, x.cummax(1).values)
    torch.testing.assert_close(smallest, x.cummin(1).values)
    assert (spread <= 0.001 + 1e-9).all()  # the least spread, as nearly all values are the first
    if statistics == "winstat_lag":
        torch.testing.assert_close(found[..., 15:], x - x[:, :1])
