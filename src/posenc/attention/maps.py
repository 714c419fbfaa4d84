"""Linear maps that somebody may have replaced: by quantised ones, adapters, or wrappers."""

from typing import TypeGuard

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from posenc.attention.numerics import autocasts


def weight_type(layer: nn.Module) -> torch.dtype | None:
    """Return the type that a map computes in, None where no weight tells.

    A quantised weight does not: it holds integers, or floats of one byte, beside a scale.
    """
    weight = getattr(layer, "weight", None)  # a quantised layer's may be a method
    if isinstance(weight, Tensor) and holds_floats(weight):
        return weight.dtype
    return None


def holds_floats(x: Tensor) -> bool:
    """Return whether these are numbers to compute with, of two bytes at least."""
    return x.is_floating_point() and x.element_size() > 1


def check_plain(name: str, x: Tensor) -> None:
    """Raise ValueError for a nested tensor, whose rows differ in length."""
    if x.is_nested:
        raise ValueError(
            f"{name} must be a plain tensor, got a nested one; "
            "torch.nested.to_padded_tensor(x, 0.0) pads it, and a mask says which tokens are real"
        )


def check_dtype(name: str, x: Tensor, layer: nn.Module) -> None:
    """Raise ValueError unless tokens are of a map's type, if it has one, or autocast converts."""
    wanted = weight_type(layer)
    if wanted not in (None, x.dtype) and not autocasts(x):
        raise ValueError(
            f"{name} must be {wanted} as the layer is, got {x.dtype}; {name}.to({wanted}) helps"
        )


def applied(layer: nn.Module, x: Tensor) -> Tensor:
    """Return `layer(x)` in the precision of `x`."""
    if _is_plain(layer):
        offset = None if layer.bias is None else layer.bias.to(x.dtype)
        return linear(x, layer.weight.to(x.dtype), offset)
    return layer(x.to(weight_type(layer) or _type_inside(layer) or x.dtype)).to(x.dtype)


def _type_inside(layer: nn.Module) -> torch.dtype | None:
    """Return the type of the first weight inside a wrapper that is to compute with."""
    return next((p.dtype for p in layer.parameters() if holds_floats(p)), None)


def matrix(layer: nn.Module, n_in: int, like: Tensor) -> Tensor:
    """Return the matrix of a map without offset, (n_out, n_in), in the type of `like`."""
    if _is_plain(layer):
        return layer.weight.to(like.dtype)
    return applied(layer, torch.eye(n_in, dtype=like.dtype, device=like.device)).mT


def _is_plain(layer: nn.Module) -> TypeGuard[nn.Linear]:
    """Return whether the weight is all there is to a map, as it is not with an adapter."""
    return type(layer).forward is nn.Linear.forward and weight_type(layer) is not None
