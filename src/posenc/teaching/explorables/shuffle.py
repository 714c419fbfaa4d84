"""A sentence in another order: what attention gives with and without positions."""

from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from posenc import tables
from posenc.teaching.explorables import drawing
from posenc.teaching.explorables.base import Explorable, State
from posenc.teaching.explorables.controls import Choice, Preset, Range

WORDS = ("only", "Alice", "helped", "Bob")
# Every order of the four words that is a sentence; the last is the first one backwards.
ORDERS = (
    (0, 1, 2, 3), (1, 0, 2, 3), (1, 2, 0, 3), (1, 2, 3, 0),
    (0, 3, 2, 1), (3, 0, 2, 1), (3, 2, 0, 1), (3, 2, 1, 0),
)  # fmt: skip
POSITIONS = {"none": "none", "sinusoid": "sinusoid added"}
D_MODEL = 8
_BAR, _BASE, _ROOM = 38, 146, 96  # no bar is higher than the room above and below the base


class Shuffle(Explorable):
    """One layer of attention with random weights, and the mean of what comes out."""

    name = "shuffle"
    title = "Shuffle the words"
    caption = (
        "Bars: the mean of what one layer of attention gives for the sentence, in eight "
        "dimensions. Outlines: the same for the first sentence. The four words make eight "
        "sentences, and without positions none of them moves a bar; switch the positions on and "
        "shuffle again."
    )
    alt = (
        "The four words of a sentence in a row, and below them eight bars that all fill their "
        "outlines exactly."
    )
    controls = (
        Range("order", "Order", 0, len(ORDERS) - 1, 1, 0),
        Choice("positions", "Positions", POSITIONS, "none"),
    )
    presets = (
        Preset("Backwards", {"order": len(ORDERS) - 1}),
        Preset("Backwards, with positions", {"order": len(ORDERS) - 1, "positions": "sinusoid"}),
    )
    python = "shuffle.Shuffle().pooled({order}, '{positions}')"

    @cached_property
    def weights(self) -> dict[str, NDArray]:
        """Random embeddings and projections, the same at every start."""
        rng = np.random.default_rng(5)
        shapes = {"x": (len(WORDS), D_MODEL)} | dict.fromkeys("qkv", (D_MODEL, D_MODEL))
        return {name: rng.normal(size=shape).round(3) for name, shape in shapes.items()}

    @cached_property
    def scale(self) -> float:
        """Units of the drawing for a value of 1: the largest of all states fills its room."""
        states = product(range(len(ORDERS)), POSITIONS)
        return round(_ROOM / max(np.abs(self.pooled(*state)).max() for state in states), 2)

    def data(self) -> dict:
        """Return the orders, the weights and the sinusoids, and the scale of the bars."""
        table = tables.sinusoidal(len(WORDS), D_MODEL).round(6)
        weights = {name: a.tolist() for name, a in self.weights.items()}
        return weights | {"table": table.tolist(), "orders": ORDERS, "scale": self.scale}

    def pooled(self, order: int, positions: str) -> NDArray:
        """Return the mean output of the words in an order."""
        x = self.weights["x"][list(ORDERS[order])]
        if positions == "sinusoid":
            x = x + tables.sinusoidal(len(WORDS), D_MODEL).round(6)
        return attention(x, *(self.weights[name] for name in "qkv")).mean(0)

    def svg(self, state: State) -> str:
        """Return the words and the bars."""
        order = ORDERS[int(state["order"])]
        words = "".join(
            drawing.text(45 + 90 * i, 24, WORDS[j], class_="label word", data_part=f"word-{i}")
            for i, j in enumerate(order)
        )
        first, now = (
            self.pooled(0, str(state["positions"])),
            self.pooled(int(state["order"]), str(state["positions"])),
        )
        bars = "".join(
            drawing.element("rect", class_="fill", data_part=f"now-{i}", **self._bar(i, now[i]))
            + drawing.element(
                "rect", class_="outline", data_part=f"first-{i}", **self._bar(i, first[i])
            )
            for i in range(D_MODEL)
        )
        axis = drawing.element("line", x1=20, x2=340, y1=_BASE, y2=_BASE, class_="axis")
        return drawing.svg(360, 250, words + bars + axis, label=self.alt)

    def _bar(self, i: int, value: float) -> dict[str, float]:
        """Return place and size of a bar that grows from the middle line."""
        height = abs(float(value)) * self.scale
        y = _BASE - height if value > 0 else float(_BASE)
        return {"x": 24 + 40 * i, "y": y, "width": _BAR - 8, "height": height}

    def summary(self, state: State) -> str:
        """Return the sentence and how far the bars have moved."""
        order, positions = int(state["order"]), str(state["positions"])
        said = sentence(order)
        moved = np.abs(self.pooled(order, positions) - self.pooled(0, positions)).max()
        how = "Without positions" if positions == "none" else "With positions"
        return f"“{said}.” {how} the largest change of a bar is {moved:.2f}."


def attention(x: NDArray, w_q: NDArray, w_k: NDArray, w_v: NDArray) -> NDArray:
    """Return one head of self-attention: (length, d_model) to the same."""
    scores = (x @ w_q) @ (x @ w_k).T / np.sqrt(x.shape[1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ (x @ w_v)


def sentence(order: int) -> str:
    """Return the words in an order, the first with a capital."""
    said = " ".join(WORDS[j] for j in ORDERS[order])
    return said[0].upper() + said[1:]
