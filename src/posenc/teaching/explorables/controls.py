"""What a reader can change: native controls with labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from itertools import permutations
from typing import ClassVar


@dataclass(frozen=True)
class Range:
    """A slider over numbers.

    Attributes
    ----------
    key : str
        Name of the value in the state.
    label : str
        What a reader sees, with the unit if there is one.
    minimum, maximum, step, value : float
        `value` is the first one.
    """

    key: str
    label: str
    minimum: float
    maximum: float
    step: float
    value: float

    def html(self, prefix: str) -> str:
        """Return label, slider and number."""
        own = f"{prefix}-{self.key}"
        limits = f'min="{self.minimum:g}" max="{self.maximum:g}" step="{self.step:g}"'
        return (
            f'<div class="explorable-control"><label for="{own}">{escape(self.label)}</label>'
            f'<input type="range" id="{own}" data-key="{self.key}" {limits} '
            f'value="{self.value:g}"><output for="{own}">{self.value:g}</output></div>'
        )


@dataclass(frozen=True)
class Choice:
    """A list of which one is chosen.

    Attributes
    ----------
    key, label : str
        As for `Range`.
    options : mapping of str to str
        Value -> what a reader sees.
    value : str
        The first one.
    """

    key: str
    label: str
    options: Mapping[str, str]
    value: str

    def html(self, prefix: str) -> str:
        """Return label and list."""
        own = f"{prefix}-{self.key}"
        options = "".join(
            f'<option value="{escape(value)}"{" selected" if value == self.value else ""}>'
            f"{escape(shown)}</option>"
            for value, shown in self.options.items()
        )
        return (
            f'<div class="explorable-control"><label for="{own}">{escape(self.label)}</label>'
            f'<select id="{own}" data-key="{self.key}">{options}</select></div>'
        )


@dataclass(frozen=True)
class Switch:
    """Something that is off or on, and off at first.

    Attributes
    ----------
    key, label : str
        As for `Range`.
    """

    key: str
    label: str
    value: str = "off"
    options: ClassVar[Mapping[str, str]] = {"off": "off", "on": "on"}

    def html(self, prefix: str) -> str:
        """Return label and switch, with the word for where it stands."""
        own = f"{prefix}-{self.key}"
        return (
            f'<div class="explorable-control"><label for="{own}">{escape(self.label)}</label>'
            f'<button type="button" role="switch" aria-checked="false" id="{own}"></button>'
            f'<output for="{own}">{self.value}</output>{_held(self.key, self.value)}</div>'
        )


@dataclass(frozen=True)
class Order:
    """Words in a row that change places: dragged, by the arrow keys, or by a press.

    It stands above the drawing, not below it. A value is the order as digits: "210" is backwards.

    Attributes
    ----------
    key, label : str
        As for `Range`.
    words : tuple of str
    value : str
        The first order.
    look : str
        "fill" or "outline", as the parts of the drawing that belong to it.
    """

    key: str
    label: str
    words: tuple[str, ...]
    value: str
    look: str = "fill"

    @property
    def options(self) -> dict[str, str]:
        """Return every order with the words in it."""
        every = permutations(range(len(self.words)))
        return {"".join(map(str, one)): " ".join(self.words[i] for i in one) for one in every}

    def html(self, prefix: str) -> str:
        """Return a button for each word; the script lets them answer."""
        buttons = "".join(
            f'<button type="button" class="explorable-word" disabled>{escape(word)}</button>'
            for word in self.options[self.value].split(" ")
        )
        return (
            f'<div class="explorable-order" role="group" id="{prefix}-{self.key}" '
            f'aria-label="{escape(self.label)}" data-look="{self.look}" '
            f'data-words="{escape(" ".join(self.words))}">{buttons}'
            f"{_held(self.key, self.value)}</div>"
        )


def _held(key: str, value: str) -> str:
    """Return the input that holds the value of a control that the browser does not know."""
    return f'<input type="hidden" data-key="{key}" value="{value}">'


@dataclass(frozen=True)
class Preset:
    """A button that leads to a case worth seeing."""

    label: str
    state: Mapping[str, float | str] = field(default_factory=dict)


Control = Range | Choice | Switch | Order
