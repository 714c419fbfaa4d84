"""The norms that a layer can have, each called with the tokens and their mask."""

from collections.abc import Callable

from torch import Tensor, nn


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation of (batch, length, d_model) over batch and length, real tokens only.

    In training with a mask, `momentum=None`, `affine=False` and `track_running_stats=False` of
    `nn.BatchNorm1d` are not served.

    Examples
    --------
    >>> import torch
    >>> x = torch.randn(2, 5, 8)
    >>> x.shape == BatchNorm(8)(x, torch.ones(2, 5, dtype=torch.bool)).shape
    True
    """

    num_batches_tracked: Tensor
    running_mean: Tensor
    running_var: Tensor
    momentum: float

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        if mask is None or not self.training:
            return super().forward(x.flatten(0, 1)).view_as(x)
        real = mask.unsqueeze(-1)
        count = real.sum().clamp(min=1)
        mean = x.where(real, 0).sum((0, 1)) / count
        variance = (x - mean).where(real, 0).square().sum((0, 1)) / count
        self._remember(mean.detach(), variance.detach() * count / (count - 1).clamp(min=1))
        return (x - mean) * (variance + self.eps).rsqrt() * self.weight + self.bias

    def _remember(self, mean: Tensor, variance: Tensor) -> None:
        """Move the running statistics towards those of this batch."""
        self.num_batches_tracked.add_(1)
        for running, new in ((self.running_mean, mean), (self.running_var, variance)):
            running.mul_(1 - self.momentum).add_(self.momentum * new.to(running))


class LayerNorm(nn.LayerNorm):
    """Layer normalisation, which has no need of the mask.

    Examples
    --------
    >>> import torch
    >>> bool(LayerNorm(8)(torch.randn(2, 5, 8)).mean(-1).abs().max() < 1e-6)
    True
    """

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:  # noqa: ARG002
        return super().forward(x)


class NoNorm(nn.Identity):
    """No normalisation.

    Examples
    --------
    >>> NoNorm()(3)
    3
    """

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:  # noqa: ARG002
        return x


NORMS: dict[str, Callable[[int], nn.Module]] = {
    "batch": BatchNorm,
    "layer": LayerNorm,
    "none": NoNorm,
}
