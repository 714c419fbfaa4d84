"""Self-attention that calls the five doors in their order, and knows no encoding by name."""

from typing import Literal

from numpy.typing import ArrayLike
from torch import Tensor, nn

from posenc import _checks
from posenc.attention.cache import Cache, Kept, check_cache
from posenc.attention.core import Attention, embedded, glorot
from posenc.attention.maps import check_dtype, check_plain
from posenc.attention.masks import Masks, sort_masks, tamed, who_sees_whom, without_padding
from posenc.attention.places import (
    Places,
    Steps,
    check_countable,
    given_steps,
    warn_of_falling,
)
from posenc.attention.position import Position
from posenc.attention.scoring import Scoring
from posenc.attention.terms import Term
from posenc.attention.words import knows_its_arguments


class SelfAttention(Attention):
    """Multi-head scaled dot-product self-attention (Vaswani et al. 2017, section 3.2).

    Parameters
    ----------
    d_model : int
        Width of a token.
    n_heads : int
        Number of heads; must divide `d_model`.
    position : Position
        The encoding, made for the same `d_model` and `n_heads`.
    dropout : float
        Probability of dropping an attention weight while training, 0 <= dropout < 1.
    causal : bool or "positions"
        Whether a token sees itself and earlier ones only. With True the order of the sequence
        decides, also where positions are given, and is warned of where these fall. With
        "positions", given positions decide: a token sees those that stand at or before its own.
    n_kv_heads : int, optional
        Heads of keys and values, which groups of neighbouring query heads share (Ainslie et al.
        2023, "GQA"); must divide `n_heads`, which is the default.
    window : int, optional
        A token sees those fewer than this many places away in the order of the sequence, at
        least 1: itself and `window - 1` on each side that it may look to.
    d_head : int, optional
        Width of a head, by default `d_model / n_heads`. With another one, `n_heads` need not
        divide `d_model`, and `position` is made for a width of `n_heads * d_head`; one that enters
        at the door `embed` is made for `d_model` all the same.
    scoring : Scoring, optional
        A scale of one's own, capped scores, sinks, queries that grow with their place.

    Notes
    -----
    Parameters: `2 * (d_model + d_kv) * (d_model + 1)` with d_kv = n_kv_heads * d_head, or
    `4 * d_model * (d_model + 1)` by default, plus those of `position` and `scoring`; with fewer
    heads for keys and values, their maps have fewer rows. The scores are `q k / sqrt(d_head) +
    bias`, unless `scoring` says otherwise. Which kernel computes them is said in
    `posenc.attention.kernels`; weights are formed where `mix` returns a function.

    A forward pass takes `positions`, one a token; models of series, such as
    `posenc.models.TimeSeriesTransformer`, take `times`, one a step, and make positions from them.

    Raises
    ------
    ValueError
        If a size does not divide the other, `dropout` is no probability, or `position` is not a
        `Position` of the same sizes, or cannot serve a causal layer.

    Examples
    --------
    >>> import torch
    >>> from posenc import encodings
    >>> layer = SelfAttention(16, 2, encodings.make("rotary", 16, 2, 9), causal=True)
    >>> x = torch.randn(1, 9, 16)
    >>> layer(x).shape, layer.weights(x).shape
    (torch.Size([1, 9, 16]), torch.Size([1, 2, 9, 9]))
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        position: Position,
        dropout: float = 0.0,
        *,
        causal: bool | Literal["positions"] = False,
        n_kv_heads: int | None = None,
        window: int | None = None,
        d_head: int | None = None,
        scoring: Scoring | None = None,
    ) -> None:
        super().__init__(d_model, n_heads, position, dropout, d_head=d_head, scoring=scoring)
        self._limit(causal, window)
        shared = self.n_heads if n_kv_heads is None else n_kv_heads
        self.n_kv_heads = _checks.divisor("n_kv_heads", shared, "n_heads", self.n_heads)
        self.qkv = nn.Linear(d_model, sum(self._widths()))
        self.out = nn.Linear(self.n_heads * self.d_head, d_model)
        self.reset_parameters()

    def _limit(self, causal: bool | Literal["positions"], window: int | None) -> None:
        """Set what a token may look at."""
        if isinstance(causal, str):
            _checks.choice("causal", causal, ("positions",))
            self.causal = "positions"
        else:
            self.causal = _checks.flag("causal", causal)
        if self.causal:
            self.position.check_causal()
        self.window = None if window is None else _checks.count("window", window, minimum=1)
        if self.causal == "positions" and (window is not None or self.position.n_axes > 1):
            raise ValueError(
                "causal must be True or False in a layer with a window, which goes by order, or "
                'with several numbers a token, got "positions"'
            )

    @property
    def _first_map(self) -> nn.Module:
        """The module that takes the tokens first; they must have its dtype."""
        return self.qkv

    def reset_parameters(self) -> None:
        """Start each of the four maps at Glorot's uniform distribution, offsets and sinks at 0."""
        glorot(self.qkv.weight, self._widths())
        glorot(self.out.weight, [self.d_model])
        for zeros in (self.qkv.bias, self.out.bias, self.sinks):
            if zeros is not None:
                nn.init.zeros_(zeros)

    @knows_its_arguments
    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        padding: Tensor | None = None,
        pairs: Tensor | None = None,
        positions: Tensor | ArrayLike | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """Return the attended tokens, all five doors included.

        Parameters
        ----------
        x : (batch, length, d_model)
            An empty batch or sequence gives an empty output.
        mask : bool, optional
            `padding` or `pairs`, whichever its shape says. A mask (length, length) for a batch of
            as many series could be either and is refused: say which. (Not where `torch.export` or
            `torch.jit.trace` records the code, which comparing sizes would tie to one: there it is
            padding.)
        padding : (batch, length) bool, optional
            True marks a real token, False a padded one that nobody attends to, whatever stands
            there, NaN included. Its own row of the output means nothing. With a cache that is the
            mask of the new tokens; those of earlier ones are kept.
            It moves no token: behind three padded ones the first real token still stands at 3.
            Encodings of the place itself, such as the sinusoid, feel that, those of offsets do not.
            Pad at the end, or give `positions=(mask.cumsum(1) - 1).clamp(min=0)`, which count
            from the first real token.
        pairs : (length, length) bool, optional
            Or with a batch axis in front: True where a query (row) looks at a key (column), as far
            as the key is no padding. With a cache, columns are all tokens that it holds, and the
            new ones. What a query gets that may look at no key at all means nothing.
        positions : (length,) or (batch, length), optional
            Integers or real times in steps, in float32 or float64 also where x has a half type;
            (..., length, n_axes) for encodings that say so. By default 0, 1, 2, ..., or onward
            from the last one in the cache. The models of series make them from their `times`.
            Times since 1970 in seconds do not fit float32, which holds numbers of that size in
            steps of 128: subtract the first one before. Neighbours that rounding may have joined
            are warned of.
        cache : Cache, optional
            Of a causal layer: what it has seen already, to which the new tokens are added. That of
            a layer with a `window` keeps what the window still shows.

        Raises
        ------
        ValueError
            If a shape does not fit, if a cache is given to a layer that looks ahead, or if the
            encoding cannot serve what is asked; for positions above 2**53 in size, which float64
            rounds, and for masked arrays. The message says why.
        """
        masks = self._sorted(x, mask, padding, pairs, cache)
        places = self._places(x, masks.padding, positions, cache, masks.pairs)
        x = embedded(self.position, tamed(x, masks.padding), places, masks.padding)
        if places.plain:
            return self.attend(x, masks.or_none())
        return self.attend(x, masks.or_none(), places=places, cache=cache)

    def attend(
        self,
        x: Tensor,
        mask: Tensor | tuple[Tensor | None, Tensor | None] | None = None,
        bias: Term | Tensor | None = None,
        *,
        padding: Tensor | None = None,
        pairs: Tensor | None = None,
        places: Places | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """Return the attended tokens of an input that went through `embed` already.

        A `bias` that was computed before takes the place of the encoding's own. `places` are those
        of the new tokens. Masks are those of `forward`; as `mask`, a pair (padding, pairs) will do.
        """
        if x.numel() == 0:  # no kernel needs to know how to do nothing
            return self.out(x)
        places = places or Places.of(x, causal=bool(self.causal))
        if cache is not None:
            places = places.with_memory(cache.memory)
        padding, pairs = self._sorted(x, mask, padding, pairs, cache)
        q, k, v = self._project(x, places)
        v = self._carried(v, places)
        if padding is not None:
            x, k, v = (without_padding(a, padding) for a in (x, k, v))
        limited = pairs is not None or bool(self.causal) or self.window is not None
        if cache is None:
            places.tokens = x
            seen = self._seen(places, k, padding, pairs)
            return self._attended(x, q, k, v, seen, places, bias, limited=limited)
        tokens = self.position.kept(x) if self.position.keeps_tokens else None
        kept = cache.joined(Kept(k, v, places.of_keys, padding, tokens))
        k, v, steps, padding, tokens = kept
        places = places.over(steps, tokens)
        seen = self._seen(places, k, padding, pairs, cache)
        out = self._attended(x, q, k, v, seen, places, bias, limited=limited)
        cache.keep(self, kept)
        return out

    @knows_its_arguments
    def weights(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        *,
        padding: Tensor | None = None,
        pairs: Tensor | None = None,
        positions: Tensor | ArrayLike | None = None,
    ) -> Tensor:
        """Return who sees whom: (batch, heads, length, length), rows are queries.

        These are the softmax weights plus the tensor of `mix`, for figures and tests; the forward
        pass does not form them unless it must. A row of a query that may look at nobody is even,
        whatever it gets.
        """
        padding, pairs = self._sorted(x, mask, padding, pairs)
        places = self._places(x, padding, positions, None, pairs)
        if x.numel() == 0:
            return x.new_zeros(len(x), self.n_heads, x.shape[1], x.shape[1])
        x = embedded(self.position, tamed(x, padding), places, padding)
        q, k, v = self._project(x, places)
        x, k, v = (without_padding(a, padding) for a in (x, k, v))
        places.tokens = x
        return self._seen_weights(x, q, k, v, self._seen(places, k, padding, pairs), places)

    def check_input(self, x: Tensor, mask: Tensor | None) -> None:
        """Raise ValueError unless `x` and `mask` have the shapes that `forward` wants."""
        self._sorted(x, mask)

    def _sorted(
        self,
        x: Tensor,
        mask: Tensor | tuple[Tensor | None, Tensor | None] | None,
        padding: Tensor | None = None,
        pairs: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Masks:
        """Return padding and pairs, or raise ValueError if a shape does not fit."""
        if not isinstance(x, Tensor) or not x.is_floating_point():
            kind = x.dtype if isinstance(x, Tensor) else type(x).__name__
            raise ValueError(f"x must be a tensor of floating-point numbers, got {kind}")
        check_plain("x", x)
        if x.ndim != 3 or x.shape[-1] != self.d_model:
            raise ValueError(
                f"x must have shape (batch, length, d_model = {self.d_model}), got {tuple(x.shape)}"
            )
        check_dtype("x", x, self._first_map)
        if cache is not None:
            self._check_cache(cache, x)
        if mask is padding is pairs is None:
            return Masks(None)
        before = 0 if cache is None else cache.length
        batch, length = x.shape[:2]
        if cache is not None:
            mask, pairs = (cache.among_kept(one, length) for one in (mask, pairs))
        return sort_masks(mask, padding, pairs, batch, length, length, before)

    def _check_cache(self, cache: Cache, x: Tensor) -> None:
        check_cache(cache)
        if not self.causal:
            raise ValueError(
                "cache must be None in a layer that looks ahead, as new tokens change what earlier "
                "ones see; make the layer with causal=True"
            )
        cache.check(self, x)

    def _places(
        self,
        x: Tensor,
        padding: Tensor | None,
        positions: Tensor | ArrayLike | None,
        cache: Cache | None = None,
        pairs: Tensor | None = None,
    ) -> Places:
        """Return where new tokens stand, or raise ValueError if they cannot."""
        n_axes = self.position.n_axes
        if positions is not None:
            steps = given_steps(positions, x, n_axes, padding)
            if self.causal is True and pairs is None:
                warn_of_falling(steps, None if cache is None else cache.last)
        else:
            check_countable(n_axes)
            steps = Steps(x.shape[1], x.device) if cache is None else cache.onward(x)
        causal, cached = bool(self.causal), cache is not None
        return Places(steps, steps, causal=causal, cached=cached).for_a_pass()

    def _seen(
        self,
        places: Places,
        k: Tensor,
        padding: Tensor | None,
        pairs: Tensor | None,
        cache: Cache | None = None,
    ) -> Tensor | None:
        n_queries, n_keys, device = places.of_queries.length, k.shape[2], k.device
        by_position = self.causal == "positions" and not places.counted
        if by_position:
            earlier = places.offset() <= 0
            pairs = earlier if pairs is None else pairs & earlier
        seen = who_sees_whom(
            padding,
            pairs,
            n_queries,
            n_keys,
            device,
            causal=bool(self.causal) and not by_position,
            window=self.window,
            order=None if cache is None else cache.order(n_keys, device),
        )
        if cache is None or self.window is not None:  # the cache has the layer's window
            return seen
        sight = cache.sight(n_queries, n_keys, device)
        return seen if sight is None else sight if seen is None else seen & sight

    def _project(self, x: Tensor, places: Places | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, the first two behind the door `rotate`."""
        q, k, v = self._in_heads(x)
        return *self._rotated(q, k, places or Places.of(x, causal=bool(self.causal))), v

    def _in_heads(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, (batch, heads, length, d_head) each."""
        if self.n_kv_heads == self.n_heads:
            qkv = self.qkv(x).unflatten(-1, (3, self.n_heads, self.d_head))
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            return q, k, v
        parts = self.qkv(x).split(self._widths(), -1)
        q, k, v = (a.unflatten(-1, (-1, self.d_head)).transpose(1, 2) for a in parts)
        return q, k, v

    def _widths(self) -> list[int]:
        """Return how many rows of `qkv` belong to queries, keys and values."""
        return [n * self.d_head for n in (self.n_heads, self.n_kv_heads, self.n_kv_heads)]
