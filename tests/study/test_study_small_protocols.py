"""The protocols of the smaller trainings, as people read them."""

import pytest

from posenc.bench import gaps, lab, probes, text
from posenc.study import results, small_protocols


def page():
    return (results.folder() / small_protocols.PAGE).read_text(encoding="utf-8")


def test_the_page_says_what_the_code_does():
    assert page() == small_protocols.text(), "run `python -m posenc.study.small_protocols`"


@pytest.mark.parametrize("module", [gaps, lab, probes, text])
def test_every_protocol_stands_on_the_page_with_its_hash(module):
    assert f"`{module.HASH}`" in page()
