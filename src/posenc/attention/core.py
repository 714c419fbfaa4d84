"""What self-attention and cross-attention share: everything behind the projections."""

import torch
from torch import Tensor, nn

from posenc import _checks
from posenc.attention.kernels import (
    blocked_attention,
    convolve,
    fused_attention,
    precise,
    prefers_blocks,
    prefers_fourier,
)
from posenc.attention.masks import merge
from posenc.attention.places import Places
from posenc.attention.position import DOORS, Mix, Position, leave_meta


class Attention(nn.Module):
    """Multi-head scaled dot-product attention whose queries and keys are there already.

    It calls the doors of `position` in their order and knows no encoding by name. Derived classes
    hold the projections: `SelfAttention` and `CrossAttention`.
    """

    causal = False

    def __init__(self, d_model: int, n_heads: int, position: Position, dropout: float) -> None:
        super().__init__()
        self.d_model = _checks.count("d_model", d_model, minimum=1)
        self.n_heads = _checks.divisor("n_heads", n_heads, "d_model", self.d_model)
        self.d_head = self.d_model // self.n_heads
        self.scale = self.d_head**-0.5
        self.dropout = _checks.probability("dropout", dropout)
        self.position = check_position(position, self.d_model, self.n_heads)
        self.register_load_state_dict_post_hook(leave_meta)

    def _attended(
        self,
        x: Tensor,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        seen: Tensor | None,
        places: Places,
        bias: Tensor | None = None,
        *,
        limited: bool = False,
    ) -> Tensor:
        """Return the tokens that queries x, q make of keys and values, (batch, n_queries, d_model).

        `seen` is that of `who_sees_whom`, and `limited` says whether it holds more than padding. A
        `bias` that was computed before takes the place of the encoding's own.
        """
        k, v = (self._for_all_heads(a) for a in (k, v))
        short = line = None
        if places.plain and not limited:
            if bias is None and prefers_blocks(q, self._rate()):
                short = self.position.shortcut("bias_by_offset", q)
            if prefers_fourier(v):
                line = self.position.shortcut("mix_by_offset", x)
        if bias is None and short is None:
            bias = self._bias(x, q, k, places)
        mix = self._mix(x, q, k, places) if line is None else None
        if callable(mix):
            weights = self._dropped(self._softmax(x, q, k, bias, seen, places))
            heads = weights @ v + mix(weights)
        elif short is not None:
            padding = None if seen is None else merge(q.new_zeros(1), seen, q)
            heads = blocked_attention(precise(q) * self.scale, k, v, padding, short)
        else:
            heads = fused_attention(q, k, v, merge(bias, seen, q), self._rate(), self.scale)
        # adding to the weights is adding to the output, so the fused kernel still serves
        if line is not None:
            heads = heads + convolve(line, v)
        elif isinstance(mix, Tensor):
            # padded values are zeros already
            mix = mix.where(seen, 0) if limited and seen is not None else mix
            heads = heads + _apply_weights(mix.to(v.dtype), v)
        return self.out(heads.transpose(1, 2).flatten(2))

    def _seen_weights(
        self, x: Tensor, q: Tensor, k: Tensor, seen: Tensor | None, places: Places
    ) -> Tensor:
        """Return the softmax weights plus the tensor of `mix`: (batch, heads, queries, keys)."""
        k = self._for_all_heads(k)
        mix = self._mix(x, q, k, places)
        weights = self._softmax(x, q, k, None, seen, places)
        if mix is None or callable(mix):
            return weights
        extra = mix.to(weights.dtype)
        return weights + (extra if seen is None else extra * seen)

    def _rotated(self, q: Tensor, k: Tensor, places: Places) -> tuple[Tensor, Tensor]:
        turned = self.position.through("rotate", places, q, k)
        if not (isinstance(turned, tuple) and len(turned) == 2):
            raise ValueError(f"{self._door('rotate')} must return queries and keys, (q, k)")
        return turned

    def _bias(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Tensor | None:
        bias = self.position.through("bias", places, x, q, k)
        return bias if bias is None else self._checked("bias", bias, q, k)

    def _mix(self, x: Tensor, q: Tensor, k: Tensor, places: Places) -> Mix | None:
        mix = self.position.through("mix", places, x)
        return self._checked("mix", mix, q, k) if isinstance(mix, Tensor) else mix

    def _checked(self, door: str, added: Tensor, q: Tensor, k: Tensor) -> Tensor:
        """Return what a door adds, or raise ValueError unless it broadcasts to the weights."""
        weights = (*q.shape[:3], k.shape[2])
        sizes = zip(added.shape[::-1], weights[::-1], strict=False)
        if added.ndim > 4 or any(size not in (1, whole) for size, whole in sizes):
            raise ValueError(
                f"{self._door(door)} must return a tensor that broadcasts to (batch, heads, "
                f"queries, keys) = {tuple(weights)}, got shape {tuple(added.shape)}"
            )
        return added

    def _door(self, name: str) -> str:
        return f"{type(self.position).__name__}.{name}"

    def _softmax(
        self,
        x: Tensor,
        q: Tensor,
        k: Tensor,
        bias: Tensor | None,
        seen: Tensor | None,
        places: Places | None = None,
    ) -> Tensor:
        """Return the attention weights, formed explicitly."""
        scores = precise(q) @ precise(k).transpose(-2, -1) * self.scale
        if bias is None:
            bias = self._bias(x, q, k, places or Places.of(x, causal=self.causal))
        if bias is not None:
            scores = scores + bias.to(scores.dtype)
        if seen is not None:
            # a finite floor keeps rows without any real token free of NaN
            scores = scores.masked_fill(~seen, torch.finfo(scores.dtype).min)
        return scores.softmax(-1).to(q.dtype)

    def _for_all_heads(self, x: Tensor) -> Tensor:
        """Return keys or values (batch, n_heads, length, width), repeated where heads share."""
        n = x.shape[1]
        return x if n == self.n_heads else x.repeat_interleave(self.n_heads // n, 1)

    def _rate(self) -> float:
        return self.dropout if self.training else 0.0

    def _dropped(self, weights: Tensor) -> Tensor:
        return nn.functional.dropout(weights, self.dropout, self.training)


def embedded(position: Position, x: Tensor, places: Places | None = None) -> Tensor:
    """Return the tokens with position added, or raise ValueError if they changed their shape."""
    tokens = position.through("embed", places or Places.of(x), x)
    if not isinstance(tokens, Tensor) or tokens.shape != x.shape:
        got = f"shape {tuple(tokens.shape)}" if isinstance(tokens, Tensor) else repr(tokens)
        raise ValueError(
            f"{type(position).__name__}.embed must return tokens of the shape that it gets, "
            f"{tuple(x.shape)}, got {got}"
        )
    return tokens


def check_position(position: Position, d_model: int, n_heads: int) -> Position:
    """Return `position`, or raise ValueError unless it has doors and fits these sizes."""
    if not isinstance(position, Position):
        raise ValueError(
            f"position must be a posenc.attention.Position, got {position!r}; "
            "posenc.encodings.make(name, d_model, n_heads, max_length) makes one from a name"
        )
    if (position.d_model, position.n_heads) != (d_model, n_heads):
        raise ValueError(
            f"position must be made for d_model = {d_model} and n_heads = {n_heads}, got one for "
            f"d_model = {position.d_model} and n_heads = {position.n_heads}"
        )
    _check_doors(position)
    return position


def _check_doors(position: Position) -> None:
    """Raise ValueError if a class lets position in nowhere and does not say so."""
    own = type(position)
    doorless = not own.doors() and not set(DOORS) & set(vars(position))
    if doorless and own is not Position and not own._needs_no_door:
        raise ValueError(
            f"position must override a door ({', '.join(DOORS)}), got {own.__name__} with none of "
            "them, which would train without position; derive it from "
            "posenc.encodings.NoPosition if that is meant"
        )


def _apply_weights(weights: Tensor, v: Tensor) -> Tensor:
    """Return `weights @ v`; if the weights are common to the batch, in one product per head."""
    weights = weights.reshape((1,) * (4 - weights.ndim) + weights.shape)
    if weights.shape[0] > 1:
        return weights @ v
    batch, heads, length, width = v.shape
    columns = v.permute(1, 2, 0, 3).reshape(heads, length, batch * width)
    return (weights[0] @ columns).unflatten(-1, (batch, width)).permute(2, 0, 1, 3)


def glorot(weight: Tensor, sizes: list[int]) -> None:
    """Start each of the maps that lie above each other in a weight at Glorot's uniform values."""
    for part in weight.split(sizes):
        nn.init.xavier_uniform_(part)
