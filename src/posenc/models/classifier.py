"""What both transformers share: everything between the tokens and the logits."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import Places, Position, Term, check_mask, embedded
from posenc.attention.places import Steps, given_steps, warn_of_falling
from posenc.attention.words import knows_its_arguments
from posenc.models.inputs import check_finite, check_type
from posenc.models.layer import EncoderLayer, Layers
from posenc.models.norms import NORMS, NoNorm
from posenc.models.pooling import POOLINGS, pool
from posenc.models.positions import PositionLike, for_layers
from posenc.models.random_places import RandomPlaces, check_random


@dataclass(frozen=True, kw_only=True)
class ClassifierSettings:
    """Settings of a transformer that classifies; `TimeSeriesTransformer` explains each."""

    n_channels: int
    n_classes: int
    length: int
    position: PositionLike
    d_model: int
    n_heads: int
    n_layers: int
    d_ff: int
    dropout: float
    norm: str
    norm_first: bool
    pooling: str
    head: str
    attention_dropout: float
    position_options: Mapping[str, Any] | None
    share_position: bool | None
    random_positions: int | None
    check_input: bool
    causal: bool

    def __post_init__(self) -> None:
        for name in ("n_channels", "n_classes", "d_model", "n_layers", "d_ff"):
            object.__setattr__(self, name, _checks.count(name, getattr(self, name), minimum=1))
        for name in ("check_input", "causal", "norm_first"):
            object.__setattr__(self, name, _checks.flag(name, getattr(self, name)))
        _checks.choice("pooling", self.pooling, POOLINGS)
        if self.causal and self.pooling == "cls":
            raise ValueError(
                "pooling must not be 'cls' in a causal model, whose first token sees no other; "
                "'last' reads the one that sees all"
            )
        _checks.divisor("n_heads", self.n_heads, "d_model", self.d_model)
        _checks.probability("dropout", self.dropout)
        _checks.probability("attention_dropout", self.attention_dropout)
        _checks.choice("norm", self.norm, NORMS)
        _checks.choice("head", self.head, ("linear", "mlp"))


class Classifier(RandomPlaces):
    """Tokens, position, layers, pooling, head; derived classes say how a series becomes tokens."""

    _counted = "length"  # what a message calls the number of tokens, a class token apart
    _placed = "times"  # and what it calls their places

    def __init__(self, settings: ClassifierSettings, n_steps: int) -> None:
        super().__init__()
        s = settings
        self.n_channels, self.n_classes, self.length = s.n_channels, s.n_classes, s.length
        self.d_model, self.pooling = s.d_model, s.pooling
        self.check_input, self.causal = s.check_input, s.causal
        self.random_positions = check_random(s.random_positions, self._counted, n_steps)
        with_class_token = s.pooling == "cls"
        self.n_tokens = n_steps + with_class_token
        n_places = (self.random_positions or n_steps) + with_class_token
        self.class_token = nn.Parameter(torch.randn(s.d_model) * 0.02) if with_class_token else None
        positions, self.embeds = for_layers(
            s.position,
            s.d_model,
            s.n_heads,
            n_places,
            s.n_layers,
            class_token=with_class_token,
            shared=s.share_position,
            options=s.position_options,
        )
        self.layers = Layers(
            EncoderLayer(
                each, s.d_ff, s.dropout, s.attention_dropout, s.norm, s.norm_first, causal=s.causal
            )
            for each in positions
        )
        self.final_norm = NORMS[s.norm](s.d_model) if s.norm_first else NoNorm()
        self.dropout = nn.Dropout(s.dropout)
        width = s.d_model * (self.n_tokens if s.pooling == "flatten" else 1)
        self.head: nn.Module = nn.Linear(width, s.n_classes)
        if s.head == "mlp":
            hidden = nn.Linear(width, s.d_ff)
            self.head = nn.Sequential(hidden, nn.GELU(), nn.Linear(s.d_ff, s.n_classes))
        if self.random_positions is not None:
            self._check_served(n_places - 1)

    @property
    def _first_map(self) -> nn.Module:
        """The module that takes the series first; it must have its dtype."""
        raise NotImplementedError

    def _tokens(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return the tokens of a series, (batch, n_tokens, d_model), and which are real."""
        raise NotImplementedError

    @property
    def position(self) -> Position:
        """The encoding that meets the tokens first."""
        return self.layers[0].attention.position

    @knows_its_arguments
    def forward(
        self, x: Tensor, mask: Tensor | None = None, times: Tensor | ArrayLike | None = None
    ) -> Tensor:
        """Return the logits, (batch, n_classes).

        Parameters
        ----------
        x : (batch, length, n_channels)
        mask : (batch, length) bool, optional
            True marks a real step; what stands at the others, NaN included, is not looked at.
            A mask moves no step: a series that is padded in front stands as far back as it is
            padded. Encodings of the place itself, such as the sinusoid, feel that, those of offsets
            do not. Pad at the end, or give `times=(mask.cumsum(1) - 1).clamp(min=0)`, which count
            from the first real step.
        times : (length,) or (batch, length), optional
            When the steps were taken, in the unit of a regular step: integers or real numbers.
            Without them the first step counts as 0, padded or not. Seconds since 1970 do not fit
            float32, which holds numbers of that size in steps of 128: subtract the first one
            before. Neighbours that rounding may have joined are warned of. By
            default tokens count 0, 1, 2, ...; in training with `random_positions` their places are
            drawn. A class token stands one step before the earliest, and all others one later, as
            without times. What `SelfAttention` and `LanguageModel` call `positions` is made of
            them, one for each token.

        Raises
        ------
        ValueError
            If a shape is wrong, a real value is not finite, the series is too long for the
            encoding, or it cannot serve such times; for times above 2**53 in size, which float64
            rounds, and for masked arrays. Values are not checked under `torch.compile` and
            `torch.func` transforms.
        """
        tokens, mask = self.encode(x, mask, times)
        return self.head(pool(self.pooling, tokens, mask, self.n_tokens))

    def encode(
        self, x: Tensor, mask: Tensor | None = None, times: Tensor | ArrayLike | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Return the tokens behind the last layer, (batch, n_tokens, d_model), and their mask."""
        self._check(x, mask)
        times = None if times is None else self._times(times, x, mask)
        if mask is not None:
            x = x.where(mask.unsqueeze(-1), 0)
        if self.check_input:
            check_finite(x)
        x, mask = self._tokens(x, mask)
        times = self._drawn_times(x) if times is None else times
        places = None if times is None else self._places(times, mask)
        if self.class_token is not None:
            x, mask = _with_class_token(self.class_token, x, mask)
        x = self.dropout(embedded(self.position, x, places, mask))
        bias = self._common_bias(x, places)
        for i, (layer, embeds) in enumerate(zip(self.layers, self.embeds, strict=True)):
            if i and embeds:
                x = embedded(layer.attention.position, x, places, mask)
            x = layer(x, mask, bias, places)
        return self.final_norm(x, mask), mask

    def _times(self, times: Tensor | ArrayLike, x: Tensor, mask: Tensor | None) -> Tensor:
        """Return the times of the tokens, (batch or 1, tokens), from those of the steps of x."""
        return self._token_times(given_steps(times, x, real=mask, name="times").positions, mask)

    def _token_times(self, times: Tensor, mask: Tensor | None) -> Tensor:  # noqa: ARG002
        return times

    def _drawn_times(self, x: Tensor) -> Tensor | None:
        """Return random places of the tokens x, (1, tokens), None where they count."""
        drawn = self._drawn(x.shape[1])
        return None if drawn is None else drawn.to(x.device)[None]

    def _places(self, times: Tensor, mask: Tensor | None) -> Places:
        """Return where the tokens stand, the class token included."""
        name = self._placed
        if self.class_token is not None:
            first = _earliest(times, mask)
            times = torch.cat((first, (times + 1).expand(first.shape[0], -1)), 1)
            name += " (one later behind a class token)"
        steps = Steps(times.shape[1], times.device, given=times, name=name)
        if self.causal:
            warn_of_falling(Steps(steps.length, steps.device, given=times, known=mask, name=name))
        return Places(steps, steps, causal=self.causal)

    def _common_bias(self, x: Tensor, places: Places | None) -> Term | None:
        """Return the bias of all layers and batch rows, if there is one."""
        first = self.position
        if not first.position_only or any(a.attention.position is not first for a in self.layers):
            return None
        return first.term("bias", places or Places.of(x, causal=self.causal), x, x, x)

    def _check(self, x: Tensor, mask: Tensor | None) -> None:
        check_type(x, self._first_map)
        if x.ndim != 3 or x.shape[-1] != self.n_channels:
            raise ValueError(
                f"x must have shape (batch, length, n_channels = {self.n_channels}), "
                f"got {tuple(x.shape)}"
            )
        if x.shape[1] < 1:
            raise ValueError(f"x must have at least one step, got shape {tuple(x.shape)}")
        check_mask(mask, x)


def _with_class_token(
    token: Tensor, x: Tensor, mask: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    if mask is not None:
        mask = nn.functional.pad(mask, (1, 0), value=True)
    return torch.cat((token.to(x.dtype).expand(x.shape[0], 1, -1), x), 1), mask


def _earliest(times: Tensor, mask: Tensor | None) -> Tensor:
    """Return the smallest time of a real token, 0 if there is none: (batch or 1, 1)."""
    if mask is None:
        return times.amin(1, keepdim=True)
    kind = torch.finfo if times.is_floating_point() else torch.iinfo
    earliest = times.masked_fill(~mask, kind(times.dtype).max).amin(1, keepdim=True)
    return earliest.where(mask.any(1, keepdim=True), 0)
