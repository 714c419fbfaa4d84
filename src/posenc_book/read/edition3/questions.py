"""What the third edition asks, in words, and of which encodings on which sets."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import product

from posenc_book.read.edition3.claims import CLAIMS
from posenc_book.read.edition3.plan import ANALYSIS

TEN: tuple[str, ...] = tuple(ANALYSIS["ten"])
CHOSEN = "chosen"  # whichever of the ten has the best validation


@dataclass(frozen=True)
class Question:
    """One family of tests.

    Parameters
    ----------
    words : str
    datasets : tuple of str
    pairs : tuple of (str, str)
        What is compared, and what with.
    resamples : int
    layers : tuple of int
        Of the models; of two numbers the differences with the first are taken from those with the
        second.
    """

    words: str
    datasets: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    resamples: int
    layers: tuple[int, ...]

    @property
    def titles(self) -> tuple[str, ...]:
        """How its answers are called, one for each pair."""
        return tuple(f"{first} - {other}" for first, other in self.pairs)

    @property
    def names(self) -> set[str]:
        """What has to be trained for it."""
        named = {name for pair in self.pairs for name in pair}
        return (named - {CHOSEN}) | set(TEN) if CHOSEN in named else named


QUESTIONS = {
    title: Question(
        one["words"],
        tuple(one["sets"]),
        tuple((first, other) for first, other in one["pairs"]),
        one["resamples"],
        tuple(one["layers"]),
    )
    for title, one in ANALYSIS["families"].items()
}
FAMILIES = (*QUESTIONS, *CLAIMS)


def cells(families: Collection[str] = FAMILIES) -> dict[tuple[str, str, int], int]:
    """Return {(data set, encoding, layers): trainings} of questions and claims, each once."""
    found: dict[tuple[str, str, int], int] = {}
    asked: list[tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...], int]] = [
        (one.datasets, tuple(sorted(one.names)), one.layers, one.resamples)
        for title, one in QUESTIONS.items()
        if title in families
    ]
    asked += [
        (one.datasets, one.encodings, (2,), one.resamples)
        for name, one in CLAIMS.items()
        if name in families
    ]
    for datasets, names, layers, n in asked:
        for key in product(datasets, names, layers):
            found[key] = max(found.get(key, 0), n)
    return found
