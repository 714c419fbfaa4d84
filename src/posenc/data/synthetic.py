"""The synthetic families, whose options `posenc.data.load` passes on."""

from posenc.data.elevator import elevator
from posenc.data.range_probe import range_probe

__all__ = ["FAMILIES", "elevator", "range_probe"]

FAMILIES = {"elevator": elevator, "range_probe": range_probe}
"""The families by name: what makes a split from "train" or "test" and options."""
