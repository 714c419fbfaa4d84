"""M-RoPE: pair by pair, in the arrangements of released models."""

import math

import naive
import numpy as np
import pytest
import torch
from layers import close

from posenc import encodings
from posenc.attention import Places, SelfAttention

D_MODEL, N_HEADS, D_HEAD, LENGTH = 32, 2, 16, 6
# Which axis each pair of a head follows in released models, 64 pairs or 32: runs of (axis, pairs).
RELEASED = {
    "Qwen2-VL": ((16, 24, 24), "contiguous", [(0, 16), (1, 24), (2, 24)]),
    "GLM-4V": ((8, 12, 12), "contiguous", [(0, 8), (1, 12), (2, 12)]),
    "Qwen3-VL": ((24, 20, 20), "interleaved", [(0, 1), (1, 1), (2, 1)] * 20 + [(0, 4)]),
    "Qwen3.5": ((11, 11, 10), "interleaved", [(0, 1), (1, 1), (2, 1)] * 10 + [(0, 1), (1, 1)]),
    "ERNIE 4.5 VL": ((20, 22, 22), "first_slowest", [(1, 1), (2, 1)] * 22 + [(0, 20)]),
}
OPTIONS = [
    {},
    {"sections": (4, 2, 2), "arrangement": "interleaved", "pairing": "interleaved"},
    {"sections": (2, 3, 3), "arrangement": "first_slowest", "base": 50.0},
    {"sections": (1, 3), "share": 0.5},
]
variants = pytest.mark.parametrize("options", OPTIONS, ids=str)


def mrope(options=None):
    return encodings.make("mrope", D_MODEL, N_HEADS, 9, **(options or {}))


def layer(options=None, cls=SelfAttention, **more):
    torch.manual_seed(2)
    return cls(D_MODEL, N_HEADS, mrope(options), **more).double().eval()


def tokens(length=LENGTH):
    return torch.randn(2, length, D_MODEL, dtype=torch.float64)


def places(n_axes, length=LENGTH):
    return torch.randn(2, length, n_axes, dtype=torch.float64) * 5


@pytest.mark.parametrize("model", RELEASED)
def test_pairs_are_dealt_out_as_in_released_models(model):
    sections, arrangement, runs = RELEASED[model]
    d_head = 2 * sum(sections)
    position = encodings.make("mrope", d_head, 1, 9, sections=sections, arrangement=arrangement)
    assert position.axis.tolist() == [axis for axis, pairs in runs for _ in range(pairs)]
    assert np.bincount(position.axis).tolist() == list(sections)
    assert position.n_axes == 3
    assert not position.state_dict()


@variants
def test_a_layer_equals_the_loops(options):
    attention, x = layer(options), tokens()
    position = attention.position
    t, n = places(position.n_axes), len(position.axis)
    base = options.get("base", 10_000.0)

    def turned(vector, at):
        result = list(vector)
        for i, axis in enumerate(position.axis):
            a, b = (2 * i, 2 * i + 1) if position.pairing == "interleaved" else (i, i + n)
            angle = at[axis] * base ** (-i / n)
            result[a] = vector[a] * math.cos(angle) - vector[b] * math.sin(angle)
            result[b] = vector[a] * math.sin(angle) + vector[b] * math.cos(angle)
        return result

    def score(b, _h, i, j, q, k):
        q, k = turned(q, t[b, i].tolist()), turned(k, t[b, j].tolist())
        return naive.dot(q, k) / math.sqrt(D_HEAD)

    expected = naive.self_attention(attention, x.tolist(), score=score)
    close(attention(x, positions=t), torch.tensor(expected, dtype=t.dtype))


@variants
def test_text_is_encoded_by_plain_rope(options):
    position = mrope(options).double()
    own = {k: v for k, v in options.items() if k not in ("sections", "arrangement")}
    plain = encodings.make("rotary", D_MODEL, N_HEADS, 9, **{"pairing": "half", **own}).double()
    q, k = torch.randn(2, 2, N_HEADS, 20, D_HEAD).double()
    t = torch.arange(20)
    wanted = plain.rotate(q, k)
    on_all_axes = Places.at(t[:, None].expand(-1, position.n_axes), q[0], position.n_axes)
    for got in (position.rotate(q, k), position.rotate(q, k, on_all_axes)):
        close(torch.stack(got), torch.stack(wanted))


def test_a_schedule_slows_all_axes_down():
    scaled = {"scaling": "yarn", "factor": 4.0, "original_length": 20}
    position = mrope(scaled).double()
    plain = encodings.make("rotary", D_MODEL, N_HEADS, 9, pairing="half", **scaled)
    np.testing.assert_array_equal(position.omega, plain.omega)
    q = torch.ones(1, N_HEADS, 1, D_HEAD).double()
    at = Places.at(torch.tensor([[3, 5, 7]]), q[0], 3)
    first, second = position.rotate(q, q, at)[0][0, 0, 0].chunk(2)
    angles = torch.tensor([3.0, 5.0, 7.0]).double()[position.axis] * torch.tensor(plain.omega)
    gain = plain.attention_factor
    close(first, gain * (angles.cos() - angles.sin()))
    close(second, gain * (angles.cos() + angles.sin()))


def test_a_growing_schedule_takes_the_farthest_place_on_any_axis():
    scaled = {"scaling": "dynamic_ntk", "original_length": 20}
    q, position = torch.ones(1, N_HEADS, 1, D_HEAD), mrope(scaled)
    near, far = (
        position.rotate(q, q, Places.at(torch.tensor([[2, 3, w]]), q[0], 3))[0] for w in (4, 99)
    )
    of_time = position.axis.tolist().count(0)
    slower = ~torch.isclose(near, far)[0, 0, 0, :of_time]
    assert slower[1:].all()  # the fastest pair keeps its frequency


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"sections": (4, 4, 4)},
            r"sections must sum up to the 8 pairs that turn, got \(4, 4, 4\)",
        ),
        ({"sections": (8,)}, r"sections must be a sequence of two numbers or more, got \(8,\)"),
        ({"sections": (8, 0)}, "sections must be an integer of at least 1, got 0"),
        ({"sections": (2, 3, 3), "arrangement": "interleaved"}, "nearly alike .*='interleaved'"),
        ({"sections": (3, 2, 3), "arrangement": "first_slowest"}, "nearly alike .*'first_slowest'"),
        ({"share": 0.25}, r"sections must be an integer of at least 1, got 0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        mrope(options)


def test_positions_of_other_axes_are_named():
    attention, x = layer(), tokens()
    with pytest.raises(
        ValueError, match="positions must be given, with n_axes = 3 numbers a token"
    ):
        attention(x)
    with pytest.raises(ValueError, match=r"must have shape \(length, n_axes\) = \(6, 3\) or"):
        attention(x, positions=torch.zeros(3, 2, LENGTH))  # as Hugging Face's models take them
