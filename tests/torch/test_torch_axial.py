"""Rotary encoding of several axes: against loops, and what it must not see."""

import math

import layers
import naive
import numpy as np
import pytest
import torch
from layers import close

from posenc import encodings
from posenc.attention import Places, SelfAttention
from posenc.models import TimeSeriesTransformer

D_MODEL, N_HEADS, D_HEAD, LENGTH = 24, 2, 12, 6
BOTH = pytest.mark.parametrize("axes", ["axial", "mixed"])


def layer(axes, n_axes=2, cls=SelfAttention, **more):
    options = {"axes": axes, "n_axes": n_axes}
    return layers.layer("axial_rotary", D_MODEL, N_HEADS, 9, cls, options, **more)


def tokens(length=LENGTH):
    return torch.randn(2, length, D_MODEL, dtype=torch.float64)


def places(n_axes=2, length=LENGTH):
    return torch.randn(2, length, n_axes, dtype=torch.float64) * 5


def turned(position, vector, h, t):
    """Return a vector whose pairs are turned by one angle each."""
    n_axes, part = position.n_axes, D_HEAD // position.n_axes
    result = []
    for i in range(D_HEAD // 2):
        if position.axes == "mixed":
            angle = sum(w * u for w, u in zip(position.omega[h, i].tolist(), t, strict=True))
        else:
            axis, j = divmod(i, part // 2)
            angle = t[axis] * 100.0 ** (-2 * j / part)
        a, b = vector[2 * i : 2 * i + 2]
        result += [a * math.cos(angle) - b * math.sin(angle)]
        result += [a * math.sin(angle) + b * math.cos(angle)]
    assert len(result) == D_HEAD
    assert n_axes == len(t)
    return result


@BOTH
@pytest.mark.parametrize("n_axes", [2, 3])
def test_a_layer_equals_the_loops(axes, n_axes):
    attention, x, t = layer(axes, n_axes), tokens(), places(n_axes)

    def score(b, h, i, j, q, k):
        q, k = (turned(attention.position, a, h, t[b, n].tolist()) for a, n in ((q, i), (k, j)))
        return naive.dot(q, k) / math.sqrt(D_HEAD)

    expected = naive.self_attention(attention, x.tolist(), score=score)
    expected = torch.tensor(expected, dtype=torch.float64)
    close(attention(x, positions=t), expected)


@BOTH
def test_autocast_rounds_no_position(axes):
    position, t = layer(axes).position.float(), torch.tensor([[256, 301], [257, 300], [999, 7]])
    q = torch.randn(1, N_HEADS, 3, D_HEAD)
    places = Places.at(t, q[:, 0], 2)
    exact, _ = position.rotate(q, q, places)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(position.rotate(q, q, places)[0], exact)


PARTS = [
    {"parts": (2, 4, 6)},
    {"parts": (2, 4, 4), "base": (50.0, 10.0, 200.0), "fastest": 2.5},
    {"parts": (2, 4, 6), "pairing": "half"},
    {"parts": (4, 2, 4), "pairing": "half", "base": 30.0},
    {"parts": (4, 2, 4), "pairing": "half_of_parts", "fastest": 0.1},
    {"pairing": "half", "n_axes": 3},
]


@pytest.mark.parametrize("options", PARTS, ids=str)
def test_parts_and_pairs_are_those_that_are_asked_for(options):
    position = encodings.make("axial_rotary", D_MODEL, N_HEADS, 9, **options)
    assert position.n_axes == 3
    q, t = torch.randn(2, N_HEADS, LENGTH, D_HEAD).double(), places(3)
    got = position.rotate(q, q, Places.at(t, q[:, 0], 3))[0]
    parts = options.get("parts", (4, 4, 4))
    bases = np.broadcast_to(options.get("base", 100.0), 3)
    for b, h, n in np.ndindex(2, N_HEADS, LENGTH):
        expected, pair, start = q[b, h, n].tolist(), 0, 0
        for axis, (part, base) in enumerate(zip(parts, bases, strict=True)):
            for i in range(part // 2):
                first, second = {
                    "interleaved": (2 * pair, 2 * pair + 1),
                    "half": (pair, pair + sum(parts) // 2),
                    "half_of_parts": (start + i, start + i + part // 2),
                }[options.get("pairing", "interleaved")]
                speed = options.get("fastest", 1.0) * base ** (-2 * i / part)
                turn = complex(*q[b, h, n, [first, second]].tolist())
                turn *= np.exp(1j * speed * t[b, n, axis].item())
                expected[first], expected[second] = turn.real, turn.imag
                assert position.omega[pair, axis] == pytest.approx(speed)
                pair += 1
            start += part
        np.testing.assert_allclose(got[b, h, n], expected, atol=1e-12)
    assert position.omega.shape == (sum(parts) // 2, 3)


@pytest.mark.parametrize("pairing", ["interleaved", "half"])
def test_mixed_pairs_may_be_halves_and_faster(pairing):
    torch.manual_seed(0)
    options = {"axes": "mixed", "pairing": pairing}
    position = encodings.make("axial_rotary", D_MODEL, N_HEADS, 9, fastest=3.0, **options)
    torch.manual_seed(0)
    slow = encodings.make("axial_rotary", D_MODEL, N_HEADS, 9, **options)
    torch.testing.assert_close(position.omega, 3 * slow.omega)
    q = torch.ones(1, N_HEADS, 1, D_HEAD).double()
    turned = slow.double().rotate(q, q, Places.at([[0.3, -2.0]], q[0], 2))[0][0, 1, 0]
    angles = slow.omega[1].detach() @ torch.tensor([0.3, -2.0], dtype=torch.float64)
    first = turned[::2] if pairing == "interleaved" else turned[: D_HEAD // 2]
    close(first.detach(), angles.cos() - angles.sin())


def test_patches_stand_at_their_centres_from_minus_one_to_one():
    centres = encodings.patch_centres(3, 5)
    assert centres.dtype == torch.float64
    for i, (row, column) in enumerate(np.ndindex(3, 5)):
        wanted = (2 * row + 1) / 3 - 1, (2 * column + 1) / 5 - 1
        np.testing.assert_allclose(centres[i], wanted, atol=1e-15)
    for wrong in ((0, 3), (3, 2.5), (3, True)):
        with pytest.raises(ValueError, match=r"(height|width) must be an integer of at least 1"):
            encodings.patch_centres(*wrong)


def test_places_are_shaken_alike_and_within_their_bounds():
    torch.manual_seed(0)
    centres = encodings.patch_centres(4, 6)
    assert torch.equal(encodings.shaken(centres), centres)
    shifts, by_axis, by_all = [], [], []
    for _ in range(300):
        moved = encodings.shaken(centres, shift=0.25) - centres
        assert (moved - moved[0]).abs().max() < 1e-12
        shifts += [moved[0]]
        by_axis += [(encodings.shaken(centres, jitter=4.0) / centres)[0]]
        by_all += [(encodings.shaken(centres, rescale=2.0) / centres)[0]]
    shifts, by_axis, by_all = map(torch.stack, (shifts, by_axis, by_all))
    assert 0.24 < shifts.abs().max() <= 0.25
    assert 3.8 < by_axis.max() <= 4
    assert 0.25 <= by_axis.min() < 0.26
    assert (by_axis[:, 0] - by_axis[:, 1]).abs().mean() > 0.3  # an axis each
    assert abs(float(by_axis.log().mean())) < 0.1  # as often smaller as larger
    torch.testing.assert_close(by_all[:, 0], by_all[:, 1])
    assert 1.95 < by_all.max() <= 2
    assert 0.5 <= by_all.min() < 0.52


MIXED = {"axes": "mixed"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": (4, 4, 6)}, r"parts must be n_axes = 3 even numbers .* d_head|d_model"),
        ({"parts": (4, 4, 4), "n_axes": 2}, "parts must be n_axes = 2 even"),
        ({"parts": (3, 9)}, "parts must be a positive even integer"),
        ({"base": (10.0, 20.0, 30.0)}, "base must be one number or n_axes = 2 of them"),
        ({"base": (10.0, -1.0)}, "base must be a finite number above 0"),
        (MIXED | {"parts": (4, 8)}, "parts .* must be for axes='axial'"),
        (MIXED | {"base": (10.0, 20.0)}, r"base \(10.0, 20.0\) must be for"),
        (MIXED | {"pairing": "half_of_parts"}, "pairing must be one of interleaved, half, got"),
        ({"pairing": "rotate_half"}, "pairing 'rotate_half' has the name 'half' here"),
        ({"n_axes": 4}, r"d_model / n_heads must be a multiple of 2 \* n_axes = 8"),
        ({"n_axes": 1}, "n_axes must be an integer of at least 2, got 1"),
    ],
)
def test_what_does_not_fit_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        encodings.make("axial_rotary", 24, 2, 5, **options)


def test_places_that_cannot_be_shaken_are_named():
    with pytest.raises(ValueError, match=r"jitter must be at least 1, got 0\.5"):
        encodings.shaken(encodings.patch_centres(2, 2), jitter=0.5)
    with pytest.raises(ValueError, match=r"centres must be real numbers \(length, n_axes\)"):
        encodings.shaken(torch.arange(4))


def test_series_have_one_number_a_token():
    message = "position must take one number a token in a model, got AxialRotary with n_axes = 2"
    with pytest.raises(ValueError, match=message):
        TimeSeriesTransformer(1, 2, 8, position="axial_rotary", d_model=24, n_heads=2)
