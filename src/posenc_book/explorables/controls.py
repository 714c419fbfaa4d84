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
    said : tuple of str
        What a reader sees in place of each number, from the smallest on, in steps of 1.
    """

    key: str
    label: str
    minimum: float
    maximum: float
    step: float
    value: float
    said: tuple[str, ...] = ()

    def html(self, prefix: str) -> str:
        """Return label, slider and number."""
        own = f"{prefix}-{self.key}"
        limits = f'min="{self.minimum:g}" max="{self.maximum:g}" step="{self.step:g}"'
        shown, said = f"{self.value:g}", ""
        if self.said:
            shown = self.said[int(self.value - self.minimum)]
            said = f' data-said="{escape(" ".join(self.said))}" aria-valuetext="{escape(shown)}"'
        return (
            f'<div class="explorable-control"><label for="{own}">{escape(self.label)}</label>'
            f'<input type="range" id="{own}" data-key="{self.key}" {limits}{said} '
            f'value="{self.value:g}"><output for="{own}">{escape(shown)}</output></div>'
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
class Text:
    """A text of the reader's own.

    Attributes
    ----------
    key, label, value : str
        As for `Choice`.
    most : int
        Letters that it may have.
    """

    key: str
    label: str
    value: str
    most: int

    def html(self, prefix: str) -> str:
        """Return label and field."""
        own = f"{prefix}-{self.key}"
        return (
            f'<div class="explorable-text"><label for="{own}">{escape(self.label)}</label>'
            f'<textarea id="{own}" data-key="{self.key}" maxlength="{self.most}" rows="4" '
            f'spellcheck="false">{escape(self.value)}</textarea></div>'
        )


@dataclass(frozen=True)
class Unseen:
    """A value, "off" at first, that no control shows: a button sets it."""

    key: str
    value: str = "off"
    options: ClassVar[Mapping[str, str]] = {"off": "off", "on": "on"}

    def html(self, prefix: str) -> str:
        """Return the input that holds it."""
        return f'<div id="{prefix}-{self.key}" hidden>{_held(self.key, self.value)}</div>'


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


@dataclass(frozen=True)
class Spot:
    """A place in a grid, which four buttons move, and the arrow keys on them.

    Attributes
    ----------
    key, label : str
        As for `Range`.
    rows, columns : range
        The places that can be reached. A value is a place as words: "3,4".
    value : str
        The first one.
    """

    key: str
    label: str
    rows: range
    columns: range
    value: str

    @property
    def options(self) -> dict[str, str]:
        """Return every place."""
        every = [f"{row},{column}" for row in self.rows for column in self.columns]
        return dict(zip(every, every, strict=True))

    def html(self, prefix: str) -> str:
        """Return the label and the buttons; the script lets them answer."""
        buttons = "".join(
            f'<button type="button" data-step="{step}" aria-label="{escape(self.label)} {way}" '
            f"disabled>{arrow}</button>"
            for way, arrow, step in _WAYS
        )
        ends = (*self.rows[:: len(self.rows) - 1], *self.columns[:: len(self.columns) - 1])
        return (
            f'<div class="explorable-control explorable-spot" role="group" '
            f'id="{prefix}-{self.key}" aria-label="{escape(self.label)}" '
            f'data-ends="{",".join(map(str, ends))}"><span>{escape(self.label)}</span>'
            f"<div>{buttons}</div>{_held(self.key, self.value)}</div>"
        )


_WAYS = [("left", "←", "0,-1"), ("right", "→", "0,1"), ("up", "↑", "-1,0"), ("down", "↓", "1,0")]


def _held(key: str, value: str) -> str:
    """Return the input that holds the value of a control that the browser does not know."""
    return f'<input type="hidden" data-key="{key}" value="{value}">'


@dataclass(frozen=True)
class Preset:
    """A button that leads to a case worth seeing."""

    label: str
    state: Mapping[str, float | str] = field(default_factory=dict)


Control = Range | Choice | Switch | Text | Unseen | Order | Spot
