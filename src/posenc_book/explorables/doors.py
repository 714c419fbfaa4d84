"""The four doors on one small attention map: a rose is a rose."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posenc import tables
from posenc.frequencies import geometric
from posenc.rotation import rotate
from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset

WORDS = ("a", "rose", "is", "a", "rose", "is", "a", "rose")
KINDS = {"a": 0, "rose": 1, "is": 2}
D_MODEL, SLOPE, NEXT = 8, 0.5, 0.3
_LEFT, _TOP, _CELL = 60, 40, 34


class Doors(Explorable):
    """Attention weights of eight words of three kinds, with a door opened or not."""

    name = "doors"
    title = "Four doors"
    caption = (
        "Each row shows how one word attends to all words; the stronger the colour, the more. With "
        "all doors shut, every “rose” has the same row, for attention sees the word and not its "
        "place. Open a door and watch where the rows part."
    )
    alt = (
        "A map of eight by eight cells over the words of the sentence a rose is a rose is a rose. "
        "Rows of the same word look exactly alike."
    )
    controls = (
        Choice("embed", "embed", {"shut": "shut", "sinusoid": "add a sinusoid"}, "shut"),
        Choice("rotate", "rotate", {"shut": "shut", "rope": "RoPE"}, "shut"),
        Choice("bias", "bias", {"shut": "shut", "alibi": "ALiBi, slope 1/2"}, "shut"),
        Choice("mix", "mix", {"shut": "shut", "erpe": "eRPE, 0.3 for the next word"}, "shut"),
    )
    presets = (
        Preset("All shut", dict.fromkeys(("embed", "rotate", "bias", "mix"), "shut")),
        Preset("ALiBi alone", {"embed": "shut", "rotate": "shut", "bias": "alibi", "mix": "shut"}),
    )
    python = "doors.Doors().weights(embed='{embed}', rotate='{rotate}', bias='{bias}', mix='{mix}')"

    @cached_property
    def tokens(self) -> tuple[NDArray, NDArray, NDArray]:
        """Random embeddings of the words, (8, 8), and projections to queries and keys."""
        rng = np.random.default_rng(3)
        kinds = rng.normal(size=(3, D_MODEL)).round(3)
        w_q, w_k = (rng.normal(size=(D_MODEL, D_MODEL)) / 3 for _ in range(2))
        return kinds[[KINDS[word] for word in WORDS]], w_q.round(3), w_k.round(3)

    def data(self) -> dict:
        """Return embeddings, projections and sinusoids."""
        x, w_q, w_k = self.tokens
        table = tables.sinusoidal(len(WORDS), D_MODEL).round(6)
        return {"x": x.tolist(), "q": w_q.tolist(), "k": w_k.tolist(), "table": table.tolist()}

    def weights(self, embed: str, rotate: str, bias: str, mix: str) -> NDArray:
        """Return what each word attends to, (8, 8)."""
        x, w_q, w_k = self.tokens
        if embed == "sinusoid":
            x = x + tables.sinusoidal(len(WORDS), D_MODEL).round(6)
        return attention_weights(x @ w_q, x @ w_k, rope=rotate != "shut", alibi=bias != "shut",
                                 erpe=mix != "shut")  # fmt: skip

    def svg(self, state: State) -> str:
        """Return the map with the words beside and above it."""
        weights = self.weights(**state)
        words = "".join(
            drawing.text(_LEFT - 8, _TOP + _CELL * (i + 0.6), word, class_="end")
            + drawing.text(_LEFT + _CELL * (i + 0.5), _TOP - 8, word, class_="label")
            for i, word in enumerate(WORDS)
        )
        places = [(i, j) for i in range(len(WORDS)) for j in range(len(WORDS))]
        cells = "".join(_cell(i, j, weights[i, j]) for i, j in places)
        return drawing.svg(360, _TOP + _CELL * len(WORDS) + 6, words + cells, label=self.alt)

    def summary(self, state: State) -> str:
        """Return by how much the rows of the first and the second rose differ."""
        weights = self.weights(**state)
        apart = np.abs(weights[1] - weights[4]).max()
        opened = [key for key, value in state.items() if value != "shut"]
        said = f"Open: {', '.join(opened)}." if opened else "All doors are shut."
        return f"{said} The rows of the first and the second “rose” differ by at most {apart:.2f}."


def attention_weights(
    q: NDArray, k: NDArray, *, rope: bool = False, alibi: bool = False, erpe: bool = False
) -> NDArray:
    """Return the weights of one head, (length, length), from queries and keys (length, d)."""
    places = np.arange(len(q))
    if rope:
        q, k = (rotate(a, places, geometric(a.shape[1])) for a in (q, k))
    scores = q @ k.T / np.sqrt(q.shape[1])
    if alibi:
        scores = scores - SLOPE * np.abs(places[:, None] - places)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    return weights + NEXT * (places[:, None] + 1 == places) if erpe else weights


def _cell(i: int, j: int, weight: float) -> str:
    """Return the square of a query i and a key j."""
    place = {"x": _LEFT + _CELL * j, "y": _TOP + _CELL * i}
    size = {"width": _CELL - 1, "height": _CELL - 1, "fill_opacity": shade(weight)}
    return drawing.element("rect", class_="fill", data_part=f"cell-{i}-{j}", **place, **size)


def shade(weight: float) -> float:
    """Return how dark a weight is drawn: its root, as a share of that of the largest there is."""
    return round((float(weight) / (1 + NEXT)) ** 0.5, 3)
