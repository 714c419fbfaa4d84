"""What a letter costs the models that live in a page, as it is stored."""

import pytest

from posenc_book.read import living_model as lived


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((64, "shaw"), "encoding must be one of .*rope.*got 'shaw'"),
        (
            (64, "rope", 3),
            r"slower and start must be of \[1, 2, 4, 8\] and \[0, 500\], got 3 and 0",
        ),
        ((65, "rope"), "place must be one of .*, got 65"),
    ],
)
def test_what_is_not_stored_is_said(given, message):
    with pytest.raises(ValueError, match=message):
        lived.at(*given)


def test_bytes_cost_next_to_nothing():
    assert 0 < lived.largest_change_by_bytes() < 0.05


def test_what_has_no_clocks_is_read_the_same_however_they_are_slowed():
    for name in ("none", "alibi"):
        assert lived.blocks(name, 8, 500) == lived.blocks(name)
