"""The transformer with one token per time step."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from posenc import _checks
from posenc.models.classifier import Classifier, ClassifierSettings
from posenc.models.norms import NORMS
from posenc.models.positions import PositionLike


class TimeSeriesTransformer(Classifier):
    """One token per time step (Irani and Metsis 2025, Algorithm 1; Zerveas et al. 2021).

    A linear map of the channels and batch norm make the tokens; position enters; each layer has
    batch norm behind attention and behind the feed-forward network; a linear map classifies.

    Parameters
    ----------
    n_channels, n_classes, length : int
        Channels, classes and time steps of the data.
    position : str, Position, or callable
        A name (`posenc.encodings.names("series")`), an encoding made for these sizes, or a class or
        function that makes one from (d_model, n_heads, max_length). The model has `length`
        tokens, one more with `pooling="cls"`. A list gives one for each layer, such as
        `["rotary", "rotary", "none"]`; an entry with options is a callable, such as
        `functools.partial(Rotary, scaling="yarn", original_length=128)`.
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
        Options for the encoding, if `position` is one name, class or function.
    share_position : bool, optional
        Whether all layers share one encoding; by default as its authors have it.
    random_positions : int, optional
        As for `LanguageModel` (Ruoss et al. 2023): in training the tokens of a batch stand at
        sorted places that are drawn from 0 to `random_positions - 1` without replacement, one
        draw a batch; in evaluation they count 0, 1, 2, ..., and
        `model(x, times=model.draw_positions(steps))` draws there, too. Where `times` are given
        they win, and nothing is drawn. Encodings are then made for as many places, one more with
        a class token, which stands as it does with `times`. At least `length`.
    check_input : bool
        Whether to look for values that are not finite.
    causal : bool
        Whether a token sees itself and earlier ones only, as in a decoder; `pooling="last"` then
        reads the token that sees all.

    Notes
    -----
    When the steps were taken is handed over as `times`, which are the `positions` that
    `SelfAttention` and `LanguageModel` speak of: one number a token, in steps, all one later with
    a class token in front.

    With a mask padded steps take part in the draw, so that a padded series stands where the draw
    has its real steps: at sorted places of which none is there twice, but in a batch that is
    padded at the end the places of a short series are the first ones of those drawn.

    Raises
    ------
    ValueError
        If an argument is out of range, or random positions are asked of an encoding that cannot
        serve positions that are given; the message names it.

    Examples
    --------
    >>> import torch
    >>> model = TimeSeriesTransformer(3, 4, length=20, position="rotary")
    >>> x, times = torch.randn(2, 20, 3), torch.rand(20).cumsum(0)
    >>> model(x, times=times).shape
    torch.Size([2, 4])
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
        random_positions: int | None = None,
        check_input: bool = True,
        causal: bool = False,
    ) -> None:
        length = _checks.count("length", length, minimum=1)
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
        super().__init__(settings, length)
        self.project = nn.Linear(n_channels, d_model)
        self.input_norm = NORMS[norm](d_model)

    @property
    def _first_map(self) -> nn.Module:
        return self.project

    def _tokens(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        return self.input_norm(self.project(x), mask), mask
