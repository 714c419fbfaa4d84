"""What differs from the configuration, and how numbers are written."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from posenc.testing.asking import Seen


@dataclass(frozen=True)
class Fault:
    """One field of one layer that is not as the configuration says.

    Attributes
    ----------
    layer : int
    field : str
        A field of the register's `Layer`, such as "base".
    seen, due : number, str or None
        What the layer seems to use, None where no usual mistake explains it; what is right.
    said : str
        The same as a sentence.
    number : float
        How far it is off, as a share.
    pair : int or None
        The first pair that differs.
    """

    layer: int
    field: str
    seen: Any
    due: Any
    said: str
    number: float = 1.0
    pair: int | None = None


def seen(faults: Sequence[Fault], shown: str, held: str) -> Seen:
    """Return what one input showed: the first fault, and which layers have one."""
    if not faults:
        return Seen(0.0, shown, due=0.0, said=held)
    first, layers = faults[0], sorted({one.layer for one in faults})
    fields = tuple(asdict(one) for one in faults)
    said = first.said + f" (layers {runs(layers)} differ)" * (len(layers) > 1)
    return Seen(first.number, shown, due=0.0, said=said, fields=fields)


def runs(numbers: Sequence[int]) -> str:
    """Return rising numbers in words, such as "0 to 4, 6, 7"."""
    parts: list[list[int]] = []
    for one in numbers:
        if parts and one == parts[-1][-1] + 1:
            parts[-1].append(one)
        else:
            parts.append([one])
    words = (f"{p[0]} to {p[-1]}" if len(p) > 2 else ", ".join(map(str, p)) for p in parts)
    return ", ".join(words)


def number(value: float) -> str:
    """Return a number as people write it: 10,000 or 0.0123."""
    whole = round(value)
    if abs(value) >= 100 or value == whole:
        near = abs(value - whole) < 1e-4 * abs(value)
        return f"{whole:,}" if near and abs(value) < 1e12 else f"{value:,.6g}"
    return f"{value:.4g}"
