"""Layers with one fault each, all of our own writing, and the checks that find them.

`Attention` is right in all that it promises. Each other class changes one step of it, as people do
by mistake. `GALLERY` lists them with the checks that must find them, and no other check may.
"""

# ruff: noqa: ARG002 - a step takes its arguments whether its fault needs them or not

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from posenc.testing.adapters.base import counted
from posenc.testing.checks.pairs import WAYS

Cache = dict[str, Tensor]

PROMISES: Mapping[str, Any] = {
    "order": True,
    "causal": True,
    "cached": True,
    "relative": True,
    "given_positions": True,
    "real_times": True,
    "padding": "both",
    "packing": True,
    "layout": "half",
    "dtypes": "bfloat16",
    "longest": 100_000,
    "shared_heads": True,
    "moves": True,
}
"""What `Attention` promises."""


class Attention(nn.Module):
    """Causal attention with RoPE, whose every step is a method."""

    causal = True

    def __init__(self, d_model: int = 32, n_heads: int = 4, n_kv_heads: int = 2) -> None:
        super().__init__()
        self.d_model, self.n_heads, self.n_kv_heads = d_model, n_heads, n_kv_heads
        self.d_head = d_model // n_heads
        self.to_q = nn.Linear(d_model, d_model)
        self.to_k = nn.Linear(d_model, n_kv_heads * self.d_head)
        self.to_v = nn.Linear(d_model, n_kv_heads * self.d_head)
        self.out = nn.Linear(d_model, d_model)

    def forward(
        self,
        x: Tensor,
        positions: Tensor | None = None,
        padding: Tensor | None = None,
        documents: Tensor | None = None,
        cache: Cache | None = None,
    ) -> Tensor:
        """Return the attended tokens (batch, length, d_model)."""
        weights, v, t = self.attended(x, positions, padding, documents, cache)
        sums = self.deliver(weights @ v, t)
        return self.answer(self.out(sums.transpose(1, 2).flatten(2)))

    def answer(self, out: Tensor) -> Tensor:
        """Return what the caller gets, (batch, length, d_model)."""
        return out

    def attended(
        self,
        x: Tensor,
        positions: Tensor | None = None,
        padding: Tensor | None = None,
        documents: Tensor | None = None,
        cache: Cache | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return weights, values, and where the queries stand."""
        real, documents = self.known(x, padding, documents, cache)
        t = self.places(x, positions, real, documents)
        x = self.embed(x, t)
        q, k, v = (self.in_heads(to(x)) for to in (self.to_q, self.to_k, self.to_v))
        q, k, v = self.turn(q, t), self.turn_key(k, t), self.carry(v, t)
        k, v, t_k = self.remember(cache, k, v, t)
        k, v = self.share(k), self.share(v)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d_head) + self.bias(t, t_k)
        seen = self.seen(q.shape[2], k.shape[2])
        return self.softmax(scores, self.masked(seen, real, documents)), v, t

    def in_heads(self, a: Tensor) -> Tensor:
        """Return (batch, heads, length, d_head)."""
        return a.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def known(
        self, x: Tensor, padding: Tensor | None, documents: Tensor | None, cache: Cache | None
    ) -> tuple[Tensor, Tensor]:
        """Return which tokens are real and their documents, (batch, keys), the cache's first."""
        real = x.new_ones(x.shape[:2], dtype=torch.bool) if padding is None else padding
        documents = torch.zeros_like(real, dtype=torch.long) if documents is None else documents
        if cache:
            real = torch.cat([cache["real"], real], 1)
            documents = torch.cat([cache["documents"], documents], 1)
        if cache is not None:
            cache.update(real=real, documents=documents)
        return real, documents

    def places(
        self, x: Tensor, positions: Tensor | None, real: Tensor, documents: Tensor
    ) -> Tensor:
        """Return where tokens stand, (batch, length)."""
        if positions is not None:
            return positions.expand(len(x), *positions.shape[1:])
        return counted(real, {"padding": real, "documents": documents})[:, -x.shape[1] :]

    def embed(self, x: Tensor, t: Tensor) -> Tensor:
        """Return tokens with their places added, of which there is no need here."""
        return x

    def omega(self, t: Tensor) -> Tensor:
        """Return the angular frequencies, in float64."""
        i = torch.arange(self.d_head // 2, device=t.device, dtype=torch.float64)
        return 10_000.0 ** (-2 * i / self.d_head)

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Return queries turned by their places."""
        angle = (t[..., None].double() * self.omega(t))[:, None]
        cos, sin = angle.cos().to(q.dtype), angle.sin().to(q.dtype)
        a, b = q.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def turn_key(self, k: Tensor, t: Tensor) -> Tensor:
        """Return keys turned by their places."""
        return self.turn(k, t)

    def carry(self, v: Tensor, t: Tensor) -> Tensor:
        """Return values that know their places, here as they are."""
        return v

    def deliver(self, out: Tensor, t: Tensor) -> Tensor:
        """Return sums of values that know where their queries stand, here as they are."""
        return out

    def bias(self, t: Tensor, t_k: Tensor) -> Tensor:
        """Return what is added to the scores, here nothing."""
        return torch.zeros((), device=t.device, dtype=self.out.weight.dtype)

    def remember(
        self, cache: Cache | None, k: Tensor, v: Tensor, t: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return keys, values and places with those of the cache before them."""
        if cache is None:
            return k, v, t
        if "k" in cache:
            k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
            t = torch.cat([cache["t"], t], 1)
        cache.update(k=k, v=v, t=t)
        return k, v, t

    def share(self, k: Tensor) -> Tensor:
        """Return keys or values for all heads."""
        return k.repeat_interleave(self.n_heads // k.shape[1], 1)

    def seen(self, n_queries: int, n_keys: int) -> Tensor:
        """Return (queries, keys): True where a query may look."""
        every = self.out.weight.new_ones(n_queries, n_keys, dtype=torch.bool)
        return every.tril(n_keys - n_queries) if self.causal else every

    def masked(self, seen: Tensor, real: Tensor, documents: Tensor) -> Tensor:
        """Return (batch, 1, queries, keys) without padding and other documents."""
        own = documents[:, -len(seen) :, None] == documents[:, None]
        return (seen & real[:, None] & own)[:, None]

    def softmax(self, scores: Tensor, seen: Tensor) -> Tensor:
        """Return the weights."""
        return scores.masked_fill(~seen, -1e9).softmax(-1)

    def weights(self, x: Tensor, positions: Tensor | None = None) -> Tensor:
        """Show the weights to the checker."""
        return self.attended(x, positions)[0]

    def queries_and_keys(self, x: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Show turned queries and keys to the checker."""
        q, k = self.in_heads(self.to_q(x)), self.in_heads(self.to_k(x))
        return self.turn(q, positions), self.turn_key(k, positions)

    def with_repeated_heads(self) -> nn.Module:
        """Return the same with every head's own keys and values."""
        many = type(self)(self.d_model, self.n_heads, self.n_heads)
        state = self.state_dict()
        for name, value in state.items():
            if name.startswith(("to_k", "to_v")):
                heads = value.unflatten(0, (self.n_kv_heads, -1))
                again = self.n_heads // self.n_kv_heads
                state[name] = heads.repeat_interleave(again, 0).flatten(0, 1)
        many.load_state_dict(state)
        return many.eval()


class Added(Attention):
    """The same with a learned row for each place, added to the tokens, and no rotation."""

    max_length = 64

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.table = nn.Embedding(self.max_length, self.d_model)

    def embed(self, x: Tensor, t: Tensor) -> Tensor:
        """Add the rows."""
        return x + self.table(t)

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Leave queries and keys as they are."""
        return q


class Biased(Attention):
    """The same with ALiBi in place of RoPE."""

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Leave queries and keys as they are."""
        return q

    def bias(self, t: Tensor, t_k: Tensor) -> Tensor:
        """Return a penalty for distance, larger in the first heads."""
        slopes = 2.0 ** -torch.arange(1, self.n_heads + 1, device=t.device).double()
        distance = (t[:, :, None] - t_k[:, None, :]).abs()
        return (-slopes[:, None, None] * distance[:, None]).to(self.out.weight.dtype)


class TwoAxes(Attention):
    """The same for pictures: half of each head turns by the row, half by the column."""

    def places(self, x: Tensor, positions: Any, real: Tensor, documents: Tensor) -> Tensor:
        """Return rows and columns, (batch, length, 2); who is told nothing counts along both."""
        t = super().places(x, positions, real, documents)
        return t if t.ndim == 3 else torch.stack([t, t], -1)

    def omega(self, t: Tensor) -> Tensor:
        """Return every other frequency, for half a head."""
        return super().omega(t)[::2]

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Return queries turned by their rows and columns."""
        halves = zip(q.chunk(2, -1), t.unbind(-1), strict=True)
        return torch.cat([super(TwoAxes, self).turn(part, axis) for part, axis in halves], -1)


class NormThenTurn(Attention):
    """Queries and keys get one size, and a learned gain for each dimension, before they turn."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.gain = nn.Parameter(torch.ones(self.d_head))

    def sized(self, q: Tensor) -> Tensor:
        """Return queries of one size, times the gain."""
        return nn.functional.rms_norm(q, q.shape[-1:], self.gain)

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Return queries of one size, turned."""
        return super().turn(self.sized(q), t)


class TurnsValues(Attention):
    """The same, whose values turn by their places, and sums of them back by the query's (RoVE)."""

    def carry(self, v: Tensor, t: Tensor) -> Tensor:
        """Turn as keys turn."""
        return super().turn(v, t)

    def deliver(self, out: Tensor, t: Tensor) -> Tensor:
        """Turn the other way."""
        return super().turn(out, -t)


class Windowed(Attention):
    """The same with a window: a token sees itself and 31 before it."""

    window = 32

    def seen(self, n_queries: int, n_keys: int) -> Tensor:
        """Return (queries, keys): True within the window."""
        return super().seen(n_queries, n_keys).triu(n_keys - n_queries - self.window + 1)


class NarrowWindow(Windowed):
    """A token sees itself and three before it."""

    window = 4


class TwoLayers(nn.Module):
    """Two layers with a window, one behind the other, that show nothing of their inside."""

    causal = True
    layers: nn.ModuleList

    def __init__(self, windows: tuple[int, int] = (4, 4)) -> None:
        super().__init__()
        self.d_model = 32
        self.layers = nn.ModuleList(NarrowWindow() for _ in windows)
        for layer, window in zip(self.layers, windows, strict=True):
            layer.window = window  # type: ignore[assignment]

    def forward(
        self,
        x: Tensor,
        positions: Tensor | None = None,
        padding: Tensor | None = None,
        documents: Tensor | None = None,
        cache: dict[int, Cache] | None = None,
    ) -> Tensor:
        """Return the tokens behind both layers, (batch, length, d_model)."""
        for n, layer in enumerate(self.layers):
            own = None if cache is None else cache.setdefault(n, {})
            x = layer(x, positions, padding, documents, own)
        return x


class BothWays(Attention):
    """The same without a causal mask."""

    causal = False


class InOneBuffer(BothWays):
    """The same, and each answer is written over the one before, as a CUDA graph does."""

    def answer(self, out: Tensor) -> Tensor:
        """Answer in the buffer of this shape."""
        buffers = self.__dict__.setdefault("kept", {})
        kept: Tensor = buffers.setdefault((out.shape, out.dtype, out.device), out)
        return kept if kept is out else kept.copy_(out)


# --- order, direction


class NoPlaces(BothWays):
    """Nobody calls the rotation, and no mask tells before from after."""

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Leave queries and keys as they are."""
        return q


class BlindInOneBuffer(NoPlaces, InOneBuffer):
    """Every answer stands in one buffer, so that whoever compares two compares one with itself."""


class OwnMinus(Tensor):
    """A tensor that says of every difference that it is 0."""

    def __sub__(self, other: Any) -> Tensor:
        """Return zeros."""
        return torch.zeros_like(self)


class BlindWithOwnMinus(NoPlaces):
    """What comes back is a kind of tensor that subtracts in its own way."""

    def answer(self, out: Tensor) -> Tensor:
        """Dress the answer up."""
        return out.as_subclass(OwnMinus)


class OneAhead(Attention):
    """The mask is one diagonal too wide."""

    def seen(self, n_queries: int, n_keys: int) -> Tensor:
        """Let everybody see one token too many."""
        every = self.out.weight.new_ones(n_queries, n_keys, dtype=torch.bool)
        return every.tril(n_keys - n_queries + 1)


class LengthScaled(Attention):
    """Queries are scaled by the logarithm of the input's length, not of their own place."""

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Scale as if every token knew how long the text will be."""
        return super().turn(q, t) * math.log(q.shape[2] + 1)

    def turn_key(self, k: Tensor, t: Tensor) -> Tensor:
        """Turn keys without a scale."""
        return super().turn(k, t)


# --- caches


class StartsAgain(Attention):
    """New tokens count from 0, whatever the cache holds."""

    def places(self, x: Tensor, positions: Any, real: Tensor, documents: Tensor) -> Tensor:
        """Forget the cache."""
        n = x.shape[1]
        return super().places(x, positions, real[:, -n:], documents[:, -n:])


class OpenChunks(Attention):
    """With a cache no mask is thought to be needed, which holds for single tokens only."""

    def seen(self, n_queries: int, n_keys: int) -> Tensor:
        """Leave the mask away where the cache holds something."""
        every = self.out.weight.new_ones(n_queries, n_keys, dtype=torch.bool)
        return super().seen(n_queries, n_keys) if n_queries == n_keys else every


class TurnedTwice(Attention):
    """Keys from the cache are turned again with the new ones."""

    def remember(self, cache: Any, k: Tensor, v: Tensor, t: Tensor) -> Any:
        """Turn what was turned when it came in."""
        if cache and "k" in cache:
            cache["k"] = self.turn_key(cache["k"], cache["t"])
        return super().remember(cache, k, v, t)


class OneCacheForAll(Attention):
    """The cache is an attribute of the layer, and outlives its text."""

    def attended(
        self,
        x: Tensor,
        positions: Any = None,
        padding: Any = None,
        documents: Any = None,
        cache: Cache | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Use the first cache that ever came."""
        if cache is not None:
            self.kept = getattr(self, "kept", cache)
            cache = self.kept
        return super().attended(x, positions, padding, documents, cache)


class CountsOnByLength(Attention):
    """A padded prompt is counted by its real tokens, and new tokens by the length of the cache."""

    def places(self, x: Tensor, positions: Any, real: Tensor, documents: Tensor) -> Tensor:
        """Forget the padding once there is a cache."""
        if real.shape[1] > x.shape[1]:
            real, documents = torch.ones_like(real), torch.zeros_like(documents)
        return super().places(x, positions, real, documents)


class FirstRowCounts(Attention):
    """New tokens of all rows are counted on from the first row's padding."""

    def places(self, x: Tensor, positions: Any, real: Tensor, documents: Tensor) -> Tensor:
        """Take the first row's places for all."""
        t = super().places(x, positions, real, documents)
        return t[:1].expand_as(t) if real.shape[1] > x.shape[1] and positions is None else t


class CacheWithoutDocuments(Attention):
    """The cache forgets which document its tokens belong to."""

    def known(self, x: Tensor, padding: Any, documents: Any, cache: Any) -> tuple[Tensor, Tensor]:
        """Let all that is in the cache belong to the newest document."""
        before = cache["real"].shape[1] if cache else 0
        real, documents = super().known(x, padding, documents, cache)
        if before:
            documents[:, :before] = documents[:, before:].amin(1, keepdim=True)
        return real, documents


class CountsInTheCache(Attention):
    """Positions are read, until there is a cache: then tokens are counted."""

    def places(self, x: Tensor, positions: Any, real: Tensor, documents: Tensor) -> Tensor:
        """Forget the positions once there is a cache."""
        positions = None if real.shape[1] > x.shape[1] else positions
        return super().places(x, positions, real, documents)


class WindowOfThePiece(Windowed):
    """With a cache, only the newest piece has a window."""

    def seen(self, n_queries: int, n_keys: int) -> Tensor:
        """Leave the window away where there is a cache."""
        if n_queries != n_keys:
            return Attention.seen(self, n_queries, n_keys)
        return super().seen(n_queries, n_keys)


# --- batches, padding, packing


class SharedSize(Attention):
    """Queries are brought to one size by a mean over the batch, too."""

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Divide by the mean over rows, heads and dimensions; it should be dimensions only."""
        size = q.square().mean((0, 1, 3), keepdim=True).sqrt()
        return super().turn(q / size, t)


class PaddingSeen(Attention):
    """The padding mask is taken, and not used."""

    def masked(self, seen: Tensor, real: Tensor, documents: Tensor) -> Tensor:
        """Forget which tokens are real."""
        return super().masked(seen, torch.ones_like(real), documents)


class HidesByLogarithm(Attention):
    """Padding is hidden by log(mask + eps), and eps is small in float32 only."""

    def masked(self, seen: Tensor, real: Tensor, documents: Tensor) -> Tensor:
        """Keep which tokens are real for the softmax."""
        self.real = real
        return super().masked(seen, torch.ones_like(real), documents)

    def softmax(self, scores: Tensor, seen: Tensor) -> Tensor:
        """Add the logarithm."""
        hidden = (self.real.to(scores.dtype) + torch.finfo(scores.dtype).eps ** 2).log()
        return super().softmax(scores + hidden[:, None, None], seen)


class CountsPadding(Added):
    """Padded tokens are hidden, and counted: real ones stand where no padding would put them."""

    def places(self, x: Tensor, positions: Any, real: Tensor, documents: Tensor) -> Tensor:
        """Count all tokens."""
        return super().places(x, positions, torch.ones_like(real), documents)


class MaskAsNumbers(BothWays):
    """A mask of 0 and 1 is added to the scores, in place of 0 and minus infinity."""

    def softmax(self, scores: Tensor, seen: Tensor) -> Tensor:
        """Prefer real tokens by a little."""
        return (scores + seen.to(scores.dtype)).softmax(-1)


class SquareMask(Attention):
    """A padding mask is taken for one of (queries, keys) where its shape allows that."""

    def masked(self, seen: Tensor, real: Tensor, documents: Tensor) -> Tensor:
        """Guess by the shape."""
        if real.shape == seen.shape:
            return (seen & real)[None, None]
        return super().masked(seen, real, documents)


class NobodyToSee(Attention):
    """A padded token in front may look at nobody: its softmax is NaN, which the next layer sees."""

    def softmax(self, scores: Tensor, seen: Tensor) -> Tensor:
        """Fill with minus infinity, in whole rows."""
        return scores.masked_fill(~seen, -math.inf).softmax(-1)

    def forward(
        self,
        x: Tensor,
        positions: Any = None,
        padding: Any = None,
        documents: Any = None,
        cache: Any = None,
    ) -> Tensor:
        """Go through the layer twice."""
        once = super().forward(x, positions, padding, documents)
        return super().forward(once, positions, padding, documents)


class DocumentsSeen(Attention):
    """Documents count from 0 each, and see each other all the same."""

    def masked(self, seen: Tensor, real: Tensor, documents: Tensor) -> Tensor:
        """Forget where a document ends."""
        return super().masked(seen, real, torch.zeros_like(documents))


class DocumentsCountedOn(Added):
    """Documents do not see each other, but the second one goes on counting."""

    def places(self, x: Tensor, positions: Any, real: Tensor, documents: Tensor) -> Tensor:
        """Forget where a document begins."""
        return super().places(x, positions, real, torch.zeros_like(documents))


# --- places and distances


class IgnoresPositions(Attention):
    """Positions are taken, and tokens count 0, 1, 2, ... all the same."""

    def places(self, x: Tensor, positions: Any, real: Tensor, documents: Tensor) -> Tensor:
        """Count."""
        return super().places(x, None, real, documents)


class FirstRowsPlaces(Attention):
    """The places of the first row are used for all."""

    def places(self, x: Tensor, positions: Any, real: Tensor, documents: Tensor) -> Tensor:
        """Take one row."""
        one = None if positions is None else positions[:1]
        return super().places(x, one, real, documents)


class CountsFromOne(Added):
    """Who counts itself begins at 1, who is told begins at 0."""

    def places(self, x: Tensor, positions: Any, real: Tensor, documents: Tensor) -> Tensor:
        """Add 1 where nobody gave positions."""
        t = super().places(x, positions, real, documents)
        return t if positions is not None else t + 1


class TurnsTheOtherWay(Attention):
    """Keys turn against queries, so that scores depend on the sum of the places."""

    def turn_key(self, k: Tensor, t: Tensor) -> Tensor:
        """Turn by minus the place."""
        return self.turn(k, -t)


class MixedPairs(Attention):
    """Angles are laid out for pairs (i, i + d/2), numbers for pairs (2i, 2i + 1)."""

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Turn neighbours, each by the other pair's angle."""
        angle = (t[..., None].double() * self.omega(t))[:, None]
        angle = torch.cat([angle, angle], -1).to(torch.float64)
        swapped = torch.stack([-q[..., 1::2], q[..., ::2]], -1).flatten(-2)
        return q * angle.cos().to(q.dtype) + swapped * angle.sin().to(q.dtype)


class OtherPairs(Attention):
    """It promises pairs (i, i + d/2), and turns pairs (2i, 2i + 1): right, but other weights'."""

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Turn neighbours."""
        order = torch.arange(q.shape[-1]).unflatten(0, (-1, 2)).T.flatten()
        return super().turn(q[..., order], t)[..., order.argsort()]


class TurnThenNorm(NormThenTurn):
    """The gains of the norm come after the rotation, and pull each pair apart."""

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Return turned queries of one size."""
        return self.sized(Attention.turn(self, q, t))


class FartherIsLouder(Biased):
    """ALiBi with the wrong sign."""

    def bias(self, t: Tensor, t_k: Tensor) -> Tensor:
        """Reward distance."""
        return -super().bias(t, t_k)


class CoarsePlaces(Biased):
    """Distances are counted in bfloat16 even where the model is wide."""

    def bias(self, t: Tensor, t_k: Tensor) -> Tensor:
        """Count coarsely: above 256, bfloat16 has even numbers only."""
        return super().bias(t.bfloat16().double(), t_k.bfloat16().double())


class WholeTimes(Attention):
    """Times are rounded to whole steps."""

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Convert to integers, as an index of a table must be."""
        return super().turn(q, t.long())


class AxesAddedUp(Attention):
    """Row and column of a picture are added up, so that (1, 2) and (2, 1) are one place."""

    def places(self, x: Tensor, positions: Any, real: Tensor, documents: Tensor) -> Tensor:
        """Make one number of two."""
        one = None if positions is None else positions.sum(-1)
        return super().places(x, one, real, documents)


class AxesSwapped(TwoAxes):
    """Keys turn by (column, row), queries by (row, column)."""

    def turn_key(self, k: Tensor, t: Tensor) -> Tensor:
        """Take the axes the other way round."""
        return self.turn(k, t.flip(-1))


class WindowTooWide(NarrowWindow):
    """A window of 4 lets a token see four before it, and so five in all."""

    window = 5  # `<=` where `<` is meant


class SecondWindowTooWide(TwoLayers):
    """Of two layers, the second sees one place too many."""

    def __init__(self) -> None:
        super().__init__((4, 5))


class WindowComesBack(Windowed):
    """Distances are taken from a ring of twice the window, so that old tokens come back."""

    def seen(self, n_queries: int, n_keys: int) -> Tensor:
        """Take the remainder."""
        t = torch.arange(n_keys, device=self.out.weight.device)
        distance = (t[-n_queries:, None] - t) % (2 * self.window)
        return Attention.seen(self, n_queries, n_keys) & (distance < self.window)


class WrongGroups(Attention):
    """Shared heads are repeated as a whole, and not each beside itself."""

    def share(self, k: Tensor) -> Tensor:
        """Hand out 0, 1, 0, 1 in place of 0, 0, 1, 1."""
        return k.repeat(1, self.n_heads // k.shape[1], 1, 1)


# --- the message


class ForgetsToTurnBack(TurnsValues):
    """Values turn with the keys, and what a token gets stays turned."""

    def deliver(self, out: Tensor, t: Tensor) -> Tensor:
        """Leave it as it came."""
        return out


class TurnsBackByTheKey(TurnsValues):
    """What a token gets is turned back by the keys' places, others with a cache."""

    def remember(
        self, cache: Cache | None, k: Tensor, v: Tensor, t: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Note where the keys stand."""
        k, v, self.t_k = super().remember(cache, k, v, t)
        return k, v, self.t_k

    def deliver(self, out: Tensor, t: Tensor) -> Tensor:
        """Take the places of as many keys as there are queries."""
        return super().deliver(out, self.t_k[:, : out.shape[2]])


# --- half precision, moves


class RoundedAngles(Attention):
    """Places and angles have the type of the queries."""

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Round first, then multiply."""
        angle = (t[..., None].to(q.dtype) * self.omega(t).to(q.dtype))[:, None]
        cos, sin = angle.cos(), angle.sin()
        a, b = q.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class CastFrequencies(Attention):
    """Frequencies are a buffer, which a cast of the model rounds."""

    inv_freq: Tensor

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.register_buffer("inv_freq", super().omega(torch.empty(0)).float(), persistent=False)

    def omega(self, t: Tensor) -> Tensor:
        """Take the buffer, in whatever type it is by now."""
        return self.inv_freq.double()


class BuiltInHalf(Attention):
    """Frequencies are computed in the type that is the default while the model is built."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        i = torch.arange(self.d_head // 2, dtype=torch.get_default_dtype())
        self.rates = (10_000.0 ** (-2 * i / self.d_head)).tolist()

    def omega(self, t: Tensor) -> Tensor:
        """Take what was computed then."""
        return torch.tensor(self.rates, device=t.device, dtype=torch.float64)


class PlainTable(Attention):
    """Frequencies are a plain attribute, which stays where it was made."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.inv_freq = super().omega(torch.empty(0))

    def omega(self, t: Tensor) -> Tensor:
        """Take the attribute."""
        return self.inv_freq


class SoftmaxStaysWide(Attention):
    """The softmax is taken in float32, and nobody goes back to the type of the values."""

    def softmax(self, scores: Tensor, seen: Tensor) -> Tensor:
        """Return float32 in whatever model."""
        return super().softmax(scores.float(), seen)


class UnsavedTable(Attention):
    """Frequencies are drawn at random and not saved, so that a loaded model has others."""

    rates: Tensor

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.register_buffer(
            "rates", torch.rand(self.d_head // 2, dtype=torch.float64), persistent=False
        )

    def omega(self, t: Tensor) -> Tensor:
        """Take what was drawn."""
        return self.rates.double()


# --- memory, and beyond the trained length


class Remembers(Attention):
    """Dynamic NTK: a longer input slows the frequencies, and they stay slow."""

    max_length = 16

    def omega(self, t: Tensor) -> Tensor:
        """Stretch the base for the longest input so far."""
        self.longest = max(getattr(self, "longest", self.max_length), t.shape[-1])
        return super().omega(t) ** (1 + 0.2 * math.log2(self.longest / self.max_length))


class WearsOff(Attention):
    """A table is scaled in place, at every call anew."""

    rates: Tensor

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.register_buffer("rates", super().omega(torch.empty(0)))

    def omega(self, t: Tensor) -> Tensor:
        """Multiply by 0.9 what was multiplied before."""
        self.rates *= 0.9
        return self.rates.double()


class ChangesItsInput(Added):
    """Places are added to the tokens in place, and the caller's tokens are others then."""

    def embed(self, x: Tensor, t: Tensor) -> Tensor:
        """Write `+=` where `+` is meant."""
        x += self.table(t)
        return x


class DropsAlways(Attention):
    """`functional.dropout` drops in evaluation, too, unless it is told."""

    def softmax(self, scores: Tensor, seen: Tensor) -> Tensor:
        """Forget `training=self.training`."""
        return nn.functional.dropout(super().softmax(scores, seen), 0.2)


class ClampedPlaces(Added):
    """Beyond the table, every token stands at its last place."""

    max_length = 16

    def embed(self, x: Tensor, t: Tensor) -> Tensor:
        """Clamp, so that nothing is raised."""
        return x + self.table(t.clamp(max=self.max_length - 1))


class PlacesBeginAgain(Added):
    """Beyond the table, places begin again at 0."""

    max_length = 16

    def embed(self, x: Tensor, t: Tensor) -> Tensor:
        """Take the remainder, so that nothing is raised."""
        return x + self.table(t % self.max_length)


class StretchesWithLength(Attention):
    """Dynamic NTK without memory: every answer changes once the input outgrows 16 tokens."""

    max_length = 16

    def omega(self, t: Tensor) -> Tensor:
        """Stretch the base for this input."""
        longer = max(1.0, t.shape[-1] / self.max_length)
        return super().omega(t) ** (1 + 0.2 * math.log2(longer))


# --- no answer at all


class Hangs(Attention):
    """It waits for something that never comes."""

    def bias(self, t: Tensor, t_k: Tensor) -> Tensor:
        """Wait."""
        while True:
            pass


class Pools(Attention):
    """It gives one output for a whole row."""

    def answer(self, out: Tensor) -> Tensor:
        """Average over the row."""
        return out.mean(1)


class WholeNumbers(Attention):
    """Its outputs are integers."""

    def answer(self, out: Tensor) -> Tensor:
        """Round."""
        return out.long()


class ComplexNumbers(Attention):
    """Its outputs are complex, as those of a rotation by multiplication are on the way."""

    def answer(self, out: Tensor) -> Tensor:
        """Forget to go back."""
        return out + 0j


class NotANumber(Attention):
    """It divides by a place, and the first one is 0."""

    def bias(self, t: Tensor, t_k: Tensor) -> Tensor:
        """Divide 0 by 0."""
        return (t_k / t_k)[:, None, None, :].to(self.out.weight.dtype)


class OneTokenIsTooFew(Attention):
    """`squeeze` takes the length away where it is 1."""

    def answer(self, out: Tensor) -> Tensor:
        """Squeeze too much."""
        return out.squeeze(1)


# --- compiled, exported


class OtherWhenCompiled(Attention):
    """A short cut for the compiler leaves something out."""

    def turn(self, q: Tensor, t: Tensor) -> Tensor:
        """Turn neighbours, not halves, while compiling."""
        if torch.compiler.is_compiling():
            return q
        return super().turn(q, t)


class ForgetsWhenCompiled(StartsAgain):
    """While it is compiled, new tokens count from 0, whatever the cache holds."""

    def places(self, x: Tensor, positions: Any, real: Tensor, documents: Tensor) -> Tensor:
        """Forget the cache for the compiler."""
        if torch.compiler.is_compiling():
            return super().places(x, positions, real, documents)
        return Attention.places(self, x, positions, real, documents)


class DecidesByValue(Attention):
    """Whether to stretch is decided by looking at a number, which no exported program can."""

    def omega(self, t: Tensor) -> Tensor:
        """Look at the largest place."""
        return super().omega(t) / (2.0 if float(t.max()) >= 10_000 else 1.0)


BASES: tuple[type[nn.Module], ...] = (Added, Biased, TwoAxes, NormThenTurn, TurnsValues)
BASES += (NarrowWindow, Windowed)
BASES += (TwoLayers, BothWays, Attention)
"""Layers that keep what they promise."""


@dataclass(frozen=True)
class Exhibit:
    """A broken layer, the checks that must find it, what it promises besides, and its twin.

    The twin is right, and keeps what the broken one promises; None stands for the first class of
    `BASES` from which the broken one is made.
    """

    broken: type[nn.Module]
    found_by: tuple[str, ...]
    promises: Mapping[str, Any] = field(default_factory=dict)
    twin: type[nn.Module] | None = None

    @property
    def right(self) -> type[nn.Module]:
        """The right layer that stands beside it."""
        return self.twin or next(one for one in BASES if issubclass(self.broken, one))

    def promised(self) -> dict[str, Any]:
        """Return its promises: those of `Attention`, but for those of another base."""
        words: dict[str, Any] = {**PROMISES}
        if issubclass(self.broken, Added):
            words |= dict.fromkeys(("relative", "layout", "real_times", "longest"))
        if issubclass(self.broken, Biased):
            words |= {"layout": None}
        if not getattr(self.broken, "causal", True):
            words |= {"causal": False, "cached": None}
        words |= self.promises
        return {word: value for word, value in words.items() if value is not None}


def together(one: str, other: str) -> str:
    """Return the name of the check of two promises."""
    return f"together, {WAYS[one]} and {WAYS[other]} change nothing"


ANSWERS = "it answers, with one output for each token"
TWICE = "the same input twice gives the same answer twice"
AGAIN = "the same input gives the same answer after another one"
CAUSAL = "no token sees a later one"
GOES_ON = "no earlier answer changes as the text goes on"
ONE, CHUNKS = "one token at a time equals all at once", "chunks equal all at once"
ROWS, SHORT = (
    "batch rows do not see each other",
    "a short row beside a long one is answered as if alone",
)
LEFT, RIGHT, SQUARE = (
    "padding on the left changes nothing",
    "padding on the right changes nothing",
    "a batch as large as it is long is padded like any other",
)
PACKED = "packed documents equal documents alone"
READ = "positions that are handed over are read"
MOVED, OFFSETS = "moving all tokens changes nothing", "scores depend on the offset only"
FAR = "far places keep their neighbours apart"
TIMES = "real times are read, not rounded"
HALF, CAST, BUILT = (
    "positions survive half precision",
    "distant tokens keep their places when cast to half precision",
    "distant tokens keep their places when built in half precision",
)
OWN = "rows of a batch stand at places of their own"
NEARER = "of tokens that are alike, the nearer is heard louder"
WINDOW = "a window ends where it says"
DEVICE = "another device gets the tables, too"
APART = "beyond the trained length it refuses, or tells places apart"

GALLERY = (
    Exhibit(
        NoPlaces, ("the order of tokens matters", READ, TIMES), {"layout": None, "longest": None}
    ),
    Exhibit(
        BlindInOneBuffer,
        ("the order of tokens matters", READ, TIMES),
        {"layout": None, "longest": None},
        InOneBuffer,
    ),
    Exhibit(
        BlindWithOwnMinus,
        ("the order of tokens matters", READ, TIMES),
        {"layout": None, "longest": None},
    ),
    Exhibit(OneAhead, (CAUSAL, GOES_ON, ONE, CHUNKS)),
    Exhibit(LengthScaled, (GOES_ON, ONE, CHUNKS, SHORT, LEFT, RIGHT, SQUARE, PACKED)),
    Exhibit(StartsAgain, (ONE, CHUNKS)),
    Exhibit(OpenChunks, (CHUNKS,)),
    Exhibit(TurnedTwice, (ONE, CHUNKS)),
    Exhibit(OneCacheForAll, ("two texts do not share a cache",)),
    Exhibit(CountsOnByLength, (together("cached", "padding left"), together("cached", "packing"))),
    Exhibit(
        FirstRowCounts,
        (
            together("cached", "padding left"),
            together("cached", "padding right"),
            together("cached", "packing"),
        ),
    ),
    Exhibit(CacheWithoutDocuments, (together("cached", "packing"),)),
    Exhibit(CountsInTheCache, (together("cached", "given_positions"),)),
    Exhibit(WindowOfThePiece, (together("cached", "window"),), {"window": 32}),
    Exhibit(SharedSize, (ROWS, SHORT, SQUARE, OWN, MOVED, LEFT, RIGHT, PACKED)),
    Exhibit(PaddingSeen, (LEFT,)),
    Exhibit(HidesByLogarithm, (together("padding left", "dtypes"),), {"dtypes": "bfloat16"}),
    Exhibit(CountsPadding, (LEFT, SQUARE), {"padding": "left alone"}),
    Exhibit(MaskAsNumbers, (RIGHT, LEFT, SHORT, SQUARE, PACKED)),
    Exhibit(SquareMask, (SQUARE,)),
    Exhibit(NobodyToSee, (LEFT,), {"cached": None, "layout": None}),
    Exhibit(DocumentsSeen, (PACKED,)),
    Exhibit(DocumentsCountedOn, (PACKED,)),
    Exhibit(IgnoresPositions, (READ, TIMES), {"longest": None}),
    Exhibit(FirstRowsPlaces, (OWN, READ, MOVED, TIMES), {"longest": None}),
    Exhibit(CountsFromOne, ("positions that count are those it counts itself",)),
    Exhibit(TurnsTheOtherWay, (MOVED, OFFSETS)),
    Exhibit(MixedPairs, (OFFSETS, MOVED, "pairs of dimensions are laid out as promised")),
    Exhibit(OtherPairs, ("pairs of dimensions are laid out as promised",)),
    Exhibit(TurnThenNorm, (MOVED, OFFSETS, "pairs of dimensions are laid out as promised")),
    Exhibit(FartherIsLouder, (NEARER,), {"nearer": True, "dtypes": None}),
    Exhibit(ForgetsToTurnBack, (MOVED,)),
    Exhibit(TurnsBackByTheKey, (ONE, CHUNKS)),
    Exhibit(CoarsePlaces, (FAR, MOVED, OFFSETS)),
    Exhibit(WholeTimes, (TIMES,)),
    Exhibit(
        AxesAddedUp,
        ("every axis of a position is read",),
        dict.fromkeys(PROMISES) | {"axes": 2},
        TwoAxes,
    ),
    Exhibit(AxesSwapped, (MOVED,), {"axes": 2, "layout": None}),
    Exhibit(WindowTooWide, (WINDOW,), {"window": 4}),
    Exhibit(WindowComesBack, (WINDOW,), {"window": 32}),
    Exhibit(
        SecondWindowTooWide,
        (WINDOW,),
        {"window": 4, "layers": 2, "layout": None, "shared_heads": None},
    ),
    Exhibit(WrongGroups, ("shared heads equal repeated heads",)),
    Exhibit(RoundedAngles, (HALF, CAST, BUILT)),
    Exhibit(CastFrequencies, (CAST,)),
    Exhibit(BuiltInHalf, (BUILT, HALF)),
    Exhibit(PlainTable, (DEVICE,)),
    Exhibit(SoftmaxStaysWide, ("another dtype keeps the tables",), {"dtypes": None}),
    Exhibit(
        UnsavedTable,
        ("a saved and loaded state answers the same",),
        {"shared_heads": None, "dtypes": None},
    ),
    Exhibit(Remembers, (AGAIN, SHORT), {"trained": 16}),
    Exhibit(WearsOff, (TWICE,)),
    Exhibit(ChangesItsInput, (TWICE,)),
    Exhibit(DropsAlways, (TWICE,)),
    Exhibit(ClampedPlaces, (APART,), {"trained": 16, "beyond": "exact"}, Attention),
    Exhibit(PlacesBeginAgain, (APART,), {"trained": 16, "beyond": "exact"}, Attention),
    Exhibit(
        StretchesWithLength,
        (
            "beyond the trained length, earlier answers stay",
            "a cache that outgrows the trained length equals all at once",
            SHORT,
        ),
        {"trained": 16, "beyond": "exact"},
    ),
    Exhibit(Hangs, (ANSWERS,)),
    Exhibit(Pools, (ANSWERS,)),
    Exhibit(NotANumber, (ANSWERS,)),
    Exhibit(WholeNumbers, (ANSWERS,)),
    Exhibit(ComplexNumbers, (ANSWERS,)),
    Exhibit(OneTokenIsTooFew, (ANSWERS,)),
    Exhibit(OtherWhenCompiled, ("compiled equals eager",), {"compiled": True}),
    Exhibit(ForgetsWhenCompiled, (together("cached", "compiled"),), {"compiled": True}),
    Exhibit(DecidesByValue, ("export keeps buffers",), {"exported": True}),
)
"""Every broken layer; the first of its checks is the one that names the fault."""
