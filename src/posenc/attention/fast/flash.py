"""PyTorch's fused kernel for CPUs, with its log-sums and its backward pass at hand.

It has no gradient for what is added to the scores, so that PyTorch does not use it where there is
one to be had. Called by name it does all the rest. Scores by offset it takes as a view of a line;
as views cannot run backward, the queries do.
"""

from typing import Any

import torch
from torch import Tensor

from posenc.attention.toeplitz import reversed_matrix

_FORWARD: Any = getattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu", None)
_BACKWARD: Any = getattr(
    torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu_backward", None
)


def serves(q: Tensor, v: Tensor) -> bool:
    """Return whether PyTorch has the kernel, and it takes such queries and values."""
    return None not in (_FORWARD, _BACKWARD) and q.shape[-1] == v.shape[-1]


def attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, causal: bool = False
) -> tuple[Tensor, Tensor]:
    """Return outputs (batch, heads, queries, width) and log-sums (batch, heads, queries, 1)."""
    out, log_sum = _FORWARD(q, k, v, 0.0, causal, attn_mask=mask, scale=1.0)
    return out, log_sum[..., None]


def gradients(
    d_out: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    log_sum: Tensor,
    mask: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of queries, keys and values, from what `attend` returned."""
    return _BACKWARD(
        d_out, q, k, v, out, log_sum.squeeze(-1), 0.0, False, attn_mask=mask, scale=1.0
    )


def attend_by_offset(q: Tensor, k: Tensor, v: Tensor, line: Tensor) -> tuple[Tensor, Tensor]:
    """Return outputs and log-sums with scores for the offsets -r to r, (heads or 1, 2 r + 1)."""
    out, log_sum = attend(q.flip(-2), k, v, reversed_matrix(line, q.shape[-2]))
    return out.flip(-2), log_sum.flip(-2).contiguous()


def gradients_by_offset(
    d_out: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, log_sum: Tensor, line: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of all but the line, from what `attend_by_offset` returned."""
    d_out, q, out, log_sum = (a.flip(-2) for a in (d_out, q, out, log_sum))
    matrix = reversed_matrix(line, q.shape[-2])
    dq, dk, dv = gradients(d_out, q, k, v, out, log_sum, matrix)
    return dq.flip(-2), dk, dv
