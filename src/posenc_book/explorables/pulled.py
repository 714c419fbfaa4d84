"""A conversation that is pulled longer, what a model makes of it, and the hands it reads."""

import math
from html import escape

from posenc_book.explorables import drawing
from posenc_book.explorables.base import Explorable, State
from posenc_book.explorables.controls import Choice, Preset, Range
from posenc_book.teaching.program import geometric, stretch

TRAINED, FACTOR = 32, 4
OMEGA = geometric(8)
MENDS = {
    "none": "as trained",
    "all": "all slowed",
    "stretch": "YaRN",
    "practised": "YaRN and practice",
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
_DIALS, _RADIUS = 184, 30


class Pulled(Explorable):
    """Four rows of letters with a model's answers, and four dials."""

    name = "pulled"
    title = "A text that is pulled longer"
    caption = (
        "Drag the text sideways to pull it longer. After each sign > a new speaker is named. Below "
        "each letter stands who is speaking, as the model says: shaded where it is right, framed "
        "where it is wrong. On the dials, the angles that training showed are shaded; a thick "
        "arc is new. Slowed hands turn at a quarter of their speed; YaRN spares the fastest."
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
            "text": TEXT,
            "said": {mend: answers(mend) for mend in MENDS},
            "spoken": speakers(TEXT),
            "names": MENDS,
            "hands": {mend: omega.tolist() for mend, omega in HANDS.items()},
        }

    def svg(self, state: State) -> str:
        """Return the rows of letters and the dials."""
        length, mend = int(state["length"]), str(state["mend"])
        words = drawing.text(_LEFT, 11, "as in training", class_="small") + drawing.text(
            _LEFT, _TOP + _ROW + 9, "longer", class_="small"
        )
        boxes = "".join(
            drawing.element("path", class_=look, d=frames(length, mend, hit), data_part=part)
            for part, look, hit in (("right", "turn", True), ("wrong", "next solid", False))
        )
        rows = "".join(_row(row, length, mend) for row in range(FACTOR))
        dials = "".join(_dial(i, length, mend) for i in range(len(OMEGA)))
        grip = drawing.element(
            "path", class_="grip", d=f"M0 0h360v{_DIALS - 10}h-360z", data_grip="text"
        )
        return drawing.svg(360, 266, words + boxes + rows + dials + grip, label=self.alt)

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
    shown, reached = OMEGA[hand] * TRAINED, HANDS[mend][hand] * length
    return min(float(shown), 2 * math.pi), min(float(reached), 2 * math.pi)


def degrees(mend: str, length: int) -> tuple[int, int]:
    """Return the angles that training and a text bring to the second hand, not cut at a turn."""
    shown, reached = OMEGA[1] * TRAINED, HANDS[mend][1] * length
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
    (a, b), (c, d) = ((r * math.cos(one), 0.0 - r * math.sin(one)) for one in (start, end))
    return f"M{a:.2f} {b:.2f}A{r} {r} 0 {int(end - start > math.pi)} 0 {c:.2f} {d:.2f}"


def corner(i: int) -> tuple[int, int]:
    """Return where a letter's tile is drawn."""
    row, column = divmod(i, TRAINED)
    return _LEFT + _TILE * column, _TOP + _ROW * row + 12 * (row > 0)


def frames(length: int, mend: str, hit: bool) -> str:
    """Return the path around the answers that are right, or around those that are wrong."""
    path, spoken = "M0 0", speakers(TEXT)
    for i in range(1, length):
        if (SAID[mend][i] == spoken[i]) == hit and spoken[i] != " ":
            x, y = corner(i)
            path += f"M{x + 1} {y + 12}h8v13h-8z"
    return path


def _row(row: int, length: int, mend: str) -> str:
    """Return a row of the text and the answers below it, as far as the text is pulled."""
    start = TRAINED * row
    x, y = corner(start)
    places = " ".join(f"{x + _TILE * i + _TILE // 2}" for i in range(TRAINED))
    return "".join(
        drawing.element(
            "text", escape(said[start : max(length, start)][:TRAINED]), x=places, y=y + down,
            class_="label small", data_part=f"{name}-{row}",
        )
        for name, said, down in (("text", TEXT, 9), ("said", answers(mend), 22))
    )  # fmt: skip


def answers(mend: str) -> str:
    """Return what is written below the text: nothing where nobody has been named."""
    pairs = zip(SAID[mend], speakers(TEXT), strict=True)
    return "".join("\N{NO-BREAK SPACE}" if spoken == " " else said for said, spoken in pairs)


def _dial(i: int, length: int, mend: str) -> str:
    shown, reached = turned(i, length, mend)
    angle = float(HANDS[mend][i]) * length
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
