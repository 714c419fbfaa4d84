"""Where tokens stand: what a layer knows of positions, and what a door may ask of it."""

from collections.abc import Callable, Hashable
from typing import Any, NoReturn, TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from posenc import _checks
from posenc.attention.numerics import exporting, in_transform

_Made = TypeVar("_Made")


class Steps:
    """Positions of the tokens of one sequence: counted from a first one, or as given.

    Parameters
    ----------
    length : int
        Number of tokens.
    device : torch.device
        Where the positions are wanted.
    first : int
        Position of the first token, if they are counted.
    given : Tensor, optional
        (batch or 1, length), or (batch or 1, length, n_axes) for encodings that want several
        numbers a token; `first` means nothing then.
    known : (batch, length) bool, optional
        False where a given position means nothing, as that of a padded token.
    name : str
        What the caller knows given positions by, for messages.

    Examples
    --------
    >>> Steps(3, torch.device("cpu"), first=5).positions.tolist()
    [[5, 6, 7]]
    >>> times = torch.tensor([[0.0, 0.5, 2.0]])
    >>> Steps(3, times.device, given=times).onward(2).positions.tolist()  # of the next two tokens
    [[3.0, 4.0]]
    """

    def __init__(
        self,
        length: int,
        device: torch.device,
        first: int = 0,
        given: Tensor | None = None,
        known: Tensor | None = None,
        name: str = "positions",
    ) -> None:
        self.length = length
        self.device = device
        self.first = first
        self.given = given
        self.known = known
        self.name = name

    @property
    def positions(self) -> Tensor:
        """(batch or 1, length), or with a last axis more; integers if they are counted."""
        if self.given is not None:
            return self.given
        return torch.arange(self.first, self.first + self.length, device=self.device)[None]

    def part(self, start: int, stop: int) -> "Steps":
        """Return where some of these tokens stand."""
        given, known = (None if a is None else a[:, start:stop] for a in (self.given, self.known))
        first = self.first + start
        return Steps(stop - start, self.device, first, given, known, self.name)

    def of_rows(self, rows: Tensor) -> "Steps":
        """Return where tokens stand in these rows of the batch."""
        if self.given is None:
            return self
        given = self.given if len(self.given) == 1 else self.given[rows]
        known = None if self.known is None else self.known[rows]
        return Steps(self.length, self.device, given=given, known=known, name=self.name)

    def onward(self, length: int) -> "Steps":
        """Return where the next tokens stand if nobody says so: one step after another.

        Tokens whose position means nothing are one step each, too.
        """
        if self.given is None or not self.length:
            return Steps(length, self.device, self.first + self.length)
        count = torch.arange(1, length + 1, device=self.device)
        return Steps(length, self.device, given=self._end() + count)

    def _end(self) -> Tensor:
        """Return where the last token of each row stands, (batch or 1, 1)."""
        if self.known is None:
            return self.positions[:, -1:]
        step = torch.arange(self.length, device=self.device)
        last = step.where(self.known, -1).amax(1, keepdim=True)
        position = self.positions.gather(1, last.clamp(min=0)).where(last >= 0, -1)
        return position + (self.length - 1 - last)

    def highest(self) -> Tensor:
        """Return the highest position up to each token, padded ones left out, (batch or 1, n)."""
        if self.known is None:
            return self.positions.detach().cummax(1).values
        info = torch.finfo if self.positions.is_floating_point() else torch.iinfo
        lowest = info(self.positions.dtype).min
        return self.positions.detach().where(self.known, lowest).cummax(1).values

    def joined(self, new: "Steps") -> "Steps":
        """Return these tokens and new ones behind them as one sequence."""
        length = self.length + new.length
        if not self.length:
            return new
        if self.given is None and new.given is None and new.first == self.first + self.length:
            return Steps(length, self.device, self.first)
        one, other = self.positions, new.positions
        batch = max(one.shape[0], other.shape[0])
        both = [a.expand(batch, *a.shape[1:]) for a in (one, other)]
        if new.given is not None and new.length and can_look(other):
            warn_of_joined(new.name, both[0][:, -1:].detach(), both[1][:, :1].detach())
        known = None
        if self.known is not None or new.known is not None:
            known = torch.cat([steps._all_known(batch) for steps in (self, new)], 1)
        return Steps(length, self.device, given=torch.cat(both, 1), known=known)

    def _all_known(self, batch: int) -> Tensor:
        """Return which positions mean something, (batch, length)."""
        if self.known is not None:
            return self.known
        return torch.ones(batch, self.length, dtype=torch.bool, device=self.device)

    def whole(self, who: str, *, lowest: int | None = None) -> Tensor:
        """Return the positions as integers, or raise ValueError unless they are whole numbers.

        Parameters
        ----------
        who : str
            Who wants whole numbers and why, for the message: "Learnable has a vector for each".
        lowest : int, optional
            Smallest position allowed.
        """
        positions = self.positions
        if not positions.numel():
            return positions.long()
        if can_look(positions):
            fraction = positions != positions.round() if positions.is_floating_point() else None
            if fraction is not None and fraction.any():
                refuse(self.name, f"must be whole numbers, as {who}", positions[fraction][0])
            if lowest is not None and self.given is not None and positions.min() < lowest:
                refuse(self.name, f"must be at least {lowest}, as {who}", positions.min())
        elif positions.is_floating_point():
            refuse(self.name, f"must be integers in a transformed program, as {who}", "floats")
        return positions.long()

    def end(self, limit: int) -> int:
        """Return how many rows a table needs to have one for each of these whole positions.

        That is `limit` where a transform such as `torch.vmap` keeps the numbers from view.
        """
        if self.given is None:
            return self.first + self.length
        if not can_look(self.given):
            return limit
        return int(self.given.max()) + 1 if self.given.numel() else 0

    def ends(self, limit: int) -> list[int]:
        """Return `end` for each row that has positions of its own, or one number for all rows."""
        rows = self.given
        if rows is None or len(rows) <= 1 or not rows.numel() or not can_look(rows):
            return [self.end(limit)]
        return [int(last) + 1 for last in rows.flatten(1).amax(1).tolist()]


class Places:
    """Positions of queries and keys, handed to a door that has an argument `places`.

    A layer makes it; by hand, `Places.of(x)` is that of tokens that count.

    Parameters
    ----------
    of_queries, of_keys : Steps
        Positions of either, counted or given.
    causal, cached, crossed : bool
        Whether a query sees no later key, whether there is a cache, and whether keys belong to
        another sequence.
    tokens : (batch, n_keys, d_model), optional
        Or, with a cache, what `Position.kept` made of it.
    memory : dict, optional
        Where `once` keeps what it has computed: that of a cache.
    common : dict, optional
        Where `in_common` keeps what is the same in all layers; `for_a_pass` begins one.

    Attributes
    ----------
    queries, keys : Tensor (batch or 1, n_queries), (batch or 1, n_keys)
        Their positions, integers or real numbers; with a last axis more for encodings of several
        axes. Both are the same in self-attention without a cache; with one, the keys of earlier
        tokens come first. The doors `embed` and `rotate` see the new tokens alone.
    causal : bool
        Whether a query sees no later key. What a door returns for such pairs is not used.
    plain : bool
        Whether tokens count 0, 1, 2, ... and queries and keys belong to the same tokens.
    tokens : Tensor (batch, n_keys, d_model) or None
        What the keys are made from or, with a cache, what `Position.kept` made of it; for
        encodings with `keeps_tokens`.

    Examples
    --------
    >>> Places.of(torch.zeros(1, 3, 8)).offset()[0, 0].tolist()
    [[0, 1, 2], [-1, 0, 1], [-2, -1, 0]]
    """

    def __init__(
        self,
        of_queries: Steps,
        of_keys: Steps,
        *,
        causal: bool = False,
        cached: bool = False,
        crossed: bool = False,
        tokens: Tensor | None = None,
        memory: dict[str, Tensor] | None = None,
        common: dict[Hashable, Any] | None = None,
    ) -> None:
        self.of_queries = of_queries
        self.of_keys = of_keys
        self.causal = causal
        self.cached = cached
        self.crossed = crossed
        self.tokens = tokens
        self.memory = memory
        self.common = common
        self.counted = of_queries.given is None and of_keys.given is None
        self.plain = self.counted and not cached and not crossed

    @classmethod
    def of(cls, x: Tensor, *, causal: bool = False) -> "Places":
        """Return the places of tokens (..., length, width) that count 0, 1, 2, ..."""
        steps = Steps(x.shape[-2], x.device)
        return cls(steps, steps, causal=causal)

    @classmethod
    def at(cls, positions: Tensor | ArrayLike, x: Tensor, n_axes: int = 1) -> "Places":
        """Return the places of tokens x (batch, length, width) that stand where somebody says.

        Parameters
        ----------
        positions : (length,) or (batch, length), with a last axis `n_axes` if that is above 1
            Integers or real numbers, in float32 or float64.
        x : (batch, length, width)
        n_axes : int

        Raises
        ------
        ValueError
            If the positions do not fit the tokens, or have a half type, which rounds them; if they
            are above 2**53 in size, or a masked array.

        Examples
        --------
        >>> Places.at([0.5, 2.5], torch.zeros(1, 2, 8)).offset()[0, 0].tolist()
        [[0.0, 2.0], [-2.0, 0.0]]
        """
        steps = given_steps(positions, x, n_axes)
        return cls(steps, steps)

    @property
    def queries(self) -> Tensor:
        """Positions of the queries."""
        return self.of_queries.positions

    @property
    def keys(self) -> Tensor:
        """Positions of the keys."""
        return self.of_keys.positions

    @property
    def name(self) -> str:
        """What the caller knows the given positions by, for messages."""
        given = [one.name for one in (self.of_queries, self.of_keys) if one.given is not None]
        return " and ".join(dict.fromkeys(given)) or "positions"

    @property
    def is_step(self) -> bool:
        """Whether there is one query, and tokens are counted, as in decoding."""
        return self.counted and not exporting() and self.of_queries.length == 1

    @property
    def keeps(self) -> bool:
        """Whether there is a memory, and nothing that is kept there may want a gradient."""
        return not (self.memory is None or torch.is_grad_enabled() or torch.compiler.is_compiling())

    def once(self, name: str, make: Callable[[], Tensor]) -> Tensor:
        """Return what `make` makes of the encoding's parameters, once for all calls with a cache.

        Without a cache, and where gradients may be wanted, it is made at every call. Nothing of it
        may depend on tokens or on where they stand.
        """
        memory = self.memory if self.keeps else None
        if memory is None:
            return make()
        if name not in memory:
            memory[name] = make()
        return memory[name]

    def for_a_pass(self) -> "Places":
        """Return these places for one forward pass through a layer, or through all of a model.

        Where one token is decoded, layers that share an encoding then compute once what is the
        same in each, unless a gradient may be wanted.
        """
        if self.cached and self.is_step:
            traced = torch.is_grad_enabled() or torch.compiler.is_compiling() or in_transform()
            self.common = None if traced else {}
        return self

    def in_common(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """Return what `make` makes, once for all layers in a pass that decodes one token.

        The key tells it from all else that is made in the same pass, and says what it depends on
        besides the queries' places: whose encoding it is, and which keys there are.
        """
        if self.common is None:
            return make()
        if key not in self.common:
            self.common[key] = make()
        return self.common[key]

    def with_memory(self, memory: dict[str, Tensor]) -> "Places":
        """Return the same places with the memory of a cache."""
        other = self.over(self.of_keys, self.tokens)
        other.memory = memory
        return other

    def over(self, of_keys: Steps, tokens: Tensor | None) -> "Places":
        """Return the places of the same queries with other keys, made from these tokens."""
        return Places(
            self.of_queries,
            of_keys,
            causal=self.causal,
            cached=self.cached,
            crossed=self.crossed,
            tokens=tokens,
            memory=self.memory,
            common=self.common,
        )

    def offset(self) -> Tensor:
        """Return the position of each key minus that of each query.

        (batch or 1, 1, n_queries, n_keys), which broadcasts to the scores; with a last axis more
        for encodings of several axes.
        """
        return (self.keys[:, None] - self.queries[:, :, None]).unsqueeze(1)

    def reasons(self) -> str:
        """Return in words what makes these places other than plain."""
        found = [
            "a cache" * self.cached,
            "cross-attention" * self.crossed,
            "given positions" * (not self.counted),
        ]
        return " with ".join(word for word in found if word)


def is_plain(places: Places | None) -> bool:
    """Return whether tokens simply count 0, 1, 2, ..., which is also what no places mean."""
    return places is None or places.plain


def given_steps(
    positions: Tensor | ArrayLike,
    x: Tensor,
    n_axes: int = 1,
    real: Tensor | None = None,
    *,
    name: str = "positions",
) -> Steps:
    """Return positions that somebody gave, or raise ValueError unless they fit the tokens.

    Parameters
    ----------
    positions : (length,) or (batch, length), with a last axis `n_axes` if that is above 1
        Integers, float32 or float64; half types have rounded them.
    x : (batch, length, d_model)
    n_axes : int
    real : (batch, length) bool, optional
        Positions of padded tokens count as 0, unless all rows share them.
    name : str
        Of the argument, for messages.
    """
    positions, single = as_numbers(name, positions, x.device)
    last = () if n_axes == 1 else (n_axes,)
    shared, own = (x.shape[1], *last), (*x.shape[:2], *last)
    if positions.shape not in (shared, own):
        axes = ", n_axes" * bool(last)
        wanted = f"(length{axes}) = {tuple(shared)} or (batch, length{axes}) = {tuple(own)}"
        refuse(name, f"must have shape {wanted}", f"shape {tuple(positions.shape)}")
    known = None
    if positions.ndim == len(shared):
        positions = positions[None]
    elif real is not None:
        known = real
        positions = positions.where(real.view(*real.shape, *(1 for _ in last)), 0)
    look(name, positions, single)
    return Steps(x.shape[1], x.device, given=positions, known=known, name=name)


def as_numbers(
    name: str, given: Tensor | ArrayLike, device: torch.device | None
) -> tuple[Tensor, bool]:
    """Return what somebody gave as integers or in the finest type, and whether it was float32.

    Raises ValueError unless it holds integers or real numbers that no half type has rounded.
    """
    given = as_tensor(name, given)
    if given.dtype == torch.bool or given.is_complex():
        refuse(name, "must be integers or real numbers", f"dtype {given.dtype}")
    _checks.check_whole_type(name, given.dtype)
    moved = given.to(device or given.device)
    kind = finest(moved.device) if moved.is_floating_point() else torch.int64
    return moved.to(kind), given.dtype == torch.float32


def look(name: str, positions: Tensor, single: bool) -> None:
    """Raise ValueError for positions that mean nothing, warn of those that rounding has moved.

    (batch, length), with or without a last axis for several numbers a token. Nothing is done where
    numbers are not at hand.
    """
    if not positions.numel() or not can_look(positions):
        return
    positions = positions.detach()
    if positions.is_floating_point():
        bad = positions[~positions.isfinite()]
        if len(bad):
            refuse(name, "must be finite", bad[0])
    lowest, highest = torch.stack(positions.aminmax()).tolist()
    _checks.check_held(name, lowest, highest)
    if positions.ndim > 2 and max(-lowest, highest) <= 1:
        return  # nodes that stand alike in a graph, or shares of a picture: equal on purpose
    one, next_one = positions[:, :-1], positions[:, 1:]
    joined = warn_of_joined(name, one, next_one)
    if single and not joined and (near := _checks.coarse(one, next_one)).any():
        _checks.warn_of_coarse(name, float(next_one[near].abs().max()))


def warn_of_joined(name: str, one: Tensor, next_one: Tensor) -> bool:
    """Warn where two positions are equal on all axes, if rounding may have made them so.

    Returns
    -------
    bool
        Whether there were any.
    """
    joined = _checks.rounded_together(one, next_one)
    if one.ndim > 2:
        joined = joined.any(-1) & (one == next_one).all(-1)
    if joined.any():
        _checks.warn_of_equal(name, float(one[joined].abs().max()))
    return bool(joined.any())


def warn_of_falling(steps: Steps, before: Callable[[], Tensor | None] | None = None) -> None:
    """Warn where a given position is below that of an earlier token.

    `before` returns the last position in a cache, (batch or 1, 1). Nothing is said of padded
    tokens, of several numbers a token, and where numbers are not at hand.
    """
    given = steps.given
    if given is None or given.ndim > 2 or not given.numel() or not can_look(given):
        return
    kept = None if before is None else before()
    if steps.length == 1:  # in decoding, fewer calls are faster
        falls = None if kept is None else given < kept
    else:
        highest = steps.highest()
        falls = given < (highest if kept is None else highest.maximum(kept.to(highest)))
    if falls is not None and (falls if steps.known is None else falls & steps.known).any():
        _checks.warn(
            f"{steps.name} fall, and a causal layer goes by the order of the sequence: a token "
            "sees all that come before it there, also those that stand later. Sort the tokens, "
            'make the layer with causal="positions", or say who sees whom: `pairs` of a layer, '
            "`documents` of a language model"
        )


def as_tensor(name: str, given: Tensor | ArrayLike) -> Tensor:
    """Return a tensor as it is and other numbers as one, or raise ValueError if they are none."""
    if isinstance(given, Tensor):
        return given
    taken = _checks.taken(name, given)
    try:
        return torch.as_tensor(np.asarray(taken))  # a list's numbers stay in float64
    except (TypeError, ValueError) as error:  # text, objects, ragged rows
        raise ValueError(f"{name} must be integers or real numbers, got {given!r:.80}") from error


def check_countable(n_axes: int, name: str = "positions") -> None:
    """Raise ValueError if positions must be given, because those of a token are several numbers."""
    if n_axes > 1:
        refuse(name, f"must be given, with n_axes = {n_axes} numbers a token", None)


def can_look(x: Tensor) -> bool:
    """Return whether the numbers of a tensor are at hand, as they are not in a transform."""
    return not (torch.compiler.is_compiling() or in_transform() or x.is_meta)


def refuse(name: str, wanted: str, got: object) -> NoReturn:
    """Raise a ValueError that names an argument, what it must be and what it was."""
    shown = got.item() if isinstance(got, Tensor) else got
    raise ValueError(f"{name} {wanted}, got {shown}")


def constants(values: NDArray[np.float64], like: Tensor) -> Tensor:
    """Return constants on the device of `like`, as precise as it can."""
    return torch.as_tensor(values, dtype=finest(like.device)).to(like.device)


def finest(device: torch.device) -> torch.dtype:
    """Return float64, or float32 for a device that has no more."""
    return torch.float32 if device.type == "mps" else torch.float64
