"""What a model asks of its input, and says if it does not get it."""

import torch
from torch import Tensor, nn

from posenc.attention.maps import check_plain, weight_type
from posenc.attention.numerics import autocasts, in_transform


def check_type(x: Tensor, layer: nn.Module) -> None:
    """Raise ValueError unless `x` is a tensor of a map's type, or autocast converts it."""
    if not isinstance(x, Tensor):
        raise ValueError(f"x must be a torch.Tensor, got {type(x).__name__}; torch.as_tensor helps")
    check_plain("x", x)
    dtype = weight_type(layer)
    if dtype is None and not x.is_floating_point():
        raise ValueError(f"x must hold floating-point numbers, got {x.dtype}; x.float() helps")
    if dtype not in (None, x.dtype) and not autocasts(x):
        raise ValueError(f"x must be {dtype} as the model is, got {x.dtype}; x.to({dtype}) helps")


def check_finite(x: Tensor) -> None:
    """Raise ValueError if a value is NaN or infinite, where looking is possible and cheap."""
    if torch.compiler.is_compiling() or in_transform():
        return
    # one sum catches everything; only if it is suspicious are the single values looked at
    if x.is_meta or bool(x.detach().sum().isfinite()):
        return
    bad = (~x.isfinite()).nonzero()
    if len(bad):
        batch, step, channel = bad[0].tolist()
        raise ValueError(
            f"x must be finite, got {x[batch, step, channel].item()} at batch row {batch}, "
            f"step {step}, channel {channel} ({len(bad)} such values); drop or fill them, or mark "
            "missing steps False in mask"
        )
