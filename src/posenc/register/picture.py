"""The layers of a model as a drawing: one row a layer, with its sight, its door and its hand."""

from math import cos, log, sin, tau
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from posenc.register import Description
    from posenc.register.rules import Layer

WIDTH, BAR, ROW, TALLEST = 270, 112, 12, 480  # TALLEST of all layers together
LEFT, TOP, NARROWEST, DIAL, LINE = 30, 8.0, 8, 7, 15
STYLE = (
    ".layers text{font:11px system-ui,sans-serif;fill:currentColor}"
    ".layers .bar{fill:#2e86ab}.layers .open{fill:none;stroke:#2e86ab}"
    ".layers .order{fill:#b3304a}.layers .hand{fill:none;stroke:currentColor}"
)

Layers = tuple["Layer", ...]


class Look(NamedTuple):
    """All of a layer that is drawn."""

    attends: bool
    door: str
    window: int | None
    square: bool
    mixer: str
    share: float
    base: float | None
    compressed: int | None
    chosen: int | None


def svg(description: "Description", title: str, style: str = STYLE) -> str:
    """Return a drawing of a model's layers, the first one on top.

    A bar is what a token may see: all of the text, or a window, the wider the longer. It is filled
    where the layer has positions, as far as its heads turn, and open where it has none; a layer
    without attention has no bar. A round mark is a layer in which something else than attention
    tells the order. The hand beside the first layer of a kind shows its base, a quarter of the dial
    for each power of a hundred.
    """
    layers = description.layers
    row = min(ROW, TALLEST / max(len(layers), 1))
    places: dict[Look, list[int]] = {}
    for number, layer in enumerate(layers):
        places.setdefault(_look(layer), []).append(number)
    drawn, free = [], 0.0
    for look, rows in places.items():
        drawn.append(_rows(look, [TOP + row * i for i in rows], row, description.made_for))
        y = max(TOP + row * (rows[0] + 0.5), free)
        drawn.append(_beside(look, len(rows), y))
        free = y + LINE
    label = f"{title}: {_alt_text(places)}"
    tall = max(TOP + row * len(layers), free)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="layers" viewBox="0 0 {WIDTH} {tall:g}" '
        f'role="img" aria-label={quoteattr(label)}>'
        f"<style>{style}</style>{''.join(drawn)}</svg>"
    )


def signs(description: "Description") -> tuple[str, ...]:
    """Return what a model can be found by, as `SIGNS` calls it."""
    return tuple(name for name, holds in SIGNS.items() if holds(description.layers))


def _look(layer: "Layer") -> Look:
    """Return what is drawn of a layer."""
    return Look(
        attends=layer.kind != "none",
        door="none" if layer.kind == "none" else layer.door,
        window=layer.window if layer.kind in ("window", "chunk", "square") else None,
        square=layer.kind == "square",
        mixer=layer.mixer or "",
        share=layer.turning / layer.head_dim if layer.head_dim else 0.0,
        base=layer.base if layer.door == "rotate" else None,
        compressed=layer.compressed,
        chosen=None if layer.chosen is None or layer.compressed else layer.chosen["most"],
    )


def _rows(look: Look, tops: list[float], row: float, length: int | None) -> str:
    """Return the layers that look alike."""
    drawn = ""
    if look.attends:
        wide = BAR if look.window is None else _narrow(look.window, length)
        filled = {"rotate": look.share, "none": 0.0}.get(look.door, 1.0)
        drawn += _bars("open", tops, row, wide) + _bars("bar", tops, row, wide * filled)
    if look.mixer:
        x, r = LEFT + (BAR + 8 if look.attends else 8), row / 3
        half = f"a{r:.3g} {r:.3g} 0 1 0"
        turn = f"{half} {2 * r:.3g} 0{half} -{2 * r:.3g} 0"
        dots = "".join(f"M{x - r:.4g} {y + row / 2:.4g}{turn}" for y in tops)
        drawn += f'<path class="order" d="{dots}"/>'
    return drawn


def _bars(kind: str, tops: list[float], row: float, wide: float) -> str:
    """Return a bar for each layer, or nothing where they have no width."""
    tall = row - 2
    d = "".join(f"M{LEFT} {y + 1:.4g}h{wide:.4g}v{tall:.3g}h-{wide:.4g}z" for y in tops)
    return f'<path class="{kind}" d="{d}"/>' if wide else ""


def _beside(look: Look, n: int, y: float) -> str:
    """Return a hand for the base of some layers, and how many they are."""
    hand = "" if look.base is None else _hand(look.base, y)
    said = escape(f"{n} × {_words(look)}")
    return f'{hand}<text x="{LEFT + BAR + 18}" y="{y + 4:.4g}">{said}</text>'


def _hand(base: float, y: float) -> str:
    """Return a dial whose hand is the further round the larger the base."""
    turn = tau * log(base, 100) / 4
    x = LEFT - 15
    return (
        f'<path class="hand" d="M{x - DIAL} {y:g}a{DIAL} {DIAL} 0 1 0 {2 * DIAL} 0'
        f"a{DIAL} {DIAL} 0 1 0 -{2 * DIAL} 0M{x} {y:g}l{DIAL * sin(turn):.1f} "
        f'{-DIAL * cos(turn):.1f}"/>'
    )


def _narrow(window: int, length: int | None) -> float:
    """Return how wide the bar of a window is: by the logarithm, beside that of the whole text."""
    whole = max(length or 0, 2 * window, 4)
    return max(NARROWEST, 0.85 * BAR * log(max(window, 2)) / log(whole))


def _words(look: Look) -> str:
    """Return a few words on layers that look alike."""
    if not look.attends:
        return look.mixer or "no attention"
    if look.mixer:
        return f"{look.mixer} and attention"
    sight = "all" if look.window is None else f"{look.window:,}"
    if look.square:
        sight = f"{sight} by {sight}"
    if look.chosen:
        sight = f"{look.chosen:,} of {sight}"
    if look.compressed:
        sight += f", 1 in {look.compressed}"
    return f"{sight}, no positions" if look.door == "none" else sight


def _alt_text(places: dict[Look, list[int]]) -> str:
    """Return the drawing in words, for who does not see it."""
    kinds = [f"{len(rows)} × {_words(look)}" for look, rows in places.items()]
    return f"{sum(map(len, places.values()))} layers: {'; '.join(kinds)}"


def _bases(layers: Layers) -> set[float]:
    return {layer.base for layer in layers if layer.door == "rotate" and layer.base is not None}


SIGNS = {
    "windows": lambda layers: any(one.kind in ("window", "chunk") for one in layers),
    "layers without positions": lambda layers: any(
        one.door == "none" and one.kind != "none" for one in layers
    ),
    "a part of a head turns": lambda layers: any(
        one.door == "rotate" and one.turning < (one.head_dim or 0) for one in layers
    ),
    "two bases": lambda layers: len(_bases(layers)) > 1,
    "hybrids": lambda layers: any(one.mixer for one in layers),
    "slowed hands": lambda layers: any(one.scaling for one in layers),
}
"""What can be asked of a model's layers, and whether it holds."""
