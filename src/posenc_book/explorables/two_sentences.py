"""Two sentences of the same words, and what attention makes of each."""

from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from posenc import tables
from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Order, Switch
from posenc_book.teaching.program import attention

WORDS = ("Alice", "helped", "Bob")
SENTENCES = {"first": "012", "second": "210"}
D_MODEL = 8
_BAR, _BASE, _ROOM = 30, 72, 46  # no bar is higher than the room above and below the base


class TwoSentences(Explorable):
    """One layer of attention with random weights, and the mean of what it gives for a sentence."""

    name = "two-sentences"
    title = "Who helped whom?"
    caption = (
        "Drag a word onto another, or move it by the arrow keys. A layer of attention with random "
        "weights makes eight numbers of each sentence: filled bars are the first sentence, "
        "outlines the second. The switch adds a sinusoid to each word, a code for its place."
    )
    alt = (
        "Eight filled bars for the first sentence, and around each of them the outline of the "
        "same bar for the second sentence. They agree."
    )
    controls = (
        Order("first", "First sentence", WORDS, SENTENCES["first"]),
        Order("second", "Second sentence", WORDS, SENTENCES["second"], look="outline"),
        Switch("positions", "Positions"),
    )
    python = (
        "[two_sentences.TwoSentences().pooled(order, '{positions}') "
        "for order in ('{first}', '{second}')]"
    )

    @cached_property
    def weights(self) -> dict[str, NDArray]:
        """Random embeddings and projections, the same at every start."""
        rng = np.random.default_rng(10)
        shapes = {"x": (len(WORDS), D_MODEL)} | dict.fromkeys("qkv", (D_MODEL, D_MODEL))
        return {name: rng.normal(size=shape).round(3) for name, shape in shapes.items()}

    def pooled(self, order: str, positions: str) -> NDArray:
        """Return the mean output of the words in an order, to six digits."""
        x = self.weights["x"][[int(word) for word in order]]
        if positions == "on":
            x = x + tables.sinusoidal(len(WORDS), D_MODEL)
        return attention(x, *(self.weights[name] for name in "qkv")).mean(0).round(6)

    @cached_property
    def every(self) -> dict[str, NDArray]:
        """The numbers of every order, without positions and with them."""
        states = product(self.controls[0].options, Switch.options)
        return {" ".join(state): self.pooled(*state) for state in states}

    @cached_property
    def scale(self) -> float:
        """Units of the drawing for a value of 1: the largest of all states fills its room."""
        return round(_ROOM / max(np.abs(one).max() for one in self.every.values()), 2)

    def data(self) -> dict:
        """Return the numbers of every state, and the scale of the bars."""
        return {
            "every": {name: one.tolist() for name, one in self.every.items()},
            "scale": self.scale,
        }

    def svg(self, state: State) -> str:
        """Return the bars of both sentences, one around the other."""
        first, second = (self._numbers(state, which) for which in SENTENCES)
        bars = "".join(
            drawing.element("rect", class_="fill glide", data_part=f"first-{i}", **self._bar(i, a))
            + drawing.element(
                "rect", class_="outline glide", data_part=f"second-{i}", **self._bar(i, b)
            )
            for i, (a, b) in enumerate(zip(first, second, strict=True))
        )
        axis = drawing.element("line", x1=20, x2=340, y1=_BASE, y2=_BASE, class_="axis")
        words = drawing.text(180, 14, "what attention makes of each sentence", class_="label")
        return drawing.svg(360, 112, words + bars + axis, label=self.alt)

    def _numbers(self, state: State, which: str) -> NDArray:
        return self.every[f"{state[which]} {state['positions']}"]

    def _bar(self, i: int, value: float) -> dict[str, float]:
        """Return place and size of a bar that grows from the middle line."""
        height = abs(float(value)) * self.scale
        y = _BASE - height if value > 0 else float(_BASE)
        return {"x": 25 + 40 * i, "y": y, "width": _BAR, "height": height}

    def summary(self, state: State) -> str:
        """Return both sentences, and whether attention tells them apart."""
        first, second = (sentence(str(state[which])) for which in SENTENCES)
        apart = np.abs(self._numbers(state, "first") - self._numbers(state, "second")).max()
        if first == second:
            return (
                f"“{first}” twice: the same words in the same order, so every pair of bars agrees."
            )
        if state["positions"] == "off":
            return (
                f"“{first}” “{second}” Without positions, attention makes the same eight numbers "
                "of both."
            )
        return (
            f"“{first}” “{second}” With positions it makes different numbers, up to {apart:.2f} "
            "apart: now a model can learn who helped whom."
        )


def sentence(order: str) -> str:
    """Return the words in an order as a sentence."""
    said = " ".join(WORDS[int(word)] for word in order)
    return f"{said[0].upper()}{said[1:]}."
