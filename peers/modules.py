"""Sizes, weights and calls that the comparisons share."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from peers.compare import Numbers
from posenc.attention import Position, SelfAttention

D_MODEL, N_HEADS, D_HEAD, BATCH, LENGTH = 32, 4, 8, 2, 40
LONG = 300
"""Beyond the 256 tokens from which on blocks and Fourier transforms serve, and T5's 128."""


def tokens(numbers: Numbers, length: int = LENGTH) -> Tensor:
    """Return (batch, length, d_model)."""
    return numbers("tokens", BATCH, length, D_MODEL)


def call(module: nn.Module, parameters: dict[str, Tensor], *args: Any, **kwargs: Any) -> Any:
    """Call a module with all of its parameters replaced; one that is left out is an error."""
    names = {name for name, _ in module.named_parameters()}
    if names != parameters.keys():
        raise ValueError(
            f"parameters of {type(module).__name__} must be {sorted(names)}, "
            f"got {sorted(parameters)}"
        )
    return functional_call(module, parameters, args, kwargs)


class Door(nn.Module):
    """One method of an encoding as a module, so that `call` can replace its parameters."""

    def __init__(self, position: Position, name: str) -> None:
        super().__init__()
        self.position, self.name = position, name

    def forward(self, *args: Any) -> Any:
        return getattr(self.position, self.name)(*args)


def door(position: Position, name: str, *args: Any, **parameters: Tensor) -> Any:
    """Call a method of an encoding with its parameters replaced."""
    return call(Door(position, name), prefixed("position", parameters), *args)


def prefixed(prefix: str, parameters: dict[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}.{name}": value for name, value in parameters.items()}


class Maps:
    """The four linear maps of attention: q, k, v, o and, unless there are none, their offsets."""

    def __init__(self, numbers: Numbers, *, offsets: bool = True, prefix: str = "") -> None:
        self.q, self.k, self.v, self.o = (
            numbers(f"{prefix}W_{name}", D_MODEL, D_MODEL, scale=D_MODEL**-0.5) for name in "qkvo"
        )
        zero = torch.zeros(D_MODEL, dtype=numbers.dtype)
        self.bq, self.bk, self.bv, self.bo = (
            numbers(f"{prefix}b_{name}", D_MODEL) if offsets else zero for name in "qkvo"
        )

    def own(self) -> dict[str, Tensor]:
        """Return them as `SelfAttention` keeps them."""
        return {
            "qkv.weight": torch.cat((self.q, self.k, self.v)),
            "qkv.bias": torch.cat((self.bq, self.bk, self.bv)),
            "out.weight": self.o,
            "out.bias": self.bo,
        }

    def by_head(self) -> tuple[Tensor, Tensor]:
        """Return weight and offset of one map whose rows are q, k, v of head 0, of head 1, ..."""
        weight = torch.stack((self.q, self.k, self.v)).unflatten(1, (N_HEADS, D_HEAD))
        offset = torch.stack((self.bq, self.bk, self.bv)).unflatten(1, (N_HEADS, D_HEAD))
        return weight.transpose(0, 1).flatten(0, 2), offset.transpose(0, 1).flatten()

    def named(self, q: str, k: str, v: str, o: str, *, offsets: bool = True) -> dict[str, Tensor]:
        """Return them under other names, each with `.weight` and `.bias`."""
        weights = zip((q, k, v, o), (self.q, self.k, self.v, self.o), strict=True)
        found = {f"{name}.weight": weight for name, weight in weights}
        if offsets:
            biases = zip((q, k, v, o), (self.bq, self.bk, self.bv, self.bo), strict=True)
            found |= {f"{name}.bias": bias for name, bias in biases}
        return found


def attended(
    position: Position,
    maps: Maps,
    x: Tensor,
    mask: Tensor | None = None,
    **parameters: Tensor,
) -> Tensor:
    """Return what `SelfAttention` makes of tokens with these maps and this encoding."""
    layer = SelfAttention(D_MODEL, N_HEADS, position).eval()
    return call(layer, maps.own() | prefixed("position", parameters), x, mask)
