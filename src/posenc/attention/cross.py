"""Attention from one sequence to another, through the same five doors."""

from numpy.typing import ArrayLike
from torch import Tensor, nn

from posenc.attention.core import Attention, embedded, glorot
from posenc.attention.maps import check_dtype, check_plain
from posenc.attention.masks import sort_masks, tamed, who_sees_whom, without_padding
from posenc.attention.places import Places, Steps, check_countable, given_steps
from posenc.attention.position import Position
from posenc.attention.words import knows_its_arguments


class CrossAttention(Attention):
    """Multi-head attention whose keys and values come from a second sequence, the context.

    That is the middle layer of a decoder (Vaswani et al. 2017, section 3.2.3). Both sequences go
    through the door `embed`, each with its own positions; the other doors see the positions of
    queries and keys.

    Parameters
    ----------
    d_model, n_heads, position, dropout
        As for `SelfAttention`.

    Notes
    -----
    Parameters: `4 * d_model * (d_model + 1)`, plus those of `position`.

    Raises
    ------
    ValueError
        As for `SelfAttention`.

    Examples
    --------
    >>> import torch
    >>> from posenc import encodings
    >>> layer = CrossAttention(16, 2, encodings.make("alibi", 16, 2, 9))
    >>> x, context = torch.randn(1, 3, 16), torch.randn(1, 9, 16)
    >>> layer(x, context, positions=[0.5, 4.0, 8.0]).shape
    torch.Size([1, 3, 16])
    """

    def __init__(
        self, d_model: int, n_heads: int, position: Position, dropout: float = 0.0
    ) -> None:
        super().__init__(d_model, n_heads, position, dropout)
        self.query = nn.Linear(d_model, d_model)
        self.key_value = nn.Linear(d_model, 2 * d_model)
        self.out = nn.Linear(d_model, d_model)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start each of the four maps at Glorot's uniform distribution, with zero offsets."""
        for layer in (self.query, self.key_value, self.out):
            glorot(layer.weight, [self.d_model] * (layer.out_features // self.d_model))
            nn.init.zeros_(layer.bias)

    @knows_its_arguments
    def forward(
        self,
        x: Tensor,
        context: Tensor,
        mask: Tensor | None = None,
        *,
        padding: Tensor | None = None,
        pairs: Tensor | None = None,
        positions: Tensor | ArrayLike | None = None,
        context_positions: Tensor | ArrayLike | None = None,
    ) -> Tensor:
        """Return what the tokens x gather from the context, (batch, length, d_model).

        Parameters
        ----------
        x : (batch, length, d_model)
            An empty batch or sequence gives an empty output.
        context : (batch, n_context, d_model), n_context at least 1
        mask : bool, optional
            `padding` or `pairs`, whichever its shape says. A mask (length, n_context) for a batch
            of `length` series could be either and is refused: say which.
        padding : (batch, n_context) bool, optional
            True marks a real token of the context, False a padded one, whatever stands there. It
            moves no token, as `SelfAttention` says: for a context that is padded in front, give
            `context_positions=(mask.cumsum(1) - 1).clamp(min=0)`.
        pairs : (length, n_context) bool, optional
            Or with a batch axis in front: True where a token of x looks at one of the context.
        positions, context_positions : (length,) or (batch, length), optional
            As for `SelfAttention`, those of x and of the context. Both are 0, 1, 2, ... by default.

        Raises
        ------
        ValueError
            If a shape does not fit, or the encoding cannot serve positions or cross-attention.
        """
        if isinstance(x, Tensor) and x.numel() == 0:
            return self.out(x)
        x, q, k, v, seen, places, limited = self._prepared(
            x, context, (mask, padding, pairs), positions, context_positions
        )
        return self._attended(x, q, k, v, seen, places, limited=limited)

    @knows_its_arguments
    def weights(
        self,
        x: Tensor,
        context: Tensor,
        mask: Tensor | None = None,
        *,
        padding: Tensor | None = None,
        pairs: Tensor | None = None,
        positions: Tensor | ArrayLike | None = None,
        context_positions: Tensor | ArrayLike | None = None,
    ) -> Tensor:
        """Return who sees whom: (batch, heads, length, n_context), rows are queries.

        As for `SelfAttention`.
        """
        if isinstance(x, Tensor) and x.numel() == 0:
            return x.new_zeros(len(x), self.n_heads, x.shape[1], context.shape[1])
        x, q, k, v, seen, places, _ = self._prepared(
            x, context, (mask, padding, pairs), positions, context_positions
        )
        return self._seen_weights(x, q, k, v, seen, places)

    def _prepared(
        self,
        x: Tensor,
        context: Tensor,
        masks: tuple[Tensor | None, Tensor | None, Tensor | None],
        positions: Tensor | ArrayLike | None,
        context_positions: Tensor | ArrayLike | None,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None, Places, bool]:
        """Return tokens, queries, keys, values, who sees whom, places, whether beyond padding."""
        self._check_sizes(x, context)
        batch, length = x.shape[:2]
        padding, pairs = sort_masks(*masks, batch, length, context.shape[1], keys="n_context")
        of_x = self._steps("positions", positions, x)
        of_context = self._steps("context_positions", context_positions, context, padding)
        x = embedded(self.position, x, Places(of_x, of_x))
        there = Places(of_context, of_context)
        context = embedded(self.position, tamed(context, padding), there, padding)
        places = Places(of_x, of_context, crossed=True)
        k, v = (self._in_heads(a) for a in self.key_value(context).chunk(2, -1))
        q, k = self._rotated(self._in_heads(self.query(x)), k, places)
        v = self._carried(v, places)
        context, k, v = (without_padding(a, padding) for a in (context, k, v))
        seen = who_sees_whom(padding, pairs, x.shape[1], context.shape[1], x.device)
        return x, q, k, v, seen, places.over(of_context, context), pairs is not None

    def _check_sizes(self, x: Tensor, context: Tensor) -> None:
        mapped = (("x", x, self.query), ("context", context, self.key_value))
        for name, tokens, layer in mapped:
            if not isinstance(tokens, Tensor) or not tokens.is_floating_point():
                kind = tokens.dtype if isinstance(tokens, Tensor) else type(tokens).__name__
                raise ValueError(f"{name} must be a tensor of floating-point numbers, got {kind}")
            check_plain(name, tokens)
            if tokens.ndim != 3 or tokens.shape[-1] != self.d_model:
                raise ValueError(
                    f"{name} must have shape (batch, length, d_model = {self.d_model}), "
                    f"got {tuple(tokens.shape)}"
                )
            check_dtype(name, tokens, layer)
        if context.shape[1] == 0:
            raise ValueError("context must have at least one token, got an empty one")
        if x.shape[0] != context.shape[0]:
            raise ValueError(
                f"context must have batch = {x.shape[0]} rows as x has, got {context.shape[0]}"
            )

    def _steps(
        self,
        name: str,
        positions: Tensor | ArrayLike | None,
        tokens: Tensor,
        real: Tensor | None = None,
    ) -> Steps:
        n_axes = self.position.n_axes
        if positions is not None:
            return given_steps(positions, tokens, n_axes, real, name=name)
        check_countable(n_axes, name)
        return Steps(tokens.shape[1], tokens.device)

    def _in_heads(self, x: Tensor) -> Tensor:
        """(batch, length, d_model) to (batch, heads, length, d_head)."""
        return x.unflatten(-1, (self.n_heads, self.d_head)).transpose(1, 2)
