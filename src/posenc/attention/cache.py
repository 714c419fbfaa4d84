"""What a causal layer remembers of the tokens that it has seen."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention.places import Steps, can_look

if TYPE_CHECKING:
    from posenc.attention.layer import SelfAttention


_SMALLEST = 2  # window of a cache, of which one token stays and says where the next one stands


class Kept(NamedTuple):
    """Keys and values of tokens, behind `rotate` and `carry`, and where these tokens stand.

    Parameters
    ----------
    keys, values : Tensor of shape (batch, kv heads, length, width)
    steps : Steps
        Where the tokens stand.
    padding : bool Tensor of shape (batch, length), or None
        True = real token; None if all tokens are real.
    tokens : Tensor of shape (batch, length, d_model) or another width, or None
        What `Position.kept` made of that from which the keys were made; None if the encoding does
        not look at them.

    Examples
    --------
    >>> keys = torch.zeros(1, 2, 3, 4)
    >>> kept = Kept(keys, keys, Steps(3, keys.device), None, None)
    >>> kept.steps.positions.tolist()
    [[0, 1, 2]]
    """

    keys: Tensor
    values: Tensor
    steps: Steps
    padding: Tensor | None
    tokens: Tensor | None


def check_cache(cache: object) -> None:
    """Raise ValueError unless this is a `Cache`."""
    if not isinstance(cache, Cache):
        raise ValueError(
            f"cache must be a posenc.attention.Cache or None, got {cache!r:.80}; Cache() makes one"
        )


class Cache:
    """Keys and values of the tokens that a causal layer of self-attention has seen.

    Feed a layer one token, or a few, at a time with the same cache, and the outputs are those of
    the whole sequence. A cache belongs to the first layer that uses it, so that a model with
    several layers has one for each; given to a `posenc.models.LanguageModel`, it holds these.
    New positions go on from the last one unless they are given; a padded token is one step, as it
    is where tokens are counted. Keys were made with the parameters of their time, and so is what an
    encoding keeps in `memory`: after a training step, start anew. A copy, by `copy` or `deepcopy`,
    goes on apart from the first with the same layer or model.

    With a `window`, memory stays small however many tokens come: each token sees the last ones, and
    the first ones of all if they are kept, whatever the layer would let it see besides, and what
    nobody can see any more is dropped. Outputs are those of a mask of pairs that says the same,
    however the input was cut. All tokens keep the positions that they had, and padding takes room
    as tokens do. The cache of a layer with a window of its own takes that window.

    Parameters
    ----------
    window : int, optional
        A token sees those fewer than this many places back, itself included, at least 2. By
        default that of the layer; one that is not the layer's is refused.
    keep_first : int
        Tokens at the beginning that all later ones go on to see; 0 without a window, and for a
        layer with one, as it looks at its window only.

    Notes
    -----
    To keep the first tokens is the idea of Xiao et al. (2023), StreamingLLM, who count positions
    within the cache, while here they stay those of the text.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> import torch
    >>> from posenc import attention, encodings
    >>> layer = attention.SelfAttention(16, 2, encodings.make("rotary", 16, 2, 9), causal=True)
    >>> x = torch.randn(1, 9, 16)
    >>> cache = attention.Cache()
    >>> steps = [layer(x[:, [t]], cache=cache) for t in range(9)]
    >>> torch.allclose(torch.cat(steps, 1), layer(x), atol=1e-5)
    True
    """

    def __init__(self, *, window: int | None = None, keep_first: int = 0) -> None:
        self.window = None if window is None else _checks.count("window", window, minimum=_SMALLEST)
        self.keep_first = _checks.count("keep_first", keep_first)
        if self.keep_first and self.window is None:
            raise ValueError(
                f"keep_first must be 0 without a window, as all tokens are kept, got {keep_first}"
            )
        self.memory: dict[str, Tensor] = {}
        self._n_dropped = 0
        self._behind_dropped: Tensor | int = 0  # where rows of which all is padding go on
        self._layer: SelfAttention | None = None
        self._kept: Kept | None = None
        self._rooms: dict[str, _Room] = {}
        self._model: nn.Module | None = None
        self._parts: list[Cache] = []

    @property
    def length(self) -> int:
        """Number of tokens that are kept."""
        if self._parts:  # a layer with a window keeps fewer
            return max(part.length for part in self._parts)
        return 0 if self._kept is None else self._kept.steps.length

    def __copy__(self) -> "Cache":
        return self._copied(lambda kept: kept, lambda owner: owner)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Cache":
        """Return a cache with tensors of its own, which serves the same layer or model.

        Or its copy, if that was copied before in the same call.
        """
        copied = memo[id(self)] = self._copied(_cloned, lambda owner: memo.get(id(owner), owner))
        return copied

    def _copied(self, of_kept: Callable[[Kept], Kept], owner: Callable[[Any], Any]) -> "Cache":
        """Return a cache that goes on apart from this one; what is kept is never changed."""
        other = self._empty()
        other._n_dropped, other._behind_dropped = self._n_dropped, self._behind_dropped
        other.memory = dict(self.memory)
        other._layer, other._model = owner(self._layer), owner(self._model)
        other._kept = None if self._kept is None else of_kept(self._kept)
        other._parts = [part._copied(of_kept, owner) for part in self._parts]
        return other

    def _empty(self) -> "Cache":
        """Return a cache with the same settings that holds nothing."""
        return Cache(window=self.window, keep_first=self.keep_first)

    def crop(self, length: int) -> None:
        """Forget all but the first tokens, as if those behind them had never been seen.

        Parameters
        ----------
        length : int
            How many tokens stay, at most as many as there are.

        Raises
        ------
        ValueError
            If there are not so many, or if a window has dropped what the last of them saw.

        Examples
        --------
        >>> from posenc import attention, encodings
        >>> layer = attention.SelfAttention(16, 2, encodings.make("rotary", 16, 2, 9), causal=True)
        >>> cache = attention.Cache()
        >>> _ = layer(torch.randn(1, 5, 16), cache=cache)
        >>> cache.crop(3)
        >>> cache.length
        3
        """
        if _checks.count("length", length) > self.length:
            raise ValueError(f"length must be at most the cache's, {self.length}, got {length}")
        if length == self.length:
            return
        if any(one._n_dropped for one in self._each()):
            raise ValueError(
                f"length must be the cache's, {self.length}, where a window has dropped tokens, "
                f"which the last ones saw, got {length}"
            )
        for one in self._each():
            if one._kept is not None:
                one._kept = None if length == 0 else _part(one._kept, 0, length)

    def reorder(self, rows: Tensor | Sequence[int]) -> None:
        """Go on with these rows of the batch, in this order, as a search with beams does.

        Parameters
        ----------
        rows : (n,) integers
            From 0 to batch - 1; a row may be named several times or not at all, and `n` is the new
            size of the batch.

        Raises
        ------
        ValueError
            If there is no such row, or these are no integers. The cache is then as it was.

        Examples
        --------
        >>> from posenc import attention, encodings
        >>> layer = attention.SelfAttention(16, 2, encodings.make("rotary", 16, 2, 9), causal=True)
        >>> cache = attention.Cache()
        >>> _ = layer(torch.randn(1, 5, 16), cache=cache)
        >>> cache.reorder([0, 0, 0])  # three beams begin with what one text said
        >>> layer(torch.randn(3, 1, 16), cache=cache).shape
        torch.Size([3, 1, 16])
        """
        for one in self._each():
            if one._kept is not None:
                chosen = _checked_rows(rows, one._kept.keys)
                one._kept = _of_rows(one._kept, chosen)
                if isinstance(one._behind_dropped, Tensor):
                    one._behind_dropped = one._behind_dropped[chosen]

    def _each(self) -> "list[Cache]":
        """Return the caches of all layers, or this one."""
        return self._parts or [self]

    def check(self, layer: "SelfAttention", x: Tensor) -> None:
        """Raise ValueError unless this is the layer's cache, and of as many series."""
        if layer.window is not None:
            self._check_window(layer.window)
        if self.window is not None and layer.causal == "positions":
            raise ValueError(
                "window of the cache must be None for a layer that goes by positions, got "
                f"{self.window}, which goes by order"
            )
        if self.keep_first and layer.position.keeps_tokens:
            raise ValueError(
                f"keep_first must be 0 for {type(layer.position).__name__}, which looks at the "
                f"tokens between, got {self.keep_first}"
            )
        if self._model is not None or (self._layer is not None and self._layer is not layer):
            raise ValueError("cache must serve one layer only, got that of another; make one each")
        batch = x.shape[0] if self._kept is None else self._kept.keys.shape[0]
        if x.shape[0] != batch:
            raise ValueError(
                f"x must have batch = {batch} rows as the cache has, got {x.shape[0]}; "
                "other series need a new Cache"
            )

    def _check_window(self, window: int) -> None:
        """Raise ValueError unless the cache lets a token see what the layer does."""
        if self.window not in (None, max(window, _SMALLEST)):
            raise ValueError(
                f"window of the cache must be None or that of the layer, {window}, got "
                f"{self.window}; Cache() takes the layer's"
            )
        if self.keep_first:
            raise ValueError(
                f"keep_first must be 0 for a layer with window = {window}, which does not look at "
                f"the first tokens from behind it, got {self.keep_first}"
            )

    def for_layers(self, model: nn.Module, n_layers: int) -> "list[Cache]":
        """Return the caches of a model's layers, the same ones at every call.

        Raises
        ------
        ValueError
            If this is the cache of a single layer or of another model.
        """
        if self._layer is not None or self._model not in (None, model):
            raise ValueError(
                "cache must serve one model only, got that of a layer or of another model; make "
                "one each"
            )
        if self._model is None:
            self._model, self._parts = model, [self._empty() for _ in range(n_layers)]
        return self._parts

    def onward(self, x: Tensor) -> Steps:
        """Return where new tokens (batch, length, d_model) stand if nobody says so."""
        steps = Steps(0, x.device) if self._kept is None else self._kept.steps
        return steps.onward(x.shape[1])

    def last(self) -> Tensor | None:
        """Return the last position of a real token that is kept, (batch or 1, 1)."""
        if self._kept is None or not self._kept.steps.length:
            return None
        steps, padding = self._kept.steps, self._kept.padding
        if padding is None:
            return steps.positions[:, -1:]
        known = Steps(steps.length, steps.device, given=steps.positions, known=padding)
        return known.highest()[:, -1:]

    def among_kept(self, pairs: Any, n_new: int) -> Any:
        """Return pairs of queries and kept tokens, of pairs with all tokens so far.

        Those are (..., queries, keys), the last `n_new` keys being the new tokens. Whatever else a
        mask is comes back as it was.
        """
        n_keys = self._n_dropped + self.length + n_new
        if not self._n_dropped or not isinstance(pairs, Tensor) or pairs.shape[-1:] != (n_keys,):
            return pairs
        first = pairs[..., : self.keep_first]
        return torch.cat((first, pairs[..., self.keep_first + self._n_dropped :]), dim=-1)

    @property
    def padded(self) -> bool:
        """Whether a mask came with tokens that are kept."""
        return self._kept is not None and self._kept.padding is not None

    def behind_real(self) -> Tensor | int:
        """Return the place behind the last real token of each row, (batch or 1, 1), or 0."""
        return 0 if self._kept is None else self._behind(self._kept)

    def _behind(self, kept: Kept) -> Tensor:
        """Return the same of these tokens, of rows without a real one that before them."""
        steps, padding = kept.steps, kept.padding
        if padding is None:
            return steps.onward(1).positions
        places = steps.positions.expand(len(padding), -1)
        last = torch.arange(steps.length, device=padding.device).where(padding, -1).amax(1, True)
        return (places.gather(1, last.clamp(min=0)) + 1).where(last >= 0, self._behind_dropped)

    def joined(self, new: Kept) -> Kept:
        """Return what is kept with new tokens behind it; `keep` stores it."""
        old = self._kept
        if old is None:
            return new
        tokens, in_place = None, self._writes_behind(new.keys)
        if old.tokens is not None and new.tokens is not None:
            tokens = self._appended("tokens", old.tokens, new.tokens, 1, in_place)
        return Kept(
            self._appended("keys", old.keys, new.keys, 2, in_place),
            self._appended("values", old.values, new.values, 2, in_place),
            old.steps.joined(new.steps),
            _joined_padding(old, new),
            tokens,
        )

    def _writes_behind(self, new: Tensor) -> bool:
        """Return whether new tokens may be written where there is room behind those before.

        A window takes another part of the room each time; what a gradient may need stays as it is.
        """
        return self.window is None and not torch.is_grad_enabled() and can_look(new)

    def _appended(self, name: str, old: Tensor, new: Tensor, axis: int, in_place: bool) -> Tensor:
        """Return both behind each other along an axis, in place or as a copy."""
        if not in_place or old.dtype != new.dtype:
            return torch.cat((old, new), axis)
        room = self._rooms.get(name)
        if room is None or not room.holds(old, new):
            room = _Room(old, new, axis)
            self._rooms = {**self._rooms, name: room}  # a copy of this cache keeps its own
        return room.add(new)

    def keep(self, layer: "SelfAttention", kept: Kept) -> None:
        """Store what a layer has seen, as far as later tokens may see it."""
        if layer.window is not None:
            self.window = max(layer.window, _SMALLEST)
        n = kept.steps.length
        last = n if self.window is None else min(n, self.window - 1)
        first = min(self.keep_first, n - last)
        if first + last < n:
            if kept.padding is not None:
                self._behind_dropped = self._behind(kept)
            self._n_dropped += n - first - last
            kept = _without(kept, first, n - last)
        self._layer, self._kept = layer, kept

    def order(self, n_keys: int, device: torch.device) -> Tensor | None:
        """Return how many tokens came before each key, (n_keys,), None if none was dropped."""
        if not self._n_dropped:
            return None
        step = torch.arange(n_keys, device=device)
        return step + self._n_dropped * (step >= self.keep_first)

    def sight(self, n_queries: int, n_keys: int, device: torch.device) -> Tensor | None:
        """Return what the window leaves, (1, 1, n_queries, n_keys), None if that is everything."""
        if self.window is None or n_queries == 1:  # what one query cannot see was dropped
            return None
        order = self.order(n_keys, device)
        step = torch.arange(n_keys, device=device) if order is None else order
        near = step[n_keys - n_queries :, None] - step < self.window
        return (near | (step < self.keep_first))[None, None]


class _Room:
    """A tensor with room for more tokens than it holds, twice as many when it was made.

    Without it each new token would copy all that came before.
    """

    def __init__(self, old: Tensor, new: Tensor, axis: int) -> None:
        self.axis, self.filled = axis, old.shape[axis]
        shape = list(old.shape)
        shape[axis] = 2 * (self.filled + new.shape[axis])
        self.whole = old.new_empty(shape)
        self.all = self._slot(0, self.filled).copy_(old)

    def holds(self, old: Tensor, new: Tensor) -> bool:
        """Return whether `old` is all that stands here, and `new` fits behind it."""
        # another cache that was copied from this one may have written behind it
        mine = old is self.all
        frozen = self.whole.is_inference() and not torch.is_inference_mode_enabled()
        fits = self.filled + new.shape[self.axis] <= self.whole.shape[self.axis]
        return mine and fits and not frozen

    def add(self, new: Tensor) -> Tensor:
        """Write `new` behind what stands here; return all of it."""
        n = self.filled
        self.filled = n + new.shape[self.axis]
        self._slot(n, new.shape[self.axis]).copy_(new)
        self.all = self._slot(0, self.filled)
        return self.all

    def _slot(self, start: int, length: int) -> Tensor:
        return self.whole.narrow(self.axis, start, length)


def _part(kept: Kept, start: int, stop: int) -> Kept:
    """Return some of the tokens that are kept."""
    padding, tokens = (None if a is None else a[:, start:stop] for a in (kept.padding, kept.tokens))
    keys, values = (a[:, :, start:stop] for a in (kept.keys, kept.values))
    return Kept(keys, values, kept.steps.part(start, stop), padding, tokens)


def _without(kept: Kept, start: int, stop: int) -> Kept:
    """Return the tokens that are kept before one and from another one on."""
    end = _part(kept, stop, kept.steps.length)
    if not start:
        return end
    begin = _part(kept, 0, start)
    padding, tokens = (
        None if one is None or other is None else torch.cat((one, other), 1)
        for one, other in ((begin.padding, end.padding), (begin.tokens, end.tokens))
    )
    keys, values = (
        torch.cat(both, 2) for both in ((begin.keys, end.keys), (begin.values, end.values))
    )
    return Kept(keys, values, begin.steps.joined(end.steps), padding, tokens)


def _of_rows(kept: Kept, rows: Tensor) -> Kept:
    """Return what is kept of these rows of the batch."""
    padding, tokens = (None if a is None else a[rows] for a in (kept.padding, kept.tokens))
    return Kept(kept.keys[rows], kept.values[rows], kept.steps.of_rows(rows), padding, tokens)


def _checked_rows(rows: Tensor | Sequence[int], keys: Tensor) -> Tensor:
    """Return rows of the batch as integers, or raise ValueError unless they are some."""
    found = torch.as_tensor(rows, device=keys.device)
    if found.ndim != 1 or found.is_floating_point() or found.dtype == torch.bool or not len(found):
        raise ValueError(f"rows must be integers of shape (n,), at least one, got {rows!r:.80}")
    if can_look(found) and (found.min() < 0 or found.max() >= len(keys)):
        raise ValueError(f"rows must be from 0 to batch - 1 = {len(keys) - 1}, got {rows!r:.80}")
    return found


def _cloned(kept: Kept) -> Kept:
    """Return the same with tensors of its own; where tokens stand is never changed in place."""
    padding, tokens = (None if a is None else a.clone() for a in (kept.padding, kept.tokens))
    return Kept(kept.keys.clone(), kept.values.clone(), kept.steps, padding, tokens)


@contextmanager
def all_or_none(cache: "Cache | None") -> Iterator[None]:
    """Leave a model's cache as it was where the block raises.

    No layer's part is then ahead of the others, and an empty cache may serve another model.
    """
    parts = [] if cache is None else cache._parts
    before = [(one._layer, one._kept, one._n_dropped, one._behind_dropped) for one in parts]
    try:
        yield
    except BaseException:
        for one, state in zip(parts, before, strict=True):
            one._layer, one._kept, one._n_dropped, one._behind_dropped = state
        if cache is not None and all(kept is None for _, kept, *_ in before):
            cache._model, cache._parts = None, []
        raise


def _joined_padding(old: Kept, new: Kept) -> Tensor | None:
    """Return the padding of both; tokens without a mask are real."""
    if old.padding is None and new.padding is None:
        return None
    both = [
        one.values.new_ones(one.values.shape[0], one.values.shape[2], dtype=torch.bool)
        if one.padding is None
        else one.padding
        for one in (old, new)
    ]
    return torch.cat(both, 1)
