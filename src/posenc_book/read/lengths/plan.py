"""What the length-generalisation lab trains: its stored plan, and the trainings of its tiers."""

from dataclasses import dataclass

from posenc_book.read import plans
from posenc_book.records import labels
from posenc_book.records.hashes import hashed

PROTOCOL = plans.load("lengths")
HASH = hashed(PROTOCOL)


@dataclass(frozen=True)
class Encoding:
    """An encoding of the lab: its name, its options, and whether places are drawn in training.

    Parameters
    ----------
    name : str
        One of `posenc.encodings.names("series")`.
    options : tuple of (str, object)
        Those of the encoding, in pairs.
    random : bool
        Whether training draws places from 0 to 511 in place of counting.
    """

    name: str
    options: tuple[tuple[str, object], ...] = ()
    random: bool = False

    @property
    def label(self) -> str:
        """The name as tables show it."""
        return labels.label(self.name, self.random)


# FIRE's threshold is a quarter of the longest training input: 512 would be beyond every test.
ENCODINGS = tuple(
    Encoding(name, tuple(map(tuple, options)), random)
    for name, options, random in PROTOCOL["encodings"]
)
FIRST = ENCODINGS[:8]
TASKS = tuple(PROTOCOL["tasks"])


@dataclass(frozen=True)
class Tier:
    """Tasks, encodings and seeds, all of them together.

    Parameters
    ----------
    tasks : tuple of str
        Names of `posenc_book.data.tasks.TASKS`.
    encodings : tuple of Encoding
    seeds : int
        How many, from 0 on.
    """

    tasks: tuple[str, ...]
    encodings: tuple[Encoding, ...]
    seeds: int


TIERS = {
    1: Tier(TASKS[:3], FIRST, 5),
    2: Tier(TASKS[3:], FIRST, 5),
    3: Tier(TASKS, ENCODINGS, 5),
    4: Tier(TASKS, ENCODINGS, 10),
}
"""Each tier is complete in itself; the third and the fourth contain those before them."""


def trainings(tier: int) -> list[tuple[str, str, int]]:
    """Return the task, the encoding's label and the seed of each training of a tier."""
    whole = TIERS[tier]
    return [
        (task, one.label, seed)
        for seed in range(whole.seeds)
        for task in whole.tasks
        for one in whole.encodings
    ]
