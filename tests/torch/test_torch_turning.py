"""Rotary encoding as functions, for attention that is not of this library."""

import numpy as np
import pytest
import torch
from layers import close
from torch.func import vmap
from torch.nn.functional import scaled_dot_product_attention

from posenc import encodings, frequencies
from posenc.attention import SelfAttention, cos_sin, rope, turning

PAIRINGS = ("interleaved", "half")
each_pairing = pytest.mark.parametrize("pairing", PAIRINGS)
OMEGA = frequencies.geometric(8)
COUNTED = torch.arange(5)
ROWS = torch.stack([COUNTED, COUNTED + 100])
TIMES = torch.tensor([0.25, 0.5, 3.125, 7.5, 1e4], dtype=torch.float64)


def heads(*shape, dtype=torch.float64):
    return torch.randn(*(shape or (2, 3, 5, 8)), dtype=dtype)


def by_complex_numbers(x, t, omega, pairing):
    """Return `x` (batch, heads, length, d) turned at t (batch or 1, length), in the naive way."""
    turned, n = x.clone(), len(omega)
    for i, frequency in enumerate(omega):
        first, second = (2 * i, 2 * i + 1) if pairing == "interleaved" else (i, i + n)
        pair = torch.complex(x[..., first], x[..., second])
        pair = pair * torch.exp(1j * float(frequency) * t.double()[:, None])
        turned[..., first], turned[..., second] = pair.real, pair.imag
    return turned


@each_pairing
@pytest.mark.parametrize("positions", [COUNTED, ROWS, TIMES, -ROWS / 3.0])
@pytest.mark.parametrize("n", [1, 3, 4])
def test_each_pair_is_a_complex_number_that_turns(positions, n, pairing):
    x = heads()
    got = rope(x, positions, OMEGA[:n], pairing)
    close(got, by_complex_numbers(x, torch.atleast_2d(positions), OMEGA[:n], pairing), 1e-12)
    assert (got[..., 2 * n :] == x[..., 2 * n :]).all()


def test_in_attention_of_ones_own_it_does_what_a_layer_of_the_library_does():
    layer = SelfAttention(24, 3, encodings.make("rotary", 24, 3, 5), causal=True).double()
    x = heads(2, 5, 24)
    q, k, v = (h.unflatten(-1, (3, 8)).transpose(1, 2) for h in layer.qkv(x).chunk(3, -1))
    q, k = rope(q, COUNTED, OMEGA), rope(k, COUNTED, OMEGA)
    seen = scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(-2)
    close(layer.out(seen), layer(x), 1e-12)


@pytest.mark.parametrize("shape", [(5, 8), (2, 5, 8), (2, 3, 5, 8), (2, 2, 3, 5, 8), (2, 5, 10)])
def test_any_axes_stand_in_front_and_rows_are_turned_by_themselves(shape):
    x = heads(*shape)
    assert rope(x, COUNTED, OMEGA).shape == x.shape
    if len(shape) > 2:
        both = torch.stack([rope(x[i], ROWS[i], OMEGA) for i in range(2)])
        assert torch.equal(rope(x, ROWS, OMEGA), both)
        assert torch.equal(rope(x, ROWS[:1], OMEGA), rope(x, ROWS[0], OMEGA))


def test_nothing_comes_of_nothing():
    assert rope(heads(2, 3, 0, 8), [], OMEGA).shape == (2, 3, 0, 8)
    assert rope(heads(0, 3, 5, 8), COUNTED, OMEGA).shape == (0, 3, 5, 8)


@each_pairing
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_what_is_coarse_is_rounded_once_at_the_end_however_far_away(dtype, pairing):
    x = heads(dtype=dtype)
    far = COUNTED + 1_000_000
    got, exact = (rope(one, far, OMEGA, pairing) for one in (x, x.double()))
    assert got.dtype == dtype
    eps = torch.finfo(dtype).eps
    assert (got - exact).abs().max() <= eps * x.abs().max()


@pytest.mark.parametrize("omega", [OMEGA, list(OMEGA), torch.tensor(OMEGA), OMEGA.astype("f4")])
@pytest.mark.parametrize("positions", [COUNTED, COUNTED.numpy(), COUNTED.tolist(), COUNTED * 1.0])
def test_positions_and_frequencies_may_come_from_anywhere(positions, omega):
    x = heads(dtype=torch.float32)
    torch.testing.assert_close(rope(x, positions, omega), rope(x, COUNTED, OMEGA))
    cos, sin = cos_sin(positions, omega)
    torch.testing.assert_close(cos.double(), torch.tensor(np.cos(np.outer(COUNTED, OMEGA))))
    torch.testing.assert_close(sin.double(), torch.tensor(np.sin(np.outer(COUNTED, OMEGA))))


def test_cosines_and_sines_have_the_shape_of_positions_and_the_type_of_frequencies():
    for positions in (COUNTED, ROWS, ROWS[:, :0]):
        for omega in (OMEGA, torch.tensor(OMEGA), torch.tensor(OMEGA).float()):
            wanted = torch.as_tensor(omega).dtype
            for one in cos_sin(positions, omega):
                assert one.shape == (*positions.shape, 4)
                assert one.dtype == wanted
    assert cos_sin(COUNTED, [1])[0].dtype == torch.float64


def test_float32_frequencies_are_multiplied_in_float64():
    omega = torch.tensor(OMEGA).float()
    far = torch.arange(5) + 10_000_000
    exact = torch.tensor(np.cos(np.outer(far, omega.double())))
    close(cos_sin(far, omega)[0].double(), exact, 1e-7)


@each_pairing
def test_cosines_and_sines_make_the_turn(pairing):
    x = heads()
    cos, sin = (one[:, None] for one in cos_sin(ROWS, OMEGA))
    interleaved = pairing == "interleaved"
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    parts = a * cos - b * sin, a * sin + b * cos
    by_hand = torch.stack(parts, -1).flatten(-2) if interleaved else torch.cat(parts, -1)
    close(by_hand, rope(x, ROWS, OMEGA, pairing), 1e-12)


@each_pairing
def test_gradients_reach_all_three(pairing):
    x, omega = heads(2, 2, 3, 6).requires_grad_(), torch.tensor(OMEGA[:2]).requires_grad_()
    t = torch.tensor([[0.5, 1.0, 4.0], [2.0, 3.0, 3.5]], dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda *given: rope(*given, pairing), (x, t, omega))
    assert torch.autograd.gradcheck(cos_sin, (t, omega))
    learned = torch.nn.Parameter(torch.tensor(OMEGA).float())
    rope(heads(dtype=torch.bfloat16), COUNTED, learned).float().square()[..., 0].sum().backward()
    assert learned.grad.dtype == torch.float32
    assert learned.grad.abs().max() > 0


@pytest.mark.parametrize("omega", [OMEGA, torch.tensor(OMEGA)])
def test_it_compiles_as_one_graph_for_every_length(omega):
    def turned(x, t):
        return *cos_sin(t, omega), *(rope(x, t, omega, pairing) for pairing in PAIRINGS)

    torch._dynamo.reset()
    compiled = torch.compile(turned, backend="eager", fullgraph=True, dynamic=True)
    for length in (5, 7):
        x, t = heads(2, 3, length, 8), torch.arange(2.0 * length).view(2, length)
        for one, other in zip(compiled(x, t), turned(x, t), strict=True):
            close(one, other, 1e-12)


def test_transforms_and_devices_without_numbers_are_served():
    x, omega = heads(), torch.tensor(OMEGA)
    close(vmap(lambda x, t: rope(x, t, omega))(x, ROWS), rope(x, ROWS, OMEGA), 1e-12)
    on_meta = rope(x.to("meta"), COUNTED, OMEGA)
    assert (on_meta.device.type, on_meta.shape) == ("meta", x.shape)
    for one in cos_sin(ROWS.tolist(), omega.to("meta")):
        assert (one.device.type, one.shape) == ("meta", (2, 5, 4))


SHAPES = r"positions must have shape \(length,\) = \(5,\)"
OF_ROPE = [
    ({"x": np.ones((5, 8))}, r"x must be a floating tensor .*, got ndarray"),
    ({"x": torch.ones(5, 8).long()}, "x must be a floating tensor .*, got dtype torch.int64"),
    ({"x": torch.ones(8)}, r"x must be .* \(\.\.\., length, d_head\) .*, got shape \(8,\)"),
    ({"x": torch.ones(5, 1)}, r"x must be .* d_head of at least 2, got shape \(5, 1\)"),
    ({"x": torch.ones(2, 5, 3, 8)}, r"positions .* if x is .* x.transpose\(1, 2\) puts"),
    ({"positions": COUNTED[:4]}, rf"{SHAPES} or \(batch, length\) = \(2, 5\) .* shape \(4,\)"),
    ({"positions": torch.ones(3, 5)}, rf"{SHAPES} or .* x of shape .*, got shape \(3, 5\)"),
    ({"x": torch.ones(5, 8), "positions": ROWS[:1]}, rf"{SHAPES} for x of .* shape \(1, 5\)"),
    ({"omega": np.ones(5)}, r"omega must hold at most d_head // 2 = 4 frequencies, got 5"),
    ({"x": torch.ones(5, 9)}, r"x must have an even d_head where all of it turns, .*, got 9"),
    ({"pairing": "neox"}, "pairing 'neox' has the name 'half' here"),
    ({"pairing": "halve"}, "pairing must be one of interleaved, half, .* did you mean 'half'"),
]
OF_BOTH = [
    ({"positions": COUNTED.bfloat16()}, "positions must be integers, float32 .* torch.bfloat16"),
    ({"positions": [0, 1, 2, 3, np.nan]}, "positions must be finite, got nan"),
    ({"positions": list("abcde")}, "positions must be integers or real numbers, got ..a"),
    ({"positions": COUNTED + 2**60}, r"positions must be at most 2\*\*53"),
    ({"omega": []}, r"omega must have shape \(n,\), .*, got shape \(0,\)"),
    ({"omega": 1.0}, r"omega must have shape \(n,\), .*, got shape \(\)"),
    ({"omega": np.ones((2, 2))}, r"omega must have shape \(n,\), .*, got shape \(2, 2\)"),
    ({"omega": [1.0, np.inf]}, "omega must be finite, got inf"),
    ({"omega": torch.ones(4).half()}, "omega must be float32 or float64, .* torch.float16"),
    ({"omega": [True]}, "omega must be integers or real numbers, got dtype torch.bool"),
    ({"omega": None}, "omega must be integers or real numbers, got None"),
]
OF_COS_SIN = [
    ({"positions": 3}, r"positions must be \(length,\) or \(batch, length\), got shape \(\)"),
    ({"positions": heads()}, r"positions must be \(length,\) or .* got shape \(2, 3, 5, 8\)"),
]


@pytest.mark.parametrize(("wrong", "message"), OF_ROPE + OF_BOTH)
def test_what_cannot_be_turned_is_named(wrong, message):
    right = {"x": heads(), "positions": COUNTED, "omega": OMEGA}
    with pytest.raises(ValueError, match=f"^{message}"):
        rope(**{**right, **wrong})


@pytest.mark.parametrize(("wrong", "message"), OF_COS_SIN + OF_BOTH)
def test_what_makes_no_angles_is_named(wrong, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        cos_sin(**{"positions": COUNTED, "omega": OMEGA, **wrong})


@pytest.fixture
def one_pass(monkeypatch):
    monkeypatch.setattr(turning, "_LARGE", 0)


def test_large_inputs_turn_in_one_pass():
    cos, sin = cos_sin(torch.arange(64), OMEGA)
    x = torch.zeros(2, 64, 64, 8)
    assert turning.in_one_pass(x, cos, sin)
    assert not turning.in_one_pass(x[:1, :1], cos, sin)
    assert not turning.in_one_pass(x, cos.requires_grad_(), sin)


@pytest.mark.usefixtures("one_pass")
@pytest.mark.parametrize("pairing", turning.PAIRINGS)
@pytest.mark.parametrize("block", [1, 100, 1 << 17])
@pytest.mark.parametrize("view", ["whole", "odd offset", "odd width", "turned axes"])
def test_one_pass_computes_what_the_formula_does(view, block, pairing, monkeypatch):
    monkeypatch.setattr(turning, "_BLOCK", block)
    x = {
        "whole": heads(),
        "odd offset": heads(2, 3, 5, 10)[..., 1:9],
        "odd width": heads(2, 3, 5, 9)[..., :8],
        "turned axes": heads(2, 3, 8, 5).mT,
    }[view].detach()
    cos, sin = cos_sin(TIMES, OMEGA)
    assert turning.in_one_pass(x, cos, sin)
    d_out, found = heads(), []
    for turned in (turning.turn, turning._by_formula):
        own = x.clone(memory_format=torch.preserve_format).requires_grad_()
        out = turned(own, cos, sin, pairing)
        found.append((out, *torch.autograd.grad(out, own, d_out)))
    for one, other in zip(*found, strict=True):
        close(one, other, 1e-14)


@pytest.mark.usefixtures("one_pass")
@pytest.mark.parametrize("pairing", turning.PAIRINGS)
def test_one_pass_has_gradients_of_gradients_and_of_many_outputs(pairing):
    cos, sin = cos_sin(TIMES, OMEGA)
    x = heads().requires_grad_()

    def turned(x):
        return turning.turn(x, cos, sin, pairing)

    assert torch.autograd.gradcheck(turned, x, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(turned, x)
