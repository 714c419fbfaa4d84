"""The decision record: what the book advises in each case, how sure that is, how to test it.

The cases stand in `record.toml`, whose head says what their fields mean.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from posenc_book import _stored

FIRM = (
    "measured on new data sets",
    "measured on these series",
    "measured on one task or machine",
    "by the formula",
    "by custom, as in released models",
)
"""How sure an answer may be."""
SLOT = re.compile(r"</?data[^>]*>")


@dataclass(frozen=True)
class Case:
    """One line of the record; `record.toml` describes its fields."""

    key: str
    asks: str
    tokens: str
    length: str
    data: str
    readout: str
    size: str
    take: str
    said: str
    runner_up: str
    instead: str
    unless: str
    why: str
    effect: str
    units: str
    edition: str
    see: str
    firm: str
    test: str
    options: str = ""
    then: str = ""
    interval: str = ""

    def __post_init__(self) -> None:
        if self.firm not in FIRM:
            raise ValueError(f"firm of {self.key} must be one of {FIRM}, got {self.firm!r}")

    @property
    def code(self) -> str:
        """The line of code that makes what is recommended, and how it is used if that is new."""
        given = ", ".join(filter(None, (f'"{self.take}", d_model, n_heads, length', self.options)))
        return "; ".join(filter(None, (f"encodings.make({given})", self.then)))

    @property
    def evidence(self) -> str:
        """Effect, interval and units."""
        interval = f" (95 %: {self.interval})" if self.interval else ""
        return f"{self.effect}{interval}; {self.units}"

    @property
    def advice(self) -> str:
        """The recommendation, its reason and the exception, in sentences."""
        return f"Take {self.said}. {self.why} Take {self.instead} instead {self.unless}."


@cache
def cases() -> dict[str, Case]:
    """Return the cases by their keys."""
    path = files(__package__) / "record.toml"
    held: dict[str, dict[str, Any]] = _stored.read(path)
    return {
        key: _stored.record(Case, {"key": key} | {n: _plain(v) for n, v in values.items()}, path)
        for key, values in held.items()
    }


def case(key: str) -> Case:
    """Return one case."""
    if key not in cases():
        raise ValueError(f"key must be one of {', '.join(cases())}, got {key!r}")
    return cases()[key]


def _plain(text: str) -> str:
    """Return a text of the file without the names of its numbers."""
    return SLOT.sub("", text)
