"""Loops that write, with one fault each, all of our own writing, and the checks that find them.

`Loop` is right in all that it promises. Each other class changes one step of it, as people do by
mistake. `GALLERY` lists them with the checks that must find them, and no other check may.
"""

# ruff: noqa: ARG002 - a step takes its arguments whether its fault needs them or not

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from posenc.attention import Cache
from posenc.models import LanguageModel

WINDOW = 16


class Loop(nn.Module):
    """A small language model and the loop that writes with it, whose every step is a method."""

    encoding = "sinusoidal"

    def __init__(self) -> None:
        super().__init__()
        self.model = LanguageModel(40, 32, 4, 2, position=self.encoding, max_length=WINDOW)

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """Return the logits (rows, length, vocabulary) of whole texts."""
        logits: Tensor = self.model(tokens, positions=positions)
        return logits

    def write(
        self, prompts: Tensor, n_new: int, mask: Tensor | None = None, cache: bool = True
    ) -> tuple[Tensor, Tensor]:
        """Return prompts with the likeliest tokens behind them, and the scores of the new ones."""
        real = self.real(prompts, mask)
        memory = self.memory(prompts) if cache else None
        text, n_read, scores = prompts, 0, []
        for _ in range(n_new):
            t = self.places(real, prompts.shape[1], n_new, n_read)
            logits = self.read(text, t, real, memory, n_read)
            scores.append(self.next_scores(logits, real[:, n_read:]))
            text = torch.cat([text, self.choose(scores[-1])[:, None]], dim=1)
            real = self.carried_on(real)
            n_read = self.where_to_go_on(text) if cache else 0
        return text, torch.stack(scores, dim=1)

    def real(self, prompts: Tensor, mask: Tensor | None) -> Tensor:
        """Return which tokens are real."""
        return torch.ones_like(prompts, dtype=torch.bool) if mask is None else mask

    def memory(self, prompts: Tensor) -> Cache:
        """Return the cache to begin with."""
        return Cache()

    def places(self, real: Tensor, length: int, n_new: int, n_read: int) -> Tensor:
        """Return where all tokens stand, (rows, so far): real ones are counted."""
        return (real.long().cumsum(1) - 1).clamp(min=0)

    def read(
        self, text: Tensor, t: Tensor, real: Tensor, memory: Cache | None, n_read: int
    ) -> Tensor:
        """Return the logits of the tokens that have not been read."""
        new = slice(n_read, None)
        logits: Tensor = self.model(
            text[:, new], positions=t[:, new], padding=real[:, new], cache=memory
        )
        return logits

    def next_scores(self, logits: Tensor, real: Tensor) -> Tensor:
        """Return the scores behind each row's last real token, (rows, vocabulary)."""
        last = (torch.arange(real.shape[1]) * real).argmax(1)
        return logits[torch.arange(len(logits)), last]

    def choose(self, scores: Tensor) -> Tensor:
        """Return the next token of each row."""
        return scores.argmax(-1)

    def carried_on(self, real: Tensor) -> Tensor:
        """Return which tokens are real once there is a new one."""
        return torch.cat([real, torch.ones_like(real[:, :1])], dim=1)

    def where_to_go_on(self, text: Tensor) -> int:
        """Return how many tokens the cache holds."""
        return text.shape[1] - 1


class CountsPadding(Loop):
    """Positions are columns, so that padding on the left moves the real tokens."""

    def places(self, real: Tensor, length: int, n_new: int, n_read: int) -> Tensor:
        return torch.arange(real.shape[1]).expand(real.shape)


class CountsOnByColumn(Loop):
    """The prompt is counted rightly, and new tokens go on from its padded length."""

    def places(self, real: Tensor, length: int, n_new: int, n_read: int) -> Tensor:
        t = super().places(real, length, n_new, n_read).clone()
        t[:, length:] = torch.arange(length, real.shape[1])
        return t


class FirstRowDecides(Loop):
    """The places of the first row are those of all."""

    def places(self, real: Tensor, length: int, n_new: int, n_read: int) -> Tensor:
        return super().places(real, length, n_new, n_read)[:1].expand(real.shape)


class SeesPadding(Loop):
    """Positions follow the mask, and attention does not."""

    def read(
        self, text: Tensor, t: Tensor, real: Tensor, memory: Cache | None, n_read: int
    ) -> Tensor:
        return super().read(text, t, torch.ones_like(real), memory, n_read)


class ForgetsTheMask(Loop):
    """The mask is used once, and not carried on to the new tokens' steps."""

    def read(
        self, text: Tensor, t: Tensor, real: Tensor, memory: Cache | None, n_read: int
    ) -> Tensor:
        if memory is None or not n_read:
            return super().read(text, t, real, memory, n_read)
        fresh = Cache()  # the keys and values of all tokens, as if all were real
        self.model(text[:, :n_read], positions=t[:, :n_read], cache=fresh)
        return super().read(text, t, real, fresh, n_read)


class KnowsPaddingByToken(Loop):
    """A mask is taken, and made anew from the token 0."""

    def real(self, prompts: Tensor, mask: Tensor | None) -> Tensor:
        return super().real(prompts, mask) if mask is None else prompts != 0


class ReadsTheLastColumn(Loop):
    """The last column's scores are read, even where it is padding."""

    def next_scores(self, logits: Tensor, real: Tensor) -> Tensor:
        return logits[:, -1]


class RestartsAtZero(Loop):
    """With a cache, each new token is a text of its own that begins at 0."""

    def places(self, real: Tensor, length: int, n_new: int, n_read: int) -> Tensor:
        t = super().places(real, length, n_new, n_read)
        return t - t[:, n_read : n_read + 1] if n_read else t


class StandsStill(Loop):
    """With a cache, all new tokens stand where the first of them stands."""

    def places(self, real: Tensor, length: int, n_new: int, n_read: int) -> Tensor:
        t = super().places(real, length, n_new, n_read)
        return t.minimum(t[:, length : length + 1]) if n_read else t


class OneAhead(Loop):
    """With a cache, new tokens stand one place too far."""

    def places(self, real: Tensor, length: int, n_new: int, n_read: int) -> Tensor:
        return super().places(real, length, n_new, n_read) + (n_read > 0)


class HandsOverAgain(Loop):
    """The whole text is handed over although the cache has most of it."""

    def where_to_go_on(self, text: Tensor) -> int:
        return 0


class LosesItsCache(Loop):
    """The cache that comes back is not handed over with the next token."""

    def read(
        self, text: Tensor, t: Tensor, real: Tensor, memory: Cache | None, n_read: int
    ) -> Tensor:
        return super().read(text, t, real, None, n_read)


class ReadsTheLastToken(Loop):
    """Only the last token of the prompt is handed over."""

    def write(
        self, prompts: Tensor, n_new: int, mask: Tensor | None = None, cache: bool = True
    ) -> tuple[Tensor, Tensor]:
        text, scores = super().write(prompts[:, -1:], n_new, None, cache)
        return text[:, 1:], scores


class KeepsItsCache(Loop):
    """The cache is the model's, and nobody empties it."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[int, Cache] = {}

    def memory(self, prompts: Tensor) -> Cache:
        return self.kept.setdefault(len(prompts), Cache())


class KnowsPromptsByShape(Loop):
    """What was written is kept for the next prompts that are alike, and their shape decides."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[Any, ...], tuple[Tensor, Tensor]] = {}

    def write(
        self, prompts: Tensor, n_new: int, mask: Tensor | None = None, cache: bool = True
    ) -> tuple[Tensor, Tensor]:
        key = (*prompts.shape, n_new)
        if key not in self.kept:
            self.kept[key] = super().write(prompts, n_new, mask, cache)
        return self.kept[key]


class CountsFromTheEnd(Loop):
    """The prompt is placed so that the last token to be written stands at the window's end."""

    def places(self, real: Tensor, length: int, n_new: int, n_read: int) -> Tensor:
        return super().places(real, length, n_new, n_read) + max(WINDOW - length - n_new, 0)


class FirstRowWritesForAll(Loop):
    """One token is chosen for the whole batch."""

    def choose(self, scores: Tensor) -> Tensor:
        return super().choose(scores)[:1].expand(len(scores))


class DropsTheBatch(Loop):
    """`squeeze` takes away more than it should when there is one prompt."""

    def next_scores(self, logits: Tensor, real: Tensor) -> Tensor:
        return super().next_scores(logits, real).squeeze()


class CutsTooShort(Loop):
    """A full window is cut to one token less than it holds."""

    def read(
        self, text: Tensor, t: Tensor, real: Tensor, memory: Cache | None, n_read: int
    ) -> Tensor:
        if text.shape[1] < WINDOW or n_read:
            return super().read(text, t, real, memory, n_read)
        cut = slice(1, None)
        short = super().read(text[:, cut], t[:, :-1], real[:, cut], memory, 0)
        return torch.cat([short[:, :1], short], dim=1)


class Draws(Loop):
    """The next token is drawn."""

    def choose(self, scores: Tensor) -> Tensor:
        return scores.softmax(-1).multinomial(1)[:, 0]


class Placed(Loop):
    """A right loop with RoPE that takes the positions of its prompts."""

    encoding = "rotary"

    def write(
        self, prompts: Tensor, n_new: int, positions: Tensor | None = None, cache: bool = True
    ) -> tuple[Tensor, Tensor]:
        """Return what `Loop` returns; prompts may begin at any position."""
        self.given = torch.arange(prompts.shape[1])[None] if positions is None else positions
        return super().write(prompts, n_new, cache=cache)

    def places(self, real: Tensor, length: int, n_new: int, n_read: int) -> Tensor:
        """Return the positions of the prompts, and those behind them."""
        behind = self.given[:, -1:] + 1 + torch.arange(real.shape[1] - length)
        return torch.cat([self.given, behind], dim=1).expand(real.shape)


class CountsOnByLength(Placed):
    """New tokens are placed by their number, wherever the prompt began."""

    def places(self, real: Tensor, length: int, n_new: int, n_read: int) -> Tensor:
        behind = torch.arange(length, real.shape[1])[None]
        return torch.cat([self.given, behind], dim=1).expand(real.shape)


@dataclass(frozen=True)
class Exhibit:
    """A broken loop, the checks that must find it, words of its reason, and what it promises."""

    broken: type[Loop]
    found_by: tuple[str, ...]
    because: str
    promises: Mapping[str, Any] = field(default_factory=dict)

    @property
    def right(self) -> type[Loop]:
        """The right loop that stands beside it."""
        return Placed if issubclass(self.broken, Placed) else Loop

    def promised(self) -> dict[str, Any]:
        """Return what it promises."""
        usual = {"relative": True} if self.right is Placed else {"padding": "both"}
        return {"trained": WINDOW, **usual, **self.promises}


ANSWERS = "it writes as many tokens as it was asked for"
AGAIN = "the same prompts again are answered the same"
ORDER = "the order of a prompt changes what is written"
AFTER = "the same prompts are answered the same behind others"
GOES = "some tokens and then more equal all in one go"
ROWS = "prompts in a batch are answered as if alone"
CACHED = "with a cache it writes what it writes without"
LIKELIEST = "each new token is the likeliest to the model itself"
LEFT = "prompts padded on the left are answered as if alone"
RIGHT = "prompts padded on the right are answered as if alone"
VALUE = "any token may stand in the padding"
WHOLE = "a prompt as long as the window is read to its beginning"
MOVED = "prompts that begin elsewhere are answered the same"

GALLERY = (
    Exhibit(CountsPadding, (LEFT, RIGHT), "positions are counted from the padding"),
    Exhibit(CountsOnByColumn, (LEFT, RIGHT), "behind the padded length"),
    Exhibit(FirstRowDecides, (LEFT, RIGHT), "padded tokens are seen, or they are counted"),
    Exhibit(SeesPadding, (LEFT, RIGHT, VALUE), "padded tokens are seen"),
    Exhibit(ForgetsTheMask, (LEFT, RIGHT, VALUE), "padded tokens are seen"),
    Exhibit(KnowsPaddingByToken, (VALUE,), "padding is known by one token"),
    Exhibit(ReadsTheLastColumn, (RIGHT,), "the scores of the last column"),
    Exhibit(RestartsAtZero, (CACHED, LIKELIEST, GOES), "positions restart at 0"),
    Exhibit(StandsStill, (CACHED, LIKELIEST, GOES), "all new tokens stand at one place"),
    Exhibit(OneAhead, (CACHED, LIKELIEST, GOES), "one place too far"),
    Exhibit(HandsOverAgain, (CACHED, LIKELIEST, GOES), "something is not carried on"),
    Exhibit(LosesItsCache, (CACHED, LIKELIEST, GOES), "something is not carried on"),
    Exhibit(ReadsTheLastToken, (ORDER, LIKELIEST, GOES, RIGHT, WHOLE), "only its end is read"),
    Exhibit(KeepsItsCache, (AGAIN,), "left over from the call before"),
    Exhibit(KnowsPromptsByShape, (AFTER,), "kept for other prompts"),
    Exhibit(CountsFromTheEnd, (GOES, LIKELIEST, LEFT, RIGHT), "the number of new tokens decides"),
    Exhibit(FirstRowWritesForAll, (ROWS, LEFT, RIGHT), "one row decides for all"),
    Exhibit(DropsTheBatch, (ANSWERS,), "too many indices for tensor"),
    Exhibit(CutsTooShort, (WHOLE,), "cut one token too short"),
    Exhibit(Draws, (AGAIN,), "it draws its tokens"),
    Exhibit(CountsOnByLength, (MOVED,), "and not on from the last position"),
)
"""Every broken loop; the first of its checks is the one that names the fault."""
