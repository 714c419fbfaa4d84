"""The synthetic families, whose options `posenc_book.data.load` passes on."""

from collections.abc import Callable

from posenc_book.data.dataset import Dataset
from posenc_book.data.elevator import elevator
from posenc_book.data.range_probe import range_probe

__all__ = ["FAMILIES", "elevator", "range_probe"]

FAMILIES: dict[str, Callable[..., Dataset]] = {
    "elevator": elevator,
    "range_probe": range_probe,
}
"""The families by name: what makes a split from "train" or "test" and options."""
