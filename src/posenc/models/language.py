"""A small causal language model: tokens in, the logits of each next token out."""

from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from posenc import _checks
from posenc.attention import DOORS, Cache, Places, Position, embedded
from posenc.attention.cache import all_or_none, check_cache
from posenc.attention.core import head_sizes
from posenc.attention.maps import check_plain
from posenc.attention.masks import Masks, sort_masks
from posenc.attention.places import (
    Steps,
    can_look,
    check_countable,
    given_steps,
    warn_of_falling,
)
from posenc.attention.words import knows_its_arguments
from posenc.models.layer import AttentionOptions, EncoderLayer, Layers, attention_for_layers
from posenc.models.norms import LayerNorm
from posenc.models.packed import check_documents, counted, same_document
from posenc.models.positions import PositionLike, for_layers
from posenc.models.random_places import RandomPlaces, check_random


class LanguageModel(RandomPlaces):
    """A decoder-only transformer (Radford et al. 2019, GPT-2; layers of Vaswani et al. 2017).

    A learned vector for each token, `n_layers` layers of causal attention and a feed-forward
    network, each behind a layer norm, a last norm, and a linear map to the logits. Nothing but
    `position` and the causal mask tells the model where a token stands.

    Parameters
    ----------
    n_tokens : int
        Size of the vocabulary; tokens are the integers from 0 to `n_tokens - 1`.
    d_model, n_heads, n_layers : int
        Width, heads, layers.
    position : str, Position, or callable
        A name (`posenc.encodings.names("series")`), an encoding made for these sizes, or a class or
        function that makes one from (d_model, n_heads, max_length). A list gives one for each
        layer, such as `["rotary", "rotary", "none"]`; an entry with options is a callable, such
        as `functools.partial(Rotary, scaling="yarn", original_length=128)`, or another base for
        some layers, `functools.partial(Rotary, base=1e6)`. With several numbers a token
        (`n_axes`), positions must be given.
    max_length : int
        Tokens for which encodings are made. Those that can go on serve longer inputs.
    d_ff : int, optional
        Width of the feed-forward network, by default `4 * d_model`.
    dropout : float
        On the embedded tokens, in the feed-forward network and on both residual branches.
    position_options : mapping, optional
        Options for the encoding, if `position` is one name, class or function.
    share_position : bool, optional
        Whether all layers share one encoding; by default as its authors have it.
    random_positions : int, optional
        Randomised positions (Ruoss et al. 2023): in training the tokens of a batch stand at
        sorted places that are drawn from 0 to `random_positions - 1` without replacement, one
        draw a batch, so that places of inputs longer than the training ones are known. In
        evaluation they count 0, 1, 2, ...; the authors draw there, too, which is
        `model(tokens, positions=model.draw_positions(length))`. Encodings are then made for as
        many places. At least `max_length`.
    attention_options : mapping, or list of mappings, optional
        `n_kv_heads`, `window`, `d_head` and `scoring` of `posenc.attention.SelfAttention`, for all
        layers or, as a list, for each: `[{"window": 128}, {}]` alternates local and global layers.

    Attributes
    ----------
    layers : nn.ModuleList
        Of `posenc.models.EncoderLayer`, all causal.

    Notes
    -----
    Batches of several lengths are padded at the end with any token: no earlier token sees it, and
    the loss leaves it out. In front, padding would be seen, and would move all tokens, unless
    `padding` marks it: then nobody sees it, and tokens count from the first real one.

    The `positions` of a forward pass are what `TimeSeriesTransformer` and `PatchTransformer` take
    as `times`, one for each step of a series.

    Raises
    ------
    ValueError
        If an argument is out of range, or random positions are asked of an encoding that cannot
        serve positions that are given; the message names it.

    Examples
    --------
    >>> model = LanguageModel(50, 32, 4, 2, position="rotary", max_length=20)
    >>> tokens = torch.randint(50, (2, 20))
    >>> whole = model(tokens)
    >>> whole.shape
    torch.Size([2, 20, 50])
    >>> cache = Cache()
    >>> one_by_one = [model(tokens[:, [t]], cache=cache) for t in range(20)]
    >>> torch.allclose(torch.cat(one_by_one, 1), whole, atol=1e-5)
    True
    """

    def __init__(
        self,
        n_tokens: int,
        d_model: int = 64,
        n_heads: int = 4,
        n_layers: int = 2,
        *,
        position: PositionLike = "rotary",
        max_length: int = 512,
        d_ff: int | None = None,
        dropout: float = 0.0,
        position_options: Mapping[str, Any] | None = None,
        share_position: bool | None = None,
        random_positions: int | None = None,
        attention_options: AttentionOptions | None = None,
    ) -> None:
        super().__init__()
        self.n_tokens = _checks.count("n_tokens", n_tokens, minimum=1)
        self.d_model = _checks.count("d_model", d_model, minimum=1)
        _checks.count("n_layers", n_layers, minimum=1)
        attention = attention_for_layers(attention_options, n_layers)
        d_heads = [
            head_sizes(self.d_model, n_heads, one.get("d_head"))[1] if "d_head" in one else None
            for one in attention
        ]
        self.max_length = _checks.count("max_length", max_length, minimum=1)
        d_ff = 4 * d_model if d_ff is None else _checks.count("d_ff", d_ff, minimum=1)
        _checks.probability("dropout", dropout)
        self.random_positions = check_random(random_positions, "max_length", self.max_length)
        positions, self.embeds = for_layers(
            position,
            d_model,
            n_heads,
            self.random_positions or self.max_length,
            n_layers,
            class_token=False,
            shared=share_position,
            options=position_options,
            d_heads=d_heads,
            several_axes=True,
        )
        self.n_axes = _common_axes(positions)
        self.tokens = nn.Embedding(self.n_tokens, self.d_model)
        self.dropout = nn.Dropout(dropout)
        self.layers = Layers(
            EncoderLayer(
                each, d_ff, dropout, 0.0, "layer", True, causal=True, d_model=d_model, attention=one
            )
            for each, one in zip(positions, attention, strict=True)
        )
        self.final_norm = LayerNorm(d_model)
        self.head = nn.Linear(d_model, self.n_tokens)
        if self.random_positions is not None:
            self._check_served(self.random_positions - 1)

    @property
    def position(self) -> Position:
        """The encoding that meets the tokens first."""
        return self.layers[0].attention.position

    @knows_its_arguments
    def forward(
        self,
        tokens: Tensor,
        *,
        positions: Tensor | ArrayLike | None = None,
        cache: Cache | None = None,
        padding: Tensor | None = None,
        documents: Tensor | None = None,
    ) -> Tensor:
        """Return the logits of the token behind each, (batch, length, n_tokens).

        Parameters
        ----------
        tokens : (batch, length)
            Integers from 0 to `n_tokens - 1`, of type int64 or int32.
        positions : (length,) or (batch, length), optional
            Integers or real numbers, in steps. By default 0, 1, 2, ..., or onward from the last
            one in the cache; in training with `random_positions` they are drawn. The models of
            series call them `times`, one a step, from which those of their tokens are made. What
            `SelfAttention` refuses and warns of, it does here, too. (length, n_axes) or (batch,
            length, n_axes), and never counted, for encodings with several numbers a token.
        cache : Cache, optional
            What the model has seen already, to which the new tokens are added: the logits are
            those of the whole sequence. Nothing is drawn at random then.
        padding : (batch, length) bool, optional
            True marks a real token, False one that nobody sees, in front, behind or between. The
            others stand where they would without it, unless positions are given; so do those that
            come later with a cache. Logits at padded tokens mean nothing.
        documents : (batch, length) integers, optional
            Several documents in a row: tokens beside each other with the same number belong to
            one, see none of another, and count from its beginning, unless positions are given.
            Not with a cache.

        Raises
        ------
        ValueError
            If tokens are no integers of the vocabulary, a shape or type is wrong, or the encoding
            cannot serve what is asked. The cache is then as it was.
        """
        self._check_tokens(tokens)
        if cache is not None:
            check_cache(cache)
        masks = self._masks(tokens, padding, documents, cache)
        x = self.tokens(tokens)
        caches = None if cache is None else cache.for_layers(self, len(self.layers))
        with all_or_none(cache):
            places = self._places(x, positions, caches, padding, documents)
            x = self.dropout(embedded(self.position, x, places, padding))
            for i, (layer, embeds) in enumerate(zip(self.layers, self.embeds, strict=True)):
                if i and embeds:
                    x = embedded(layer.attention.position, x, places, padding)
                own = None if caches is None else caches[i]
                x = layer(x, masks.padding, None, places, own, masks.pairs)
        return self.head(self.final_norm(x))

    draw_positions = RandomPlaces.draw_positions  # has its entry on the reference page here

    def _masks(
        self,
        tokens: Tensor,
        padding: Tensor | None,
        documents: Tensor | None,
        cache: Cache | None,
    ) -> Masks:
        """Return who is real and who sees whom, or raise ValueError if that cannot be served."""
        check_documents(documents, tokens)
        batch, length = tokens.shape
        if documents is None:
            return sort_masks(None, padding, None, batch, length, length)
        if cache is not None:
            raise ValueError("documents must be None with a cache, which goes on with one text")
        for layer in self.layers:
            if layer.attention.position.reads_neighbours:
                raise ValueError(
                    f"documents must be None for {type(layer.attention.position).__name__}, which "
                    "makes its vectors from the tokens around, of other documents too"
                )
        return sort_masks(None, padding, same_document(documents), batch, length, length)

    def _places(
        self,
        x: Tensor,
        positions: Tensor | ArrayLike | None,
        caches: list[Cache] | None,
        padding: Tensor | None,
        documents: Tensor | None,
    ) -> Places:
        """Return where the new tokens stand."""
        if positions is not None:
            steps = given_steps(positions, x, self.n_axes, padding)
            if documents is None:
                warn_of_falling(steps, None if caches is None else caches[0].last)
        else:
            check_countable(self.n_axes)
            steps = self._counted(x, caches, padding, documents)
        return Places(steps, steps, causal=True, cached=caches is not None).for_a_pass()

    def _counted(
        self,
        x: Tensor,
        caches: list[Cache] | None,
        padding: Tensor | None,
        documents: Tensor | None,
    ) -> Steps:
        """Return where the new tokens stand if nobody says so."""
        among_real = counted(padding, documents)
        if caches is not None:
            first = caches[0]
            if among_real is None and not first.padded:
                return first.onward(x)
            if among_real is None:
                among_real = torch.arange(x.shape[1], device=x.device).expand(*x.shape[:2])
            return given_steps(first.behind_real() + among_real, x, 1, padding)
        drawn = self._drawn(x.shape[1])
        if drawn is not None:
            drawn = drawn if among_real is None else drawn.to(x.device)[among_real]
            return given_steps(drawn, x, 1, padding)
        if among_real is not None:
            return given_steps(among_real, x, 1, padding)
        return Steps(x.shape[1], x.device)

    def _check_tokens(self, tokens: Tensor) -> None:
        if isinstance(tokens, Tensor):
            check_plain("tokens", tokens)
        if not isinstance(tokens, Tensor) or tokens.ndim != 2:
            got = tuple(tokens.shape) if isinstance(tokens, Tensor) else type(tokens).__name__
            raise ValueError(f"tokens must be a tensor of shape (batch, length), got {got}")
        if tokens.dtype not in (torch.int64, torch.int32):
            raise ValueError(
                f"tokens must be integers, int64 or int32, got dtype {tokens.dtype}; "
                "tokens.long() converts those of another type of integers"
            )
        if tokens.numel() and can_look(tokens):
            least, most = (int(edge) for edge in tokens.aminmax())
            if least < 0 or most >= self.n_tokens:
                wrong = least if least < 0 else most
                raise ValueError(
                    f"tokens must be from 0 to n_tokens - 1 = {self.n_tokens - 1}, got {wrong}"
                )


def _common_axes(positions: list[Position]) -> int:
    """Return how many numbers make a token's position, or raise ValueError if layers differ."""
    found = {one.n_axes for one in positions if not all(map(one.is_closed, DOORS))}
    if len(found) > 1:
        raise ValueError(
            "position must want as many numbers a token in all layers, got encodings with n_axes = "
            + " and ".join(map(str, sorted(found)))
        )
    return found.pop() if found else 1
