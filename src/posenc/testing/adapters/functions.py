"""A plain function of queries, keys and values, or of tokens."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from posenc.testing.adapters.base import Adapter, CannotAsk
from posenc.testing.adapters.modules import arguments, is_needed

HEADS, WIDTH = 4, 16


class FunctionAdapter(Adapter):
    """A function of (q, k, v), each (batch, heads, length, d_head), that returns the same.

    Tokens are mapped to them by three fixed random matrices. `positions` are handed over if the
    function takes them. Values that are the identity show the weights.

    Parameters
    ----------
    function : callable
        Of q, k, v and, if it has arguments of these names, `positions`, `padding`, `documents`.
    n_heads, d_head : int
        Sizes to call it with.
    n_kv_heads : int, optional
        Fewer heads of keys and values, if it takes them.
    """

    def __init__(
        self,
        function: Callable[..., Tensor],
        *,
        n_heads: int = HEADS,
        d_head: int = WIDTH,
        n_kv_heads: int | None = None,
        written_out: bool = False,
    ) -> None:
        self.function, self.n_heads, self.d_head = function, n_heads, d_head
        self.n_kv_heads = n_kv_heads or n_heads
        self.written_out = written_out
        self.called = arguments(function)
        self.called.pop("cache", None)
        super().__init__(
            self._forward,
            width=n_heads * d_head,
            takes=self.called,
            name=getattr(function, "__name__", "the function"),
            needs_positions=is_needed(function, self.called.get("positions")),
        )

    @property
    def dtype(self) -> torch.dtype:
        """What tokens are made in."""
        return torch.get_default_dtype()

    def _forward(self, x: Tensor, **given: Any) -> Tensor:
        out = self._called(*self._project(x), given)
        return out.transpose(1, 2).flatten(2)

    def _called(self, q: Tensor, k: Tensor, v: Tensor, given: dict[str, Any]) -> Tensor:
        if self.written_out:
            k, v = (a.repeat_interleave(self.n_heads // a.shape[1], 1) for a in (k, v))
        named = {self.called[word]: self.there(one) for word, one in given.items()}
        return self.function(*map(self.there, (q, k, v)), **named).cpu()

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        rng = torch.Generator().manual_seed(7)
        q, k, v = (
            (x @ (torch.randn(x.shape[-1], n * self.d_head, generator=rng) / 4).to(x))
            .unflatten(-1, (n, self.d_head))
            .transpose(1, 2)
            for n in (self.n_heads, self.n_kv_heads, self.n_kv_heads)
        )
        return q, k, v

    def _given(self, positions: Tensor | None, length: int) -> dict[str, Any]:
        if positions is None and self.needs_positions:
            positions = torch.arange(length)[None]
        if positions is not None and "positions" not in self.called:
            raise CannotAsk("it takes no positions")
        return {} if positions is None else {"positions": self.placed(positions)}

    def weights(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """Let values be the identity, a part at a time: what comes out are the weights."""
        q, k, v = self._project(x)
        length, parts = x.shape[1], []
        eye = torch.eye(length, dtype=x.dtype)
        for start in range(0, length, self.d_head):
            part = eye[:, start : start + self.d_head]
            width = part.shape[1]
            part = torch.nn.functional.pad(part, (0, self.d_head - width))
            out = self._called(q, k, part.expand(*v.shape), self._given(positions, length))
            parts.append(out[..., :width])
        return torch.cat(parts, -1)

    def turned(self, places: Tensor) -> tuple[Tensor, Tensor]:
        """Show the queries by their scores with keys of one dimension each, which stand at 0.

        Weights tell scores up to a constant for each place, which a key of zeros shows.
        """
        query = torch.randn(self.d_head, generator=torch.Generator().manual_seed(5)).to(self.dtype)
        counted = "positions" not in self.called
        at = torch.arange(int(places.max()) + 2) if counted else torch.cat([places[:1] * 0, places])
        runs, length = self.d_head + 1, len(at)  # a run for each dimension, and one with no key
        q = query.expand(runs, self.n_heads, length, -1)
        k = q.new_zeros(runs, self.n_kv_heads, length, self.d_head)
        k[:-1, :, 0] = torch.eye(self.d_head)[:, None]
        v = torch.zeros_like(k)
        v[:, :, 0, 0] = 1
        given = {} if counted else {"positions": at.expand(runs, -1)}
        weight = self._called(q, k, v, given)[:, :, :, 0].double()
        score = _log_odds(weight[:-1]) - _log_odds(weight[-1:])
        rows = places.long() if counted else torch.arange(1, length)
        return score[:, :, rows].permute(2, 1, 0), torch.empty(0)

    def repeated(self) -> Adapter:
        """Repeat keys and values before the function sees them."""
        if self.n_kv_heads == self.n_heads:
            raise CannotAsk("every head has its own keys and values; say n_kv_heads=2, for one")
        return FunctionAdapter(
            self.function,
            n_heads=self.n_heads,
            d_head=self.d_head,
            n_kv_heads=self.n_kv_heads,
            written_out=True,
        )


def _log_odds(weight: Tensor) -> Tensor:
    """Return scores up to a constant for each place, from the weights of one key in each run."""
    return torch.log(weight) - torch.log1p(-weight)


def takes_three(function: Callable[..., Any]) -> bool:
    """Return whether a function wants queries, keys and values."""
    parameters = inspect.signature(function).parameters.values()
    wanted = [one for one in parameters if one.default is one.empty and one.kind != one.VAR_KEYWORD]
    return len([one for one in wanted if one.name not in ("positions", "position_ids")]) >= 3
