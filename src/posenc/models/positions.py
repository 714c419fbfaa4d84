"""From what a reader names as the position of a model to one encoding for each of its layers."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from posenc import encodings
from posenc.attention import Position, check_position

PositionLike = str | Position | Callable[[int, int, int], Position]
"""A registered name, a finished encoding, or what makes one from (d_model, n_heads, max_length)."""


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
) -> list[Position]:
    """Return one encoding per layer: all the same if shared, else each with its own start."""
    sizes = d_model, n_heads, n_tokens
    positions = [_make(position, *sizes, class_token, options)]
    first = positions[0]
    for _ in range(n_layers - 1):
        if first.shared if shared is None else shared:
            positions.append(first)
        elif isinstance(position, Position):
            positions.append(deepcopy(first))
        else:
            positions.append(_make(position, *sizes, class_token, options))
    return positions


def _make(
    position: PositionLike,
    d_model: int,
    n_heads: int,
    n_tokens: int,
    class_token: bool,
    options: Mapping[str, Any] | None,
) -> Position:
    """Return an encoding that knows whether the first token is the class token."""
    made = build(position, d_model, n_heads, n_tokens, dict(options or {}))
    if class_token:
        made.expect_class_token()
    return made


def build(
    position: PositionLike, d_model: int, n_heads: int, n_tokens: int, options: dict[str, Any]
) -> Position:
    """Return an encoding for these sizes."""
    if isinstance(position, str):
        return encodings.make(position, d_model, n_heads, n_tokens, **options)
    if isinstance(position, Position):
        if options:
            raise ValueError(f"position_options must be empty for a finished encoding: {options}")
        return check_position(position, d_model, n_heads)
    if callable(position):
        return check_position(position(d_model, n_heads, n_tokens, **options), d_model, n_heads)
    raise ValueError(
        f"position must be a name ({', '.join(encodings.names())}), a Position, or a callable "
        f"that makes one, got {position!r}"
    )
