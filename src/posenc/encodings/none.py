"""No encoding: attention that cannot tell one order of its tokens from another."""

from posenc.attention import Position


class NoPosition(Position):
    """Every door left shut: the model sees a set, not a sequence.

    Parameters to learn: 0. Cost: none. Any length.
    """

    _needs_no_door = True
