"""Encodings of the library for layers of released models."""

from typing import TYPE_CHECKING, Any

import numpy as np

from posenc.encodings import make as encoding
from posenc.register import distances

if TYPE_CHECKING:
    from posenc.attention import Position
    from posenc.register import Description
    from posenc.register.rules import Layer

LACKING = {
    "sections": "positions on several axes",
    "query_scaling": "queries scaled by their place",
    "buckets": "this family's buckets",
    "relative": "this family's vectors of distances",
    "values_turn": "values that turn",
}


def make(description: "Description", layer: "Layer") -> "Position":
    """Return the encoding of one head of a layer."""
    for name, what in LACKING.items():
        if getattr(layer, name):
            raise ValueError(
                f"the library has no encoding for {what}, which {description.family} needs"
            )
    length = description.length or 1
    if layer.door == "none":
        return encoding("none", layer.head_dim or 1, 1, length)
    if layer.slopes:
        n_heads = layer.slopes["n_heads"]
        if not np.allclose(layer.slopes["values"], distances.alibi(n_heads)):
            raise ValueError(
                f"the library's ALiBi has other slopes than {description.family}, from "
                f"{distances.alibi(n_heads)[0]:.6g} on; here the first is "
                f"{layer.slopes['values'][0]:.6g}"
            )
        return encoding("alibi", n_heads * (layer.head_dim or 1), n_heads, length)
    if layer.door == "embed" and layer.table:
        if layer.table["kind"] != "learned":
            raise ValueError(
                "the library has no sinusoidal table with all sines first, as "
                f"{description.family} has it"
            )
        return encoding("learnable", layer.head_dim or 1, 1, layer.table["length"])
    if layer.door != "rotate" or layer.head_dim is None:
        raise ValueError(
            f"the library has no encoding for the door {layer.door!r} of {description.family}"
        )
    if layer.first or layer.direction != 1:
        why = "turn last" if layer.first else "turn backwards"
        raise ValueError(
            f"the library has no encoding for dimensions that {why}, as {description.family}'s do"
        )
    return encoding("rotary", layer.head_dim, 1, length, **_options(layer))


def _options(layer: "Layer") -> dict[str, Any]:
    share = layer.turning / (layer.head_dim or 1)
    options: dict[str, Any] = {"base": layer.base, "pairing": layer.pairing or layer.pairing_after}
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
