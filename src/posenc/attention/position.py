"""The five doors through which position may enter attention.

A layer of self-attention sees a set of tokens, not a sequence (Vaswani et al. 2017, section 3.5).
Position can enter it at five places, and only there:

`embed` (add to the tokens), `rotate` (change queries and keys), `bias` (add to the scores before
the softmax), `mix` (add after the softmax), and the message, a door with two wings: `carry`
(change values by their own place) and `deliver` (change their sum by the query's). `Position`
leaves all as they are; an encoding overrides the one or two that it uses.
"""

# ruff: noqa: ARG002 - a door takes its arguments whether it needs them or not

import difflib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, Literal, TypeVar, overload

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from posenc import _checks
from posenc.attention.axes import checked
from posenc.attention.maps import holds_floats
from posenc.attention.numerics import precise
from posenc.attention.places import Places, Steps, can_look, refuse
from posenc.attention.terms import Form, Term, numbers

Mix = Tensor | Callable[[Tensor], Tensor]
"""What `Position.mix` may return: extra weights, or a function from weights to an extra output.

Weights are (batch, heads, queries, keys), an output is (batch, heads, queries, d_head).
"""

DOORS = ("embed", "rotate", "bias", "mix", "carry", "deliver")
"""The five doors through which position may enter, in the order of the formula.

The last two names are the two wings of one door, that of the message.
"""
MESSAGE = frozenset(DOORS[-2:])

_Made = TypeVar("_Made")


def _door(method: Callable[..., _Made]) -> Callable[..., _Made]:
    """Leave a door as it is, and let a checker of types accept overrides with other arguments."""
    return method


_ALIKE = 0.7  # of 1: how much a name must share with a door's to be taken for a slip
_NEARLY = 0.85  # the same where a method takes other arguments than the door
_MOST_ARGUMENTS = 4  # of a door, `self` included
_RETIRED = ("bias_by_offset", "mix_by_offset")
_WORDS = {  # near a door's name, yet words of their own, such as helpers have
    *("embedded", "embedding", "embeddings", "rotated", "rotating", "rotation", "rotations"),
    *("biased", "biases", "unbiased", "mixed", "remix", "premix"),
    *("carried", "carries", "delivered", "delivers", "delivery"),
}


class Position(nn.Module):
    """No position at all: five doors, all of them identities.

    To write an encoding, derive a class and override the doors that it uses. A method whose name
    is nearly that of a door, and that no other method of the class calls, is an error, and so is a
    class without any door in attention, because both would train as no encoding without a word. So
    is such a name in a class derived from an encoding that does not override the door, as it would
    train as its parent. A method with a word for its name, such as `embedding`, is warned of where
    it takes just what a door takes and nobody calls it. Helper methods are called by a door, start
    with `_`, or have names of their own; a class that wants no door derives from `NoPosition`.

    A door that wants to know where its tokens stand takes one more argument, `places`, and gets a
    `Places`: positions of queries and keys, whoever chose them. Then the encoding serves positions
    that are given, a cache, and cross-attention; without that argument tokens count 0, 1, 2, ...,
    and everything else is refused. With a default of None, a door is called without `places` where
    they would say just that in a layer that looks both ways, which is its chance for a short cut.

    A door that adds the same for all pairs of one offset is best written in that form: with the
    decorator `by_offset` it gets offsets, serves any positions, and is fast for long inputs. See
    `posenc.attention.terms` for this and the other kinds.

    What depends on what tokens hold goes through `embed`, which gets them, or into the scores
    through `bias`, which gets them with queries and keys. `rotate` gets queries, keys and places,
    but not the tokens, so turns that tokens choose (Selective RoPE) cannot enter there. `bias` can
    still add what the product of a query and a key gains or loses on the way, as `PaTH` does.

    What others call these places: `embed` is the position embedding of transformers' models,
    `rotate` their `apply_rotary_pos_emb`, `bias` T5's `position_bias`, FlexAttention's `score_mod`
    and a floating `attn_mask` of PyTorch's attention. `mix`, and `carry` with `deliver`, have no
    name that is common.

    Every door refuses tensors of other axes than a layer hands to it: tokens (batch, length,
    d_model), queries, keys, values and sums (batch, heads, length, d_head).

    Parameters
    ----------
    d_model : int
        Width of a token, at least 1.
    n_heads : int
        Attention heads; must divide `d_model`.
    max_length : int
        Number of tokens that the layer sees at most, at least 1 (patches and class token count).

    Attributes
    ----------
    n_axes : int
        Numbers that make the position of a token, 1 by default. With more, positions must be given.
    reads_neighbours : bool
        Whether `embed` makes what it adds to a token from other tokens, too. Padding would change
        real tokens then, so that a mask that marks any is refused.
    keeps_tokens : bool
        Whether `bias` or `mix` look at `places.tokens`; a cache then keeps them.
    shared : bool
        Whether one module serves every layer of a model. By default so if nothing but `embed` is
        used, because a model embeds once; otherwise each layer has its own parameters.
    embed_every_layer : bool
        Whether a model calls `embed` at the input of every layer, not only of the first.
    position_only : bool
        Whether `bias` depends on positions alone, not on what tokens hold, as one that is declared
        by offset or by product does. If `shared` as well, a model computes the bias once per
        forward pass for all layers and batch rows.

    Raises
    ------
    ValueError
        If a size is not a positive integer or `n_heads` does not divide `d_model`; where a class
        is defined, if the name of a door is misspelt; where a door is called, for other axes.

    Examples
    --------
    Each token prefers its neighbours, by a learned amount per head. For tokens that count:

    >>> class Nearby(Position):
    ...     def __init__(self, d_model, n_heads, max_length):
    ...         super().__init__(d_model, n_heads, max_length)
    ...         self.strength = nn.Parameter(torch.ones(n_heads, 1, 1))
    ...
    ...     def bias(self, x, q, k):
    ...         t = torch.arange(x.shape[1], device=x.device)
    ...         return -self.strength * (t - t[:, None]).abs()

    For tokens that stand anywhere, as in an unevenly sampled series:

    >>> class NearbyInTime(Nearby):
    ...     def bias(self, x, q, k, places):
    ...         return -self.strength * places.offset().abs()

    The same as a function of the offset, which is as general and faster:

    >>> from posenc.attention import by_offset
    >>> class NearbyByOffset(Nearby):
    ...     @by_offset
    ...     def bias(self, offset):
    ...         return -self.strength[:, 0] * offset.abs()
    """

    n_axes = 1
    reads_neighbours = False
    keeps_tokens = False
    embed_every_layer = False
    position_only = False
    _needs_no_door = False
    _looks_at_queries = True
    _keeps_width = False
    _informed: Mapping[str, bool] = {}
    _assigned = False
    _at_large = False
    _on_request: frozenset[str] = frozenset()
    """Doors of the class that stay shut unless an option opens them."""

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        _check_spelling(cls)
        if "_on_request" not in vars(cls):  # who writes a door wants it open
            cls._on_request = cls._on_request - set(vars(cls))
        cls._informed = _informed_doors(cls)
        if "bias" in vars(cls) and "position_only" not in vars(cls):
            form = getattr(cls.bias, "form", None)
            cls.position_only = form is not None and form.position_only
        _guard(cls)

    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__()
        self.d_model = _checks.count("d_model", d_model, minimum=1)
        self.n_heads = _checks.divisor("n_heads", n_heads, "d_model", self.d_model)
        self.max_length = _checks.count("max_length", max_length, minimum=1)
        self.d_head = self.d_model // self.n_heads
        self._exact: dict[str, tuple[NDArray[np.floating], bool]] = {}
        self.register_load_state_dict_post_hook(leave_meta)

    @classmethod
    def doors(cls) -> tuple[str, ...]:
        """Return the doors that this class overrides, options apart, in the order of `DOORS`."""
        return tuple(
            door
            for door in DOORS
            if getattr(cls, door) is not getattr(Position, door) and door not in cls._on_request
        )

    @property
    def _is_deaf(self) -> bool:
        """Whether `bias` looks at no queries or keys, whatever stands in their place."""
        return self.position_only or not self._looks_at_queries

    @property
    def _may_widen(self) -> bool:
        """Whether queries and keys may come to `bias` with another width than `d_head`."""
        return not (self._keeps_width or self.is_closed("rotate"))

    @property
    def shared(self) -> bool:
        """Whether one module serves every layer of a model."""
        return set(self.doors()) <= {"embed"}

    @_door
    def embed(self, x: Tensor) -> Tensor:
        """Return the tokens with position added: (batch, length, d_model) to the same shape."""
        return x

    @_door
    def rotate(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Return queries and keys that know their position.

        Both come as (batch, heads, length, d_head), keys with fewer heads where groups of query
        heads share them; they may leave with all heads. The last axis may change, alike for both;
        scores are always divided by the square root of the original `d_head`.
        """
        return q, k

    @_door
    def bias(self, x: Tensor, q: Tensor, k: Tensor) -> Tensor | None:
        """Return what is added to the scaled scores, or None.

        The result must broadcast to (batch, heads, queries, keys). `x` is the layer's input,
        zeros where a token is padded, `q` and `k` come from `rotate`; a `position_only` encoding
        may use nothing of them but length and device: a model hands it `x` in place of `q`, `k`.
        """
        return None

    @_door
    def mix(self, x: Tensor) -> Mix | None:
        """Return what is added after the softmax, or None.

        A tensor that broadcasts to (batch, heads, queries, keys) is added to the weights, but
        where a query may not look. A function gets the weights (batch, heads, queries, keys) and
        returns what is added to the heads' output (batch, heads, queries, d_head); that is for
        terms which the weights select, such as the relative values of Shaw et al., and it costs
        the fused kernel.
        """
        return None

    @_door
    def carry(self, v: Tensor) -> Tensor:
        """Return values that know their own position: before the sum, the message's first wing.

        (batch, heads, length, d_head) to the same; fewer heads, where groups share values, may
        leave as all heads. `places.keys` says where they stand. A cache keeps what comes back.
        """
        return v

    @_door
    def deliver(self, out: Tensor) -> Tensor:
        """Return sums of values that know where their query stands: the message's second wing.

        (batch, heads, queries, d_head) to the same, behind the weights and what `mix` adds, in
        front of the map that joins the heads. `places.queries` says where queries stand.
        """
        return out

    def kept(self, x: Tensor) -> Tensor:
        """Return what a cache keeps of tokens (batch, length, d_model), by default all of them.

        (batch, length, n), for encodings with `keeps_tokens`, to whom it comes as `places.tokens`.
        """
        return x

    def _score_mod(self, places: Places) -> Callable[..., Tensor] | None:
        """Return `score_mod` where the encoding knows a shorter one than `bias` says, else None."""
        return None

    def form(self, door: str) -> Form | None:
        """Return how a door was declared by a decorator, None for a plain method."""
        return getattr(getattr(self, door), "form", None)

    @overload
    def term(self, door: Literal["bias"], places: Places, *inputs: Tensor) -> Term | None: ...
    @overload
    def term(
        self, door: Literal["mix"], places: Places, *inputs: Tensor
    ) -> Term | Callable[[Tensor], Tensor] | None: ...
    def term(
        self, door: str, places: Places, *inputs: Tensor
    ) -> Term | Callable[[Tensor], Tensor] | None:
        """Return what a door adds, None if nothing: a term, or a function from `mix`.

        A plain door is called at once, one that was declared when a kernel asks.
        """
        if self.is_closed(door):
            return None
        form = self.form(door)
        if form is None or not form.position_only or places.common is None:
            return self._term(door, form, places, *inputs)
        keys = places.of_keys.first, places.of_keys.length
        return places.in_common(
            (self, door, *keys), lambda: self._term(door, form, places, *inputs)
        )

    def _term(
        self, door: str, form: Form | None, places: Places, *inputs: Tensor
    ) -> Term | Callable[[Tensor], Tensor] | None:
        name = f"{type(self).__name__}.{door}"
        if form is None or not (places.plain or form.anywhere):
            added = self.through(door, places, *inputs)
            if added is None or (door == "mix" and callable(added)):
                return added
            return Term.of(numbers(added, name), name)
        q = inputs[0 if form.takes_tokens else 1] if door == "bias" else None
        return Term(
            form.kind,
            name,
            lambda: self.through(door, places, *inputs),
            lambda: form.short(self, places, q),
        )

    def is_closed(self, door: str) -> bool:
        """Return whether nothing enters by a door: neither the class nor anybody else set it."""
        if door in self.__dict__:
            return False
        return door in self._on_request or getattr(type(self), door) is getattr(Position, door)

    def through(self, door: str, places: Places, *inputs: Tensor) -> Any:
        """Return what a door makes of its inputs, with `places` if it takes them.

        Raises
        ------
        ValueError
            If places are other than plain and the door does not know of them.
        """
        function, own = getattr(self, door), door in self.__dict__
        always = None if own else self._informed.get(door)
        if always or (always is not None and (places.causal or not places.plain)):
            return function(*inputs, places=places)
        if places.plain or self.is_closed(door):
            return function(*inputs)
        arguments = ", ".join(("self", *inspect.signature(function).parameters, "places"))
        raise ValueError(
            f"position must know where tokens stand to serve {places.reasons()}, but "
            f"{type(self).__name__}.{door} counts 0, 1, 2, ...; write it as "
            f"{door}({arguments}) and take positions from `places`, as `Position` says"
        )

    def look_up(self, table: Tensor, steps: Steps) -> Tensor:
        """Return the row of a table (max_length, ...) for each token, or raise ValueError.

        (length, ...) where tokens are counted, (batch or 1, length, ...) where positions are given.
        """
        who = f"{type(self).__name__} has a row for each"
        end = steps.end(self.max_length)
        if steps.given is None:
            self.check_length(end)
            return table[steps.first : end]
        index = steps.whole(who, lowest=0)
        if end > self.max_length:
            highest = self.max_length - 1
            refuse(steps.name, f"must be at most max_length - 1 = {highest}, as {who}", end - 1)
        return nn.functional.embedding(index, table)

    def expect_class_token(self) -> None:
        """Prepare for a class token at position 0; a model with `pooling="cls"` calls this."""

    def check_causal(self) -> None:
        """Raise ValueError if the encoding cannot serve a causal layer; one that is made asks."""

    def check_length(self, length: int) -> None:
        """Raise ValueError if `length` exceeds the `max_length` of an encoding that cannot grow."""
        if length > self.max_length:
            raise ValueError(
                f"length must be at most max_length = {self.max_length} for "
                f"{type(self).__name__}, got {length}; make the encoding with a larger max_length"
            )

    def register_exact(
        self, name: str, values: NDArray[np.floating], *, wide: bool = False
    ) -> None:
        """Store a constant that is rounded from float64 anew whenever the module changes dtype.

        It follows the module's device and dtype but is no part of its `state_dict`. A `wide` one,
        from which something is yet to be computed, stays in float32 where the module has a half
        type. What somebody writes into it, or puts in its place, takes its place from then on.
        """
        self._exact[name] = values, wide
        buffer = torch.as_tensor(values, dtype=torch.get_default_dtype())
        self.register_buffer(name, precise(buffer) if wide else buffer, persistent=False)

    def _adopt(self) -> None:
        """Take what somebody else has written into a constant for its values."""
        for name, (values, wide) in self._exact.items():
            buffer = getattr(self, name)
            plain = type(buffer) is Tensor and can_look(buffer)
            if plain and not torch.equal(buffer, torch.as_tensor(values).to(buffer)):
                self._exact[name] = buffer.detach().cpu().double().numpy().copy(), wide

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Position":
        self._adopt()
        super()._apply(fn, recurse)
        for name, (values, wide) in self._exact.items():
            buffer = getattr(self, name)
            like = precise(buffer) if wide else buffer
            setattr(self, name, like if like.is_meta else torch.as_tensor(values).to(like))
        return self

    def leave_meta(self, like: Tensor) -> None:
        """Make constants that are on the meta device real, with the device and dtype of `like`.

        `load_state_dict(assign=True)` does so, as a checkpoint brings parameters but no constants.
        Those of an encoding without any parameter go to the default device, in the type that they
        were to have, or to where the parameters of a layer around it are.
        """
        if like.is_meta:
            return
        self._adopt()
        for name, (values, wide) in self._exact.items():
            if getattr(self, name).is_meta or self._at_large:
                like_this = precise(like) if wide else like
                setattr(self, name, torch.as_tensor(values).to(like_this))
        self._at_large = False

    def _leave_meta_alone(self) -> None:
        """Make constants real although no tensor of the checkpoint tells where they belong."""
        for name, (values, _) in self._exact.items():
            buffer = getattr(self, name)
            if buffer.is_meta:
                setattr(self, name, torch.tensor(values, dtype=buffer.dtype))
                self._at_large = True

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *args: Any
    ) -> None:
        self._assigned = local_metadata.get("assign_to_params_buffers", False)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}, n_heads={self.n_heads}, max_length={self.max_length}"


def made_of(name: str) -> Any:
    """Return an attribute that the tables of an encoding were made of, so that it stays."""

    def refuse_another(self: Position, _: object) -> None:
        raise ValueError(
            f"{name} must stay what {type(self).__name__} has made its tables of; make another "
            "encoding with other options"
        )

    return property(lambda self: vars(self)[f"_{name}"], refuse_another)


def leave_meta(module: nn.Module, incompatible_keys: object) -> None:  # noqa: ARG001
    """Make the constants of an encoding, or of a layer's, real when parameters were loaded."""
    position = module if isinstance(module, Position) else module.position
    assert isinstance(position, Position)
    like = next(filter(holds_floats, _stored(module)), None)
    if like is not None:
        position.leave_meta(like)
    elif position is module and position._assigned:
        position._leave_meta_alone()


def _stored(module: nn.Module) -> Iterator[Tensor]:
    """Yield a module's parameters, then the buffers that a checkpoint holds."""
    yield from module.parameters()
    held = module.state_dict(keep_vars=True).values()
    yield from (one for one in held if isinstance(one, Tensor))


def _guard(cls: type[Position]) -> None:
    """Let the doors of a class refuse tensors of other axes than theirs."""
    for name in DOORS:
        door = inspect.getattr_static(cls, name)
        own = door is not vars(Position)[name] and inspect.isfunction(door)
        if own and not hasattr(door, "checks_axes"):
            setattr(cls, name, checked(name, door))


def _check_spelling(cls: type[Position]) -> None:
    """Raise ValueError if a new public method is named nearly like a door that stays unused.

    Or like what once was called, and is not any more. In a class that is derived from an encoding,
    a new method is also compared with the doors of its ancestors, which it leaves in use. A method
    that another one of the class calls is a helper, whatever its name.
    """
    own = {name for name in DOORS if name in vars(cls)}
    unused = [name for name in DOORS if getattr(cls, name) is getattr(Position, name)]
    for name in _new_methods(cls):
        if name in _RETIRED:
            now = name.removesuffix("_by_offset")
            raise ValueError(
                f"{cls.__name__}.{name} is not called any more; {now} alone is enough, and is as "
                f"fast with posenc.attention.by_offset above it, as {now}(self, offset)"
            )
        method = getattr(cls, name)
        compared = [door for door in DOORS if door not in own] if name in vars(cls) else unused
        door = _meant(name, method, compared) or _holds(name, method, unused)
        if door is None or _is_called(name, cls):
            continue
        found = (
            f"{cls.__name__}.{name} is no door, so it would never be called; did you mean "
            f"{door!r}? A helper method of nearly the same name may start with an underscore"
        )
        if name not in _WORDS:
            raise ValueError(found)
        _checks.warn(found)


def _meant(name: str, method: Callable[..., Any], doors: Sequence[str]) -> str | None:
    """Return the door that a method's name is a slip of, None if it has a name of its own."""
    bare = name.lower().replace("_", "")
    n_arguments = len(_arguments(method))
    for door in doors:
        alike = difflib.SequenceMatcher(None, bare, door).ratio()
        if alike >= _ALIKE and n_arguments == len(_arguments(getattr(Position, door))):
            return door
        # a letter too many or too few is a slip with any door's number of arguments
        if alike >= _NEARLY and n_arguments <= _MOST_ARGUMENTS and name not in _WORDS:
            return door
    return None


def _is_called(name: str, cls: type[Position]) -> bool:
    """Return whether another method of a class, or of its ancestors, speaks of a method."""
    own = [one for one in cls.__mro__ if one not in Position.__mro__]
    members = {key: value for one in reversed(own) for key, value in vars(one).items()}
    functions = (_function_of(value) for key, value in members.items() if key != name)
    return any(name in _names_in(one.__code__) for one in functions if one is not None)


def _function_of(member: object) -> FunctionType | None:
    """Return the function behind a method, property or decorated door, None for anything else."""
    member = getattr(member, "fget", None) or getattr(member, "__func__", member)
    return inspect.unwrap(member) if inspect.isfunction(member) else None


def _names_in(code: CodeType) -> set[str]:
    """Return the names that a function's code looks up, in functions within it, too."""
    within = (_names_in(one) for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*within)


def _holds(name: str, method: Callable[..., Any], doors: Sequence[str]) -> str | None:
    """Return the door that is a part of a method's name, if it takes just the same arguments."""
    words = name.lower().split("_")
    for door in ("rotate", "bias"):  # any helper takes one `x`, as the others do
        if door in doors and door in words:
            return door if _arguments(method) == _arguments(getattr(Position, door)) else None
    return None


def _new_methods(cls: type[Position]) -> list[str]:
    """Return the public functions that a class has and `Position` has not."""
    names = {name for one in cls.__mro__ for name in vars(one)} - set(dir(Position))
    return sorted(n for n in names if n[0] != "_" and inspect.isfunction(getattr(cls, n)))


def _arguments(function: Callable[..., Any]) -> list[str]:
    """Return the names of a method's arguments, `places` apart."""
    return [name for name in inspect.signature(function).parameters if name != "places"]


def _informed_doors(cls: type[Position]) -> dict[str, bool]:
    """Return the doors that take `places`, and whether they cannot be called without."""
    found = {}
    for door in DOORS:
        places = inspect.signature(getattr(cls, door)).parameters.get("places")
        if places is not None:
            found[door] = places.default is inspect.Parameter.empty
    return found


def depth(cls: type, name: str) -> int:
    """Return how far up its ancestors a class finds an attribute; 0 is the class itself."""
    return next(i for i, one in enumerate(cls.__mro__) if name in vars(one))
