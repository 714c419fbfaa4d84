"""Which axes a door's tensors must have, checked in front of every door of every encoding.

Whoever calls `rotate` by hand with tokens in place of heads would else get numbers that look right:
a turn of some dimensions, or one along the wrong axis.
"""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch import Tensor

if TYPE_CHECKING:
    from posenc.attention.position import Position

_INPUTS = {
    "embed": ("x",), "rotate": ("q", "k"), "bias": ("x", "q", "k"), "mix": ("x",),
    "carry": ("v",), "deliver": ("out",),
}  # fmt: skip
_OF_HEADS = ("q", "k", "v", "out")
_SHARED = ("k", "v")


def checked(door: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method behind a door, which refuses tensors of other axes than it is made for."""
    names = _INPUTS[door]

    @functools.wraps(function)
    def called(self: "Position", /, *inputs: Any, **named: Any) -> Any:
        _check(self, door, dict(zip(names, inputs, strict=False)) | named)
        return function(self, *inputs, **named)

    vars(called)["checks_axes"] = True
    return called


def _check(position: "Position", door: str, inputs: dict[str, Any]) -> None:
    """Raise ValueError unless tokens have three axes, and what heads hold has four."""
    x = inputs.get("x")
    if x is not None:
        _check_tokens(position, door, x)
    for name in _OF_HEADS:
        one = inputs.get(name)
        if one is not None and not (door == "bias" and _stands_in(position, one, x)):
            _check_heads(position, door, name, one)


def _check_tokens(position: "Position", door: str, x: Any) -> None:
    shape = x.shape if isinstance(x, Tensor) else ()
    if len(shape) != 3 or (door == "embed" and shape[2] != position.d_model):
        wanted = f"(batch, length, d_model = {position.d_model})"
        raise ValueError(f"x must have shape {wanted} in {_name(position, door)}, got {_seen(x)}")


def _stands_in(position: "Position", one: Any, x: Any) -> bool:
    """Return whether tokens stand for queries, as they may where a bias does not look at these."""
    if not position._is_deaf:
        return False
    if one is x:
        return True
    return isinstance(one, Tensor) and one.ndim == 3 and one.shape[2] == position.d_model


def _check_heads(position: "Position", door: str, name: str, x: Any) -> None:
    shape = x.shape if isinstance(x, Tensor) else ()
    heads, width = position.n_heads, position.d_head
    fits = (
        len(shape) == 4
        and (shape[1] == heads or (name in _SHARED and shape[1] > 0 and heads % shape[1] == 0))
        and (shape[3] == width or (door == "bias" and position._may_widen))
    )
    if not fits:
        several = f"{heads} or a divisor" if name in _SHARED else heads
        raise ValueError(
            f"{name} must have shape (batch, heads = {several}, length, d_head = {width}) in "
            f"{_name(position, door)}, got {_seen(x)}{_hint(position, name, tuple(shape))}"
        )


def _hint(position: "Position", name: str, shape: tuple[int, ...]) -> str:
    """Return how to put the axes right, where it can be guessed."""
    heads, width = position.n_heads, position.d_head
    if len(shape) == 4 and shape[2] == heads and shape[3] == width:
        order = "which looks like (batch, length, heads, d_head)"
        return f", {order}; {name}.transpose(1, 2) puts the heads first"
    if len(shape) == 3 and shape[2] == position.d_model:
        whole = f"{name}.unflatten(-1, ({heads}, {width})).transpose(1, 2)"
        return f", which looks like (batch, length, d_model); {whole} makes the heads"
    return ""


def _name(position: "Position", door: str) -> str:
    return f"{type(position).__name__}.{door}"


def _seen(x: Any) -> str:
    return str(tuple(x.shape)) if isinstance(x, Tensor) else type(x).__name__
