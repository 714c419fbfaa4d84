"""Positional encodings: their mathematics, attention with any of them, and released models read.

An encoding is a set of angular frequencies, or a learned table, plus the door through which
position enters attention. The NumPy half (frequencies, tables, rotation, schedules, fourier,
faithfulness) needs numpy and scipy only; the torch half starts at `posenc.attention`.
"""

from posenc import _extras, _moved, faithfulness, fourier, frequencies, rotation, schedules, tables

__all__ = ["faithfulness", "fourier", "frequencies", "rotation", "schedules", "tables"]
__version__ = "0.2.0"

_moved.install()
_extras.install(_extras.LIBRARY)
