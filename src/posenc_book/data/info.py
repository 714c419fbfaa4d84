"""What a data set holds, counted here, beside what the survey printed about it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posenc_book.data import repeats
from posenc_book.data.dataset import Dataset
from posenc_book.data.load import load
from posenc_book.data.registry import ENTRIES, Printed
from posenc_book.data.synthetic import FAMILIES


@dataclass(frozen=True)
class Facts:
    """Counts of one data set, beside what the survey printed about it.

    `facts` makes it; `print` shows it as a table.

    Parameters
    ----------
    name : str
        Name of the data set.
    train, test : int
        Series of either part.
    length : int
        Steps of a series, padding included.
    n_classes, n_channels : int
        Classes of the header, and numbers in a step.
    class_counts : dict of str to (int, int)
        Series of each class: of the training part and of the test part.
    masked_steps : (int, int)
        Steps that are not real: of the training part and of the test part.
    repeats : (int, int, int)
        Series that repeat another one: inside the training part, inside the test part, and test
        series that also stand in the training part.
    printed : Printed or None
        The survey's row, None for sets it does not have.
    provenance : str
        That of the training part.
    notes : tuple of str
        What this book found out about the set.
    lengths : ((int, int), (int, int)), optional
        Shortest and longest series: of the training part, of the test part.
    missing_steps : (int, int), optional
        Of the masked steps those that are no padding.

    Examples
    --------
    >>> counts = {"up": (4, 2), "down": (4, 2)}
    >>> rides = Facts("rides", 8, 4, 50, 2, 1, counts, (0, 0), (0, 0, 0), None, "made here", ())
    >>> print(rides)
    rides
                    survey      here  agree
    train                -         8  -
    test                 -         4  -
    length               -        50  -
    n_classes            -         2  -
    n_channels           -         1  -
    classes (train + test):
      up: 4 + 2
      down: 4 + 2
    masked steps (train + test): 0 + 0
    repeated series (train + test, of train in test): 0 + 0, 0
    provenance: made here
    """

    name: str
    train: int
    test: int
    length: int
    n_classes: int
    n_channels: int
    class_counts: dict[str, tuple[int, int]]  # class: (train, test)
    masked_steps: tuple[int, int]  # (train, test)
    repeats: tuple[int, int, int]  # inside train, inside test, test series that stand in train
    printed: Printed | None
    provenance: str
    notes: tuple[str, ...]
    lengths: tuple[tuple[int, int], tuple[int, int]] | None = None  # shortest, longest: train, test
    missing_steps: tuple[int, int] | None = None  # of the masked steps those that are no padding

    def table(self) -> list[tuple[str, int | None, int, bool | None]]:
        """Return what is printed beside what was counted.

        Returns
        -------
        list of (str, int or None, int, bool or None)
            Quantity, printed, counted here, and whether both agree; None where nothing is printed.
        """
        rows = []
        for quantity in ("train", "test", "length", "n_classes", "n_channels"):
            counted = getattr(self, quantity)
            printed = None if self.printed is None else getattr(self.printed, quantity)
            rows.append(
                (quantity, printed, counted, None if printed is None else printed == counted)
            )
        return rows

    def __str__(self) -> str:
        lines = [self.name, f"{'':12}{'survey':>10}{'here':>10}  agree"]
        for quantity, printed, counted, agree in self.table():
            said = {None: "-", True: "yes", False: "NO"}[agree]
            lines.append(f"{quantity:12}{_dash(printed):>10}{counted:>10}  {said}")
        lines.append("classes (train + test):")
        lines += [f"  {one}: {a} + {b}" for one, (a, b) in self.class_counts.items()]
        lines.append("masked steps (train + test): {} + {}".format(*self.masked_steps))
        if self.lengths and self.missing_steps and any(self.masked_steps):
            spans = [f"{low} to {high}" for low, high in self.lengths]
            padded = [m - n for m, n in zip(self.masked_steps, self.missing_steps, strict=True)]
            lines.append("  of these padding after the last step: {} + {}".format(*padded))
            lines.append("  of these missing values before it: {} + {}".format(*self.missing_steps))
            lines.append("lengths of the series (train + test): {} + {}".format(*spans))
        lines.append(
            "repeated series (train + test, of train in test): {} + {}, {}".format(*self.repeats)
        )
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, f"provenance: {self.provenance}"])


def facts(name: str) -> Facts:
    """Count a data set.

    Parameters
    ----------
    name : str
        A data set, see `names`.

    Returns
    -------
    Facts

    Raises
    ------
    ValueError
        As `load` does: for an unknown name, or a set that is not on this machine and cannot be
        downloaded.

    Examples
    --------
    >>> facts("range_probe").class_counts
    {'A first': (256, 256), 'B first': (256, 256)}
    """
    train, test = load(name, "train"), load(name, "test")
    counts = (np.bincount(part.y, minlength=part.n_classes).tolist() for part in (train, test))
    entry = None if name in FAMILIES else ENTRIES.get(name)
    return Facts(
        name=name,
        train=len(train),
        test=len(test),
        length=train.length,
        n_classes=train.n_classes,
        n_channels=train.n_channels,
        class_counts=dict(zip(train.classes, zip(*counts, strict=True), strict=True)),
        masked_steps=(_n_masked(train), _n_masked(test)),
        repeats=repeats.count(train, test),
        printed=entry.printed if entry else None,
        provenance=train.provenance,
        notes=entry.notes if entry else (),
        lengths=(_span(train), _span(test)),
        missing_steps=(_missing(train), _missing(test)),
    )


def _lengths(part: Dataset) -> NDArray[np.int64]:
    """Return the lengths (n,) of the series up to their last whole step."""
    if part.mask is None:
        return np.full(len(part), part.length)
    return part.length - part.mask[:, ::-1].argmax(axis=1)


def _span(part: Dataset) -> tuple[int, int]:
    lengths = _lengths(part)
    return int(lengths.min()), int(lengths.max())


def _missing(part: Dataset) -> int:
    """Return how many masked steps lie before the last whole step of their series."""
    return 0 if part.mask is None else int(_lengths(part).sum() - part.mask.sum())


def _dash(value: int | None) -> str:
    return "-" if value is None else str(value)


def _n_masked(part: Dataset) -> int:
    return 0 if part.mask is None else int((~part.mask).sum())
