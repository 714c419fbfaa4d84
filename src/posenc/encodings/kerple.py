"""Kernels of the distance, with a shape that each head learns."""

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Position, by_offset
from posenc.attention.numerics import precise

_LEAST = 1e-2  # of a scale or rate at the start, as in the authors' program
_MOST = 2.0  # power of a distance up to which the kernel is conditionally positive definite


class Kerple(Position):
    """A penalty that grows with distance, its shape learned by each head (Chi et al. 2022, KERPLE).

    The bias is -a log(1 + b |i - j|) for the kernel "log", and -a |i - j|**p with 0 < p <= 2 for
    "power", which at p = 1 is ALiBi with a slope that is learned. Either is a conditionally
    positive definite kernel. The logarithm falls ever more slowly, so that far keys are never shut
    out; the authors find it best beyond the training length. Positions may be real times.
    Their work is about causal attention; in a layer that looks both ways, both sides are penalised
    alike. The authors clip a, b and p where they leave their ranges. Here a and b are
    exponentials and p is 2 / (1 + exp(-x)) of what is learned, which needs no clipping.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.
    kernel : {"log", "power"}

    Attributes
    ----------
    scale : Tensor of shape (n_heads,)
        a, in units of a score.
    rate : Tensor of shape (n_heads,)
        b per position, or the power p.

    Notes
    -----
    Parameters to learn, in every layer: `2 * n_heads`. They start nearly as in the authors'
    program: a even between 0.02 and 2 ("log") or 0.01 and 1 ("power"), b between 0.01 and 1, p
    between 0.02 and 2.
    Cost: O(n_heads L^2), or no such tensor where attention goes by offset.

    Raises
    ------
    ValueError
        If a size or `kernel` is out of range.

    Examples
    --------
    >>> position = Kerple(8, 2, 3, kernel="power")
    >>> bool((position.rate <= 2).all())
    True
    >>> x = torch.zeros(1, 3, 8)
    >>> position.bias(x, x, x).shape
    torch.Size([2, 3, 3])
    """

    def __init__(self, d_model: int, n_heads: int, max_length: int, *, kernel: str = "log") -> None:
        super().__init__(d_model, n_heads, max_length)
        self.kernel = _checks.choice("kernel", kernel, ("log", "power"))
        self.log_scale = nn.Parameter(torch.empty(n_heads))
        self.raw_rate = nn.Parameter(torch.empty(n_heads))
        self.reset_parameters()

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """Draw all that is learned anew, as at the start."""
        like = precise(self.log_scale)
        drawn = torch.rand(2, self.n_heads, dtype=like.dtype, device=like.device)
        a, b = drawn * (1 - _LEAST) + _LEAST
        self.log_scale.copy_((2 * a if self.kernel == "log" else a).log())
        # of a power, half of it is a share of the largest one
        self.raw_rate.copy_(b.log() if self.kernel == "log" else b.logit(1e-6))

    @property
    def scale(self) -> Tensor:
        """The factor of the kernel."""
        return precise(self.log_scale).exp()

    @property
    def rate(self) -> Tensor:
        """How fast the logarithm grows, or the power of the distance."""
        raw = precise(self.raw_rate)
        return raw.exp() if self.kernel == "log" else _MOST * raw.sigmoid()

    @by_offset
    def bias(self, offset: Tensor) -> Tensor:
        distance = offset.abs().to(self.scale.dtype)
        scale, rate = self.scale[:, None], self.rate[:, None]
        if self.kernel == "log":
            return -scale * (rate * distance).log1p()
        # 0 to a power below 1 has no slope, and a token is at no distance from itself
        apart = distance > 0
        return -scale * distance.where(apart, 1).pow(rate) * apart
