"""What self-attention and cross-attention share: everything behind the projections."""

from collections.abc import Callable, Iterable
from typing import Literal

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention.kernels import attention, softmax_weights
from posenc.attention.places import Places, can_look
from posenc.attention.position import DOORS, Position, leave_meta
from posenc.attention.scoring import Scoring, check_scoring
from posenc.attention.terms import Term


class Attention(nn.Module):
    """Multi-head scaled dot-product attention whose queries and keys are there already.

    It calls the doors of `position` in their order and knows no encoding by name. Derived classes
    hold the projections: `SelfAttention` and `CrossAttention`.
    """

    causal: bool | Literal["positions"] = False
    out: nn.Linear
    sinks: nn.Parameter | None
    __call__: Callable[..., Tensor]

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        position: Position,
        dropout: float,
        *,
        d_head: int | None = None,
        scoring: Scoring | None = None,
    ) -> None:
        super().__init__()
        self.d_model = _checks.count("d_model", d_model, minimum=1)
        self.n_heads, self.d_head = head_sizes(self.d_model, n_heads, d_head)
        self.dropout = _checks.probability("dropout", dropout)
        self.position = check_position(position, self.d_model, self.n_heads, self.d_head)
        self.scoring = check_scoring(scoring, position.n_axes)
        self.scale = self.d_head**-0.5 if self.scoring.scale is None else self.scoring.scale
        sinks = nn.Parameter(torch.zeros(self.n_heads)) if self.scoring.sinks else None
        self.register_parameter("sinks", sinks)
        self.register_load_state_dict_post_hook(leave_meta)

    def _attended(
        self,
        x: Tensor,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        seen: Tensor | None,
        places: Places,
        bias: Term | Tensor | None = None,
        *,
        limited: bool = False,
    ) -> Tensor:
        """Return the tokens that queries x, q make of keys and values, (batch, n_queries, d_model).

        `seen` is that of `who_sees_whom`, and `limited` says whether it holds more than padding. A
        `bias` that was computed before takes the place of the encoding's own.
        """
        k, v = self._in_all_heads(k, v)
        position = self.position  # to look it up takes longer
        if bias is None:
            bias = position.term("bias", places, x, *self._for_doors(q, k))
        elif isinstance(bias, Tensor):
            bias = Term.of(bias, "bias")
        heads = attention(
            q,
            k,
            v,
            bias,
            position.term("mix", places, x),
            seen,
            limited=limited,
            dropout=self.dropout if self.training else 0.0,
            scale=self.scale,
            softcap=self.scoring.softcap,
            sinks=self.sinks if self.scoring.sinks else None,
        )
        heads = self._delivered(heads, places)
        return self.out(heads.transpose(1, 2).flatten(2))

    def _carried(self, v: Tensor, places: Places) -> Tensor:
        """Return values behind the door `carry`."""
        if self.position.is_closed("carry"):
            return v
        carried = self.position.through("carry", places, v)
        self._check_message("carry", v, carried, (v.shape[1], self.n_heads))
        return carried

    def _delivered(self, heads: Tensor, places: Places) -> Tensor:
        """Return sums of values behind the door `deliver`."""
        if self.position.is_closed("deliver"):
            return heads
        delivered = self.position.through("deliver", places, heads)
        self._check_message("deliver", heads, delivered, (self.n_heads,))
        return delivered

    def _check_message(self, door: str, old: Tensor, new: Tensor, heads: tuple[int, ...]) -> None:
        """Raise ValueError unless a wing of the message left the shape as it was, heads apart."""
        if torch.compiler.is_compiling():
            return
        shapes = [(len(old), n, *old.shape[2:]) for n in heads]
        if not isinstance(new, Tensor) or new.shape not in shapes:
            got = tuple(new.shape) if isinstance(new, Tensor) else type(new).__name__
            raise ValueError(
                f"{type(self.position).__name__}.{door} must return a tensor of the shape that it "
                f"gets, {tuple(old.shape)}, got {got}"
            )

    def _seen_weights(
        self, x: Tensor, q: Tensor, k: Tensor, v: Tensor, seen: Tensor | None, places: Places
    ) -> Tensor:
        """Return the softmax weights plus the tensor of `mix`: (batch, heads, queries, keys)."""
        k, _ = self._in_all_heads(k, v)
        bias = self.position.term("bias", places, x, *self._for_doors(q, k))
        mix = self.position.term("mix", places, x)
        weights = softmax_weights(q, k, bias, seen, self.scale, self.scoring.softcap, self.sinks)
        if mix is None or callable(mix):
            return weights
        extra = mix.dense(q, k).to(weights.dtype)
        return weights + (extra if seen is None else extra * seen)

    def _rotated(self, q: Tensor, k: Tensor, places: Places) -> tuple[Tensor, Tensor]:
        q, k = self._turned(q, k, places)
        return q if self.scoring.query_scaling is None else self._grown(q, places), k

    def _grown(self, q: Tensor, places: Places) -> Tensor:
        growth = self.scoring.query_scaling
        return q if growth is None else growth.scaled(q, places)

    def _turned(self, q: Tensor, k: Tensor, places: Places) -> tuple[Tensor, Tensor]:
        position = self.position
        if position.is_closed("rotate"):
            return q, k
        turned = position.through("rotate", places, q, k)
        if not (
            isinstance(turned, tuple)
            and len(turned) == 2
            and isinstance(turned[0], Tensor)
            and isinstance(turned[1], Tensor)
        ):
            name = type(self.position).__name__
            raise ValueError(f"{name}.rotate must return queries and keys, (q, k)")
        if not torch.compiler.is_compiling():
            self._check_turned(q, k, *turned)
        return turned

    def _check_turned(self, q: Tensor, k: Tensor, new_q: Tensor, new_k: Tensor) -> None:
        """Raise ValueError unless queries and keys are as many as before, and of one width."""
        heads = k.shape[1], self.n_heads
        fits = (
            new_q.ndim == new_k.ndim == 4
            and new_q.shape[:3] == q.shape[:3]
            and new_k.shape[::2] == k.shape[::2]
            and new_k.shape[1] in heads
        )
        if not (fits and new_q.shape[3] == new_k.shape[3]):
            name = type(self.position).__name__
            of_q, of_k = (", ".join(str(size) for size in one.shape[:3]) for one in (q, k))
            raise ValueError(
                f"{name}.rotate must return queries ({of_q}, width) and keys ({of_k}, width) of "
                f"one width, got shapes {tuple(new_q.shape)} and {tuple(new_k.shape)}"
            )

    def _in_all_heads(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values of every head, from what a cache keeps of them."""
        return self._for_all_heads(k), self._for_all_heads(v)

    def _for_doors(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the door `bias` sees of queries and keys."""
        return q, k

    def _for_all_heads(self, x: Tensor) -> Tensor:
        """Return keys or values (batch, n_heads, length, width), repeated where heads share."""
        n = x.shape[1]
        return x if n == self.n_heads else x.repeat_interleave(self.n_heads // n, 1)


def embedded(
    position: Position, x: Tensor, places: Places | None = None, padding: Tensor | None = None
) -> Tensor:
    """Return the tokens with position added, through the door `embed`.

    Parameters
    ----------
    position : Position
    x : (batch, length, d_model)
    places : Places, optional
        Where the tokens stand; 0, 1, 2, ... by default.
    padding : (batch, length) bool, optional
        False marks a padded token.

    Returns
    -------
    (batch, length, d_model)

    Raises
    ------
    ValueError
        If the door changed their shape, or cannot serve such places or padding.

    Examples
    --------
    >>> import torch
    >>> from posenc import encodings
    >>> embedded(encodings.make("sinusoidal", 8, 2, 5), torch.zeros(1, 5, 8)).shape
    torch.Size([1, 5, 8])
    """
    if padding is not None and position.reads_neighbours:
        _refuse_padding(position, padding)
    tokens = position.through("embed", places or Places.of(x), x)
    if not isinstance(tokens, Tensor) or tokens.shape != x.shape:
        got = f"shape {tuple(tokens.shape)}" if isinstance(tokens, Tensor) else repr(tokens)
        raise ValueError(
            f"{type(position).__name__}.embed must return tokens of the shape that it gets, "
            f"{tuple(x.shape)}, got {got}"
        )
    return tokens


def _refuse_padding(position: Position, padding: Tensor) -> None:
    """Raise ValueError unless all tokens are known to be real."""
    if not (can_look(padding) and padding.all()):
        raise ValueError(
            f"mask must be None, or True for every token, for {type(position).__name__}, which "
            "makes its vectors from the tokens around, padded ones too"
        )


def head_sizes(d_model: int, n_heads: int, d_head: int | None) -> tuple[int, int]:
    """Return how many heads there are and how wide they are, or raise ValueError."""
    if d_head is not None:
        return _checks.count("n_heads", n_heads, minimum=1), _checks.count(
            "d_head", d_head, minimum=1
        )
    n_heads = _checks.divisor("n_heads", n_heads, "d_model", d_model)
    return n_heads, d_model // n_heads


def check_position(
    position: Position, d_model: int, n_heads: int, d_head: int | None = None
) -> Position:
    """Return `position`, or raise ValueError unless it has doors and fits these sizes.

    Parameters
    ----------
    position : Position
    d_model, n_heads : int
        Those of the layer that it is for.
    d_head : int, optional
        Width of a head, where it is not `d_model / n_heads`. What enters at `embed` is then made
        for `d_model`, and anything else for a width of `n_heads * d_head`.

    Returns
    -------
    Position
        The same.

    Raises
    ------
    ValueError
        If it is no `Position`, is made for other sizes, or overrides no door.

    Examples
    --------
    >>> from posenc import encodings
    >>> position = encodings.make("rotary", 8, 2, 5)
    >>> check_position(position, 8, 2) is position
    True
    >>> check_position(position, 6, 2, d_head=4) is position
    True
    """
    if not isinstance(position, Position):
        raise ValueError(
            f"position must be a posenc.attention.Position, got {position!r}; "
            "posenc.encodings.make(name, d_model, n_heads, max_length) makes one from a name"
        )
    if d_head is not None and n_heads * d_head != d_model:
        _check_own_width(position, d_model, n_heads, d_head)
    elif (position.d_model, position.n_heads) != (d_model, n_heads):
        raise ValueError(
            f"position must be made for d_model = {d_model} and n_heads = {n_heads}, got one for "
            f"d_model = {position.d_model} and n_heads = {position.n_heads}"
        )
    check_doors(type(position), vars(position))
    return position


def _check_own_width(position: Position, d_model: int, n_heads: int, d_head: int) -> None:
    """Raise ValueError unless an encoding fits heads that are no part of a token's width."""
    embeds = not position.is_closed("embed")
    of_heads = any(not position.is_closed(door) for door in DOORS[1:])
    if (embeds or position.keeps_tokens) and of_heads:
        raise ValueError(
            f"d_head must be d_model / n_heads for {type(position).__name__}, which looks at both "
            f"tokens and heads, got {d_head} with d_model = {d_model} and n_heads = {n_heads}"
        )
    fits = position.n_heads == n_heads and position.d_head == d_head
    if (embeds and position.d_model != d_model) or (of_heads and not fits):
        width, heads = (d_model, "any") if embeds else (n_heads * d_head, n_heads)
        raise ValueError(
            f"position must be made for d_model = {width} and n_heads = {heads} to serve "
            f"n_heads = {n_heads} of d_head = {d_head} at its door, got one for "
            f"d_model = {position.d_model} and n_heads = {position.n_heads}"
        )


def check_doors(own: type[Position], attributes: Iterable[str] = ()) -> None:
    """Raise ValueError if a class lets position in nowhere and does not say so.

    Doors may also be among the attributes of an object.
    """
    doorless = not own.doors() and not set(DOORS) & set(attributes)
    if doorless and own is not Position and not own._needs_no_door:
        raise ValueError(
            f"position must override a door ({', '.join(DOORS)}), got {own.__name__} with none of "
            "them, which would train without position; derive it from "
            "posenc.encodings.NoPosition if that is meant"
        )


def glorot(weight: Tensor, sizes: list[int]) -> None:
    """Start each of the maps that lie above each other in a weight at Glorot's uniform values."""
    for part in weight.split(sizes):
        nn.init.xavier_uniform_(part)
