"""The protocols of the smaller trainings, as people read them."""

import pytest

from posenc_book.read import results, small_protocols
from posenc_book.read.characters import train as text
from posenc_book.read.gaps import protocol as gaps
from posenc_book.read.lengths import repairs
from posenc_book.read.lengths import train as lab
from posenc_book.read.range_probe import protocol as probes


def page():
    return (results.folder() / small_protocols.PAGE).read_text(encoding="utf-8")


def test_the_page_says_what_the_code_does():
    assert page() == small_protocols.text(), "run `python -m posenc_book.read.small_protocols`"


@pytest.mark.parametrize("module", [gaps, lab, probes, repairs, text])
def test_every_protocol_stands_on_the_page_with_its_hash(module):
    assert f"`{module.HASH}`" in page()
