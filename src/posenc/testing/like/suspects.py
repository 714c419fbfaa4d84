"""Frequencies that usual mistakes give, each with the words for it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from posenc import frequencies
from posenc.register import scaling as schedule
from posenc.register.reading import ConfigError
from posenc.register.rules import Layer
from posenc.testing.like.fault import number

Array = NDArray[np.float64]
BASES = (1e4, 5e5, 1e6, 5e6, 1e7, 1e5, 1.5e5, 2.5e5, 8e6, 1e3, 100.0)


@dataclass(frozen=True)
class Suspect:
    """Frequencies as a mistake gives them: the field, its wrong value, and "as if ..."."""

    field: str
    seen: Any
    words: str
    omega: Array


def named(layer: Layer) -> str:
    """Return what a configuration says of a layer's frequencies."""
    said = f"the base {number(layer.base or 0)}"
    if layer.scaling:
        said += f" with {layer.scaling['type']} by {number(layer.scaling['factor'])}"
    return said


def suspects(layer: Layer, others: list[Layer], length: int) -> Iterator[Suspect]:
    """Yield mistakes, the likelier ones first."""
    due = _omega(layer, length)
    plain = _omega(layer, length, scaling=None)
    assert due is not None
    assert plain is not None
    scaling = layer.scaling
    if scaling:
        kind, by = scaling["type"], scaling["factor"]
        yield Suspect("scaling", None, f"the {kind} schedule were left out", plain)
        twice = due * np.divide(due, plain, out=np.ones_like(due), where=plain > 0)
        yield Suspect("scaling", f"{kind} twice", f"the {kind} schedule were applied twice", twice)
        yield Suspect(
            "scaling", "linear", f"all frequencies were divided by {number(by)}", plain / by
        )
        yield Suspect(
            "scaling",
            f"{kind}, upside down",
            "frequencies were multiplied where the schedule divides them",
            np.divide(plain**2, due, out=np.zeros_like(due), where=due > 0),
        )
        other = plain + plain / by - due
        words = f"the {kind} schedule divided the other pairs: its ramp ran the other way"
        yield Suspect("scaling", f"{kind}, ramp turned round", words, other)
        yield from _numbers(layer, length)
    else:
        for factor in (2.0, 4.0, 8.0):
            words = f"there were a linear schedule with the factor {number(factor)}"
            yield Suspect("scaling", f"linear by {factor:g}", words, plain / factor)
    yield from _exponents(layer)
    yield from _bases(layer, others, length)
    yield from _rounded(due)
    yield Suspect("pairs", "reversed", "the pairs stood in the opposite order", due[::-1])


def fitted(layer: Layer, omega: Array) -> Suspect | None:
    """Return a base or a factor that nobody would guess, if one explains all pairs."""
    n, turning = len(omega), layer.turning
    if n < 3 or (omega <= 0).any():
        return None
    exponent = 2 * np.arange(n) / turning
    slope = float(-(exponent * np.log(omega)).sum() / np.square(exponent).sum())
    base = float(np.exp(slope))
    if np.allclose(omega, base**-exponent, rtol=1e-3):
        return Suspect("base", base, f"the base were {number(base)}", base**-exponent)
    slope, start = np.polyfit(exponent, np.log(omega), 1)
    fit = np.exp(start + slope * exponent)
    if np.allclose(omega, fit, rtol=1e-3):
        base, factor = float(np.exp(-slope)), float(np.exp(-start))
        words = f"the base were {number(base)} and all frequencies divided by {number(factor)}"
        return Suspect("scaling", f"linear by {factor:.4g}", words, fit)
    return None


def _omega(layer: Layer, length: int, **changed: Any) -> Array | None:
    """Return the frequencies of a layer with other numbers, None where they cannot be."""
    numbers = {"base": layer.base, "turning": layer.turning, "scaling": layer.scaling} | changed
    try:
        return schedule.inv_freq(
            numbers["base"],
            numbers["turning"],
            layer.head_dim or layer.turning,
            numbers["scaling"],
            length,
        )
    except (ConfigError, ValueError, ArithmeticError):
        return None


def _numbers(layer: Layer, length: int) -> Iterator[Suspect]:
    """Yield schedules of which one number is another."""
    scaling = dict(layer.scaling or {})
    kind, by = scaling["type"], scaling["factor"]
    trained = scaling.get("original_max_position_embeddings")
    changes: list[tuple[str, Any, dict[str, Any]]] = []
    if kind == "longrope":
        short, far = scaling["short_factor"], scaling["long_factor"]
        omega = _omega(layer, length, scaling=scaling | {"short_factor": far, "long_factor": short})
        if omega is not None:
            words = "the factors for short and for long inputs were exchanged"
            yield Suspect("scaling", "longrope, factors exchanged", words, omega)
    if kind == "yarn":
        yield from _ends_exchanged(layer, length)
    for factor in (2.0, 4.0, 8.0, 16.0, 32.0, 40.0):
        changes.append(("factor", factor, {"factor": factor}))
    if trained:
        for size in (2048, 4096, 8192, 16384, 32768, 131072, int(trained * by), int(trained / by)):
            name = "original_max_position_embeddings"
            changes.append((name, size, {name: size}))
    if kind == "yarn":
        truncate = not scaling.get("truncate", True)
        changes.append(("truncate", truncate, {"truncate": truncate}))
        changes.append(("beta_fast", 32, {"beta_fast": 32.0, "beta_slow": 1.0}))
    if kind == "llama3":
        for high in (1.0, 2.0, 4.0, 8.0):
            changes.append(("high_freq_factor", high, {"high_freq_factor": high}))
            changes.append(("low_freq_factor", high, {"low_freq_factor": high}))
    for name, value, change in changes:
        omega = _omega(layer, length, scaling=scaling | change)
        if omega is not None:
            shown = value if isinstance(value, str | bool) else number(value)
            yield Suspect(name, value, f"{name} were {shown}", omega)
    for other in ("yarn", "llama3", "dynamic"):
        numbers = {"low_freq_factor": 1.0, "high_freq_factor": 4.0} if other == "llama3" else {}
        if other != kind and trained:
            omega = _omega(layer, length, scaling=scaling | {"type": other} | numbers)
            if omega is not None:
                yield Suspect("scaling", other, f"the schedule were {other}", omega)


def _ends_exchanged(layer: Layer, length: int) -> Iterator[Suspect]:
    """Yield YaRN with beta_fast for beta_slow: a step where the ramp ends, or a ramp backwards.

    It is a step where code keeps the ramp from running backwards, as DeepSeek's does.
    """
    plain = _omega(layer, length, scaling=None)
    scaling = dict(layer.scaling or {})
    if plain is None or len(plain) < 2:
        return
    per_log = (len(plain) - 1) / np.log(plain[0] / plain[-1])
    turns = scaling["original_max_position_embeddings"] / (2 * np.pi)
    begin, end = (
        float(np.log(turns / scaling.get(name, other)) * per_log)
        for name, other in (("beta_slow", 1.0), ("beta_fast", 32.0))
    )
    if scaling.get("truncate", True):
        begin, end = np.floor(begin), np.ceil(end)
    begin, end = max(begin, 0.0), min(end, 2 * len(plain) - 1.0)
    for size in (max(end - begin, 1e-3), (end - begin) or 1e-3):
        ramp = np.clip((np.arange(len(plain)) - begin) / size, 0, 1)
        omega = plain * (1 - ramp) + plain / scaling["factor"] * ramp
        words = "beta_fast and beta_slow were exchanged"
        yield Suspect("scaling", "yarn, betas exchanged", words, omega)


def _bases(layer: Layer, others: list[Layer], length: int) -> Iterator[Suspect]:
    """Yield other bases: those of other layers, and usual ones, with and without the schedule."""
    theirs = [one.base for one in others if one.base]
    grown = (
        [layer.base / layer.alpha ** (layer.turning / (layer.turning - 2))]
        if (layer.alpha and layer.base)
        else []
    )
    for base in dict.fromkeys((*grown, *theirs, *BASES)):
        if base == layer.base:
            continue
        omega = _omega(layer, length, base=base)
        if omega is not None:
            yield Suspect("base", base, f"the base were {number(base)}", omega)
        omega = _omega(layer, length, base=base, scaling=None)
        if layer.scaling and omega is not None:
            words = f"the base were {number(base)} and the schedule were left out"
            yield Suspect("base", base, words, omega)


def _exponents(layer: Layer) -> Iterator[Suspect]:
    """Yield exponents that are shares of another width."""
    n, base = layer.turning // 2, layer.base or 1.0
    i = np.arange(n)
    for width in dict.fromkeys((layer.head_dim or 0, n, 2 * layer.turning)):
        if width and width != layer.turning:
            words = f"exponents were 2i/{width} where they are 2i/{layer.turning}"
            yield Suspect("turning", f"exponent 2i/{width}", words, base ** (-2 * i / width))
    words = "frequencies began with pair 1 where they begin with pair 0"
    yield Suspect("base", "one pair on", words, frequencies.geometric(layer.turning + 2, base)[1:])


def _rounded(due: Array) -> Iterator[Suspect]:
    for name in ("bfloat16", "float16"):
        rounded = torch.tensor(due).to(getattr(torch, name)).double().numpy()
        yield Suspect("inv_freq", name, f"frequencies had been rounded to {name}", rounded)
