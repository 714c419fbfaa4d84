"""The transformer with one token per patch of time steps."""

from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from posenc import _checks
from posenc.attention.places import can_look, finest
from posenc.models.classifier import Classifier, ClassifierSettings
from posenc.models.positions import PositionLike


class PatchTransformer(Classifier):
    """One token per patch of steps (Irani and Metsis 2025, Algorithm 2; Dosovitskiy et al. 2021).

    A one-dimensional convolution makes the patches; position enters; layers of attention and
    feed-forward network follow, without batch norm; a linear map to `d_ff` and one to the
    classes end it, with a GELU between them, as two linear maps in a row would be one.

    Parameters
    ----------
    n_channels, n_classes, length, position, d_model, n_heads, n_layers, d_ff, dropout
        As for `TimeSeriesTransformer`, but the encoding is made for the number of patches,
        1 + ceil(max(length - patch, 0) / stride), one more with `pooling="cls"`.
    patch : int
        Steps in a patch, at least 1.
    stride : int, optional
        Steps between the starts of neighbouring patches, 1 <= stride <= patch. The survey calls
        the patches overlapping but counts length / patch of them, which is the default,
        `stride = patch`.
    norm, norm_first, pooling, head, attention_dropout, position_options, share_position
        As for `TimeSeriesTransformer`. The algorithm names no norm, and transformer layers have
        layer norm; "none" follows the letter.
    random_positions : int, optional
        As for `TimeSeriesTransformer`, but the places are those of patches, in patches, at least
        as many as `length` has; padded patches take part in the draw. Where `times` are given
        they win. In evaluation, and without overlap, `n` patches of `steps` steps stand at drawn
        places with `times=model.draw_positions(n).repeat_interleave(patch)[:steps]`.
    check_input, causal : bool
        As for `TimeSeriesTransformer`.

    Notes
    -----
    When the steps were taken is handed over as `times`; the `positions` that `SelfAttention` and
    `LanguageModel` speak of, one a token, are then the means of a patch's times.

    A series whose end does not fill a patch is padded with zeros. A patch is masked if all its
    steps are. A patch's time is the mean of its steps', as far as they are real, in their unit. An
    encoding that serves whole or bounded positions only counts patches, and wants `times` in
    patches: (steps - (patch - 1) / 2) / stride. These are whole where every patch is full and none
    is partly masked; without overlap, steps // patch gives whole ones whatever is missing. A
    program of `torch.export` for any length takes whole patches, two or more:
    `{1: patch * torch.export.Dim("n", min=2)}`.

    Raises
    ------
    ValueError
        If an argument is out of range, or random positions are asked of an encoding that cannot
        serve positions that are given; the message names it.

    Examples
    --------
    >>> model = PatchTransformer(3, 4, length=40, position="rotary", patch=8)
    >>> model(torch.randn(2, 40, 3)).shape
    torch.Size([2, 4])
    """

    _counted = "the number of patches"
    _placed = "positions"

    def __init__(
        self,
        n_channels: int,
        n_classes: int,
        length: int,
        position: PositionLike = "sinusoidal",
        d_model: int = 128,
        n_heads: int = 8,
        n_layers: int = 4,
        d_ff: int = 256,
        dropout: float = 0.1,
        *,
        patch: int = 8,
        stride: int | None = None,
        norm: str = "layer",
        norm_first: bool = False,
        pooling: str = "mean",
        head: str = "mlp",
        attention_dropout: float = 0.0,
        position_options: Mapping[str, Any] | None = None,
        share_position: bool | None = None,
        random_positions: int | None = None,
        check_input: bool = True,
        causal: bool = False,
    ) -> None:
        length = _checks.count("length", length, minimum=1)
        steps = _checks.count("patch", patch, minimum=1)
        shift = _checks.count("stride", patch if stride is None else stride, minimum=1)
        if shift > steps:
            raise ValueError(
                f"stride must be at most patch = {patch}, or steps are skipped, got {stride}"
            )
        settings = ClassifierSettings(
            n_channels=n_channels,
            n_classes=n_classes,
            length=length,
            position=position,
            d_model=d_model,
            n_heads=n_heads,
            n_layers=n_layers,
            d_ff=d_ff,
            dropout=dropout,
            norm=norm,
            norm_first=norm_first,
            pooling=pooling,
            head=head,
            attention_dropout=attention_dropout,
            position_options=position_options,
            share_position=share_position,
            random_positions=random_positions,
            check_input=check_input,
            causal=causal,
        )
        super().__init__(settings, 1 + _missing_patches(length, steps, shift))
        self.patch, self.stride = steps, shift
        self.patches = nn.Conv1d(n_channels, d_model, steps, shift)

    @property
    def _first_map(self) -> nn.Module:
        return self.patches

    def encode(
        self, x: Tensor, mask: Tensor | None = None, times: Tensor | ArrayLike | None = None
    ) -> tuple[Tensor, Tensor | None]:
        try:
            return super().encode(x, mask, times)
        except ValueError as error:
            if times is None or not str(error).startswith(self._placed):
                raise
            raise ValueError(self._of_times(str(error), x)) from error

    def _of_times(self, problem: str, x: Tensor) -> str:
        """Return what is wrong with the positions of patches in terms of the times of steps."""
        if " must be None" in problem:
            return "times" + problem.removeprefix(self._placed)
        said = (
            f"times must be such that {type(self.position).__name__} serves those of patches, "
            f"which are the means of their steps', in steps: {problem}"
        )
        if not can_look(x):  # means are no integers, which is all that whole positions may be there
            return said
        whole = f", or torch.arange({x.shape[1]}) // {self.patch} for whole ones"
        overlap = ", whole where every patch is full and none is partly masked"
        return (
            f"{said}; it was made for {self.n_tokens} tokens that count patches, so that times in "
            f"patches may help, (times - {(self.patch - 1) / 2}) / {self.stride}"
            + (whole if self.stride == self.patch else overlap)
        )

    def _tokens(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        x = nn.functional.pad(x, (0, 0, 0, self._missing_steps(x.shape[1])))
        mask = None if mask is None else self._cut(mask).any(-1)
        return self.patches(x.transpose(1, 2)).transpose(1, 2), mask

    def _token_times(self, times: Tensor, mask: Tensor | None) -> Tensor:
        real = torch.ones_like(times, dtype=torch.bool) if mask is None else mask
        times = times.to(torch.promote_types(times.dtype, finest(times.device)))
        total, count = self._cut(times.where(real, 0)).sum(-1), self._cut(real).sum(-1)
        return total / count.clamp(min=1)

    def _cut(self, steps: Tensor) -> Tensor:
        """(batch, length) to (batch, patches, patch), filled up with zeros."""
        steps = nn.functional.pad(steps, (0, self._missing_steps(steps.shape[1])))
        return steps.unfold(1, self.patch, self.stride)

    def _missing_steps(self, length: int) -> int:
        """Return how many steps the last patch lacks."""
        n_more = _missing_patches(length, self.patch, self.stride)
        return self.patch + n_more * self.stride - length


def _missing_patches(length: int, patch: int, stride: int) -> int:
    """Return how many patches a series needs besides the first."""
    return -(-max(length - patch, 0) // stride)
