"""In which type to compute, and whether somebody else is tracing the code."""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor
from torch.jit._trace import is_tracing

# torch of before 2.7 does not tell export from compilation
_is_exporting = getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)


def precise(x: Tensor) -> Tensor:
    """Return `x` in float32 if its type holds less: half types carry data, not computations."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def autocasts(x: Tensor) -> bool:
    """Return whether products on the device of `x` take types of their own choice."""
    device = x.device.type
    return torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)


def without_autocast(x: Tensor) -> AbstractContextManager[object]:
    """Return a context in which products on the device of `x` keep the type of their factors."""
    return torch.autocast(x.device.type, enabled=False) if autocasts(x) else nullcontext()


def of_raised(
    gradients: Callable[[Tensor], tuple[Tensor | None, ...]], d_out: Tensor
) -> tuple[Tensor | None, ...]:
    """Return `gradients(d_out)`, computed from a power of two of it that lies near one.

    A gradient is linear in `d_out`, so that nothing is rounded anew. Products of small weights and
    small gradients are no normal numbers, with which a CPU is slow. What `gradients` returns is
    changed in place.
    """
    if d_out.device.type != "cpu":
        return gradients(d_out)
    _, exponent = torch.frexp(d_out.detach().abs().max())
    _, largest = math.frexp(torch.finfo(d_out.dtype).max)
    up = torch.ldexp(d_out.new_ones(()), -exponent.clamp(1 - largest, 0))
    return tuple(None if one is None else one.div_(up) for one in gradients(d_out * up))


def in_transform() -> bool:
    """Return whether the code runs under a `torch.func` transform such as `vmap`."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def batched(x: Tensor) -> bool:
    """Return whether autograd computes gradients for many cotangents at once, as a batch."""
    return torch._C._functorch.is_legacy_batchedtensor(x)


def exporting() -> bool:
    """Return whether `torch.export`, for every length at once, or `torch.jit.trace` records."""
    return _is_exporting() or is_tracing()
