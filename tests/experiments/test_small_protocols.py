"""The page of the smaller trainings is frozen: the hashes that it names are those of the plans."""

import re

from posenc_book.read import results
from posenc_book.read.characters import plan as characters
from posenc_book.read.gaps import protocol as gaps
from posenc_book.read.lengths import plan as lengths
from posenc_book.read.lengths import plan_message as message
from posenc_book.read.lengths import plan_repairs as repairs
from posenc_book.read.range_probe import protocol as probes

FROZEN = [
    "ca520bf96904", "ab132a9b25d7",  # the lab, and what people would try first
    "c9f5d54532b2",  # the lab with the message turned
    "d5590e7fdf03", "737bef7e3b85", "c89358e816ea",  # characters, and two schedules that came later
    "fde44aa7ea61", "83b909ae0d89",  # the range probe, gaps
]  # fmt: skip


def test_the_page_names_the_hashes_that_were_frozen():
    page = (results.folder() / "small-protocols.md").read_text(encoding="utf-8")
    assert re.findall(r"`([0-9a-f]{12})`", page) == FROZEN


def test_the_plans_are_those_that_were_frozen():
    """A change of a plan makes another protocol: what is stored would have to be trained anew."""
    of_characters = [characters.HASH, *characters.LATER_HASHES.values()]
    now = [lengths.HASH, repairs.HASH, message.HASH, *of_characters, probes.HASH, gaps.HASH]
    assert now == FROZEN
