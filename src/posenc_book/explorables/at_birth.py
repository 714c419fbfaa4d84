"""How strongly the last token listens to each place in a transformer that has learned nothing.

`at_birth.json` holds what `posenc_book.teaching.birth.shares` finds, for a page that does not wait.
"""

import json
import math
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset, Range

ENCODINGS = {"none": "no positions", "rotary": "RoPE", "sinusoidal": "sinusoid", "alibi": "ALiBi"}
STORED = Path(__file__).with_suffix(".json")
DEPTH, GROUP, LENGTH = 8, 8, 256
_LEFT, _STEP, _WIDTH = 32, 10, 8
_EVEN, _DOUBLE = 132, 13  # where a share of 1 stands, and how much higher twice as much does
_MARKS = (1, 4, 16, 64, 256)


class AtBirth(Explorable):
    """A bar for every eight places of a text, higher where the last token listens more."""

    name = "at-birth"
    title = "A transformer that has learned nothing"
    caption = (
        "Each bar is eight tokens of a text of 256: how strongly the state of the last token "
        "answers to them, beside the middle of the text, which is 1. A bar that is one mark "
        "higher means four times as much. The last token itself stands apart, at the right. Means "
        "of six untrained models."
    )
    alt = (
        "32 bars and one more. The first is high, and the next ones fall to the height of those in "
        "the middle. Bars at the end are a little lower still, and the last token alone is by far "
        "the highest."
    )
    controls = (
        Choice("encoding", "Encoding", ENCODINGS, "rotary"),
        Range("depth", "Layers", 1, DEPTH, 1, DEPTH),
    )
    presets = (
        Preset("One layer", {"depth": 1}),
        Preset("No positions", {"encoding": "none", "depth": 8}),
        Preset("ALiBi", {"encoding": "alibi", "depth": 8}),
    )
    python = "at_birth.shares('{encoding}', {depth})"

    def data(self) -> dict:
        """Return the shares of all encodings and depths."""
        depths = range(1, DEPTH + 1)
        return {
            "names": ENCODINGS,
            "shares": {one: [shares(one, depth) for depth in depths] for one in ENCODINGS},
        }

    def svg(self, state: State) -> str:
        """Return the bars, and the marks at their side."""
        found = shares(str(state["encoding"]), int(state["depth"]))
        marks = "".join(
            drawing.element("path", class_="axis", d=f"M{_LEFT - 4} {top(one)}H352")
            + drawing.text(_LEFT - 7, top(one) + 3, f"{one:g}", class_="small end")
            for one in _MARKS
        )
        bars = "".join(
            drawing.element(
                "rect", class_="fill" if i < len(found) - 1 else "next solid",
                x=_LEFT + _STEP * i - 2, width=_WIDTH, data_part=f"bar-{i}", **rect(one),
            )
            for i, one in enumerate(found)
        )  # fmt: skip
        words = drawing.text(_LEFT, 166, "the first tokens", class_="small")
        words += drawing.text(354, 166, "the last token", class_="small end")
        return drawing.svg(360, 172, marks + bars + words, label=self.alt)

    def summary(self, state: State) -> str:
        """Return what the first tokens, those before the last, and the last one count."""
        encoding, depth = str(state["encoding"]), int(state["depth"])
        found = shares(encoding, depth)
        layers = "1 layer" if depth == 1 else f"{depth} layers"
        return (
            f"{ENCODINGS[encoding]}, {layers}: beside a token of the middle one of the first eight "
            f"counts {share_text(found[0])} times as much, one of those before the last "
            f"{share_text(found[-2])} times, and the last token itself "
            f"{share_text(found[-1])} times."
        )


def shares(encoding: str, depth: int) -> list[float]:
    """Return the influence of eight tokens after eight, and of the last one, on the last state.

    The mean of the middle half is 1. The last group is one token short.
    """
    return stored()[encoding][depth - 1]


@cache
def stored() -> dict[str, list[list[float]]]:
    """Return the shares of each encoding, a row for each depth; the last token is the last one."""
    return json.loads(STORED.read_text(encoding="utf-8"))


def top(share: float) -> float:
    """Return how far down a share stands in the drawing, on a scale of doublings."""
    return _EVEN - _DOUBLE * math.log2(share)


def rect(share: float) -> dict[str, float]:
    """Return place and height of a bar, which stands on the share of 1 or hangs from it."""
    return {"y": min(top(share), _EVEN), "height": max(abs(top(share) - _EVEN), 1.0)}


def share_text(share: float) -> str:
    """Return a share as a sentence says it."""
    digits = Decimal(1) if share >= 20 else Decimal("0.1")
    return str(Decimal(share).quantize(digits, ROUND_HALF_UP))  # as a browser rounds
