"""Hears each attention of a module while it runs: queries, keys and scores, whoever wrote it.

Whatever is computed goes through PyTorch, so products of queries and keys, the softmax and the
fused kernel can be heard there; no module has to show anything.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

FUSED: Any = functional.scaled_dot_product_attention
SOFTMAX = (torch.softmax, functional.softmax, Tensor.softmax, torch.special.softmax)
PRODUCTS = (
    torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm, torch.baddbmm,
    Tensor.baddbmm, torch.einsum,
)  # fmt: skip
MOST_KEPT = 400  # results between two attentions


@dataclass
class Heard:
    """One attention, of one row of tokens.

    Attributes
    ----------
    scores : Tensor of shape (heads, length, keys)
        Before the softmax; with a key more than tokens where there is a sink.
    q, k : Tensor of shape (heads, length, d_head), or None
        Queries and keys as they meet.
    before : list of Tensor
        What was computed before and is alike at all places, flattened.
    """

    scores: Tensor
    q: Tensor | None = None
    k: Tensor | None = None
    before: list[Tensor] = field(default_factory=list)

    def has_sink(self) -> bool:
        """Return whether scores have a column that is no token's."""
        return self.scores.shape[2] > self.scores.shape[1]


class Listener(TorchFunctionMode):
    """Hears attention over `length` tokens, and answers zeros in its place.

    So the tokens of later layers stay what they were: one token again and again is one token again
    and again in every layer.
    """

    def __init__(self, length: int, *, keep: bool = True) -> None:
        super().__init__()
        self.length, self.keep = length, keep
        self.heard: list[Heard] = []
        self.looked_up: list[tuple[Tensor, int]] = []
        self._products: list[tuple[Tensor, Tensor]] = []
        self._before: list[Tensor] = []

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Do what was asked, and keep what belongs to an attention."""
        given = dict(kwargs or {})
        if func is FUSED:
            return self._fused(*args, **given)
        out = func(*args, **given)
        if func in SOFTMAX and self._is_square(out):
            scores = args[0] if args else given["input"]
            self._keep(scores)
            return torch.zeros_like(out)
        if func in PRODUCTS:
            self._product(func, out, [*args, *(v for v in given.values() if isinstance(v, Tensor))])
        elif func is functional.embedding:
            self._look_up(args, given)
        if self.keep and isinstance(out, Tensor) and out.is_floating_point():
            self._still(out)
        return out

    def _is_square(self, out: Any) -> bool:
        return (
            isinstance(out, Tensor)
            and out.ndim >= 3
            and out.shape[-2] == self.length
            and out.shape[-1] in (self.length, self.length + 1)
        )

    def _fused(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,  # noqa: ARG002
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,  # noqa: ARG002
    ) -> Tensor:
        if query.shape[-2] == self.length and key.shape[-2] in (self.length, self.length + 1):
            key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
            self._products = [(query, key)]
            scores = query @ key.transpose(-1, -2)
            scores = scores * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
            if is_causal:
                ahead = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
                scores = scores.masked_fill(ahead, -math.inf)
            if attn_mask is not None:
                hidden = attn_mask.dtype == torch.bool
                scores = scores.masked_fill(~attn_mask, -math.inf) if hidden else scores + attn_mask
            self._keep(scores)
        return query.new_zeros(*query.shape[:-1], value.shape[-1])

    def _product(self, func: Any, out: Any, args: Sequence[Any]) -> None:
        """Keep queries and keys whose product looks like scores."""
        if not self._is_square(out):
            return
        if func is torch.einsum:
            both = _sides(args[0], args[1:])
        else:
            one, other = args[-2:]
            both = (one, other.transpose(-1, -2))
        if both and all(one.shape[-2] in (self.length, self.length + 1) for one in both):
            self._products.append(both)

    def _keep(self, scores: Tensor) -> None:
        flat = _heads(scores).double()
        q, k = (_joined([_heads(one[i]) for one in self._products], len(flat)) for i in (0, 1))
        if q is not None and k is not None and k.shape[1] > self.length:
            q, k = _without_sink(q, k)
        self.heard.append(Heard(flat, q, k, self._before))
        self._products, self._before = [], []

    def _look_up(self, args: Sequence[Any], given: Mapping[str, Any]) -> None:
        index = args[0] if args else given["input"]
        table = args[1] if len(args) > 1 else given["weight"]
        if index.shape[-1:] == (self.length,):
            self.looked_up.append((index.detach().reshape(-1, self.length)[0], len(table)))

    def _still(self, out: Tensor) -> None:
        """Keep a result that is the same at all places, as what a token gives before it turns."""
        for axis in (1, 2):
            if out.ndim > axis + 1 and out.shape[axis] == self.length:
                rows = out.detach()[0].movedim(axis - 1, 0).reshape(self.length, -1)
                alike = rows.shape[1] > 1 and torch.allclose(rows, rows[:1].expand_as(rows), 1e-6)
                if alike and len(self._before) < MOST_KEPT:
                    self._before.append(rows[0].double())
                return


def _without_sink(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """Return queries and keys without a last key that is no token's, and its own dimensions."""
    k = k[:, :-1]
    own = k.abs().amax((0, 1)) == 0
    return q[..., ~own], k[..., ~own]


def _heads(a: Tensor) -> Tensor:
    """Return (heads, length, any), whatever axes the heads had."""
    return a.detach().reshape(-1, *a.shape[-2:])


def _joined(parts: list[Tensor], n_heads: int) -> Tensor | None:
    """Return parts that are multiplied apart, and added, side by side; shared ones repeated."""
    if not parts:
        return None
    if any(n_heads % len(one) for one in parts):
        return None
    whole = [one.repeat_interleave(n_heads // len(one), 0).double() for one in parts]
    return torch.cat(whole, -1)


def _sides(equation: Any, sides: Sequence[Any]) -> tuple[Tensor, Tensor] | None:
    """Return queries and keys of an einsum, (..., length, d_head) both."""
    if not isinstance(equation, str) or "." in equation or len(sides) != 2:
        return None
    left, _, right = equation.replace(" ", "").partition("->")
    one, _, other = left.partition(",")
    summed = [letter for letter in one if letter in other and letter not in right]
    if len(summed) != 1:
        return None
    q = [letter for letter in right[:-1] if letter in one]
    k = [letter for letter in right[:-2] + right[-1] if letter in other]
    tensors = [
        side.permute(*[letters.index(letter) for letter in (*order, summed[0])])
        for side, letters, order in zip(sides, (one, other), (q, k), strict=True)
    ]
    return tensors[0], tensors[1]
