"""From what a reader names as the position of a model to one encoding for each of its layers."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, cast

from posenc import _checks, encodings
from posenc.attention import Position, check_position

OnePosition = str | Position | Callable[[int, int, int], Position]
"""A registered name, a finished encoding, or what makes one from (d_model, n_heads, max_length)."""

PositionLike = OnePosition | Sequence[OnePosition]
"""What a model takes as `position`: one encoding for all layers, or a list with one for each.

An encoding is given by its registered name, as a finished `Position`, or by what makes one from
(d_model, n_heads, max_length), such as its class. In a list, one with options is a callable:
`functools.partial(Rotary, scaling="yarn", original_length=128)`.
"""


def for_layers(
    position: PositionLike,
    d_model: int,
    n_heads: int,
    n_tokens: int,
    n_layers: int,
    *,
    class_token: bool,
    shared: bool | None,
    options: Mapping[str, Any] | None,
    d_heads: Sequence[int | None] | None = None,
    several_axes: bool = False,
) -> tuple[list[Position], list[bool]]:
    """Return one encoding per layer, and whether it meets the layer's input at the door `embed`.

    Encodings are all the same if shared, else each with its own start. In a list equal entries are
    shared alike, and each is embedded where it stands first, or wherever it stands if it says so.
    `d_heads` says how wide the heads of each layer are where that is not `d_model / n_heads`; an
    encoding that shares by itself does so where it fits.
    """
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(
            f"position_options must be a mapping from names to values, or None, got {options!r:.80}"
        )
    if shared is not None:
        _checks.flag("share_position", shared)
    widths = d_heads or [None] * n_layers

    def make(entry: OnePosition, layer: int) -> Position:
        made = _make(entry, d_model, n_heads, n_tokens, widths[layer], options)
        if made.n_axes > 1 and not several_axes:
            raise ValueError(
                "position must take one number a token in a model, got "
                f"{type(made).__name__} with n_axes = {made.n_axes}"
            )
        if class_token:
            made.expect_class_token()
        return made

    def shares(made: Position, layer: int) -> bool:
        """Return whether an encoding of an earlier layer serves this one, too."""
        if shared is not None:
            return shared
        return made.shared and _fits(made, widths[layer] or d_model // n_heads)

    if isinstance(position, Sequence) and not isinstance(position, str):
        _check_list(position, n_layers, options)
        return _listed(position, make, shares)
    positions = [make(position, 0)]
    first = positions[0]
    for layer in range(1, n_layers):
        if shares(first, layer):
            positions.append(first)
        elif isinstance(position, Position):
            positions.append(deepcopy(first))
        else:
            positions.append(make(position, layer))
    return positions, [i == 0 or first.embed_every_layer for i in range(n_layers)]


def _listed(
    entries: Sequence[OnePosition],
    make: Callable[[OnePosition, int], Position],
    shares: Callable[[Position, int], bool],
) -> tuple[list[Position], list[bool]]:
    """Return the encodings of a list, and which of them are embedded."""
    positions: list[Position] = []
    known: dict[object, Position] = {}
    for layer, entry in enumerate(entries):
        key = entry if isinstance(entry, str) else id(entry)
        made = known.get(key)
        if made is None or not (isinstance(entry, Position) or shares(made, layer)):
            made = known[key] = make(entry, layer)
        positions.append(made)
    new = [all(one is not old for old in positions[:i]) for i, one in enumerate(positions)]
    return positions, [n or p.embed_every_layer for n, p in zip(new, positions, strict=True)]


def _fits(made: Position, d_head: int) -> bool:
    """Return whether an encoding serves heads of this width, which one of tokens does not see."""
    return made.d_head == d_head or set(made.doors()) <= {"embed"}


def _check_list(
    entries: Sequence[OnePosition], n_layers: int, options: Mapping[str, Any] | None
) -> None:
    if len(entries) != n_layers:
        raise ValueError(
            f"position must be one encoding or a list of n_layers = {n_layers}, got {len(entries)}"
        )
    if options:
        raise ValueError(
            f"position_options must be empty for a list of encodings, got {options}; let a "
            "class or callable stand in the list for each layer that has options, such as "
            'functools.partial(posenc.encodings.Rotary, scaling="yarn", original_length=128)'
        )


def _make(
    position: OnePosition,
    d_model: int,
    n_heads: int,
    n_tokens: int,
    d_head: int | None,
    options: Mapping[str, Any] | None,
) -> Position:
    """Return an encoding for the heads of a layer, or for its tokens if it is added to these."""
    named = dict(options or {})
    if d_head is None:
        return build(position, d_model, n_heads, n_tokens, named)
    if isinstance(position, Position) and not named:
        return check_position(position, d_model, n_heads, d_head)
    made = build(position, n_heads * d_head, n_heads, n_tokens, named)
    if made.is_closed("embed") or made.d_model == d_model:
        return made
    return build(position, d_model, n_heads, n_tokens, named)


def build(
    position: OnePosition, d_model: int, n_heads: int, n_tokens: int, options: dict[str, Any]
) -> Position:
    """Return an encoding for these sizes."""
    if isinstance(position, str):
        name = cast(encodings.Name, position)
        return encodings.make(name, d_model, n_heads, n_tokens, **options)
    if isinstance(position, Position):
        if options:
            raise ValueError(f"position_options must be empty for a finished encoding: {options}")
        return check_position(position, d_model, n_heads)
    if callable(position):
        return check_position(position(d_model, n_heads, n_tokens, **options), d_model, n_heads)
    raise ValueError(
        f"position must be a name ({', '.join(encodings.names('series'))}), a Position, or a "
        f"callable that makes one, got {position!r}"
    )
