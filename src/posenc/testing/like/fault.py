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
    """Return what one input showed: the first fault, and how many layers have one."""
    if not faults:
        return Seen(0.0, shown, due=0.0, said=held)
    first, others = faults[0], {one.layer for one in faults} - {faults[0].layer}
    more = f" ({len(others)} more {'layers differ' if len(others) > 1 else 'layer differs'})"
    fields = tuple(asdict(one) for one in faults)
    said = first.said + more * bool(others)
    return Seen(first.number, shown, due=0.0, said=said, fields=fields)


def number(value: float) -> str:
    """Return a number as people write it: 10,000 or 0.0123."""
    whole = round(value)
    if abs(value) >= 100 or value == whole:
        near = abs(value - whole) < 1e-4 * abs(value)
        return f"{whole:,}" if near and abs(value) < 1e12 else f"{value:,.6g}"
    return f"{value:.4g}"
