"""Turning queries, keys and messages by their positions: RoPE as functions.

`rope` and `cos_sin` are for attention that is not of this library, and check what they are given.
`turn` and `waves` are what they do; `Rotary` and its relatives call these two.
"""

from collections.abc import Callable
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from posenc import _checks
from posenc.attention import words
from posenc.attention.formula import wants_gradient
from posenc.attention.maps import check_plain
from posenc.attention.numerics import batched, exporting, in_transform, precise
from posenc.attention.places import as_numbers, as_tensor, can_look, finest, look, refuse

PAIRINGS = ("interleaved", "half")

_LARGE = 1 << 16
"""Numbers from which on few passes count more than few calls."""

_BLOCK = 1 << 17
"""Numbers that a core's cache holds with what becomes of them."""


def rope(
    x: Tensor,
    positions: Tensor | ArrayLike,
    omega: Tensor | ArrayLike,
    pairing: str = "interleaved",
    *,
    inverse: bool = False,
) -> Tensor:
    """Return queries or keys turned by their positions: pair i of a head by the angle t omega_i.

    That is rotary position embedding (RoPE) for one's own attention. Turn queries and keys; a score
    then depends on two positions through their difference only. Values may stay as they are. Who
    turns them, too, turns their weighted sum back by the place of the query, with `inverse`: what a
    token gets then depends on differences of positions only, and knows them (RoVE).

    Parameters
    ----------
    x : (..., length, d_head)
        Queries, keys, values or their sums in a floating type, such as (batch, heads, length,
        d_head). Any number of axes, or none, stands in front.
    positions : (length,) or (batch, length)
        Integers, or real times in float32 or float64. With rows of their own, the batch is the
        first axis of `x`; one row serves all.
    omega : (n,), n from 1 to d_head // 2
        Angular frequencies in radians per position, as `frequencies.geometric(d_head)` makes them.
        With fewer than half of d_head, the first 2n dimensions turn and the others stay
        ("partial rotary").
    pairing : {"interleaved", "half"}
        Pair i is dimensions (2i, 2i + 1), as in the paper, or (i, i + n), as in GPT-NeoX, LLaMA and
        most of Hugging Face's models. Weights trained with one fail with the other.
    inverse : bool
        Whether to turn back, by -t omega_i.

    Returns
    -------
    Tensor
        As `x`: its shape, its type, its device.

    Raises
    ------
    ValueError
        If `x` is no floating tensor of two or more axes, a shape does not fit it, an odd d_head is
        to turn whole, or `pairing` is unknown; for positions and frequencies that `cos_sin`
        refuses.

    Notes
    -----
    Angles are computed in float64 (float32 on a device without it) and an `x` of a half type is
    turned in float32; only the result is rounded. Gradients reach `x`, and positions and `omega` if
    these are tensors that want them. The same as `encodings.Rotary` in a layer of this library.

    Source: Su et al. (2021), RoFormer, Eq. 14-16 (interleaved); the half-split form and partial
    turning are those of Black et al. (2022), GPT-NeoX; the turn back is that of Harik and Jayasiri
    (2022), RoPER.

    Examples
    --------
    >>> from posenc import frequencies
    >>> q, k = torch.randn(2, 1, 4, 10, 64).unbind()  # each (batch, heads, length, d_head)
    >>> omega, t = frequencies.geometric(64), torch.arange(10)
    >>> scores = rope(q, t, omega) @ rope(k, t, omega).mT
    >>> later = rope(q, t + 1000, omega) @ rope(k, t + 1000, omega).mT
    >>> bool(torch.allclose(scores, later, atol=1e-4))
    True
    >>> v, weights = torch.randn(1, 4, 10, 64), scores.softmax(-1)
    >>> out = rope(weights @ rope(v, t, omega), t, omega, inverse=True)
    """
    check_pairing(pairing)
    _checks.flag("inverse", inverse)
    _check_heads(x)
    frequencies, _ = _frequencies(omega, x.device)
    _check_pairs(frequencies, x)
    t = _positions(positions, x)
    cos, sin = waves(t, frequencies)
    if t.ndim > 1:  # between batch and length, x may have heads
        rows = (slice(None), *(None for _ in x.shape[1:-2]))
        cos, sin = cos[rows], sin[rows]
    return turn(x, cos, -sin if inverse else sin, pairing)


def cos_sin(positions: Tensor | ArrayLike, omega: Tensor | ArrayLike) -> tuple[Tensor, Tensor]:
    """Return the cosines and sines of all angles t omega_i, for a rotation of one's own.

    Compute them once and share them among layers, where `rope` would compute them at each call.
    Pair i, (a, b), turns to (a cos_i - b sin_i, a sin_i + b cos_i).

    Parameters
    ----------
    positions : (length,) or (batch, length)
        Integers, or real times in float32 or float64.
    omega : (n,), at least one
        Angular frequencies in radians per position, as `frequencies.geometric(d_head)` makes them.

    Returns
    -------
    cos, sin : Tensor (length, n) or (batch, length, n)
        One column a pair, not two. In float32 if `omega` is, else in float64 (float32 on a device
        that has no more), to be rounded to the type of queries and keys as late as possible. On the
        device of the positions, or of `omega` if these are no tensor.

    Raises
    ------
    ValueError
        If positions or frequencies have another number of axes, are not finite real numbers, or
        come in a half type, which has rounded them; for positions above 2**53 in size.

    Notes
    -----
    Angles are computed in float64 in either case. Gradients reach tensors that want them. Under
    `torch.compile` and in `torch.func` transforms, which keep numbers from view, types and shapes
    are checked and numbers are not.

    Source: Su et al. (2021), RoFormer, Eq. 15.

    Examples
    --------
    >>> cos, sin = cos_sin([0, 1, 2], [torch.pi, torch.pi / 2])
    >>> cos.round().tolist()
    [[1.0, 1.0], [-1.0, 0.0], [1.0, -1.0]]
    """
    given = (one.device for one in (positions, omega) if isinstance(one, Tensor))
    device = next(given, None)
    t, single = as_numbers("positions", positions, device)
    if t.ndim not in (1, 2):
        refuse("positions", "must be (length,) or (batch, length)", f"shape {tuple(t.shape)}")
    look("positions", torch.atleast_2d(t), single)
    frequencies, rounded = _frequencies(omega, t.device)
    cos, sin = waves(t, frequencies)
    return (cos.float(), sin.float()) if rounded else (cos, sin)


def waves(t: Tensor, omega: Tensor) -> tuple[Tensor, Tensor]:
    """Return cosines and sines of t omega_i: (..., length) and (..., n) to (..., length, n)."""
    angles = t[..., None] * omega[..., None, :]
    return angles.cos(), angles.sin()


def turn(x: Tensor, cos: Tensor, sin: Tensor, pairing: str) -> Tensor:
    """Return `x` with each pair (a, b) turned to (a cos - b sin, a sin + b cos).

    Cosines and sines are (..., length, n); dimensions of `x` beyond 2n stay as they are.
    """
    n = 2 * cos.shape[-1]
    if n == x.shape[-1] and x.dtype == cos.dtype:  # in decoding, to ask for less takes time
        return _turned(x, cos, sin, pairing)
    wide = precise(x)
    still = wide[..., n:]
    turned = _turned(wide[..., :n], cos.to(wide.dtype), sin.to(wide.dtype), pairing)
    whole = torch.cat((turned, still), -1) if still.shape[-1] else turned
    return whole.to(x.dtype)


def turner(cos: Tensor, sin: Tensor, pairing: str, like: Tensor) -> Callable[[Tensor], Tensor]:
    """Return what `turn` does with these angles, in fewer calls where `x` is one token's.

    That is contiguous, has the type, width and device of `like`, and no gradient.
    """
    n = cos.shape[-1]
    fits = like.dtype == cos.dtype and like.shape[-1] == 2 * n
    if not fits or like.device.type not in ("cpu", "cuda"):
        return lambda x: turn(x, cos, sin, pairing)
    if pairing == "interleaved":
        turns = torch.complex(cos, sin)
        return lambda x: (x.view(turns.dtype) * turns).view(x.dtype)
    cos, sin = torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1)
    return lambda x: torch.addcmul(x * cos, x.roll(n, -1), sin)


def _turned(x: Tensor, cos: Tensor, sin: Tensor, pairing: str) -> Tensor:
    """Return `x` with all dimensions turned, in float32 at least."""
    if not in_one_pass(x, cos, sin):
        return _by_formula(x, cos, sin, pairing)
    return (_Turned.apply if wants_gradient([x]) else _in_place)(x, cos, sin, pairing)


def _by_formula(x: Tensor, cos: Tensor, sin: Tensor, pairing: str) -> Tensor:
    """Return `x` turned step by step."""
    if pairing == "interleaved":
        a, b = x[..., ::2], x[..., 1::2]
        pairs = torch.stack((a * cos - b * sin, a * sin + b * cos), -1)
        return pairs.reshape(*pairs.shape[:-2], x.shape[-1])
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


def in_one_pass(x: Tensor, cos: Tensor, sin: Tensor) -> bool:
    """Return whether `turn` writes its result where it stays, with no numbers put by on the way.

    For small inputs fewer calls count more, compilers do the same by themselves, and a transform,
    or angles that learn, want the formula.
    """
    if x.numel() < _LARGE or x.device.type not in ("cpu", "cuda"):
        return False
    if torch.compiler.is_compiling() or exporting() or in_transform() or batched(x):
        return False
    if torch.is_grad_enabled() and (cos.requires_grad or sin.requires_grad):
        return False
    sizes = zip(cos.shape[-2::-1], x.shape[-2::-1], strict=False)
    return cos.ndim <= x.ndim and all(c in (1, n) for c, n in sizes)


def _as_complex(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Return `x` turned as the complex numbers that its pairs are, each read and written once."""
    if any(n % 2 for n in (x.storage_offset(), *x.stride()[:-1])) or x.stride(-1) != 1:
        x = x.contiguous()
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * torch.complex(cos, sin)).flatten(-2)


def _in_blocks(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Return `x` turned half against half, as many tokens at a time as a cache holds."""
    out, (length, n) = torch.empty_like(x), (x.shape[-2], cos.shape[-1])
    both = torch.cat((cos, cos), -1)
    cos, sin = (c.expand(*c.shape[:-2], length, c.shape[-1]) for c in (both, sin))
    block = _BLOCK * torch.get_num_threads() if x.device.type == "cpu" else x.numel()
    step = max(1, block * length // x.numel())
    parts = (t.split(step, -2) for t in (x, cos, sin, out))
    for given, cos_part, sin_part, turned in zip(*parts, strict=True):
        torch.mul(given, cos_part, out=turned)
        turned[..., :n].addcmul_(given[..., n:], sin_part, value=-1)
        turned[..., n:].addcmul_(given[..., :n], sin_part)
    return out


def _in_place(x: Tensor, cos: Tensor, sin: Tensor, pairing: str) -> Tensor:
    """Return `x` turned in the way that is fastest for many numbers."""
    return (_as_complex if pairing == "interleaved" else _in_blocks)(x, cos, sin)


class _Turned(torch.autograd.Function):
    """The same, whose gradient is the turn back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cos: Tensor, sin: Tensor, pairing: str) -> Tensor:
        ctx.save_for_backward(cos, sin)
        ctx.pairing = pairing
        return _in_place(x, cos, sin, pairing)

    @staticmethod
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor, None, None, None]:
        cos, sin = ctx.saved_tensors
        return turn(d_out, cos, -sin, ctx.pairing), None, None, None


def check_pairing(pairing: str) -> str:
    """Return `pairing`, or raise ValueError that lists both and knows what others call them."""
    return words.choice("pairing", pairing, PAIRINGS, words.PAIRINGS)


def _check_heads(x: Tensor) -> None:
    """Raise ValueError unless these are queries or keys that can turn."""
    wanted = "must be a floating tensor (..., length, d_head)"
    if not isinstance(x, Tensor):
        refuse("x", wanted, type(x).__name__)
    check_plain("x", x)
    if not x.is_floating_point():
        refuse("x", wanted, f"dtype {x.dtype}")
    if x.ndim < 2 or x.shape[-1] < 2:
        refuse("x", f"{wanted} with d_head of at least 2", f"shape {tuple(x.shape)}")


def _check_pairs(omega: Tensor, x: Tensor) -> None:
    """Raise ValueError if a head has fewer pairs of dimensions than there are frequencies."""
    most = x.shape[-1] // 2
    if len(omega) == most and x.shape[-1] % 2:
        refuse("x", "must have an even d_head where all of it turns, in pairs", f"{x.shape[-1]}")
    if len(omega) > most:
        refuse("omega", f"must hold at most d_head // 2 = {most} frequencies", f"{len(omega)}")


def _positions(positions: Tensor | ArrayLike, x: Tensor) -> Tensor:
    """Return the positions of the tokens of `x`, (length,) or (batch or 1, length)."""
    t, single = as_numbers("positions", positions, x.device)
    length = x.shape[-2]
    fitting = [(length,)] + [(x.shape[0], length), (1, length)] * (x.ndim > 2)
    if t.shape not in fitting:
        rows = f" or (batch, length) = {fitting[1]}" if x.ndim > 2 else ""
        wanted = f"must have shape (length,) = {fitting[0]}{rows} for x of shape {tuple(x.shape)}"
        refuse("positions", wanted, f"shape {tuple(t.shape)}{_hint(t, x)}")
    look("positions", torch.atleast_2d(t), single)
    return t


def _hint(t: Tensor, x: Tensor) -> str:
    """Return how to put the axes of `x` right, where it can be guessed."""
    if x.ndim != 4 or t.shape not in ((x.shape[1],), (x.shape[0], x.shape[1])):
        return ""
    return "; if x is (batch, length, heads, d_head), x.transpose(1, 2) puts the heads first"


def _frequencies(omega: Tensor | ArrayLike, device: torch.device | None) -> tuple[Tensor, bool]:
    """Return frequencies (n,) as exactly as a device holds them, and whether they were float32."""
    given = as_tensor("omega", omega)
    if _checks.half_eps(given.dtype) is not None:
        refuse("omega", "must be float32 or float64, as a half type has rounded it", given.dtype)
    found, single = as_numbers("omega", given, device)
    if found.ndim != 1 or not len(found):
        refuse("omega", "must have shape (n,), a frequency a pair", f"shape {tuple(found.shape)}")
    if can_look(found) and not (finite := found.isfinite()).all():
        refuse("omega", "must be finite", found.detach()[~finite][0])
    return found.to(finest(found.device)), single
