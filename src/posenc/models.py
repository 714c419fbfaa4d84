"""Two transformers that classify time series: one token per step, or one per patch.

They are Algorithms 1 and 2 of a survey (Irani and Metsis 2025, section 4), the first after
Zerveas et al. (2021), the second after Dosovitskiy et al. (2021). What the algorithms leave open
is an option, whose default is named where it is chosen.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from posenc import _checks, encodings
from posenc._fused import in_transform, prefers_blocks
from posenc.attention import Position, SelfAttention, check_mask, check_position

PositionLike = str | Position | Callable[[int, int, int], Position]
"""A registered name, a finished encoding, or what makes one from (d_model, n_heads, max_length)."""


class BatchNorm(nn.BatchNorm1d):
    """Batch normalisation of (batch, length, d_model) over batch and length, real tokens only."""

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
    """Layer normalisation, which has no need of the mask."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:  # noqa: ARG002
        return super().forward(x)


class NoNorm(nn.Identity):
    """No normalisation."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:  # noqa: ARG002
        return x


_NORMS: dict[str, Callable[[int], nn.Module]] = {
    "batch": BatchNorm,
    "layer": LayerNorm,
    "none": NoNorm,
}
_POOLINGS = ("mean", "max", "last", "cls", "flatten")


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network, each with a residual path and a norm."""

    def __init__(
        self,
        position: Position,
        d_ff: int,
        dropout: float,
        attention_dropout: float,
        norm: str,
        norm_first: bool,
    ) -> None:
        super().__init__()
        d_model = position.d_model
        self.attention = SelfAttention(d_model, position.n_heads, position, attention_dropout)
        self.expand = nn.Linear(d_model, d_ff)
        self.contract = nn.Linear(d_ff, d_model)
        self.attention_norm = _NORMS[norm](d_model)
        self.feed_forward_norm = _NORMS[norm](d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x: Tensor, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        """(batch, length, d_model) to the same; `bias` replaces that of the encoding if given."""
        if self.norm_first:
            x = x + self._attend(self.attention_norm(x, mask), mask, bias)
            return x + self._feed_forward(self.feed_forward_norm(x, mask))
        x = self.attention_norm(x + self._attend(x, mask, bias), mask)
        return self.feed_forward_norm(x + self._feed_forward(x), mask)

    def _attend(self, x: Tensor, mask: Tensor | None, bias: Tensor | None) -> Tensor:
        return self.dropout(self.attention.attend(x, mask, bias))

    def _feed_forward(self, x: Tensor) -> Tensor:
        hidden = self.dropout(nn.functional.gelu(self.expand(x)))
        return self.dropout(self.contract(hidden))


class _Classifier(nn.Module):
    """Tokens, position, layers, pooling, head; derived classes say how a series becomes tokens."""

    def __init__(
        self,
        n_channels: int,
        n_classes: int,
        length: int,
        n_steps: int,
        position: PositionLike,
        d_model: int,
        n_heads: int,
        n_layers: int,
        d_ff: int,
        dropout: float,
        *,
        norm: str,
        norm_first: bool,
        pooling: str,
        head: str,
        attention_dropout: float,
        position_options: Mapping[str, Any] | None,
        share_position: bool | None,
        check_input: bool,
    ) -> None:
        super().__init__()
        self.n_channels = _checks.count("n_channels", n_channels, minimum=1)
        self.n_classes = _checks.count("n_classes", n_classes, minimum=1)
        self.length = length
        self.d_model = _checks.count("d_model", d_model, minimum=1)
        self.pooling = _checks.choice("pooling", pooling, _POOLINGS)
        self.check_input = check_input
        _checks.count("n_layers", n_layers, minimum=1)
        _checks.count("d_ff", d_ff, minimum=1)
        _checks.divisor("n_heads", n_heads, "d_model", d_model)
        _checks.probability("dropout", dropout)
        _checks.choice("norm", norm, _NORMS)
        _checks.choice("head", head, ("linear", "mlp"))
        self.n_tokens = n_steps + (pooling == "cls")
        self.class_token = nn.Parameter(torch.randn(d_model) * 0.02) if pooling == "cls" else None
        first = _build(position, d_model, n_heads, self.n_tokens, dict(position_options or {}))
        if pooling == "cls":
            first.expect_class_token()
        shared = first.shared if share_position is None else share_position
        self.layers = nn.ModuleList(
            EncoderLayer(each, d_ff, dropout, attention_dropout, norm, norm_first)
            for each in self._positions(first, n_layers, shared, position, position_options)
        )
        self.final_norm = _NORMS[norm](d_model) if norm_first else NoNorm()
        self.dropout = nn.Dropout(dropout)
        width = d_model * (self.n_tokens if pooling == "flatten" else 1)
        self.head = nn.Linear(width, n_classes)
        if head == "mlp":
            hidden = nn.Linear(width, d_ff)
            self.head = nn.Sequential(hidden, nn.GELU(), nn.Linear(d_ff, n_classes))

    def _positions(
        self,
        first: Position,
        n_layers: int,
        shared: bool,
        position: PositionLike,
        options: Mapping[str, Any] | None,
    ) -> list[Position]:
        """Return one encoding per layer: all the same if shared, else each with its own start."""
        positions = [first]
        for _ in range(n_layers - 1):
            if shared:
                positions.append(first)
            elif isinstance(position, Position):
                positions.append(deepcopy(first))
            else:
                sizes = first.d_model, first.n_heads, first.max_length
                positions.append(_build(position, *sizes, dict(options or {})))
                if self.class_token is not None:
                    positions[-1].expect_class_token()
        return positions

    @property
    def position(self) -> Position:
        """The encoding that meets the tokens first."""
        return self.layers[0].attention.position

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the logits, (batch, n_classes).

        Parameters
        ----------
        x : (batch, length, n_channels)
        mask : (batch, length) bool, optional
            True marks a real step; what stands at the others, NaN included, is not looked at.

        Raises
        ------
        ValueError
            If a shape is wrong, a real value is not finite, or the series is too long for the
            encoding. Values are not checked under `torch.compile` and `torch.func` transforms.
        """
        tokens, mask = self.encode(x, mask)
        return self.head(self._pool(tokens, mask))

    def encode(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        """Return the tokens behind the last layer, (batch, n_tokens, d_model), and their mask."""
        self._check(x, mask)
        if mask is not None:
            x = x.where(mask.unsqueeze(-1), 0)
        if self.check_input:
            _check_finite(x)
        x, mask = self._tokens(x, mask)
        if self.class_token is not None:
            x, mask = self._with_class_token(x, mask)
        first = self.position
        x = self.dropout(first.embed(x))
        bias = self._common_bias(x)
        for i, layer in enumerate(self.layers):
            if i and first.embed_every_layer:
                x = layer.attention.position.embed(x)
            x = layer(x, mask, bias)
        return self.final_norm(x, mask), mask

    def _common_bias(self, x: Tensor) -> Tensor | None:
        """Return the bias of all layers and batch rows, if there is one and it is wanted whole."""
        first = self.position
        attention = [layer.attention for layer in self.layers]
        if not first.position_only or any(a.position is not first for a in attention):
            return None
        blocks = all(prefers_blocks(x, a.dropout if self.training else 0.0) for a in attention)
        if blocks and first.bias_by_offset(x) is not None:
            return None
        return first.bias(x, x, x)

    def _with_class_token(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        token = self.class_token.to(x.dtype).expand(x.shape[0], 1, -1)
        if mask is not None:
            mask = nn.functional.pad(mask, (1, 0), value=True)
        return torch.cat((token, x), 1), mask

    def _pool(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """(batch, n_tokens, d_model) to (batch, d_model), or to all of it in one row."""
        if self.pooling == "cls":
            return x[:, 0]
        if self.pooling == "flatten":
            return self._flat(x if mask is None else x * mask.unsqueeze(-1))
        if mask is None:
            reduce = {"mean": lambda: x.mean(1), "max": lambda: x.amax(1), "last": lambda: x[:, -1]}
            return reduce[self.pooling]()
        real = mask.unsqueeze(-1)
        if self.pooling == "mean":
            return (x * real).sum(1) / real.sum(1).clamp(min=1)
        if self.pooling == "max":
            lowest = torch.finfo(x.dtype).min
            return x.masked_fill(~real, lowest).amax(1) * mask.any(1, keepdim=True)
        step = torch.arange(x.shape[1], device=x.device)
        last = (step * mask).argmax(1)
        return x.gather(1, last[:, None, None].expand(-1, 1, self.d_model)).squeeze(1)

    def _flat(self, x: Tensor) -> Tensor:
        missing = self.n_tokens - x.shape[1]
        if missing < 0:
            raise ValueError(
                f"x must have at most {self.n_tokens} tokens for pooling = 'flatten', "
                f"got {x.shape[1]}; use another pooling or a larger length"
            )
        return nn.functional.pad(x, (0, 0, 0, missing)).flatten(1)

    def _check(self, x: Tensor, mask: Tensor | None) -> None:
        if x.ndim != 3 or x.shape[-1] != self.n_channels:
            raise ValueError(
                f"x must have shape (batch, length, n_channels = {self.n_channels}), "
                f"got {tuple(x.shape)}"
            )
        if x.shape[1] < 1:
            raise ValueError(f"x must have at least one step, got shape {tuple(x.shape)}")
        check_mask(mask, x)


class TimeSeriesTransformer(_Classifier):
    """One token per time step (Irani and Metsis 2025, Algorithm 1; Zerveas et al. 2021).

    A linear map of the channels and batch norm make the tokens; position enters; each layer has
    batch norm behind attention and behind the feed-forward network; a linear map classifies.

    Parameters
    ----------
    n_channels, n_classes, length : int
        Channels, classes and time steps of the data.
    position : str, Position, or callable
        A name (`posenc.encodings.names()`), an encoding made for these sizes, or a class or
        function that makes one from (d_model, n_heads, max_length). The model has `length`
        tokens, one more with `pooling="cls"`.
    d_model, n_heads, n_layers, d_ff : int
        Width, heads, layers, width of the feed-forward network.
    dropout : float
        On the embedded tokens, in the feed-forward network and on both residual branches.
    norm : {"batch", "layer", "none"}
        Batch norm is the papers'; its statistics leave padded steps out.
    norm_first : bool
        Whether the norm comes before each branch rather than behind the sum, which is the papers'
        place.
    pooling : {"mean", "max", "last", "cls", "flatten"}
        The algorithm does not say how tokens become one vector. Mean pooling is blind to order,
        so order counts only through the encoding. "flatten" is Zerveas et al.'s: the head then
        sees each step at its own place, encoding or not. "cls" puts a learned token in front.
    head : {"linear", "mlp"}
        A linear map, or one hidden layer of width `d_ff`.
    attention_dropout : float
        On attention weights; above 0 it costs the fused kernel on CPUs.
    position_options : mapping, optional
        Options for the encoding, if `position` is a name, class or function.
    share_position : bool, optional
        Whether all layers share one encoding; by default as its authors have it.
    check_input : bool
        Whether to look for values that are not finite.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.
    """

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
        norm: str = "batch",
        norm_first: bool = False,
        pooling: str = "mean",
        head: str = "linear",
        attention_dropout: float = 0.0,
        position_options: Mapping[str, Any] | None = None,
        share_position: bool | None = None,
        check_input: bool = True,
    ) -> None:
        length = _checks.count("length", length, minimum=1)
        super().__init__(
            n_channels,
            n_classes,
            length,
            length,
            position,
            d_model,
            n_heads,
            n_layers,
            d_ff,
            dropout,
            norm=norm,
            norm_first=norm_first,
            pooling=pooling,
            head=head,
            attention_dropout=attention_dropout,
            position_options=position_options,
            share_position=share_position,
            check_input=check_input,
        )
        self.project = nn.Linear(n_channels, d_model)
        self.input_norm = _NORMS[norm](d_model)

    def _tokens(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        return self.input_norm(self.project(x), mask), mask


class PatchTransformer(_Classifier):
    """One token per patch of steps (Irani and Metsis 2025, Algorithm 2; Dosovitskiy et al. 2021).

    A one-dimensional convolution makes the patches; position enters; layers of attention and
    feed-forward network follow, without batch norm; a linear map to `d_ff` and one to the
    classes end it, with a GELU between them, as two linear maps in a row would be one.

    Parameters
    ----------
    n_channels, n_classes, length, position, d_model, n_heads, n_layers, d_ff, dropout
        As for `TimeSeriesTransformer`, but the encoding is made for the number of patches,
        1 + ceil((length - patch) / stride), one more with `pooling="cls"`.
    patch : int
        Steps in a patch, at least 1.
    stride : int, optional
        Steps between the starts of neighbouring patches, 1 <= stride <= patch. The survey calls
        the patches overlapping but counts length / patch of them, which is the default,
        `stride = patch`.
    norm, norm_first, pooling, head, attention_dropout, position_options, share_position
        As for `TimeSeriesTransformer`. The algorithm names no norm, and transformer layers have
        layer norm; "none" follows the letter.
    check_input : bool
        As for `TimeSeriesTransformer`.

    Notes
    -----
    A series whose end does not fill a patch is padded with zeros. A patch is masked if all its
    steps are.
    """

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
        check_input: bool = True,
    ) -> None:
        length = _checks.count("length", length, minimum=1)
        steps = _checks.count("patch", patch, minimum=1)
        shift = _checks.count("stride", patch if stride is None else stride, minimum=1)
        if shift > steps:
            raise ValueError(
                f"stride must be at most patch = {patch}, or steps are skipped, got {stride}"
            )
        super().__init__(
            n_channels,
            n_classes,
            length,
            1 + _missing_patches(length, steps, shift),
            position,
            d_model,
            n_heads,
            n_layers,
            d_ff,
            dropout,
            norm=norm,
            norm_first=norm_first,
            pooling=pooling,
            head=head,
            attention_dropout=attention_dropout,
            position_options=position_options,
            share_position=share_position,
            check_input=check_input,
        )
        self.patch, self.stride = steps, shift
        self.patches = nn.Conv1d(n_channels, d_model, steps, shift)

    def _tokens(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        length = x.shape[1]
        whole = self.patch + _missing_patches(length, self.patch, self.stride) * self.stride
        x = nn.functional.pad(x, (0, 0, 0, whole - length))
        if mask is not None:
            mask = nn.functional.pad(mask, (0, whole - length))
            mask = mask.unfold(1, self.patch, self.stride).any(-1)
        return self.patches(x.transpose(1, 2)).transpose(1, 2), mask


def _missing_patches(length: int, patch: int, stride: int) -> int:
    """Return how many patches a series needs besides the first."""
    return -(-max(length - patch, 0) // stride)


def _build(
    position: PositionLike, d_model: int, n_heads: int, n_tokens: int, options: dict[str, Any]
) -> Position:
    """Return an encoding for these sizes."""
    if isinstance(position, str):
        return encodings.make(position, d_model, n_heads, n_tokens, **options)
    if isinstance(position, Position):
        if options:
            raise ValueError(f"position_options must be empty for a finished encoding: {options}")
        return check_position(position, d_model, n_heads)
    if callable(position):
        return check_position(position(d_model, n_heads, n_tokens, **options), d_model, n_heads)
    raise ValueError(
        f"position must be a name ({', '.join(encodings.names())}), a Position, or a callable "
        f"that makes one, got {position!r}"
    )


def _check_finite(x: Tensor) -> None:
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
