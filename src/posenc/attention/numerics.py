"""In which type to compute, and whether somebody else is tracing the code."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

# torch of before 2.7 does not tell export from compilation
_is_exporting = getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)


def precise(x: Tensor) -> Tensor:
    """Return `x` in float32 if its type holds less: half types carry data, not computations."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def without_autocast(x: Tensor) -> AbstractContextManager:
    """Return a context in which products on the device of `x` keep the type of their factors."""
    device = x.device.type
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()


def in_transform() -> bool:
    """Return whether the code runs under a `torch.func` transform such as `vmap`."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def exporting() -> bool:
    """Return whether `torch.export` traces the code, perhaps for every length at once."""
    return _is_exporting()
