"""Of which kind a door's term is: dense, by offset, by query and offset, or a product.

What `bias` adds to the scores and `mix` to the weights is a matrix of queries and keys. A door
that simply returns it is *dense*. Most encodings know more: that an entry depends on the offset
alone, or on the query and the offset, or is a product of something of the query and something of
the key. A decorator says so, and the door is written in that form:

    by_offset                bias(self, offset)  or  mix(self, offset)
    by_query_and_offset      bias(self, q)  or  bias(self, x)
    by_product               bias(self, places)

It makes the door that a layer calls, `bias(x, q, k, places)`, which returns the matrix as any
other does, at whatever positions. Beside it the layer finds the short form, from which a kernel may
work without any matrix (`kernels` decides). A derived class that overrides the door with a plain
method is dense again, so nothing of what was declared before can serve it by mistake.
"""

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, overload

import torch
from torch import Tensor

from posenc.attention.numerics import exporting, precise
from posenc.attention.places import Places
from posenc.attention.toeplitz import along, offsets, skew, spread, toeplitz

if TYPE_CHECKING:
    from posenc.attention.position import Position

Short = Tensor | tuple[Tensor, Tensor]


class Term:
    """The contribution of a door in one forward pass, computed when and in the form it is wanted.

    Parameters
    ----------
    kind : {"dense", "by_offset", "by_query_and_offset", "by_product"}
    door : str
        Class and name of the door, for messages.
    dense : callable
        Returns what broadcasts to (batch, heads, queries, keys).
    short : callable, optional
        Returns the short form of the kind; see its decorator.

    Examples
    --------
    >>> Term.of(torch.zeros(2, 3, 3), "mine").kind
    'dense'
    """

    def __init__(
        self,
        kind: str,
        door: str,
        dense: Callable[[], Tensor],
        short: Callable[[], Short] | None = None,
    ) -> None:
        self.kind = kind
        self.door = door
        self._makes = {"dense": dense} if short is None else {"dense": dense, "short": short}
        self._made: dict[str, Short] = {}
        self._dense: Tensor
        self._fitting: tuple[int, ...] | None = None

    @classmethod
    def of(cls, added: Tensor, door: str) -> "Term":
        """Return the term of a matrix that is there already."""
        return cls("dense", door, lambda: added)

    def dense(self, q: Tensor, k: Tensor) -> Tensor:
        """Return the matrix, or raise ValueError unless it holds numbers for all weights."""
        weights = (*q.shape[:3], k.shape[2])
        if self._fitting == weights:  # in decoding, to check once more takes time
            return self._dense
        added = numbers(self._once("dense"), self.door)
        if not _broadcasts(added.shape, weights):
            raise ValueError(
                f"{self.door} must return a tensor that broadcasts to (batch, heads, "
                f"queries, keys) = {tuple(weights)}, got shape {tuple(added.shape)}"
            )
        self._dense, self._fitting = added, weights
        return added

    def short(self) -> Short:
        """Return the short form."""
        return self._once("short")

    def scores(self) -> Tensor:
        """Return the short form of a term by offset, or by query and offset."""
        scores = self.short()
        assert isinstance(scores, Tensor)
        return scores

    def factors(self) -> tuple[Tensor, Tensor]:
        """Return the short form of a product."""
        factors = self.short()
        assert isinstance(factors, tuple)
        return factors

    def _once(self, form: str) -> Short:
        """Return what was made before, as several layers may share a term."""
        if form not in self._made:
            self._made[form] = self._makes[form]()
        return self._made[form]


class Form:
    """How a door was declared: what a decorator leaves on it, and `Position.form` returns.

    Parameters
    ----------
    function : method
        The door as its author wrote it.

    Raises
    ------
    ValueError
        From `door`, if the method is none of the doors that the decorator serves; from the others,
        if it returns anything else than the decorator asks for.

    Examples
    --------
    >>> from posenc import encodings
    >>> form = encodings.make("alibi", 16, 2, 50).form("bias")
    >>> form.kind, form.position_only
    ('by_offset', True)
    """

    kind = ""
    doors: tuple[str, ...] = ("bias",)
    position_only = False
    """Whether the term depends on positions alone."""
    anywhere = False
    """Whether the short form serves any places; else counted tokens only."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        takes = inspect.signature(function).parameters
        self.takes_places, self.takes_tokens = "places" in takes, "x" in takes

    def call(self, position: "Position", *inputs: Tensor, places: Places) -> Any:
        """Return what the function that was decorated makes of its inputs, unseen."""
        if self.takes_places:
            return self.function(position, *inputs, places=places)
        return self.function(position, *inputs)

    def dense(self, position: "Position", places: Places, q: Tensor | None) -> Tensor:
        """Return the matrix of all queries and keys."""
        raise NotImplementedError

    def short(self, position: "Position", places: Places, q: Tensor | None) -> Short:
        """Return the short form."""
        raise NotImplementedError

    def line(self, position: "Position", places: Places) -> Tensor:
        """Return a number for each offset that occurs, in order, of a term by offset."""
        raise NotImplementedError

    def numbers(self, position: "Position", made: object) -> Tensor:
        """Return what the function made in floating-point numbers, or raise ValueError."""
        made = numbers(made, self.name(position))
        return made if made.is_floating_point() else made.to(torch.get_default_dtype())

    def name(self, position: "Position") -> str:
        """Return class and name of the door, for messages."""
        return f"{type(position).__name__}.{self.function.__name__}"

    def refuse(self, position: "Position", wanted: str, got: object) -> NoReturn:
        """Raise the ValueError that says what the function must return."""
        raise ValueError(f"{self.name(position)} must return {wanted}, got {got}")

    def door(self) -> Callable[..., Tensor]:
        """Return the method that takes what a layer hands to such a door."""
        form, name = self, self.function.__name__
        if name not in self.doors:
            raise ValueError(f"{self.kind} must decorate {' or '.join(self.doors)}, got {name}")

        def bias(
            self: "Position",
            x: Tensor,
            q: Tensor,
            k: Tensor,  # noqa: ARG001
            places: Places | None = None,
        ) -> Tensor:
            return form.dense(self, places or Places.of(x), x if form.takes_tokens else q)

        def mix(self: "Position", x: Tensor, places: Places | None = None) -> Tensor:
            return form.dense(self, places or Places.of(x), None)

        made: Any = bias if name == "bias" else mix
        made.__qualname__ = self.function.__qualname__
        made.__module__ = self.function.__module__
        made.__doc__ = self.function.__doc__
        made.form = form
        # who looks for the door's code finds what was decorated, and its arguments all the same
        made.__signature__ = inspect.signature(made)
        made.__wrapped__ = self.function
        return made


class _ByOffset(Form):
    kind = "by_offset"
    doors = ("bias", "mix")
    position_only = True

    def __init__(self, function: Callable[..., Any], reach: str | None) -> None:
        super().__init__(function)
        self.reach = reach

    def dense(self, position: "Position", places: Places, q: Tensor | None) -> Tensor:  # noqa: ARG002
        if not places.counted:
            offset = places.offset().squeeze(1)
            values = self._line(position, offset.flatten(0, 2), places)
            return values.unflatten(-1, offset.shape[:3]).movedim(0, 1)
        queries, keys = places.of_queries, places.of_keys
        first = keys.first - queries.first
        if places.keeps and places.is_step and first == 1 - keys.length and self._goes_on:
            return self._kept(position, places)[None, :, None]
        return toeplitz(self.line(position, places), queries.length)

    def line(self, position: "Position", places: Places) -> Tensor:
        queries, keys = places.of_queries, places.of_keys
        first = keys.first - queries.first
        offset = torch.arange(first - queries.length + 1, first + keys.length, device=keys.device)
        return self._line(position, offset, places)

    def short(self, position: "Position", places: Places, q: Tensor | None) -> Tensor:  # noqa: ARG002
        steps = places.of_keys
        reach = steps.length - 1
        if self.reach is not None:
            reach = min(reach, getattr(position, self.reach))
        return self._line(position, offsets(reach + 1, steps.device), places)

    @property
    def _goes_on(self) -> bool:
        """Whether a number follows from its offset alone, and longer lines may be asked for."""
        return self.reach is not None or not self.takes_places

    def _kept(self, position: "Position", places: Places) -> Tensor:
        """Return what the last of n tokens gets for offsets 1 - n to 0, (heads or 1, n).

        It is the end of a longer line, which a cache keeps, so that few tokens compute one.
        """
        n, name = places.of_keys.length, f"{self.function.__name__} by offset"
        memory = places.memory
        assert memory is not None
        line = memory.get(name)
        if line is None or line.shape[-1] < n:
            longest = max(n, min(2 * n, position.max_length))
            offset = torch.arange(1 - longest, 1, device=places.of_keys.device)
            line = memory[name] = self._line(position, offset, places)
        return line[:, line.shape[-1] - n :]

    def _line(self, position: "Position", offset: Tensor, places: Places) -> Tensor:
        """Return one number per head and offset, (heads or 1, n), or raise ValueError."""
        line = self.numbers(position, self.call(position, offset, places=places))
        n, heads = offset.shape[0], position.n_heads
        fits = torch.compiler.is_compiling()  # to compare lengths would tie a program to some
        fits = fits or (line.shape[-1:] == (n,) and _broadcasts(line.shape, (1, 1, heads, n)))
        if not fits:
            wanted = f"one number per head and offset, (heads or 1, n) = ({heads} or 1, {n})"
            self.refuse(position, wanted, f"shape {tuple(line.shape)}")
        return line if line.ndim == 2 else line.reshape(-1, line.shape[-1])


class _ByQueryAndOffset(Form):
    kind = "by_query_and_offset"

    def dense(self, position: "Position", places: Places, q: Tensor | None) -> Tensor:
        assert q is not None  # a layer hands queries to every bias
        scores = self.short(position, places, q)
        if places.plain:
            return skew(spread(scores, q.shape[-2]))
        if places.counted and not exporting():
            n, m = places.of_queries.length, places.of_keys.length
            first = places.of_keys.first - places.of_queries.first
            lines = along(scores, first - n + 1, n + m - 1)
            return lines if n == 1 else skew(lines)
        rows = clipped_offsets(places, scores.shape[-1] // 2, type(position).__name__)
        return scores.gather(-1, rows.expand(*scores.shape[:3], -1))

    def short(self, position: "Position", places: Places, q: Tensor | None) -> Tensor:
        assert q is not None
        scores = self.numbers(position, self.call(position, q, places=places))
        if torch.compiler.is_compiling():
            return scores
        asking = q.shape[0], position.n_heads, q.shape[-2]
        wanted = (*asking, scores.shape[-1] if scores.ndim else 0)
        if wanted[-1] % 2 == 0 or not _broadcasts(scores.shape, wanted):
            who = f"(batch, heads, queries) = {asking}"
            self.refuse(
                position,
                f"scores for {who} and an odd number 2 r + 1 of offsets, -r to r",
                f"shape {tuple(scores.shape)}",
            )
        return scores.expand(wanted)


class _ByProduct(Form):
    kind = "by_product"
    position_only = True
    anywhere = True

    def dense(self, position: "Position", places: Places, q: Tensor | None) -> Tensor:
        of_queries, of_keys = self.short(position, places, q)
        return precise(of_queries) @ precise(of_keys).transpose(-2, -1)

    def short(
        self,
        position: "Position",
        places: Places,
        q: Tensor | None,  # noqa: ARG002
    ) -> tuple[Tensor, Tensor]:
        pair = self.call(position, places=places)
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            got = f"{len(pair)} things" if isinstance(pair, tuple | list) else type(pair).__name__
            self.refuse(position, "two tensors, of queries and of keys", got)
        of_queries, of_keys = (self.numbers(position, one) for one in pair)
        if not torch.compiler.is_compiling():
            self._check(position, places, of_queries, of_keys)
        return of_queries, of_keys

    def _check(
        self, position: "Position", places: Places, of_queries: Tensor, of_keys: Tensor
    ) -> None:
        """Raise ValueError unless there is a vector of one width for each query and each key."""
        both = (of_queries, places.of_queries.length), (of_keys, places.of_keys.length)
        width = of_queries.shape[-1] if of_queries.ndim else 0
        for vectors, length in both:
            # whatever the batch
            wanted = vectors.shape[0] if vectors.ndim == 4 else 1, position.n_heads, length, width
            if vectors.ndim < 2 or not _broadcasts(vectors.shape, wanted):
                shapes = " and ".join(str(tuple(one.shape)) for one in (of_queries, of_keys))
                n_queries, n_keys = (n for _, n in both)
                self.refuse(
                    position,
                    f"vectors of one width for queries, (heads, {n_queries}, width), and keys, "
                    f"(heads, {n_keys}, width), with heads = {position.n_heads}",
                    f"shapes {shapes}",
                )


@overload
def by_offset(function: Callable[..., Any]) -> Callable[..., Tensor]: ...
@overload
def by_offset(
    *, reach: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Tensor]]: ...
def by_offset(
    function: Callable[..., Any] | None = None, *, reach: str | None = None
) -> Callable[..., Any]:
    """Declare a door whose term depends on the offset alone: `bias(self, offset)`, or `mix`.

    Parameters
    ----------
    function : method (self, offset) or (self, offset, places)
        From offsets, key minus query, of shape (n,), to one number per head, (heads or 1, n), or
        to (n,), the same for all heads. For
        encodings with `n_axes` above 1 an offset is a row of (n, n_axes). Offsets are integers
        where tokens are counted, else whatever numbers the positions are.
    reach : str, optional
        Attribute of the encoding with the offset from which on all of one sign have one value.

    Returns
    -------
    function
        The door, `bias(self, x, q, k, places=None)` or `mix(self, x, places=None)`.

    Raises
    ------
    ValueError
        If it decorates anything else; later, if the door returns anything else.

    Examples
    --------
    Each token prefers its neighbours, by a learned amount per head, at any positions:

    >>> from torch import nn
    >>> from posenc.attention import Position
    >>> class Nearby(Position):
    ...     def __init__(self, d_model, n_heads, max_length):
    ...         super().__init__(d_model, n_heads, max_length)
    ...         self.strength = nn.Parameter(torch.ones(n_heads, 1))
    ...
    ...     @by_offset
    ...     def bias(self, offset):
    ...         return -self.strength * offset.abs()
    >>> x = torch.zeros(1, 3, 8)
    >>> Nearby(8, 2, 3).bias(x, x, x)[0].tolist()
    [[-0.0, -1.0, -2.0], [-1.0, -0.0, -1.0], [-2.0, -1.0, -0.0]]
    """
    if function is None:
        return lambda function: _ByOffset(function, reach).door()
    return _ByOffset(function, reach).door()


def by_query_and_offset(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """Declare a door whose term depends on query and clipped offset: `bias(self, q)`.

    Positions must be whole numbers.

    Parameters
    ----------
    function : method (self, q) or (self, q, places)
        From queries (batch, heads, queries, width) to one score for each offset, key minus query,
        clipped to -r..r: (batch, heads, queries, 2 r + 1). With `x` for `q`, from the tokens that
        ask, (batch, queries, d_model), to the same.

    Returns
    -------
    function
        The door, `bias(self, x, q, k, places=None)`.

    Raises
    ------
    ValueError
        If it decorates anything else; later, for positions that are not whole numbers.

    Examples
    --------
    >>> from torch import nn
    >>> from posenc.attention import Position
    >>> class Direction(Position):
    ...     def __init__(self, d_model, n_heads, max_length):
    ...         super().__init__(d_model, n_heads, max_length)
    ...         self.vectors = nn.Parameter(torch.zeros(self.d_head, 3))
    ...
    ...     @by_query_and_offset
    ...     def bias(self, q):
    ...         return q @ self.vectors
    >>> x, q = torch.zeros(1, 5, 8), torch.zeros(1, 2, 5, 4)
    >>> Direction(8, 2, 5).bias(x, q, q).shape
    torch.Size([1, 2, 5, 5])
    """
    return _ByQueryAndOffset(function).door()


def by_product(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """Declare a door whose term is a product of two positions' vectors: `bias(self, places)`.

    Parameters
    ----------
    function : method (self, places)
        To vectors of queries and of keys, (heads, queries, width) and (heads, keys, width), or
        with a batch axis in front. Their products are added to the scaled scores.

    Returns
    -------
    function
        The door, `bias(self, x, q, k, places=None)`.

    Raises
    ------
    ValueError
        If it decorates anything else; later, if the door returns anything else.

    Examples
    --------
    >>> from torch import nn
    >>> from posenc.attention import Position
    >>> class Untied(Position):
    ...     def __init__(self, d_model, n_heads, max_length):
    ...         super().__init__(d_model, n_heads, max_length)
    ...         self.vectors = nn.Parameter(torch.randn(n_heads, max_length, 4))
    ...
    ...     @by_product
    ...     def bias(self, places):
    ...         return self.vectors[:, places.queries[0]], self.vectors[:, places.keys[0]]
    >>> x = torch.zeros(1, 3, 8)
    >>> Untied(8, 2, 5).bias(x, x, x).shape
    torch.Size([2, 3, 3])
    """
    return _ByProduct(function).door()


def numbers(made: object, door: str) -> Tensor:
    """Return what a door made, or raise ValueError unless it is a tensor of numbers to add."""
    if not isinstance(made, Tensor):
        raise ValueError(f"{door} must return a tensor, got {type(made).__name__}")
    if made.dtype == torch.bool:
        raise ValueError(
            f"{door} must return numbers, as they are added, got booleans; scores of "
            "torch.where(allowed, 0.0, -torch.inf) forbid pairs, and so do a layer's arguments "
            "`mask` and `pairs`"
        )
    if made.is_complex():
        raise ValueError(f"{door} must return real numbers, got dtype {made.dtype}")
    return made


def _broadcasts(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Return whether a tensor of one shape broadcasts to another."""
    sizes = zip(shape[::-1], wanted[::-1], strict=False)
    return len(shape) <= len(wanted) and all(size in (1, whole) for size, whole in sizes)


def clipped_offsets(places: Places, reach: int, name: str) -> Tensor:
    """Return offsets clipped to -reach..reach, counted from 0: (batch or 1, 1, queries, keys).

    Or raise ValueError for the encoding of that name unless positions are whole numbers.
    """
    for steps in (places.of_queries, places.of_keys):
        steps.whole(f"{name} has one vector for each whole offset")
    return places.offset().long().clamp(-reach, reach) + reach
