"""Schedules: `rope_scaling` in earlier configurations, `rope_parameters` in later ones."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc import frequencies, schedules
from posenc.register.reading import ConfigError
from posenc.register.values import above_zero

KINDS = {
    "default": (), "mrope": (), "yarn": (), "proportional": (),
    "linear": ("factor",), "dynamic": ("factor",), "longrope": ("short_factor", "long_factor"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
}  # fmt: skip
EARLIER = {"su": "longrope"}
KEPT = (
    "factor", "original_max_position_embeddings", "attention_factor", "beta_fast", "beta_slow",
    "mscale", "mscale_all_dim", "truncate", "low_freq_factor", "high_freq_factor", "short_factor",
    "long_factor", "llama_4_scaling_beta",
)  # fmt: skip
BESIDE = ("rope_type", "type", "rope_theta", "finetuned")  # the last says how it was trained
USED = {
    "linear": KEPT[:1], "proportional": KEPT[:1], "dynamic": KEPT[:1], "yarn": KEPT[:8],
    "llama3": (*KEPT[:2], *KEPT[8:10]), "longrope": (*KEPT[:3], *KEPT[10:12]),
}  # fmt: skip
MOST_FACTORS = 100_000


def check_names(
    block: str, rope: Mapping[str, Any], family: Mapping[str, Any], label: str | None
) -> None:
    """Raise ConfigError for what is said inside a block about rotation and never read."""
    parts = [rope] if label is None else [one for one in rope.values() if isinstance(one, Mapping)]
    if label is not None and (
        beside := [
            name
            for name, part in rope.items()
            if not isinstance(part, Mapping | None) and not _is_repeated(name, part, parts)
        ]
    ):
        raise ConfigError(
            f"{block} has entries by type of layer, and {beside[0]!r:.60} beside them"
        )
    known = {*KEPT, *BESIDE, "mrope_section", *family.get("reads", ())}
    known |= {"mrope_interleaved"} if "sections" in family else set()
    known |= {"partial_rotary_factor"} - set(family.get("ignores", ()))
    own = family["defaults"].get("rope_parameters") or {}
    known |= {*own}.union(*(part for part in own.values() if isinstance(part, Mapping)))
    for part in parts:
        for name, value in part.items():
            whole = (name, value) == ("partial_rotary_factor", 1)  # all turn, as they do anyway
            if name not in known and value is not None and not whole:
                raise ConfigError(
                    f"{block} says {name!r:.60} = {value!r:.60}, which nothing reads in this family"
                )


def _is_repeated(name: str, value: Any, parts: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether blocks of the types of layer say this, and none of them says otherwise."""
    said = [part[name] for part in parts if part.get(name) is not None]
    return bool(said) and all(one == value for one in said)


def idle(rope: Mapping[str, Any], family: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the numbers that a block says and that its schedule does not work with."""
    kind = kind_of(rope, family)
    used = {*USED.get(kind, ())} | ({"llama_4_scaling_beta"} if kind in USED else set())
    used |= {"mscale_all_dim"} if family.get("scale") == "mscale" and kind in USED else set()
    said = [name for name in (*KEPT, "max_position_embeddings") if rope.get(name) is not None]
    return tuple(name for name in said if name not in used)


def kind_of(rope: Mapping[str, Any], family: Mapping[str, Any]) -> str:
    """Return the name of a schedule, as it is called today and in this family."""
    served = family.get("serves", KINDS)
    given = rope.get("rope_type") or rope.get("type") or next(iter(served))
    earlier = EARLIER | family.get("earlier", {})
    kind = earlier.get(given, given) if isinstance(given, str) else None
    if kind is None or kind not in served:
        raise ConfigError(f"rope_type must be one of {', '.join(served)}, got {given!r:.60}")
    return kind


def check(
    rope: Mapping[str, Any], max_length: int | None, family: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return a schedule's kind and numbers, None where frequencies stay as trained."""
    kind = kind_of(rope, family)
    _agree(rope)
    if kind in ("default", "mrope", "axial"):
        return None
    if lacking := [name for name in KINDS[kind] if rope.get(name) is None]:
        raise ConfigError(f"the schedule {kind!r} needs {' and '.join(lacking)}, which is not said")
    scaling = {"type": kind} | {name: rope[name] for name in KEPT if rope.get(name) is not None}
    for name, value in scaling.items():
        if name in ("short_factor", "long_factor") and isinstance(value, list | tuple):
            if len(value) > MOST_FACTORS:
                raise ConfigError(f"{name} may list {MOST_FACTORS:,} numbers, not {len(value):,}")
            scaling[name] = [above_zero(name, v) for v in value]
        elif name in ("mscale", "mscale_all_dim", "llama_4_scaling_beta") and value == 0:  # none
            continue
        elif name not in ("type", "truncate"):
            scaling[name] = above_zero(name, value)
    if kind in ("yarn", "llama3", "longrope", "dynamic"):
        trained = scaling.get("original_max_position_embeddings") if kind != "dynamic" else None
        if trained is None and max_length is None:
            raise ConfigError(
                f"the schedule {kind!r} needs original_max_position_embeddings, which is not said"
            )
        if trained is not None and trained % 1:
            raise ConfigError(
                f"original_max_position_embeddings must be a whole number, got {trained!r:.60}"
            )
        scaling["original_max_position_embeddings"] = int(trained or max_length or 0)
        if "factor" not in scaling:
            scaling["factor"] = (max_length or 0) / scaling["original_max_position_embeddings"]
    scaling.setdefault("factor", 1.0)
    return scaling


def _agree(rope: Mapping[str, Any]) -> None:
    """Raise ConfigError if `type` and `rope_type` name two schedules; "mrope" is none."""
    said = [rope[name] for name in ("type", "rope_type") if isinstance(rope.get(name), str)]
    kinds = {EARLIER.get(one, one) for one in said} - {""}
    if len(kinds) > 1 and kinds != {"mrope", "default"}:
        raise ConfigError(f"type is {said[0]!r:.60} and rope_type {said[1]!r:.60}; one must go")


def try_out(base: float, turning: int, width: int, scaling: Mapping[str, Any] | None) -> None:
    """Raise ConfigError unless frequencies follow from these numbers, for short and long inputs."""
    if scaling is None:
        if base < 1:  # frequencies would rise
            raise ConfigError(f"rope_theta must be at least 1, got {base!r:.60}")
        return
    try:
        for length in (1, 1 + scaling.get("original_max_position_embeddings", 0)):
            inv_freq(base, turning, width, scaling, length)
    except (ValueError, ArithmeticError) as error:
        raise ConfigError(
            f"the schedule {scaling['type']!r} cannot have these numbers: {error!s:.150}"
        ) from None


def inv_freq(
    base: float, turning: int, width: int, scaling: Mapping[str, Any] | None, length: int
) -> NDArray[np.float64]:
    """Return the frequencies of a head's pairs, radians per position, for `length` tokens."""
    kind = scaling["type"] if scaling else "default"
    if kind == "proportional":
        omega = frequencies.geometric(width, base)
        omega[turning // 2 :] = 0
    else:
        omega = frequencies.geometric(turning, base)
    if scaling is None:
        return omega
    factor, trained = scaling["factor"], scaling.get("original_max_position_embeddings", 1)
    if kind in ("linear", "proportional"):
        return omega / factor
    if kind == "dynamic":
        return schedules.dynamic_ntk(omega, factor, max(length, trained), trained)
    if kind == "llama3":
        ends = {name: scaling[name] for name in ("low_freq_factor", "high_freq_factor")}
        return schedules.llama3(omega, factor, trained, **ends)
    if kind == "longrope":
        lists = {name: scaling[name] for name in ("short_factor", "long_factor")}
        return schedules.longrope(omega, length, trained, **lists)
    ends = {name: scaling[name] for name in ("beta_fast", "beta_slow") if name in scaling}
    return schedules.yarn(omega, factor, trained, truncate=scaling.get("truncate", True), **ends)


def gain(scaling: Mapping[str, Any] | None) -> float:
    """Return what turned queries and keys are multiplied by."""
    if scaling is None or scaling["type"] not in ("yarn", "longrope"):
        return 1.0
    if "attention_factor" in scaling:
        return float(scaling["attention_factor"])
    factor = scaling["factor"]
    if scaling["type"] == "longrope":
        return (
            1.0
            if factor <= 1
            else schedules.longrope_gain(factor, scaling["original_max_position_embeddings"])
        )
    one, all_dims = scaling.get("mscale"), scaling.get("mscale_all_dim")
    return mscale(factor, one) / mscale(factor, all_dims) if one and all_dims else mscale(factor, 1)


def mscale(factor: float, weight: float) -> float:
    """Return YaRN's gain with a weight for its logarithm, as DeepSeek's configurations have it."""
    return 1.0 if factor <= 1 else 0.1 * weight * math.log(factor) + 1
