"""Self-attention with four doors through which position may enter.

A layer of self-attention sees a set of tokens, not a sequence (Vaswani et al. 2017, section 3.5).
Position can enter it at four places, and only there:

`embed` (add to the tokens), `rotate` (change queries and keys), `bias` (add to the scores before
the softmax), `mix` (add after the softmax). `Position` leaves all four as they are; an encoding
overrides the one or two that it uses. `SelfAttention` calls the doors and knows no encoding.
"""

# ruff: noqa: ARG002 - a door takes its arguments whether it needs them or not

import difflib
import inspect
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from posenc import _checks
from posenc._fused import (
    blocked_attention,
    convolve,
    fused_attention,
    precise,
    prefers_blocks,
    prefers_fourier,
)

Mix = Tensor | Callable[[Tensor], Tensor]
"""What `mix` may return: extra weights, or a function from the weights to an extra output."""

DOORS = ("embed", "rotate", "bias", "mix")
_HUGE = 1e4  # no token of a network that works has such entries
_ALIKE = 0.7  # of 1: how much a name must share with a door's to be taken for a slip
_SHORTCUTS = {"bias_by_offset": "bias", "mix_by_offset": "mix"}


class Position(nn.Module):
    """No position at all: four doors, all of them identities.

    To write an encoding, derive a class and override the doors that it uses. A method whose name
    is nearly that of a door is an error, and so is a class without any door in attention, because
    both would train as no encoding without a word. Helper methods start with `_`, or have names
    or numbers of arguments of their own; a class that wants no door derives from `NoPosition`.

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
    shared : bool
        Whether one module serves every layer of a model. By default so if nothing but `embed` is
        used, because a model embeds once; otherwise each layer has its own parameters.
    embed_every_layer : bool
        Whether a model calls `embed` at the input of every layer, not only of the first.
    position_only : bool
        Whether `bias` depends on the number of tokens alone, not on what they hold. If `shared`
        as well, a model computes the bias once per forward pass for all layers and batch rows.

    Raises
    ------
    ValueError
        If a size is not a positive integer or `n_heads` does not divide `d_model`; where a class
        is defined, if the name of a door is misspelt.
    """

    embed_every_layer = False
    position_only = False
    _needs_no_door = False
    _stale: frozenset[str] = frozenset()

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        _check_spelling(cls)
        # a class that overrides a door must not be served by what its parent said of the old one
        cls._stale = frozenset(
            short for short, door in _SHORTCUTS.items() if _depth(cls, door) < _depth(cls, short)
        )
        if "bias" in vars(cls) and "position_only" not in vars(cls):
            cls.position_only = False

    def __init__(self, d_model: int, n_heads: int, max_length: int) -> None:
        super().__init__()
        self.d_model = _checks.count("d_model", d_model, minimum=1)
        self.n_heads = _checks.divisor("n_heads", n_heads, "d_model", self.d_model)
        self.max_length = _checks.count("max_length", max_length, minimum=1)
        self.d_head = self.d_model // self.n_heads
        self._exact: dict[str, tuple[NDArray[np.float64], bool]] = {}
        self.register_load_state_dict_post_hook(_leave_meta)

    @classmethod
    def doors(cls) -> tuple[str, ...]:
        """Return the names of the doors that this class overrides, in the order of use."""
        return tuple(door for door in DOORS if getattr(cls, door) is not getattr(Position, door))

    @property
    def shared(self) -> bool:
        """Whether one module serves every layer of a model."""
        return set(self.doors()) <= {"embed"}

    def embed(self, x: Tensor) -> Tensor:
        """Return the tokens with position added: (batch, length, d_model) to the same shape."""
        return x

    def rotate(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Return queries and keys that know their position.

        Both come as (batch, heads, length, d_head). The last axis may change, alike for both;
        scores are always divided by the square root of the original `d_head`.
        """
        return q, k

    def bias(self, x: Tensor, q: Tensor, k: Tensor) -> Tensor | None:
        """Return what is added to the scaled scores, or None.

        The result must broadcast to (batch, heads, length, length). `x` is the layer's input,
        zeros where a token is padded, `q` and `k` come from `rotate`; a `position_only` encoding
        may use nothing of them but length and device: a model hands it `x` in place of `q`, `k`.
        """
        return None

    def bias_by_offset(self, q: Tensor) -> Tensor | None:
        """Return the same as `bias` in short, or None if it has no such form.

        That is (batch, heads, length, 2 r + 1): for each query i one score per offset j - i,
        clipped to -r..r; or (1, heads, 1, 2 r + 1) where it is the same for all queries. Where it
        helps, attention takes this instead of `bias`, and needs no (length, length) tensor at
        all. A pure shortcut: `bias` alone is always enough, and a derived class that overrides
        `bias` only is served by its `bias`.
        """
        return None

    def mix(self, x: Tensor) -> Mix | None:
        """Return what is added after the softmax, or None.

        A tensor that broadcasts to (batch, heads, length, length) is added to the weights. A
        function gets the weights (batch, heads, length, length) and returns what is added to the
        heads' output (batch, heads, length, d_head); that is for terms which the weights select,
        such as the relative values of Shaw et al., and it costs the fused kernel.
        """
        return None

    def mix_by_offset(self, x: Tensor) -> Tensor | None:
        """Return the same as `mix` in short, or None if it has no such form.

        That is (heads or 1, 2 length - 1): one weight per offset j - i, from 1 - length on. For
        long inputs attention takes this instead of `mix` and convolves. A pure shortcut, too.
        """
        return None

    def shortcut(self, name: str, x: Tensor) -> Tensor | None:
        """Return `bias_by_offset` or `mix_by_offset`, or None if it belongs to another door."""
        return None if name in self._stale else getattr(self, name)(x)

    def expect_class_token(self) -> None:
        """Prepare for a class token at position 0; a model with `pooling="cls"` calls this."""

    def check_length(self, length: int) -> None:
        """Raise ValueError if `length` exceeds the `max_length` of an encoding that cannot grow."""
        if length > self.max_length:
            raise ValueError(
                f"length must be at most max_length = {self.max_length} for "
                f"{type(self).__name__}, got {length}; make the encoding with a larger max_length"
            )

    def register_exact(self, name: str, values: NDArray[np.float64], *, wide: bool = False) -> None:
        """Store a constant that is rounded from float64 anew whenever the module changes dtype.

        It follows the module's device and dtype but is no part of its `state_dict`. A `wide` one,
        from which something is yet to be computed, stays in float32 where the module has a half
        type.
        """
        self._exact[name] = values, wide
        buffer = torch.as_tensor(values, dtype=torch.get_default_dtype())
        self.register_buffer(name, precise(buffer) if wide else buffer, persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Position":
        super()._apply(fn, recurse)
        for name, (values, wide) in self._exact.items():
            buffer = getattr(self, name)
            like = precise(buffer) if wide else buffer
            setattr(self, name, like if like.is_meta else torch.as_tensor(values).to(like))
        return self

    def leave_meta(self, like: Tensor) -> None:
        """Make constants that are on the meta device real, with the device and dtype of `like`.

        `load_state_dict(assign=True)` does so, as a checkpoint brings parameters but no constants.
        """
        if like.is_meta:
            return
        for name, (values, wide) in self._exact.items():
            if getattr(self, name).is_meta:
                like_this = precise(like) if wide else like
                setattr(self, name, torch.as_tensor(values).to(like_this))

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}, n_heads={self.n_heads}, max_length={self.max_length}"


class SelfAttention(nn.Module):
    """Multi-head scaled dot-product self-attention (Vaswani et al. 2017, section 3.2).

    Parameters
    ----------
    d_model : int
        Width of a token.
    n_heads : int
        Number of heads; must divide `d_model`.
    position : Position
        The encoding, made for the same `d_model` and `n_heads`.
    dropout : float
        Probability of dropping an attention weight while training, 0 <= dropout < 1.

    Notes
    -----
    Parameters: `4 * d_model * (d_model + 1)`, plus those of `position`. The scores are
    `q k / sqrt(d_head) + bias`. The fused kernel is used unless `mix` returns a function.

    Raises
    ------
    ValueError
        If `n_heads` does not divide `d_model`, `dropout` is no probability, or `position` is not
        a `Position` of the same sizes.
    """

    def __init__(
        self, d_model: int, n_heads: int, position: Position, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.d_model = _checks.count("d_model", d_model, minimum=1)
        self.n_heads = _checks.divisor("n_heads", n_heads, "d_model", self.d_model)
        self.d_head = self.d_model // self.n_heads
        self.scale = self.d_head**-0.5
        self.dropout = _checks.probability("dropout", dropout)
        self.position = check_position(position, self.d_model, self.n_heads)
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        self.register_load_state_dict_post_hook(_leave_meta)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start each of the four maps at Glorot's uniform distribution, with zero offsets."""
        for weight in (*self.qkv.weight.chunk(3), self.out.weight):
            nn.init.xavier_uniform_(weight)
        nn.init.zeros_(self.qkv.bias)
        nn.init.zeros_(self.out.bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the attended tokens, all four doors included.

        Parameters
        ----------
        x : (batch, length, d_model)
            An empty batch or sequence gives an empty output.
        mask : (batch, length) bool, optional
            True marks a real token, False a padded one that nobody attends to, whatever stands
            there, NaN included. Its own row of the output means nothing.
        """
        self.check_input(x, mask)
        return self.attend(embedded(self.position, _tamed(x, mask)), mask)

    def attend(self, x: Tensor, mask: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
        """Return the attended tokens of an input that went through `embed` already.

        A `bias` that was computed before takes the place of the encoding's own.
        """
        if x.numel() == 0:  # no kernel needs to know how to do nothing
            return self.out(x)
        q, k, v = self._project(x)
        x, k, v = (_without_padding(a, mask) for a in (x, k, v))
        short = None
        if bias is None and prefers_blocks(q, self._rate()):
            short = self.position.shortcut("bias_by_offset", q)
        if bias is None and short is None:
            bias = self._bias(x, q, k)
        line = self.position.shortcut("mix_by_offset", x) if prefers_fourier(v) else None
        mix = self._mix(x, q) if line is None else None
        if callable(mix):
            weights = self._dropped(self._softmax(x, q, k, bias, mask))
            heads = weights @ v + mix(weights)
        elif short is not None:
            padding = None if mask is None else _merge(q.new_zeros(1), mask, q)
            heads = blocked_attention(precise(q) * self.scale, k, v, padding, short)
        else:
            heads = fused_attention(q, k, v, _merge(bias, mask, q), self._rate(), self.scale)
        # adding to the weights is adding to the output, so the fused kernel still serves
        if line is not None:
            heads = heads + convolve(line, v)
        elif isinstance(mix, Tensor):
            heads = heads + _apply_weights(mix.to(v.dtype), v)
        return self.out(heads.transpose(1, 2).flatten(2))

    def weights(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return who sees whom: (batch, heads, length, length), rows are queries.

        These are the softmax weights plus the tensor of `mix`, for figures and tests; the forward
        pass does not form them unless it must.
        """
        self.check_input(x, mask)
        if x.numel() == 0:
            return x.new_zeros(len(x), self.n_heads, x.shape[1], x.shape[1])
        x = embedded(self.position, _tamed(x, mask))
        q, k, _ = self._project(x)
        x = _without_padding(x, mask)
        mix = self._mix(x, q)
        weights = self._softmax(x, q, k, None, mask)
        if mix is None or callable(mix):
            return weights
        extra = mix.to(weights.dtype)
        return weights + (extra if mask is None else extra * mask[:, None, None, :])

    def check_input(self, x: Tensor, mask: Tensor | None) -> None:
        """Raise ValueError unless `x` and `mask` have the shapes that `forward` wants."""
        if x.ndim != 3 or x.shape[-1] != self.d_model:
            raise ValueError(
                f"x must have shape (batch, length, d_model = {self.d_model}), got {tuple(x.shape)}"
            )
        check_mask(mask, x)

    def _project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values, the first two behind the door `rotate`."""
        qkv = self.qkv(x).unflatten(-1, (3, self.n_heads, self.d_head))
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        turned = self.position.rotate(q, k)
        if not (isinstance(turned, tuple) and len(turned) == 2):
            raise ValueError(f"{self._door('rotate')} must return queries and keys, (q, k)")
        return *turned, v

    def _bias(self, x: Tensor, q: Tensor, k: Tensor) -> Tensor | None:
        bias = self.position.bias(x, q, k)
        return bias if bias is None else self._checked("bias", bias, q)

    def _mix(self, x: Tensor, q: Tensor) -> Mix | None:
        mix = self.position.mix(x)
        return self._checked("mix", mix, q) if isinstance(mix, Tensor) else mix

    def _checked(self, door: str, added: Tensor, q: Tensor) -> Tensor:
        """Return what a door adds, or raise ValueError unless it broadcasts to the weights."""
        weights = (*q.shape[:3], q.shape[2])
        sizes = zip(added.shape[::-1], weights[::-1], strict=False)
        if added.ndim > 4 or any(size not in (1, whole) for size, whole in sizes):
            raise ValueError(
                f"{self._door(door)} must return a tensor that broadcasts to (batch, heads, "
                f"length, length) = {tuple(weights)}, got shape {tuple(added.shape)}"
            )
        return added

    def _door(self, name: str) -> str:
        return f"{type(self.position).__name__}.{name}"

    def _softmax(
        self, x: Tensor, q: Tensor, k: Tensor, bias: Tensor | None, mask: Tensor | None
    ) -> Tensor:
        """Return the attention weights, formed explicitly."""
        scores = precise(q) @ precise(k).transpose(-2, -1) * self.scale
        if bias is None:
            bias = self._bias(x, q, k)
        if bias is not None:
            scores = scores + bias.to(scores.dtype)
        if mask is not None:
            # a finite floor keeps rows without any real token free of NaN
            scores = scores.masked_fill(~mask[:, None, None, :], torch.finfo(scores.dtype).min)
        return scores.softmax(-1).to(q.dtype)

    def _rate(self) -> float:
        return self.dropout if self.training else 0.0

    def _dropped(self, weights: Tensor) -> Tensor:
        return nn.functional.dropout(weights, self.dropout, self.training)


def _leave_meta(module: Position | SelfAttention, incompatible_keys: object) -> None:  # noqa: ARG001
    """Make the constants of a module real whose parameters were just loaded."""
    position = module if isinstance(module, Position) else module.position
    like = next(module.parameters(), None)
    if like is not None:
        position.leave_meta(like)


def embedded(position: Position, x: Tensor) -> Tensor:
    """Return the tokens with position added, or raise ValueError if they changed their shape."""
    tokens = position.embed(x)
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


def _check_spelling(cls: type[Position]) -> None:
    """Raise ValueError if a new public method is named nearly like a door that stays unused."""
    known = {name.replace("_", ""): name for name in (*DOORS, *_SHORTCUTS)}
    unused = {key: n for key, n in known.items() if getattr(cls, n) is getattr(Position, n)}
    for name in _new_methods(cls):
        near = difflib.get_close_matches(name.lower().replace("_", ""), unused, 1, _ALIKE)
        door = unused[near[0]] if near else name
        if near and _n_arguments(getattr(cls, name)) == _n_arguments(getattr(Position, door)):
            raise ValueError(
                f"{cls.__name__}.{name} is no door, so it would never be called; did you mean "
                f"{door!r}? A helper method of nearly the same name may start with an underscore"
            )


def _new_methods(cls: type[Position]) -> list[str]:
    """Return the public functions that a class has and `Position` has not."""
    names = {name for one in cls.__mro__ for name in vars(one)} - set(dir(Position))
    return sorted(n for n in names if n[0] != "_" and inspect.isfunction(getattr(cls, n)))


def _n_arguments(function: Callable) -> int:
    return len(inspect.signature(function).parameters)


def _depth(cls: type, name: str) -> int:
    """Return how far up its ancestors a class finds an attribute; 0 is the class itself."""
    return next(i for i, one in enumerate(cls.__mro__) if name in vars(one))


def check_mask(mask: Tensor | None, x: Tensor) -> None:
    """Raise ValueError unless `mask` is None or bool of shape (batch, length) like `x`."""
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise ValueError(f"mask must be bool, True for real tokens, got dtype {mask.dtype}")
    if mask.shape != x.shape[:2]:
        raise ValueError(
            f"mask must have shape (batch, length) = {tuple(x.shape[:2])}, got {tuple(mask.shape)}"
        )


def _merge(bias: Tensor | None, mask: Tensor | None, q: Tensor) -> Tensor | None:
    """Return one additive or boolean attention mask of 4 axes, or None."""
    if bias is not None:
        bias = bias.to(torch.promote_types(q.dtype, torch.float32))
        bias = bias.reshape((1,) * (4 - bias.ndim) + bias.shape)
    if mask is None:
        return bias
    seen = mask[:, None, None, :]
    if bias is None:
        return seen
    return bias.masked_fill(~seen, torch.finfo(q.dtype).min)


def _without_padding(x: Tensor, mask: Tensor | None) -> Tensor:
    """Return (batch, length, width) or (batch, heads, length, width), zeros where it is padded.

    A weight of nothing does not stop what stands there: 1e-26 times 1e30 is a lot.
    """
    if mask is None:
        return x
    real = mask[:, None, :, None] if x.ndim == 4 else mask[..., None]
    return x.where(real, 0)


def _tamed(x: Tensor, mask: Tensor | None) -> Tensor:
    """Return the tokens with zeros for what is huge or no number where there is no real one.

    There a token asks still, though nobody sees it, and 0 times infinity is NaN in a gradient.
    """
    return x if mask is None else x.where(mask.unsqueeze(-1) | (x.abs() < _HUGE), 0)


def _apply_weights(weights: Tensor, v: Tensor) -> Tensor:
    """Return `weights @ v`; if the weights are common to the batch, in one product per head."""
    weights = weights.reshape((1,) * (4 - weights.ndim) + weights.shape)
    if weights.shape[0] > 1:
        return weights @ v
    batch, heads, length, width = v.shape
    columns = v.permute(1, 2, 0, 3).reshape(heads, length, batch * width)
    return (weights[0] @ columns).unflatten(-1, (batch, width)).permute(2, 0, 1, 3)
