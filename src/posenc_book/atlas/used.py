"""Which models of the register use an encoding: the atlas's line "Used by"."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from posenc import register
from posenc.register import Layer

SHOWN = 5  # names that a line lists


@dataclass(frozen=True)
class Users:
    """Who uses an encoding.

    Attributes
    ----------
    released : tuple of str
        Released models, as the register names them; a few families first, each with one of its.
    families : tuple of str
        Architectures whose class uses it by default.
    partly : tuple of str
        Those of `families` that use it in some of their layers with attention only.
    """

    released: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()


def encodings_of(layer: Layer) -> set[str]:
    """Return the cards of what a layer does with positions; none if it has no attention."""
    if layer.kind == "none":
        return set()
    found = set()
    if layer.door == "rotate":
        found.add("mrope" if layer.sections else "rove" if layer.turned_back else "rotary")
    if layer.slopes:
        found.add("alibi")
    if layer.buckets:
        found |= {"t5": {"t5"}, "grid": {"swin"}}.get(layer.buckets["kind"], {"deberta"})
    elif layer.relative:
        found |= {"sinusoidal": {"transformer_xl"}}.get(layer.relative["kind"], {"deberta"})
    if layer.profiles:
        found.add("distance_profiles")
    if layer.table and layer.table["kind"] != "angles":
        found.add("learnable" if layer.table["kind"] == "learned" else "sinusoidal")
    return found or {"none"}


@cache
def users() -> Mapping[str, Users]:
    """Return who uses each encoding that some model of the register uses."""
    released: dict[str, list[tuple[str, str]]] = {}
    for name in register.released():
        found = register.read(name)
        for encoding in set().union(*map(encodings_of, found.layers)):
            released.setdefault(encoding, []).append((found.family, name))
    families: dict[str, list[str]] = {}
    partly: dict[str, list[str]] = {}
    for family in register.names():
        layers = _by_default(family)
        for encoding in set().union(*layers):
            families.setdefault(encoding, []).append(family)
            if any(layer and encoding not in layer for layer in layers):
                partly.setdefault(encoding, []).append(family)
    return {
        encoding: Users(
            _one_of_each(released.get(encoding, [])),
            tuple(families.get(encoding, ())),
            tuple(partly.get(encoding, ())),
        )
        for encoding in sorted(released.keys() | families.keys())
    }


def _by_default(family: str) -> list[set[str]]:
    """Return the encodings of each layer by default; no layer, where defaults do not suffice."""
    try:
        return [encodings_of(layer) for layer in register.read(family).layers]
    except register.ConfigError:
        return []


def _one_of_each(found: list[tuple[str, str]]) -> tuple[str, ...]:
    """Return models, first one of each family, from the family with most of them on.

    Names of their makers go before those of presets.
    """
    counted = Counter(family for family, _ in found)
    firsts = {}
    for family, name in sorted(found, key=lambda one: ("mlc" in one[1], len(one[1]), one[1])):
        firsts.setdefault(family, name)
    first = [firsts[family] for family, _ in counted.most_common()]
    return (*first, *(name for _, name in found if name not in first))


def line(encoding: str) -> str:
    """Return who uses an encoding, as a card says it; "" where the register knows nobody."""
    one = users().get(encoding)
    if one is None:
        return ""
    parts = []
    if one.released:
        parts.append(
            f"{len(one.released)} of the {len(register.released())} released models of the "
            f"[register](todays-models), whose numbers come from tables of litgpt, mlc-llm and "
            f"MaxText, and from copies of config.json{_such_as(one.released)}"
        )
    if one.families:
        of = "its" if one.released else "the [register](todays-models)'s"
        some = f"; {len(one.partly)} of them in some layers only" if one.partly else ""
        parts.append(
            f"by default {len(one.families)} of {of} {len(register.names())} architectures"
            f"{_such_as(one.families)}{some}"
        )
    return ", and ".join(parts)


def _such_as(names: tuple[str, ...]) -> str:
    """Return some names, or all where they are few."""
    told = ", ".join(f"`{name}`" for name in names[:SHOWN])
    return f" (such as {told})" if len(names) > SHOWN else f" ({told})"
