"""No encoding: attention that cannot tell one order of its tokens from another."""

from posenc.attention import Position


class NoPosition(Position):
    """Every door left shut: the model sees a set, not a sequence.

    Parameters
    ----------
    d_model, n_heads, max_length : int
        As for `Position`. Any length is served.

    Notes
    -----
    Parameters to learn: 0. Cost: none.

    Raises
    ------
    ValueError
        If a size is not a positive integer or `n_heads` does not divide `d_model`.

    Examples
    --------
    >>> NoPosition(8, 2, 5).doors()
    ()
    """

    _needs_no_door = True
