"""A small GPT that lives in the page: how much each letter of a text surprises it.

The first frame is computed here from the weights that the page has; `living-model.js` asks a worker
for all others.
"""

from itertools import pairwise
from typing import Any

from posenc_book.explorables import bundle, drawing, living
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset, Range, Text, Unseen

PASSAGE = (
    "a word does not know where it stands until somebody tells it. so we turn its query and its "
    "key, a little further at every place, and the score of two words can feel how far apart they "
    "are. what will happen when the page is longer than all that it has learn"
)
POSITIONS = {
    "rope": "RoPE",
    "sinusoid": "sinusoid",
    "alibi": "ALiBi",
    "message": "RoPE, values turned as well",
    "none": "none",
}
COLUMNS, MOST, WRITTEN = 32, 256, 40
STEPS = (0, 1, 2, 3, 5)  # nats at which the colour becomes darker
SHADES = tuple(zip((0.25, 0.45, 0.65, 0.85, 1), (0.05, 0.12, 0.2, 0.3, 0.42), strict=True))
_CELL, _LANE, _LINE, _LEFT, _TOP, _GAP = 11, 16, 34, 4, 18, 18
_TALLEST = 6  # nats of a bar that fills its lane
_WIDTH, _STRIP = 360, 316
_HEADS = {
    f"{layer},{head}": f"layer {layer + 1}, head {head + 1}"
    for layer in range(living.N_LAYERS)
    for head in range(living.N_HEADS)
}


class LivingModel(Explorable):
    """The letters of a text, each under a bar for what the model did not expect."""

    name = "living-model"
    title = "A model that lives in this page"
    caption = (
        "A small GPT has read a part of this book, 64 letters at a time. It runs in your browser. "
        "The higher and darker the bar over a letter, the more that letter surprised it. Below the "
        "line the text is longer than any that it learned from. Slower clocks leave the quickest "
        "as they are, and slow the others. Drag over the letters to look into a head."
    )
    alt = (
        "A text of 256 letters in eight rows, with a bar over each letter. A line behind the "
        "second row ends the trained length. The bars of four rows are low. In the last four they "
        "are high."
    )
    controls = (
        Range("slower", "Clocks slowed by", 1, 8, 0.5, 1),
        Choice("positions", "Positions", POSITIONS, "rope"),
    )
    folded = (
        Text("text", "Your own text in English (no digits)", PASSAGE, MOST),
        Choice("length", "Letters read", {"64": "64", "128": "128", "256": "256"}, "256"),
        Range("start", "Place of the first", 0, 500, 10, 0),
        Range("look", "Look from letter", 0, MOST, 1, 0),
        Choice("head", "Which head", _HEADS, "0,1"),
        Unseen("writes"),
    )
    presets = (
        Preset("Slow the clocks four times", {"slower": 4}),
        Preset(f"Write {WRITTEN} letters", {"writes": "on"}),
    )
    python = (
        'living.surprises(living.load("{positions}", {slower}, {start}), """{text}"""[:{length}])'
    )

    def html(self) -> str:
        """Return the figure, with a line for who does not see the bars."""
        told = rows(_read(self.first())[0])
        shown = f'<p class="explorable-rows" data-part="rows">{told}</p>'
        return super().html().replace("</svg></div>", f"</svg>{shown}</div>", 1)

    def data(self) -> dict[str, Any]:
        """Return what the model says of the first frame, so that nothing is loaded for it."""
        nats, following = _read(self.first())
        return {"nats": nats, "next": following}

    def svg(self, state: State) -> str:
        """Return the letters with their bars, and the room for what a head looks at."""
        text, (nats, _) = _text(state), _read(state)
        places = " ".join(str(_LEFT + _CELL * (i + 0.5)) for i in range(COLUMNS))
        rows = "".join(
            drawing.element(
                "text", _shown(text[i * COLUMNS : (i + 1) * COLUMNS]) or "\u00a0", x=places,
                y=_row(i) + _LANE + 12, class_="letter", data_part=f"row-{i}",
            )
            for i in range(MOST // COLUMNS)
        )  # fmt: skip
        end = _row(2) - 6
        line = drawing.element("path", class_="axis", d=f"M0 {end}h{_WIDTH}")
        line += drawing.text(_WIDTH, end - 4, "as long as in training", class_="end small")
        strip = drawing.element("path", class_="fill", data_part="heard", d="")
        strip += drawing.element("path", class_="outline", data_part="marks", d="")
        strip += drawing.element("path", class_="line", data_part="asks", d="")
        told = "drag over the letters: what does a head look at?"
        strip += drawing.text(_LEFT, _STRIP + 12, told, class_="small", data_part="told")
        return drawing.svg(
            _WIDTH, _STRIP + 48, _legend() + _bars(nats) + rows + line + strip, label=self.alt
        )

    def summary(self, state: State) -> str:
        """Return the mean surprise within and beyond the trained length, and the next letter."""
        nats, following = _read(state)
        return f"{named(state)}: {means(nats)} Next it expects {expected(following)}."


def named(state: State) -> str:
    """Return what is read: an encoding, its clocks, and where the text begins."""
    words = {"none": "No positions"}.get(str(state["positions"]), POSITIONS[state["positions"]])
    words = words[0].upper() + words[1:]
    if float(state["slower"]) != 1:
        clocks = state["positions"] not in ("none", "alibi")
        slowed = f", clocks slowed by {float(state['slower']):g}"
        words += slowed if clocks else ", which has no clocks to slow"
    return words + (f", from place {state['start']} on" if int(state["start"]) else "")


def means(nats: list[float]) -> str:
    """Return the mean surprise of the letters in two parts."""
    if not nats:
        return "a single letter cannot surprise."
    first, beyond = nats[: living.LENGTH - 1], nats[living.LENGTH - 1 :]
    told = f"letters 1–{min(len(nats) + 1, living.LENGTH)}: {sum(first) / len(first):.2f} nats each"
    if not beyond:
        return f"{told}."
    return f"{told}; beyond {living.LENGTH}: {sum(beyond) / len(beyond):.2f}."


def rows(nats: list[float]) -> str:
    """Return the mean surprise of the letters of each row."""
    cut = [nats[max(i - 1, 0) : i + COLUMNS - 1] for i in range(0, len(nats) + 1, COLUMNS)]
    means = (f"{sum(one) / len(one):.1f}" for one in cut if one)
    return f"Mean surprise of each row, in nats: {', '.join(means)}."


def expected(following: list[float], n: int = 3) -> str:
    """Return the likeliest next letters."""
    likeliest = sorted(range(len(following)), key=lambda i: -following[i])[:n]
    told = [f"{_called(living.LETTERS[i])} ({100 * following[i]:.0f} %)" for i in likeliest]
    return f"{', '.join(told[:-1])} or {told[-1]}"


def show() -> None:
    """Display the figure under a notebook's cell: as a still there, alive on the site."""
    from IPython.display import publish_display_data

    figure = LivingModel()
    publish_display_data({"text/html": figure.html(), "text/plain": f"[figure: {figure.alt}]"})
    publish_display_data(
        {"application/javascript": f"{bundle.style()}\n{bundle.style(figure.name)}"}
    )


def _read(state: State) -> tuple[list[float], list[float]]:
    model = living.load(state["positions"], float(state["slower"]), int(state["start"]))
    text = _text(state)
    nats = living.surprises(model, text)
    following = living.following(model, text)
    return [round(one, 3) for one in nats], [round(one, 4) for one in following]


def _text(state: State) -> str:
    return str(state["text"])[: int(state["length"])]


def _shown(text: str) -> str:
    """Return letters as the model sees them; a space keeps its place."""
    seen = (living.LETTERS[i] for i in living.numbers(text).tolist())
    return "".join(seen).replace(" ", "\u00a0").replace("\n", "¶")


def _called(letter: str) -> str:
    return {" ": "a space", "\n": "a new line"}.get(letter, f"“{letter}”")


def _row(i: int) -> int:
    """Return where a row begins; those beyond the trained length stand below a line."""
    return _TOP + _LINE * i + (_GAP if i >= living.LENGTH // COLUMNS else 0)


def _bars(nats: list[float]) -> str:
    """Return one path of bars and one of grounds for each shade."""
    drawn = ""
    for n, (low, high) in enumerate(pairwise((*STEPS, float("inf")))):
        own = [i for i, one in enumerate(nats, 1) if low <= one < high]
        bars = "".join(_bar(i, nats[i - 1]) for i in own)
        grounds = "".join(_ground(i) for i in own)
        for kind, d, opacity in zip(
            ("ground", "bar"), (grounds, bars), SHADES[n][::-1], strict=True
        ):
            drawn += drawing.element(
                "path", class_="loss", d=d, fill_opacity=opacity, data_part=f"{kind}-{n}"
            )
    return drawn


def _bar(i: int, nats: float) -> str:
    x, y = _LEFT + _CELL * (i % COLUMNS) + 1, _row(i // COLUMNS) + _LANE
    tall = round((_LANE - 1) * min(nats, _TALLEST) / _TALLEST, 1)
    return f"M{x} {y}v{-tall:g}h9v{tall:g}z"


def _ground(i: int) -> str:
    x, y = _LEFT + _CELL * (i % COLUMNS), _row(i // COLUMNS) + _LANE
    return f"M{x} {y}h11v16h-11z"


def _legend() -> str:
    """Return what each shade stands for."""
    drawn = drawing.text(_LEFT, 10, "surprise in nats:", class_="small")
    words = (*(f"{low}–{high}" for low, high in pairwise(STEPS)), "more")
    for n, ((opacity, _), said) in enumerate(zip(SHADES, words, strict=True)):
        x = 110 + 48 * n
        drawn += drawing.element(
            "rect", class_="loss", x=x, y=1, width=10, height=10, fill_opacity=opacity
        )
        drawn += drawing.text(x + 13, 10, said, class_="small")
    return drawn
