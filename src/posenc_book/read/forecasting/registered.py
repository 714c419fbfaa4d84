"""The comparisons that were registered before a test error was read, as data.

`posenc_book.read.forecasting.plan.ANALYSIS` names the families in words; here each has its
comparisons, its units and the tests that are asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass

from posenc import _checks
from posenc_book.read.forecasting import plan
from posenc_book.read.forecasting.complete import Way
from posenc_book.read.forecasting.plan import COUNTED, NONE, READERS, UNITS
from posenc_book.records.forecasts import LEAST_LONG

POOLING = {name: pooling for name, (_, pooling, _) in READERS.items()}
LONG_READERS = tuple(name for name, pooling in POOLING.items() if pooling != "flatten")
LONG_UNITS = tuple(unit for unit in COUNTED if UNITS[unit][1] >= LEAST_LONG)
CALENDAR_UNITS = tuple(unit for unit in COUNTED if unit in plan.CALENDARS)
UNDER_A_MEAN = tuple(name for name, pooling in POOLING.items() if pooling == "mean")


@dataclass(frozen=True)
class Comparison:
    """The logarithm of one error over another, for the same unit and seed.

    Parameters
    ----------
    label : str
        An encoding, or what is compared.
    over, under : tuple of Way
        Whose errors stand above the line, and below it.
    scores : tuple of two str
        Which error is taken of the former and of the latter.
    """

    label: str
    over: tuple[Way, ...]
    under: tuple[Way, ...]
    scores: tuple[str, str] = ("mase", "mase")


@dataclass(frozen=True)
class Family:
    """Comparisons that are judged together.

    Parameters
    ----------
    question : str
        A key of `FAMILIES`.
    name : str
        What tells it from other families of the question, such as its reader.
    comparisons : tuple of Comparison
    units : tuple of str
        All of them, or it is not judged.
    tested : bool
        Whether differences are tested; otherwise they get intervals only.
    equivalence : bool
        Whether they are tested to be within the margin, too.
    """

    question: str
    name: str
    comparisons: tuple[Comparison, ...]
    units: tuple[str, ...]
    tested: bool = False
    equivalence: bool = False

    @property
    def ways(self) -> tuple[Way, ...]:
        """All that must be whole, each once."""
        every = (way for one in self.comparisons for way in (*one.over, *one.under))
        return tuple(dict.fromkeys(every))


def against(way: Way, other: Way, label: str = "") -> Comparison:
    """Return the comparison of two ways, named by the encoding of the former."""
    return Comparison(label or way.encoding, (way,), (other,))


def _worth() -> list[Family]:
    """Eight encodings against none; under a mean no margin that matters can be reached."""
    names = [name for name in plan.ENCODINGS if name != NONE]
    return [
        Family(
            "worth",
            reader,
            tuple(against(Way(reader, name), Way(reader, NONE)) for name in names),
            COUNTED,
            tested=True,
            equivalence=reader not in UNDER_A_MEAN,
        )
        for reader in READERS
    ]


def _default() -> list[Family]:
    """Seven encodings against the sinusoid."""
    names = [name for name in plan.ENCODINGS if name not in (NONE, plan.DEFAULT)]
    return [
        Family(
            "default",
            reader,
            tuple(against(Way(reader, name), Way(reader, plan.DEFAULT)) for name in names),
            COUNTED,
            tested=True,
            equivalence=True,
        )
        for reader in READERS
    ]


def _read_out() -> list[Family]:
    """The sinusoid's effect under a mean less its effect under a flattened head."""
    comparisons = []
    for tokens in ("steps", "patches"):
        mean, flat = (
            [Way(f"{tokens}_{head}", encoding) for encoding in (plan.DEFAULT, NONE)]
            for head in ("mean", "flat")
        )
        comparisons.append(Comparison(tokens, (mean[0], flat[1]), (mean[1], flat[0])))
    return [Family("read-out", "mean less flat", tuple(comparisons), COUNTED, tested=True)]


def _calendar() -> list[Family]:
    """Calendar features against none, and beside each of four encodings."""
    return [
        Family(
            "calendar",
            reader,
            tuple(
                against(Way(reader, name, calendar=True), Way(reader, name))
                for name in plan.WITH_CALENDAR
            ),
            CALENDAR_UNITS,
        )
        for reader in plan.CALENDAR_READERS
    ]


def _longer() -> list[Family]:
    """The error at four contexts over that at one, of the same windows."""
    scores = ("longer_mase", "same_mase")
    return [
        Family(
            "longer",
            reader,
            tuple(
                Comparison(name, (Way(reader, name),), (Way(reader, name),), scores)
                for name in plan.ENCODINGS
            ),
            LONG_UNITS,
        )
        for reader in LONG_READERS
    ]


def _controls() -> list[Family]:
    """What is left of the sinusoid's worth where order is gone, and what a placebo does."""
    found = []
    for control, (_, shuffled, readers) in plan.CONTROLS.items():
        for reader in readers:
            placebo = (against(Way(reader, plan.PLACEBO), Way(reader, NONE), "placebo"),)
            compared = _shuffled(reader, shuffled) if shuffled else placebo
            found.append(Family("controls", f"{reader}, {control}", compared, COUNTED))
    return found


def _shuffled(reader: str, what: str) -> tuple[Comparison, ...]:
    """Return the sinusoid against none without order, and each against itself with it."""
    named = {"sinusoid": plan.DEFAULT, NONE: NONE}
    mixed = [Way(reader, name, shuffled=what) for name in named.values()]
    worth = against(mixed[0], mixed[1], "sinusoid against none, both shuffled")
    lost = [
        against(shuffled, Way(reader, name), f"{label}, shuffled against in order")
        for shuffled, (label, name) in zip(mixed, named.items(), strict=True)
    ]
    return worth, *lost


FAMILIES: dict[str, Callable[[], list[Family]]] = {
    "worth": _worth,
    "default": _default,
    "read-out": _read_out,
    "calendar": _calendar,
    "longer": _longer,
    "controls": _controls,
}
QUESTIONS = {
    **plan.ANALYSIS["questions"],
    "controls": "What is left of the sinusoid's worth without order, and what does a placebo do?",
}


def families(question: str) -> list[Family]:
    """Return the families of a question, mostly one for each reader; controls get intervals."""
    return FAMILIES[_checks.choice("question", question, FAMILIES)]()
