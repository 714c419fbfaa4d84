"""The clock hands of released models, layer by layer, and the angles that longer texts bring."""

import math
from functools import cache
from typing import Any

import numpy as np

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset, Range
from posenc_book.teaching import released

POWERS = range(10, 21)  # of two: the lengths of a text
MOST_LAYERS = 48
_LEFT, _WIDTH, _TOP = 8.0, 344, 78
_STRIP, _TALL, _LOW = 38, 18, 7  # where the layers stand, and how high
_LENGTHS = (*(f"{2 ** (power - 10)}k" for power in POWERS[:-1]), "1M")


class ReleasedModels(Explorable):
    """One head of a layer: a dial for each pair, and how far its hand gets."""

    name = "released-models"
    title = "The clocks of released models"
    caption = (
        "One dial for each pair of a head. Shaded are the angles that texts of the length which "
        "the model is made for have shown. A hand shows how far a pair turns between the two "
        "farthest tokens that can meet; where it has gone all round, there is none. A diamond and "
        "a thick arc are new angles, and a dot is a pair that stands still. The bars above are the "
        "layers: tall ones see everything, low ones a window, and open ones have no positions."
    )
    alt = (
        "64 dials in six rows. The fast ones are shaded all over; from the eleventh dial of the "
        "fourth row on, the shaded part shrinks from dial to dial, and a hand points to its end. "
        "No hand has a diamond. Above stand 32 tall bars, one for each layer."
    )
    controls = (
        Choice("model", "Model", {name: released.title(name) for name in released.MODELS},
               "meta-llama/Llama-2-7b-hf"),
        Range("layer", "Layer", 1, MOST_LAYERS, 1, 1),
        Range("power", "Length", POWERS[0], POWERS[-1], 1, 12, said=_LENGTHS),
    )  # fmt: skip
    presets = (
        Preset("Llama 2, eight times as long",
               {"model": "meta-llama/Llama-2-7b-hf", "layer": 1, "power": 15}),
        Preset("Gemma 3, a layer with a window",
               {"model": "google/gemma-3-12b-it", "layer": 1, "power": 20}),
        Preset("SmolLM3, a layer without positions",
               {"model": "HuggingFaceTB/SmolLM3-3B-Base", "layer": 4, "power": 20}),
    )  # fmt: skip
    python = "released.hands(released.read('{model}'), {layer} - 1, 2**{power}).new"

    def data(self) -> dict:
        """Return every model's layers and the speeds of its hands, from the register."""
        return models()

    def svg(self, state: State) -> str:
        """Return the layers above, the dials below."""
        parts = {**strip(state), **dials(state)}
        paths = "".join(
            drawing.element("path", class_=looks, d=parts[part], data_part=part)
            for part, looks in _LOOKS.items()
        )
        words = drawing.text(_LEFT, 16, "layers", class_="small")
        return drawing.svg(360, 264, words + paths, label=self.alt)

    def summary(self, state: State) -> str:
        """Return what the layer does, and how many hands enter new angles at this length."""
        model, layer, kind = chosen(state)
        return sentence(model, layer, kind, 2 ** int(state["power"]))


_LOOKS = {
    "tall": "fill", "low": "fill", "open": "lone", "mark": "outline", "seen": "turn",
    "faces": "quiet", "still": "seen", "hands": "line", "arcs": "fresh", "new": "dot",
}  # fmt: skip


@cache
def models() -> dict[str, dict[str, Any]]:
    """Return for each model of the map its layers, by kind, and what each kind does."""
    return {name: _model(name) for name in released.MODELS}


def _model(name: str) -> dict[str, Any]:
    description = released.read(name)
    letters, firsts = released.kinds(description)
    return {
        "title": released.title(name),
        "made": description.made_for,
        "layers": letters,
        "kinds": [_kind(description, layer) for layer in firsts],
    }


def _kind(description: released.Description, number: int) -> dict[str, Any]:
    """Return what a layer does: its sight, and the speed of each hand, 0 for one that stands."""
    layer = description.layers[number]
    made = description.made_for or 1
    kind: dict[str, Any] = {"n": (layer.head_dim or 0) // 2}
    if layer.window:
        kind |= {"window": layer.window, "chunk": int(layer.kind == "chunk")}
    if layer.door != "rotate" or layer.base is None:
        return kind
    turning = np.flatnonzero(released.omega(description, number, made))
    kind |= {"base": layer.base, "first": int(turning[0]), "turning": layer.turning // 2}
    if layer.scaling:
        kind |= {"schedule": layer.scaling["type"]}
        kind |= {"omega": _packed(description.inv_freq(number, made))}
        if layer.scaling["type"] == "longrope":
            trained = layer.scaling["original_max_position_embeddings"]
            kind |= {"early": _packed(description.inv_freq(number, trained)), "until": trained}
    return kind


def _packed(omega: np.ndarray) -> list[float]:
    return [float(f"{one:.6g}") for one in omega]


def chosen(state: State) -> tuple[dict[str, Any], int, dict[str, Any]]:
    """Return the model of a state, its layer from 0, the last one at most, and the layer's kind."""
    model = models()[str(state["model"])]
    layer = min(int(state["layer"]), len(model["layers"])) - 1
    return model, layer, model["kinds"]["abcdefgh".index(model["layers"][layer])]


def speeds(kind: dict[str, Any], length: int) -> list[float]:
    """Return the speeds of a kind's hands at a length of text."""
    if "base" not in kind:
        return [0.0] * kind["n"]
    turning = kind.get("omega") or [
        kind["base"] ** (-i / kind["turning"]) for i in range(kind["turning"])
    ]
    if length <= kind.get("until", 0):
        turning = kind["early"]
    after = kind["n"] - kind["first"] - len(turning)
    return [0.0] * kind["first"] + turning + [0.0] * after


def turned(kind: dict[str, Any], length: int) -> list[float]:
    """Return by how much each hand turns between the tokens farthest apart that can meet."""
    reach = min(length, kind.get("window", length))
    return [reach * one for one in speeds(kind, length)]


def fresh(kind: dict[str, Any], made: int, length: int) -> list[bool]:
    """Return which hands enter angles that no text of the length made for has shown."""
    pairs = zip(turned(kind, made), turned(kind, length), strict=True)
    return [min(new, released.TURN) > min(old, released.TURN) * (1 + 1e-9) for old, new in pairs]


def sentence(model: dict[str, Any], layer: int, kind: dict[str, Any], length: int) -> str:
    """Return what is seen of a layer at a length."""
    made, n = model["made"], sum(fresh(kind, model["made"], length))
    told = f"{model['title']}, layer {layer + 1} of {len(model['layers'])}"
    if "base" not in kind:
        return f"{told}, has no positions: no hand turns, so no length brings a new angle."
    told += f": {kind['turning']} of {kind['n']} pairs turn, base {kind['base']:,.0f}"
    told += f", schedule {kind['schedule']}. " if "schedule" in kind else ". "
    if "window" in kind:
        sight = "its own chunk of" if kind["chunk"] else "the last"
        return (
            f"{told}A token sees {sight} {kind['window']:,} tokens, so no hand turns further, "
            f"be a text of {length:,} tokens or any other."
        )
    if length <= made:
        return f"{told}It is made for {made:,} tokens; at {length:,} no angle is new."
    return f"{told}It is made for {made:,} tokens; at {length:,}, {n} hands enter new angles."


def strip(state: State) -> dict[str, str]:
    """Return the layers: tall, low or open bars, and a frame around the chosen one."""
    model, layer, _ = chosen(state)
    step = _WIDTH / len(model["layers"])
    found = {"tall": "", "low": "", "open": ""}
    for i, letter in enumerate(model["layers"]):
        kind = model["kinds"]["abcdefgh".index(letter)]
        look = "open" if "base" not in kind else "low" if "window" in kind else "tall"
        height = _LOW if look == "low" else _TALL
        x, wide = _LEFT + step * i, 0.7 * step
        found[look] += f"M{x:.2f} {_STRIP + _TALL}h{wide:.2f}v{-height}h{-wide:.2f}z"
    x, wide = _LEFT + step * (layer - 0.15), step
    found["mark"] = f"M{x:.2f} {_STRIP - 4}h{wide:.2f}v{_TALL + 8}h{-wide:.2f}z"
    return found


def columns(n: int) -> int:
    """Return how many dials stand in a row, so that few are drawn large."""
    return 8 if n <= 32 else 12 if n <= 64 else 16


def dials(state: State) -> dict[str, str]:
    """Return the dials as paths, one for all parts of a sort."""
    model, _, kind = chosen(state)
    length = 2 ** int(state["power"])
    seen, reached = turned(kind, model["made"]), turned(kind, length)
    news = fresh(kind, model["made"], length)
    found = dict.fromkeys(("seen", "faces", "still", "hands", "arcs", "new"), "")
    in_row = columns(len(seen))
    cell = _WIDTH / in_row
    r = 0.37 * cell
    for i, (old, now, new) in enumerate(zip(seen, reached, news, strict=True)):
        x, y = _LEFT + cell * (i % in_row + 0.5), _TOP + cell * (i // in_row + 0.5)
        if not old:
            found["still"] += _round(x, y, 1.5)
            continue
        found["faces"] += _round(x, y, r)
        found["seen"] += _sector(x, y, r, old)
        if new:
            found["arcs"] += _arc(x, y, r, old, now)
            found["new"] += _pointed(x, y, r, now)
        elif now < released.TURN:
            found["hands"] += f"M{x:.2f} {y:.2f}L{_tip(x, y, r, now)}"
    return found


def _tip(x: float, y: float, r: float, angle: float) -> str:
    """Return a place on a circle, clockwise from the top."""
    return f"{x + r * math.sin(angle):.2f} {y - r * math.cos(angle):.2f}"


def _round(x: float, y: float, r: float) -> str:
    half = f"a{r:.2f} {r:.2f} 0 1 1"
    return f"M{x - r:.2f} {y:.2f}{half} {2 * r:.2f} 0{half} {-2 * r:.2f} 0z"


def _sector(x: float, y: float, r: float, angle: float) -> str:
    """Return the part of a dial that a hand has passed."""
    if angle >= released.TURN:
        return _round(x, y, r)
    large = int(angle > math.pi)
    top = f"M{x:.2f} {y:.2f}V{y - r:.2f}"
    return f"{top}A{r:.2f} {r:.2f} 0 {large} 1 {_tip(x, y, r, angle)}z"


def _arc(x: float, y: float, r: float, old: float, now: float) -> str:
    """Return the rim between two angles, which a hand has not passed before."""
    now = min(now, released.TURN)
    large = int(now - old > math.pi)
    return f"M{_tip(x, y, r, old)}A{r:.2f} {r:.2f} 0 {large} 1 {_tip(x, y, r, now)}"


def _pointed(x: float, y: float, r: float, angle: float) -> str:
    """Return a hand with a diamond at its end."""
    end = min(angle, released.TURN)
    left, right = (_tip(x, y, 0.65 * r, end + by) for by in (-0.55, 0.55))
    one, other = (_tip(x, y, 0.09 * r, end + by) for by in (-math.pi / 2, math.pi / 2))
    hand = f"M{one}L{_tip(x, y, 0.65 * r, end)}L{other}z"
    return f"{hand}M{_tip(x, y, 0.25 * r, end)}L{left}L{_tip(x, y, 1.08 * r, end)}L{right}z"
