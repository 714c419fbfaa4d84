"""The book's emblem: hands and bits show one place, and what is stored is what is drawn."""

import re

import numpy as np
import pytest
from sitefiles import ROOT

from posenc import tables
from posenc_book.figures import emblem


@pytest.mark.parametrize("place", range(8))
def test_hands_bits_and_shades_show_the_place(place):
    drawn, bits = emblem.svg(place), tables.binary(8)[place]
    assert [*map(int, re.findall(r'data-bit="(\d)"', drawn))] == bits.tolist()
    assert np.array_equal(np.array(re.findall(r'opacity="(.+?)"', drawn), dtype=float) > 0, bits)
    right, down = np.array(re.findall(r'd="M0 0L(\S+) (.+?)"', drawn), dtype=float).T
    apart = np.arctan2(-down, right) / (2 * np.pi) - place / np.array([8, 4, 2])
    assert np.allclose(apart, apart.round(), atol=1e-3)  # whole turns


def test_the_stored_favicon_is_what_is_drawn():
    stored = (ROOT / "book" / "_assets" / "favicon.svg").read_text(encoding="utf-8")
    assert stored == emblem.favicon(), "run `python tools/emblem.py`"
