"""A sentence in another order: what each word takes from attention rides along with the word."""

from functools import cached_property
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset
from posenc_book.teaching.program import attention

WORDS = ("Alice", "helped", "Bob")
FIRST = "012"
# From an order, written as digits, to its words.
SENTENCES = {
    "".join(map(str, order)): " ".join(WORDS[i] for i in order) for order in permutations(range(3))
}
RULES = {
    "all": "all words",
    "back": "words up to itself",
    "numbered": "all words, numbered",
}
HOW = {
    "all": "Each word sees all words.",
    "back": "Each word sees only the words up to itself.",
    "numbered": "The words are numbered.",
}
D_MODEL = 6
_LEFT, _COLUMN, _WIDTH = 10, 90, 80  # of the words; the mean has a fourth column
_BAR, _BASE, _ROOM = 13, 122, 66  # no bar is higher than the room above and below the base


class Shuffle(Explorable):
    """One layer of attention with random weights, word by word, and the mean of the words."""

    name = "shuffle"
    title = "Shuffle the words"
    caption = (
        "Drag a word to another place, or choose a sentence. Bars: the six numbers that a layer of "
        "attention with random weights makes of each word, and their mean. Outlines: what it made "
        "of the same word in “Alice helped Bob”. Where the words are numbered, 0, 1 or 2 is added "
        "to each of their entries."
    )
    alt = (
        "The words Alice, helped and Bob on three tiles. Below each tile and in a fourth column, "
        "for the mean, six bars that fill their outlines exactly."
    )
    controls = (
        Choice("sentence", "Sentence", SENTENCES, FIRST),
        Choice("rule", "Each word sees", RULES, "all"),
    )
    presets = (
        Preset("Bob helped Alice", {"sentence": "210"}),
        Preset("… looking back only", {"sentence": "210", "rule": "back"}),
    )
    python = "shuffle.Shuffle().columns('{sentence}', '{rule}')"

    @cached_property
    def weights(self) -> dict[str, NDArray]:
        """Random embeddings and projections: a draw whose bars differ so much that one sees it."""
        rng = np.random.default_rng(17)
        sizes = {
            "x": (len(WORDS), 1.0),
            "q": (D_MODEL, 0.7),
            "k": (D_MODEL, 0.7),
            "v": (D_MODEL, 1.0),
        }
        return {
            name: (size * rng.normal(size=(n_rows, D_MODEL)).round(3)).round(3)
            for name, (n_rows, size) in sizes.items()
        }

    @cached_property
    def scale(self) -> float:
        """Units of the drawing for a value of 1: the largest of all states fills its room."""
        states = product(SENTENCES, RULES)
        return round(_ROOM / max(np.abs(self.columns(*state)).max() for state in states), 2)

    def data(self) -> dict:
        """Return the embeddings, the weights and the scale of the bars."""
        return {name: a.tolist() for name, a in self.weights.items()} | {"scale": self.scale}

    def columns(self, sentence: str, rule: str) -> NDArray:
        """Return what the words take away in a sentence, and their mean, one row each."""
        x = self.weights["x"][[*map(int, sentence)]]
        if rule == "numbered":
            x = x + np.arange(len(WORDS))[:, None]
        to_query, to_key, to_value = (self.weights[name] for name in "qkv")
        rows = attention(x, to_query, to_key, to_value, causal=rule == "back")
        return np.vstack([rows, rows.mean(axis=0)])

    def before(self, sentence: str, rule: str) -> NDArray:
        """Return what the same words took away in the first sentence, and their mean."""
        return self.columns(FIRST, rule)[[*map(int, sentence), len(WORDS)]]

    def svg(self, state: State) -> str:
        """Return a tile and bars for each word, and bars for the mean."""
        sentence, rule = str(state["sentence"]), str(state["rule"])
        both = self.columns(sentence, rule), self.before(sentence, rule)
        drawn = "".join(_tile(slot, WORDS[int(i)]) for slot, i in enumerate(sentence))
        drawn += drawing.text(_LEFT + 3 * _COLUMN + _WIDTH / 2, 29, "mean", class_="label word")
        for slot, (now, first) in enumerate(zip(*both, strict=True)):
            drawn += _axis(slot)
            for i in range(D_MODEL):
                for look, row, part in (("fill", now, "now"), ("outline", first, "first")):
                    place = bar(slot, i, row[i], self.scale)
                    drawn += drawing.element(
                        "rect", class_=look, data_part=f"{part}-{slot}-{i}", **place
                    )
        said = drawing.text(
            _LEFT + 2 * _COLUMN, 214, "what each word takes away, and the mean", class_="label"
        )
        grips = "".join(_grip(slot) for slot in range(len(WORDS)))
        return drawing.svg(360, 224, drawn + said + grips, label=self.alt)

    def summary(self, state: State) -> str:
        """Return the sentence, and whose bars are others than in the first one."""
        sentence, rule = str(state["sentence"]), str(state["rule"])
        off = np.abs(self.columns(sentence, rule) - self.before(sentence, rule)).max(axis=1)
        moved = [WORDS[int(i)] for i, by in zip(sentence, off, strict=False) if by > 1e-9]
        said = SENTENCES[sentence]
        if sentence == FIRST:
            return f"“{said}.” {HOW[rule]} Now move a word."
        bars = (
            f"The bars of {listed(moved)} have changed, and so has the mean."
            if moved
            else "Each word has the same bars as in the first sentence, and so has the mean."
        )
        return f"“{said[0].upper()}{said[1:]}.” {HOW[rule]} {bars}"


def listed(words: list[str]) -> str:
    """Return two words or more as a sentence lists them: "a and b", "a, b and c"."""
    return f"{', '.join(words[:-1])} and {words[-1]}"


def bar(slot: int, i: int, value: float, scale: float) -> dict[str, float]:
    """Return place and size of a bar that grows from the middle line."""
    height = abs(float(value)) * scale
    y = _BASE - height if value > 0 else float(_BASE)
    x = _LEFT + _COLUMN * slot + 2 + _BAR * i
    return {"x": x, "y": y, "width": _BAR - 2, "height": height}


def _tile(slot: int, word: str) -> str:
    x = _LEFT + _COLUMN * slot
    tile = drawing.element("rect", class_="between", x=x, y=8, width=_WIDTH, height=32, rx=5)
    return tile + drawing.text(
        x + _WIDTH / 2, 29, word, class_="label word", data_part=f"word-{slot}"
    )


def _axis(slot: int) -> str:
    x = _LEFT + _COLUMN * slot
    return drawing.element("line", x1=x, x2=x + _WIDTH, y1=_BASE, y2=_BASE, class_="axis")


def _grip(slot: int) -> str:
    path = f"M{_LEFT + _COLUMN * slot} 4h{_WIDTH}v190h-{_WIDTH}z"
    return drawing.element("path", class_="grip", d=path, data_grip=str(slot))
