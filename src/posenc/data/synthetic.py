"""The synthetic families by name."""

from posenc.data.elevator import elevator
from posenc.data.range_probe import range_probe

FAMILIES = {"elevator": elevator, "range_probe": range_probe}
