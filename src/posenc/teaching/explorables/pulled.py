"""A conversation that is pulled longer, what a model makes of it, and the hands it reads."""

import math

from posenc.teaching.explorables import drawing
from posenc.teaching.explorables.base import Explorable, State
from posenc.teaching.explorables.controls import Choice, Preset, Range
from posenc.teaching.program import geometric, stretch

TRAINED, FACTOR = 32, 4
OMEGA = geometric(8)
MENDS = {
    "none": "as trained",
    "all": "all hands slowed",
    "stretch": "slow hands slowed (YaRN)",
    "practised": "YaRN and 30 steps of practice",
}
HANDS = {
    "none": OMEGA,
    "all": OMEGA / FACTOR,
    "stretch": stretch(OMEGA, FACTOR, TRAINED),
    "practised": stretch(OMEGA, FACTOR, TRAINED),
}

# One of the chapter's texts, and what its models say at each letter; a cell there compares them.
TEXT = (
    ">JOKMOHGA>IHBLAACHE>CMAHKKKICJJOGMNJFOFL>EJAFEDEE>HFDDM>KAAHK>K>"
    "JL>MHFFBFD>ABF>AACM>HCKMFJACJ>GLANFGOEOMCCODK>CGKLLKMONF>EFMOHAN"
)
SAID = {
    "none": (
        "GJJJJJJJJJIIIIIIIIIICCCCCCCCCCCCCCCCCCFFFEEAJFJFFFJJJJJMIJJIIKIK"
        "IIJIIFCCBCBCCCBCCCCCFHHFFFFFEEFFEFEFFFFFDDMDKFDKKKJJJJKFFFFFIFFB"
    ),
    "all": (
        "GJOJJOOOOOIHIHHHIHIICMAAACCCCCCCCCCCCCCCCEJJEEJEEJHHDFFFKKAAKKKK"
        "JJJJJJJJJLLAAAAAAAAAHCHHCHCCCAGGGGGGGGGGGGGGGGCGCGGGGGGGGEEFFFFF"
    ),
    "stretch": (
        "GJJJJJHGGJIIIIIAIIIICCCIIKKICCIICIICIIIIIEEEEEEEEEHHHHHHKKKKKKKK"
        "JKKMMKKMMDMAAAAAAAAAHHHHAHAAAAGGGGGGGGGGGGGGGGCGGGGCMGGGGEEEEEAE"
    ),
    "practised": (
        "GJJJJJJJJJIIIIIIIIIICCCCCCCCCCCCCCCCCCCCCEEEEEEEEEHHHHHHKKKKKKKK"
        "KKKMMMMMMMMAAAAAAAAAHHHHHHHHHHGGGGGGGGGGGGGGGGCCCCCCCCCCCEEEEEEE"
    ),
}

_LEFT, _TILE, _ROW, _TOP = 20, 10, 36, 18
_DIALS, _RADIUS = 214, 30


class Pulled(Explorable):
    """Four rows of letters with a model's answers, and four dials."""

    name = "pulled"
    title = "A text that is pulled longer"
    caption = (
        "Drag the text sideways to pull it longer. After each sign > a new speaker is named. Below "
        "each letter stands who is speaking, as the model says: shaded where it is right, framed "
        "where it is wrong. On the dials, the angles that training showed are shaded; a thick "
        "arc is new."
    )
    alt = (
        "Four rows of 32 letters, 80 of them written. In the first row every answer is shaded. "
        "In the next rows most are framed. Below, four dials; the second and the slower hands "
        "have gone past the angles that training showed."
    )
    controls = (
        Range("length", "Letters", TRAINED, FACTOR * TRAINED, 1, 80),
        Choice("mend", "Hands", MENDS, "none"),
    )
    presets = (
        Preset("As in training", {"length": 32, "mend": "none"}),
        Preset("Four times as long", {"length": 128, "mend": "none"}),
        Preset("Mended", {"length": 128, "mend": "stretch"}),
    )
    python = "pulled.right({length}, '{mend}')"

    def data(self) -> dict:
        """Return the text, what the models say, who speaks, and the hands."""
        return {
            "said": SAID,
            "spoken": speakers(TEXT),
            "names": MENDS,
            "hands": {mend: omega.tolist() for mend, omega in HANDS.items()},
        }

    def svg(self, state: State) -> str:
        """Return the rows of letters and the dials."""
        length, mend = int(state["length"]), str(state["mend"])
        tiles = "".join(_tile(i, length, mend) for i in range(len(TEXT)))
        words = drawing.text(_LEFT, 11, "as in training", class_="small") + drawing.text(
            _LEFT, _TOP + _ROW + 9, "longer", class_="small"
        )
        grip = drawing.element(
            "path", class_="grip", d=f"M0 0h360v{_TOP + 5 * _ROW}h-360z", data_grip="text"
        )
        dials = "".join(_dial(i, length, mend) for i in range(len(OMEGA)))
        return drawing.svg(360, 290, words + tiles + dials + grip, label=self.alt)

    def summary(self, state: State) -> str:
        """Return how many answers are right, and how far the second hand has turned."""
        length, mend = int(state["length"]), str(state["mend"])
        first, later = right(length, mend)
        beyond = f", and {later} of the {length - TRAINED} after them" if length > TRAINED else ""
        shown, reached = degrees(mend, TRAINED)[0], degrees(mend, length)[1]
        return (
            f"{length} letters, {MENDS[mend]}: right at {first} of the first {TRAINED - 1} "
            f"places{beyond}. The second hand reaches {reached}°; training showed it {shown}°."
        )


def speakers(text: str) -> str:
    """Return who is speaking at each letter; a space where nobody has been named."""
    now, found = " ", ""
    for i, letter in enumerate(text):
        now = letter if i and text[i - 1] == ">" else now
        found += now
    return found


def right(length: int, mend: str) -> tuple[int, int]:
    """Return how many answers are right within the trained length, and after it."""
    hits = [a == b for a, b in zip(SAID[mend], speakers(TEXT), strict=True)]
    return sum(hits[:TRAINED]), sum(hits[TRAINED:length])


def turned(hand: int, length: int, mend: str) -> tuple[float, float]:
    """Return the largest angle of training and of a text, in radians, at most a full turn."""
    shown, reached = OMEGA[hand] * (TRAINED - 1), HANDS[mend][hand] * (length - 1)
    return min(float(shown), 2 * math.pi), min(float(reached), 2 * math.pi)


def degrees(mend: str, length: int) -> tuple[int, int]:
    """Return the angles that training and a text bring to the second hand, not cut at a turn."""
    shown, reached = OMEGA[1] * (TRAINED - 1), HANDS[mend][1] * (length - 1)
    return round(math.degrees(shown)), round(math.degrees(reached))


def sector(end: float) -> str:
    """Return the path of a sector from the right upwards to an angle."""
    end, r = min(end, 2 * math.pi - 1e-3), _RADIUS
    x, y = r * math.cos(end), -r * math.sin(end)
    return f"M0 0L{r} 0A{r} {r} 0 {int(end > math.pi)} 0 {x:.2f} {y:.2f}Z"


def arc(start: float, end: float) -> str:
    """Return the path of an arc, nothing where it would end before it starts."""
    end, r = min(end, 2 * math.pi - 1e-3), _RADIUS
    if end <= start + 1e-9:
        return "M0 0"
    (a, b), (c, d) = ((r * math.cos(one), -r * math.sin(one)) for one in (start, end))
    return f"M{a:.2f} {b:.2f}A{r} {r} 0 {int(end - start > math.pi)} 0 {c:.2f} {d:.2f}"


def look(i: int, mend: str) -> str:
    """Return the class of an answer's frame."""
    if speakers(TEXT)[i] == " ":
        return "unasked"
    return "turn" if SAID[mend][i] == speakers(TEXT)[i] else "next solid"


def _tile(i: int, length: int, mend: str) -> str:
    x, y = _LEFT + _TILE * (i % TRAINED), _TOP + _ROW * (i // TRAINED) + 12 * (i >= TRAINED)
    frame = drawing.element(
        "rect", x=x + 0.75, y=y + 12, width=_TILE - 1.5, height=13,
        class_=look(i, mend), data_part=f"frame-{i}",
    )  # fmt: skip
    said = SAID[mend][i] if speakers(TEXT)[i] != " " else ""
    letter = drawing.text(x + _TILE / 2, y + 9, TEXT[i], class_="label small")
    answer = drawing.text(x + _TILE / 2, y + 22, said, class_="label small", data_part=f"said-{i}")
    shown = "visible" if i < length else "hidden"
    return drawing.element("g", frame + letter + answer, visibility=shown, data_part=f"tile-{i}")


def _dial(i: int, length: int, mend: str) -> str:
    shown, reached = turned(i, length, mend)
    angle = float(HANDS[mend][i]) * (length - 1)
    parts = drawing.element("circle", class_="face", r=_RADIUS)
    parts += drawing.element("path", class_="turn", d=sector(shown))
    parts += drawing.element("path", class_="arc", d=arc(shown, reached), data_part=f"arc-{i}")
    parts += drawing.element(
        "line", class_="now", x2=_RADIUS - 5,
        transform=f"rotate({-math.degrees(angle):.2f})", data_part=f"hand-{i}",
    )  # fmt: skip
    words = ("fastest hand", "second", "third", "slowest")[i]
    parts += drawing.text(0, _RADIUS + 15, words, class_="label small")
    return drawing.element("g", parts, transform=f"translate({56 + 83 * i} {_DIALS + _RADIUS})")
