"""Words about tables and lines are read from their numbers, and tell different ones apart."""

import numpy as np
import pytest
import torch

from posenc import tables
from posenc_book.atlas import additions, card, cards
from posenc_book.figures import _shapes, atlas

OFFSET = np.arange(-15, 16)
ALIKE = [  # pictures at the start, and of scores
    {"none", "cope"},
    {"sinusoidal", "learnable_frequency"},
    {"rotary", "rove"},
]


def both(line):
    return np.stack([line, line])


def shape_of(line):
    return _shapes.of_lines(both(np.asarray(line, dtype=float))).shape


def test_a_tent_a_cusp_waves_and_a_staircase_have_names_of_their_own():
    assert shape_of(0.0 * OFFSET) == "0 at every offset"
    assert (
        shape_of(-np.abs(OFFSET)) == "symmetric, a fall at one rate from the middle to both sides"
    )
    cusp = "symmetric, an ever slower fall from the middle to both sides"
    assert shape_of(-np.log1p(np.abs(OFFSET))) == cusp
    waves = shape_of(np.cos(2 * np.pi * OFFSET / 10))
    assert waves == "symmetric, waves with peaks at the offsets -10, 0, 10"
    stairs = np.repeat(np.random.default_rng(0).normal(size=8), 4)[:31]
    assert "staircase" in shape_of(stairs)
    assert "whose steps are up to 4 offsets wide" in shape_of(stairs)


def test_random_numbers_have_no_order():
    noise = np.random.default_rng(1).normal(size=31)
    assert shape_of(noise) == "not symmetric, up and down from offset to offset without order"


def test_extremes_and_what_two_lines_have_in_common_are_told():
    tent = -np.abs(OFFSET) / 4
    told = _shapes.of_lines(both(tent)).details
    assert told.startswith("The two lines coincide: ")
    assert "highest (0.00) at offset 0, lowest (-3.75) at offsets -15 and 15" in told
    apart = _shapes.of_lines(np.stack([tent, tent + 0.5])).details
    assert apart.startswith("The two lines differ by up to 0.50; the first: ")


def test_waves_of_a_table_are_followed_from_column_to_column():
    slower = _shapes.of_table(tables.sinusoidal(48, 64))
    assert slower.shape == "waves that slow down from left to right"
    assert "Columns 37 to 63 hardly move, near 0.0 in even columns and near 1.0 in odd ones" in (
        slower.details
    )
    faster = _shapes.of_table(tables.dft(64, 64)[:48])
    assert faster.shape == "two groups of waves that get faster from left to right"
    noise = _shapes.of_table(np.random.default_rng(0).normal(size=(48, 64)))
    assert noise.shape == "no order from column to column"
    chirp = np.sin(np.arange(48) ** 2 / 96)[:, None] * np.random.default_rng(0).normal(size=64)
    assert _shapes.of_table(chirp).shape.endswith("but waves that get faster downwards")


def test_equal_rows_are_counted():
    table = np.repeat(np.random.default_rng(0).normal(size=(24, 8)), 2, axis=0)
    assert "24 of 48 rows differ" in _shapes.of_table(table).details


def test_different_pictures_of_the_atlas_have_different_words():
    words = {name: atlas.in_words(name)[1] for name in cards()}
    for name, said in words.items():
        same = {other for other, also in words.items() if also == said}
        assert same == {name} or same in ALIKE, same


def test_a_picture_says_what_it_was_given():
    assert "given a wave that gets faster" in atlas.in_words("dywpe")[0]
    assert "along one axis" in atlas.in_words("axial_rotary")[0]
    assert "apart from what its table does" in atlas.in_words("tpe")[0]


@pytest.mark.parametrize("name", ["fire", "learnable"])
def test_a_random_start_is_the_same_in_single_and_double_precision(name):
    def drawn():
        values = additions.added_rows(name)
        return additions.by_offset(name) if values is None else values

    single = drawn()
    torch.set_default_dtype(torch.float64)
    try:
        np.testing.assert_array_equal(drawn(), single)
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_the_picture_of_a_card_has_a_panel_for_each_thing_that_it_adds(drawn):
    for name, n_panels in {"alibi": 1, "tpe": 2}.items():
        atlas.picture(name)
        figure, words = drawn[f"fig-atlas-{name}"]
        panels = [ax for ax in figure.axes if ax.get_xlabel()]
        assert len(panels) == n_panels
        assert words["alt"].startswith(card(name).title + ". ")
        assert words["caption"].startswith(card(name).title + ", what ")
