"""Scores by offset: what an encoding says by itself, and what a trained model makes of it."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posenc import _checks, tables
from posenc.frequencies import geometric
from posenc.rotation import rotate
from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset
from posenc_book.read import results

N_HEADS = 2  # of the stored trainings
FORMULAS = {
    "sinusoidal": "Sinusoid", "dft": "DFT", "tape": "tAPE", "rotary": "RoPE", "alibi": "ALiBi",
}  # fmt: skip
LEARNED = {
    "learnable": "Learned table", "relative": "Shaw, relative", "t5": "T5 bias", "tupe": "TUPE",
    "erpe": "eRPE",
}  # fmt: skip
TITLES = FORMULAS | LEARNED
LENGTHS, WIDTHS = (16, 32), (16, 32, 64)
APART = 4  # steps between the pulses of the task
_LEFT, _WIDTH, _HIGH = 44, 304, 92
_TOPS = {"before": 26, "after": 156}


class Kernels(Explorable):
    """Mean scores by offset before and after a small training, one line a head."""

    name = "kernels"
    title = "What an encoding makes of an offset"
    caption = (
        "Upper picture: what the encoding makes of a query and a key of equal content before any "
        "training; those with something to learn at their random start. Lower picture: mean "
        "scores in the two heads of a small model, trained to say which of two pulses came first. "
        "They stand four steps apart on a ring, so the dashed offsets are those worth finding. "
        "Compare the lines there before and after. Scores are of queries and keys from different "
        "series, so that content has nothing to do with the offset. eRPE shows what it adds to "
        "the weights."
    )
    alt = (
        "Two pictures of lines against offset, for the sinusoid with 16 positions. Above, one "
        "symmetric bump at offset 0. Below, the line of one head has a dip there, is highest at "
        "the offsets 4 and minus 4, and falls towards both ends."
    )
    controls = (
        Choice("encoding", "Encoding", TITLES, "sinusoidal"),
        Choice("length", "Length", {str(n): str(n) for n in LENGTHS}, "16"),
        Choice("width", "Width d_model", {str(n): str(n) for n in WIDTHS}, "32"),
    )
    presets = (
        Preset("Peaks that were learned", {"encoding": "erpe", "length": "16"}),
        Preset("Fast clocks with tAPE", {"encoding": "tape", "length": "16"}),
        Preset("Both sides alike", {"encoding": "alibi"}),
    )
    python = "kernels.Kernels().scores('{encoding}', {length}, {width})"

    @cached_property
    def _stored(self) -> dict[str, dict]:
        return {
            f"{r['encoding']} {r['settings']['dataset_options']['length']} "
            f"{r['settings']['d_model']}": r["metrics"]
            for r in results.load_records("kernels")
        }

    def data(self) -> dict:
        """Return the stored lines as whole numbers of their units, and accuracies in per cent."""
        right = {key: _percent(metrics) for key, metrics in self._stored.items()}
        return self._whole | {"right": right, "names": TITLES}

    @cached_property
    def _whole(self) -> dict[str, dict[str, list[list[int]]]]:
        return {
            when: {
                key: _packed(metrics[when], _unit(key))
                for key, metrics in self._stored.items()
                if when == "after" or key.split()[0] in LEARNED
            }
            for when in ("before", "after")
        }

    def scores(self, encoding: str, length: int, width: int) -> dict[str, NDArray[np.float64]]:
        """Return the lines before and after, (n_heads or 1, 2 * length - 1), of rising offsets."""
        _checks.choice("encoding", encoding, TITLES)
        for name, value, known in (("length", length, LENGTHS), ("width", width, WIDTHS)):
            if value not in known:
                raise ValueError(f"{name} must be one of {known}, got {value!r}")
        key = _key(encoding, length, width)
        lines = {
            when: np.array(stored[key]) * _unit(key)
            for when, stored in self._whole.items()
            if key in stored
        }
        if encoding in FORMULAS:
            lines["before"] = by_formula(encoding, length, width)
        return lines

    def svg(self, state: State) -> str:
        """Return the two pictures."""
        lines = self._lines(state)
        words = {"before": "before training", "after": "after training"}
        pictures = "".join(self._picture(when, lines[when], words[when]) for when in _TOPS)
        ends = [(_LEFT, signed(1 - self._length(state)), "", "first"),
                (_LEFT + _WIDTH / 2, "offset 0", "label", "middle"),
                (_LEFT + _WIDTH, f"{self._length(state) - 1}", "end", "last")]  # fmt: skip
        low = _TOPS["after"] + _HIGH + 16
        axis = "".join(
            drawing.text(x, low, said, class_=kind, data_part=part) for x, said, kind, part in ends
        )
        return drawing.svg(360, low + 26, self._marks(state) + pictures + axis + _legend(low + 20),
                           label=self.alt)  # fmt: skip

    def _marks(self, state: State) -> str:
        top, low = _TOPS["before"], _TOPS["after"] + _HIGH
        length, found = self._length(state), ""
        for i, offset in enumerate(marked(length)):
            x = _x(offset, length)
            line = {"x1": x, "x2": x, "y1": top, "y2": low}
            kind = "cursor" if offset else "axis"
            found += drawing.element("line", class_=kind, data_part=f"mark-{i}", **line)
        return found

    def _picture(self, when: str, lines: NDArray, words: str) -> str:
        top = _TOPS[when]
        low, high = float(lines.min()), float(lines.max())
        paths = "".join(
            drawing.element(
                "path", d=curve(lines[min(h, len(lines) - 1)], low, high, top),
                class_="soft-line" if h else "line", data_part=f"{when}-{h}",
            )
            for h in reversed(range(N_HEADS))
        )  # fmt: skip
        return (
            drawing.text(_LEFT, top - 10, words)
            + drawing.text(
                _LEFT - 6, top + 6, score_text(high), class_="end", data_part=f"{when}-high"
            )
            + drawing.text(
                _LEFT - 6, top + _HIGH, score_text(low), class_="end", data_part=f"{when}-low"
            )
            + paths
        )

    def _length(self, state: State) -> int:
        return int(state["length"])

    def _lines(self, state: State) -> dict[str, NDArray[np.float64]]:
        return self.scores(str(state["encoding"]), self._length(state), int(state["width"]))

    def summary(self, state: State) -> str:
        """Return how well the model has learned, and where its scores are highest and lowest."""
        length = self._length(state)
        after = self._lines(state)["after"]
        line = after[np.argmax(after.max(1) - after.min(1))]  # the head that tells most apart
        high, low = (int(f(line)) + 1 - length for f in (np.argmax, np.argmin))
        key = _key(str(state["encoding"]), length, int(state["width"]))
        what = "added weights" if state["encoding"] == "erpe" else "scores"
        return (
            f"{TITLES[str(state['encoding'])]}, {length} positions: trained at width "
            f"{state['width']}, the model is right in {_percent(self._stored[key])} % of test "
            f"series. In its clearer head {what} are highest at offset {signed(high)} and lowest "
            f"at offset {signed(low)}."
        )


def by_formula(encoding: str, length: int, width: int) -> NDArray[np.float64]:
    """Return the scores that an encoding without parameters gives tokens of equal content."""
    _checks.choice("encoding", encoding, FORMULAS)
    if encoding == "alibi":
        slopes = 2.0 ** (-8 * np.arange(1, N_HEADS + 1) / N_HEADS)
        return -slopes[:, None] * np.abs(np.arange(1 - length, length))
    if encoding == "rotary":
        d_head = width // N_HEADS
        pairs = np.tile([1.0, 0.0], (length, d_head // 2))
        rows = rotate(pairs, np.arange(length), geometric(d_head)) / d_head**0.25
    else:
        options = {"overflow": "stretch"} if encoding == "dft" else {}
        rows = getattr(tables, encoding)(length, width, **options) / width**0.25
    return by_offset(rows @ rows.T)[None]


def by_offset(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means along the diagonals of (length, length), offsets rising."""
    length = len(scores)
    return np.array([scores.diagonal(k).mean() for k in range(1 - length, length)])


def curve(line: NDArray[np.float64], low: float, high: float, top: float) -> str:
    """Return the path of one line."""
    length, spread = (len(line) + 1) // 2, high - low or 1.0
    points = [
        f"{_x(k + 1 - length, length):.1f} {top + _HIGH * (high - v) / spread:.1f}"
        for k, v in enumerate(line)
    ]
    return "M" + "L".join(points)


def marked(length: int) -> tuple[int, ...]:
    """Return the offsets of the two pulses, either way round the ring, and 0."""
    return APART - length, -APART, 0, APART, length - APART


def score_text(value: float) -> str:
    """Return a score in two decimals, never as minus zero."""
    return f"{value:z.2f}".replace("-", "−")


def signed(offset: int) -> str:
    """Return an offset with a true minus."""
    return str(offset).replace("-", "−")


def _key(encoding: str, length: int, width: int) -> str:
    return f"{encoding} {length} {width}"


def _x(offset: float, length: int) -> float:
    return _LEFT + _WIDTH * (offset + length - 1) / (2 * length - 2)


def _unit(key: str) -> float:
    """Return the size of the steps in which a line travels: weights are smaller than scores."""
    return 0.001 if key.startswith("erpe") else 0.01


def _packed(lines: list[list[float]], unit: float) -> list[list[int]]:
    return np.rint(np.array(lines) / unit).astype(int).tolist()


def _percent(metrics: dict) -> int:
    return round(100 * metrics["accuracy"])


def _legend(y: float) -> str:
    found = ""
    for head, x in enumerate((_LEFT, _LEFT + 100)):
        kind = "soft-line" if head else "line"
        found += drawing.element("line", x1=x, x2=x + 24, y1=y - 4, y2=y - 4, class_=kind)
        found += drawing.text(x + 30, y, f"head {head + 1}")
    return found
