"""Encodings of the library for layers of released models, and how these layers score."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from posenc import encodings
from posenc.attention import QueryScaling, Scoring
from posenc.encodings.mrope import ARRANGEMENTS
from posenc.register import distances

if TYPE_CHECKING:
    from posenc.attention import Position
    from posenc.encodings import MRoPE
    from posenc.register.rules import Layer

HELD = 4096  # tokens for which waves are held in a table; those of longer inputs are computed
MOST = 1 << 30  # numbers of a learned table
BOTH = ("c2p", "p2c")


def make(family: str, layer: "Layer", door: str | None = None) -> "Position":
    """Return the encoding of all heads of a layer, at one of the doors that it uses."""
    if layer.kind == "none":
        raise ValueError(f"this layer of {family} has no attention, and so no encoding")
    used = doors(layer)
    if door is None and len(used) > 1:
        raise ValueError(
            f"door must be one of {', '.join(used)}, as {family} uses both; make one for each"
        )
    if door is not None and door not in used:
        raise ValueError(f"door must be {used[0]!r} for this layer of {family}, got {door!r}")
    chosen = door or used[0]
    if chosen == "rotate":
        return _rotary(family, layer)
    if chosen == "embed":
        return _table(family, layer)
    if chosen == "none":
        return encodings.make("none", *_sizes(layer))
    if layer.slopes:
        return _alibi(family, layer)
    if layer.relative:
        return _relative(family, layer)
    if layer.profiles:
        return _profiles(family, layer)
    return _buckets(family, layer)


def doors(layer: "Layer") -> list[str]:
    """Return the doors that a layer uses: its own, and `embed` where a table is added, too."""
    added = layer.table is not None and layer.table["kind"] != "angles"
    return [layer.door] + ["embed"] * (added and layer.door != "embed")


def scoring(layer: "Layer") -> Scoring:
    """Return how a layer scores, beside the encoding that `make` returns."""
    if layer.sinks_of_tokens:
        raise ValueError(
            "the library has no sinks that tokens make, as this layer has them; its sinks are one "
            "number a head"
        )
    counts_terms = layer.relative is not None and layer.relative["kind"] == "learned"
    return Scoring(
        scale=None if counts_terms else layer.scale,  # DeBERTa's encoding has that factor itself
        softcap=layer.softcap,
        sinks=layer.sinks,
        query_scaling=_growth(layer),
    )


def _growth(layer: "Layer") -> QueryScaling | None:
    """Return how queries grow with their place."""
    if (rule := layer.query_scaling) is None:
        return None
    return QueryScaling(
        beta=rule["beta"],
        every=rule["every"],
        shift=rule["shift"],
        smooth=bool(rule.get("smooth", False)),
    )


def _lacking(what: str, family: str) -> NoReturn:
    raise ValueError(f"the library has no encoding for {what}, as {family} needs it")


def _sizes(layer: "Layer") -> tuple[int, int, int]:
    """Return width, heads and tokens for an encoding of queries and keys."""
    n_heads = layer.n_heads or 1
    return n_heads * (layer.head_dim or 1), n_heads, HELD


def _table(family: str, layer: "Layer") -> "Position":
    table = layer.table or {}
    if table["kind"] != "learned":
        _lacking("a sinusoidal table with all sines first", family)
    width, rows, first = (table[name] for name in ("width", "length", "offset"))
    _small_enough(family, (rows + first) * width)
    n_heads = layer.n_heads or 1
    return encodings.make("learnable", width, math.gcd(width, n_heads), rows, offset=first)


def _small_enough(family: str, numbers: int) -> None:
    if numbers > MOST:
        raise ValueError(
            f"a learned table of {numbers:,} numbers, as this configuration of {family} has it, "
            f"must have at most {MOST:,} to be made"
        )


def _alibi(family: str, layer: "Layer") -> "Position":
    slopes = layer.slopes or {}
    if not np.allclose(slopes["values"], plain := distances.alibi(slopes["n_heads"])):
        raise ValueError(
            f"the library's ALiBi has other slopes than {family}, from {plain[0]:.6g} on; here "
            f"the first is {slopes['values'][0]:.6g}"
        )
    return encodings.make("alibi", *_sizes(layer))


def _relative(family: str, layer: "Layer") -> "Position":
    relative, buckets = layer.relative or {}, layer.buckets or {}
    if relative["kind"] == "sinusoidal":
        if relative.get("order") == "interleaved":
            _lacking("sines and cosines side by side", family)
        if relative["bound"]:
            _lacking(f"distances that end at {relative['bound']}", family)
        if relative["width"] != _sizes(layer)[0]:
            _lacking(f"sinusoids of another width, {relative['width']}, than its heads", family)
        return encodings.make("transformer_xl", *_sizes(layer), base=relative["base"])
    if set(relative["terms"]) != set(BOTH):
        said = " and ".join(relative["terms"]) or "no term"
        _lacking(f"{said} without the other of {' and '.join(BOTH)}", family)
    options: dict[str, Any] = {"formula": "program", "map_bias": True}
    _small_enough(family, buckets["n"] * _sizes(layer)[0])
    if buckets["kind"] == "log":
        options["n_buckets"] = buckets["n"] // 2
    return encodings.make("deberta", *_sizes(layer), max_distance=buckets["max"], **options)


def _profiles(family: str, layer: "Layer") -> "Position":
    rule = layer.profiles or {}
    _small_enough(family, 2 * rule["n"] * rule["reach"])
    return encodings.make(
        "distance_profiles",
        *_sizes(layer),
        n_profiles=rule["n"],
        reach=rule["reach"],
        clip=rule["clip"],
        query_scaling=_growth(layer),
        d_tokens=layer.width,
    )


def _buckets(family: str, layer: "Layer") -> "Position":
    rule = layer.buckets or {}
    _small_enough(family, rule["n"] * (layer.n_heads or 1))
    if rule["kind"] == "grid":
        return encodings.make("swin", *_sizes(layer), window=2 * (rule["side"],))
    return encodings.make(
        "t5",
        *_sizes(layer),
        n_buckets=rule["n"],
        max_distance=rule["max"],
        bidirectional=rule["bidirectional"],
    )


def _rotary(family: str, layer: "Layer") -> "Position":
    options = _options(layer)
    if layer.sections is None:
        return encodings.make(
            "rotary", *_sizes(layer), first=layer.first or 0, direction=layer.direction, **options
        )
    if layer.of_sides:
        _lacking("places that are shares of a picture", family)
    if layer.uneven:
        _lacking("pairs whose dimensions take two angles", family)
    if layer.dealt:
        _lacking("axes that take frequencies in turn", family)
    if layer.first or layer.direction != 1 or "keep" in options:
        _lacking("axes that share pairs other than those of plain RoPE", family)
    return _sections(family, layer, options)


def _sections(family: str, layer: "Layer", options: Mapping[str, Any]) -> "Position":
    """Return M-RoPE in the arrangement that gives each axis its pairs."""
    shares = list((layer.sections or {}).values())
    for arrangement in ARRANGEMENTS:
        try:
            made: MRoPE = encodings.MRoPE(
                *_sizes(layer), sections=[*map(len, shares)], arrangement=arrangement, **options
            )
        except ValueError:  # numbers that cannot be dealt out so
            continue
        if all((made.axis[list(pairs)] == number).all() for number, pairs in enumerate(shares)):
            return made
    return _lacking("axes that share their pairs so", family)


def _options(layer: "Layer") -> dict[str, Any]:
    """Return base, pairs and schedule."""
    share = layer.turning / (layer.head_dim or 1)
    options: dict[str, Any] = {"base": layer.base, "pairing": layer.pairing or layer.pairing_after}
    if layer.values_turn:
        options |= {"values": True, "back": layer.turned_back}
    scaling = layer.scaling
    if scaling is not None and scaling["type"] == "proportional":
        return (
            options
            | {"keep": share}
            | ({"scaling": "linear", "factor": scaling["factor"]} if scaling["factor"] > 1 else {})
        )
    options["share"] = share
    if scaling is None:
        return options
    kind = {"dynamic": "dynamic_ntk"}.get(scaling["type"], scaling["type"])
    taken = {
        "yarn": ("beta_fast", "beta_slow", "truncate"),
        "llama3": ("low_freq_factor", "high_freq_factor"),
        "longrope": ("short_factor", "long_factor"),
    }.get(kind, ())
    extra = {name: scaling[name] for name in taken if name in scaling}
    if kind in ("yarn", "longrope"):
        extra["attention_factor"] = layer.gain
    options |= {"scaling": kind, "factor": scaling["factor"]}
    if kind != "linear":
        options["original_length"] = scaling["original_max_position_embeddings"]
    return options | ({"scaling_options": extra} if extra else {})
