"""Where two models do otherwise with positions."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from posenc.register.rules import Layer
from posenc.register.words import printable, which

if TYPE_CHECKING:
    from posenc.register import Description

WHOLE = ("family", "length", "trained", "unread", "others")


def differences(one: "Description", other: "Description") -> str:
    """Return what differs, a line each: first of the whole models, then of their layers.

    Parameters
    ----------
    one, other : Description

    Returns
    -------
    str
        "No difference." where both do the same.
    """
    lines = [
        f"{name}: {_short_value(getattr(one, name))} | {_short_value(getattr(other, name))}"
        for name in WHOLE
        if getattr(one, name) != getattr(other, name)
    ]
    if len(one.layers) != len(other.layers):
        lines.append(f"layers: {len(one.layers)} | {len(other.layers)}")
    lines += _of_layers(one.layers, other.layers)
    return printable("\n".join(lines) or "No difference.")


def _of_layers(ones: tuple[Layer, ...], others: tuple[Layer, ...]) -> Iterator[str]:
    """Yield the layers that differ in the same way, and how."""
    groups: dict[str, list[int]] = {}
    pairs = list(zip(ones, others, strict=False))
    told = {
        (id(a), id(b)): "\n".join(_of_layer(a, b))
        for a, b in {(id(a), id(b)): (a, b) for a, b in pairs}.values()
    }
    for number, (a, b) in enumerate(pairs):
        groups.setdefault(told[id(a), id(b)], []).append(number)
    for lines, numbers in groups.items():
        if lines:
            yield f"{which(numbers, len(pairs))}:\n{lines}"


def _of_layer(one: Layer, other: Layer) -> Iterator[str]:
    one, other = replace(one, sources={}), replace(other, sources={})
    for name in (field.name for field in fields(Layer)):
        if (a := getattr(one, name)) != (b := getattr(other, name)):
            yield f"  {name}: {_short_value(a)} | {_short_value(b)}"


def _short_value(value: Any) -> str:
    """Return a value in short."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "nothing"}[value]
    if isinstance(value, int | float):
        return f"{value:,.10g}"
    return f"{value!s:.120}"
