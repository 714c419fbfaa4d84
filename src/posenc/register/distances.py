"""What families with attention of their own add to scores, and tables that are computed."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc import frequencies
from posenc.register.reading import ConfigError
from posenc.register.values import Values

TERMS = ("c2p", "p2c")
MOST_HEADS = 100_000


def slopes(values: Values, rule: Mapping[str, Any], n_heads: int, scale: float) -> dict[str, Any]:
    """Return ALiBi's slopes as they act on scores, head by head."""
    if n_heads > MOST_HEADS:
        raise ConfigError(f"num_attention_heads must be at most {MOST_HEADS:,}, got {n_heads:,}")
    found = alibi(n_heads)
    if rule.get("scaled"):  # the sum of scores and slopes is multiplied by the scale
        found = [scale * slope for slope in found]
    kept = {"rounding": rule["rounding"]} if "rounding" in rule else {}
    unread = rule.get("unread")
    said = values.part("attn_config").get(unread, 8) if unread else 8
    if said != 8:
        kept["unread"] = {unread: said}
    return {"n_heads": n_heads, "values": found} | kept


def alibi(n_heads: int) -> list[float]:
    """Return 2**(-8 i / n) for i from 1; of the next power of two where n is none."""
    n = 2 ** math.ceil(math.log2(n_heads))
    steep = [2.0 ** (-8 * i / n) for i in range(1, n + 1)]
    return steep if n == n_heads else (steep[1::2] + steep[::2])[:n_heads]


def disentangled(values: Values, rule: Mapping[str, Any]) -> dict[str, Any]:
    """Return DeBERTa's terms for distances, and the rows of vectors they take."""
    terms = values.get("pos_att_type") or ()
    if isinstance(terms, str):
        terms = [term.strip() for term in terms.lower().split("|")]
    if not isinstance(terms, list | tuple) or not all(term in TERMS for term in terms):
        raise ConfigError(f"pos_att_type must be made of c2p and p2c, got {terms!r:.60}")
    most = _or_less(values, "max_relative_positions") or values.need("max_position_embeddings")
    buckets = _or_less(values, "position_buckets") if rule["buckets"] else None
    kind = "log" if buckets else "each"
    rows = {"kind": kind, "n": 2 * (buckets or most), "max": most, "bidirectional": True}
    return {"relative": {"kind": "learned", "terms": tuple(terms)}, "buckets": rows}


def _or_less(values: Values, name: str) -> int | None:
    """Return a count, or None where -1 or 0 stands for "as many as there are positions"."""
    value = values.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and value < 1:
        return None
    return values.count(name)


def sinusoidal(values: Values) -> dict[str, Any]:
    """Return XLNet's vectors for distances: sines and cosines, behind a learned projection."""
    bound = _or_less(values, "clamp_len")
    return {
        "kind": "sinusoidal",
        "terms": ("c2p",),
        "width": values.need("hidden_size"),
        "bound": bound,
        "base": 10_000.0,
    }


def profiles(values: Values, rule: Mapping[str, str]) -> dict[str, Any]:
    """Return Inkling's curves over the distance, by the entries that say how far they reach."""
    clip = values.number(rule["clip"]) if "clip" in rule else None
    return {"n": values.need("d_rel"), "reach": values.need(rule["reach"]), "clip": clip}


def pictures(values: Values, first: int) -> dict[str, Any]:
    """Return the table of a picture's patches, row after row, behind those of other tokens."""
    image, patch = (_sides(values, name) for name in ("image_size", "patch_size"))
    grid = tuple(a // b for a, b in zip(image, patch, strict=True))
    if min(grid) < 1:
        raise ConfigError(f"patch_size = {patch} does not fit into image_size = {image}")
    return {
        "length": math.prod(grid) + first,
        "offset": 0,
        "kind": "learned",
        "grid": grid,
        "rows_more": 0,
    }


def _sides(values: Values, name: str) -> tuple[int, int]:
    """Return height and width, which may be said as one number."""
    said = values.get(name)
    sides = tuple(said) if isinstance(said, list | tuple) and len(said) == 2 else (said, said)
    for side in sides:
        if isinstance(side, bool) or not isinstance(side, int) or side < 1:
            raise ConfigError(f"{name} must be one or two whole numbers above 0, got {said!r:.60}")
    return sides


def squares(values: Values) -> list[dict[str, Any]]:
    """Return Swin's layers: width of heads, squares, and how far every second one moves them."""
    depths, heads = values.get("depths"), values.get("num_heads")
    for name, many in (("depths", depths), ("num_heads", heads)):
        if not isinstance(many, list | tuple) or not all(type(n) is int and n > 0 for n in many):
            raise ConfigError(f"{name} must list whole numbers above 0, got {many!r:.60}")
    if sum(depths) > 10_000 or len(depths) > 100:
        raise ConfigError(
            f"depths must list at most 100 stages of 10,000 layers in all, got {len(depths):,} of "
            f"{sum(depths):,}"
        )
    if len(depths) != len(heads):
        raise ConfigError(f"depths lists {len(depths)} stages, num_heads {len(heads)}")
    grid = pictures(values, 0)["grid"]
    side, width, found = values.need("window_size"), values.need("embed_dim"), []
    for stage, (depth, n_heads) in enumerate(zip(depths, heads, strict=True)):
        here = tuple(-(-n // 2**stage) for n in grid)  # an odd side is padded before it is halved
        if min(here) < side:
            raise ConfigError(
                f"window_size = {side} is wider than stage {stage}, which has {here[0]} x {here[1]}"
            )
        if width * 2**stage % n_heads:
            raise ConfigError(
                f"embed_dim = {width:,} gives stage {stage} a width of {width * 2**stage:,}, which "
                f"is no multiple of its num_heads = {n_heads:,}"
            )
        for n in range(depth):
            shift = side // 2 if n % 2 and min(here) > side else 0
            buckets = {"kind": "grid", "n": (2 * side - 1) ** 2, "max": side - 1, "side": side}
            found.append(
                {
                    "n_heads": n_heads,
                    "head_dim": width * 2**stage // n_heads,
                    "window": side,
                    "shift": shift,
                    "buckets": buckets | {"bidirectional": True},
                }
            )
    return found


def check_buckets(buckets: Mapping[str, Any]) -> None:
    """Raise ConfigError unless T5's buckets can share out the distances."""
    single = buckets["n"] // (4 if buckets["bidirectional"] else 2)
    if not 0 < single < buckets["max"]:
        raise ConfigError(
            f"{buckets['n']:,} buckets cannot share out distances up to {buckets['max']:,}: "
            f"{single:,} of them are for one distance each"
        )


def rows(buckets: Mapping[str, Any], offsets: ArrayLike) -> NDArray[np.int64]:
    """Return the row that each offset, key's place minus query's, takes in the learned table."""
    offset = np.asarray(offsets)
    if buckets["kind"] == "t5":
        return _t5(offset, buckets["n"], buckets["max"], buckets["bidirectional"])
    if buckets["kind"] == "grid":
        side = 2 * buckets["side"] - 1
        below = buckets["side"] - 1 - offset
        return (below[..., 0] * side + below[..., 1]).astype(np.int64)
    half = buckets["n"] // 2
    distance = -offset
    if buckets["kind"] == "log":
        distance = _logarithmic(distance, half, buckets["max"])
    return np.clip(distance + half, 0, 2 * half - 1).astype(np.int64)


def _t5(offset: NDArray[Any], n: int, most: int, both: bool) -> NDArray[np.int64]:
    """Return T5's buckets, with float32 logarithms as all its code has them."""
    start = np.zeros(offset.shape, np.int64)
    if both:
        n //= 2
        start = np.where(offset > 0, n, 0)
    distance = np.abs(offset) if both else np.maximum(-offset, 0)
    exact = n // 2
    ratio = np.log(np.maximum(distance, 1).astype(np.float32) / np.float32(exact))
    far = exact + (ratio / np.float32(math.log(most / exact)) * np.float32(n - exact)).astype(int)
    return start + np.where(distance < exact, distance, np.minimum(far, n - 1))


def _logarithmic(distance: NDArray[Any], n: int, most: int) -> NDArray[np.int64]:
    """Return DeBERTa's buckets of distances, query's place minus key's: negative ones, too."""
    middle = n // 2
    size = np.abs(distance)
    ratio = np.log(np.maximum(size, middle).astype(np.float32) / np.float32(middle))
    whole = np.log(np.float32((most - 1) / middle))
    far = np.ceil(ratio / whole * np.float32(middle - 1)) + middle
    return np.where(size <= middle, distance, np.sign(distance) * far).astype(np.int64)


def sinusoids(positions: ArrayLike, width: int, table: Mapping[str, Any]) -> NDArray[np.float64]:
    """Return rows of a sinusoidal table: sines first, then cosines, or side by side."""
    omega = frequencies.geometric(width, table.get("base", 10_000.0))
    if table.get("ends"):  # the last pair's wavelength is 2 pi times the base, not a step less
        omega = table.get("base", 10_000.0) ** -np.linspace(0, 1, width // 2)
    angles = np.asarray(positions, float)[..., None] * omega
    if table.get("order") == "interleaved":
        return np.stack((np.sin(angles), np.cos(angles)), -1).reshape(*angles.shape[:-1], -1)
    return np.concatenate((np.sin(angles), np.cos(angles)), -1)
