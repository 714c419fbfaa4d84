"""How the tokens of a series become one vector."""

import torch
from torch import Tensor, nn

POOLINGS = ("mean", "max", "last", "cls", "flatten")


def pool(how: str, x: Tensor, mask: Tensor | None, n_tokens: int) -> Tensor:
    """(batch, length, d_model) to (batch, d_model), or to (batch, n_tokens * d_model) if flat."""
    if how == "cls":
        return x[:, 0]
    if how == "flatten":
        return _flat(x if mask is None else x * mask.unsqueeze(-1), n_tokens)
    return _reduce(how, x) if mask is None else _reduce_real(how, x, mask)


def _reduce(how: str, x: Tensor) -> Tensor:
    reduce = {"mean": lambda: x.mean(1), "max": lambda: x.amax(1), "last": lambda: x[:, -1]}
    return reduce[how]()


def _reduce_real(how: str, x: Tensor, mask: Tensor) -> Tensor:
    """Reduce over the real tokens; a series without any gives zeros, its first token if "last"."""
    real = mask.unsqueeze(-1)
    if how == "mean":
        return (x * real).sum(1) / real.sum(1).clamp(min=1)
    if how == "max":
        lowest = torch.finfo(x.dtype).min
        return x.masked_fill(~real, lowest).amax(1) * mask.any(1, keepdim=True)
    step = torch.arange(x.shape[1], device=x.device)
    last = (step * mask).argmax(1)
    return x.gather(1, last[:, None, None].expand(-1, 1, x.shape[-1])).squeeze(1)


def _flat(x: Tensor, n_tokens: int) -> Tensor:
    missing = n_tokens - x.shape[1]
    if missing < 0:
        raise ValueError(
            f"x must have at most {n_tokens} tokens for pooling = 'flatten', "
            f"got {x.shape[1]}; use another pooling or a larger length"
        )
    return nn.functional.pad(x, (0, 0, 0, missing)).flatten(1)
