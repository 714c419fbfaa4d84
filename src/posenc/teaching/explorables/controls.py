"""What a reader can change: native controls with labels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape


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
class Preset:
    """A button that leads to a case worth seeing."""

    label: str
    state: Mapping[str, float | str] = field(default_factory=dict)


Control = Range | Choice
