"""A series and the same series in another order, cut in patches: which pieces do both hold?"""

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Preset, Range

# Tenths of a standard deviation: the second axis of the third running and of the third walking test
# recording of BasicMotions, three seconds of each.
RUNNING = (
    1, 1, -13, -9, -15, -15, 10, 18, 16, -12, -12, -20, -14, -14, -15, -13, 13, 22, 15, -18,
    -26, -14, -12, -15, 0, 23, 20, -2, -22, -13,
)  # fmt: skip
WALKING = (
    3, 3, -4, -3, -1, 0, 5, 8, 10, 10, 8, 8, -1, -2, -5, -8, -5, -5, -3, 4, 6, 9, 10, 9, 8, 2,
    0, -5, -5, -6,
)  # fmt: skip
LENGTH = 50
ZERO, FIRST_WALK = -1, 100  # running steps count from 0, walking ones from 100; what fills up is -1
_LEFT, _STEP, _GAP = 20, 6.4, 2
_TOPS = (22, 172)  # of the two series
_HEIGHT, _BAG, _BAG_HEIGHT = 52, 74, 44  # of a series, and of its pieces below it
_UNIT = 0.8  # pixels for a tenth
_NAMES = ("Running, then walking", "Walking, then running")
_KINDS = ("run", "walk", "zero")

Piece = tuple[int, ...]  # steps, by their numbers


class Patches(Explorable):
    """What is left of the order of a series when a model gets it in pieces."""

    name = "patches"
    title = "Cut a series in pieces"
    caption = (
        "Pull the upper knob to make the pieces longer, the lower one to move the change from "
        "running to walking. Below each series are its pieces, sorted by their height: that is "
        "what a model without positions gets. Shaded pieces occur in both series."
    )
    alt = (
        "A curve of strong swings for running and weak ones for walking, cut in ten pieces, and "
        "the same two parts in the other order. Below each, its ten pieces; all are shaded, and "
        "both rows are the same."
    )
    controls = (
        Range("patch", "Steps in a piece", 1, 25, 1, 5),
        Range("cut", "Steps of running", 20, 30, 1, 25),
    )
    presets = (
        Preset("One step", {"patch": 1, "cut": 25}),
        Preset("Eight steps", {"patch": 8, "cut": 25}),
        Preset("Ten steps", {"patch": 10, "cut": 25}),
    )
    python = "patches.both({cut}, {patch})"

    def svg(self, state: State) -> str:
        """Return both series with their cuts, and below each its pieces."""
        cut, patch = int(state["cut"]), int(state["patch"])
        pieces = both(cut, patch)
        drawn = "".join(
            self._series(i, mine, other)
            for i, (mine, other) in enumerate(zip(pieces, pieces[::-1], strict=True))
        )
        drawn += _knob("patch", patch, _TOPS[0]) + _knob("cut", cut, _TOPS[0] + _HEIGHT)
        drawn += _grip("patch", 0, 48) + _grip("cut", 48, 40)
        return drawing.svg(360, _TOPS[1] + _BAG + _BAG_HEIGHT + 6, drawn, label=self.alt)

    def _series(self, i: int, mine: list[Piece], other: list[Piece]) -> str:
        top, bag = _TOPS[i], _TOPS[i] + _BAG
        drawn = drawing.text(_LEFT, top - 8, _NAMES[i])
        drawn += drawing.text(_LEFT, bag - 6, "its pieces", class_="small")
        cards = {
            "lone": [p for p in mine if p not in other],
            "twin": [p for p in mine if p in other],
        }
        for look, some in cards.items():
            d = "".join(card(place, bag) for place in slots(mine, some))
            drawn += drawing.element("path", class_=look, d=d, data_part=f"{look}-{i}")
        d = "".join(f"M{at:.1f} {top}v{_HEIGHT}" for at in edges(len(mine[0])))
        drawn += drawing.element("path", class_="cut", d=d, data_part=f"cuts-{i}")
        for kind in _KINDS:
            d = curve(kind, mine, top + _HEIGHT / 2, _LEFT, _STEP, 0)
            drawn += drawing.element("path", class_=kind, d=d, data_part=f"{kind}-{i}")
            unit = width(mine)
            d = curve(kind, heap(mine), bag + _BAG_HEIGHT / 2, _LEFT + _GAP / 2, unit, _GAP)
            drawn += drawing.element("path", class_=kind, d=d, data_part=f"{kind}-bag-{i}")
        return drawn

    def summary(self, state: State) -> str:
        """Return how many pieces both series share, and what that means."""
        cut, patch = int(state["cut"]), int(state["patch"])
        one, other = both(cut, patch)
        shared, filled = len(set(one) & set(other)), -LENGTH % patch
        steps = "1 step" if patch == 1 else f"{patch} steps"
        told = (
            f"Pieces of {steps}: each series makes {len(one)}, and {shared} of them are in both. "
        )
        if shared == len(one):
            return told + "A model without positions must give both series the same answer."
        told += "Even a model without positions can tell the two series apart."
        return told + (f" (The last piece is filled up with {filled} zeros.)" if filled else "")

    def data(self) -> dict:
        """Return the recordings."""
        return {"running": RUNNING, "walking": WALKING}


def both(cut: int, patch: int) -> tuple[list[Piece], list[Piece]]:
    """Return the pieces of running, then walking, and of walking, then running."""
    run, walk = range(cut), range(FIRST_WALK, FIRST_WALK + LENGTH - cut)
    return pieces([*run, *walk], patch), pieces([*walk, *run], patch)


def pieces(steps: list[int], patch: int) -> list[Piece]:
    """Return the steps in pieces; the last is filled up."""
    steps = steps + [ZERO] * (-len(steps) % patch)
    return [tuple(steps[i : i + patch]) for i in range(0, len(steps), patch)]


def kind(step: int) -> str:
    """Return of what a step is."""
    return "zero" if step == ZERO else "run" if step < FIRST_WALK else "walk"


def value(step: int) -> int:
    """Return the height of a step, in tenths."""
    if step == ZERO:
        return 0
    return RUNNING[step] if step < FIRST_WALK else WALKING[step - FIRST_WALK]


def heap(some: list[Piece]) -> list[Piece]:
    """Return pieces in an order that does not ask where they stood: by their height."""
    return sorted(some, key=lambda piece: (sum(map(value, piece)), piece[0]))


def width(some: list[Piece]) -> float:
    """Return the width of a step in a heap that is as wide as the series."""
    return (_STEP * LENGTH - _GAP * len(some)) / (len(some) * len(some[0]))


def slots(some: list[Piece], chosen: list[Piece]) -> list[tuple[float, float]]:
    """Return left edge and width of the cards of some pieces in their heap."""
    wide = (_STEP * LENGTH) / len(some)
    at = [i for i, piece in enumerate(heap(some)) if piece in chosen]
    return [(_LEFT + wide * i + _GAP / 2, wide - _GAP) for i in at]


def card(place: tuple[float, float], top: float) -> str:
    """Return the path of a card."""
    left, wide = place
    return f"M{left:.2f} {top}h{wide:.2f}v{_BAG_HEIGHT}h{-wide:.2f}z"


def edges(patch: int) -> list[float]:
    """Return where the series is cut."""
    return [_LEFT + _STEP * at for at in range(patch, LENGTH, patch)]


def curve(
    wanted: str, some: list[Piece], middle: float, left: float, unit: float, gap: float
) -> str:
    """Return the steps of one kind, piece by piece, as a staircase; what leaves the room is cut."""
    path, end = "", _LEFT + _STEP * LENGTH
    for i, piece in enumerate(some):
        joined = False
        for j, step in enumerate(piece):
            x = left + (i * len(piece) + j) * unit + i * gap
            if kind(step) != wanted or x > end - 0.01:
                joined = False
                continue
            y = middle - _UNIT * value(step)
            path += f"V{y:.2f}h{unit:.2f}" if joined else f"M{x:.2f} {y:.2f}h{unit:.2f}"
            joined = True
    return path or "M0 0"


def _knob(name: str, at: int, y: int) -> str:
    look = "query" if name == "patch" else "key"
    moved = f"translate({_LEFT + _STEP * at:.2f} {y})"
    return drawing.element("circle", class_=f"knob {look}", r=5, transform=moved, data_part=name)


def _grip(name: str, top: int, height: int) -> str:
    path = f"M0 {top}h360v{height}h-360z"
    return drawing.element("path", class_="grip", d=path, data_grip=name)
