"""The protocols of the smaller trainings as a page for people, `results/small-protocols.md`.

    python -m posenc_book.read.small_protocols

They are those of the lab and its second part, the model of characters, the range probe, and series
with gaps.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from posenc._wall import behind
from posenc_book.read import results
from posenc_book.read.characters import told as of_characters
from posenc_book.read.gaps import told as of_gaps
from posenc_book.read.lengths import told as of_lengths
from posenc_book.read.lengths import told_repairs as of_repairs
from posenc_book.read.range_probe import told as of_the_range_probe

SECTIONS = (of_lengths, of_repairs, of_characters, of_the_range_probe, of_gaps)

PAGE = "small-protocols.md"


def text() -> str:
    """Return the protocols for people, in Markdown."""
    return "\n".join([_HEAD, *(one.text() for one in SECTIONS)])


_HEAD = """\
# The protocols of the smaller trainings

Five experiments: on inputs longer than in training, on distances, and on gaps. Each has a hash \
that stands in its records as `protocol`. This page is made from the code by \
`python -m posenc_book.read.small_protocols`, and a test compares.
"""


def _main(_: Sequence[str]) -> int:
    """Write the page, and say where."""
    path = Path(results.folder()) / PAGE
    path.write_text(text(), encoding="utf-8")
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(behind(_main))
