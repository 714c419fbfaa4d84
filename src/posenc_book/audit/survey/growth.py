"""How work and memory of an encoding grow with the length, counted rather than timed.

Work is multiplications and additions of matrix products, by PyTorch's own counter, and one
operation for each number that any other step writes. Memory is the bytes that come out of the
doors or have to wait for the backward pass.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from posenc import encodings
from posenc.attention import Position


class Written(TorchDispatchMode):
    """Counts the numbers that operations write; a view writes none."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        tensors = [t for t in tree_leaves(out) if isinstance(t, Tensor)]
        self.numbers += 0 if func.is_view else sum(t.numel() for t in tensors)
        return out


def cost(
    name: str, length: int, *, width: int = 64, heads: int = 4, options: dict | None = None
) -> tuple[int, int]:
    """Return the work and the bytes of one encoding in one layer, for one series.

    Parameters
    ----------
    name : str
        As in `posenc.encodings`.
    length, width, heads : int
        Tokens, numbers in a token, attention heads.
    options : dict, optional
        Of the encoding.
    """
    torch.manual_seed(0)
    position = encodings.make(encodings.get(name), width, heads, length, **(options or {}))
    given = inputs(length, width, heads)
    kept: list[Tensor] = []

    def keep(t: Tensor) -> Tensor:
        kept.append(t)
        return t

    with (
        saved_tensors_hooks(keep, lambda t: t),
        FlopCounterMode(display=False) as products,
        Written() as written,
    ):
        kept += through_doors(position, *given)
    work = products.get_total_flops() + written.numbers
    return work, _n_bytes(kept, without=[*given, *position.parameters()])


def products(layer: nn.Module, length: int, width: int = 64) -> int:
    """Return the multiplications and additions of a layer's matrix products for one series."""
    plain = sdpa_kernel(SDPBackend.MATH)  # the counter does not look into fused kernels
    with torch.no_grad(), plain, FlopCounterMode(display=False) as counted:
        layer(torch.ones(1, length, width))
    return counted.get_total_flops()


def through_doors(
    position: Position, x: Tensor, q: Tensor, k: Tensor, v: Tensor, weights: Tensor
) -> list[Tensor]:
    """Go through all doors that the encoding uses, and apply what comes after the softmax."""
    doors, out = position.doors(), []
    if "embed" in doors:
        out.append(x := position.embed(x))
    if "rotate" in doors:
        q, k = position.rotate(q, k)
        out += [q, k]
    if "bias" in doors:
        added = position.bias(x, q, k)
        assert added is not None
        out.append(added)
    mixed = position.mix(x)
    if mixed is not None:
        out.append(mixed(weights) if callable(mixed) else mixed @ v)
    return out


def inputs(length: int, width: int, heads: int) -> list[Tensor]:
    """Return tokens, queries, keys, values and weights that ask for gradients."""
    x = torch.ones(1, length, width)
    q, k, v = torch.ones(3, 1, heads, length, width // heads)
    weights = torch.ones(1, heads, length, length)
    return [tensor.requires_grad_() for tensor in (x, q.clone(), k.clone(), v.clone(), weights)]


def _n_bytes(tensors: Iterable[Tensor], without: Iterable[Tensor]) -> int:
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    known = {t.untyped_storage().data_ptr() for t in without}
    return sum(size for address, size in storages.items() if address not in known)
