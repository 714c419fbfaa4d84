"""The form that every explorable figure has."""

import json
from abc import ABC, abstractmethod
from html import escape
from typing import Any, ClassVar

from posenc_book.explorables.controls import Control, Order, Preset

State = dict[str, Any]  # a number or a word, as the control says


class Explorable(ABC):
    """A figure whose first frame is drawn here and redrawn by its script.

    The script `scripts/<name>.js` calls `posencExplorables.define(name, {functions, redraw})`.
    `functions` are the mathematics, which tests compare with this package; `redraw(view, state,
    data)` changes the parts of the drawing that have a `data-part`, and returns the summary.

    Attributes
    ----------
    name : str
        Value of `data-name`, such as "clock-hands".
    title : str
    caption : str
        What to look for.
    alt : str
        What the first frame shows, for who cannot see it.
    controls : tuple of Range, Choice, Switch, Order or Spot
        What a reader can change; two serve best.
    folded : tuple
        Further controls, in a fold.
    presets : tuple of Preset
        Cases worth seeing.
    python : str
        A call that computes what is shown; names of the state in braces are filled in.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    caption: ClassVar[str]
    alt: ClassVar[str]
    controls: ClassVar[tuple[Control, ...]]
    folded: ClassVar[tuple[Control, ...]] = ()
    presets: ClassVar[tuple[Preset, ...]] = ()
    python: ClassVar[str]

    @abstractmethod
    def svg(self, state: State) -> str:
        """Return the drawing of a state: one `svg` element with a `viewBox`."""

    @abstractmethod
    def summary(self, state: State) -> str:
        """Return what is seen in a state, in a sentence or two; the script says the same."""

    def data(self) -> dict:
        """Return what the script needs and does not compute, for JSON."""
        return {}

    def first(self) -> State:
        """Return the state of the first frame."""
        return {control.key: control.value for control in (*self.controls, *self.folded)}

    def html(self) -> str:
        """Return the figure as HTML without scripts or styles of its own."""
        state, own = self.first(), f"explorable-{self.name}"
        above = "".join(one.html(own) for one in self.controls if isinstance(one, Order))
        below = "".join(one.html(own) for one in self.controls if not isinstance(one, Order))
        if self.folded:
            more = "".join(one.html(own) for one in self.folded)
            below += f'<details class="explorable-more"><summary>More</summary>{more}</details>'
        presets = "".join(
            f'<button type="button" data-preset="{i}">{escape(preset.label)}</button>'
            for i, preset in enumerate(self.presets)
        )
        known = {
            "data": self.data(),
            "presets": [dict(preset.state) for preset in self.presets],
            "python": self.python,
        }
        title = self.title if self.title.endswith("?") else f"{self.title}."
        packed = json.dumps(known, separators=(",", ":")).replace("<", "\\u003c")
        return (
            f'<figure class="explorable" id="{own}" data-name="{self.name}" '
            f'aria-label="{escape(self.title)}">'
            f'<div class="explorable-drawing">{above}{self.svg(state)}</div>'
            f'<div class="explorable-controls">{below}<div class="explorable-buttons">{presets}'
            '<button type="button" data-do="reset">Reset</button>'
            '<button type="button" data-do="copy">Copy as Python</button></div></div>'
            f'<p class="explorable-summary" aria-live="polite">{escape(self.summary(state))}</p>'
            f"<figcaption><strong>{escape(title)}</strong> {escape(self.caption)}</figcaption>"
            f'<script type="application/json">{packed}</script></figure>'
        )
